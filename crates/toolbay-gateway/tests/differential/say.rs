//! The conversation, feature by feature. What each says is all that the client can tell of it.

use std::{future::Future, pin::Pin, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;
use toolbay_protocol::{
    Feature, Method, Raw,
    exchange::Note,
    peer::Call,
    watch::{Change, Filter},
};

use crate::{
    talk::{bare, follow, tool},
    way::{Ears, Place},
};

type Said<'p> = Pin<Box<dyn Future<Output = Value> + Send + 'p>>;

macro_rules! features {
    ($($name:literal => $say:expr),* $(,)?) => {
        /// Every feature by name.
        pub(crate) const FEATURES: &[(&str, for<'p> fn(&'p Place) -> Said<'p>)] = &[
            $(($name, |place| Box::pin(async move { let say = $say; say(place).await }))),*
        ];
    };
}

features! {
    "tools/list, pages" => async |place: &Place| list(place, Method::ToolsList, "tools").await,
    "prompts/list" => async |place: &Place| list(place, Method::PromptsList, "prompts").await,
    "resources/list" => async |place: &Place| list(place, Method::ResourcesList, "resources").await,
    "resources/templates/list" => async |place: &Place| list(place, Method::TemplatesList, "resourceTemplates").await,
    "tools/call, `_meta`, unknown fields, trace context" => echo,
    "content of every kind" => async |place: &Place| tool(place, "content", json!({})).await,
    "errors, with data" => async |place: &Place| tool(place, "fails", json!({})).await,
    "isError" => async |place: &Place| tool(place, "sad", json!({})).await,
    "prompts/get" => async |place: &Place| {
        let params = json!({"name": format!("{}greet", place.prefix), "arguments": {"who": "Ada"}});
        follow(place, Method::PromptsGet, params).await
    },
    "resources/read, templates" => async |place: &Place| {
        let one = follow(place, Method::ResourcesRead, json!({"uri": "test://one"})).await;
        json!([one, follow(place, Method::ResourcesRead, json!({"uri": "test://t/7"})).await])
    },
    "resource not found" => async |place: &Place| follow(place, Method::ResourcesRead, json!({"uri": "test://gone"})).await,
    "MCP Apps" => async |place: &Place| follow(place, Method::ResourcesRead, json!({"uri": "ui://app"})).await,
    "completion/complete" => async |place: &Place| {
        let reference = json!({"type": "ref/prompt", "name": format!("{}greet", place.prefix)});
        follow(place, Method::Complete, json!({"ref": reference, "argument": {"name": "who", "value": "a"}})).await
    },
    "progress" => async |place: &Place| tool(place, "steps", json!({})).await,
    "log messages, level" => logs,
    "log messages outside of requests" => async |place: &Place| outside(place, json!({})).await,
    "elicitation complete" => async |place: &Place| outside(place, json!({"complete": true})).await,
    "roots changed" => roots_changed,
    "a stream that is left and taken up again" => async |place: &Place| tool(place, "leaves", json!({})).await,
    "elicitation, form" => async |place: &Place| tool(place, "elicit", json!({})).await,
    "elicitation, declined" => async |place: &Place| tool(place, "declined", json!({})).await,
    "elicitation, url" => async |place: &Place| tool(place, "visit", json!({})).await,
    "sampling" => async |place: &Place| tool(place, "sample", json!({})).await,
    "sampling with tools" => async |place: &Place| tool(place, "sample_tools", json!({})).await,
    "roots" => async |place: &Place| tool(place, "roots", json!({})).await,
    "several questions at once" => async |place: &Place| tool(place, "several", json!({})).await,
    "questions in several rounds" => async |place: &Place| tool(place, "rounds", json!({})).await,
    "cancellation" => cancel,
    "resource subscriptions" => subscribe,
    "a subscription that ends" => unsubscribe,
    "lists changed" => grow,
    "task: begin, get, cancel" => tasks,
    "task: questions and result" => async |place: &Place| outcome(place, json!({"asks": true})).await,
    "task: isError" => async |place: &Place| outcome(place, json!({"ends": "sad"})).await,
    "task: error, with data" => async |place: &Place| outcome(place, json!({"ends": "fails"})).await,
    "task: list" => listed,
}

/// A whole list, under the server's own names.
async fn list(place: &Place, method: Method, key: &str) -> Value {
    let (mut items, mut cursor) = (vec![], Value::Null);
    let last = loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let mut page = follow(place, method.clone(), params).await;
        let result = &mut page["outcome"];
        items.extend(result[key].take().as_array().into_iter().flatten().cloned());
        cursor = result["nextCursor"].take();
        result.as_object_mut().unwrap().remove("nextCursor");
        if cursor.is_null() {
            break page;
        }
    };
    for item in &mut items {
        // Whether a tool runs as a task is said in one era alone.
        item.as_object_mut().unwrap().remove("execution");
        if let Some(name) = item["name"].as_str().and_then(|name| name.strip_prefix(place.prefix)) {
            item["name"] = json!(name);
        }
    }
    json!([items, last])
}

