//! What may be typed.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use tokio::runtime::Builder;

use crate::{
    approvals::Approvals,
    chat::Chat,
    exit,
    registry::Registry,
    search::{Find, Get},
    session::Session,
    tool::{Tool, span},
};

/// One socket for every tool: many Model Context Protocol servers as one endpoint.
#[derive(Debug, Parser)]
#[command(name = "toolbay", version, about, after_help = exit::HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Connect every configured server and serve them all as one endpoint
    Up(Up),
    /// Show how the `up` that runs does
    Status(Status),
    /// Show what a server wrote to its log and stderr
    Logs(Logs),
    /// Have the `up` that runs read its configuration anew
    Reload(Reload),
    /// Change or show the registry of tools in the configuration
    Tool(Tool),
    /// Show or end the sessions of devices at servers that are `per-device`
    Session(Session),
    /// List tools, prompts and resources
    List(List),
    /// Call a tool
    Call(Call),
    /// Ask in plain words, without a model: choose tools, read their arguments out of the request, run them
    Ask(Box<Ask>),
    /// Talk to a model that has the tools
    Chat(Box<Chat>),
    /// Show or forget what was decided for calls in this project (`always` in a chat)
    Approvals(Approvals),
    /// Say what providers of models take of each tool, and what that loses
    Lint(Lint),
    /// Read a resource
    Read(Read),
    /// Fill in a prompt
    Prompt(Prompt),
    /// Look for servers in the registries
    Find(Find),
    /// Add a server that a registry lists
    Get(Get),
    /// Offer the configured tools as a registry of servers
    Registry(Registry),
    /// Serve one of the embedded servers alone
    Serve(Serve),
}

impl Command {
    /// What carries it: all processors where many may call at once, one thread where there is one caller.
    pub(crate) fn runtime(&self) -> Builder {
        match self {
            Self::Up(up) if !up.stdio => Builder::new_multi_thread(),
            Self::Serve(serve) if serve.listen.is_some() => Builder::new_multi_thread(),
            Self::Up(_) | Self::Serve(_) | Self::List(_) | Self::Call(_) | Self::Read(_) | Self::Get(_) => {
                Builder::new_current_thread()
            }
            Self::Status(_) | Self::Logs(_) | Self::Reload(_) | Self::Tool(_) => Builder::new_current_thread(),
            Self::Prompt(_) | Self::Find(_) | Self::Registry(_) | Self::Session(_) => Builder::new_current_thread(),
            Self::Ask(_) | Self::Lint(_) | Self::Chat(_) | Self::Approvals(_) => Builder::new_current_thread(),
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Up {
    /// The configuration (default: ./toolbay.json, ./.mcp.json, then the user's own; without any, embedded servers)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where to listen for HTTP
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7332")]
    pub(crate) listen: SocketAddr,
    /// Serve standard input and output instead of HTTP
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Write what happens as JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Let other machines in, without asking who they are
    #[arg(long, num_args = 0, default_value = "local", default_missing_value = "open")]
    pub(crate) open: Open,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Status {
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The process that is meant, where several run
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Logs {
    /// The server's name
    pub(crate) server: String,
    /// Go on with what it writes from now on, until Ctrl-C
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// The process that is meant, where several run
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Reload {
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The process that is meant, where several run
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
}

/// Who may come in where nobody is asked who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Open {
    /// Programs on this machine.
    #[value(name = "local")]
    ToThisMachine,
    /// Everybody.
    #[value(name = "open")]
    ToAll,
}

/// Which servers are meant.
#[derive(Debug, ClapArgs)]
pub(crate) struct Target {
    /// The configuration whose servers are meant (default: as for `up`)
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    pub(crate) config: Option<PathBuf>,
    /// One server, at this address
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Write JSON
    #[arg(long = "json", id = "as_json")]
    pub(crate) json: bool,
    /// One server, started by this command
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["url", "config"])]
    pub(crate) command: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    Tools,
    Prompts,
    Resources,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct List {
    /// What to list (default: everything)
    #[arg(value_enum)]
    pub(crate) what: Option<What>,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Lint {
    /// Only the tools of this server of the configuration
    pub(crate) server: Option<String>,
    /// Only this provider's words (may be given several times; default: all)
    #[arg(long, value_enum, value_name = "WIRE")]
    pub(crate) wire: Vec<OnWire>,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// The words a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnWire {
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Gemini,
    Ollama,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Call {
    /// The tool's name, as `toolbay list tools` shows it
    pub(crate) tool: String,
    /// Arguments: `key=value` (as the tool's schema wants it) or `key:=JSON`
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) pairs: Vec<String>,
    /// All arguments as one JSON object; without a value, writes the result as JSON
    #[arg(long, value_name = "OBJECT", num_args = 0..=1, require_equals = false)]
    pub(crate) json: Option<Option<String>>,
    /// The configuration whose servers are meant (default: as for `up`)
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    pub(crate) config: Option<PathBuf>,
    /// One server, at this address
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// One server, started by this command
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["url", "config"])]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Ask {
    /// What is wanted, in Chinese or English; several things at once if need be
    #[arg(required = true)]
    pub(crate) request: Vec<String>,
    /// Only show what would be called, why, and with what
    #[arg(long)]
    pub(crate) plan: bool,
    /// How tools are scored
    #[arg(long, value_enum, default_value = "best")]
    pub(crate) scorer: Scorer,
    /// How arguments are read: by grammar and gazetteer, or by the three prescribed expressions
    #[arg(long, value_enum, default_value = "full")]
    pub(crate) arguments: Arguments,
    /// How near a tool must come to the best one to be called too, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    pub(crate) threshold: f64,
    /// A weight of the weighted scorer: name=0.4, description=0.3, category=0.3, other=1, or a category like search=10
    #[arg(long = "weight", value_name = "KEY=NUMBER")]
    pub(crate) weights: Vec<String>,
    /// How long all calls together may take: 90s, 15m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = span)]
    pub(crate) deadline: Duration,
    /// Call tools too that say of themselves that they destroy
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// How tools are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scorer {
    /// By words and what they are about
    Best,
    /// By words alone
    Words,
    /// By the prescribed rule: 0.4 × name + 0.3 × description + 0.3 × category
    Weighted,
}

/// How arguments are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Arguments {
    /// By grammar and gazetteer
    Full,
    /// By the three prescribed expressions
    Prescribed,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Read {
    /// The resource's URI
    pub(crate) uri: String,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Prompt {
    /// The prompt's name, as `toolbay list prompts` shows it
    pub(crate) prompt: String,
    /// Arguments
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) pairs: Vec<String>,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Serve {
    #[command(subcommand)]
    pub(crate) server: Embedded,
    /// Serve over HTTP at this address (endpoint /mcp) instead of standard input and output
    #[arg(long, value_name = "ADDR", global = true)]
    pub(crate) listen: Option<SocketAddr>,
    /// Let other machines in, without asking who they are
    #[arg(long, num_args = 0, default_value = "local", default_missing_value = "open", global = true)]
    pub(crate) open: Open,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Embedded {
    /// Read-only access to a folder
    Filesystem {
        /// The folder
        path: PathBuf,
    },
    /// The time, and conversion between time zones
    Time,
    /// Every feature of the protocol once, for trying clients out
    Everything {
        /// Also offer tools that are slow, that panic, and that add tools
        #[arg(long)]
        faults: bool,
    },
}
