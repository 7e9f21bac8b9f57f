//! What a busy or slow side of a duplex link does to the rest of it: nothing.

#![expect(clippy::unwrap_used, reason = "a test may end by a panic")]

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::watch;
use toolbay_protocol::{
    ErrorObject, Frame, Method, Raw, Revision,
    exchange::{Note, Outcome, Step},
    greeting::{Introduction, Profile},
    peer::Call,
    watch::{Change, Filter},
};
use toolbay_transport::{
    Caller, Cx, Error, Hub, Listener, Request, Service, Watch,
    duplex::{self, Came, Client, Options, ReadFrames as _, WriteFrames},
    listener::Deaf,
    memory,
};

/// A service that is slow to watch resources and talks without end in calls; it counts the calls that ended.
#[derive(Default)]
struct Busy {
    hub: Hub,
    ended: watch::Sender<usize>,
}

struct Ending<'b>(&'b Busy);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.ended.send_modify(|ended| *ended += 1);
    }
}

impl Service for Busy {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "busy", "version": "1"})),
            capabilities: Raw::of(
                &json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}, "prompts": {}}),
            ),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, cx: Cx) -> Outcome {
        if request.method == Method::PromptsGet {
            // It wakes itself each time that it is asked, for as long as its caller is there.
            while !cx.is_gone() {
                let mut again = true;
                std::future::poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    if std::mem::take(&mut again) { Poll::Pending } else { Poll::Ready(()) }
                })
                .await;
            }
            return Ok(Raw::EMPTY);
        }
        if request.method != Method::ToolsCall {
            return Ok(Raw::of(&json!({"tools": []})));
        }
        let _ending = Ending(self);
        let mut told = 0.0;
        while cx.note(Note::progress(told, None, None)).await.is_ok() {
            told += 1.0;
        }
        Ok(Raw::EMPTY)
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        if !filter.uris.is_empty() {
            std::future::pending::<()>().await;
        }
        Ok(self.hub.watch(filter))
    }
}

fn frame(value: &Value) -> Frame {
    Frame::parse(&value.to_string().into_bytes().into()).unwrap()
}

