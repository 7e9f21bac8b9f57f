//! All scenes: a script for the server, and how the client's outcome is judged.

use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::visit::Visit;
use super::{envelope, lines, streams, words};
use crate::faults::player::Player;
use crate::faults::wire::Talk;

/// What the scripted server does.
#[derive(Clone, Copy)]
pub(super) enum Script {
    /// Answers the call with these messages, over pipes and over HTTP.
    Words(fn(&str) -> Vec<String>),
    /// Over pipes.
    Pipe(fn(&mut Player, &str)),
    /// Over pipes, from the first byte on: it never greets.
    PipeStart(fn(&mut Player)),
    /// Over HTTP, the call.
    Web(fn(&mut Visit, &str)),
    /// Over HTTP, every POST.
    WebAlways(fn(&mut Visit, &str)),
}

/// One scene.
#[derive(Clone, Copy)]
pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) right: &'static str,
    pub(super) script: Script,
    pub(super) judge: fn(&Seen) -> Result<String>,
    /// How the server wants requests to introduce themselves.
    pub(super) talk: Talk,
}

impl Scene {
    pub(super) const fn new(
        name: &'static str,
        right: &'static str,
        script: Script,
        judge: fn(&Seen) -> Result<String>,
    ) -> Self {
        Self { name, right, script, judge, talk: Talk::Handshake }
    }

    /// The same with a server that wants an envelope.
    pub(super) const fn envelope(self) -> Self {
        Self { talk: Talk::Envelope, ..self }
    }
}

/// What the client made of it.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The result, as the client printed it.
    pub(super) result: Option<String>,
    /// The error, as the client told it.
    pub(super) error: Option<String>,
    /// Whether it had to be ended.
    pub(super) hung: bool,
    /// Beyond what the same client takes for a plain call.
    pub(super) took: Duration,
    /// The most memory it held.
    pub(super) peak_mib: u64,
    /// Requests that reached the server it was sent to.
    pub(super) strayed: usize,
    /// Whether the server that it started outlived it.
    pub(super) left: bool,
}

impl Seen {
    fn told(&self) -> String {
        let what = match (&self.result, &self.error) {
            _ if self.hung => "no outcome".to_owned(),
            (Some(result), _) => format!("result {}", result.chars().take(100).collect::<String>()),
            (None, Some(error)) => error.clone(),
            (None, None) => "no outcome".to_owned(),
        };
        format!("{what} (+{:.1} s)", self.took.as_secs_f32())
    }
}

/// Beyond a plain call, on a busy machine; no deadline that anybody has is as short.
const AT_ONCE: Duration = Duration::from_secs(15);

/// The result arrived with this in it.
pub(super) fn delivered(seen: &Seen) -> Result<String> {
    holds(seen, "known text")
}

pub(super) fn holds(seen: &Seen, text: &str) -> Result<String> {
    match &seen.result {
        Some(result) if result.contains(text) => Ok(seen.told()),
        _ => bail!("{}", seen.told()),
    }
}

/// An error that says something, and soon.
pub(super) fn fails_at_once(seen: &Seen) -> Result<String> {
    let seen_text = fails(seen)?;
    ensure!(seen.took < AT_ONCE, "only late: {seen_text}");
    Ok(seen_text)
}

/// An error, at the latest at the client's own deadline.
pub(super) fn fails(seen: &Seen) -> Result<String> {
    let error = seen.error.as_deref().unwrap_or_default();
    ensure!(!seen.hung && seen.result.is_none() && !error.trim().is_empty(), "{}", seen.told());
    ensure!(!error.contains("panicked"), "it broke: {error}");
    Ok(seen.told())
}

/// Delivered whole, or refused by a limit at once.
pub(super) fn delivered_or_limited(seen: &Seen) -> Result<String> {
    if seen.result.is_some() { delivered(seen) } else { fails_at_once(seen) }
}

/// Refused in bounded memory.
pub(super) fn bounded(seen: &Seen) -> Result<String> {
    let told = fails(seen)?;
    ensure!(seen.peak_mib < 512, "it took {} MiB: {told}", seen.peak_mib);
    Ok(format!("{told}, {} MiB", seen.peak_mib))
}

/// Every scene; those that take longest first.
pub(super) fn all() -> Vec<Scene> {
    [lines::SCENES, streams::SCENES, words::SCENES, envelope::SCENES].concat()
}

/// The script of a scene over pipes.
pub(crate) fn pipe_script(name: &str, player: &mut Player) -> Result<()> {
    let Some(scene) = all().into_iter().find(|scene| scene.name == name) else { bail!("there is no scene {name}") };
    player.expect(scene.talk);
    match scene.script {
        Script::Words(words) => player.perform(|player, id| {
            for word in words(id) {
                player.say(&word);
            }
        }),
        Script::Pipe(script) => player.perform(script),
        Script::PipeStart(script) => {
            script(player);
            player.idle();
        }
        Script::Web(_) | Script::WebAlways(_) => bail!("{name} is played over HTTP"),
    }
    Ok(())
}
