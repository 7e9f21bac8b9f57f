//! `${…}` in a text: which forms there are, and what they stand for. A bare `$VAR` stands for itself.

use std::{fmt, path::PathBuf};

use super::{running::SESSION_DIR, surroundings::Surroundings};

/// A text with its variables filled in; it prints as it was typed, so that no secret is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Expanded {
    value: String,
    written: String,
}

impl Expanded {
    /// A text that is what it says.
    pub fn literal(text: impl Into<String>) -> Self {
        let value: String = text.into();
        Self { written: value.clone(), value }
    }

    /// The text with its variables filled in, for the one who must use it.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The text as it was typed.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The same typed text, standing for something else.
    pub(super) fn standing_for(self, value: String) -> Self {
        Self { value, ..self }
    }
}

impl fmt::Display for Expanded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl fmt::Debug for Expanded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.written)
    }
}

/// Why a text cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfilled {
    /// The environment has no such variable, and no default is given.
    Unset { name: String },
    /// A question an editor would ask.
    Input { id: String },
    /// Something only an editor knows.
    Editor { what: String },
    /// Defaults within defaults, too many.
    Deep,
}

impl Unfilled {
    /// What is wrong, and what to do.
    pub(super) fn explain(&self) -> (String, String) {
        match self {
            Self::Unset { name } if name == SESSION => (
                "${SESSION_DIR} is the folder of a device's session, and this server keeps none".into(),
                "add \"isolation\": \"per-device\"".into(),
            ),
            Self::Unset { name } => (
                format!("the environment variable {name} is not set"),
                format!("set it, or give a default: ${{{name}:-DEFAULT}}"),
            ),
            Self::Input { id } => (
                format!("${{input:{id}}} is a question only VS Code can ask"),
                format!("write ${{{}}} and set it in the environment", id.to_uppercase().replace(['-', ' ', '.'], "_")),
            ),
            Self::Editor { what } => {
                (format!("${{{what}}} is known only to an editor"), "write the value, or ${VAR}".into())
            }
            Self::Deep => ("defaults are nested too deeply".into(), "set a variable instead".into()),
        }
    }
}

/// The name in `${SESSION_DIR}`.
const SESSION: &str = "SESSION_DIR";

/// What variables stand for.
pub(super) struct Variables<'a> {
    pub(super) around: &'a Surroundings<'a>,
    /// What `${workspaceFolder}` is.
    pub(super) workspace: PathBuf,
    /// What `${SESSION_DIR}` is.
    pub(super) session_dir: Standing,
}

/// What `${SESSION_DIR}` stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// A variable like any other.
    Variable,
    /// Itself, until there is a session.
    Itself,
}

/// A filled-in text, and the `${…}` in it that are no form of ours and were left as typed.
pub(super) struct Filled {
    pub(super) text: Expanded,
    pub(super) left: Vec<String>,
}

impl Variables<'_> {
    /// Fills in `text`.
    pub(super) fn fill(&self, text: &str) -> Result<Filled, Unfilled> {
        let mut left = Vec::new();
        let value = self.expand(text, &mut left, 0)?;
        Ok(Filled { text: Expanded { value, written: text.to_owned() }, left })
    }

    fn expand(&self, text: &str, left: &mut Vec<String>, depth: usize) -> Result<String, Unfilled> {
        if depth > DEEPEST {
            return Err(Unfilled::Deep);
        }
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let Some(length) = closing(&rest[start + 2..]) else { break };
            let inside = &rest[start + 2..start + 2 + length];
            filled.push_str(&rest[..start]);
            rest = &rest[start + 2 + length + 1..];
            match self.meaning(inside)? {
                Meaning::Value(value) => filled.push_str(&value),
                Meaning::Default(default) => filled.push_str(&self.expand(default, left, depth + 1)?),
                Meaning::None => {
                    let whole = format!("${{{inside}}}");
                    filled.push_str(&whole);
                    left.push(whole);
                }
            }
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// What stands between the braces: `VAR`, `env:VAR`, either with `:-default`, or one of the editors' words.
    fn meaning<'t>(&self, inside: &'t str) -> Result<Meaning<'t>, Unfilled> {
        if let Some(value) = self.editors_word(inside)? {
            return Ok(Meaning::Value(value));
        }
        let (prefixed, rest) = match inside.strip_prefix("env:") {
            Some(rest) => (true, rest),
            None => (false, inside),
        };
        let (name, default) = match rest.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (rest, None),
        };
        match name.split_once(':') {
            Some(("input", id)) if !prefixed => return Err(Unfilled::Input { id: id.to_owned() }),
            Some(("command" | "config" | "workspaceFolder", _)) if !prefixed => {
                return Err(Unfilled::Editor { what: inside.to_owned() });
            }
            _ => {}
        }
        if !prefixed && name == SESSION && self.session_dir == Standing::Itself {
            return Ok(Meaning::Value(SESSION_DIR.to_owned()));
        }
        // Windows has names such as `ProgramFiles(x86)`: `env:` takes them as they come.
        let named = if prefixed { !name.is_empty() && !name.contains(['=', '\0']) } else { is_name(name) };
        if !named {
            return Ok(Meaning::None);
        }
        // As in a shell, a default also stands in for an empty variable.
        match ((self.around.variable)(name), default) {
            (Some(value), Some(default)) if value.is_empty() => Ok(Meaning::Default(default)),
            (Some(value), _) => Ok(Meaning::Value(value)),
            (None, Some(default)) => Ok(Meaning::Default(default)),
            (None, None) => Err(Unfilled::Unset { name: name.to_owned() }),
        }
    }

    /// The words VS Code and Cursor share.
    fn editors_word(&self, word: &str) -> Result<Option<String>, Unfilled> {
        Ok(Some(match word {
            "workspaceFolder" => self.workspace.to_string_lossy().into_owned(),
            "workspaceFolderBasename" => {
                self.workspace.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
            }
            "userHome" => match self.around.home() {
                Some(home) => home.to_string_lossy().into_owned(),
                None => return Err(Unfilled::Unset { name: "HOME".into() }),
            },
            "pathSeparator" | "/" => std::path::MAIN_SEPARATOR_STR.to_owned(),
            _ => return Ok(None),
        }))
    }
}

enum Meaning<'t> {
    Value(String),
    /// The variable is not set or is empty: this stands in, and may hold variables itself.
    Default(&'t str),
    /// No form of ours.
    None,
}

/// The length of what stands before the brace that closes, past any `${…}` within.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0usize;
    let mut previous = '\0';
    for (at, letter) in text.char_indices() {
        match letter {
            '{' if previous == '$' => open += 1,
            '}' if open == 0 => return Some(at),
            '}' => open -= 1,
            _ => {}
        }
        previous = letter;
    }
    None
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Defaults within defaults go this deep.
const DEEPEST: usize = 8;
