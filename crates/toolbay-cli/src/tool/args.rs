//! What may be typed of the registry.

use std::{path::PathBuf, time::Duration};

use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, ClapArgs)]
pub(crate) struct Tool {
    #[command(subcommand)]
    pub(crate) what: ToolWhat,
    /// The configuration that holds the entries (default: as for `up`; `add` makes ./toolbay.json where there is none)
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "pid")]
    pub(crate) config: Option<PathBuf>,
    /// Ask the `up` of this process instead of changing a file, and wait until it has taken the change on
    #[arg(long, value_name = "PID", global = true)]
    pub(crate) pid: Option<u32>,
    /// Write JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolWhat {
    /// Add an entry; an equal one is not added twice
    Add(Box<ToolAdd>),
    /// Take an entry out
    Remove {
        /// Its name
        name: String,
    },
    /// Turn an entry on
    Enable {
        /// Its name
        name: String,
    },
    /// Turn an entry off: it is neither listed nor called
    Disable {
        /// Its name
        name: String,
    },
    /// List the entries
    List,
    /// Show an entry
    Show {
        /// Its name
        name: String,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ToolAdd {
    /// The entry's name (left out with --entry)
    #[arg(required_unless_present = "entry")]
    pub(crate) name: Option<String>,
    /// The whole entry as a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "OBJECT", conflicts_with_all = ["name", "url", "command"])]
    pub(crate) entry: Option<String>,
    /// How it is reached (default: stdio for a command, http for an address)
    #[arg(long, value_name = "stdio|http|sse|rest")]
    pub(crate) transport: Option<String>,
    /// Its address
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// What it is good for
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) description: String,
    /// What sort of tool it is
    #[arg(long, value_name = "WORD")]
    pub(crate) category: Option<String>,
    /// A variable of the program's environment; write ${VAR} for a secret
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// A header of each request; write ${VAR} for a secret
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) header: Vec<String>,
    /// How many seconds a call may take
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,
    /// When it goes by itself (a time without a zone is local time)
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
    /// How long until it goes by itself: 90s, 15m, 2h, 1d
    #[arg(long, value_name = "TIME", conflicts_with = "expires", value_parser = span)]
    pub(crate) ttl: Option<Duration>,
    /// What a call takes, as JSON Schema (rest, polled sse)
    #[arg(long, value_name = "OBJECT")]
    pub(crate) schema: Option<String>,
    /// What is posted (rest, polled sse)
    #[arg(long, value_name = "named|arguments")]
    pub(crate) body: Option<String>,
    /// Add it turned off
    #[arg(long)]
    pub(crate) disabled: bool,
    /// Put it in the place of a different entry of the same name
    #[arg(long)]
    pub(crate) replace: bool,
    /// The program that is started, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Reads `90s`, `15m`, `2h` or `1d`; a bare number is seconds.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.char_indices().find(|(_, letter)| !letter.is_ascii_digit()) {
        Some((at, _)) => text.split_at(at),
        None => (text, "s"),
    };
    let unit = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err("write 90s, 15m, 2h or 1d".into()),
    };
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|all| *all > 0);
    // A hundred years, so that it has an end.
    seconds.filter(|all| *all < 3_155_760_000).map(Duration::from_secs).ok_or_else(|| "write 90s, 15m, 2h or 1d".into())
}
