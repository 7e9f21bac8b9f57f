//! What of a request is not cut: quotes, addresses, and words that end with a point because they are shortened.

use std::ops::Range;

/// Pairs of marks around a quote.
const QUOTES: [(char, char); 8] =
    [('"', '"'), ('“', '”'), ('‘', '’'), ('「', '」'), ('『', '』'), ('《', '》'), ('\'', '\''), ('`', '`')];

/// Words that a point shortens; in small letters.
const SHORT: [&str; 20] = [
    "st", "mt", "ft", "dr", "mr", "mrs", "ms", "prof", "jr", "sr", "vs", "e.g", "i.e", "approx", "dept", "ave", "blvd",
    "rd", "u.s", "etc",
];

/// No stretch is longer, in bytes: a mark that is never closed must not be looked for to the end of a book.
const LONGEST: usize = 2_000;

/// Stretches of a request that stay whole, in order, none touching another.
pub(super) struct Shielded(Vec<Range<usize>>);

impl Shielded {
    pub(super) fn within(request: &str) -> Self {
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(first) = request[at..].chars().next() {
            let stretch = quote(request, at).or_else(|| address(request, at)).or_else(|| shortened(request, at));
            at = match stretch {
                Some(end) => {
                    found.push(at..end);
                    end
                }
                None => at + first.len_utf8(),
            };
        }
        Self(found)
    }

    /// Where the stretch ends that begins here.
    pub(super) fn end(&self, at: usize) -> Option<usize> {
        let place = self.0.binary_search_by_key(&at, |stretch| stretch.start).ok()?;
        Some(self.0[place].end)
    }

    /// Whether what stands there touches no stretch. A word between two thoughts has a blank on either side, so that it
    /// could begin before a stretch and end in it.
    pub(super) fn leaves(&self, range: Range<usize>) -> bool {
        let next = self.0.partition_point(|stretch| stretch.end <= range.start);
        self.0.get(next).is_none_or(|stretch| stretch.start >= range.end)
    }
}

/// The end of a quote that begins here. Marks that also stand within words open only before a word, and close after one.
fn quote(request: &str, at: usize) -> Option<usize> {
    let first = request[at..].chars().next()?;
    let (_, close) = *QUOTES.iter().find(|(open, _)| *open == first)?;
    let within = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    if first == close && within(request[..at].chars().next_back()) {
        return None;
    }
    let start = at + first.len_utf8();
    let ends = |(place, _): &(usize, &str)| {
        first != close || !within(request[start + place + close.len_utf8()..].chars().next())
    };
    let (place, _) = near(request, start).match_indices(close).find(ends)?;
    Some(start + place + close.len_utf8())
}

/// The end of an address of the web or of mail that begins here, without the marks of the sentence around it.
fn address(request: &str, at: usize) -> Option<usize> {
    if request[..at].chars().next_back().is_some_and(|char| char.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = near(request, at);
    let end = rest.find(|char: char| char.is_whitespace() || !char.is_ascii()).unwrap_or(rest.len());
    let word = rest[..end].trim_end_matches(['.', ',', ';', '?', '!']);
    let scheme =
        word.split_once("://").is_some_and(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let mail = word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    let web = scheme || word.starts_with("www.") || mail;
    (web && word.len() > 4).then_some(at + word.len())
}

/// The end of a shortened word, with its point, that begins here: `St.`, or a letter for a name.
fn shortened(request: &str, at: usize) -> Option<usize> {
    if request[..at].chars().next_back().is_some_and(|char| char.is_alphanumeric() || char == '.') {
        return None;
    }
    let (word, _) = near(request, at).split_once(". ").filter(|(word, _)| word.len() <= 8)?;
    let letter = word.len() == 1 && word.as_bytes()[0].is_ascii_uppercase() && word != "I";
    (letter || SHORT.contains(&word.to_ascii_lowercase().as_str())).then_some(at + word.len() + 1)
}

/// The text from here on, as far as a stretch may go.
fn near(request: &str, at: usize) -> &str {
    let rest = &request[at..];
    &rest[..rest.floor_char_boundary(LONGEST)]
}
