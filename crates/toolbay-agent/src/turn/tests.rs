use std::sync::Arc;

use serde_json::{Map, json};

use super::*;
use crate::{
    model::{Choice, ModelError, Reply, Stop, Usage, Why},
    toolbox::{Hints, Tool, ToolId},
    transcript::{Content, Intent, Message, Outcome, Part, Piece, Said, Transcript, Written},
};

fn intent(id: &str, name: &str) -> Piece {
    Piece::Intent(Intent {
        id: id.into(),
        name: name.into(),
        arguments: Written::Object(Map::from_iter([("of".to_owned(), json!(name))])),
        kept: None,
    })
}

fn reply(pieces: Vec<Piece>, stop: Stop) -> Reply {
    Reply { said: Said { pieces }, stop, usage: Usage { input: 100, cached: 40, output: 10 } }
}

fn says(text: &str) -> Reply {
    reply(vec![Piece::Text(text.into())], Stop::End)
}

fn wants(names: &[&str]) -> Reply {
    let intents = names.iter().enumerate().map(|(place, name)| intent(&format!("{name}-{place}"), name));
    reply(intents.collect(), Stop::Tools)
}

/// Names that begin with `read` may be in flight together; `ghost` is no tool.
fn read(intent: &Intent) -> Reading {
    if intent.name == "ghost" {
        return Reading::Not("no such tool".into());
    }
    let id = ToolId { server: "s".into(), name: intent.name.clone() };
    let tool = Tool {
        id,
        public: intent.name.clone(),
        description: String::new(),
        schema: json!({}),
        hints: Hints::default(),
    };
    let beside = if intent.name.starts_with("read") { Beside::Others } else { Beside::Nobody };
    let Written::Object(arguments) = intent.arguments.clone() else { return Reading::Not("unreadable".into()) };
    Reading::Call { target: Target::Tool(Arc::new(tool)), arguments, beside }
}

fn turn_of(limits: Limits) -> Turn {
    let messages = vec![Message::User(vec![Part::text("go")])];
    Turn::new(Transcript { system: String::new(), messages }, limits, Spent::default())
}

fn turn() -> Turn {
    turn_of(Limits::default())
}

fn allow_all(turn: &mut Turn) {
    while let Need::Approval(call) = turn.next() {
        let place = call.place;
        turn.decided(place, Decided::Allowed);
    }
}

fn places(turn: &Turn) -> Vec<usize> {
    match turn.next() {
        Need::Tools(calls) => calls.iter().map(|call| call.place).collect(),
        other => panic!("{other:?}"),
    }
}

fn end(turn: &Turn) -> End {
    match turn.next() {
        Need::Done(end) => end.clone(),
        other => panic!("{other:?}"),
    }
}

/// Every intent is answered once, in the order of the intents, before anybody else speaks.
fn check(turn: &Turn) {
    let messages = &turn.transcript().messages;
    for (place, message) in messages.iter().enumerate() {
        let Message::Model(said) = message else { continue };
        let wanted: Vec<_> = said.intents().map(|intent| intent.id.clone()).collect();
        let answered: Vec<_> = match messages.get(place + 1) {
            Some(Message::Tools(answers)) => answers.iter().map(|answer| answer.id.clone()).collect(),
            _ => vec![],
        };
        assert_eq!(wanted, answered, "{messages:#?}");
    }
}

fn last_answers(turn: &Turn) -> Vec<(Outcome, String)> {
    let Some(Message::Tools(answers)) =
        turn.transcript().messages.iter().rfind(|message| matches!(message, Message::Tools(_)))
    else {
        panic!("no answers")
    };
    let text = |parts: &[Part]| -> String {
        let texts = parts.iter().map(|part| match &part.what {
            Content::Text(text) => text.as_str(),
            Content::Image { .. } => "",
        });
        texts.collect::<Vec<_>>().join("|")
    };
    answers.iter().map(|answer| (answer.outcome, text(&answer.parts))).collect()
}