async fn echo(place: &Place) -> Value {
    let params = json!({
        "name": format!("{}echo", place.prefix), "arguments": {"n": 1.50, "s": "é", "null": null, "deep": [{"a": []}]},
        "_meta": {"traceparent": "00-1-2-01", "tracestate": "a=b", "baggage": "c=d", "vendor/y": {"x": [1]}},
    });
    follow(place, Method::ToolsCall, params).await
}

async fn logs(place: &Place) -> Value {
    if place.revision.has(Feature::Handshake) {
        let set = follow(place, Method::SetLevel, json!({"level": "warning"})).await;
        assert_eq!(set["outcome"], json!({}), "{set}");
    }
    tool(place, "logs", json!({})).await
}

async fn cancel(place: &Place) -> Value {
    let params = Raw::of(&json!({"name": format!("{}hangs", place.prefix), "arguments": {}}));
    let call = Call::new(Method::ToolsCall, Some(params));
    let running = place.client.call(call).await;
    let mut running = running.unwrap();
    let begun = async {
        tokio::select! {
            step = running.step() => panic!("it hangs, and yet: {step:?}"),
            () = until(place, "1 0") => {}
        }
    };
    begun.await;
    drop(running);
    until(place, "1 1").await;
    json!("it stopped")
}

/// Waits until so many calls began to hang, and so many ended.
async fn until(place: &Place, counts: &str) {
    while tool(place, "hung", json!({})).await["outcome"]["content"][0]["text"] != json!(counts) {
        tokio::task::yield_now().await;
    }
}

/// Waits until something is heard.
async fn heard(place: &Place, what: impl Fn(&Ears) -> bool) -> bool {
    let heard = async {
        while !what(&place.ears) {
            place.ears.told.notified().await;
        }
    };
    timeout(Duration::from_secs(10), heard).await.is_ok()
}

async fn changed(place: &Place, change: &Change) -> bool {
    heard(place, |ears| ears.changes.lock().unwrap().contains(change)).await
}

async fn subscribe(place: &Place) -> Value {
    let one = place.client.subscribe(Filter::resource("test://one")).await.unwrap();
    let two = place.client.subscribe(Filter::resource("test://two")).await.unwrap();
    tool(place, "touch", json!({})).await;
    let honoured = (one.filter().uris.len(), two.filter().uris.len());
    let told = changed(place, &Change::Updated("test://one".into())).await;
    drop(two);
    json!([honoured.0, honoured.1, told])
}

async fn unsubscribe(place: &Place) -> Value {
    let [three, four] = ["test://t/3", "test://t/4"];
    let ended = place.client.subscribe(Filter::resource(three)).await.unwrap();
    let lasting = place.client.subscribe(Filter::resource(four)).await.unwrap();
    drop(ended);
    loop {
        place.ears.changes.lock().unwrap().clear();
        tool(place, "touch", json!({"uri": three})).await;
        tool(place, "touch", json!({"uri": four})).await;
        let told = changed(place, &Change::Updated(four.into())).await;
        // The end is told of in its own time.
        if !place.ears.changes.lock().unwrap().contains(&Change::Updated(three.into())) {
            drop(lasting);
            return json!(["it ended", told]);
        }
    }
}

async fn grow(place: &Place) -> Value {
    let mut watching = None;
    if place.revision.has(Feature::Stateless) {
        watching = Some(place.client.subscribe(Filter::lists()).await.unwrap());
    }
    place.ears.changes.lock().unwrap().clear();
    tool(place, "grow", json!({})).await;
    let mut told = vec![];
    for change in [Change::Tools, Change::Prompts] {
        told.push(changed(place, &change).await);
    }
    let tools = list(place, Method::ToolsList, "tools").await;
    let prompts = list(place, Method::PromptsList, "prompts").await;
    let grown = |list: &Value| list[0].as_array().unwrap().iter().any(|item| item["name"] == "more0");
    drop(watching);
    json!([told, grown(&tools), grown(&prompts)])
}

