//! What an English request says.

use std::ops::Range;

use super::phrases::{AROUND, ENDS, LEADS, NO_PLACES, POINTERS, SEARCH, TAILS, THINGS, TRAVEL, WEATHER};
use super::words::{Word, words};
use crate::slots::line::Line;
use crate::slots::slot::Kind;

/// A name has no more words than this.
const WIDEST: usize = 7;

/// What is said, apart from dates.
pub(in crate::slots) fn read(line: &Line<'_>) -> Vec<(Kind, Range<usize>, f32)> {
    let words = words(line);
    let reader = Reader { line, weather: words.iter().any(|word| WEATHER.has(&word.small)), words };
    let mut found = Vec::new();
    let mut at = 0;
    while at < reader.words.len() {
        at = reader.step(at, &mut found).max(at + 1);
    }
    found.extend(reader.query().map(|range| (Kind::Query, range, 0.85)));
    found
}

struct Reader<'l, 't> {
    line: &'l Line<'t>,
    words: Vec<Word>,
    weather: bool,
}

type Found = Vec<(Kind, Range<usize>, f32)>;

impl Reader<'_, '_> {
    fn small(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.small)
    }

    /// Reads what one word leads to; how far that went.
    fn step(&self, at: usize, found: &mut Found) -> usize {
        match self.small(at) {
            "from" => self.from(at, found),
            "to" if at > 0 && TRAVEL.has(self.small(at - 1)) => self.towards(at, found),
            "in" | "for" | "of" | "at" => self.city(at, found),
            "where" if matches!(self.small(at + 1), "is" | "are") => self.whereabouts(at + 2, found),
            "where's" => self.whereabouts(at + 1, found),
            "address" | "location" if self.small(at + 1) == "of" => self.whereabouts(at + 2, found),
            "close" | "next" if self.small(at + 1) == "to" => self.around(at + 2, found),
            word if AROUND.contains(&word) => self.around(at + 1, found),
            _ => at,
        }
    }

    /// from A to B.
    fn from(&self, at: usize, found: &mut Found) -> usize {
        let Some((origin, next)) = self.name(at + 1) else { return at };
        let goal = (self.small(next) == "to").then(|| self.name(next + 1)).flatten();
        // From USD to EUR is no way, and neither is anything that one of its ends says is none.
        if self.is_thing(at + 1, next) || goal.as_ref().is_some_and(|(_, end)| self.is_thing(next + 1, *end)) {
            return goal.map_or(next, |(_, end)| end);
        }
        // Words without a capital are places only where somebody wants to get there: not "from open to closed".
        let named = self.named(at + 1) || self.named(next + 1) || self.words.iter().any(|word| TRAVEL.has(&word.small));
        if let Some((destination, end)) = goal {
            if !named {
                return end;
            }
            found.push((Kind::Origin, origin, 0.95));
            found.push((Kind::Destination, destination, 0.95));
            return end;
        }
        let gone = at > 0
            && matches!(
                self.small(at - 1),
                "flight"
                    | "flights"
                    | "train"
                    | "trains"
                    | "leave"
                    | "leaving"
                    | "departing"
                    | "bus"
                    | "start"
                    | "starting"
                    | "go"
                    | "fly"
            );
        if gone && self.named(at + 1) {
            found.push((Kind::Origin, origin, 0.8));
            return next;
        }
        at
    }

    fn towards(&self, at: usize, found: &mut Found) -> usize {
        let Some((destination, end)) = self.name(at + 1).filter(|_| self.named(at + 1)) else { return at };
        if self.is_thing(at + 1, end) {
            return at;
        }
        found.push((Kind::Destination, destination, 0.85));
        // to B from A.
        let start = (self.small(end) == "from" && self.named(end + 1)).then(|| self.name(end + 1)).flatten();
        let Some((origin, end)) = start else { return end };
        found.push((Kind::Origin, origin, 0.85));
        end
    }

    /// in A; "for" and "of" only where the weather is asked for.
    fn city(&self, at: usize, found: &mut Found) -> usize {
        let word = self.small(at);
        let sky = at > 0 && WEATHER.has(self.small(at - 1));
        let capital = self.words.get(at + 1).is_some_and(|next| next.capital && !NO_PLACES.has(&next.small));
        let placed = match word {
            "in" => capital || self.weather,
            "at" => capital && self.weather,
            _ => sky,
        };
        let Some((city, end)) = self.name(at + 1).filter(|_| placed) else { return at };
        let known = NO_PLACES.has(self.small(at + 1)) || self.is_thing(at + 1, end);
        // "In the next days", "in a hurry": a place without a capital has no article either.
        let led = !capital
            && matches!(self.small(at + 1), "the" | "a" | "an" | "my" | "your" | "our" | "his" | "her" | "its");
        if known || led || self.line.text(city.clone()).chars().all(|char| !char.is_alphabetic()) {
            return at;
        }
        found.push((Kind::City, city, if capital { 0.85 } else { 0.6 }));
        if capital { self.more_cities(end, found) } else { end }
    }

    /// What follows with a capital behind "and" or a comma: in Paris, London and Rome.
    fn more_cities(&self, mut at: usize, found: &mut Found) -> usize {
        loop {
            let comma = at > 0 && self.words.get(at - 1).is_some_and(|word| self.line.char(word.range.end) == ',');
            let next = match self.small(at) {
                "and" | "or" => at + 1,
                _ if comma => at,
                _ => return at,
            };
            let capital = self.words.get(next).is_some_and(|word| word.capital && !NO_PLACES.has(&word.small));
            // A name alone: "in Paris and London", not "in Paris and Peter wants to know".
            let Some((city, end)) = self.name(next).filter(|_| capital) else { return at };
            let all = (next..end).all(|at| self.words[at].capital);
            if !all || self.is_thing(next, end) || self.is_verb(end) {
                return at;
            }
            found.push((Kind::City, city, 0.8));
            at = end;
        }
    }

    /// Whether a name that ends before this word goes on as a sentence.
    fn is_verb(&self, at: usize) -> bool {
        matches!(
            self.small(at),
            "is" | "are" | "was" | "were" | "will" | "would" | "has" | "have" | "do" | "does" | "can"
        )
    }

    /// Whether these words are plainly no place: money, languages, formats, units, numbers, a time. Of a name in capitals all
    /// of them must be, of other words the first or the last.
    fn is_thing(&self, from: usize, to: usize) -> bool {
        let named = self.words[from..to].iter().filter(|word| !matches!(&*word.small, "the" | "a" | "an"));
        let (named, is): (Vec<_>, _) = (named.collect(), |word: &Word| {
            THINGS.has(&word.small) || word.small.starts_with(|first: char| first.is_ascii_digit())
        });
        match named.iter().all(|word| word.capital) {
            true => !named.is_empty() && named.iter().all(|word| is(word)),
            false => named.first().is_some_and(|word| is(word)) || named.last().is_some_and(|word| is(word)),
        }
    }

    fn whereabouts(&self, at: usize, found: &mut Found) -> usize {
        let Some((place, end)) = self.name(at).filter(|_| self.named(at)) else { return at };
        found.push((Kind::Location, place, 0.85));
        end
    }

    fn around(&self, at: usize, found: &mut Found) -> usize {
        let Some((place, end)) = self.name(at) else { return at };
        let counted = self.small(at).starts_with(|first: char| first.is_ascii_digit());
        if counted {
            return at;
        }
        found.push((Kind::Location, place, if self.named(at) { 0.85 } else { 0.6 }));
        end
    }

    /// Whether a name that begins here is one: a capital, or "the".
    fn named(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| (word.capital && !NO_PLACES.has(&word.small)) || word.small == "the")
    }

    /// The words from here to one that ends names, and the word after them.
    fn name(&self, at: usize) -> Option<(Range<usize>, usize)> {
        if POINTERS.has(self.small(at)) {
            return None;
        }
        let mut end = at;
        while let Some(word) = self.words.get(end).filter(|_| end < at + WIDEST) {
            let dated = self.line.date_over(word.range.start).is_some();
            if dated || ENDS.has(&word.small) {
                break;
            }
            end += 1;
            if word.last {
                break;
            }
        }
        // A "next" or "this" left before a date belongs to neither.
        let range = self.words.get(at)?.range.start..self.words.get(end.checked_sub(1)?)?.range.end;
        (end > at).then_some((range, end))
    }

    /// What follows a verb of searching.
    fn query(&self) -> Option<Range<usize>> {
        let verb = self.words.iter().position(|word| !LEADS.has(&word.small))?;
        let said = |phrase: &&&[&str]| phrase.iter().enumerate().all(|(at, word)| self.small(verb + at) == *word);
        let phrase = SEARCH.iter().find(said)?;
        let start = verb + phrase.len();
        let stop = (start..self.words.len()).find(|at| self.ends_sentence(*at)).map_or(self.words.len(), |at| at + 1);
        let mut end = stop;
        while end > start && TAILS.contains(&self.small(end - 1)) {
            end -= 1;
        }
        let start = if matches!(self.small(start), "a" | "an" | "some" | "any") { start + 1 } else { start };
        (start < end).then(|| self.words[start].range.start..self.words[end - 1].range.end)
    }

    fn ends_sentence(&self, at: usize) -> bool {
        let word = &self.words[at];
        word.last && self.line.char(word.range.end) != ','
    }
}
