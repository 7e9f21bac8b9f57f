//! One plain-text page on the loopback, for a server that fetches pages.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Result;

/// A page that is served until this is dropped.
pub(crate) struct Page {
    port: u16,
    closed: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Page {
    /// Serves `text` at `/page.txt`; every other path is not found.
    pub(crate) fn serve(text: &'static str) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let closed = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&closed);
        let server = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if seen.load(Ordering::Acquire) {
                    return;
                }
                // A visitor who goes away early is no concern of ours.
                let _ = answer(stream, text);
            }
        });
        Ok(Self { port, closed, server: Some(server) })
    }

    /// Where the page is.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/page.txt", self.port)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Release);
        // A last visitor wakes the listener, which then sees that it is closed.
        let woken = TcpStream::connect(("127.0.0.1", self.port)).is_ok();
        if let Some(server) = self.server.take().filter(|_| woken) {
            let _ = server.join();
        }
    }
}

fn answer(mut stream: TcpStream, text: &str) -> Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let found = request.split_whitespace().nth(1) == Some("/page.txt");
    let (status, body) = if found { ("200 OK", text) } else { ("404 Not Found", "") };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )?;
    Ok(())
}
