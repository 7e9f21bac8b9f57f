//! A template read backwards: which values, filled in, give this URI.

use std::collections::HashSet;

use toolbay_protocol::types::Dict;

use super::parse::{Hole, Operator, Part, UriTemplate};

/// How many letters are looked at, all ways to divide a URI together, before it is taken not to fit.
const WORK: usize = 1 << 19;
/// What it costs to begin with a hole, besides.
const A_TURN: usize = 16;
/// No longer URI is looked at.
const LONGEST: usize = 65_536;

impl UriTemplate {
    /// The values of its holes in `uri`; `None` where it does not fit. Earlier holes take as little as they can, but for
    /// those that may hold `/`; those end where a query or fragment of the template begins.
    pub fn matches(&self, uri: &str) -> Option<Dict<String>> {
        if uri.len() > LONGEST {
            return None;
        }
        let mut search = Search { found: Vec::new(), failed: HashSet::new(), work: WORK };
        search.parts(&self.parts, uri)?;
        let mut values = Dict::new();
        for (name, value) in search.found {
            values.insert(name, value);
        }
        Some(values)
    }
}

struct Search<'t> {
    found: Vec<(&'t str, String)>,
    /// Where it did not go on: how many parts, holes and letters were left. What fits there depends on nothing else.
    failed: HashSet<(usize, usize, usize)>,
    work: usize,
}

impl<'t> Search<'t> {
    fn parts(&mut self, parts: &'t [Part], uri: &str) -> Option<()> {
        match parts.split_first() {
            None => uri.is_empty().then_some(()),
            Some((Part::Literal(text), rest)) => self.parts(rest, uri.strip_prefix(&**text)?),
            Some((Part::Holes(operator, holes), rest)) if operator.names() => self.named(*operator, holes, rest, uri),
            Some((Part::Holes(operator, holes), rest)) => {
                if operator.first().is_empty() {
                    return self.listed(*operator, holes, rest, uri);
                }
                let mark = self.found.len();
                if let Some(inner) = uri.strip_prefix(operator.first()) {
                    if self.listed(*operator, holes, rest, inner).is_some() {
                        return Some(());
                    }
                    self.found.truncate(mark);
                }
                // All of them may have been left out.
                self.parts(rest, uri)
            }
        }
    }

    /// Values by their place, each up to what stands between.
    fn listed(&mut self, operator: Operator, holes: &'t [Hole], rest: &'t [Part], uri: &str) -> Option<()> {
        let place = (rest.len(), holes.len(), uri.len());
        if self.failed.contains(&place) {
            return None;
        }
        let fits = self.divided(operator, holes, rest, uri);
        if fits.is_none() {
            self.failed.insert(place);
        }
        fits
    }

    fn divided(&mut self, operator: Operator, holes: &'t [Hole], rest: &'t [Part], uri: &str) -> Option<()> {
        let Some((hole, others)) = holes.split_first() else { return self.parts(rest, uri) };
        let ends =
            |letter| !allowed(operator, hole, letter) || (operator == Operator::Reserved && begins(rest, letter));
        let longest = uri.find(ends).unwrap_or(uri.len());
        self.work = self.work.checked_sub(longest + A_TURN)?;
        for place in 1..=longest {
            let end = if operator.reserved() { longest + 1 - place } else { place };
            self.work = self.work.checked_sub(1)?;
            if !uri.is_char_boundary(end) || (others.is_empty() && !may_go_on(rest, &uri[end..])) {
                continue;
            }
            self.work = self.work.checked_sub(end)?;
            // An end in the middle of an escape is none.
            let Some(value) = decode(&uri[..end]) else { continue };
            let mark = self.found.len();
            self.found.push((&hole.name, value));
            let behind = &uri[end..];
            let on = match (others.is_empty(), behind.strip_prefix(operator.between())) {
                (true, _) => self.parts(rest, behind),
                (false, Some(behind)) => self.listed(operator, others, rest, behind),
                // The later ones may have been left out.
                (false, None) => self.parts(rest, behind),
            };
            if on.is_some() {
                return Some(());
            }
            self.found.truncate(mark);
        }
        None
    }

    /// Values with their names, in any order, as many as there are; those of the next parts are among them.
    fn named(&mut self, operator: Operator, holes: &'t [Hole], rest: &'t [Part], uri: &str) -> Option<()> {
        let end = match operator {
            Operator::Parameter => uri.find(['/', '?', '#']),
            _ => uri.find('#'),
        };
        let (pairs, behind) = uri.split_at(end.unwrap_or(uri.len()));
        let Some(pairs) = pairs.strip_prefix(operator.first()) else { return self.parts(rest, uri) };
        let more = rest.iter().map_while(|part| match part {
            Part::Holes(next, holes) if next.names() && next.between() == operator.between() => Some(holes),
            Part::Holes(..) | Part::Literal(_) => None,
        });
        let (more, rest): (Vec<_>, _) = (more.clone().flatten().collect(), &rest[more.count()..]);
        for pair in pairs.split(operator.between()).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name)?;
            if let Some(hole) = holes.iter().chain(more.iter().copied()).find(|hole| *hole.name == name) {
                self.found.push((&hole.name, decode(value)?));
            }
        }
        self.parts(rest, behind)
    }
}

/// Whether what stands behind a value can be the beginning of what must follow, at a glance.
fn may_go_on(rest: &[Part], behind: &str) -> bool {
    match rest.split_first() {
        None => behind.is_empty(),
        Some((Part::Literal(text), _)) => behind.starts_with(&**text),
        Some((Part::Holes(operator, _), rest)) => {
            let first = operator.first();
            let begins = if first.is_empty() { !behind.is_empty() } else { behind.starts_with(first) };
            // What begins with a letter of its own may have been left out.
            begins || (!first.is_empty() && may_go_on(rest, behind))
        }
    }
}

/// Whether a letter that a value may hold is how a later query or fragment begins, which is what it is taken for then.
fn begins(rest: &[Part], letter: char) -> bool {
    let begun = |operator| match letter {
        '?' => operator == Operator::Query,
        '#' => operator == Operator::Fragment,
        _ => false,
    };
    matches!(letter, '?' | '#') && rest.iter().any(|part| matches!(part, Part::Holes(operator, _) if begun(*operator)))
}

fn allowed(operator: Operator, hole: &Hole, letter: char) -> bool {
    if operator.reserved() {
        return true;
    }
    // What stands between values is escaped in them, but for the dot.
    let between = letter == operator.between() && !matches!(letter, ',' | '.');
    if hole.explode && (between || letter == ',') {
        return true;
    }
    !(between || matches!(letter, '/' | '?' | '#' | '&' | ','))
}

/// What a value says; `None` where an escape is none, or gives no text.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
