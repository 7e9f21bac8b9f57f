//! What a call costs in allocations: exact figures, so they are kept as tests.
//!
//! The server has a thread and a runtime of its own, and only what is allocated there is counted; the client speaks from
//! another thread with plain blocking sockets. Two runs that differ in their number of calls give the cost of one call.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    sync::{Arc, mpsc},
    thread,
};

use allocation_counter::{AllocationInfo, measure};
use tokio::{net::TcpListener, runtime};
use tokio_util::sync::CancellationToken;
use toolbay::{
    Server, Tool,
    server::Arguments,
    tool,
    transport::{
        duplex,
        http::server::{self, Endpoint},
        stdio::wire::{FrameLines, LineFrames},
    },
};

/// Returns its text.
#[tool]
async fn echo(text: String) -> String {
    text
}

/// Says how long its text is.
#[tool]
async fn measure_text(text: String) -> u64 {
    text.len() as u64
}

/// Takes its arguments as they were written.
fn measure_arguments() -> Tool {
    Tool::new("measure_arguments", "", async |Arguments(text): Arguments| text.as_bytes().len() as u64)
}

fn server() -> Server {
    Server::new("echo", "1.0.0").tool(echo::tool()).tool(measure_text::tool()).tool(measure_arguments())
}

/// Allocations and bytes of one call. What grows once has grown when the first calls are over.
fn each(run: impl Fn(u64) -> AllocationInfo) -> (f64, f64) {
    const FEW: u64 = 20;
    const MANY: u64 = 60;
    let (few, many) = (run(FEW), run(MANY));
    let per_call = |few: u64, many: u64| many.saturating_sub(few) as f64 / (MANY - FEW) as f64;
    (per_call(few.count_total, many.count_total), per_call(few.bytes_total, many.bytes_total))
}

fn runtime() -> runtime::Runtime {
    runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

const LEGACY: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"counter","version":"1"}}}"#;

fn call(id: u64, tool: &str, text: &str) -> String {
    let params = format!(r#"{{"name":"{tool}","arguments":{{"text":"{text}"}}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
}

fn over_lines(tool: &str, text: &str, calls: u64) -> AllocationInfo {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let serving = thread::spawn(move || {
        theirs.set_nonblocking(true).expect("a socket that does not block");
        let runtime = runtime();
        measure(|| {
            runtime.block_on(async {
                let (read, write) = tokio::net::UnixStream::from_std(theirs).expect("a socket").into_split();
                let (reader, writer) = (FrameLines::new(read), LineFrames::new(write));
                duplex::serve(Arc::new(server()), reader, writer, duplex::Options::default()).await.expect("served");
            });
        })
    });
    let mut lines = BufReader::new(ours.try_clone().expect("a second handle"));
    let mut answer = String::new();
    let mut say = |text: &str, answered: bool| {
        (&ours).write_all(format!("{text}\n").as_bytes()).expect("written");
        if answered {
            answer.clear();
            lines.read_line(&mut answer).expect("answered");
            assert!(answer.contains("\"result\""), "{answer}");
        }
    };
    say(LEGACY, true);
    say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, false);
    for id in 1..=calls {
        say(&call(id, tool, text), true);
    }
    ours.shutdown(std::net::Shutdown::Write).expect("shut down");
    serving.join().expect("the server ends")
}

/// A client of HTTP that allocates where it is not counted.
struct Web {
    stream: BufReader<TcpStream>,
    session: String,
}

impl Web {
    fn post(&mut self, extra: &str, body: &str) -> String {
        let length = body.len();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{extra}{}Content-Length: {length}\r\n\r\n",
            self.session
        );
        self.stream.get_mut().write_all(format!("{head}{body}").as_bytes()).expect("written");
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("a head");
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if let Some(value) = lower.strip_prefix("mcp-session-id:") {
                self.session = format!("Mcp-Session-Id: {}\r\nMCP-Protocol-Version: 2025-11-25\r\n", value.trim());
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).expect("a body");
        String::from_utf8(answer).expect("text")
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Era {
    Legacy,
    Modern,
}

fn over_http(era: Era, tool: &str, text: &str, calls: u64) -> AllocationInfo {
    let (bound, address) = mpsc::channel();
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    let serving = thread::spawn(move || {
        let runtime = runtime();
        measure(|| {
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                bound.send(listener.local_addr().expect("an address")).expect("heard");
                let endpoint = Endpoint::new(Arc::new(server()), server::Options::default());
                server::serve(listener, endpoint, stop).await.expect("served");
            });
        })
    });
    let stream = TcpStream::connect(address.recv().expect("an address")).expect("connected");
    stream.set_nodelay(true).expect("no delay");
    let mut web = Web { stream: BufReader::new(stream), session: String::new() };
    if era == Era::Legacy {
        web.post("", LEGACY);
        web.post("", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }
    for id in 1..=calls {
        let body = call(id, tool, text);
        let answer = match era {
            Era::Legacy => web.post("", &body),
            Era::Modern => {
                let meta = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"counter","version":"1"}}}}"#;
                let body = format!("{}{meta}", body.strip_suffix("}}").expect("two objects"));
                let head =
                    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
                web.post(&head, &body)
            }
        };
        assert!(answer.contains("\"result\""), "{answer}");
    }
    drop(web);
    shutdown.cancel();
    serving.join().expect("the server ends")
}

fn short() -> String {
    "x".repeat(64)
}

/// Long enough that nothing else counts.
fn long() -> String {
    "x".repeat(256 << 10)
}

fn assert_few(what: &str, (count, bytes): (f64, f64), most: f64) {
    assert!(count <= most, "{what}: {count} allocations a call ({bytes} bytes), of {most} at most");
}

/// What is allocated for a long text, in times its length.
fn assert_small(what: &str, (count, bytes): (f64, f64), most: f64) {
    let times = bytes / long().len() as f64;
    assert!(times <= most, "{what}: {times:.2} times the body ({count} allocations), of {most} at most");
}

#[test]
fn a_call_over_stdio_takes_at_most_twelve_allocations() {
    assert_few("stdio", each(|calls| over_lines("echo", &short(), calls)), 12.0);
}

#[test]
fn a_call_over_http_takes_at_most_forty_allocations_with_those_of_hyper() {
    assert_few("http, legacy", each(|calls| over_http(Era::Legacy, "echo", &short(), calls)), 40.0);
    assert_few("http, modern", each(|calls| over_http(Era::Modern, "echo", &short(), calls)), 40.0);
}

#[test]
fn a_long_text_is_held_once() {
    assert_small("stdio", each(|calls| over_lines("measure_arguments", &long(), calls)), 0.1);
    assert_small("http, legacy", each(|calls| over_http(Era::Legacy, "measure_arguments", &long(), calls)), 1.3);
    assert_small("http, modern", each(|calls| over_http(Era::Modern, "measure_arguments", &long(), calls)), 1.3);
}

#[test]
fn a_function_that_owns_its_text_adds_just_that() {
    assert_small("stdio", each(|calls| over_lines("measure_text", &long(), calls)), 1.1);
    assert_small("http, modern", each(|calls| over_http(Era::Modern, "measure_text", &long(), calls)), 2.3);
}
