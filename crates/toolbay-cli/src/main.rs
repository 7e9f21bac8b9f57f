//! The `toolbay` command. A file per subcommand; what they share is how a server is reached ([`target`]) and how things
//! are shown ([`show`]).

mod approvals;
mod args;
mod ask;
mod call;
mod chat;
mod control;
mod exact;
mod exit;
mod lint;
mod list;
mod logs;
mod meaning;
mod prompt;
mod read;
mod registry;
mod reload;
mod search;
mod serve;
mod session;
mod show;
mod status;
mod target;
mod tool;
mod up;

use clap::Parser;

use crate::{args::Command, exit::Exit};

fn main() -> std::process::ExitCode {
    let args = args::Args::parse();
    let runtime = match args.command.runtime().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit::report(&Exit::failed(format!("cannot start: {error}"))),
    };
    let done = runtime.block_on(async {
        match args.command {
            Command::Up(up) => up::run(up).await,
            Command::Status(status) => status::run(status).await,
            Command::Logs(logs) => logs::run(logs).await,
            Command::Reload(reload) => reload::run(reload).await,
            Command::Tool(tool) => tool::run(tool).await,
            Command::Session(session) => session::run(session).await,
            Command::List(list) => list::run(list).await,
            Command::Call(call) => call::run(call).await,
            Command::Ask(ask) => ask::run(*ask).await,
            Command::Chat(chat) => chat::run(*chat).await,
            Command::Approvals(approvals) => approvals::run(approvals),
            Command::Lint(lint) => lint::run(lint).await,
            Command::Read(read) => read::run(read).await,
            Command::Prompt(prompt) => prompt::run(prompt).await,
            Command::Find(find) => search::find::run(find).await,
            Command::Get(get) => search::get::run(get).await,
            Command::Registry(registry) => registry::run(registry).await,
            Command::Serve(serve) => serve::run(serve).await,
        }
    });
    // A read of a terminal may still be pending on a thread of its own; nobody waits for it.
    runtime.shutdown_background();
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(exit) => exit::report(&exit),
    }
}
