//! Chinese words: politeness taken out, cut by the dictionary, pairs of characters beside them.

use crate::table;

/// Whether the character is a Chinese one.
pub(crate) fn is_chinese(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2FA1F}')
}

/// Calls `each` with every word and every pair of characters of a run; pairs that are words come once.
pub(super) fn words<'a>(run: &'a str, mut each: impl FnMut(&'a str, Part)) {
    without_politeness(run, |part| {
        let mut word = |word| {
            if !is_stop_word(word) {
                each(word, Part::Word);
            }
        };
        for long in cut(part) {
            within(long, &mut word);
            word(long);
        }
        pairs(part, |pair| each(pair, Part::Pair));
    });
}

/// How a piece of Chinese came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The dictionary holds it.
    Word,
    /// Two characters side by side.
    Pair,
}

/// Cuts a run into its likeliest words.
pub(super) fn cut(run: &str) -> impl Iterator<Item = &str> {
    likeliest(run).into_iter().map(|(start, end)| &run[start..end])
}

/// Calls `each` with the words of the table within a longer one.
fn within<'a>(word: &'a str, mut each: impl FnMut(&'a str)) {
    for (at, c) in word.char_indices() {
        table::beginnings(&word[at..], |length, _| {
            if length > c.len_utf8() && length < word.len() {
                each(&word[at..at + length]);
            }
        });
    }
}

/// Where the words are of the cut whose words are likeliest together, by how rare each is.
fn likeliest(run: &str) -> Vec<(usize, usize)> {
    // From the end: for each place the cost of the best cut of what follows, and where its first word ends.
    let mut best = vec![(0.0_f32, run.len()); run.len() + 1];
    for (at, c) in run.char_indices().rev() {
        let alone = at + c.len_utf8();
        let mut found = (UNKNOWN + best[alone].0, alone);
        table::beginnings(&run[at..], |length, rarity| {
            let cost = rarity + best[at + length].0;
            if cost < found.0 {
                found = (cost, at + length);
            }
        });
        best[at] = found;
    }
    let mut words = Vec::new();
    let mut at = 0;
    while at < run.len() {
        words.push((at, best[at].1));
        at = best[at].1;
    }
    words
}

/// How rare a character is that the table does not hold.
const UNKNOWN: f32 = 19.0;

fn pairs<'a>(run: &'a str, mut each: impl FnMut(&'a str)) {
    let mut ends = run.char_indices().map(|(at, c)| (at, at + c.len_utf8(), c));
    let Some((mut start, mut end, mut last)) = ends.next() else { return };
    let mut alone = true;
    for (at, now, c) in ends {
        if !is_stop_character(last) && !is_stop_character(c) {
            each(&run[start..now]);
        }
        (start, end, last, alone) = (at, now, c, false);
    }
    if alone && !is_stop_character(last) {
        each(&run[start..end]);
    }
}

/// Calls `each` with what is left between the phrases of politeness.
pub(super) fn without_politeness<'a>(run: &'a str, mut each: impl FnMut(&'a str)) {
    let (mut start, mut at) = (0, 0);
    while at < run.len() {
        let rest = &run[at..];
        match POLITENESS.iter().find(|phrase| rest.starts_with(**phrase)) {
            Some(phrase) => {
                if start < at {
                    each(&run[start..at]);
                }
                at += phrase.len();
                start = at;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    if start < at {
        each(&run[start..at]);
    }
}

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word) || word.chars().count() == 1 && word.chars().all(is_stop_character)
}

fn is_stop_character(c: char) -> bool {
    STOP_CHARACTERS.contains(c)
}

/// Longer before shorter, where one begins with the other.
const POLITENESS: &[&str] = &[
    "麻烦帮我",
    "麻烦你",
    "麻烦您",
    "麻烦",
    "请帮我",
    "请帮忙",
    "请你",
    "请您",
    "请问",
    "请给我",
    "能不能帮我",
    "能不能",
    "可不可以",
    "可以帮我",
    "可以帮",
    "能帮我",
    "能帮",
    "帮我",
    "帮忙",
    "帮帮我",
    "给我",
    "替我",
    "告诉我",
    "我想要",
    "我想",
    "我需要",
    "我希望",
    "我要",
    "我们",
    "我正在",
    "一下子",
    "一下",
    "谢谢",
    "你好",
    "您好",
    "劳驾",
    "想知道",
    "想了解",
    "好的",
    "好吗",
    "可以吗",
    "行吗",
    "是什么",
    "有没有",
    "是不是",
    "怎么样",
    "什么样",
    "有哪些",
    "哪些",
];

/// Words that any request may hold.
const STOP_WORDS: &[&str] = &[
    "我们",
    "你们",
    "他们",
    "她们",
    "它们",
    "自己",
    "这个",
    "那个",
    "这些",
    "那些",
    "这里",
    "那里",
    "什么",
    "怎么",
    "如何",
    "为什么",
    "一个",
    "一些",
    "一种",
    "需要",
    "希望",
    "可以",
    "能够",
    "能否",
    "是否",
    "进行",
    "以及",
    "并且",
    "或者",
    "如果",
    "因为",
    "所以",
    "但是",
    "然后",
    "还有",
    "没有",
    "已经",
    "正在",
    "一下",
    "请问",
    "帮忙",
    "知道",
    "了解",
    "想要",
    "告诉",
    "提供",
    "用于",
    "通过",
    "根据",
    "关于",
    "对于",
    "非常",
    "其中",
    "以便",
    "相关",
    "指定",
    "现在",
    "目前",
    "最近",
    "这样",
    "那么",
    "哪个",
    "哪些",
    "多少",
    "有关",
];

const STOP_CHARACTERS: &str = "的了吗呢吧啊呀嘛我你您他她它们这那哪是在有和与或及并就都也还又把被让给对从到为以于之其个些里想要请帮很太最更再去来会能可将向则若各该且而但因由如此所";

#[cfg(test)]
mod tests {
    use super::{Part, cut, words};

    fn all(text: &str) -> Vec<(&str, Part)> {
        let mut found = Vec::new();
        words(text, |word, part| found.push((word, part)));
        found
    }

    #[test]
    fn the_likeliest_cut_is_taken() {
        let check = |run: &str, parts: &[&str]| assert_eq!(cut(run).collect::<Vec<_>>(), parts, "{run}");
        check("查询天气预报", &["查询", "天气预报"]);
        check("打开客厅的灯", &["打开", "客厅", "的", "灯"]);
        check("龘", &["龘"]);
        check("", &[]);
    }

    #[test]
    fn politeness_leaves_no_words() {
        assert_eq!(all("请帮我"), []);
        assert_eq!(all("麻烦你一下"), []);
    }

    #[test]
    fn words_and_pairs_stand_side_by_side() {
        let found = all("帮我查询天气");
        assert!(found.contains(&("查询", Part::Word)) && found.contains(&("天气", Part::Word)), "{found:?}");
        assert!(found.contains(&("询天", Part::Pair)), "{found:?}");
    }
}