/// One round of one call that gives this.
fn round(turn: &mut Turn, name: &str, given: Given) {
    turn.replied(wants(&[name]), &mut read);
    allow_all(turn);
    turn.answered(0, given);
    check(turn);
}

#[test]
fn an_answer_ends_the_turn() {
    let mut turn = turn();
    assert_eq!(turn.next(), Need::Model(Choice::Auto));
    turn.replied(says("hello"), &mut read);
    assert_eq!(end(&turn), End { why: Ended::Answered, text: "hello".into(), author: Author::Model });
    assert_eq!(turn.spent().questions, 1);
}

#[test]
fn results_are_answered_in_the_order_of_the_intents() {
    let mut turn = turn();
    turn.replied(wants(&["read_a", "read_b", "ghost", "read_c", "write", "read_d"]), &mut read);
    allow_all(&mut turn);
    assert_eq!(places(&turn), [0, 1, 3], "what cannot be called stands in nobody's way");
    for place in [3, 0, 1] {
        turn.answered(place, Given::success(format!("gave {place}")));
    }
    assert_eq!(places(&turn), [4], "what may change something is alone");
    turn.answered(4, Given::success("gave 4"));
    assert_eq!(places(&turn), [5]);
    turn.answered(5, Given::success("gave 5"));
    check(&turn);
    let told: Vec<_> = last_answers(&turn).into_iter().map(|(_, text)| text).collect();
    assert_eq!(told, ["gave 0", "gave 1", "no such tool", "gave 3", "gave 4", "gave 5"]);
    assert_eq!(turn.next(), Need::Model(Choice::Auto));
}

#[test]
fn what_was_decided_holds() {
    let mut turn = turn();
    turn.replied(wants(&["a", "b", "c"]), &mut read);
    turn.decided(0, Decided::Denied("not today".into()));
    turn.decided(1, Decided::Edited(Map::from_iter([("of".to_owned(), json!("other"))])));
    turn.decided(2, Decided::Allowed);
    let Need::Tools(calls) = turn.next() else { panic!() };
    assert_eq!((calls.len(), &calls[0].arguments["of"]), (1, &json!("other")));
    turn.answered(1, Given::success("1"));
    turn.answered(1, Given::failure("late"));
    turn.answered(2, Given::success("2"));
    check(&turn);
    let told = last_answers(&turn);
    assert_eq!(told[0], (Outcome::Failure, "Not called: not today".into()));
    assert_eq!(told[1], (Outcome::Success, "1".into()), "the first answer stands");
}

#[test]
fn the_last_round_ends_in_an_answer() {
    let mut turn = turn_of(Limits { rounds: 3, ..Limits::default() });
    for number in 0..3 {
        assert_eq!(turn.next(), Need::Model(Choice::Auto));
        round(&mut turn, "a", Given::success(number.to_string()));
    }
    assert!(last_answers(&turn)[0].1.contains("[host] This was the last round"));
    assert_eq!(turn.next(), Need::Model(Choice::None));
    turn.replied(says("that much is known"), &mut read);
    assert_eq!(end(&turn), End { why: Ended::Rounds, text: "that much is known".into(), author: Author::Model });
}

#[test]
fn a_model_that_cannot_stop_is_stopped() {
    let mut turn = turn_of(Limits { rounds: 1, ..Limits::default() });
    round(&mut turn, "a", Given::success("1"));
    turn.replied(wants(&["a", "b"]), &mut read);
    check(&turn);
    let end = end(&turn);
    assert_eq!((end.why, end.author), (Ended::Rounds, Author::Host));
    assert!(last_answers(&turn).iter().all(|(outcome, _)| *outcome == Outcome::Failure));
}

