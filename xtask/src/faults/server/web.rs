//! Heads and bodies of HTTP that a server must refuse, or must not.

use anyhow::{Result, bail, ensure};

use super::stand::{Case, Scope, Stand};
use crate::faults::http::{Until, Wire};
use crate::faults::link::{Link, PATIENCE, Web};
use crate::faults::targets::Call;
use crate::faults::wire::{self, Answer, request};

/// Every case of this room.
pub(super) const CASES: &[Case] = &[
    Case::new(
        "text-plain",
        Scope::Http,
        "a POST of text/plain is refused with 415: a browser may send that unasked",
        |stand| typed(stand, Some("text/plain")),
    ),
    Case::new("form-body", Scope::Http, "a POST of a form is refused with 415", |stand| {
        typed(stand, Some("application/x-www-form-urlencoded"))
    }),
    Case::new("no-content-type", Scope::Http, "a POST without a content type is refused", |stand| typed(stand, None)),
    Case::new("charset", Scope::Http, "`application/json; charset=utf-8` is JSON", charset),
    Case::new("accept-anything", Scope::Http, "`Accept: */*` is served", |stand| accepts(stand, Some("*/*"))),
    Case::new("accept-unsaid", Scope::Http, "a POST without `Accept` is served", |stand| accepts(stand, None)),
    Case::new("bad-origin", Scope::Http, "a foreign Origin is refused with 403", bad_origin),
    Case::new("null-origin", Scope::Http, "the Origin `null` is refused with 403", null_origin),
    Case::new(
        "bad-host",
        Scope::Http,
        "a foreign Host is refused: the address of a name can be changed to ours",
        bad_host,
    ),
    Case::new("wrong-verbs", Scope::Http, "PUT, PATCH and HEAD are refused with 4xx", wrong_verbs),
    Case::new("get-without-session", Scope::Http, "GET without a session is refused with 4xx", |stand| {
        sessionless(stand, "GET")
    }),
    Case::new("delete-without-session", Scope::Http, "DELETE without a session is refused with 4xx", |stand| {
        sessionless(stand, "DELETE")
    }),
    Case::new("unknown-path", Scope::Http, "another path is answered 404", unknown_path),
    Case::new(
        "session-missing",
        Scope::HttpHandshake,
        "a request without its session is refused with 400",
        session_missing,
    ),
    Case::new("session-unknown", Scope::HttpHandshake, "an unknown session is answered 404", session_unknown),
    Case::new(
        "session-deleted",
        Scope::HttpHandshake,
        "a deleted session is answered 404 (where DELETE is refused with 405, it lives)",
        session_deleted,
    ),
    Case::new(
        "session-of-bytes",
        Scope::HttpHandshake,
        "a session id of strange characters is refused with 4xx",
        session_of_bytes,
    ),
    Case::new(
        "bad-version-header",
        Scope::HttpHandshake,
        "an unknown MCP-Protocol-Version is refused with 400",
        bad_version_header,
    ),
    Case::new(
        "header-mismatch",
        Scope::HttpEnvelope,
        "a header that contradicts the body is answered 400, −32020",
        mismatch,
    ),
    Case::new(
        "header-missing",
        Scope::HttpEnvelope,
        "a missing mirrored header is answered 400, −32020",
        missing_header,
    ),
    Case::new(
        "envelope-missing",
        Scope::HttpEnvelope,
        "an envelope without the client's capabilities is answered 400, −32602",
        no_envelope,
    ),
    Case::new(
        "unknown-version",
        Scope::HttpEnvelope,
        "an unknown revision is answered 400, −32022, with the known ones",
        unknown_version,
    ),
    Case::new(
        "oversized-body",
        Scope::Http,
        "a body of 80 MiB is answered 413, or the connection closed, before it is read",
        oversized,
    ),
    Case::new("oversized-chunks", Scope::Http, "the same without a length", oversized_chunks),
    Case::new("header-bomb", Scope::Http, "1 MiB of headers is refused, and the server goes on", header_bomb),
    Case::new("many-headers", Scope::Http, "2,000 headers are refused, and the server goes on", many_headers),
    Case::new(
        "length-and-chunks",
        Scope::Http,
        "a head with both a length and chunks is refused or closed: two readers would see two requests",
        smuggled,
    ),
    Case::new("two-lengths", Scope::Http, "two different lengths are refused", two_lengths),
    Case::new("expect-continue", Scope::Http, "`Expect: 100-continue` is answered", expect_continue),
    Case::new("chunked-body", Scope::Http, "a body in small chunks is served", chunked),
    Case::new(
        "not-http",
        Scope::Http,
        "bytes that are not HTTP close the connection, and the server goes on",
        not_http,
    ),
];

