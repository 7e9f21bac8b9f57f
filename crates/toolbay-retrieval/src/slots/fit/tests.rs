//! Requests and schemas in, arguments out.

use serde_json::{Value, json};

use crate::slots::{Day, fit, read};

fn check(text: &str, schema: &Value, arguments: &Value, missing: &[&str]) {
    let fit = fit(&read(text, Day::new(2026, 3, 12)), text, schema);
    assert_eq!(&json!(fit.arguments), arguments, "{text}");
    let names: Vec<_> = fit.missing.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, missing, "{text}");
}

#[test]
fn a_way_goes_to_origin_and_destination_and_what_is_not_said_is_missing() {
    let schema = json!({
        "type": "object",
        "properties": {
            "fromStation": {"type": "string"}, "toStation": {"type": "string"},
            "date": {"type": "string", "format": "date", "description": "the day of travel"},
        },
        "required": ["fromStation", "toStation", "date"],
    });
    check(
        "后天从绍兴到宁波的高铁",
        &schema,
        &json!({"fromStation": "绍兴", "toStation": "宁波", "date": "2026-03-14"}),
        &[],
    );
    check("去宁波的高铁", &schema, &json!({"toStation": "宁波"}), &["fromStation", "date"]);
    check("最近从绍兴到宁波的高铁", &schema, &json!({"fromStation": "绍兴", "toStation": "宁波"}), &["date"]);
}