#[test]
fn the_same_failure_again_and_again_is_told_and_then_ends() {
    let mut turn = turn_of(Limits { rounds: 100, ..Limits::default() });
    let noted = |turn: &Turn| last_answers(turn)[0].1.contains("[host]");
    for times in 1..5 {
        round(&mut turn, "a", Given::failure("no such table"));
        assert_eq!(noted(&turn), times >= 3, "{times}");
        assert_eq!(turn.next(), Need::Model(Choice::Auto));
    }
    round(&mut turn, "a", Given::failure("no such table"));
    assert_eq!(turn.next(), Need::Model(Choice::None));
    turn.replied(says("the table is not there"), &mut read);
    assert_eq!(end(&turn).why, Ended::Repeating);
}

#[test]
fn polling_goes_on_while_something_changes() {
    let mut turn = turn_of(Limits { rounds: 100, ..Limits::default() });
    for percent in 0..20 {
        round(&mut turn, "a", Given::failure(format!("not ready: {percent} %")));
    }
    for _ in 0..20 {
        round(&mut turn, "a", Given::success("running"));
    }
    assert_eq!(turn.next(), Need::Model(Choice::Auto));
    assert!(!last_answers(&turn)[0].1.contains("[host]"));
}

#[test]
fn the_same_call_twice_in_one_reply_is_one_attempt() {
    let mut turn = turn();
    turn.replied(wants(&["read", "read", "read", "read", "read"]), &mut read);
    allow_all(&mut turn);
    for place in 0..5 {
        turn.answered(place, Given::failure("no"));
    }
    assert_eq!(turn.next(), Need::Model(Choice::Auto));
    assert_eq!(last_answers(&turn)[4].1, "no");
}

#[test]
fn cancelled_anywhere_each_intent_is_answered() {
    // Before the model replied, before a decision, with some decided, with some answered, when all is done.
    let mut turns = vec![turn()];
    let mut asked = turn();
    asked.replied(wants(&["read_a", "ghost", "read_b", "write"]), &mut read);
    turns.push(asked);
    for steps in 1..=3 {
        let mut some = turn();
        some.replied(wants(&["read_a", "ghost", "read_b", "write"]), &mut read);
        some.decided(0, Decided::Allowed);
        if steps > 1 {
            allow_all(&mut some);
        }
        if steps > 2 {
            some.answered(2, Given::success("b"));
        }
        turns.push(some);
    }
    for mut turn in turns {
        turn.cancel();
        check(&turn);
        assert_eq!(end(&turn).why, Ended::Cancelled);
        // What comes afterwards changes nothing.
        let before = turn.transcript().clone();
        turn.replied(wants(&["a"]), &mut read);
        turn.answered(0, Given::success("late"));
        turn.decided(0, Decided::Allowed);
        turn.failed(ModelError { why: Why::Reply, what: "late".into() });
        assert_eq!(*turn.transcript(), before);
        assert_eq!(end(&turn).why, Ended::Cancelled);
    }
    let mut done = turn();
    done.replied(says("hello"), &mut read);
    done.cancel();
    assert_eq!(end(&done).why, Ended::Answered);
}

#[test]
fn what_was_in_flight_is_told_apart_from_what_was_never_called() {
    let mut turn = turn();
    turn.replied(wants(&["read_a", "read_b", "write"]), &mut read);
    allow_all(&mut turn);
    turn.answered(0, Given::success("a"));
    turn.cancel();
    let told = last_answers(&turn);
    assert_eq!(told[0].1, "a");
    assert!(told[1].1.contains("may have had an effect") && told[2].1.starts_with("Not called"), "{told:?}");
}

