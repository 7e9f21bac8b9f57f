//! The stage: the bay, the servers behind it, and the hands that break them.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::meeting::{Link, Peer, peers};
use super::weather::Weather;
use crate::child::{self, Guard};
use crate::gateway;
use crate::places::{self, Scratch};
use crate::procs::{self, Process};

const UP: Duration = Duration::from_secs(60);
/// How long what was started may outlive the bay.
const AFTERMATH: Duration = Duration::from_secs(5);
/// How long the bay waits for a word, in seconds.
const SILENCE: u64 = 2;
/// How long it waits for a server to start, in seconds: a call may wait for that, and then for its answer.
const STARTUP: u64 = 8;

/// Everything that was started.
pub(super) struct Rig {
    /// The servers behind the bay.
    pub(super) peers: Vec<Peer>,
    /// Where the bay listens.
    pub(super) port: u16,
    /// Whether the bay is there.
    pub(super) weather: Weather,
    binary: PathBuf,
    exe: PathBuf,
    scratch: Scratch,
    ports: Vec<u16>,
    bay: Mutex<Option<Guard>>,
    webs: Mutex<Vec<Option<Guard>>>,
    starts: Mutex<usize>,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rig {
    /// Starts everything.
    pub(super) fn set() -> Result<Self> {
        let (binary, scratch, peers) = (gateway::binary()?, Scratch::new("chaos")?, peers());
        // A copy: ours may be built anew while it plays.
        let exe = scratch.path().join("server");
        fs::copy(std::env::current_exe()?, &exe).context("the scripted server cannot be copied")?;
        let ports = peers.iter().map(|_| places::free_port()).collect::<Result<Vec<_>>>()?;
        let webs = Mutex::new(peers.iter().map(|_| None).collect());
        let port = places::free_port()?;
        let (weather, bay, starts) = (Weather::default(), Mutex::default(), Mutex::default());
        let rig = Self { peers, port, weather, binary, exe, scratch, ports, bay, webs, starts };
        fs::write(rig.config(), rig.configuration())?;
        (0..rig.peers.len()).try_for_each(|at| rig.start_web(at))?;
        rig.start_bay(Wait::ForAll)?;
        Ok(rig)
    }

    fn config(&self) -> PathBuf {
        self.scratch.path().join("toolbay.json")
    }

    /// Where a server notes the calls that it ran.
    pub(super) fn ran(&self, peer: &Peer) -> PathBuf {
        self.scratch.path().join(format!("{}.ran", peer.name))
    }

    fn play(&self, peer: &Peer) -> Vec<String> {
        let ran = self.ran(peer).to_string_lossy().into_owned();
        ["chaos", "--play", &peer.name, "--era", peer.era.word(), "--ran", &ran].map(str::to_owned).to_vec()
    }

    fn configuration(&self) -> String {
        let mut servers = json!({});
        for (peer, port) in self.peers.iter().zip(&self.ports) {
            servers[&peer.name] = match peer.link {
                // Each session its own: over a pipe a question of this era names no call.
                Link::Stdio => json!({ "command": self.exe, "args": self.play(peer), "isolation": "per-session" }),
                Link::Http => json!({ "url": format!("http://127.0.0.1:{port}/mcp") }),
            };
            servers[&peer.name]["timeout"] = json!(SILENCE);
            servers[&peer.name]["startupTimeout"] = json!(STARTUP);
        }
        json!({ "mcpServers": servers }).to_string()
    }

    /// Starts a server of ours that has a port; the others are the bay's to start.
    pub(super) fn start_web(&self, at: usize) -> Result<()> {
        if self.peers[at].link == Link::Stdio {
            return Ok(());
        }
        let mut command = Command::new(&self.exe);
        command.args(self.play(&self.peers[at])).args(["--port", &self.ports[at].to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let guard = Guard::spawn(&self.peers[at].name, &mut command)?;
        held(&self.webs)[at] = Some(guard);
        child::wait_until(UP, || std::net::TcpStream::connect(("127.0.0.1", self.ports[at])).is_ok());
        Ok(())
    }

    /// Starts the bay.
    fn start_bay(&self, wait: Wait) -> Result<()> {
        let start = {
            let mut starts = held(&self.starts);
            *starts += 1;
            *starts
        };
        let log = self.scratch.path().join(format!("bay-{start}.log"));
        let out = File::create(&log)?;
        let mut command = Command::new(&self.binary);
        command.args(["up", "--json", "--config"]).arg(self.config());
        command.args(["--listen", &format!("127.0.0.1:{}", self.port)]);
        command.stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);
        *held(&self.bay) = Some(Guard::spawn("toolbay up", &mut command)?);
        let said = || fs::read_to_string(&log).unwrap_or_default();
        let there = || match wait {
            Wait::ForAll => said().contains("\"event\":\"ready\""),
            Wait::ForAnything => std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok(),
        };
        if !child::wait_until(UP, there) {
            bail!("toolbay up is not ready:\n{}", said());
        }
        Ok(())
    }

    /// The number of the bay's process.
    pub(super) fn pid(&self) -> Option<u32> {
        held(&self.bay).as_ref().map(Guard::pid)
    }

    /// Kills the bay without a word and starts it again; what outlived it.
    pub(super) fn kill_bay(&self) -> Result<Vec<Process>> {
        self.weather.turns();
        let bay = held(&self.bay).take();
        let mut left = bay.map(|mut bay| bay.kill_alone(AFTERMATH)).unwrap_or_default();
        left.extend(self.strays());
        left.iter().for_each(|one| signal(one.pid, Signal::KILL));
        self.start_bay(Wait::ForAnything)?;
        self.weather.turns();
        Ok(left)
    }

    /// Ends the bay politely; what outlived it.
    pub(super) fn end_bay(&self) -> Vec<Process> {
        let bay = held(&self.bay).take();
        let mut left = bay.map(|mut bay| bay.end(Duration::from_secs(10))).unwrap_or_default();
        child::wait_until(AFTERMATH, || self.strays().is_empty());
        left.extend(self.strays());
        left
    }

    /// The bay's children, wherever they were adopted; with no bay there must be none.
    fn strays(&self) -> Vec<Process> {
        let ours = self.scratch.path().to_string_lossy().into_owned();
        procs::all()
            .into_iter()
            .filter(|one| one.command.contains(&ours) && one.command.contains("--play pipe-"))
            .collect()
    }

    /// A process that plays a server now; the `throw`th of several.
    pub(super) fn player(&self, at: usize, throw: u64) -> Option<Process> {
        if self.peers[at].link == Link::Http {
            let pid = held(&self.webs)[at].as_ref()?.pid();
            return procs::family(pid).into_iter().next();
        }
        let name = format!("--play {} ", self.peers[at].name);
        let family = procs::family(self.pid()?).into_iter().filter(|one| one.command.contains(&name));
        let all: Vec<Process> = family.collect();
        let place = usize::try_from(throw).unwrap_or_default() % all.len().max(1);
        all.get(place).cloned()
    }

    /// Kills a player; one of ours is started again by `start_web`.
    pub(super) fn kill(&self, at: usize, throw: u64) -> Option<Process> {
        let player = self.player(at, throw)?;
        match self.peers[at].link {
            Link::Http => drop(held(&self.webs)[at].take().map(|mut guard| guard.kill_alone(Duration::ZERO))),
            Link::Stdio => signal(player.pid, Signal::KILL),
        }
        Some(player)
    }

    /// Stops a player, or lets it go on.
    pub(super) fn stop(player: &Process, how: Stop) {
        // A number may be another's by now.
        if procs::alive(player) {
            signal(player.pid, if how == Stop::Halt { Signal::STOP } else { Signal::CONT });
        }
    }
}

/// When the bay counts as started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// When it is decided of every server how it does.
    ForAll,
    /// When it accepts connections.
    ForAnything,
}

/// What to do with a process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Stop it.
    Halt,
    /// Let it go on.
    GoOn,
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}