/// The client's end of a link on which a session of 2025-11-25 is open.
async fn session(service: Arc<Busy>) -> memory::End {
    let (theirs, mut ours) = memory::pair();
    tokio::spawn(duplex::serve(service, theirs.0, theirs.1, Options::default()));
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    });
    send(&mut ours, &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
    answer(&mut ours, 0).await.unwrap();
    send(&mut ours, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    ours
}

async fn send(link: &mut memory::End, message: &Value) {
    link.1.push(frame(message));
    link.1.flush().await.unwrap();
}

/// The answer to a request, among the next hundred thousand messages.
async fn answer(link: &mut memory::End, id: i64) -> Option<Frame> {
    for _ in 0..100_000 {
        let came = tokio::time::timeout(Duration::from_secs(5), link.0.read()).await.ok()?;
        if let Ok(Some(Came::One(Ok(frame)))) = came
            && frame.id() == Some(&toolbay_protocol::Id::Number(id))
        {
            return Some(frame);
        }
    }
    None
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_slow_to_begin_holds_up_nothing_else() {
    let mut link = session(Arc::default()).await;
    let uri = json!({"uri": "test://slow"});
    send(&mut link, &json!({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": uri})).await;
    send(&mut link, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).await;
    assert!(matches!(answer(&mut link, 2).await, Some(Frame::Result { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_stops_talking_can_be_taken_back() {
    let service = Arc::new(Busy::default());
    let mut link = session(Arc::clone(&service)).await;
    let params = json!({"name": "talk", "_meta": {"progressToken": "t"}});
    send(&mut link, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    assert!(matches!(link.0.read().await, Ok(Some(Came::One(Ok(Frame::Notification { .. }))))));
    let taken_back = json!({"requestId": 1});
    send(&mut link, &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": taken_back})).await;
    send(&mut link, &json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).await;
    assert!(answer(&mut link, 2).await.is_some(), "the link is read while a call talks");
    service.ended.subscribe().wait_for(|ended| *ended == 1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_end_of_input_ends_subscriptions_at_once() {
    let (theirs, (mut reader, mut writer)) = memory::pair();
    let served = tokio::spawn(duplex::serve(Arc::<Busy>::default(), theirs.0, theirs.1, Options::default()));
    let us = Arc::new(Introduction::anonymous(Revision::LATEST));
    let lists = Filter { tools: true, ..Filter::default() };
    let mut client = toolbay_protocol::peer::Client::new(us);
    let now = std::time::Instant::now();
    client.call(toolbay_protocol::peer::CallId(1), Call::new(Method::Listen, Some(lists.write())), now);
    writer.push(client.transmit().unwrap());
    writer.flush().await.unwrap();
    let mut read = async || match reader.read().await {
        Ok(Some(Came::One(frame))) => frame.ok(),
        _ => None,
    };
    assert!(matches!(read().await, Some(Frame::Notification { method: Method::Acknowledged, .. })));
    let begun = tokio::time::Instant::now();
    writer.close().await;
    assert!(matches!(read().await, Some(Frame::Result { .. })), "it is told that the subscription is over");
    served.await.unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn what_was_told_before_closing_is_sent() {
    let ((mut reader, _writer), ours) = memory::pair();
    let us = Arc::new(Introduction::anonymous(Revision::LATEST));
    let client = Client::start(us, ours.0, ours.1, Arc::new(Deaf));
    client.tell(Note { method: Method::Initialized, params: None }).unwrap();
    client.close().await;
    assert!(matches!(reader.read().await, Ok(Some(Came::One(Ok(Frame::Notification { .. }))))));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_stops_talking_is_still_called() {
    let ((mut reader, mut writer), ours) = memory::pair();
    let us = Arc::new(Introduction::anonymous(Revision::V2025_11_25));
    let client = Client::start(us, ours.0, ours.1, Arc::new(Deaf));
    let flood = tokio::spawn(async move {
        let note = toolbay_protocol::watch::legacy::note(&Change::Tools);
        for _ in 0..100_000 {
            writer.push(note.clone().into_frame());
            writer.flush().await.unwrap();
            if let Some(Came::One(Ok(Frame::Request { id, .. }))) = reader.at_hand() {
                writer.push(Frame::reply(id, Ok(Raw::EMPTY)));
                writer.flush().await.unwrap();
                return true;
            }
        }
        false
    });
    let mut running = client.call(Call::new(Method::Ping, None)).await.unwrap();
    assert!(flood.await.unwrap(), "the request came through");
    assert!(matches!(running.step().await, Ok(Step::Done(Ok(_)))));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_wakes_itself_for_ever_keeps_nobody_from_being_heard() {
    let mut link = session(Arc::default()).await;
    send(&mut link, &json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "restless"}})).await;
    send(&mut link, &json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).await;
    assert!(answer(&mut link, 2).await.is_some());
}

/// Panics at whatever it hears.
struct Fragile;

impl Listener for Fragile {
    fn noted(&self, _: Note) {
        panic!("as it is meant to");
    }
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_panics_leaves_nobody_waiting() {
    let ((_reader, mut writer), ours) = memory::pair();
    let us = Arc::new(Introduction::anonymous(Revision::V2025_11_25));
    let client = Client::start(us, ours.0, ours.1, Arc::new(Fragile));
    let mut running = client.call(Call::new(Method::Ping, None)).await.unwrap();
    writer.push(Note { method: Method::parse("notifications/odd"), params: None }.into_frame());
    writer.flush().await.unwrap();
    assert!(running.step().await.is_err());
    assert!(client.call(Call::new(Method::Ping, None)).await.is_err());
    client.close().await;
}

/// A link whose other end is gone, and whose own end takes long to say so.
struct Slow;

impl WriteFrames for Slow {
    fn push(&mut self, _: Frame) {}

    fn backlog(&self) -> usize {
        0
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    async fn epitaph(&mut self) -> Option<String> {
        std::future::pending().await
    }

    async fn close(&mut self) {}
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_coming_to_its_end_can_be_closed() {
    let (theirs, ours) = memory::pair();
    drop(theirs);
    let us = Arc::new(Introduction::anonymous(Revision::V2025_11_25));
    let client = Client::start(us, ours.0, Slow, Arc::new(Deaf));
    tokio::task::yield_now().await;
    tokio::time::timeout(Duration::from_secs(5), client.close()).await.unwrap();
}
