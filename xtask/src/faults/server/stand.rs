//! Where a case is tried: a server in a known state, and what the case may ask of it.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use regex::Regex;

use super::{calls, ends, messages, streams, web};
use crate::child;
use crate::faults::case::{Line, Report, Skip, Verdict};
use crate::faults::http::Wire;
use crate::faults::link::Link;
use crate::faults::pipe::Pipe;
use crate::faults::targets::{Call, House, Target, Tools, Way};
use crate::faults::wire::Talk;
use crate::procs;

/// Where a case makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Any,
    Stdio,
    Http,
    Handshake,
    StdioHandshake,
    HttpHandshake,
    HttpEnvelope,
}

impl Scope {
    fn fits(self, way: Way, talk: Talk) -> bool {
        match self {
            Self::Any => true,
            Self::Stdio => way == Way::Stdio,
            Self::Http => way == Way::Http,
            Self::Handshake => talk == Talk::Handshake,
            Self::StdioHandshake => way == Way::Stdio && talk == Talk::Handshake,
            Self::HttpHandshake => way == Way::Http && talk == Talk::Handshake,
            Self::HttpEnvelope => way == Way::Http && talk == Talk::Envelope,
        }
    }
}

/// One case.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) right: &'static str,
    pub(super) scope: Scope,
    pub(super) run: fn(&Stand) -> Result<String>,
}

impl Case {
    pub(super) const fn new(
        name: &'static str,
        scope: Scope,
        right: &'static str,
        run: fn(&Stand) -> Result<String>,
    ) -> Self {
        Self { name, right, scope, run }
    }
}

/// A server in a known state.
pub(super) struct Stand<'a> {
    pub(super) target: &'a Target,
    pub(super) tools: Tools,
    binary: &'a Path,
    house: RefCell<Option<House>>,
    /// A connection that began to send a head when the stand was made, and since when.
    dawdler: RefCell<Option<(Wire, Instant)>>,
}

impl<'a> Stand<'a> {
    fn new(target: &'a Target, binary: &'a Path) -> Result<Self> {
        let stand =
            Self { target, tools: target.tools, binary, house: RefCell::new(None), dawdler: RefCell::new(None) };
        if target.way == Way::Http {
            let web = stand.web()?;
            let mut wire = Wire::open(web.port, Duration::from_secs(150))?;
            wire.send(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow")?;
            *stand.dawdler.borrow_mut() = Some((wire, Instant::now()));
        }
        Ok(stand)
    }

    /// A call that gives a text back.
    pub(super) fn echo(&self) -> Call {
        self.tools.echo("ahoy there")
    }

    /// A call that takes so long, where the server has such a tool.
    pub(super) fn slow(&self, ms: u32) -> Result<Call> {
        Ok(self.tools.slow(ms).ok_or(Skip("it offers no slow tool"))?)
    }

    /// A greeted conversation: a child of its own, or a session of its own.
    pub(super) fn link(&self) -> Result<Link> {
        match self.target.way {
            Way::Stdio => self.target.greeted(self.binary),
            Way::Http => {
                let mut web = self.web()?;
                web.greet()?;
                Ok(Link::Web(web))
            }
        }
    }

    /// A child that was not greeted.
    pub(super) fn pipe(&self) -> Result<Pipe> {
        self.target.pipe(self.binary)
    }

    /// A greeted child.
    pub(super) fn greeted_pipe(&self) -> Result<Pipe> {
        match self.target.greeted(self.binary)? {
            Link::Pipe(pipe, ..) => Ok(*pipe),
            Link::Web(_) => bail!("this case is for stdio"),
        }
    }

    /// The HTTP server, started anew where a case has ended it; without a session.
    pub(super) fn web(&self) -> Result<crate::faults::link::Web> {
        let mut house = self.house.borrow_mut();
        if house.as_mut().is_none_or(|house| !matches!(house.guard.exited(), Ok(None))) {
            *house = Some(self.target.house(self.binary)?);
        }
        Ok(house.as_ref().expect("it was just started").web.clone())
    }

    /// A client of the HTTP server with a session.
    pub(super) fn session(&self) -> Result<crate::faults::link::Web> {
        let mut web = self.web()?;
        web.greet()?;
        Ok(web)
    }

    /// The HTTP server's process.
    pub(super) fn house_pid(&self) -> Option<u32> {
        self.house.borrow().as_ref().map(|house| house.guard.pid())
    }

    /// Checks that the server's open files come back to what they were.
    pub(super) fn settles(&self, before: usize, limit: Duration) -> Result<String> {
        let Some(pid) = self.house_pid() else { bail!("the server is gone") };
        let mut now = 0;
        // A connection or two may be kept for the next request.
        let settled = child::wait_until(limit, || {
            now = open_files(pid);
            now <= before + 2
        });
        if settled { Ok(format!("{before} open files, then {now}")) } else { bail!("{before} open files, then {now}") }
    }
}

/// How many files a process holds open.
pub(super) fn open_files(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count).unwrap_or_default()
}

