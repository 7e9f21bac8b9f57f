use crate::{Fit, Index, Parts, Query, Scorer, SelfTest, Tool, Weights};

fn catalog() -> Vec<Tool> {
    vec![
        Tool::new("sky/now", "get_current_weather", "The weather in a city right now.")
            .on("sky")
            .param("city", "Name of the city"),
        Tool::new("sky/days", "get_forecast", "Weather forecast of the next days.")
            .on("sky")
            .param("days", "How many days"),
        Tool::new("mail/send", "send_mail", "Sends an email to an address.")
            .on("mail")
            .param("to", "Address of the receiver"),
        Tool::new("mail/find", "search_mail", "Finds emails by sender or words.")
            .on("mail")
            .param("query", "Words to look for"),
        Tool::new("disk/rm", "delete_file", "Removes a file for good.").on("disk").param("path", "Path of the file"),
        Tool::new("disk/zip", "compressFiles", "Packs files into an archive.")
            .on("disk")
            .param("paths", "What to pack"),
        Tool::new("map/route", "路线规划", "规划两地之间的驾车路线")
            .on("map")
            .param("origin", "起点")
            .param("destination", "终点"),
        Tool::new("map/near", "周边搜索", "搜索附近的餐厅、酒店等地点").on("map").param("keyword", "关键词"),
        Tool::new("money/rate", "exchange_rate", "Converts an amount from one currency to another.").on("money"),
        Tool::new("money/stock", "stock_price", "Current price of a share.")
            .on("money")
            .param("symbol", "Ticker of the share"),
    ]
}

fn index_of(tools: &[Tool]) -> Index {
    let mut index = Index::new();
    tools.iter().for_each(|tool| index.insert(tool));
    index
}

fn first(index: &Index, text: &str) -> String {
    index.search(&Query::new(text)).hits.first().map_or(String::new(), |hit| hit.id.to_string())
}

#[test]
fn requests_of_either_language_reach_tools_of_either() {
    let index = index_of(&catalog());
    let check = |text: &str, id: &str| assert_eq!(first(&index, text), id, "{text}");
    check("what's the weather in Paris right now?", "sky/now");
    check("email Anna that I am late", "mail/send");
    check("please erase the file report.txt", "disk/rm");
    check("帮我把这个文件删除", "disk/rm");
    check("从家到公司开车怎么走", "map/route");
    check("附近有什么好吃的餐厅", "map/near");
    check("find restaurants nearby", "map/near");
    check("100美元换多少欧元", "money/rate");
    check("苹果现在的股价", "money/stock");
}

#[test]
fn a_server_or_a_filter_narrows_the_answer() {
    let index = index_of(&catalog());
    let hits = index.search(&Query::new("weather forecast").on("mail").limit(20)).hits;
    assert!(hits.len() == 2 && hits.iter().all(|hit| hit.id.starts_with("mail/")));
    let hits = index.search(&Query::new("weather forecast").only(&|id| id != "sky/days").limit(20)).hits;
    assert!(hits.iter().all(|hit| &*hit.id != "sky/days"));
    assert_eq!(&*hits[0].id, "sky/now");
}

#[test]
fn no_more_than_the_limit_is_found() {
    let index = index_of(&catalog());
    for limit in [0, 1, 3, 20] {
        assert_eq!(index.search(&Query::new("weather").limit(limit)).hits.len(), limit.min(10));
    }
}

#[test]
fn what_nothing_answers_is_said_to_fit_nothing() {
    let index = index_of(&catalog());
    let fit = |text: &str| index.search(&Query::new(text)).fit;
    assert_eq!(fit("weather forecast for tomorrow"), Fit::Good);
    assert_eq!(fit("明天的天气"), Fit::Good);
    assert_eq!(fit("knit a woollen sweater with cables"), Fit::Nothing);
    assert_eq!(fit("给孩子织一件毛衣"), Fit::Nothing);
    assert_eq!(fit(""), Fit::Nothing);
    assert_eq!(Index::new().search(&Query::new("weather")).fit, Fit::Nothing);
}

#[test]
fn a_hit_says_how_its_score_came_about() {
    let index = index_of(&catalog());
    let hit = index.search(&Query::new("删除文件")).hits.swap_remove(0);
    let Parts::Best { words, about, model, matched } = hit.parts else { panic!("scored by {:?}", hit.parts) };
    assert!((words + about + model - hit.score).abs() < 1e-4);
    assert!(matched.iter().any(|matched| matched.word == "删除" && matched.term == "delet"), "{matched:?}");
}

