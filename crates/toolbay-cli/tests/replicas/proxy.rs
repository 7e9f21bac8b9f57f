//! A plain proxy: it sends what comes to one replica after the other, and looks at nothing but, where it is told to, the
//! header that names a session.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::task::AbortOnDropHandle;

/// What the next replica is given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turns {
    /// Each request.
    Requests,
    /// Each connection.
    Connections,
    /// Each request that names no session; those that do go where their session was opened.
    Sessions,
}

/// The proxy, until it is dropped.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    road: Arc<Road>,
    _task: AbortOnDropHandle<()>,
}

struct Road {
    turns: Turns,
    replicas: Vec<String>,
    /// Where each request, or connection, went.
    went: Mutex<Vec<usize>>,
    sessions: Mutex<HashMap<String, usize>>,
    next: AtomicUsize,
}

impl Proxy {
    pub(crate) async fn before(replicas: &[String], turns: Turns) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (went, sessions, next) = (Mutex::default(), Mutex::default(), AtomicUsize::new(0));
        let road = Arc::new(Road { turns, replicas: replicas.to_vec(), went, sessions, next });
        let roads = Arc::clone(&road);
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let road = Arc::clone(&roads);
                // Whoever is cut off in the middle finds out.
                open.spawn(async move { road.carry(client).await.unwrap_or_default() });
            }
        });
        Self { address, road, _task: AbortOnDropHandle::new(task) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Where everything went since this was asked last.
    pub(crate) fn went(&self) -> Vec<usize> {
        std::mem::take(&mut self.road.went.lock().unwrap())
    }
}

impl Road {
    fn turn(&self, session: Option<&str>) -> usize {
        let known = session.and_then(|session| self.sessions.lock().unwrap().get(session).copied());
        let place = known.unwrap_or_else(|| self.next.fetch_add(1, Ordering::Relaxed) % self.replicas.len());
        self.went.lock().unwrap().push(place);
        place
    }

    async fn carry(&self, mut client: TcpStream) -> io::Result<()> {
        if self.turns == Turns::Connections {
            let mut replica = TcpStream::connect(&self.replicas[self.turn(None)]).await?;
            return copy_bidirectional(&mut client, &mut replica).await.map(drop);
        }
        let (head, body) = head(&mut client).await?;
        let session = header(&head, "mcp-session-id").filter(|_| self.turns == Turns::Sessions);
        let place = self.turn(session.as_deref());
        let mut replica = TcpStream::connect(&self.replicas[place]).await?;
        // One request on a connection, so that the next one is free to go elsewhere.
        let head: Vec<&str> =
            head.lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:")).collect();
        replica.write_all(format!("{}\r\nConnection: close\r\n\r\n", head.join("\r\n")).as_bytes()).await?;
        replica.write_all(&body).await?;
        let ((mut from_client, mut to_client), (mut from_replica, mut to_replica)) = (client.split(), replica.split());
        let answer = async {
            let (head, body) = self::head(&mut from_replica).await?;
            if let Some(session) = header(&head, "mcp-session-id") {
                self.sessions.lock().unwrap().insert(session, place);
            }
            to_client.write_all(format!("{head}\r\n\r\n").as_bytes()).await?;
            to_client.write_all(&body).await?;
            copy(&mut from_replica, &mut to_client).await
        };
        tokio::select! {
            answered = answer => answered.map(drop),
            // A client that goes away takes its request along.
            sent = copy(&mut from_client, &mut to_replica) => sent.map(drop),
        }
    }
}

/// Reads a head, and what came along of the body.
async fn head(from: &mut (impl tokio::io::AsyncRead + Unpin)) -> io::Result<(String, Vec<u8>)> {
    let mut text = vec![];
    loop {
        if let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") {
            let body = text.split_off(end + 4);
            text.truncate(end);
            return Ok((String::from_utf8_lossy(&text).into_owned(), body));
        }
        if from.read_buf(&mut text).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn header(head: &str, name: &str) -> Option<String> {
    let (_, value) =
        head.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.eq_ignore_ascii_case(name))?;
    Some(value.trim().to_owned())
}
