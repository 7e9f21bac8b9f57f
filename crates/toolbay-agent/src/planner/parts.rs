//! A request cut where it may begin to ask for something else. Whether it does is decided by what each part finds.

use std::ops::Range;

use super::shielded::Shielded;

/// A request of more parts is planned as one: it is a document, not a list of wishes.
const MOST: usize = 12;
/// A part of more words than that says something of its own, whatever its words are.
const FEW_WORDS: usize = 3;
/// The same, in letters of scripts without blanks between words.
const FEW_LETTERS: usize = 6;

/// Marks at which a thought ends.
const ENDS: [char; 8] = ['。', '！', '!', '？', '?', '；', ';', '\n'];
/// Marks that part two thoughts, or two things of one.
const COMMAS: [char; 3] = ['，', ',', '、'];

/// Words between two thoughts; English ones in small letters, with what stands around them.
const WORDS: [(&str, Bond); 16] = [
    ("然后", Bond::Thought),
    ("并且", Bond::Thought),
    ("另外", Bond::Thought),
    ("顺便", Bond::Thought),
    ("还有", Bond::Joint),
    ("以及", Bond::Joint),
    ("同时", Bond::Thought),
    ("接着", Bond::Thought),
    (" and then ", Bond::Thought),
    (" and also ", Bond::Thought),
    (" as well as ", Bond::Joint),
    (" and ", Bond::Joint),
    (" then ", Bond::Thought),
    (" also ", Bond::Thought),
    (" plus ", Bond::Joint),
    (". ", Bond::Thought),
];

/// What a part begins with that asks for something by itself.
const ASKING: [&str; 50] = [
    "what ",
    "what's ",
    "how ",
    "where ",
    "when ",
    "who ",
    "which ",
    "why ",
    "is ",
    "are ",
    "do ",
    "does ",
    "can ",
    "could ",
    "will ",
    "please ",
    "tell ",
    "show ",
    "find ",
    "search ",
    "get ",
    "give ",
    "list ",
    "look ",
    "book ",
    "send ",
    "make ",
    "create ",
    "delete ",
    "translate ",
    "read ",
    "write ",
    "play ",
    "open ",
    "查",
    "搜",
    "找",
    "问",
    "看",
    "讲",
    "说",
    "告诉",
    "帮",
    "请",
    "怎么",
    "如何",
    "翻译",
    "发",
    "订",
    "播放",
];

/// A piece of a request between two cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Where it stands, in bytes.
    pub(super) range: Range<usize>,
    /// How it hangs on the piece before it.
    pub(super) bond: Bond,
}

/// How a piece hangs on the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bond {
    /// A thought of its own.
    Thought,
    /// A thought of its own, or one more thing of the same: "rock and roll".
    Joint,
}

