//! Telling of tasks to who listens (spec: tasks extension, task status notifications).

use std::sync::Arc;

use toolbay_protocol::{ErrorObject, fault::code, watch::Filter};
use toolbay_transport::{Caller, Watch};

use crate::server::live::Live;

/// How many tasks one subscription may name (limit `listened_tasks`).
const MOST: usize = 1_000;

/// Begins to tell `caller` of changes, those of its own tasks among them; where they stand now is told at once, so that
/// nothing is missed that came before. Ids that are not its own are left out, like those that nobody knows.
pub(crate) async fn watch(live: &Arc<Live>, caller: &Caller, mut filter: Filter) -> Result<Watch, ErrorObject> {
    if filter.tasks.len() > MOST {
        let what = format!("more than {MOST} tasks in one subscription (limit `listened_tasks`)");
        return Err(ErrorObject::invalid_params(what));
    }
    let (tasks, keeping) = (&live.tasks, &live.settings.tasks);
    for id in std::mem::take(&mut filter.tasks) {
        match tasks.find(keeping, &id, caller).await {
            Ok(_) => drop(filter.tasks.insert(id)),
            Err(error) if error.code == code::INVALID_PARAMS => {}
            Err(error) => return Err(error),
        }
    }
    let watch = live.hub.watch(filter);
    for id in &watch.filter().tasks {
        match tasks.slot(id, caller) {
            Some(slot) => slot.tell(&watch),
            // One that is over changes no more; one that was forgotten meanwhile has nothing to tell.
            None => {
                if let Ok(record) = tasks.find(keeping, id, caller).await {
                    watch.tell(record.change());
                }
            }
        }
    }
    Ok(watch)
}
