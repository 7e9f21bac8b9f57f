use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::Barrier;

use super::*;

/// The catalog of the prescribed example: nothing is told of what the services take.
fn example() -> Vec<Offered> {
    vec![
        Offered::new("weather_query", "查询城市天气信息").on("weather_query").category("weather"),
        Offered::new("map_search", "地图搜索和导航").on("map_search").category("map"),
    ]
}

fn city() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string", "description": "城市"}}, "required": ["city"]})
}

fn plan(tools: Vec<Offered>, request: &str) -> Plan {
    Planner::new(tools, Rules::default()).plan(request)
}

/// A tool whose words a way may find, and which can do nothing with one.
fn file() -> Offered {
    let path = json!({"type": "object", "properties": {"path": {"type": "string", "description": "the path"}}});
    Offered::new("directory_tree", "Shows what lies below a path").on("fs").taking(path)
}

/// Groups as `tool(arguments), tool(arguments)`.
fn told(plan: &Plan) -> Vec<String> {
    let step = |step: &Step| format!("{}{}", step.tool.name, Value::Object(step.values().clone()));
    plan.groups.iter().map(|group| group.steps.iter().map(step).collect::<Vec<_>>().join(", ")).collect()
}

#[track_caller]
fn check(tools: Vec<Offered>, request: &str, expected: &[&str]) {
    let plan = plan(tools, request);
    assert_eq!(told(&plan), expected, "{request}: {plan:#?}");
}

