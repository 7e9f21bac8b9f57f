//! What a property is for, told from its name, or else from its description.

use super::property::Property;

/// What a property is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Origin,
    Destination,
    /// A city.
    City,
    /// What a city lies in.
    Region,
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

/// Words at the end of a name, and what they make of it: the last word decides, and those before it only say which one.
const HEADS: &[(Role, &[&str])] = &[
    (Role::Repeat, &["repeat", "recurrence", "recurring", "frequency", "rrule", "频率", "重复", "周期"]),
    (Role::Days, &["days", "天数"]),
    (Role::Count, &["limit", "count", "num", "top", "topk", "results", "n", "k", "数量", "条数", "个数", "人数"]),
    (
        Role::Date,
        &["date", "dates", "day", "when", "datetime", "time", "deadline", "due", "日期", "时间", "日子", "时刻"],
    ),
    (Role::Origin, &["from", "origin", "departure", "source", "src", "depart", "出发", "起点", "始发", "起始", "起飞"]),
    (Role::Destination, &["to", "destination", "dest", "arrival", "dst", "目的", "终点", "到达", "降落"]),
    (Role::City, &["city", "cities", "town", "district", "county", "城市", "市", "地区", "区县"]),
    (Role::Region, &["province", "region", "country", "state", "省份", "国家"]),
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

/// Words at the end that add nothing.
const IDLE: &[&str] =
    &["name", "names", "text", "string", "str", "value", "list", "param", "input", "名称", "名字", "名"];
/// Words that make a stretch's begin or end of a date.
const BEGINS: &[&str] = &["from", "start", "begin", "since", "after", "checkin", "in", "min", "开始", "起始", "入住"];
const ENDS: &[&str] = &[
    "to", "end", "until", "before", "checkout", "out", "max", "return", "结束", "截止", "离店", "退房", "返程", "回程",
];
/// Words beside which "start" and "end" name places.
const POINTS: &[&str] = &["location", "place", "city", "station", "address", "point", "airport", "stop", "地点", "站"];
/// Words that make a way's begin or end of a place.
const FROM: &[&str] =
    &["from", "origin", "departure", "source", "depart", "start", "starting", "出发", "起点", "始发", "开始"];
const TO: &[&str] = &["to", "destination", "dest", "arrival", "end", "target", "目的", "终点", "到达", "结束"];
/// Words at the end that name something of the thing and not the thing.
const OF_IT: &[&str] = &[
    "code", "codes", "id", "ids", "zone", "timezone", "tz", "format", "unit", "units", "type", "kind", "mode", "lang",
    "language", "locale", "currency", "key", "token", "sort", "order", "编码", "代码", "编号", "格式", "单位", "类型",
    "时区", "语言",
];

/// Words before a request that leave it the one that was said.
const OWN: &[&str] = &["user", "original", "search", "input", "the"];
/// Words that make something else of what follows them.
const OTHER: &[&str] = &[
    "ip", "mac", "email", "mail", "url", "web", "http", "sql", "jql", "graphql", "xpath", "css", "regex", "birth",
    "retry", "memory", "wallet", "contract", "server", "host", "bind", "listen", "billing", "created", "updated",
    "modified", "pull",
];
/// Names that say nothing by themselves.
const IDLE_ALONE: &[&str] = &["arg", "argument", "parameter", "data", "item", "field", "content"];

/// What a property is for.
pub(super) fn role(property: &Property<'_>) -> Option<Role> {
    let words = words(property.name);
    match by_words(&words) {
        Named::As(role) => Some(role),
        Named::Otherwise => None,
        Named::Nothing => property.description.and_then(by_description),
    }
}

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    As(Role),
    /// Something that no request is read for.
    Otherwise,
    /// Nothing at all.
    Nothing,
}

fn by_words(words: &[String]) -> Named {
    let telling = words.iter().rposition(|word| !IDLE.contains(&word.as_str())).map_or(0, |at| at + 1);
    let Some((head, before)) = words[..telling].split_last() else { return Named::Nothing };
    // A Chinese name is one word, which holds all of them.
    let says = |list: &[&str]| words.iter().any(|word| list.iter().any(|known| is(word, known)));
    let is_head = |list: &[&str]| list.iter().any(|known| is(head, known));
    if OF_IT.iter().any(|known| if known.is_ascii() { head == known } else { head.ends_with(known) }) {
        return Named::Otherwise;
    }
    let led = |list: &[&str]| says(list) && !(before.is_empty() && is_head(list) && head.is_ascii());
    let found = HEADS.iter().find(|(_, list)| is_head(list)).map(|(role, _)| *role);
    let stands = |list: &[&str]| is_head(list);
    if head == "checkin" || head == "since" || words == ["check", "in"] {
        return Named::As(Role::Since);
    }
    if head == "checkout" || head == "until" || words == ["check", "out"] {
        return Named::As(Role::Until);
    }
    match found {
        // `negative_prompt` is another one than what was said, and `sql_query` is none of its words.
        Some(Role::Said) if !before.iter().all(|word| OWN.contains(&word.as_str())) => Named::Otherwise,
        Some(_) if before.iter().any(|word| OTHER.contains(&word.as_str())) => Named::Otherwise,
        Some(Role::Date) if head == "time" && says(&["max", "min"]) => Named::Otherwise,
        Some(Role::Date) if led(BEGINS) && !led(TO) => Named::As(Role::Since),
        Some(Role::Date) if led(ENDS) => Named::As(Role::Until),
        Some(Role::Date) => Named::As(Role::Date),
        _ if stands(POINTS) && led(FROM) => Named::As(Role::Origin),
        _ if stands(POINTS) && led(TO) => Named::As(Role::Destination),
        Some(Role::City | Role::Region | Role::Spot) if led(FROM) => Named::As(Role::Origin),
        Some(Role::City | Role::Region | Role::Spot) if led(TO) => Named::As(Role::Destination),
        Some(role) => Named::As(role),
        // "size" and "max" count only what is looked for: `page_size`, but not `font_size`.
        None if stands(&["size"]) && (before.is_empty() || says(&["page", "batch", "result"])) => {
            Named::As(Role::Count)
        }
        None if stands(&["max", "maximum"]) && before.is_empty() => Named::As(Role::Count),
        // A name that is hardly one leaves it to its description: p1, x, arg, 参数.
        None if before.is_empty() && (!head.is_ascii() || head.len() <= 3 || IDLE_ALONE.contains(&head.as_str())) => {
            Named::Nothing
        }
        None => Named::Otherwise,
    }
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
        for name in
            ["email", "hotel", "ip_address", "sql_query", "birth_date", "negative_prompt", "retry_count", "max_time"]
        {
            check(name, "address of the city", None);
        }
        check("user_prompt", "", Some(Role::Said));
        // The last word decides, whatever stands before it.
        for name in
            ["country_code", "time_zone", "cityId", "date_format", "max_price", "city_population", "城市编码", "tz"]
        {
            check(name, "of the city", None);
        }
        check("return_date", "", Some(Role::Until));
        check("city_name", "", Some(Role::City));
        check("country", "", Some(Role::Region));
        check("page_size", "", Some(Role::Count));
        check("font_size", "", None);
        check("max", "", Some(Role::Count));
        check("departureTime", "", Some(Role::Date));
        check("destination_city", "", Some(Role::Destination));
        check("出发城市", "", Some(Role::Origin));
        check("开始日期", "", Some(Role::Since));
    }
}
