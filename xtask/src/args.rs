//! Reads the command line: a command, flags, and `--name value` pairs. Nothing is ignored silently.

use anyhow::{Result, bail};

/// What was typed after `cargo xtask`.
pub(crate) struct Args {
    rest: Vec<String>,
}

impl Args {
    /// Takes the arguments of this process.
    pub(crate) fn from_command_line() -> Self {
        Self { rest: std::env::args().skip(1).collect() }
    }

    /// No arguments: a command run by another one.
    pub(crate) fn none() -> Self {
        Self { rest: Vec::new() }
    }

    /// These arguments: a command run by another one.
    pub(crate) fn of(words: &[&str]) -> Self {
        Self { rest: words.iter().map(|word| (*word).to_owned()).collect() }
    }

    /// Takes the first word.
    pub(crate) fn command(&mut self) -> String {
        if self.rest.is_empty() { String::new() } else { self.rest.remove(0) }
    }

    /// Takes a flag, wherever it stands.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.rest.len();
        self.rest.retain(|word| word != name);
        self.rest.len() < before
    }

    /// Whether a word is there; it is left where it stands.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.rest.iter().any(|word| word == name)
    }

    /// Takes every `name value` pair.
    pub(crate) fn values(&mut self, name: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        while let Some(at) = self.rest.iter().position(|word| word == name) {
            if at + 1 == self.rest.len() {
                bail!("{name} needs a value");
            }
            found.push(self.rest.remove(at + 1));
            self.rest.remove(at);
        }
        Ok(found)
    }

    /// Takes a number, or the default.
    pub(crate) fn number(&mut self, name: &str, default: usize) -> Result<usize> {
        match self.values(name)?.last() {
            Some(text) => text.parse().map_err(|_| anyhow::anyhow!("{name} needs a whole number, not `{text}`")),
            None => Ok(default),
        }
    }

    /// Refuses what nobody took.
    pub(crate) fn finish(self) -> Result<()> {
        if !self.rest.is_empty() {
            bail!("not understood: {}; `cargo xtask help` shows what each command takes", self.rest.join(" "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Args;

    fn args(line: &str) -> Args {
        Args { rest: line.split_whitespace().map(str::to_owned).collect() }
    }

    #[test]
    fn flags_and_pairs_are_taken_in_any_order() {
        let mut args = args("--write --revision a --scenario s --revision b");
        assert_eq!(args.values("--revision").unwrap(), ["a", "b"]);
        assert!(args.flag("--write"));
        assert_eq!(args.values("--scenario").unwrap(), ["s"]);
        args.finish().unwrap();
    }

    #[test]
    fn leftovers_and_missing_values_are_refused() {
        assert!(args("--wat").finish().is_err());
        assert!(args("--revision").values("--revision").is_err());
        assert!(args("--rounds many").number("--rounds", 1).is_err());
    }
}