#[test]
fn a_spent_budget_ends_before_the_next_question_and_before_the_next_call() {
    let tokens = |most| Limits { budget: Budget { tokens: Some(most), ..Budget::default() }, ..Limits::default() };
    let mut turn = turn_of(tokens(200));
    round(&mut turn, "a", Given::success("1"));
    turn.replied(wants(&["a", "b"]), &mut read);
    check(&turn);
    assert_eq!(end(&turn).why, Ended::Budget);
    assert!(last_answers(&turn).iter().all(|(_, text)| text.contains("220 tokens of 200")), "nothing is called");
    let spent = turn.spent();
    let next = Turn::new(Transcript::default(), tokens(200), spent);
    assert_eq!(end(&next).why, Ended::Budget, "the next turn asks nothing");
}

#[test]
fn cost_is_what_the_prices_say() {
    let prices = Prices { input: 3.0, cached: 0.3, output: 15.0 };
    let usage = Usage { input: 1_000_000, cached: 400_000, output: 100_000 };
    assert!((prices.of(&usage) - (1.8 + 0.12 + 1.5)).abs() < 1e-9);
    let spent = Spent { usage, questions: 1 };
    let budget = |cost, prices| Budget { tokens: None, cost: Some(cost), prices };
    assert_eq!(budget(4.0, Some(prices)).spent(&spent), None);
    assert!(budget(3.0, Some(prices)).spent(&spent).is_some());
    assert!(budget(3.0, None).spent(&Spent::default()).is_some(), "a limit that cannot be kept is kept");
    assert_eq!(Budget::default().spent(&spent), None);
}

#[test]
fn a_paused_reply_goes_on_where_it_ended() {
    let mut turn = turn();
    turn.replied(reply(vec![Piece::Text("one ".into())], Stop::Paused), &mut read);
    assert_eq!(turn.next(), Need::Model(Choice::Auto));
    turn.replied(says("two"), &mut read);
    assert_eq!(end(&turn).why, Ended::Answered);
    let Some(Message::Model(said)) = turn.transcript().messages.last() else { panic!() };
    assert_eq!((turn.transcript().messages.len(), said.text().as_str()), (2, "one two"));
    let mut endless = turn_of(Limits { rounds: 2, ..Limits::default() });
    for _ in 0..3 {
        endless.replied(reply(vec![Piece::Text("…".into())], Stop::Paused), &mut read);
    }
    assert_eq!(end(&endless).why, Ended::Rounds);
}

#[test]
fn a_reply_that_is_cut_off_has_its_last_call_left_out() {
    let mut turn = turn();
    turn.replied(reply(vec![intent("1", "a"), intent("2", "b")], Stop::Length), &mut read);
    allow_all(&mut turn);
    assert_eq!(places(&turn), [0]);
    turn.answered(0, Given::success("a"));
    check(&turn);
    assert!(last_answers(&turn)[1].1.contains("written in full"));
    turn.replied(reply(vec![Piece::Text("so f".into())], Stop::Length), &mut read);
    assert_eq!(end(&turn), End { why: Ended::Length, text: "so f".into(), author: Author::Model });
}

#[test]
fn a_refusal_ends_the_turn_and_calls_nothing() {
    let mut turn = turn();
    turn.replied(reply(vec![Piece::Text("no".into()), intent("1", "a")], Stop::Refused), &mut read);
    check(&turn);
    assert_eq!(end(&turn).why, Ended::Refused);
}

#[test]
fn a_silent_model_is_asked_once_more() {
    let mut turn = turn();
    turn.replied(reply(vec![], Stop::End), &mut read);
    assert_eq!(turn.next(), Need::Model(Choice::Auto));
    turn.replied(reply(vec![], Stop::End), &mut read);
    assert_eq!((end(&turn).why, end(&turn).author), (Ended::Silent, Author::Host));
    assert_eq!(turn.transcript().messages.len(), 1, "nothing was said");
}

#[test]
fn more_calls_than_may_be_are_answered_all_the_same() {
    let mut turn = turn_of(Limits { calls: 2, ..Limits::default() });
    turn.replied(wants(&["read", "read", "read", "read"]), &mut read);
    allow_all(&mut turn);
    assert_eq!(places(&turn), [0, 1]);
    turn.answered(0, Given::success("0"));
    turn.answered(1, Given::success("1"));
    check(&turn);
    assert!(last_answers(&turn)[3].1.contains("a reply may want 2 calls"));
}

