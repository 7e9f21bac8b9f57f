//! Lets the suite speak an older revision: its own client opens every handshake with 2025-11-25, also where the scenarios
//! of an older revision are asked for. A forwarder between it and our server writes the older one in its place; the server
//! then answers with that, and the suite's client follows.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::{Result, ensure};

/// What the suite's client offers.
pub(super) const OFFERED: &str = "2025-11-25";

/// The forwarder; it ends when dropped.
pub(super) struct Older {
    /// Where it listens.
    pub(super) port: u16,
    over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Older {
    /// Forwards to a port of the loopback, and says `revision` wherever the suite's own is said.
    pub(super) fn than_offered(revision: &str, server: u16) -> Result<Self> {
        ensure!(revision.len() == OFFERED.len(), "{revision} is no revision: its length would change every message");
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let over = Arc::new(AtomicBool::new(false));
        let (flag, revision) = (over.clone(), revision.to_owned());
        let accepting = thread::spawn(move || {
            for client in listener.incoming() {
                if flag.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(client) = client {
                    let _ = join(&client, server, &revision);
                }
            }
        });
        Ok(Self { port, over, accepting: Some(accepting) })
    }
}

impl Drop for Older {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        let _ = self.accepting.take().map(JoinHandle::join);
    }
}

/// Two threads, which end with their connection.
fn join(client: &TcpStream, server: u16, revision: &str) -> Result<()> {
    let server = TcpStream::connect(("127.0.0.1", server))?;
    server.set_nodelay(true)?;
    client.set_nodelay(true)?;
    let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
    let mut change = Change { revision: revision.as_bytes().to_vec(), held: Vec::new() };
    thread::spawn(move || pump(from_client, to_server, |bytes| change.apply(bytes)));
    let to_client = client.try_clone()?;
    thread::spawn(move || pump(server, to_client, <[u8]>::to_vec));
    Ok(())
}

fn pump(mut from: TcpStream, mut to: TcpStream, mut change: impl FnMut(&[u8]) -> Vec<u8>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if to.write_all(&change(&buffer[..length])).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}

/// Writes one revision for another in a stream of bytes.
struct Change {
    revision: Vec<u8>,
    /// The start of what is looked for, while its rest may still come.
    held: Vec<u8>,
}

impl Change {
    fn apply(&mut self, bytes: &[u8]) -> Vec<u8> {
        let wanted = OFFERED.as_bytes();
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut at = 0;
        while at + wanted.len() <= all.len() {
            if all[at..].starts_with(wanted) {
                all[at..at + wanted.len()].copy_from_slice(&self.revision);
                at += wanted.len();
            } else {
                at += 1;
            }
        }
        let begun = (1..wanted.len()).rev().find(|length| all.ends_with(&wanted[..*length])).unwrap_or(0);
        self.held = all.split_off(all.len() - begun);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_revision_is_changed_wherever_the_stream_is_cut() {
        let text = b"x2025-11-2025-11-25\r\n{\"protocolVersion\":\"2025-11-25\"} 2025-11-26.";
        for cut in 0..text.len() {
            let mut change = Change { revision: b"2025-06-18".to_vec(), held: Vec::new() };
            let mut told = change.apply(&text[..cut]);
            told.extend(change.apply(&text[cut..]));
            let told = String::from_utf8(told).unwrap();
            assert_eq!(told, "x2025-11-2025-06-18\r\n{\"protocolVersion\":\"2025-06-18\"} 2025-11-26.", "cut at {cut}");
        }
    }
}
