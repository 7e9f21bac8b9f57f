//! What is meant: which server, and what it calls that.

use std::sync::Arc;

use toolbay_protocol::{ErrorObject, Method, Raw, fault::code};
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
}

impl Route {
    pub(super) fn new(server: &Arc<str>, params: Raw) -> Self {
        Self { server: Arc::clone(server), params, task: TaskNeed::None }
    }
}

/// Finds what is meant; waits for servers that are still starting only for as long as it is not found without them.
pub(super) async fn resolve(bay: &Inner, request: &Request) -> Result<Route, ErrorObject> {
    if let Some(route) = bay.once_there(&request.caller, |catalog| resolve_in(catalog, request).ok()).await {
        return Ok(route);
    }
    resolve_in(&bay.catalog_for(&request.caller), request).map_err(|unknown| match resolve_in(&bay.lost(), request) {
        Ok(Route { server, .. }) => bay.not_connected(&server),
        Err(_) => {
            let public = request.method.named_by().and_then(|key| request.params.get(key));
            let public = public.as_ref().and_then(Raw::as_text);
            public.and_then(|public| bay.away(&public)).map_or(unknown, |server| bay.not_connected(&server))
        }
    })
}

fn resolve_in(catalog: &Catalog, request: &Request) -> Result<Route, ErrorObject> {
    let params = &request.params;
    let bare = |edit: (&str, Option<&Raw>)| params.with(&[edit, ("inputResponses", None), ("requestState", None)]);
    let text = |key: &str| {
        let value = params.get(key);
        let text = value.as_ref().and_then(Raw::as_text).map(std::borrow::Cow::into_owned);
        text.ok_or_else(|| ErrorObject::invalid_params(format!("`{key}` must be a string")))
    };
    match &request.method {
        Method::ToolsCall | Method::PromptsGet => {
            let (listed, word) =
                if request.method == Method::ToolsCall { (Listed::Tools, "tool") } else { (Listed::Prompts, "prompt") };
            let public = text("name")?;
            let found = catalog.find(listed, &public);
            let found = found.ok_or_else(|| ErrorObject::invalid_params(format!("unknown {word}: {public:?}")))?;
            let params = bare(("name", Some(&Raw::of(&found.name))));
            Ok(Route { task: found.task, ..Route::new(&found.server, params) })
        }
        Method::ResourcesRead => {
            let uri = text("uri")?;
            let server = catalog.server_of(&uri).ok_or_else(|| {
                let unknown = ErrorObject::new(code::RESOURCE_NOT_FOUND, format!("no server offers {uri:?}"));
                unknown.with_data(&serde_json::json!({ "uri": uri }))
            })?;
            Ok(Route::new(server, bare(("uri", Some(&Raw::of(&uri))))))
        }
        Method::Complete => complete(catalog, params),
        other => Err(ErrorObject::new(code::METHOD_NOT_FOUND, format!("{other} is not served by this gateway"))),
    }
}

fn complete(catalog: &Catalog, params: &Raw) -> Result<Route, ErrorObject> {
    let reference = params.get("ref").unwrap_or(Raw::NULL);
    let text = |key: &str| reference.get(key).as_ref().and_then(Raw::as_text).map(std::borrow::Cow::into_owned);
    let unknown = || ErrorObject::invalid_params(format!("unknown `ref`: {reference:?}"));
    match text("type").as_deref() {
        Some("ref/prompt") => {
            let public = text("name").ok_or_else(unknown)?;
            let found = catalog.find(Listed::Prompts, &public).ok_or_else(unknown)?;
            let reference = reference.with(&[("name", Some(&Raw::of(&found.name)))]);
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
