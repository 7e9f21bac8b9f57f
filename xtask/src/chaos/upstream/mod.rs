//! A scripted server: `cargo xtask chaos --play NAME --era E --ran FILE [--port P]`, over pipes or HTTP.

mod desk;
mod pipe;
mod web;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use self::desk::Desk;
use super::meeting::{Era, Link};
use crate::args::Args;
use crate::tally::Tally;

/// Plays until its input ends, or it is ended.
pub(crate) fn play(mut args: Args) -> Result<Tally> {
    let mut one = |name: &str| args.values(name).map(|mut values| values.pop());
    let (name, era, ran) = (one("--play")?, one("--era")?, one("--ran")?);
    let port = one("--port")?.map(|port| port.parse::<u16>()).transpose()?;
    args.finish()?;
    name.context("--play wants a name")?;
    let era = match era.as_deref() {
        Some("legacy") => Era::Legacy,
        Some("modern") => Era::Modern,
        other => bail!("--era is legacy or modern, not {other:?}"),
    };
    let link = if port.is_some() { Link::Http } else { Link::Stdio };
    let desk = Desk::new(era, link, &PathBuf::from(ran.context("--ran wants a file")?))?;
    match port {
        None => pipe::serve(&desk),
        Some(port) => web::serve(&desk, port)?,
    }
    Ok(Tally::one(true))
}