#[test]
fn a_date_takes_the_form_that_is_asked_for() {
    let dated = |property: Value| json!({"properties": {"date": property}, "required": ["date"]});
    let text = "惠州下周三下午三点半的天气";
    check(text, &dated(json!({"type": "string"})), &json!({"date": "下周三下午三点半"}), &[]);
    check(
        text,
        &dated(json!({"type": "string", "description": "格式 YYYY-MM-DD"})),
        &json!({"date": "2026-03-18"}),
        &[],
    );
    check(
        text,
        &dated(json!({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"})),
        &json!({"date": "2026-03-18"}),
        &[],
    );
    check(text, &dated(json!({"type": "string", "description": "yyyyMMdd"})), &json!({"date": "20260318"}), &[]);
    check(text, &dated(json!({"type": "string", "description": "HH:mm"})), &json!({"date": "15:30"}), &[]);
    check(
        text,
        &dated(json!({"type": "string", "description": "YYYY-MM-DD HH:mm"})),
        &json!({"date": "2026-03-18 15:30"}),
        &[],
    );
    // A zone is nowhere said.
    check(text, &dated(json!({"type": "string", "format": "date-time"})), &json!({}), &["date"]);
}

#[test]
fn a_stretch_has_two_ends_and_one_day_has_none() {
    let schema = json!({
        "properties": {
            "check_in": {"type": "string", "format": "date"}, "check_out": {"type": "string", "format": "date"},
            "location": {"type": "string"},
        },
        "required": ["check_in", "check_out", "location"],
    });
    let both = json!({"check_in": "2026-10-01", "check_out": "2026-10-07", "location": "青岛栈桥"});
    check("预订青岛栈桥附近的酒店，10月1号到10月7号", &schema, &both, &[]);
    let one = json!({"check_in": "2026-03-13", "location": "青岛栈桥"});
    check("预订青岛栈桥附近的酒店，明天入住", &schema, &one, &["check_out"]);
}

#[test]
fn a_city_goes_where_cities_go_and_a_query_where_words_go() {
    let city = json!({"properties": {"城市": {"type": "string"}}, "required": ["城市"]});
    check("北京市今天天气", &city, &json!({"城市": "北京市"}), &[]);
    check("我周五要去贵阳开会，当地冷不冷", &city, &json!({"城市": "贵阳"}), &[]);
    check("今天天气怎么样", &city, &json!({}), &["城市"]);
    let search = json!({
        "properties": {"keyword": {"type": "string"}, "max_results": {"type": "integer", "maximum": 20}},
        "required": ["keyword"],
    });
    check("帮我搜一下二手自行车，前5条", &search, &json!({"keyword": "二手自行车，前5条", "max_results": 5}), &[]);
    check("搜一下二手自行车前50条", &search, &json!({"keyword": "二手自行车前50条"}), &[]);
    check("打开手电筒", &search, &json!({}), &["keyword"]);
    let named = json!({"properties": {"p1": {"type": "string", "description": "The search term"}}});
    check("search for folding chairs please", &named, &json!({"p1": "folding chairs"}), &[]);
}

#[test]
fn a_choice_is_taken_when_the_request_names_it() {
    let schema = json!({
        "properties": {
            "mode": {"enum": ["公交", "地铁", "驾车"]}, "unit": {"enum": ["celsius", "c"]},
            "kind": {"const": "route"}, "strict": {"type": "boolean"},
        },
        "required": ["mode", "unit", "strict"],
    });
    check("坐地铁去文殊院怎么走", &schema, &json!({"mode": "地铁", "kind": "route"}), &["unit", "strict"]);
    check("temperature in Oslo in Celsius", &schema, &json!({"unit": "celsius", "kind": "route"}), &["mode", "strict"]);
}

#[test]
fn references_and_objects_are_followed_one_level() {
    let schema = json!({
        "properties": {
            "trip": {"$ref": "#/$defs/Trip"},
            "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "cities": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["trip"],
        "$defs": {"Trip": {
            "type": "object",
            "properties": {"origin": {"type": "string"}, "destination": {"type": "string", "description": "where to"}},
            "required": ["origin", "destination"],
        }},
    });
    check("从惠州出发", &schema, &json!({"trip": {"origin": "惠州"}}), &["trip.destination"]);
    check("绵阳未来三天的天气", &schema, &json!({"days": 3, "cities": ["绵阳"]}), &["trip.origin", "trip.destination"]);
}

#[test]
fn what_is_no_object_schema_asks_for_nothing() {
    for schema in [json!(null), json!(true), json!([]), json!({}), json!({"properties": 3, "required": "x"})] {
        check("北京市今天天气", &schema, &json!({}), &[]);
    }
}

fn texts(names: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    json!({"type": "object", "properties": properties, "required": names})
}

#[test]
fn what_is_said_once_fills_one_property() {
    let way = &["origin_city", "destination_city", "departure_date", "return_date"];
    let said = json!({"origin_city": "Oslo", "destination_city": "Rome", "departure_date": "tomorrow"});
    check("fly from Oslo to Rome tomorrow", &texts(way), &said, &["return_date"]);
    check(
        "weather in Oslo",
        &texts(&["country", "city", "country_code", "timezone"]),
        &json!({"city": "Oslo"}),
        &["country", "country_code", "timezone"],
    );
    check("北京的天气", &texts(&["city", "city_id", "城市编码"]), &json!({"city": "北京"}), &["city_id", "城市编码"]);
    check("weather in Oslo", &texts(&["country"]), &json!({"country": "Oslo"}), &[]);
    check("天气", &texts(&["city", "max_price"]), &json!({}), &["city", "max_price"]);
    let asked = json!({"prompt": "a red house"});
    check(
        "a red house",
        &texts(&["prompt", "negative_prompt", "pull_request"]),
        &asked,
        &["negative_prompt", "pull_request"],
    );
}

#[test]
fn a_day_and_its_time_may_go_to_two_properties() {
    let schema = json!({
        "properties": {
            "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:mm"},
            "created_date": {"type": "string", "format": "date"},
        },
        "required": ["date", "time", "created_date"],
    });
    check("明天下午三点开会", &schema, &json!({"date": "2026-03-13", "time": "15:00"}), &["created_date"]);
}

#[test]
fn no_stretch_ends_before_it_begins() {
    let schema = json!({
        "properties": {
            "start_date": {"type": "string", "format": "date"}, "end_date": {"type": "string", "format": "date"},
        },
    });
    check("3月20日出发，3月18日回来", &schema, &json!({"start_date": "2026-03-20"}), &[]);
    check("3月18日出发，3月20日回来", &schema, &json!({"start_date": "2026-03-18", "end_date": "2026-03-20"}), &[]);
}

#[test]
fn short_choices_want_their_own_writing() {
    let schema = json!({"properties": {"lang": {"enum": ["is", "it", "EN", "de", "US"]}}});
    for (text, expected) in [
        ("how is it in there", json!({})),
        ("tell us", json!({})),
        ("news from the US", json!({"lang": "US"})),
        ("in EN please", json!({"lang": "EN"})),
        ("weather, lang de", json!({"lang": "de"})),
        ("code it", json!({})),
    ] {
        check(text, &schema, &expected, &[]);
    }
}

#[test]
fn what_is_required_is_filled_or_told() {
    let schema = json!({
        "properties": {
            "city": {"type": "string"}, "units": {"type": "string", "default": "metric"},
            "lang": {"type": "string", "default": "en"},
            "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
            "range": {"type": "object", "properties": {"least": {"type": "integer"}}, "required": ["least"]},
        },
        "required": ["city", "units", "options", "range"],
    });
    let said = json!({"city": "Oslo", "units": "metric", "options": {}});
    check("weather in Oslo", &schema, &said, &["range.least"]);
}

#[test]
fn one_end_is_not_the_end_of_two_things() {
    let schema = texts(&["start_date", "end_date", "return_date"]);
    let said = json!({"start_date": "2026-03-16", "end_date": "2026-03-20"});
    check("from Monday to Friday", &schema, &said, &["return_date"]);
    let clocks = texts(&["start_time", "end_time"]);
    check("not after 5pm, call at 3pm", &clocks, &json!({"start_time": "5pm"}), &["end_time"]);
}

#[test]
fn a_time_stamp_goes_whole_to_whoever_wants_one() {
    let stamp = |format: &str| json!({"type": "string", "format": format});
    let schema = json!({
        "properties": {"start_time": stamp("date-time"), "end_time": stamp("date-time"), "at": stamp("time")},
        "required": ["start_time", "end_time", "at"],
    });
    let said = json!({"start_time": "2026-03-15T09:00:00Z", "end_time": "2026-03-16T09:00:00Z"});
    check("from 2026-03-15T09:00:00Z to 2026-03-16T09:00:00Z", &schema, &said, &["at"]);
}

#[test]
fn what_is_required_and_not_described_is_told() {
    let schema = json!({"properties": {"any": true, "o": {
        "type": "object", "default": {"a": 1}, "properties": {"a": {"type": "integer"}}, "required": ["a"],
    }}, "required": ["any", "o", "nowhere"]});
    check("weather in Oslo", &schema, &json!({"o": {"a": 1}}), &["any", "nowhere"]);
}
