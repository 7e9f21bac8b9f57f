//! Connections that end early, stay open or are slow; what is left of them afterwards.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::stand::{Case, Scope, Stand, open_files, status_kib};
use crate::faults::case::Skip;
use crate::faults::http::Wire;
use crate::faults::link::{Link, PATIENCE, Web};
use crate::faults::wire::{Talk, request};

/// Every case of this room.
pub(super) const CASES: &[Case] = &[
    Case::new(
        "client-leaves",
        Scope::Http,
        "20 clients that leave during 60 s calls leave no open file, and the next call works",
        leaves,
    ),
    Case::new("half-a-body", Scope::Http, "a client that leaves within its body leaves nothing behind", half_a_body),
    Case::new(
        "connections-dropped",
        Scope::Http,
        "200 connections opened and dropped leave the open files as they were",
        dropped,
    ),
    Case::new(
        "listen-closed",
        Scope::Http,
        "a listening stream that its client closes is over, and another can be opened",
        listen_closed,
    ),
    Case::new(
        "sessions-many",
        Scope::HttpHandshake,
        "200 sessions deleted leave no open file and at most 16 MiB",
        sessions,
    ),
];

const SETTLE: Duration = Duration::from_secs(20);

fn pid(stand: &Stand) -> Result<u32> {
    stand.house_pid().context("the server is gone")
}

fn leaves(stand: &Stand) -> Result<String> {
    let slow = stand.slow(60_000)?;
    let web = stand.session()?;
    let mut link = Link::Web(web.clone());
    link.alive(&stand.echo())?;
    let before = open_files(pid(stand)?);
    for id in 0..20 {
        let mut wire = Wire::open(web.port, PATIENCE)?;
        let body = request(web.talk, &(100 + id).to_string(), "tools/call", slow.params());
        wire.send(&web.post_bytes(body.as_bytes(), &[]))?;
        // The call has begun once another one is answered.
        if id % 5 == 0 {
            link.alive(&stand.echo())?;
        }
    }
    let seen = stand.settles(before, SETTLE)?;
    link.alive(&stand.echo())?;
    Ok(seen)
}

fn half_a_body(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    Link::Web(web.clone()).alive(&stand.echo())?;
    let before = open_files(pid(stand)?);
    for _ in 0..20 {
        let bytes = web.post_bytes(request(web.talk, "1", "tools/call", stand.echo().params()).as_bytes(), &[]);
        let mut wire = Wire::open(web.port, PATIENCE)?;
        wire.send(&bytes[..bytes.len() - 20])?;
        wire.finish();
    }
    let seen = stand.settles(before, SETTLE)?;
    Link::Web(web).alive(&stand.echo())?;
    Ok(seen)
}

fn dropped(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    Link::Web(web.clone()).alive(&stand.echo())?;
    let before = open_files(pid(stand)?);
    let all: Vec<Wire> = (0..200).map(|_| Wire::open(web.port, PATIENCE)).collect::<Result<_>>()?;
    Link::Web(web.clone()).alive(&stand.echo()).context("with 200 connections open")?;
    drop(all);
    let seen = stand.settles(before, SETTLE)?;
    Link::Web(web).alive(&stand.echo())?;
    Ok(seen)
}

fn listen(web: &Web) -> Result<(Wire, u16)> {
    let mut wire = Wire::open(web.port, PATIENCE)?;
    if web.talk == Talk::Envelope {
        let params = json!({ "notifications": { "toolsListChanged": true } });
        let body = request(web.talk, "\"listen\"", "subscriptions/listen", params);
        wire.send(&web.post_bytes(body.as_bytes(), &[]))?;
    } else {
        let mut fields = web.fields(b"");
        fields.retain(|(name, _)| name != "Content-Type" && name != "Accept");
        fields.push(("Accept".into(), "text/event-stream".into()));
        wire.send(&web.head("GET", &fields))?;
    }
    let status = wire.head()?.status;
    Ok((wire, status))
}

fn listen_closed(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    Link::Web(web.clone()).alive(&stand.echo())?;
    let before = open_files(pid(stand)?);
    for round in 0..10 {
        let mut status = 0;
        // The server may notice only after a moment that the last one is closed.
        let opened = crate::child::wait_until(SETTLE, || {
            let opened = listen(&web);
            status = opened.as_ref().map_or(0, |(_, status)| *status);
            status == 200 || status == 405
        });
        if matches!(status, 404 | 405) {
            return Err(Skip("it offers no listening stream").into());
        }
        ensure!(opened, "round {round}: the stream is answered {status}");
    }
    let seen = stand.settles(before, SETTLE)?;
    Link::Web(web).alive(&stand.echo())?;
    Ok(seen)
}

fn sessions(stand: &Stand) -> Result<String> {
    let first = stand.session()?;
    let Some(_) = first.session else { return Err(Skip("it keeps no sessions").into()) };
    let (files, memory) = (open_files(pid(stand)?), status_kib(pid(stand)?, "VmRSS"));
    for _ in 0..200 {
        let web = stand.session()?;
        let id = web.session.clone().unwrap_or_default();
        web.bare("DELETE", &[("Mcp-Session-Id", &id), ("MCP-Protocol-Version", crate::faults::wire::HANDSHAKE)])?;
    }
    let seen = stand.settles(files, SETTLE)?;
    let grown = status_kib(pid(stand)?, "VmRSS").saturating_sub(memory) / 1024;
    ensure!(grown <= 16, "{grown} MiB more");
    Ok(format!("{seen}, {grown} MiB more"))
}
