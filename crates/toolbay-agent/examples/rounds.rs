//! What the loop takes of its own: a model and tools that answer at once, so that all the time is the loop's. Prints tables;
//! run by `cargo xtask bench agent`.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement speaks to a terminal, and fails loudly")]

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolbay_agent::{
    Agent, Event, Expose, Parallel, Settings, Showing,
    approve::ReadOnly,
    model::{Ask, Choice, Heard, Model, ModelError, Reply, Stop, Usage, Wire},
    person::Person,
    planner::Failure,
    toolbox::{Hints, Item, Shelf, Tool, ToolId, Toolbox},
    trace::{Trace, What},
    transcript::{Content, Intent, Message, Part, Piece, Said, Transcript, Written},
    turn::Limits,
};
use toolbay_gateway::catalog::Listed;

/// A model that wants so many calls in each round.
struct Wanting {
    calls: usize,
    by: By,
}

/// How calls are wanted.
#[derive(Clone, Copy)]
enum By {
    Name,
    CallTool,
}

impl Model for Wanting {
    fn wire(&self) -> Wire {
        Wire::Anthropic
    }

    fn ask<'a>(
        &'a self,
        ask: Ask<'a>,
        _: &'a mut (dyn FnMut(Heard<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let round = ask.transcript.messages.len();
        let pieces = match ask.choice {
            Choice::None => vec![Piece::Text("done".into())],
            Choice::Auto | Choice::Required => {
                (0..self.calls).map(|place| Piece::Intent(self.intent(round, place))).collect()
            }
        };
        let reply = Reply { said: Said { pieces }, stop: Stop::Tools, usage: Usage::default() };
        Box::pin(async { Ok(reply) })
    }
}

impl Wanting {
    fn intent(&self, round: usize, place: usize) -> Intent {
        let arguments = json!({"host": format!("db-{place}"), "since": "2026-11-27", "step": round});
        let name = format!("server{place}__query{place}");
        let (name, arguments) = match self.by {
            By::Name => (name, arguments),
            By::CallTool => ("call_tool".into(), json!({"name": name, "arguments": arguments})),
        };
        let Value::Object(arguments) = arguments else { unreachable!("it was written as one") };
        Intent { id: format!("{round}-{place}"), name, arguments: Written::Object(arguments), kept: None }
    }
}

/// Tools that answer two kilobytes at once.
struct Ready(Arc<Shelf>);

impl Ready {
    fn of(tools: usize) -> Arc<Self> {
        let tool = |place: usize| {
            let schema = json!({
                "type": "object",
                "properties": {
                    "host": {"type": "string", "description": "The host whose metrics are wanted."},
                    "since": {"type": "string", "description": "The first day."},
                    "step": {"type": "integer", "minimum": 0, "description": "How fine."}
                },
                "required": ["host", "since"]
            });
            let (server, name) = (format!("server{place}"), format!("query{place}"));
            Arc::new(Tool {
                public: format!("{server}__{name}"),
                id: ToolId { server, name },
                description: "The metrics of a host, a line for each hour, as they were measured there.".into(),
                schema,
                hints: Hints { read_only: Some(true), ..Hints::default() },
            })
        };
        let mut tools: Vec<_> = (0..tools).map(tool).collect();
        tools.sort_by(|one, other| one.id.cmp(&other.id));
        Arc::new(Self(Arc::new(Shelf { generation: 1, tools, down: vec![] })))
    }
}

impl Toolbox for Ready {
    fn shelf(&self) -> BoxFuture<'_, Arc<Shelf>> {
        Box::pin(async { Arc::clone(&self.0) })
    }

    fn call<'a>(
        &'a self,
        _: &'a Tool,
        _: Map<String, Value>,
        _: &'a dyn Person,
    ) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async { Ok(json!({"content": [{"type": "text", "text": "p99=4210ms ".repeat(186)}]})) })
    }

    fn items(&self, _: Listed) -> BoxFuture<'_, Vec<Item>> {
        Box::pin(async { vec![] })
    }

    fn read<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async { Ok(Value::Null) })
    }

    fn prompt<'a>(
        &'a self,
        _: &'a str,
        _: Map<String, Value>,
        _: &'a dyn Person,
    ) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async { Ok(Value::Null) })
    }
}

/// One case: so many rounds, and how.
struct Case {
    name: &'static str,
    tools: usize,
    calls: usize,
    by: By,
    rounds: u32,
    trace: Trace,
}

/// How long each round took, what the definitions take, and the agent with all it holds.
struct Measured {
    rounds: Vec<Duration>,
    definitions: usize,
    agent: Agent,
}

