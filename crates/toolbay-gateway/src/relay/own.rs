//! The gateway's own tools on the path of a call. `call_tool` is no call of its own: it is read as one of the tool that it
//! names, once, at the door, and every room behind sees that one. The others are answered here.

use toolbay_protocol::{
    ErrorObject, Method, Raw,
    exchange::{Outcome, Return},
};
use toolbay_transport::Request;

use super::resolve::{Meant, resolve};
use crate::{
    bay::Inner,
    catalog::Listed,
    meta::{self, Own},
};

/// The call of another's tool that `request` stands for, where it is one of `call_tool`. One that says it wrong is none, and
/// is told so when it is [answered](answer).
pub(super) fn unwrapped(bay: &Inner, request: &Request, meant: &Meant) -> Option<Box<Request>> {
    if meant.text().as_deref() != Some(Own::Call.name())
        || request.method != Method::ToolsCall
        || !bay.desk.offers(Own::Call, &request.caller)
    {
        return None;
    }
    let (name, arguments) = meta::inner(request).ok()?;
    Some(naming(request, &name, arguments.as_ref()))
}

/// The same call of a tool of that name: `_meta`, `task` and what was brought back stay as they are.
fn naming(request: &Request, name: &Raw, arguments: Option<&Raw>) -> Box<Request> {
    let mut named = Box::new(request.clone());
    named.rewrite(request.params.with(&[("name", Some(name)), ("arguments", arguments)]));
    named
}

/// The answer to a call of one of our own; nothing where it is not, or not for this caller.
pub(super) async fn answer(bay: &Inner, request: &Request, meant: &Meant) -> Option<Outcome> {
    if request.method != Method::ToolsCall {
        return None;
    }
    let own = meant.text().as_deref().and_then(Own::named)?;
    if !bay.desk.offers(own, &request.caller) {
        return None;
    }
    if request.returning != (Return { answers: None, state: None }) {
        return Some(Err(ErrorObject::invalid_params(format!("`{}` asked nothing", own.name()))));
    }
    let answered = match own {
        Own::Search => search(bay, request).await,
        Own::Describe => describe(bay, request).await,
        Own::Call => Ok(Err(match meta::inner(request) {
            Err(flaw) => flaw,
            Ok(_) => format!("`{}` calls tools of servers; call this one by its name", own.name()),
        })),
        Own::Acquire => acquire(bay, request).await,
    };
    let revision = request.caller.introduction.revision;
    Some(answered.and_then(|answered| match answered {
        Ok((text, structured)) => meta::result(&text, &structured, revision),
        Err(flaw) => meta::flawed(&flaw, revision),
    }))
}

/// Text and object; or what the model has to do otherwise; or an error.
type Answered = Result<Result<(String, Raw), String>, ErrorObject>;

/// The same as text.
fn both(structured: Raw) -> Result<(String, Raw), String> {
    Ok((structured.as_str().to_owned(), structured))
}

async fn search(bay: &Inner, request: &Request) -> Answered {
    let wanted = meta::read::<meta::Search>(request).and_then(|search| Ok((search.limit()?, search)));
    let (limit, wanted) = match wanted {
        Ok(wanted) => wanted,
        Err(flaw) => return Ok(Err(flaw)),
    };
    if !bay.is_settled_for(&request.caller) {
        bay.settled_for(&request.caller).await;
    }
    let catalog = bay.catalog_for(&request.caller);
    let (found, note) = bay.desk.search(catalog.clone(), wanted.query.clone(), wanted.server.clone(), limit).await?;
    Ok(both(meta::found(&wanted, &catalog, &found, note)))
}

async fn describe(bay: &Inner, request: &Request) -> Answered {
    let meta::Describe { name } = match meta::read(request) {
        Ok(wanted) => wanted,
        Err(flaw) => return Ok(Err(flaw)),
    };
    // As a call of it would be resolved: what cannot be called is not shown, for the same reason.
    let named = naming(request, &Raw::of(&name), None);
    let route = resolve(bay, &named, &Meant::of(&named)).await?;
    match bay.catalog_for(&request.caller).find(Listed::Tools, &name) {
        Some(found) => Ok(both(meta::described(&name, found))),
        // It went this very moment.
        None => Err(bay.not_connected(&route.server)),
    }
}

async fn acquire(bay: &Inner, request: &Request) -> Answered {
    let meta::Acquire { query } = match meta::read(request) {
        Ok(wanted) => wanted,
        Err(flaw) => return Ok(Err(flaw)),
    };
    let Some(acquirer) = bay.desk.acquirer() else { return Ok(Err("servers are not looked for here".into())) };
    let acquired = acquirer.search_and_acquire(&query).await;
    Ok(Ok(meta::acquired(&query, &acquired)))
}