#[test]
fn one_match_is_one_call() {
    check(example(), "北京市今天天气", &[r#"weather_query{"city":"北京市","date":"今天"}"#]);
    check(example(), "从海淀区到朝阳区怎么走", &[r#"map_search{"origin":"海淀区","destination":"朝阳区"}"#]);
    check(example(), "weather in Beijing today", &[r#"weather_query{"city":"Beijing","date":"today"}"#]);
    let way = r#"map_search{"origin":"Haidian","destination":"Chaoyang"}"#;
    check(example(), "How do I get from Haidian to Chaoyang", &[way]);
}

#[test]
fn a_model_finds_what_no_word_does() {
    let tools = || {
        let tool = |name: &str, says: &str| Offered::new(name, says).taking(json!({"type": "object"}));
        vec![tool("disk_zip", "Packs files"), tool("mail_send", "Sends a message"), tool("sky_now", "The weather")]
    };
    let (request, test) = ("make a bundle", toolbay_retrieval::SelfTest::new());
    let planner = || Planner::new(tools(), Rules::default());
    assert!(planner().plan(request).groups.is_empty());
    assert_eq!(planner().texts(request), [request]);
    let named = planner().tools().into_iter().find(|(name, _)| name == "disk_zip");
    assert_eq!(named.unwrap().1, "disk zip: Packs files");
    let plain = |count: usize| vec![vec![0.1, 0.0, 0.1]; count];
    let encoder = test.encoder(&plain(test.requests.len()), &plain(test.texts.len())).unwrap();
    let vector = |name: &str| if name == "disk_zip" { vec![0.0, 1.0, 0.0] } else { vec![1.0, 0.0, 0.0] };
    let tools = tools().into_iter().map(|tool| (tool.name.clone(), vector(&tool.name))).collect();
    let texts = [(request.to_owned(), [0.1, 1.0, 0.0].into())].into();
    let plan = planner().knowing(Meanings { encoder, tools, texts }).plan(request);
    assert_eq!(told(&plan), [r#"disk_zip{"query":"make a bundle"}"#]);
}

#[test]
fn a_tool_that_takes_nothing_of_what_was_said_yields_to_one_that_does() {
    let with_file = || [example(), vec![file()]].concat();
    check(with_file(), "从海淀区到朝阳区怎么走", &[r#"map_search{"origin":"海淀区","destination":"朝阳区"}"#]);
    assert!(plan(example(), "book a flight from Paris to Rome").groups.is_empty());
}

#[test]
fn a_request_may_name_several_things() {
    let both =
        [r#"weather_query{"city":"北京市","date":"今天"}"#, r#"map_search{"origin":"海淀区","destination":"朝阳区"}"#];
    check(example(), "北京市今天天气，从海淀区到朝阳区怎么走", &both);
    let both = [
        r#"map_search{"origin":"Haidian","destination":"Chaoyang"}"#,
        r#"weather_query{"city":"Beijing","date":"today"}"#,
    ];
    check(example(), "How do I get from Haidian to Chaoyang, and what is the weather in Beijing today?", &both);
}

#[test]
fn parts_of_one_thought_are_planned_as_one() {
    check(example(), "去拉萨，从成都出发怎么走", &[r#"map_search{"destination":"拉萨","origin":"成都"}"#]);
    let weather = || vec![Offered::new("weather", "查询天气").taking(city()).category("weather")];
    check(weather(), "我下周三要去成都出差，那边天气如何", &[r#"weather{"city":"成都"}"#]);
    check(weather(), "北京天气，上海天气", &[r#"weather{"city":"北京"}"#, r#"weather{"city":"上海"}"#]);
    check(weather(), "北京天气，北京天气", &[r#"weather{"city":"北京"}"#]);
}

#[test]
fn nothing_fits_is_said_and_a_part_without_a_tool_is_told() {
    let nothing = plan(example(), "帮我翻译这句话");
    assert!(nothing.groups.is_empty() && !nothing.nearest.is_empty(), "{nothing:#?}");
    assert_eq!(plan(vec![], "北京天气"), Plan { request: "北京天气".into(), ..Plan::default() });
    let half = plan(example(), "北京市今天天气，讲个笑话");
    assert_eq!((half.groups.len(), half.unanswered), (1, vec!["讲个笑话".to_owned()]));
}

#[test]
fn one_category_is_one_group_and_different_ones_are_several() {
    let tools = |categories: [&str; 2]| {
        let [first, second] = categories;
        vec![
            Offered::new("forecast_a", "weather forecast of a city").on("a").category(first).taking(city()),
            Offered::new("forecast_b", "weather forecast of a city").on("b").category(second).taking(city()),
        ]
    };
    let (a, b) = (r#"forecast_a{"city":"Oslo"}"#, r#"forecast_b{"city":"Oslo"}"#);
    check(tools(["weather", "Weather"]), "weather forecast in Oslo", &[&format!("{a}, {b}")]);
    check(tools(["weather", "search"]), "weather forecast in Oslo", &[a, b]);
}

#[test]
fn the_threshold_decides_what_is_a_match_beside_the_best() {
    let tools = || {
        vec![
            Offered::new("weather", "the weather of a city").category("weather"),
            Offered::new("report", "a report about the weather of a city").category("search"),
        ]
    };
    let count = |threshold: f64| {
        let rules = Rules { threshold, ..Rules::default() };
        Planner::new(tools(), rules).plan("the weather in Oslo").groups.len()
    };
    assert_eq!((count(0.0), count(1.0)), (2, 1));
}

#[test]
fn the_prescribed_rule_is_exact_and_shows_how_it_came_about() {
    let tools = vec![
        Offered::new("weather_query", "query the weather").category("weather"),
        Offered::new("lexicon", "explains words").category("search"),
    ];
    let plan = Planner::new(tools, Rules::prescribed()).plan("weather query");
    let [group] = plan.groups.as_slice() else { panic!("{plan:#?}") };
    let score = &group.steps[0].score;
    let Parts::Weighted(parts) = score.parts else { panic!("{score:?}") };
    assert!((parts.name - 1.0).abs() < 1e-9 && (parts.category - 0.5).abs() < 1e-9, "{parts:?}");
    assert!((score.total - (0.4 + 0.3 * parts.description + 0.3 * 0.5)).abs() < 1e-9);
    let read = Planner::new(example(), Rules::prescribed()).plan("从海淀区到朝阳区怎么走");
    assert_eq!(told(&read), [r#"map_search{"origin":"海淀区","destination":"朝阳区"}"#]);
}

#[test]
fn what_is_missing_is_told_with_its_description_and_can_be_given() {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "description": "how many days"}},
        "required": ["city", "days"],
    });
    let mut plan = plan(vec![Offered::new("forecast", "weather forecast").taking(schema)], "weather in Oslo");
    let step = &mut plan.groups[0].steps[0];
    let Standing::Missing(missing) = &step.standing else { panic!("{step:?}") };
    assert_eq!(missing, &[Missing { name: "days".into(), description: Some("how many days".into()) }]);
    assert!(step.give("days", "many").unwrap_err().contains("integer"));
    assert!(step.give("nights", "3").is_err());
    step.give("days", "3").unwrap();
    assert_eq!((step.standing.clone(), step.values()["days"].clone()), (Standing::Ready, json!(3)));
    assert_eq!(step.arguments[1].origin, Origin::Given);
    assert_eq!(step.arguments[0].origin, Origin::Said { kind: "city", words: "Oslo".into() });
}

#[test]
fn arguments_that_the_schema_refuses_are_not_sent() {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string", "pattern": "^[A-Z]{3}$"}}, "required": ["city"],
    });
    let plan = plan(vec![Offered::new("forecast", "weather forecast").taking(schema)], "weather in Oslo");
    assert!(matches!(&plan.groups[0].steps[0].standing, Standing::Unfit(why) if why.contains("`city`")), "{plan:#?}");
}

#[test]
fn what_destroys_wants_a_yes() {
    let tool =
        json!({"name": "delete_note", "description": "Deletes a note", "annotations": {"destructiveHint": true}});
    let mut plan = plan(vec![Offered::listed(&tool).unwrap()], "delete the note");
    assert_eq!(plan.groups[0].steps[0].standing, Standing::Unagreed);
    plan.groups[0].steps[0].agree();
    assert_eq!(plan.groups[0].steps[0].standing, Standing::Ready);
}

struct Meeting(Barrier);

impl Tools for Meeting {
    type Answer = String;

    async fn call(&self, tool: &str, _: Map<String, Value>) -> Result<String, Failure> {
        self.0.wait().await;
        Ok(tool.to_owned())
    }
}

struct Turns {
    asked: Mutex<Vec<String>>,
    fails: &'static [&'static str],
}

impl Tools for Turns {
    type Answer = String;

    async fn call(&self, tool: &str, _: Map<String, Value>) -> Result<String, Failure> {
        self.asked.lock().unwrap().push(tool.to_owned());
        match self.fails.contains(&tool) {
            true => Err(Failure { blame: Blame::Tool, what: "out of order".into() }),
            false => Ok(format!("by {tool}")),
        }
    }
}

struct Silent;

impl Tools for Silent {
    type Answer = ();

    async fn call(&self, _: &str, _: Map<String, Value>) -> Result<(), Failure> {
        std::future::pending().await
    }
}

const SOON: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn groups_run_side_by_side() {
    // Neither answers before both were called; the paused clock would end the wait of one alone.
    let plan = plan(example(), "北京市今天天气，从海淀区到朝阳区怎么走");
    let ran = run(&plan, &Meeting(Barrier::new(2)), SOON).await;
    let answered: Vec<_> =
        ran.iter().map(|ran| matches!(&ran.answered, Answered::By { answer, .. } if !answer.is_empty())).collect();
    assert_eq!(answered, [true, true]);
}

fn three() -> Vec<Offered> {
    let tool = |name: &str| Offered::new(name, "weather forecast of a city").on(name).category("weather");
    let mut third = city();
    third["properties"]["key"] = json!({"type": "string"});
    third["required"] = json!(["city", "key"]);
    vec![tool("weather_forecast").taking(third), tool("sky_b").taking(city()), tool("sky_c").taking(city())]
}

#[tokio::test]
async fn tools_of_one_category_are_tried_in_turn_until_one_succeeds() {
    let rules = Rules { threshold: 0.2, ..Rules::default() };
    let plan = Planner::new(three(), rules).plan("weather forecast in Oslo");
    let check = async |fails: &'static [&'static str], asked: &[&str], answer: Option<&str>| {
        let turns = Turns { asked: Mutex::default(), fails };
        let ran = run(&plan, &turns, SOON).await;
        assert_eq!(*turns.asked.lock().unwrap(), asked);
        let by = match &ran[0].answered {
            Answered::By { tool, .. } => Some(tool.as_str()),
            Answered::Not => None,
        };
        assert_eq!(by, answer);
        ran
    };
    // The first lacks an argument, and yields without being called.
    let ran = check(&[], &["sky_b"], Some("sky_b")).await;
    assert_eq!((ran[0].tried[0].tool.as_str(), ran[0].tried[0].failure.blame), ("weather_forecast", Blame::Request));
    assert!(ran[0].tried[0].failure.what.contains("key"));
    check(&["sky_b"], &["sky_b", "sky_c"], Some("sky_c")).await;
    let ran = check(&["sky_b", "sky_c"], &["sky_b", "sky_c"], None).await;
    assert_eq!(ran[0].tried.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_never_answers_ends_at_the_deadline() {
    let plan = plan(example(), "北京市今天天气");
    let ran = run(&plan, &Silent, SOON).await;
    let [Tried { failure, .. }] = ran[0].tried.as_slice() else { panic!("{ran:?}") };
    assert_eq!((failure.blame, failure.what.as_str()), (Blame::Deadline, "no answer within 30 s"));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_leaves_the_others_their_time() {
    struct First;
    impl Tools for First {
        type Answer = ();

        async fn call(&self, tool: &str, _: Map<String, Value>) -> Result<(), Failure> {
            if tool == "sky_b" { std::future::pending().await } else { Ok(()) }
        }
    }
    let rules = Rules { threshold: 0.2, ..Rules::default() };
    let ran = run(&Planner::new(three(), rules).plan("weather forecast in Oslo"), &First, SOON).await;
    assert!(matches!(&ran[0].answered, Answered::By { tool, .. } if tool == "sky_c"), "{ran:?}");
    assert_eq!(ran[0].tried[1].failure.what, "no answer within 15 s");
}

/// A tool by what a server lists.
fn listed(definition: Value) -> Offered {
    Offered::listed(&definition).unwrap()
}

#[tokio::test]
async fn nothing_is_called_in_the_place_of_what_waits_for_a_yes() {
    let delete = || {
        let hints = json!({"destructiveHint": true});
        listed(json!({"name": "delete_note", "description": "Deletes a note", "annotations": hints}))
    };
    for category in ["notes", "other"] {
        let read = listed(json!({"name": "note", "description": "Note, the delete of a"})).category("other");
        let rules = Rules { threshold: 0.0, ..Rules::default() };
        let plan = Planner::new(vec![delete().category(category), read], rules).plan("delete the note");
        let best = &plan.groups[0].steps[0];
        assert_eq!((best.tool.name.as_str(), &best.standing), ("delete_note", &Standing::Unagreed), "{plan:#?}");
        let turns = Turns { asked: Mutex::default(), fails: &[] };
        let ran = run(&plan, &turns, SOON).await;
        assert!(turns.asked.lock().unwrap().is_empty() && ran.iter().all(|ran| ran.answered == Answered::Not));
        assert!(ran.iter().all(|ran| ran.tried[0].failure.blame == Blame::Request), "{ran:?}");
    }
}

#[test]
fn the_best_match_stays_in_the_plan_whatever_it_wants() {
    let mut key = city();
    key["properties"]["key"] = json!({"type": "string"});
    key["required"] = json!(["city", "key"]);
    let tools = vec![
        Offered::new("weather_forecast", "weather forecast of a city").category("weather").taking(key),
        Offered::new("report", "a forecast about the weather of a city").category("search").taking(city()),
    ];
    let rules = Rules { threshold: 0.0, ..Rules::default() };
    let plan = Planner::new(tools, rules).plan("weather forecast in Oslo");
    let names: Vec<_> = plan.groups.iter().map(|group| group.steps[0].tool.name.as_str()).collect();
    assert_eq!(names, ["weather_forecast", "report"]);
}

#[test]
fn a_tool_may_destroy_unless_it_says_otherwise_where_it_says_anything() {
    let caution = |annotations: Value| listed(json!({"name": "a", "annotations": annotations})).caution;
    for harmless in [
        json!({}),
        json!({"title": "A"}),
        json!({"readOnlyHint": true}),
        json!({"readOnlyHint": true, "destructiveHint": true}),
        json!({"readOnlyHint": false, "destructiveHint": false}),
    ] {
        assert_eq!(caution(harmless.clone()), Caution::None, "{harmless}");
    }
    for hint in ["destructiveHint", "idempotentHint", "openWorldHint"] {
        assert_eq!(caution(json!({hint: true})), Caution::Destroys, "{hint}");
    }
    assert_eq!(caution(json!({"readOnlyHint": false})), Caution::Destroys);
}

#[test]
fn what_a_part_says_is_not_overruled_by_what_was_said_before() {
    let weather = Offered::new("weather", "查询天气").taking(city()).category("weather");
    let route = json!({
        "type": "object",
        "properties": {"from": {"type": "string"}, "to": {"type": "string"}, "day": {"type": "string"}},
        "required": ["from", "to", "day"],
    });
    let train = Offered::new("train", "查询火车票").taking(route).category("train");
    let plan = plan(vec![weather, train], "明天北京天气，从上海到南京的火车票");
    let told = told(&plan);
    assert_eq!(told, [r#"weather{"city":"北京"}"#, r#"train{"from":"上海","to":"南京","day":"明天"}"#], "{plan:#?}");
}

#[test]
fn a_tool_that_takes_nothing_is_sent_nothing() {
    let check = |schema: Value, expected: Value| {
        let plan = plan(vec![Offered::new("roll_dice", "Rolls the dice").taking(schema)], "roll the dice");
        assert_eq!(json!(plan.groups[0].steps[0].values()), expected);
    };
    check(json!({"type": "object", "properties": {}}), json!({}));
    check(json!({"type": "object", "additionalProperties": false}), json!({}));
    check(json!({"type": "object"}), json!({"query": "roll the dice"}));
}

#[test]
fn names_quotes_and_addresses_are_not_cut() {
    let query = json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    let tools = || {
        vec![
            Offered::new("web_search", "search the web").taking(query.clone()).category("search"),
            Offered::new("weather", "weather of a city").taking(city()).category("weather"),
        ]
    };
    check(tools(), "search for rock and roll", &[r#"web_search{"query":"rock and roll"}"#]);
    let plan = plan(tools(), "weather in Oslo, and sing me a very happy song");
    assert_eq!((plan.groups.len(), plan.unanswered.len()), (1, 1), "{plan:#?}");
}

#[test]
fn of_each_place_that_is_named_the_same_is_asked() {
    let weather = |schema: Value| vec![Offered::new("weather", "查询天气 weather").taking(schema).category("weather")];
    let two = |a: &str, b: &str| [format!(r#"weather{{"city":"{a}"}}"#), format!(r#"weather{{"city":"{b}"}}"#)];
    for (request, [first, second]) in
        [("北京和上海的天气", two("北京", "上海")), ("weather in Paris and London", two("Paris", "London"))]
    {
        check(weather(city()), request, &[&first, &second]);
    }
    let mut several = city();
    several["properties"]["city"] = json!({"type": "array", "items": {"type": "string"}});
    check(weather(several), "北京和上海的天气", &[r#"weather{"city":["北京","上海"]}"#]);
}

#[test]
fn where_an_argument_comes_from_is_told_as_it_is() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"}, "units": {"enum": ["metric", "imperial"]}, "version": {"const": "v1"},
        },
    });
    let plan = plan(vec![Offered::new("weather", "weather of a city").taking(schema)], "weather in Oslo, metric units");
    let step = &plan.groups[0].steps[0];
    let origin = |name: &str| step.arguments.iter().find(|one| one.name == name).map(|one| one.origin.clone());
    assert_eq!(origin("city"), Some(Origin::Said { kind: "city", words: "Oslo".into() }), "{plan:#?}");
    assert_eq!(origin("units"), Some(Origin::Named));
    assert_eq!(origin("version"), Some(Origin::Schema));
}

#[test]
fn a_schema_that_unfolds_without_bound_is_told_at_once() {
    let link = |keyword: &str, place: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", place + 1)});
        (format!("d{place}"), json!({keyword: [next, next]}))
    };
    for keyword in ["allOf", "anyOf"] {
        let mut all: Map<_, _> = (0..40).map(|place| link(keyword, place)).collect();
        all.insert("d40".into(), json!({"type": "string"}));
        let schema = json!({
            "type": "object", "$defs": all, "properties": {"city": {"type": "string", "$ref": "#/$defs/d0"}},
        });
        let plan = plan(vec![Offered::new("weather", "weather of a city").taking(schema)], "weather in Oslo");
        let standing = &plan.groups[0].steps[0].standing;
        assert!(matches!(standing, Standing::Unfit(why) if why.contains("unfolds to more than")), "{standing:?}");
    }
}

#[test]
fn by_the_prescribed_rule_no_category_crowds_words_out() {
    let mut tools: Vec<_> =
        (0..20).map(|at| Offered::new(format!("find_{at}"), "looks things up").category("search")).collect();
    tools.push(Offered::new("sunrise", "time of sunrise").category("other"));
    let plan = Planner::new(tools, Rules::prescribed()).plan("sunrise");
    assert_eq!(plan.groups[0].steps[0].tool.name, "sunrise", "{plan:#?}");
}

#[test]
fn a_long_chain_of_references_is_followed_or_told_and_nothing_breaks() {
    for (links, told) in [(80, false), (3_000, true)] {
        for keyword in ["allOf", "properties", "items"] {
            let link = |place: usize| {
                let next = json!({"$ref": format!("#/$defs/d{}", place + 1)});
                let within = match keyword {
                    "properties" => json!({"next": next}),
                    "items" => next,
                    _ => json!([next]),
                };
                (format!("d{place}"), json!({keyword: within}))
            };
            let mut all: Map<_, _> = (0..links).map(link).collect();
            all.insert(format!("d{links}"), json!({"type": "string"}));
            let city = json!({"type": "string", "$ref": "#/$defs/d0"});
            let schema = json!({"type": "object", "$defs": all, "properties": {"city": city}});
            let plan = plan(vec![Offered::new("weather", "weather of a city").taking(schema)], "weather in Oslo");
            let standing = &plan.groups[0].steps[0].standing;
            match told {
                true => {
                    assert!(matches!(standing, Standing::Unfit(why) if why.contains("deep")), "{keyword} {standing:?}")
                }
                false => assert_eq!(*standing, Standing::Ready, "{keyword}"),
            }
        }
    }
}
