//! A request in a session, until its service begins to work on it.

use std::sync::Arc;

use toolbay_protocol::{
    ErrorObject, Fault, Frame, Id, Method, Raw,
    exchange::{Incoming, Level, Return},
    frame::Noted,
    greeting::Profile,
    peer::{self, Sound},
    watch::Filter,
};

use super::{
    super::{endpoint::Shared, media::Accepts, serving::Serving},
    call::Conversation,
    calls::Hearing,
    record::Attached,
};
use crate::{
    service::{Headers, Request, Service},
    talk::Progress,
};

/// What became of a request at once.
pub(super) enum Begun {
    /// It is answered.
    Answered(Frame),
    /// It breaks the rules of the session.
    Refused(Fault),
    /// Its service works on it.
    Running(Conversation),
}

/// Judges a request and begins to serve it.
pub(super) async fn request<S: Service>(
    shared: &Arc<Shared<S>>,
    session: &Attached,
    accepts: Accepts,
    headers: Headers,
    (id, method, params): (Id, Method, Option<Raw>),
    noted: Noted,
) -> Begun {
    if let Err(fault) = session.state().calls.check(&id) {
        return Begun::Refused(fault);
    }
    let profile = shared.service.profile();
    let sound = match judge(session, &profile, &method, params.as_ref(), noted) {
        Ok(sound) => sound,
        Err(fault @ (Fault::Malformed(_) | Fault::Misuse(toolbay_protocol::fault::Misuse::Order(_)))) => {
            return Begun::Refused(fault);
        }
        Err(fault) => return Begun::Answered(Frame::reply(id, Err(fault.into()))),
    };
    let done =
        |outcome: Result<(), ErrorObject>| Begun::Answered(Frame::reply(id.clone(), outcome.map(|()| Raw::EMPTY)));
    match method {
        Method::Ping => done(Ok(())),
        Method::Subscribe => done(subscribe(shared, session, &profile, params.as_ref()).await),
        Method::Unsubscribe => {
            if let Some(uri) = uri_of(params.as_ref()) {
                session.state().watches.unsubscribe(uri);
                session.news.notify_waiters();
            }
            done(Ok(()))
        }
        method => serve(shared, session, accepts, headers, &sound, (id, method, params)),
    }
}

fn judge(
    session: &Attached,
    profile: &Profile,
    method: &Method,
    params: Option<&Raw>,
    noted: Noted,
) -> Result<Sound, Fault> {
    match method {
        Method::Ping => Ok(Sound::default()),
        Method::Initialize => {
            Err(Fault::order("the session is open already; open another one without `Mcp-Session-Id`"))
        }
        method => peer::admit_legacy(method, params, peer::sound(params, noted), &session.caller.introduction, profile),
    }
}

fn serve<S: Service>(
    shared: &Arc<Shared<S>>,
    session: &Attached,
    accepts: Accepts,
    headers: Headers,
    sound: &Sound,
    (id, method, params): (Id, Method, Option<Raw>),
) -> Begun {
    let caller = Arc::clone(&session.caller);
    let exchange =
        Incoming::within(Arc::clone(&caller.introduction), None, id.clone(), method.clone(), &sound.envelope);
    let progress = if exchange.wants_progress() { Progress::Wanted } else { Progress::Unwanted };
    let hearing = if accepts.stream { Hearing::Listens } else { Hearing::Deaf };
    let (key, abort, presence) = {
        let mut state = session.state();
        if method == Method::SetLevel {
            let level = params.as_ref().and_then(|params| params.get("level"));
            state.level = level.as_ref().and_then(Raw::as_text).and_then(|name| Level::parse(&name));
        }
        let level = state.level;
        match state.calls.begin(exchange.logging_from(level), hearing) {
            Ok(begun) => begun,
            Err(fault) => return Begun::Refused(fault),
        }
    };
    let returning = Return::default();
    let (params, parts) = (params.unwrap_or(Raw::EMPTY), sound.parts);
    let request = Request { method, params, parts, caller, returning, headers };
    let serving = Serving::abortable(&shared.service, request, progress, (abort, presence));
    Begun::Running(Conversation::new(Arc::clone(session.session()), key, id, serving))
}

async fn subscribe<S: Service>(
    shared: &Shared<S>,
    session: &Attached,
    profile: &Profile,
    params: Option<&Raw>,
) -> Result<(), ErrorObject> {
    let uri = uri_of(params).ok_or_else(|| ErrorObject::invalid_params("`uri` must be a string"))?;
    if !session.state().watches.wants(&uri)? {
        return Ok(());
    }
    let filter = Filter::resource(&uri).honoured_by(profile);
    let watch = shared.service.watch(&session.caller, filter).await?;
    session.state().watches.subscribe(uri, watch);
    session.news.notify_waiters();
    Ok(())
}

fn uri_of(params: Option<&Raw>) -> Option<String> {
    params?.get("uri")?.as_text().map(std::borrow::Cow::into_owned)
}
