//! What the attributes make of functions, and that it can be written by hand.

#![allow(clippy::unwrap_used, reason = "these are tests, helpers included")]

use serde::Deserialize;
use serde_json::{Value, json};
use toolbay::{JsonSchema, prelude::*};

struct Shop {
    name: &'static str,
}

#[data]
#[derive(Debug, PartialEq)]
struct Order {
    /// Number of the order.
    id: u32,
    note: Option<String>,
}

/// Finds orders.
///
/// By customer.
#[tool(read_only, closed_world, title = "Find")]
async fn find(
    /// Who bought.
    customer: String,
    /// How many at most.
    #[arg(default = 10, range = 1..=50, header = "Limit")]
    limit: i64,
    shop: State<Shop>,
    cx: &Ctx,
) -> toolbay::Result<Json<Vec<Order>>> {
    cx.progress(1.0).await;
    if customer.is_empty() {
        return Err(tool_error!("no customer in {}", shop.name).into());
    }
    Ok(Json(vec![Order { id: u32::try_from(limit)?, note: Some(customer) }]))
}

/// Nothing at all.
#[tool(name = "no.thing")]
async fn nothing() {}

/// Reports on a week.
#[prompt(title = "Weekly")]
async fn report(
    /// Number of the week.
    #[arg(complete = weeks)]
    week: u32,
) -> String {
    format!("week {week}")
}

async fn weeks(typed: Completing, _: Ctx) -> Suggestions {
    Suggestions::beginning(&typed.value, ["1", "11", "2"])
}

/// How it is set up.
#[resource("config://app", mime_type = "application/json")]
async fn config(shop: State<Shop>) -> String {
    format!("{{\"shop\":{:?}}}", shop.name)
}

/// One order.
#[resource("order://{id}", name = "an order")]
async fn order(id: u32) -> Option<Json<Order>> {
    (id < 10).then_some(Json(Order { id, note: None }))
}

fn with_attributes() -> Server<Shop> {
    Server::new("shop", "1")
        .state(Shop { name: "corner" })
        .tool(find::tool())
        .tool(nothing::tool())
        .prompt(report::prompt())
        .resource(config::resource())
        .template(order::template())
}

#[derive(Deserialize, JsonSchema)]
struct FindArgs {
    /// Who bought.
    customer: String,
    /// How many at most.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: i64,
}

fn ten() -> i64 {
    10
}

#[derive(Deserialize, JsonSchema)]
struct ReportArgs {
    /// Number of the week.
    week: u32,
}

#[derive(Deserialize, JsonSchema)]
struct OrderArgs {
    id: u32,
}

fn by_hand() -> Server<Shop> {
    let find_tool =
        Tool::new("find", "Finds orders.\n\nBy customer.", |args: FindArgs, shop: State<Shop>, cx: Ctx| async move {
            toolbay::server::within("limit", &args.limit, &(1..=50))?;
            ok(find(args.customer, args.limit, shop, &cx).await)
        });
    let report_prompt = Prompt::new("report", "Reports on a week.", |args: ReportArgs| report(args.week));
    let order_template = Template::new("order://{id}", "an order", |args: OrderArgs| order(args.id));
    Server::new("shop", "1")
        .state(Shop { name: "corner" })
        .tool(find_tool.title("Find").read_only().closed_world().header("limit", "Limit"))
        .tool(Tool::new("no.thing", "Nothing at all.", nothing))
        .prompt(report_prompt.title("Weekly").complete("week", weeks))
        .resource(
            Resource::new("config://app", "config", config)
                .description("How it is set up.")
                .mime_type("application/json"),
        )
        .template(order_template.description("One order."))
}

async fn seen(server: Server<Shop>) -> Vec<Value> {
    let client = Client::connect(server).await.unwrap();
    let mut seen = Vec::new();
    for (method, params) in [
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("tools/call", json!({"name": "find", "arguments": {"customer": "Ada"}})),
        ("tools/call", json!({"name": "find", "arguments": {"customer": ""}})),
        ("tools/call", json!({"name": "find", "arguments": {"customer": "Ada", "limit": 51}})),
        ("tools/call", json!({"name": "find", "arguments": {"limit": 1}})),
        ("tools/call", json!({"name": "no.thing"})),
        ("prompts/get", json!({"name": "report", "arguments": {"week": "7"}})),
        ("resources/read", json!({"uri": "config://app"})),
        ("resources/read", json!({"uri": "order://7"})),
    ] {
        let method = toolbay::protocol::Method::parse(method);
        let result = client.request(method, toolbay::Raw::of(&params)).await.unwrap();
        seen.push(result.read().unwrap());
    }
    seen
}

