//! What is meant: which server, and what it calls that.

use std::{borrow::Cow, sync::Arc};

use toolbay_protocol::{ErrorObject, Method, Raw, fault::code, frame::Part};
use toolbay_transport::Request;

use crate::{
    bay::Inner,
    catalog::{Catalog, Listed, TaskNeed},
};

/// Where a request goes: the server, and the parameters as that server knows them.
pub(super) struct Route {
    pub(super) server: Arc<str>,
    pub(super) params: Raw,
    pub(super) task: TaskNeed,
    /// The public name of what is meant, where the catalog has it.
    pub(super) public: Option<Arc<str>>,
    /// The name under which the task that is meant is kept here, where it goes across eras.
    pub(super) kept: Option<String>,
}

impl Route {
    pub(super) fn new(server: &Arc<str>, params: Raw) -> Self {
        Self { server: Arc::clone(server), params, task: TaskNeed::None, public: None, kept: None }
    }
}

/// What a request names, and how.
pub(super) struct Meant {
    /// The tool, prompt, URI or task, as it was written.
    named: Option<Raw>,
    /// Whether what a caller brings back after a question stands among its parameters.
    returns: bool,
}

impl Meant {
    pub(super) fn of(request: &Request) -> Self {
        let named = request.parts.named(&request.method, &request.params);
        let returns = request.parts.has(Part::Responses) || request.parts.has(Part::State);
        Self { named, returns }
    }

    /// The tool, prompt, URI or task.
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        self.named.as_ref().and_then(Raw::as_text)
    }

    /// The same, to be kept.
    pub(super) fn name(&self) -> Option<Arc<str>> {
        self.text().map(Arc::from)
    }
}

/// Finds what is meant among what is there.
pub(super) fn resolve_at_once(bay: &Inner, request: &Request, meant: &Meant) -> Option<Route> {
    let uri = read_by_uri(request);
    // What only a template fits may be another's who is lost, or still starting.
    let sure = |catalog: &Catalog| uri.as_deref().is_none_or(|uri| catalog.lists(uri));
    bay.at_once(&request.caller, |catalog| resolve_in(catalog, request, meant).ok().filter(|_| sure(catalog)))
}

/// Finds what is meant; waits for servers that are still starting only for as long as it is not found without them.
pub(super) async fn resolve(bay: &Inner, request: &Request, meant: &Meant) -> Result<Route, ErrorObject> {
    let uri = read_by_uri(request);
    // A server that is still starting may list what a template of another's fits as well.
    let sure = |catalog: &Catalog| uri.as_deref().is_none_or(|uri| bay.is_settled() || catalog.lists(uri));
    let find = |catalog: &Catalog| resolve_in(catalog, request, meant).ok().filter(|_| sure(catalog));
    let found = bay.once_there(&request.caller, find).await;
    if let Some(uri) = &uri
        && let Some(lost) = bay.reader_lost(&bay.catalog_for(&request.caller), uri)
    {
        return Err(bay.not_connected(&lost));
    }
    if let Some(route) = found {
        return Ok(route);
    }
    Box::pin(bay.settled_for(&request.caller)).await;
    resolve_in(&bay.catalog_for(&request.caller), request, meant).map_err(|unknown| {
        match resolve_in(&bay.lost(), request, meant) {
            Ok(Route { server, .. }) => bay.not_connected(&server),
            Err(_) => meant
                .text()
                .and_then(|public| bay.away(&public).or_else(|| bay.turned_off(&public)))
                .map_or(unknown, |server| bay.not_connected(&server)),
        }
    })
}

/// The URI by which the server of a request is found.
fn read_by_uri(request: &Request) -> Option<String> {
    let uri = match &request.method {
        Method::ResourcesRead => request.params.get("uri"),
        Method::Complete => request.params.get("ref").and_then(|reference| reference.get("uri")),
        _ => None,
    };
    uri.as_ref().and_then(Raw::as_text).map(Cow::into_owned)
}

fn resolve_in(catalog: &Catalog, request: &Request, meant: &Meant) -> Result<Route, ErrorObject> {
    let params = &request.params;
    let bare = || match meant.returns {
        true => params.with(&[("inputResponses", None), ("requestState", None)]),
        false => params.clone(),
    };
    let text = |key: &str| meant.text().ok_or_else(|| ErrorObject::invalid_params(format!("`{key}` must be a string")));
    match &request.method {
        Method::ToolsCall | Method::PromptsGet => {
            let (listed, word) =
                if request.method == Method::ToolsCall { (Listed::Tools, "tool") } else { (Listed::Prompts, "prompt") };
            let public = text("name")?;
            let found = catalog.find(listed, &public);
            let found = found.ok_or_else(|| ErrorObject::invalid_params(format!("unknown {word}: {public:?}")))?;
            let named = meant.named.as_ref().filter(|_| !meant.returns);
            let renamed = named.and_then(|named| params.replacing(named, &found.name));
            let params = renamed.unwrap_or_else(|| bare().with(&[("name", Some(&found.name))]));
            let public = Some(Arc::clone(&found.public));
            Ok(Route { task: found.task, public, ..Route::new(&found.server, params) })
        }
        Method::ResourcesRead => {
            let uri = text("uri")?;
            let server = catalog.server_of(&uri).ok_or_else(|| {
                let unknown = ErrorObject::new(code::RESOURCE_NOT_FOUND, format!("no server offers {uri:?}"));
                unknown.with_data(&serde_json::json!({ "uri": uri }))
            })?;
            Ok(Route::new(server, bare()))
        }
        Method::Complete => complete(catalog, params),
        other => Err(ErrorObject::new(code::METHOD_NOT_FOUND, format!("{other} is not served by this gateway"))),
    }
}

fn complete(catalog: &Catalog, params: &Raw) -> Result<Route, ErrorObject> {
    let reference = params.get("ref").unwrap_or(Raw::NULL);
    let text = |key: &str| reference.get(key).as_ref().and_then(Raw::as_text).map(Cow::into_owned);
    let unknown = || ErrorObject::invalid_params(format!("unknown `ref`: {reference:?}"));
    match text("type").as_deref() {
        Some("ref/prompt") => {
            let public = text("name").ok_or_else(unknown)?;
            let found = catalog.find(Listed::Prompts, &public).ok_or_else(unknown)?;
            let reference = reference.with(&[("name", Some(&found.name))]);
            Ok(Route::new(&found.server, params.with(&[("ref", Some(&reference))])))
        }
        Some("ref/resource") => {
            let uri = text("uri").ok_or_else(unknown)?;
            let template = catalog.find(Listed::Templates, &uri).map(|found| &found.server);
            let server = template.or_else(|| catalog.server_of(&uri)).ok_or_else(unknown)?;
            Ok(Route::new(server, params.clone()))
        }
        Some(_) | None => Err(unknown()),
    }
}
