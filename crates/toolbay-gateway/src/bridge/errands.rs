//! What is still to be said to a server when nobody waits for it any more. Bounded, and ended with the bay.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{runtime::Handle, task::JoinSet, time};
use toolbay_protocol::{
    Method, Raw,
    greeting::Introduction,
    peer::{Call, Patience},
};

use crate::servers::Seat;

/// How many may be under way; more are left undone.
const MOST: usize = 256;
/// How long one may take.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(10);

/// All that are under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Errands(Arc<Mutex<JoinSet<()>>>);

impl Errands {
    fn all(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has somebody see to it.
    fn run(&self, errand: impl Future<Output = ()> + Send + 'static) {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut all = self.all();
        while all.try_join_next().is_some() {}
        if all.len() < MOST {
            all.spawn_on(
                async move {
                    let _ = time::timeout(LONGEST, errand).await;
                },
                &runtime,
            );
        }
    }

    /// Ends all of them.
    pub(crate) fn end(&self) {
        self.all().abort_all();
    }
}

/// A task of which its caller knows nothing: taken back at its server when this is dropped before it is over.
// spec: basic/utilities/tasks, a task is cancelled by name, and by nothing else
#[derive(Debug)]
pub(crate) struct Hidden(Option<(Errands, Seat, Call)>);

impl Hidden {
    /// A task that began on `seat` on `behalf` of somebody; `id` is what the server calls it, as JSON.
    pub(crate) fn new(errands: &Errands, seat: Seat, behalf: Arc<Introduction>, id: &Raw) -> Self {
        let params = Raw::EMPTY.with(&[("taskId", Some(id))]);
        let patience = Patience { silence: LONGEST, total: Some(LONGEST) };
        let call = Call { patience, behalf: Some(behalf), ..Call::new(Method::TasksCancel, Some(params)) };
        Self(Some((errands.clone(), seat, call)))
    }

    /// It is over.
    pub(crate) fn is_over(&mut self) {
        self.0 = None;
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let Some((errands, seat, call)) = self.0.take() else { return };
        errands.run(async move {
            // One that is over already says so, and nobody wants to know.
            let _ = seat.connection.request(call).await;
            drop(seat);
        });
    }
}
