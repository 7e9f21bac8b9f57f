//! Listing the tools again when a server does not find a call's arguments in its headers, then trying once more.

use std::sync::Arc;

use futures_util::FutureExt;
use toolbay_protocol::{Frame, Method, Raw, exchange::Step, peer::Call, raw::Object};

use super::{
    plans::lists,
    post::RunningCall,
    session::{Sending, Session},
};
use crate::{Error, Kind};

/// How many pages of tools are looked through for one.
const PAGES: usize = 100;

/// Sends a call of a tool again, after its parameters were looked up anew.
pub(super) fn relist(session: Arc<Session>, request: Frame) -> Sending {
    async move {
        if let Frame::Request { params: Some(params), .. } = &request
            && let Some(name) = params.get("name").as_ref().and_then(Raw::as_text)
        {
            look_up(&session, &name).await?;
        }
        match session.send(&request) {
            Ok(sending) => sending.await,
            Err(mismatch) => Err(Error::new(Kind::Misbehaved, mismatch.to_string())),
        }
    }
    .boxed()
}

/// Pages through the tools until this one was seen.
async fn look_up(session: &Arc<Session>, tool: &str) -> Result<(), Error> {
    let mut cursor = None;
    for _ in 0..PAGES {
        let params = cursor.map(|cursor: Raw| {
            let mut params = Object::with_capacity(64);
            params.put("cursor", &cursor);
            params.finish()
        });
        let mut listing = RunningCall::new(Arc::clone(session), Call::new(Method::ToolsList, params), None);
        let result = loop {
            match listing.step().await? {
                Step::Note(_) | Step::Away(_) | Step::Withdrawn(_) => {}
                Step::Done(Ok(result)) => break result,
                Step::Done(Err(_)) | Step::Ask(_) => return Ok(()),
            }
        };
        cursor = result.get("nextCursor").filter(|cursor| cursor.as_text().is_some());
        if cursor.is_none() || lists(&result, tool) {
            return Ok(());
        }
    }
    Ok(())
}