fn call(stand: &Stand) -> String {
    request(stand.target.talk, "1", "tools/call", stand.echo().params())
}

const REFUSED: std::ops::Range<u16> = 400..500;

fn refused(answer: &Answer) -> Result<String> {
    match answer.status {
        Some(status) if REFUSED.contains(&status) => Ok(answer.told()),
        _ => bail!("answered {}", answer.told()),
    }
}

fn alive(stand: &Stand) -> Result<()> {
    Link::Web(stand.session()?).alive(&stand.echo())
}

fn typed(stand: &Stand, kind: Option<&str>) -> Result<String> {
    let answer = stand.session()?.post(call(stand).as_bytes(), &[("Content-Type", kind)])?;
    if kind.is_some() { answer.status(&[415]) } else { refused(&answer) }
}

fn charset(stand: &Stand) -> Result<String> {
    let change = [("Content-Type", Some("Application/JSON; Charset=\"UTF-8\""))];
    stand.session()?.post(call(stand).as_bytes(), &change)?.served()
}

fn accepts(stand: &Stand, accept: Option<&str>) -> Result<String> {
    stand.session()?.post(call(stand).as_bytes(), &[("Accept", accept)])?.served()
}

fn bad_origin(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let near = format!("http://127.0.0.1:{}.evil.example", web.port);
    let mut seen = String::new();
    for origin in ["http://evil.example", &near, "http://127.0.0.1.evil.example"] {
        seen = web.post(call(stand).as_bytes(), &[("Origin", Some(origin))])?.status(&[403])?;
    }
    Ok(seen)
}

fn null_origin(stand: &Stand) -> Result<String> {
    stand.session()?.post(call(stand).as_bytes(), &[("Origin", Some("null"))])?.status(&[403])
}

fn bad_host(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let mut seen = String::new();
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"] {
        seen = refused(&web.post(call(stand).as_bytes(), &[("Host", Some(host))])?)?;
    }
    Ok(seen)
}

fn wrong_verbs(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let mut seen = Vec::new();
    for verb in ["PUT", "PATCH", "HEAD"] {
        let mut wire = Wire::open(web.port, PATIENCE)?;
        wire.send(&web.head(verb, &[web.fields(b"")[0].clone(), ("Content-Length".into(), "0".into())]))?;
        let status = wire.head()?.status;
        ensure!(REFUSED.contains(&status), "{verb} is answered {status}");
        seen.push(status.to_string());
    }
    Ok(seen.join(" "))
}

fn sessionless(stand: &Stand, verb: &str) -> Result<String> {
    let web = stand.web()?;
    let mut wire = Wire::open(web.port, PATIENCE)?;
    let fields = [web.fields(b"")[0].clone(), ("Accept".to_owned(), "text/event-stream".to_owned())];
    wire.send(&web.head(verb, &fields))?;
    let status = wire.head()?.status;
    if REFUSED.contains(&status) { Ok(status.to_string()) } else { bail!("answered {status}") }
}

fn unknown_path(stand: &Stand) -> Result<String> {
    Web { path: "/nowhere", ..stand.session()? }.post(call(stand).as_bytes(), &[])?.status(&[404])
}

/// A session, or the note that this server keeps none.
fn session(stand: &Stand) -> Result<(Web, String)> {
    let web = stand.session()?;
    match web.session.clone() {
        Some(session) => Ok((web, session)),
        None => Err(crate::faults::case::Skip("it keeps no sessions").into()),
    }
}

