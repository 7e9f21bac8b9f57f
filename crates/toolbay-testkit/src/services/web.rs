//! A web server for tests: one request a connection, a thread each, over when it is dropped.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// How long a client may keep a connection without saying anything.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of a body is read.
const MOST: u64 = 16 << 20;

/// A request that came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Its method.
    pub verb: String,
    /// Path and query.
    pub target: String,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: String,
}

impl Asked {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A document.
    Whole {
        /// The status.
        status: u16,
        /// Its media type.
        kind: &'static str,
        /// Further headers.
        headers: Vec<(&'static str, String)>,
        /// The document.
        body: String,
    },
    /// Events, name and data, after which the stream stays open until the service ends or the client leaves.
    Events(Vec<(String, String)>),
    /// A document piece by piece, as it comes about.
    Pieces {
        /// Its media type.
        kind: &'static str,
        /// What is sent at once, each.
        pieces: Vec<String>,
        /// How it ends.
        end: Ends,
    },
    /// Nothing, until the service ends or the client leaves.
    Silence,
}

/// How a document ends that comes piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// In good order.
    Whole,
    /// The connection breaks.
    Cut,
    /// Not, until the service ends or the client leaves.
    Open,
}

impl Reply {
    /// A JSON document.
    pub fn json(status: u16, body: impl ToString) -> Self {
        Self::Whole { status, kind: "application/json", headers: vec![], body: body.to_string() }
    }

    /// A redirect.
    pub fn redirect(status: u16, to: impl Into<String>) -> Self {
        Self::Whole { status, kind: "text/plain", headers: vec![("Location", to.into())], body: String::new() }
    }
}

/// A web server on a port of its own.
pub struct Web {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    answer: Box<dyn Fn(&Asked) -> Reply + Send + Sync>,
    asked: Mutex<Vec<Asked>>,
    over: AtomicBool,
}

impl Web {
    /// Serves what `answer` says.
    ///
    /// # Panics
    ///
    /// Where this machine has no port to give.
    pub fn serve(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port of this machine");
        let address = listener.local_addr().expect("it is bound");
        let shared =
            Arc::new(Shared { answer: Box::new(answer), asked: Mutex::default(), over: AtomicBool::new(false) });
        let serving = Arc::clone(&shared);
        let accepting = Some(thread::spawn(move || accept(&listener, &serving)));
        Self { address, shared, accepting }
    }

    /// Its address with this path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        // Wakes whoever waits for the next connection.
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            // A panic in it was told already.
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let (mut threads, mut open) = (vec![], vec![]);
    for stream in listener.incoming().flatten() {
        if shared.over.load(Ordering::Acquire) {
            break;
        }
        open.extend(stream.try_clone());
        let shared = Arc::clone(shared);
        // Whoever leaves in the middle is not waited for.
        threads.push(thread::spawn(move || {
            drop(serve(&stream, &shared));
            // It is kept until all is over, so dropping it closes nothing.
            drop(stream.shutdown(Shutdown::Both));
        }));
    }
    // Who was connected and never asked is not waited for.
    open.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    for thread in threads {
        let _ = thread.join();
    }
}

fn serve(mut out: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    out.set_read_timeout(Some(PATIENCE))?;
    let Some(asked) = read(out)? else { return Ok(()) };
    shared.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
    match (shared.answer)(&asked) {
        Reply::Whole { status, kind, headers, body } => {
            let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let length = body.len();
            write!(out, "HTTP/1.1 {status} Said\r\nContent-Type: {kind}\r\n{more}Content-Length: {length}\r\n")?;
            write!(out, "Connection: close\r\n\r\n{body}")?;
            out.flush()
        }
        Reply::Events(events) => {
            write!(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
            for (name, data) in events {
                write!(out, "event: {name}\ndata: {data}\n\n")?;
            }
            out.flush()?;
            stay(out, shared)
        }
        Reply::Pieces { kind, pieces, end } => {
            write!(out, "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n")?;
            write!(out, "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")?;
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                write!(out, "{:x}\r\n{piece}\r\n", piece.len())?;
                out.flush()?;
            }
            match end {
                Ends::Whole => write!(out, "0\r\n\r\n")?,
                Ends::Cut => {}
                Ends::Open => stay(out, shared)?,
            }
            out.flush()
        }
        Reply::Silence => stay(out, shared),
    }
}

/// Keeps the connection until its client leaves, or all is over.
fn stay(mut stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(20)))?;
    let mut nothing = [0];
    while !shared.over.load(Ordering::Acquire) {
        match stream.read(&mut nothing) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn read(stream: &TcpStream) -> std::io::Result<Option<Asked>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(verb), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let mut asked = Asked { verb, target, ..Asked::default() };
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        asked.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = asked.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    reader.take(length.min(MOST)).read_to_string(&mut asked.body)?;
    Ok(Some(asked))
}