/// What a server says that belongs to no request. Where one stream carries all, it may seem to belong to the call that is
/// in flight.
async fn outside(place: &Place, arguments: Value) -> Value {
    let outside = || place.ears.notes.lock().unwrap();
    outside().clear();
    let mut said = tool(place, "says", arguments).await;
    let mut notes = said["notes"].take();
    let all = notes.as_array_mut().unwrap();
    if said["outcome"]["content"][0]["text"] == "said" && place.revision.has(Feature::Handshake) && all.is_empty() {
        heard(place, |ears| !ears.notes.lock().unwrap().is_empty()).await;
    }
    all.extend(outside().iter().map(|note| json!([note.method.as_str(), note.params.as_ref().map(bare)])));
    json!([said, notes])
}

async fn roots_changed(place: &Place) -> Value {
    if place.revision.has(Feature::Stateless) {
        return json!("there is no such notification");
    }
    place.client.tell(Note::new(Method::RootsChanged, Raw::EMPTY)).await.unwrap();
    loop {
        let told = tool(place, "told", json!({})).await;
        if told["outcome"]["content"][0]["text"] != json!("0") {
            return told;
        }
        tokio::task::yield_now().await;
    }
}

/// Begins a task; its answer, and its name. Who knows the core asks for one, to others the same word means nothing.
async fn begin(place: &Place, arguments: Value) -> (Value, String) {
    let params = json!({"name": format!("{}job", place.prefix), "arguments": arguments, "task": {}});
    let begun = follow(place, Method::ToolsCall, params).await;
    let result = &begun["outcome"];
    let id = result["taskId"].as_str().or_else(|| result["task"]["taskId"].as_str());
    (begun.clone(), id.unwrap_or("nothing").to_owned())
}

/// The same with a task's name made plain: the bay's names are its own, and so is the time at which it takes one back.
fn plain(said: &Value, id: &str) -> Value {
    let mut said: Value = serde_json::from_str(&said.to_string().replace(id, "ID")).unwrap();
    timeless(&mut said);
    said
}

fn timeless(said: &mut Value) {
    match said {
        Value::Object(object) => {
            object.remove("lastUpdatedAt");
            object.values_mut().for_each(timeless);
        }
        Value::Array(all) => all.iter_mut().for_each(timeless),
        _ => {}
    }
}

async fn tasks(place: &Place) -> Value {
    let (begun, id) = begin(place, json!({})).await;
    let get = async || follow(place, Method::TasksGet, json!({"taskId": id})).await;
    let cancel = async || follow(place, Method::TasksCancel, json!({"taskId": id})).await;
    let (before, cancelled, after) = (get().await, cancel().await, get().await);
    let again = cancel().await["outcome"]["code"].clone();
    let unknown = follow(place, Method::TasksGet, json!({"taskId": "nobody's"})).await["outcome"]["code"].clone();
    plain(&json!([begun, before, cancelled, after, again, unknown]), &id)
}

/// What becomes of a task, as each era asks for it.
async fn outcome(place: &Place, arguments: Value) -> Value {
    let (begun, id) = begin(place, arguments).await;
    if place.revision.has(Feature::CoreTasks) {
        let result = follow(place, Method::TasksResult, json!({"taskId": id})).await;
        let state = follow(place, Method::TasksGet, json!({"taskId": id})).await;
        return plain(&json!([begun, result, state]), &id);
    }
    let mut asked = vec![];
    loop {
        let state = follow(place, Method::TasksGet, json!({"taskId": id})).await;
        match state["outcome"]["status"].as_str() {
            Some("working") => tokio::task::yield_now().await,
            Some("input_required") => {
                let requests = state["outcome"]["inputRequests"].as_object().unwrap();
                asked.extend(requests.values().cloned());
                let ada = json!({"action": "accept", "content": {"name": "Ada"}});
                let responses: serde_json::Map<_, _> = requests.keys().map(|key| (key.clone(), ada.clone())).collect();
                let update = json!({"taskId": id, "inputResponses": responses});
                asked.push(follow(place, Method::TasksUpdate, update).await);
            }
            _ => return plain(&json!([begun, asked, state]), &id),
        }
    }
}

async fn listed(place: &Place) -> Value {
    if !place.revision.has(Feature::CoreTasks) {
        return json!("there is no such list");
    }
    let (mut all, mut cursor) = (vec![], Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let page = follow(place, Method::TasksList, params).await["outcome"].take();
        all.extend(page["tasks"].as_array().unwrap().iter().map(|task| task["status"].clone()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return json!(all);
        }
    }
}
