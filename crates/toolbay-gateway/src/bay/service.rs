//! The bay as its clients see it.

use std::sync::{Arc, atomic::Ordering};

use futures_util::future::join_all;
use toolbay_protocol::{
    ErrorObject, Feature, Method,
    exchange::{Note, Outcome},
    greeting::Profile,
    headers::HeaderPlan,
    watch::Filter,
};
use toolbay_transport::{Answering, Caller, Cx, Request, Service, Watch};

use super::{following, inner::Inner, open::Bay};
use crate::relay;

/// What a request of a session says of the device holds for that request; one that stands alone was asked already.
fn state_device(request: &mut Request) -> Result<(), Box<ErrorObject>> {
    if request.caller.session.is_none() {
        return Ok(());
    }
    let device = request.device().map_err(|fault| Box::new(ErrorObject::from(fault)))?;
    if device.is_some() {
        request.caller = Arc::new(Caller { device, ..Caller::clone(&request.caller) });
    }
    Ok(())
}

fn answer(bay: Arc<Inner>, mut request: Request, cx: Cx) -> impl Future<Output = Outcome> + Send {
    let trace = bay.telemetry.as_ref().map(|telemetry| telemetry.begin(&mut request));
    let stated = if bay.devices.load(Ordering::Acquire) { state_device(&mut request) } else { Ok(()) };
    // In a place of its own, which this future does not carry along.
    let request = Box::new(request);
    async move {
        match stated {
            Ok(()) => relay::call(&bay, &request, &cx, trace).await,
            Err(error) => Err(*error),
        }
    }
}

impl Service for Bay {
    fn profile(&self) -> Arc<Profile> {
        self.0.profile.load_full()
    }

    fn call(&self, request: Request, cx: Cx) -> impl Future<Output = Outcome> + Send {
        answer(Arc::clone(&self.0), request, cx)
    }

    fn begin(self: &Arc<Self>, request: Request, cx: Cx) -> Answering {
        Box::pin(answer(Arc::clone(&self.0), request, cx))
    }

    fn header_plan(&self, caller: &Arc<Caller>, tool: &str) -> Option<Arc<HeaderPlan>> {
        self.0.catalog_for(caller).header_plan(tool).cloned()
    }

    async fn watch(&self, caller: &Arc<Caller>, mut filter: Filter) -> Result<Watch, ErrorObject> {
        let uris = std::mem::take(&mut filter.uris);
        let listens = filter.tools || filter.prompts || filter.resources;
        let tasks = std::mem::take(&mut filter.tasks);
        let opened = if tasks.is_empty() {
            vec![]
        } else {
            let (honoured, opened) = following::open(&self.0, caller, tasks).await;
            filter.tasks = honoured;
            opened
        };
        let (mut kept, mut refused) = (vec![], None);
        for watched in join_all(uris.into_iter().map(|uri| self.0.watch_resource(caller, uri))).await {
            match watched {
                Ok((uri, interest)) => {
                    filter.uris.insert(uri);
                    kept.push(interest);
                }
                Err(error) => refused = Some(error),
            }
        }
        // spec: basic/patterns/subscriptions, what is honoured may be less than what was asked for
        match refused {
            Some(error) if filter.is_empty() => Err(error),
            Some(_) | None => {
                let watch = self.0.hub.watch(filter);
                // Followed only now, so that what is told first is heard.
                let follow = |stream| following::follow(&self.0, caller.principal.clone(), stream);
                following::tell(&self.0, caller, &watch.filter().tasks);
                let followed: Vec<_> = opened.into_iter().map(follow).collect();
                let watch = watch.keeping((kept, followed));
                if listens && caller.introduction.revision.has(Feature::Handshake) {
                    self.0.sessions.heard_by(caller, watch.voice());
                }
                Ok(watch)
            }
        }
    }

    async fn note(&self, caller: &Arc<Caller>, note: Note) {
        if note.method == Method::RootsChanged {
            self.0.roots_changed(caller, &note).await;
        }
    }

    fn joined(&self, caller: &Arc<Caller>) {
        self.0.sessions.joined(caller);
    }

    fn left(&self, caller: &Arc<Caller>) {
        self.0.sessions.left(caller);
        self.0.left(caller);
    }
}