#[test]
fn the_prescribed_rule_can_be_chosen() {
    let index = index_of(&[
        Tool::new("a", "weather_query", "查询城市天气信息").category("weather"),
        Tool::new("b", "map_search", "地图搜索和导航").category("map"),
        Tool::new("c", "web_search", "search the web").category("search"),
    ]);
    let found = index.search(&Query::new("weather query").by(Scorer::Weighted(Weights::default())));
    let Parts::Weighted(parts) = found.hits[0].parts else { panic!("scored by {:?}", found.hits[0].parts) };
    assert_eq!((&*found.hits[0].id, found.fit), ("a", Fit::Good));
    assert!((parts.score - (0.4 + 0.3 * 0.5)).abs() < 1e-12);
    assert_eq!(&*found.hits[1].id, "c");
}

#[test]
fn a_tool_of_the_same_id_takes_the_place() {
    let mut index = index_of(&catalog());
    index.insert(&Tool::new("sky/now", "brew_coffee", "Makes a cup of coffee."));
    assert_eq!(index.len(), 10);
    assert_eq!(first(&index, "make me a coffee"), "sky/now");
    assert!(index.remove("sky/now") && !index.remove("sky/now") && !index.contains("sky/now"));
}

#[test]
fn taking_out_and_putting_back_is_the_same_as_building_anew() {
    let tools = catalog();
    let mut chance = Chance(7);
    for _ in 0..50 {
        let mut index = Index::new();
        let mut held = vec![false; tools.len()];
        for _ in 0..40 {
            let at = chance.below(tools.len());
            if held[at] {
                assert!(index.remove(&tools[at].id))
            } else {
                index.insert(&tools[at])
            }
            held[at] = !held[at];
        }
        let left: Vec<Tool> =
            tools.iter().zip(&held).filter(|(_, held)| **held).map(|(tool, _)| tool.clone()).collect();
        let anew = index_of(&left);
        for text in ["current weather", "删除文件", "find mail by words", "附近的酒店", "price"] {
            let (one, other) = (index.search(&Query::new(text)), anew.search(&Query::new(text)));
            assert_eq!(one.fit, other.fit, "{text}");
            let pairs: Vec<_> = one.hits.iter().zip(&other.hits).collect();
            assert_eq!(one.hits.len(), other.hits.len());
            // Sums of floats may be taken in another order, and so differ in the last digits.
            assert!(pairs.iter().all(|(a, b)| a.id == b.id && (a.score - b.score).abs() < 1e-3), "{text}: {pairs:?}");
        }
    }
}

#[test]
fn no_text_is_too_strange_or_too_long() {
    let pieces = [
        "get",
        "天气",
        "\u{0}",
        "🙂",
        "é",
        "ＡＢＣ",
        " ",
        "\n",
        "_",
        "HTTPServer",
        "的",
        "請",
        "\u{202e}",
        "𠀀",
        "İ",
        "ß",
        "1234567890",
        "-",
    ];
    let mut chance = Chance(11);
    let mut index = index_of(&catalog());
    for round in 0..200 {
        let text: String = (0..chance.below(40)).map(|_| pieces[chance.below(pieces.len())]).collect();
        index.insert(
            &Tool::new(format!("{round}"), text.clone(), text.clone())
                .on(text.clone())
                .param(text.clone(), text.clone()),
        );
        index.search(&Query::new(&text));
        index.search(&Query::new(&text).by(Scorer::Weighted(Weights::default())));
    }
    for piece in pieces {
        let long = piece.repeat(200_000);
        index.insert(&Tool::new("long", &long, &long));
        index.search(&Query::new(&long));
    }
}

#[test]
fn a_callers_model_is_a_third_voice() {
    let test = SelfTest::new();
    let requests = vec![vec![0.1, 0.0, 0.0]; test.requests.len()];
    let texts = vec![vec![0.1, 0.0, 0.0]; test.texts.len()];
    let mut index = index_of(&catalog());
    assert!(!index.set_vector("disk/zip", &[0.0, 1.0, 0.0]), "no encoder is known yet");
    index.set_encoder(test.encoder(&requests, &texts).unwrap());
    assert!(!index.set_vector("disk/zip", &[0.0, 1.0]), "of another width");
    for tool in catalog() {
        assert!(index.set_vector(&tool.id, if tool.id == "disk/zip" { &[0.0, 1.0, 0.0] } else { &[1.0, 0.0, 0.1] }));
    }
    let ask = |text: &'static str| index.search(&Query::new(text).vector(&[0.1, 1.0, 0.0])).hits.swap_remove(0);
    assert_eq!(&*ask("make a bundle").id, "disk/zip");
    // It failed the self-test, so it has no say where the request is Chinese.
    let Parts::Best { model, .. } = ask("打个包").parts else { panic!("scored otherwise") };
    assert!(model.abs() < 1e-9);
}

/// Numbers that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}
