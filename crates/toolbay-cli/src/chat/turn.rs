//! One turn, followed: what is heard is shown, Ctrl-C takes it back.

use std::time::Duration;

use toolbay_agent::{Agent, Event, model::Heard, transcript::Part, turn::End};

use super::{line::Desk, screen::Screen, shown, width};

/// How often it is said anew what goes on.
const TICK: Duration = Duration::from_secs(1);

/// Who may take a turn back by Ctrl-C in the middle of a question.
pub(super) type Asking<'d> = Option<&'d Desk>;

/// Says something, and follows what comes of it to its end.
pub(super) async fn follow(agent: &mut Agent, said: Vec<Part>, screen: &Screen, asking: Asking<'_>) -> End {
    let canceller = agent.canceller();
    let mut events = |event: Event<'_>| heard(screen, event);
    let hearing = agent.hear(said, &mut events);
    let cancelled = async {
        loop {
            taken_back(asking).await;
            canceller.cancel();
        }
    };
    let ticking = async {
        let mut ticks = tokio::time::interval(TICK);
        loop {
            ticks.tick().await;
            screen.tick();
        }
    };
    let end = tokio::select! {
        biased;
        () = cancelled => unreachable!("it is told again and again"),
        end = hearing => end,
        () = ticking => unreachable!("it ticks on and on"),
    };
    screen.settle();
    end
}

/// Returns when Ctrl-C was pressed. While a line is being typed it is a key like others, and told by the desk.
pub(super) async fn taken_back(asking: Asking<'_>) {
    let typed = async {
        match asking {
            Some(desk) => desk.interrupted().await,
            None => std::future::pending().await,
        }
    };
    let pressed = async {
        loop {
            // Without a handler there is no Ctrl-C that could be heard.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            // A program that the person edits in has the terminal, and gets the same signal.
            if !asking.is_some_and(Desk::is_asking) {
                return;
            }
        }
    };
    tokio::select! {
        () = typed => {}
        () = pressed => {}
    }
}

fn heard(screen: &Screen, event: Event<'_>) {
    match event {
        Event::Heard(Heard::Text(text)) => screen.words(text),
        Event::Heard(Heard::Thought(_)) => screen.status("the model thinks"),
        Event::Heard(Heard::Intent(name)) => screen.status(&format!("the model writes a call of {name}")),
        Event::Heard(Heard::Again(after)) => {
            let after = shown::time(u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
            screen.note(&format!("the provider is overloaded or out of reach; it is asked again in {after}"));
        }
        Event::Step(step) => {
            if let Some(line) = shown::step(step, width::columns()) {
                screen.note(&line);
            }
            if let Some(going_on) = shown::going_on(step) {
                screen.status(&going_on);
            }
        }
    }
}