/// The pieces of a request, none empty.
pub(super) fn pieces(request: &str) -> Vec<Piece> {
    let small = request.to_ascii_lowercase();
    let shielded = Shielded::within(request);
    let (mut pieces, mut start, mut at, mut bond) = (Vec::new(), 0, 0, Bond::Thought);
    while at < request.len() {
        if let Some(end) = shielded.end(at) {
            at = end;
            continue;
        }
        match cut(&small, at).filter(|(width, _)| shielded.leaves(at..at + width)) {
            Some((width, next)) => {
                let before = std::mem::replace(&mut bond, next);
                if !keep(&mut pieces, request, start..at, before) && before == Bond::Thought {
                    bond = before;
                }
                (start, at) = (at + width, at + width);
            }
            None => at += small[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    keep(&mut pieces, request, start..request.len(), bond);
    if pieces.len() <= MOST {
        return pieces;
    }
    let (mut whole, all) = (Vec::new(), 0..request.len());
    keep(&mut whole, request, all, Bond::Thought);
    whole
}

/// Keeps a piece without blanks and marks at its ends; whether anything was left. Where nothing was, the stronger of the two
/// cuts around it counts.
fn keep(pieces: &mut Vec<Piece>, request: &str, range: Range<usize>, bond: Bond) -> bool {
    let range = trimmed(request, range);
    let left = !range.is_empty();
    if left {
        pieces.push(Piece { range, bond });
    }
    left
}

/// Whether a piece asks for something by itself, or could only be more of what stands beside it.
pub(super) fn asks(piece: &str) -> bool {
    let small = format!("{} ", piece.to_lowercase());
    let words = piece.split_whitespace().count();
    let letters = piece.chars().filter(|char| char.is_alphanumeric() && !char.is_ascii()).count();
    words > FEW_WORDS || letters > FEW_LETTERS || ASKING.iter().any(|word| small.starts_with(word))
}

/// How wide what parts two thoughts is that stands here, and how it does.
fn cut(small: &str, at: usize) -> Option<(usize, Bond)> {
    let rest = &small[at..];
    let first = rest.chars().next()?;
    if ENDS.contains(&first) {
        return Some((first.len_utf8(), Bond::Thought));
    }
    if COMMAS.contains(&first) {
        // 1,000 is a number.
        let digit = |char: Option<char>| char.is_some_and(|char| char.is_ascii_digit());
        let number = first == ',' && digit(small[..at].chars().next_back()) && digit(rest[1..].chars().next());
        return (!number).then_some((first.len_utf8(), Bond::Joint));
    }
    WORDS.iter().find(|(word, _)| rest.starts_with(word)).map(|(word, bond)| (word.len(), *bond))
}

/// A range without blanks and marks at either end.
fn trimmed(request: &str, part: Range<usize>) -> Range<usize> {
    let idle = |char: char| char.is_whitespace() || ENDS.contains(&char) || COMMAS.contains(&char);
    let text = &request[part.clone()];
    let start = part.start + (text.len() - text.trim_start_matches(idle).len());
    let text = text.trim_matches(idle);
    start..start + text.len()
}

#[cfg(test)]
mod tests {
    use super::{asks, pieces};

    #[track_caller]
    fn check(request: &str, expected: &[&str]) {
        let found: Vec<_> = pieces(request).into_iter().map(|piece| &request[piece.range]).collect();
        assert_eq!(found, expected, "{request}");
    }

    #[test]
    fn a_request_is_cut_between_thoughts_and_not_within_numbers() {
        check("北京市今天天气，从海淀区到朝阳区怎么走？", &["北京市今天天气", "从海淀区到朝阳区怎么走"]);
        check("查天气然后导航", &["查天气", "导航"]);
        check("Weather in Beijing today AND how do I get there?", &["Weather in Beijing today", "how do I get there"]);
        check("send 1,000 euros", &["send 1,000 euros"]);
        check("  ，，", &[]);
        check("", &[]);
        assert_eq!(pieces(&"天气，".repeat(40)).len(), 1);
    }

    #[test]
    fn quotes_addresses_and_shortened_words_are_not_cut() {
        check(r#"search "salt and pepper, fish" then stop"#, &[r#"search "salt and pepper, fish""#, "stop"]);
        check("搜索《战争与和平，以及其他》，北京天气", &["搜索《战争与和平，以及其他》", "北京天气"]);
        check("weather in St. Louis. How far is it?", &["weather in St. Louis", "How far is it"]);
        check("ask Dr. J. Smith, now", &["ask Dr. J. Smith", "now"]);
        check("open https://x.test/?a=1,2;b=3 and stop", &["open https://x.test/?a=1,2;b=3", "stop"]);
        check("read https://x.test/a. Then stop", &["read https://x.test/a", "Then stop"]);
        // A mark that is never closed, or stands within a word, shields nothing.
        check(r#"3" pipes and don't stop"#, &[r#"3" pipes"#, "don't stop"]);
    }

    #[test]
    fn what_asks_for_itself_is_told_from_one_more_thing() {
        for (piece, expected) in [("roll", false), ("shoes", false), ("上海", false), ("讲个笑话", true)] {
            assert_eq!(asks(piece), expected, "{piece}");
        }
        assert!(asks("tell me a joke") && asks("what now") && asks("a very long list of things"));
    }
}
