//! A task of the extension of which its caller knows nothing: it waits for the result in its call.

use std::sync::Arc;

use toolbay_protocol::{ErrorObject, Raw, exchange::Outcome};

use super::{
    super::going::Going,
    there::There,
    wait::{Wait, Waited},
    wished::began,
};
use crate::{
    bridge::{Crossing, Hidden, KeptTask, life},
    servers::Seat,
};

/// The end of a call that may have become such a task.
pub(super) async fn end(going: &Going<'_>, outcome: Outcome, seat: Seat) -> Result<Crossing, ErrorObject> {
    let banks = going.banks(&seat);
    let begun = outcome.as_ref().ok().and_then(|result| Some((began(result)?, result.clone())));
    let Some((id, begun)) = begun else { return Ok(banks.done(outcome, &seat).await) };
    let there = There::new(seat.again(), &id, going.there);
    // Whatever ends this early takes the task back.
    let mut hidden = Hidden::new(&going.bay.errands, seat.again(), there.behalf(), &Raw::of(&id));
    let task = Arc::new(KeptTask::new(banks.server, &id, &Raw::EMPTY, life(begun.get("ttlMs").as_ref())));
    let wait = Wait { there: &there, banks: &banks, task: &task, public: None };
    let Waited::Over(outcome) = wait.over(Some(&begun)).await? else { return Ok(Crossing::Abandoned) };
    hidden.is_over();
    Ok(banks.done(outcome, &seat).await)
}
