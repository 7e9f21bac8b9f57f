//! The table of names, and the longest one that begins somewhere.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Provinces, cities and counties, a line each; docs/decisions/012-gazetteer.md says where from.
const CHINA: &str = include_str!("china.txt");
/// Countries, cities, and states, by hand.
const ABROAD: &str = include_str!("abroad.txt");
/// Names that are everyday words as well: to be believed only with their suffix, or where nothing but a place can stand.
const WEAK: &str = include_str!("weak.txt");

/// The ends of full names, longest first, that people leave out.
const SUFFIXES: [&str; 10] = ["特别行政区", "地区", "林区", "新区", "省", "市", "区", "县", "旗", "盟"];
const SELF_RULE: [&str; 4] = ["自治州", "自治县", "自治旗", "自治区"];
const PEOPLES: [&str; 52] = [
    "蒙古族",
    "回族",
    "藏族",
    "维吾尔族",
    "维吾尔",
    "苗族",
    "彝族",
    "壮族",
    "布依族",
    "朝鲜族",
    "满族",
    "侗族",
    "瑶族",
    "白族",
    "土家族",
    "哈尼族",
    "哈萨克族",
    "哈萨克",
    "傣族",
    "黎族",
    "傈僳族",
    "佤族",
    "畲族",
    "拉祜族",
    "水族",
    "东乡族",
    "纳西族",
    "景颇族",
    "柯尔克孜",
    "土族",
    "达斡尔族",
    "仫佬族",
    "羌族",
    "布朗族",
    "撒拉族",
    "毛南族",
    "仡佬族",
    "锡伯",
    "普米族",
    "塔吉克",
    "怒族",
    "独龙族",
    "德昂族",
    "保安族",
    "裕固族",
    "各族",
    "蒙古",
    "鄂温克族",
    "鄂伦春",
    "俄罗斯族",
    "回",
    "克孜勒",
];

/// One name.
#[derive(Clone, Copy)]
pub(super) struct Name {
    /// The name.
    pub(super) text: &'static str,
    /// How many characters it has.
    pub(super) chars: usize,
    /// Whether it is an everyday word as well.
    pub(super) weak: bool,
}

static NAMES: LazyLock<HashMap<[char; 2], Vec<Name>>> = LazyLock::new(gather);

/// The longest name that `rest` begins with.
pub(super) fn longest(first: char, second: char, rest: &str) -> Option<Name> {
    NAMES.get(&[first, second])?.iter().find(|name| rest.starts_with(name.text)).copied()
}

fn gather() -> HashMap<[char; 2], Vec<Name>> {
    let weak: HashSet<&str> = WEAK.split_whitespace().collect();
    let mut all: HashSet<&'static str> = ABROAD.split_whitespace().collect();
    for full in CHINA.split_whitespace() {
        all.insert(full);
        all.extend(short(full));
    }
    let mut names: HashMap<[char; 2], Vec<Name>> = HashMap::new();
    for text in all {
        let mut chars = text.chars();
        if let (Some(first), Some(second)) = (chars.next(), chars.next()) {
            let name = Name { text, chars: 2 + chars.count(), weak: weak.contains(text) };
            names.entry([first, second]).or_default().push(name);
        }
    }
    for row in names.values_mut() {
        row.sort_unstable_by(|left, right| right.chars.cmp(&left.chars).then(left.text.cmp(right.text)));
    }
    names
}

/// A full name as people say it: without its rank, and without the peoples of an autonomous place.
fn short(full: &'static str) -> Option<&'static str> {
    if let Some(mut rest) = SELF_RULE.iter().find_map(|suffix| full.strip_suffix(suffix)) {
        while let Some(less) = PEOPLES.iter().find_map(|people| rest.strip_suffix(people).filter(|less| has_two(less)))
        {
            rest = less;
        }
        return has_two(rest).then_some(rest);
    }
    SUFFIXES.iter().find_map(|suffix| full.strip_suffix(suffix)).filter(|rest| has_two(rest))
}

fn has_two(text: &str) -> bool {
    text.chars().nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_chinese_place(text: &str) -> bool {
        let mut chars = text.chars();
        let (Some(first), Some(second)) = (chars.next(), chars.next()) else { return false };
        longest(first, second, text).is_some_and(|name| name.text.len() == text.len())
    }

    #[test]
    fn names_are_known_with_and_without_their_rank() {
        for name in [
            "杭州市",
            "杭州",
            "恩施",
            "恩施土家族苗族自治州",
            "广西",
            "内蒙古",
            "浦东",
            "昆山",
            "香港",
            "东京",
            "伊犁",
            "西双版纳",
        ] {
            assert!(is_chinese_place(name), "{name}");
        }
        for name in ["超市", "县", "随", "都市", "小区"] {
            assert!(!is_chinese_place(name), "{name}");
        }
    }
}
