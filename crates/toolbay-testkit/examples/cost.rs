//! What one call costs in the pure core: nanoseconds and allocations from the line that came to the line that goes.
//!
//! `cargo run --release -p toolbay-testkit --example cost`; only ratios mean much on a busy machine, counts are exact.
#![expect(clippy::print_stdout, reason = "the numbers are what it is for")]

use std::time::Instant;

use bytes::{Bytes, BytesMut};
use serde_json::json;
use toolbay_protocol::{
    Frame, Method, Raw, Revision,
    peer::{Call, CallId, Client, ClientEvent, Server, ServerEvent},
};
use toolbay_testkit::{Pair, Speaks, us};

const ROUNDS: u32 = 200_000;
const TRIES: u32 = 7;

fn main() {
    println!("{:<34} {:>9} {:>8} {:>8}", "per call, 64-byte echo", "ns", "allocs", "bytes");
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let arguments = json!({"text": "x".repeat(53)});
        let params = Raw::of(&json!({"name": "echo", "arguments": arguments}));
        assert_eq!(params.get("arguments").map_or(0, |arguments| arguments.as_bytes().len()), 64);
        let mut pair = Pair::open(Speaks::Only(revision), Speaks::Every).expect("they meet");
        let request = Call::new(Method::ToolsCall, Some(params.clone()));
        let us = std::sync::Arc::new(us().in_revision(revision));
        let line = request.clone().exchange(us, toolbay_protocol::Id::Number(7)).open().to_bytes();
        let mut out = BytesMut::with_capacity(64 * 1024);
        measure(&format!("server, {revision}"), || serve(&mut pair.server, &line, &mut out));
        let mut key = 1_000;
        measure(&format!("client, {revision}"), || {
            key += 1;
            call(&mut pair.client, CallId(key), request.clone(), &mut out);
        });
    }
}

/// A line that holds a call in, a line that answers it out.
fn serve(server: &mut Server, line: &Bytes, out: &mut BytesMut) {
    server.receive(Frame::parse(line));
    let Some(ServerEvent::Called(called)) = server.event() else { panic!("no call came") };
    let arguments = called.params.and_then(|params| params.get("arguments")).unwrap_or(Raw::EMPTY);
    server.done(called.key, Ok(arguments));
    out.clear();
    server.transmit().expect("an answer").write(out);
}

/// A call out, its answer in.
fn call(client: &mut Client, key: CallId, call: Call, out: &mut BytesMut) {
    client.call(key, call, Instant::now());
    out.clear();
    let frame = client.transmit().expect("a request");
    frame.write(out);
    let id = frame.id().expect("a request has an id").clone();
    client.receive(Ok(Frame::Result { id, result: Raw::EMPTY }), Instant::now());
    assert!(matches!(client.event(), Some(ClientEvent::Step(..))));
}

fn measure(what: &str, mut once: impl FnMut()) {
    (0..1000).for_each(|_| once());
    let cost = allocation_counter::measure(|| (0..1000).for_each(|_| once()));
    let mut best = f64::INFINITY;
    for _ in 0..TRIES {
        let start = Instant::now();
        (0..ROUNDS).for_each(|_| once());
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS));
    }
    println!("{what:<34} {best:>9.0} {:>8} {:>8}", cost.count_total / 1000, cost.bytes_total / 1000);
}
