//! What to search for: the words after a verb of searching, without politeness before and particles behind.

use std::ops::Range;

use super::routes::Route;
use crate::slots::line::{self, Line};
use crate::slots::words::{List, Words};

/// Verbs of searching.
static VERBS: Words = Words::new(include_str!("../words/zh/queries-verbs.txt"));
/// Words that begin with a verb of searching and are none.
static NO_VERBS: Words = Words::new(include_str!("../words/zh/queries-no-verbs.txt"));
/// What may stand before the verb.
static LEADS: Words = Words::new(include_str!("../words/zh/queries-leads.txt"));
/// Words of politeness, anywhere, after which a verb counts.
const ASKS: &[&str] =
    &["帮我", "给我", "请你", "请您", "替我", "帮忙", "帮你", "我想", "我要", "你能", "请", "上网", "麻烦你", "麻烦您"];
/// Measures before the thing.
static MEASURES: Words = Words::new(include_str!("../words/zh/queries-measures.txt"));
/// Words that begin like a measure: 首 may begin 首都, 个 may begin 个人.
static NO_MEASURES: Words = Words::new(include_str!("../words/zh/queries-no-measures.txt"));
static TAILS: Words = Words::new(include_str!("../words/zh/queries-tails.txt"));
static LAST: Words = Words::new(include_str!("../words/zh/queries-last.txt"));
/// What a search within a way asks for, and is no search of its own.
static EMPTY: Words = Words::new(include_str!("../words/zh/queries-empty.txt"));

/// What a request wants searched.
pub(super) fn find(line: &Line<'_>, routes: &[Route]) -> Option<Range<usize>> {
    let range = after_verb(line).or_else(|| before_verb(line))?;
    let text = line.text(range.clone());
    let bare = EMPTY.has(text) || !routes.is_empty() && EMPTY.starts(text).is_some() && range.len() < 6;
    let elsewhere = routes
        .iter()
        .flat_map(|route| [&route.origin, &route.destination])
        .flatten()
        .any(|name| name.range.end <= range.start);
    let aside = elsewhere && EMPTY.within(text);
    (!bare && !aside).then_some(range)
}

fn after_verb(line: &Line<'_>) -> Option<Range<usize>> {
    let at = (0..line.len()).find(|at| begins(line, *at))?;
    let mut start = line.word(at, &VERBS)?;
    while let Some(after) = line.word(start, &MEASURES) {
        if line.is(start, &NO_MEASURES) || line.place_at(start).is_some() {
            break;
        }
        start = line.trim(after..line.len()).start;
    }
    trimmed(line, start..sentence_end(line, start))
}

/// Whether a verb of searching begins here, and is the verb of the request.
fn begins(line: &Line<'_>, at: usize) -> bool {
    if !line.is(at, &VERBS) || line.is(at, &NO_VERBS) {
        return false;
    }
    let start = line.clause(at).start;
    let asked = ASKS.iter().any(|ask| line.text(start..at).ends_with(ask));
    asked || led(line, start, at)
}

/// Whether nothing but leads stands before the verb.
fn led(line: &Line<'_>, mut at: usize, verb: usize) -> bool {
    while at < verb {
        let blank = line.char(at).is_whitespace() || line.char(at) == '“';
        let lead = line.word(at, &LEADS).filter(|end| *end <= verb);
        let Some(next) = blank.then_some(at + 1).or(lead).or_else(|| line.date_at(at).filter(|end| *end <= verb))
        else {
            return false;
        };
        at = next;
    }
    true
}

/// 周杰伦的歌给我找出来.
fn before_verb(line: &Line<'_>) -> Option<Range<usize>> {
    let clause = line.clauses().into_iter().next()?;
    let mut end = clause.end;
    while let Some(less) = line.word_before(end, clause.start, &TAILS) {
        end = less;
    }
    let verb = line.word_before(end, clause.start, &LAST)?;
    let start = clause.start;
    (!led(line, start, verb)).then(|| trimmed(line, start..verb)).flatten()
}

/// To the end of the sentence; a comma does not end it.
fn sentence_end(line: &Line<'_>, start: usize) -> usize {
    let ends = |at: &usize| {
        !line.bracketed(*at) && line::is_mark(line.char(*at)) && !matches!(line.char(*at), '，' | ',' | '：')
    };
    let end = (start..line.len()).find(ends).unwrap_or(line.len());
    // A comma followed by another wish ends it after all.
    let wishes = ["帮我", "请", "谢谢", "然后", "麻烦", "我要", "我想", "给我", "并", "告诉", "再", "顺便", "看看"];
    (start..end).find(|at| matches!(line.char(*at), '，' | ',') && line.is(*at + 1, &wishes)).unwrap_or(end)
}

fn trimmed(line: &Line<'_>, range: Range<usize>) -> Option<Range<usize>> {
    let mut range = line.trim(range);
    while let Some(less) = line.word_before(range.end, range.start, &TAILS) {
        if line.char(less) == '么' && matches!(line.before(less), '什' | '怎' | '多' | '那' | '这') {
            break;
        }
        range = line.trim(range.start..less);
    }
    (!range.is_empty()).then_some(range)
}