#[tokio::test]
async fn what_attributes_make_can_be_written_by_hand() {
    let (made, written) = (seen(with_attributes()).await, seen(by_hand()).await);
    assert_eq!(made, written);
    let find = &made[0]["tools"][0];
    assert_eq!(find["description"], "Finds orders.\n\nBy customer.");
    assert_eq!(find["annotations"], json!({"readOnlyHint": true, "openWorldHint": false}));
    let limit = json!({
        "type": "integer", "description": "How many at most.",
        "default": 10, "minimum": 1, "maximum": 50, "x-mcp-header": "Limit",
    });
    assert_eq!(find["inputSchema"]["properties"]["limit"], limit);
    assert_eq!(find["inputSchema"]["required"], json!(["customer"]));
    assert_eq!(made[4]["structuredContent"], json!([{"id": 10, "note": "Ada"}]));
    assert_eq!(made[5]["content"][0]["text"], "no customer in corner");
    assert_eq!(made[6]["content"][0]["text"], "invalid arguments: `limit` is 51, but must be within 1..=50");
    assert!(made[7]["content"][0]["text"].as_str().unwrap().contains("missing field `customer`"));
    assert_eq!(made[11]["contents"][0]["text"], r#"{"id":7,"note":null}"#);
}

/// A type with a name that a module might want for itself.
#[data]
struct Args {
    n: u32,
}

fn default_args() -> Args {
    Args { n: 7 }
}

/// Names of arguments and types are the author's own.
#[tool]
async fn tool_named(
    #[arg(default = default_args())] args: Args,
    #[arg(name = "type")] r#type: Option<String>,
    mut state: Vec<u32>,
) -> String {
    state.push(args.n);
    format!("{state:?} {:?}", r#type)
}

#[tokio::test]
async fn names_are_the_authors_own() {
    let client = Client::connect(Server::new("names", "1").tool(tool_named::tool())).await.unwrap();
    let said = client.call("tool_named", &json!({"state": [1], "type": "x"})).await.unwrap();
    assert_eq!(said.texts(), "[1, 7] Some(\"x\")");
}

/// Some lines of a page.
#[tool]
async fn lines(
    #[arg(default = "front")] page: String,
    #[arg(range = 1..=50)] from: Option<u32>,
    #[arg(default = "en")] language: std::borrow::Cow<'static, str>,
) -> String {
    format!("{page} {from:?} {language}")
}

#[tokio::test]
async fn what_may_be_left_out_is_within_any_range_and_texts_are_defaults_as_they_are() {
    let client = Client::connect(Server::new("lines", "1").tool(lines::tool())).await.unwrap();
    let call = async |arguments| client.call("lines", &arguments).await.unwrap().texts();
    assert_eq!(call(json!({})).await, "front None en");
    assert_eq!(call(json!({"page": "back", "from": 50, "language": "zh"})).await, "back Some(50) zh");
    assert!(call(json!({"from": 51})).await.contains("`from` is 51, but must be within 1..=50"));
    let tool = client.tools().all().await.unwrap().remove(0);
    let schema: Value = tool.input_schema.read().unwrap();
    assert_eq!(schema["properties"]["from"], json!({"type": "integer", "minimum": 1, "maximum": 50}));
    assert_eq!(schema["properties"]["page"]["default"], "front");
}

#[tokio::test]
async fn functions_stay_what_they_were() {
    assert_eq!(report(3).await, "week 3");
    assert_eq!(order(3).await.unwrap().0, Order { id: 3, note: None });
}

#[tokio::test]
async fn an_attribute_may_stand_in_the_body_of_a_function() {
    const LEAST: u32 = 2;

    struct Shelf(u32);

    #[data]
    struct Book {
        pages: u32,
    }

    fn pages() -> u32 {
        LEAST + 1
    }

    /// Counts what is read.
    #[tool]
    async fn read(
        books: Vec<Book>,
        #[arg(default = pages(), range = LEAST..)] more: u32,
        args: State<Shelf>,
        cx: &Ctx,
    ) -> String {
        cx.progress(1.0).await;
        format!("{}", books.iter().map(|book| book.pages).sum::<u32>() + more + args.0)
    }

    /// A title.
    #[prompt]
    async fn title(#[arg(complete = weeks)] week: u32) -> String {
        format!("week {week}")
    }

    /// A page.
    #[resource("page://{number}")]
    async fn page(number: u32) -> String {
        format!("page {number}")
    }

    let server = Server::new("books", "1").state(Shelf(100)).tool(read::tool()).prompt(title::prompt());
    let client = Client::connect(server.template(page::template())).await.unwrap();
    let call = async |arguments| client.call("read", &arguments).await.unwrap().texts();
    assert_eq!(call(json!({"books": [{"pages": 5}]})).await, "108");
    assert!(call(json!({"books": [], "more": 1})).await.contains("more"));
    assert_eq!(client.read("page://3").await.unwrap().contents[0].text.as_deref(), Some("page 3"));
    assert_eq!(
        client.prompt("title", &json!({"week": "9"})).await.unwrap().messages[0].content.as_text(),
        Some("week 9")
    );
}
