//! One request under observation: from when it is taken in until its ticket is closed, with the part that its server has in
//! it.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use toolbay_protocol::{Method, Raw, exchange::Outcome, frame::Part as Member};
use toolbay_transport::Request;

use super::{
    context::{Context, SpanId},
    desk::Desk,
    labels::{Failed, Labels, Network},
    span::{Side, Span, Status},
};
use crate::{
    audit::End,
    config::{Endpoint, Setup},
    servers::Server,
};

/// One request under observation.
#[derive(Debug)]
pub(crate) struct Trace {
    desk: Arc<Desk>,
    /// The caller's side of it, and its server's.
    here: Part,
    there: Option<Part>,
    /// That server, where it was not connected when it was named: what it speaks is known later.
    unmet: Option<Arc<Server>>,
    /// What the spans of both are to be called; nothing where the trace is not recorded.
    contexts: Option<[Context; 2]>,
    parent: Option<SpanId>,
    link: Option<Box<Context>>,
    /// Said of the span of the caller's side alone.
    more: Vec<(&'static str, String)>,
    failure: Option<Failure>,
}

/// One side of it.
#[derive(Debug)]
struct Part {
    labels: Labels,
    begun: (SystemTime, Instant),
}

#[derive(Debug)]
enum Failure {
    Said(String),
    Tool,
}

/// How much of a URI, and of the message of an error, is kept: many of them may wait to be delivered.
const URI: usize = 256;
const MESSAGE: usize = 512;

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn now() -> (SystemTime, Instant) {
    (SystemTime::now(), Instant::now())
}

impl Trace {
    /// Begins to observe a request, which goes on as part of its trace: `_meta` says so to its server.
    pub(super) fn begin(desk: &Arc<Desk>, request: &mut Request) -> Self {
        let begun = now();
        let (of_meta, of_headers) = (Context::of_meta(request), Context::of_headers(request));
        // What the transport says is only of interest where the message says something else.
        let link = of_headers.clone().filter(|headers| of_meta.as_ref().is_some_and(|meta| meta != headers));
        let parent = of_meta.or(of_headers);
        let contexts = desk.contexts(parent.as_ref());
        if let Some([_, there]) = &contexts
            // A caller that keeps its trace out is passed on as it wrote it.
            && (there.is_sampled() || parent.is_none())
        {
            request.rewrite(there.put_into(&request.params));
        }
        let caller = &request.caller;
        let labels = Labels {
            method: request.method.clone(),
            target: None,
            revision: caller.introduction.revision,
            network: if request.headers.map().is_some() { Network::Tcp } else { Network::Pipe },
            server: None,
            address: None,
            failure: None,
        };
        let mut more = vec![];
        if let Some(session) = &caller.session {
            more.push(("mcp.session.id", session.to_string()));
        }
        if request.method == Method::ResourcesRead
            && let Some(uri) = request.part(Member::Uri).as_ref().and_then(Raw::as_text)
        {
            more.push(("mcp.resource.uri", cut(&uri, URI)));
        }
        let contexts = contexts.filter(|[here, _]| here.is_sampled());
        let here = Part { labels, begun };
        Self {
            desk: Arc::clone(desk),
            here,
            there: None,
            unmet: None,
            contexts,
            parent: parent.map(|parent| parent.span),
            link: link.map(Box::new),
            more,
            failure: None,
        }
    }

    /// It is known what is meant: `public` of the caller's parameters is what `server` knows by `params`.
    pub(crate) fn calls(&mut self, server: &Arc<Server>, public: &Raw, params: &Raw) {
        let name = |params: &Raw| match &self.here.labels.method {
            Method::ToolsCall | Method::PromptsGet => params.get("name").as_ref().and_then(Raw::as_text).map(Arc::from),
            _ => None,
        };
        let (public, own) = (name(public), name(params));
        self.here.labels.target = public;
        self.here.labels.server = Some(Arc::clone(&server.spec.name));
        let (network, address) = reached(server);
        let revision = server.meeting().map_or(self.here.labels.revision, |meeting| meeting.revision);
        let labels = Labels { target: own, revision, network, address, ..self.here.labels.clone() };
        self.there = Some(Part { labels, begun: now() });
        self.unmet = server.meeting().is_none().then(|| Arc::clone(server));
    }

