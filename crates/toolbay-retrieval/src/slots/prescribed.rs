//! The scheme that was prescribed, exactly: three regular expressions and nothing else.
//!
//! Not what is used by default: it is here to be chosen, and to be measured against.

use std::sync::LazyLock;

use regex::{Match, Regex};

use super::line::LONGEST;
use super::slot::{Kind, Slot};

/// 市, 区, 县, 省 and what stands before it.
const CITY: &str = r"[\u4e00-\u9fa5]{2,}?[市区县省]";
/// 在…, and 从…到….
const PLACE_OR_ROUTE: &str = r"在(?<place>[\u4e00-\u9fa5]+)|(?:从(?<from>[\u4e00-\u9fa5]+?))?到(?<to>[\u4e00-\u9fa5]+?)(?:怎么|的|坐|走|[，。？！,.?!]|$)";
/// 查, 搜索, 查找, 问 and what stands behind it.
const QUERY: &str = r"(?:搜索|查找|查|问)(?<query>.+)";

static CITIES: LazyLock<Regex> = LazyLock::new(|| compiled(CITY));
static PLACES: LazyLock<Regex> = LazyLock::new(|| compiled(PLACE_OR_ROUTE));
static QUERIES: LazyLock<Regex> = LazyLock::new(|| compiled(QUERY));

/// Reads a request by the three expressions; only the first 2,000 characters are read.
#[must_use]
pub fn read(text: &str) -> Vec<Slot> {
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(byte, _)| byte);
    let text = &text[..end];
    let mut slots = Vec::new();
    slots.extend(CITIES.find(text).map(|found| slot(Kind::City, found)));
    for found in PLACES.captures_iter(text) {
        let named = [("place", Kind::Location), ("from", Kind::Origin), ("to", Kind::Destination)];
        slots.extend(named.into_iter().filter_map(|(name, kind)| Some(slot(kind, found.name(name)?))));
    }
    if let Some(found) = QUERIES.captures(text).and_then(|found| found.name("query")) {
        slots.push(slot(Kind::Query, found));
    }
    slots
}

fn slot(kind: Kind, found: Match<'_>) -> Slot {
    Slot { kind, value: found.as_str().to_owned(), span: found.range(), confidence: 0.5, normal: None }
}

fn compiled(expression: &str) -> Regex {
    Regex::new(expression).expect("the expressions are constants and compile")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_scheme_are_read() {
        let check = |text: &str, expected: &[(Kind, &str)]| {
            let slots = read(text);
            let said: Vec<_> = slots.iter().map(|slot| (slot.kind, slot.value.as_str())).collect();
            assert_eq!(said, expected, "{text}");
            assert!(slots.iter().all(|slot| text[slot.span.clone()] == slot.value));
        };
        check("北京市今天天气", &[(Kind::City, "北京市")]);
        check(
            "从海淀区到朝阳区怎么走",
            &[(Kind::City, "从海淀区"), (Kind::Origin, "海淀区"), (Kind::Destination, "朝阳区")],
        );
        check("搜索川菜馆", &[(Kind::Query, "川菜馆")]);
        check("在西湖", &[(Kind::Location, "西湖")]);
    }
}
