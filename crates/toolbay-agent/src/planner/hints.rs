//! What a request is about by what was read out of it: from somewhere to somewhere is a way, whatever its words are.

use toolbay_retrieval::slots::{Kind, Slot};

/// A way from one place to another.
const WAY: &str = "map route directions navigation 地图 路线 导航";
/// What lies somewhere.
const PLACE: &str = "map nearby places 地图 附近 地点";
/// Something to be looked for.
const SEARCH: &str = "search 搜索";

/// Words to look for tools by, where those of the request find none.
pub(super) fn hint(slots: &[Slot]) -> Option<&'static str> {
    let has = |kind: Kind| slots.iter().any(|slot| slot.kind == kind);
    if has(Kind::Origin) && has(Kind::Destination) {
        Some(WAY)
    } else if has(Kind::Location) {
        Some(PLACE)
    } else if has(Kind::Query) {
        Some(SEARCH)
    } else {
        None
    }
}