    /// What it came to, in the caller's words.
    pub(crate) fn comes_to(&mut self, outcome: &Outcome) {
        self.failure = match outcome {
            Err(error) => Some(Failure::Said(cut(&error.message, MESSAGE))),
            Ok(result) if self.here.labels.method == Method::ToolsCall => {
                result.get("isError").filter(|flag| flag.as_bytes() == b"true").map(|_| Failure::Tool)
            }
            Ok(_) => None,
        };
    }

    /// It is over.
    pub(crate) fn close(mut self, end: &End, took: Duration) {
        let failed = match (end, &self.failure) {
            (End::Failed(code), _) => Some(Failed::Code(*code)),
            (End::Done, Some(Failure::Tool)) => Some(Failed::Tool),
            (End::Abandoned, _) => Some(Failed::Cancelled),
            (End::Done, _) | (End::Asked, _) => None,
        };
        let status = match (&failed, self.failure.take()) {
            (Some(Failed::Code(_)), Some(Failure::Said(why))) => Status::Failed(why),
            (Some(Failed::Code(_) | Failed::Tool), _) => Status::Failed(String::new()),
            (Some(Failed::Cancelled) | None, _) => Status::Unset,
        };
        let outcome = match end {
            End::Done => "done",
            End::Failed(_) => "failed",
            End::Asked => "asked",
            End::Abandoned => "abandoned",
        };
        let [here, there] = match self.contexts.take() {
            Some(contexts) => contexts.map(Some),
            None => [None, None],
        };
        if let Some(mut part) = self.there.take() {
            if let Some(met) = self.unmet.take().and_then(|server| server.last_meeting()) {
                part.labels.revision = met.revision;
            }
            part.labels.failure.clone_from(&failed);
            let parent = here.as_ref().map(|here| here.span);
            let took = part.begun.1.elapsed();
            let span = there.map(|context| Recorded { context, parent, link: None, more: vec![], outcome: None });
            self.tell(Side::Client, part, took, span, status.clone());
        }
        let mut part = Part { labels: self.here.labels.clone(), begun: self.here.begun };
        part.labels.failure = failed;
        let (parent, link, more) = (self.parent, self.link.take(), std::mem::take(&mut self.more));
        let span = here.map(|context| Recorded { context, parent, link, more, outcome: Some(outcome) });
        self.tell(Side::Server, part, took, span, status);
    }

    fn tell(&self, side: Side, part: Part, took: Duration, span: Option<Recorded>, status: Status) {
        let Part { labels, begun: (begun, _) } = part;
        let labels = match span {
            Some(Recorded { context, parent, link, more, outcome }) => {
                let kept = labels.clone();
                self.desk.hand_over(Span { context, parent, link, side, begun, took, labels, more, outcome, status });
                kept
            }
            None => labels,
        };
        if self.desk.settings.numbers.is_some() {
            self.desk.durations.count(side, labels, took);
        }
    }
}

/// What a recorded span has beside what it shares with a number.
struct Recorded {
    context: Context,
    parent: Option<SpanId>,
    link: Option<Box<Context>>,
    more: Vec<(&'static str, String)>,
    outcome: Option<&'static str>,
}

/// How a server is reached, and where, as far as it is on a network.
fn reached(server: &Server) -> (Network, Option<(Arc<str>, u16)>) {
    let written = server.written();
    let endpoint = match written.as_ref().map(|written| &written.setup) {
        Some(Setup::Ready(endpoint)) => endpoint,
        Some(Setup::Disabled | Setup::Broken(_)) | None => return (Network::None, None),
    };
    let remote = match endpoint {
        Endpoint::Child(_) => return (Network::Pipe, None),
        Endpoint::Http(remote) | Endpoint::Sse(remote) => remote,
        Endpoint::Service(service) => &service.remote,
    };
    let uri = remote.url.uri();
    let usual = if remote.url.is_encrypted() { 443 } else { 80 };
    let host = uri.host().map(|host| host.trim_matches(['[', ']']));
    (Network::Tcp, host.map(|host| (host.into(), uri.port_u16().unwrap_or(usual))))
}
