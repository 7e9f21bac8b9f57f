//! What stands after a slash at the beginning of a line. Not what a prompt is given: see [`slash`](super::slash).

/// What is asked of the chat itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command<'l> {
    /// What may be typed.
    Help,
    /// Which tools there are, of those whose name or description holds the words.
    Tools(&'l str),
    /// Which prompts.
    Prompts(&'l str),
    /// Which resources.
    Resources(&'l str),
    /// What the conversation took.
    Cost,
    /// What was called.
    Trace,
    /// The end.
    Quit,
    /// Something else: a prompt, perhaps, and what it is given.
    Other(&'l str, &'l str),
}

/// The names of those that are not prompts.
pub(super) const NAMES: [&str; 7] = ["help", "tools", "prompts", "resources", "cost", "trace", "quit"];

/// What `/help` shows.
pub(super) const HELP: &str = "\
/help                what may be typed
/tools [WORDS]       the tools there are, and what holds for a call
/prompts [WORDS]     the prompts there are; /PROMPT begins one: key=value, \"quoted values\", or the tail as it is
/resources [WORDS]   the resources there are; @SERVER:URI in a message attaches one
/cost                what the conversation took so far
/trace               what was called so far
/quit                the end, as Ctrl-D
Tab fills in; a line that ends with \\ goes on; Ctrl-C takes back the turn that runs.
A message that begins with a slash: put a space before it.";

/// Reads a line; none where it is a message.
pub(super) fn read(line: &str) -> Option<Command<'_>> {
    let typed = line.strip_prefix('/')?;
    let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let rest = rest.trim();
    Some(match word {
        "help" | "?" => Command::Help,
        "tools" => Command::Tools(rest),
        "prompts" => Command::Prompts(rest),
        "resources" => Command::Resources(rest),
        "cost" => Command::Cost,
        "trace" => Command::Trace,
        "quit" | "exit" => Command::Quit,
        other => Command::Other(other, rest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_begins_a_command_and_a_space_before_it_a_message() {
        assert_eq!(read("/tools  find user "), Some(Command::Tools("find user")));
        assert_eq!(read("/crm__report month=May"), Some(Command::Other("crm__report", "month=May")));
        assert_eq!(read("/exit"), Some(Command::Quit));
        assert_eq!((read(" /etc/passwd is what?"), read("hello")), (None, None));
        for name in NAMES {
            assert!(!matches!(read(&format!("/{name}")), Some(Command::Other(..)) | None), "{name}");
            assert!(HELP.contains(&format!("/{name}")), "{name}");
        }
    }
}