/// A figure of `/proc/PID/status`, in KiB.
pub(super) fn status_kib(pid: u32, key: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

/// The lines that need no hand of ours any more, only time.
pub(crate) type Late = Option<thread::JoinHandle<Vec<Line>>>;

/// Tries every case that fits on one target; what only waits goes on beside the next target.
pub(crate) fn run(target: &Target, binary: &Path, only: Option<&Regex>) -> Result<(Report, Late)> {
    let cases = [messages::CASES, calls::CASES, ends::CASES, web::CASES, streams::CASES].concat();
    let chosen = |name: &str| only.is_none_or(|only| only.is_match(name));
    let mut lines = Vec::new();
    let stand = Stand::new(target, binary)?;
    for case in cases.iter().filter(|case| chosen(case.name) && case.scope.fits(target.way, target.talk)) {
        lines.push(try_one(&target.name, case.name, case.right, || (case.run)(&stand)));
    }
    let (house, dawdler) = (stand.house.into_inner(), stand.dawdler.into_inner());
    let name = target.name.clone();
    let (slow, term) = (chosen(SLOW_HEAD.0), chosen(FAREWELL.0));
    let late = house.map(|house| {
        thread::spawn(move || {
            let mut lines = Vec::new();
            if let (true, Some((wire, since))) = (slow, dawdler) {
                lines.push(try_one(&name, SLOW_HEAD.0, SLOW_HEAD.1, || cut_off(wire, since)));
            }
            if term {
                lines.push(try_one(&name, FAREWELL.0, FAREWELL.1, || farewell(house)));
            }
            lines
        })
    });
    Ok((Report { target: target.name.clone(), lines }, late))
}

fn try_one(target: &str, name: &str, right: &'static str, run: impl FnOnce() -> Result<String>) -> Line {
    let started = Instant::now();
    let verdict = Verdict::from(run());
    let line = Line { name: name.to_owned(), right, verdict, took: started.elapsed() };
    crate::faults::suite::tell(target, &line);
    line
}

const SLOW_HEAD: (&str, &str) = ("slow-head", "a connection whose head never ends is closed within 150 s");
const FAREWELL: (&str, &str) = ("term-ends-all", "TERM ends the process within 10 s, with everything it started");

fn cut_off(mut wire: Wire, since: Instant) -> Result<String> {
    let limit = Duration::from_secs(150);
    if wire.closed_within(limit.saturating_sub(since.elapsed())) {
        return Ok(format!("after at most {:.0} s", since.elapsed().as_secs_f32()));
    }
    bail!("it waits still after {} s", limit.as_secs())
}

fn farewell(mut house: House) -> Result<String> {
    let started = Instant::now();
    let family = procs::family(house.guard.pid());
    let pid = rustix::process::Pid::from_raw(house.guard.pid().cast_signed()).expect("a child has a number");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    house.guard.wait(Duration::from_secs(10))?;
    match family.iter().filter(|one| procs::alive(one)).count() {
        0 => Ok(format!("after {:.1} s", started.elapsed().as_secs_f32())),
        left => bail!("{left} processes outlived it"),
    }
}
