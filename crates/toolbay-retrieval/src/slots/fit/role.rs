//! What a property is for, told from its name, or else from its description.

use super::property::Property;

/// What a property is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Origin,
    Destination,
    /// A city, a region, a country.
    City,
    /// Any place: an address, what lies near.
    Spot,
    Query,
    /// The request as it was said.
    Said,
    Date,
    /// The day a stretch begins.
    Since,
    /// The day a stretch ends.
    Until,
    /// How many days.
    Days,
    Repeat,
    Count,
}

/// Words of a name, and what they make of it: the first row that fits decides.
const NAMES: &[(Role, &[&str])] = &[
    (Role::Repeat, &["repeat", "recurrence", "recurring", "frequency", "rrule", "频率", "重复", "周期"]),
    (Role::Days, &["days", "天数"]),
    (
        Role::Count,
        &[
            "limit", "count", "num", "top", "topk", "size", "max", "maximum", "results", "n", "k", "数量", "条数",
            "个数", "人数",
        ],
    ),
    (Role::Date, &["date", "day", "when", "datetime", "time", "deadline", "due", "日期", "时间", "日子", "时刻"]),
    (Role::Origin, &["from", "origin", "departure", "source", "src", "depart", "出发", "起点", "始发", "起始", "起飞"]),
    (Role::Destination, &["to", "destination", "dest", "arrival", "dst", "目的", "终点", "到达", "降落"]),
    (
        Role::City,
        &[
            "city", "cities", "town", "province", "region", "country", "district", "county", "城市", "市", "省份",
            "地区", "国家", "区县",
        ],
    ),
    (
        Role::Spot,
        &[
            "location",
            "locations",
            "place",
            "places",
            "address",
            "near",
            "poi",
            "area",
            "where",
            "landmark",
            "venue",
            "地点",
            "位置",
            "地址",
            "场所",
            "周边",
            "附近",
        ],
    ),
    (Role::Said, &["question", "prompt", "utterance", "request", "问题", "提问"]),
    (
        Role::Query,
        &[
            "q",
            "query",
            "queries",
            "keyword",
            "keywords",
            "search",
            "term",
            "terms",
            "topic",
            "subject",
            "needle",
            "关键词",
            "关键字",
            "搜索",
            "查询",
            "检索",
            "主题",
        ],
    ),
];

/// Words that make a stretch's begin or end of a date.
const BEGINS: &[&str] = &["from", "start", "begin", "since", "after", "checkin", "in", "min", "开始", "起始", "入住"];
const ENDS: &[&str] = &["to", "end", "until", "before", "checkout", "out", "max", "结束", "截止", "离店", "退房"];
/// Words beside which "start" and "end" name places.
const POINTS: &[&str] = &["location", "place", "city", "station", "address", "point", "airport", "stop", "地点", "站"];

/// What a property is for.
pub(super) fn role(property: &Property<'_>) -> Option<Role> {
    let words = words(property.name);
    if let Some(role) = by_words(&words) {
        return Some(role);
    }
    property.description.and_then(by_description)
}

fn by_words(words: &[String]) -> Option<Role> {
    let has = |list: &[&str]| words.iter().any(|word| list.iter().any(|known| is(word, known)));
    let found = |role: Role| NAMES.iter().any(|(row, list)| *row == role && has(list));
    let dated = found(Role::Date);
    if has(&["checkin"])
        || has(&["check"]) && has(&["in"])
        || has(&["since"])
        || dated && has(BEGINS) && !found(Role::Destination)
    {
        return Some(Role::Since);
    }
    if has(&["checkout"]) || has(&["check"]) && has(&["out"]) || has(&["until"]) || dated && has(ENDS) {
        return Some(Role::Until);
    }
    if has(POINTS) && has(&["start", "开始"]) {
        return Some(Role::Origin);
    }
    if has(POINTS) && has(&["end", "结束"]) {
        return Some(Role::Destination);
    }
    NAMES.iter().find(|(_, list)| has(list)).map(|(role, _)| *role)
}

/// Chinese words may stand within others; English ones stand alone.
fn is(word: &str, known: &str) -> bool {
    if known.is_ascii() { word == known } else { word.contains(known) }
}

/// Phrases of descriptions; a name that says nothing leaves it to them.
fn by_description(description: &str) -> Option<Role> {
    const PHRASES: &[(Role, &[&str])] = &[
        (
            Role::Origin,
            &["出发地", "起点", "始发", "出发城市", "origin", "departure city", "starting point", "travel from"],
        ),
        (Role::Destination, &["目的地", "终点", "到达城市", "destination", "arrival city", "travel to"]),
        (Role::Date, &["日期", "哪一天", "YYYY-MM-DD", "the date", "date of", "a date", "时间"]),
        (Role::City, &["城市", "city", "省份"]),
        (Role::Spot, &["地点", "地址", "位置", "location", "address", "place name"]),
        (
            Role::Query,
            &[
                "关键词",
                "关键字",
                "搜索词",
                "搜索内容",
                "查询内容",
                "search query",
                "search term",
                "keyword",
                "to search for",
                "query string",
            ],
        ),
        (Role::Count, &["返回数量", "结果数", "最多返回", "number of results", "maximum number", "how many"]),
    ];
    let small = description.to_lowercase();
    PHRASES
        .iter()
        .find(|(_, list)| list.iter().any(|phrase| small.contains(&phrase.to_lowercase())))
        .map(|(role, _)| *role)
}

/// The words of a name: `fromCity`, `from_city` and `from-city` are two, 出发地 is one.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for char in name.chars().take(100) {
        if !char.is_alphanumeric() || char.is_uppercase() && before.is_lowercase() {
            words.push(String::new());
        }
        if char.is_alphanumeric() {
            words.last_mut().expect("there is a first word").extend(char.to_lowercase());
        }
        before = char;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::property::properties;
    use super::*;

    #[test]
    fn names_tell_what_a_property_is_for_and_descriptions_help_out() {
        let check = |name: &str, description: &str, expected: Option<Role>| {
            let schema = json!({"properties": {name: {"type": "string", "description": description}}});
            let found = properties(schema.as_object().unwrap(), &schema);
            assert_eq!(role(&found[0]), expected, "{name}: {description}");
        };
        check("fromCity", "", Some(Role::Origin));
        check("to_station", "", Some(Role::Destination));
        check("departure_date", "", Some(Role::Date));
        check("start_date", "", Some(Role::Since));
        check("endDate", "", Some(Role::Until));
        check("check_in", "", Some(Role::Since));
        check("start_location", "", Some(Role::Origin));
        check("end_point", "", Some(Role::Destination));
        check("max_results", "", Some(Role::Count));
        check("q", "", Some(Role::Query));
        check("出发地", "", Some(Role::Origin));
        check("城市名称", "", Some(Role::City));
        check("p1", "要查询天气的城市", Some(Role::City));
        check("name", "The search query", Some(Role::Query));
        check("verbose", "Whether to say more", None);
    }
}
