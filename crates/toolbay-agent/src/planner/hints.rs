//! What a request is about by what was read out of it: from somewhere to somewhere is a way, whatever its words are.

use toolbay_retrieval::slots::{Kind, Slot};

/// A way from one place to another.
const WAY: &str = "map route directions navigation 地图 路线 导航";
/// What lies somewhere.
const PLACE: &str = "map nearby places 地图 附近 地点";
/// Something to be looked for.
const SEARCH: &str = "search 搜索";

/// Words of those who want to be carried, not shown the way.
const FARES: [&str; 16] = [
    "flight", "ticket", "train", "book", "fly", "fare", "机票", "航班", "飞机", "火车", "高铁", "动车", "车票", "票价",
    "船票", "订票",
];

/// Words to look for tools by, where those of the request find none.
pub(super) fn hint(text: &str, slots: &[Slot]) -> Option<&'static str> {
    let has = |kind: Kind| slots.iter().any(|slot| slot.kind == kind);
    if has(Kind::Origin) && has(Kind::Destination) {
        let small = text.to_lowercase();
        (!FARES.iter().any(|word| small.contains(word))).then_some(WAY)
    } else if has(Kind::Location) {
        Some(PLACE)
    } else if has(Kind::Query) {
        Some(SEARCH)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use toolbay_retrieval::slots::read;

    use super::{WAY, hint};

    #[test]
    fn from_here_to_there_is_a_way_unless_a_ticket_is_wanted() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(hint(text, &read(text, None)), expected, "{text}");
        check("从海淀区到朝阳区怎么走", Some(WAY));
        check("How do I get from Haidian to Chaoyang", Some(WAY));
        check("从北京到上海的机票", None);
        check("book a flight from Paris to Rome", None);
        check("今天天气", None);
    }
}
