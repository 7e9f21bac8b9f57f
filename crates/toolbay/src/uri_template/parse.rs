//! A template taken apart.

use std::fmt;

/// A URI with holes: `orders://{id}`, `file:///{+path}`, `db://rows{?from,to}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    pub(super) text: Box<str>,
    pub(super) parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Literal(Box<str>),
    Holes(Operator, Vec<Hole>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    pub(super) name: Box<str>,
    /// `*`: several values, each in its own place.
    pub(super) explode: bool,
    /// `:3`: so many letters of it.
    pub(super) prefix: Option<usize>,
}

/// The letter behind `{`, which says how values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Path,
    Parameter,
    Query,
    MoreQuery,
}

impl Operator {
    fn of(letter: char) -> Option<Self> {
        Some(match letter {
            '+' => Self::Reserved,
            '#' => Self::Fragment,
            '.' => Self::Label,
            '/' => Self::Path,
            ';' => Self::Parameter,
            '?' => Self::Query,
            '&' => Self::MoreQuery,
            _ => return None,
        })
    }

    /// What stands before the first value.
    pub(super) fn first(self) -> &'static str {
        match self {
            Self::Simple | Self::Reserved => "",
            Self::Fragment => "#",
            Self::Label => ".",
            Self::Path => "/",
            Self::Parameter => ";",
            Self::Query => "?",
            Self::MoreQuery => "&",
        }
    }

    /// What stands between two values.
    pub(super) fn between(self) -> char {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => ',',
            Self::Label => '.',
            Self::Path => '/',
            Self::Parameter => ';',
            Self::Query | Self::MoreQuery => '&',
        }
    }

    /// Whether values stand with their names.
    pub(super) fn names(self) -> bool {
        matches!(self, Self::Parameter | Self::Query | Self::MoreQuery)
    }

    /// Whether values may hold what has a meaning in URIs.
    pub(super) fn reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    template: Box<str>,
    what: &'static str,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no URI template: {}", self.template, self.what)
    }
}

impl std::error::Error for Flaw {}

/// More holes than anybody means.
const MOST_HOLES: usize = 64;
const LONGEST: usize = 8192;

impl UriTemplate {
    /// Takes a template apart.
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        let flaw = |what| Flaw { template: text.chars().take(200).collect(), what };
        if text.len() > LONGEST {
            return Err(flaw("it is longer than 8,192 bytes"));
        }
        let (mut parts, mut rest, mut holes) = (Vec::new(), text, 0);
        while let Some(open) = rest.find(['{', '}']) {
            if rest[open..].starts_with('}') {
                return Err(flaw("a `}` closes nothing"));
            }
            if open > 0 {
                parts.push(Part::Literal(rest[..open].into()));
            }
            let end = rest[open..].find('}').ok_or_else(|| flaw("a `{` is never closed"))?;
            let (operator, all) = expression(&rest[open + 1..open + end]).map_err(flaw)?;
            holes += all.len();
            parts.push(Part::Holes(operator, all));
            rest = &rest[open + end + 1..];
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.into()));
        }
        if holes > MOST_HOLES {
            return Err(flaw("it has more than 64 holes"));
        }
        Ok(Self { text: text.into(), parts })
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of its holes, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Literal(_) => [].iter(),
                Part::Holes(_, holes) => holes.iter(),
            })
            .map(|hole| &*hole.name)
    }
}

fn expression(text: &str) -> Result<(Operator, Vec<Hole>), &'static str> {
    let first = text.chars().next().ok_or("a hole is empty")?;
    let (operator, names) = match Operator::of(first) {
        Some(operator) => (operator, &text[1..]),
        None => (Operator::Simple, text),
    };
    let holes: Result<Vec<_>, _> = names.split(',').map(hole).collect();
    Ok((operator, holes?))
}

fn hole(text: &str) -> Result<Hole, &'static str> {
    let (name, explode, prefix) = match (text.strip_suffix('*'), text.split_once(':')) {
        (Some(name), _) => (name, true, None),
        (None, Some((name, length))) => {
            let length = length.parse().ok().filter(|length| (1..10_000).contains(length));
            (name, false, Some(length.ok_or("the number behind `:` must be 1 to 9999")?))
        }
        (None, None) => (text, false, None),
    };
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'%');
    if name.is_empty() || !name.bytes().all(letter) {
        return Err("the name of a hole must be of letters, digits, `_` and `.`");
    }
    Ok(Hole { name: name.into(), explode, prefix })
}