#[test]
fn a_model_that_does_not_reply_is_said_to() {
    let mut turn = turn();
    let error = ModelError { why: Why::Provider, what: "overloaded".into() };
    turn.failed(error.clone());
    assert_eq!(end(&turn).why, Ended::Failed(error));
    assert!(end(&turn).text.contains("overloaded"));
}

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn any_reply(dice: &mut Dice, number: u32) -> Reply {
    const NAMES: [&str; 5] = ["read_a", "read_b", "write", "ghost", "call"];
    const STOPS: [Stop; 5] = [Stop::End, Stop::Tools, Stop::Length, Stop::Refused, Stop::Paused];
    let pieces = (0..dice.roll(5)).map(|place| match dice.roll(4) {
        0 => Piece::Text("word ".into()),
        1 => Piece::Kept(json!({"signature": number})),
        _ => intent(&format!("{number}-{place}"), NAMES[dice.roll(5) as usize]),
    });
    let pieces = pieces.collect();
    // Most replies want tools, so that turns are long.
    let stop = if dice.roll(3) == 0 { STOPS[dice.roll(5) as usize].clone() } else { Stop::Tools };
    reply(pieces, stop)
}

#[test]
fn whatever_happens_every_intent_is_answered_and_every_turn_ends() {
    for seed in 1..3_000 {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let budget = Budget { tokens: (dice.roll(4) == 0).then_some(500), ..Budget::default() };
        let mut turn = turn_of(Limits { rounds: 6, calls: 3, budget, ..Limits::default() });
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(steps < 200, "seed {seed} does not end");
            if dice.roll(60) == 0 {
                turn.cancel();
            }
            match turn.next() {
                Need::Model(_) => {
                    check(&turn);
                    turn.replied(any_reply(&mut dice, steps), &mut read);
                }
                Need::Approval(call) => {
                    let place = call.place;
                    let decided = match dice.roll(3) {
                        0 => Decided::Denied("no".into()),
                        1 => Decided::Edited(Map::new()),
                        _ => Decided::Allowed,
                    };
                    turn.decided(place, decided);
                }
                Need::Tools(calls) => {
                    let place = calls[dice.roll(calls.len() as u64) as usize].place;
                    let given = if dice.roll(2) == 0 { Given::failure("no") } else { Given::success("yes") };
                    turn.answered(place, given);
                }
                Need::Done(_) => break,
            }
        }
        check(&turn);
    }
}

#[test]
fn a_conversation_that_broke_off_is_mended() {
    let mut turn = turn();
    round(&mut turn, "a", Given::success("1"));
    turn.replied(wants(&["read_b", "read_c"]), &mut read);
    // As a process leaves it that is killed in the middle, with half of the answers, in another order.
    let mut transcript = turn.transcript().clone();
    let whole = turn_of(Limits::default());
    let answer = |id: &str| crate::transcript::Answer {
        id: id.into(),
        name: "x".into(),
        parts: vec![Part::text(id)],
        outcome: Outcome::Success,
    };
    transcript.messages.push(Message::Tools(vec![answer("stranger"), answer("read_c-1")]));
    mend(&mut transcript);
    let Some(Message::Tools(answers)) = transcript.messages.last() else { panic!() };
    let told: Vec<_> = answers.iter().map(|answer| (answer.id.as_str(), answer.outcome)).collect();
    assert_eq!(told, [("read_b-0", Outcome::Failure), ("read_c-1", Outcome::Success)]);
    transcript.messages.truncate(4);
    mend(&mut transcript);
    assert_eq!(transcript.messages.len(), 5);
    let mut sound = whole.transcript().clone();
    mend(&mut sound);
    assert_eq!(sound, *whole.transcript());
}