async fn measure(case: Case) -> Measured {
    let expose = match case.by {
        By::Name => Expose::All,
        By::CallTool => Expose::Search,
    };
    let settings = Settings {
        limits: Limits { rounds: case.rounds, ..Limits::default() },
        parallel: Parallel::Always,
        showing: Showing { expose, ..Showing::default() },
        ..Settings::default()
    };
    let servers: Vec<_> = (0..case.tools).map(|place| format!("server{place}")).collect();
    let mut agent = Agent::new(Arc::new(Wanting { calls: case.calls, by: case.by }), Ready::of(case.tools))
        .policy(Arc::new(ReadOnly::of(servers)))
        .settings(settings)
        .trace(case.trace);
    let (mut rounds, mut last) = (Vec::with_capacity(case.rounds as usize), Instant::now());
    let mut events = |event: Event<'_>| {
        if let Event::Step(step) = event
            && let What::Asked { .. } = step.what
        {
            let now = Instant::now();
            rounds.push(now - last);
            last = now;
        }
    };
    agent.hear(vec![Part::text("go")], &mut events).await;
    // What comes before the first question is the beginning, and no round.
    rounds.remove(0);
    assert_eq!(rounds.len(), case.rounds as usize);
    Measured { rounds, definitions: agent.definition_tokens(), agent }
}

/// How much a transcript holds: its texts, and the values in it as they are written.
fn bytes(transcript: &Transcript) -> usize {
    let part = |part: &Part| match &part.what {
        Content::Text(text) => text.len(),
        Content::Image { data, .. } => data.len(),
    };
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.len(),
        Piece::Kept(value) => value.to_string().len(),
        Piece::Intent(intent) => match &intent.arguments {
            Written::Object(object) => json!(object).to_string().len(),
            Written::Unreadable(text) => text.len(),
        },
    };
    let message = |message: &Message| match message {
        Message::User(parts) => parts.iter().map(part).sum::<usize>(),
        Message::Model(said) => said.pieces.iter().map(piece).sum(),
        Message::Tools(answers) => answers.iter().flat_map(|answer| &answer.parts).map(part).sum(),
    };
    transcript.messages.iter().map(message).sum()
}

/// Memory of this process, in KiB; none where the system does not tell.
fn resident() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.trim().parse().ok())
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    // In a process of its own, as all memory before it is not the case's.
    if let Some(rounds) = std::env::args().nth(1) {
        let rounds = rounds.parse().unwrap();
        let before = resident();
        let case = Case { name: "", tools: 100, calls: 1, by: By::Name, rounds, trace: Trace::new().forgetting() };
        let measured = runtime.block_on(measure(case));
        let after = resident();
        // What the same transcript takes where it is all there is.
        let copy = measured.agent.transcript().clone();
        let copied = resident();
        let grown =
            |from: Option<usize>, to: Option<usize>| to.zip(from).map_or(0, |(to, from)| to.saturating_sub(from));
        println!("{} {} {}", bytes(&copy) / 1024, grown(before, after), grown(after, copied));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = || Trace::file(&folder.path().join("trace.jsonl")).unwrap();
    let case = |name, tools, calls, by, trace| Case { name, tools, calls, by, rounds: 1_000, trace };
    let cases = [
        case("100 tools, 1 call", 100, 1, By::Name, Trace::new()),
        case("100 tools, 8 calls", 100, 8, By::Name, Trace::new()),
        case("100 tools, 1 call, trace in a file", 100, 1, By::Name, file()),
        case("1,000 tools, 1 call", 1_000, 1, By::Name, Trace::new()),
        case("1,000 tools, 1 call by call_tool", 1_000, 1, By::CallTool, Trace::new()),
    ];
    println!("### agent-rounds: the loop's own time in each of 1,000 rounds, 2 KiB a result\n");
    println!("| case | p50 us | p99 us | max us | tokens of definitions |\n|---|--:|--:|--:|--:|");
    for case in cases {
        let name = case.name;
        let Measured { mut rounds, definitions, .. } = runtime.block_on(measure(case));
        rounds.sort();
        let at = |share: f64| rounds[((rounds.len() - 1) as f64 * share) as usize].as_micros();
        println!("| {name} | {} | {} | {} | {definitions} |", at(0.5), at(0.99), at(1.0));
    }
    println!("\n### agent-memory: what a conversation holds, 100 tools, 1 call a round\n");
    println!("| rounds | said KiB | memory KiB | a copy of the transcript KiB |\n|--:|--:|--:|--:|");
    for rounds in [100, 1_000, 10_000] {
        let itself = std::env::current_exe().unwrap();
        let ran = std::process::Command::new(itself).arg(rounds.to_string()).output().unwrap();
        println!("| {rounds} | {} |", String::from_utf8(ran.stdout).unwrap().trim().replace(' ', " | "));
    }
}