fn session_missing(stand: &Stand) -> Result<String> {
    session(stand)?.0.post(call(stand).as_bytes(), &[("Mcp-Session-Id", None)])?.status(&[400])
}

fn session_unknown(stand: &Stand) -> Result<String> {
    let (web, id) = session(stand)?;
    let other: String = id.chars().rev().collect();
    web.post(call(stand).as_bytes(), &[("Mcp-Session-Id", Some(&other))])?.status(&[404])
}

fn session_of_bytes(stand: &Stand) -> Result<String> {
    let (web, _) = session(stand)?;
    refused(&web.post(call(stand).as_bytes(), &[("Mcp-Session-Id", Some("\u{e9}\t../../x"))])?)
}

fn session_deleted(stand: &Stand) -> Result<String> {
    let (web, id) = session(stand)?;
    let gone = web.bare("DELETE", &[("Mcp-Session-Id", &id), ("MCP-Protocol-Version", wire::HANDSHAKE)])?;
    if gone.status == Some(405) {
        return Ok("DELETE is refused".to_owned());
    }
    web.post(call(stand).as_bytes(), &[])?.status(&[404])
}

fn bad_version_header(stand: &Stand) -> Result<String> {
    stand.session()?.post(call(stand).as_bytes(), &[("MCP-Protocol-Version", Some("1999-01-01"))])?.status(&[400])
}

fn mismatch(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let mut seen = String::new();
    for (field, value) in
        [("Mcp-Method", "tools/list"), ("Mcp-Name", "another"), ("MCP-Protocol-Version", "2025-11-25")]
    {
        let answer = web.post(call(stand).as_bytes(), &[(field, Some(value))])?;
        seen = answer.refused(&[-32020], &[400]).map_err(|error| error.context(field))?;
    }
    Ok(seen)
}

fn missing_header(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let mut seen = String::new();
    for field in ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"] {
        let answer = web.post(call(stand).as_bytes(), &[(field, None)])?;
        seen = answer.refused(&[-32020], &[400]).map_err(|error| error.context(field))?;
    }
    Ok(seen)
}

fn no_envelope(stand: &Stand) -> Result<String> {
    let body = call(stand).replace("io.modelcontextprotocol/clientCapabilities", "example.com/nothing");
    stand.session()?.post(body.as_bytes(), &[])?.refused(&[-32602], &[400])
}

fn unknown_version(stand: &Stand) -> Result<String> {
    let body = call(stand).replace(wire::ENVELOPE, "v999.0.0");
    let answer = stand.session()?.post(body.as_bytes(), &[("MCP-Protocol-Version", Some("v999.0.0"))])?;
    let data = answer.json()["error"]["data"].clone();
    ensure!(data["requested"] == "v999.0.0", "answered {}", answer.told());
    ensure!(data["supported"].as_array().is_some_and(|known| !known.is_empty()), "answered {}", answer.told());
    answer.refused(&[-32022], &[400])
}

/// Refused, or closed; the server goes on.
fn turned_away(stand: &Stand, mut wire: Wire, sent: Result<()>, statuses: &[u16]) -> Result<String> {
    let seen = match (wire.head(), sent) {
        (Ok(head), _) if statuses.contains(&head.status) => head.status.to_string(),
        (Ok(head), _) => bail!("answered {}", head.status),
        (Err(error), _) if error.to_string().contains("within the time") => bail!("neither answered nor closed"),
        (Err(_), _) => "closed".to_owned(),
    };
    alive(stand)?;
    Ok(seen)
}

fn oversized(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let mut wire = Wire::open(web.port, PATIENCE)?;
    let call: Call = stand.tools.echo("x");
    let mut fields = web.fields(request(web.talk, "1", "tools/call", call.params()).as_bytes());
    fields.push(("Content-Length".into(), (80 << 20).to_string()));
    let mut sent = wire.send(&web.head("POST", &fields));
    let piece = vec![b' '; 1 << 20];
    for _ in 0..80 {
        if sent.is_ok() {
            sent = wire.send(&piece);
        }
    }
    turned_away(stand, wire, sent, &[413])
}

