//! `toolbay read`.

use toolbay_protocol::{Method, Raw, watch::legacy};

use crate::{args::Read, call::complete, exit::Exit, show, target};

/// Runs it.
pub(crate) async fn run(read: Read) -> Result<(), Exit> {
    let reached = target::reach((&read.target).into()).await?;
    let result = complete(&reached.connection, Method::ResourcesRead, legacy::about(&read.uri)).await;
    if result.as_ref().is_err_and(Exit::is_unknown) {
        reached.say_who_is_missing();
    }
    reached.close().await;
    let result = result?;
    if read.target.json {
        show::line(&show::json(&result));
        return Ok(());
    }
    for contents in result.get("contents").iter().flat_map(Raw::elements) {
        show::line(&show::contents(&contents));
    }
    Ok(())
}