fn oversized_chunks(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let mut wire = Wire::open(web.port, PATIENCE)?;
    let mut fields = web.fields(call(stand).as_bytes());
    fields.push(("Transfer-Encoding".into(), "chunked".into()));
    let mut sent = wire.send(&web.head("POST", &fields));
    let piece = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
    for _ in 0..80 {
        if sent.is_ok() {
            sent = wire.send(&piece);
        }
    }
    if sent.is_ok() {
        sent = wire.send(b"0\r\n\r\n");
    }
    turned_away(stand, wire, sent, &[413])
}

fn header_bomb(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let bytes = web.post_bytes(call(stand).as_bytes(), &[("X-Bomb", Some(&"x".repeat(1 << 20)))]);
    let mut wire = Wire::open(web.port, PATIENCE)?;
    let sent = wire.send(&bytes);
    turned_away(stand, wire, sent, &[400, 413, 431])
}

fn many_headers(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let mut fields = web.fields(call(stand).as_bytes());
    fields.extend((0..2000).map(|at| (format!("X-{at}"), "x".to_owned())));
    fields.push(("Content-Length".into(), call(stand).len().to_string()));
    let mut wire = Wire::open(web.port, PATIENCE)?;
    let sent = wire.send(&[web.head("POST", &fields), call(stand).into_bytes()].concat());
    turned_away(stand, wire, sent, &[400, 413, 431])
}

fn smuggled(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let body = call(stand);
    let mut fields = web.fields(body.as_bytes());
    fields.push(("Content-Length".into(), "5".into()));
    fields.push(("Transfer-Encoding".into(), "chunked".into()));
    let chunk = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let mut wire = Wire::open(web.port, PATIENCE)?;
    wire.send(&[web.head("POST", &fields), chunk.into_bytes()].concat())?;
    let seen = match wire.answer(Until::Answer) {
        Ok((head, _)) if REFUSED.contains(&head.status) => head.status.to_string(),
        // RFC 9112 lets a server take the chunks, if it then closes the connection.
        Ok((head, _)) if wire.closed_within(PATIENCE) => format!("{}, then closed", head.status),
        Ok((head, _)) => bail!("answered {} and kept the connection", head.status),
        Err(error) => error.to_string(),
    };
    alive(stand)?;
    Ok(seen)
}

fn two_lengths(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let mut fields = web.fields(call(stand).as_bytes());
    fields.push(("Content-Length".into(), "5".into()));
    fields.push(("Content-Length".into(), call(stand).len().to_string()));
    let mut wire = Wire::open(web.port, PATIENCE)?;
    let sent = wire.send(&[web.head("POST", &fields), call(stand).into_bytes()].concat());
    turned_away(stand, wire, sent, &[400])
}

fn expect_continue(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let body = call(stand);
    let bytes = web.post_bytes(body.as_bytes(), &[("Expect", Some("100-continue"))]);
    let mut wire = Wire::open(web.port, PATIENCE)?;
    wire.send(&bytes[..bytes.len() - body.len()])?;
    wire.send(body.as_bytes())?;
    wire.answer(Until::Answer)?.1.served()
}

fn chunked(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    let mut fields = web.fields(call(stand).as_bytes());
    fields.push(("Transfer-Encoding".into(), "chunked".into()));
    let mut wire = Wire::open(web.port, PATIENCE)?;
    wire.send(&web.head("POST", &fields))?;
    for byte in call(stand).bytes() {
        wire.send(&[b"1;x=y\r\n".as_slice(), &[byte], b"\r\n"].concat())?;
    }
    wire.send(b"0\r\n\r\n")?;
    wire.answer(Until::Answer)?.1.served()
}

fn not_http(stand: &Stand) -> Result<String> {
    let web = stand.session()?;
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".as_slice(),
        &[0; 4096],
        b"{\"jsonrpc\":\"2.0\"}\r\n\r\n",
    ] {
        let mut wire = Wire::open(web.port, PATIENCE)?;
        let _ = wire.send(bytes);
        ensure!(wire.closed_within(PATIENCE), "the connection stays open");
    }
    alive(stand)?;
    Ok("closed".to_owned())
}
