//! Requests to a server, each to its room.

use std::sync::Arc;

use toolbay_protocol::{
    ErrorObject, Fault, Method, Raw,
    exchange::Outcome,
    fault::code,
    greeting::Profile,
    headers::HeaderPlan,
    types::{Conform as _, Dict, ReadResourceResult, TaskSupport},
    watch::Filter,
};
use toolbay_transport::{Caller, Cx, Request, Service, Watch};

use super::{
    around::Next,
    builder::Server,
    completion,
    context::Ctx,
    deadline,
    failure::{self, Subject},
    live::Live,
    page::{self, Cursor, Hints},
    registry::{Listed, Registry, Table},
    resource::{Read, TemplateEntry},
    resource_output::Of,
    tasks::{self, Start},
};
type Params<T> = Result<T, ErrorObject>;

impl<S: Send + Sync + 'static> Service for Server<S> {
    fn profile(&self) -> Arc<Profile> {
        self.live().profile()
    }

    async fn call(&self, request: Request, line: Cx) -> Outcome {
        let live = self.live();
        if live.settings.around.is_empty() && live.settings.visible.is_none() {
            return answer(live, request, line).await;
        }
        let method = request.method.clone();
        let next = Next { live: Arc::clone(live), line, place: 0 };
        failure::guarded(live, &method, async { next.run(request).await }).await
    }

    fn header_plan(&self, caller: &Arc<Caller>, tool: &str) -> Option<Arc<HeaderPlan>> {
        let live = self.live();
        let registry = live.registry.load();
        registry.tools.get(tool).filter(|tool| live.shows(caller, tool.item()))?.headers.clone()
    }

    async fn watch(&self, caller: &Arc<Caller>, mut filter: Filter) -> Params<Watch> {
        let live = self.live();
        if live.settings.visible.is_some() {
            // Of what cannot be read nothing is told, be it hidden or not there.
            let registry = live.registry.load_full();
            filter.uris.retain(|uri| reader(live, &registry, caller, uri).is_some());
        }
        tasks::watch(live, caller, filter).await
    }
}

/// Answers a request, with nothing around it.
pub(crate) async fn answer(live: &Arc<Live>, request: Request, line: Cx) -> Outcome {
    match &request.method {
        Method::ToolsCall => call_tool(live, request, line).await,
        Method::ToolsList => list(live, &request, "tools", |registry| &registry.tools),
        Method::PromptsList => list(live, &request, "prompts", |registry| &registry.prompts),
        Method::TemplatesList => list(live, &request, "resourceTemplates", |registry| &registry.templates),
        Method::ResourcesList => list_resources(live, request, line).await,
        Method::ResourcesRead => read_resource(live, request, line).await,
        Method::PromptsGet => get_prompt(live, request, line).await,
        Method::Complete => completion::serve(live, request, line).await,
        Method::TasksGet | Method::TasksResult | Method::TasksList | Method::TasksCancel | Method::TasksUpdate => {
            tasks::serve(live, request, line).await
        }
        // Kept by the transport, whose sessions have the level.
        Method::SetLevel | Method::Ping => Ok(Raw::EMPTY),
        other => Err(Fault::method(other).into()),
    }
}

/// A member of the parameters that must be a text.
fn text(params: &Raw, key: &str) -> Params<String> {
    let value = params.get(key);
    let text = value.as_ref().and_then(Raw::as_text);
    text.map(Into::into).ok_or_else(|| ErrorObject::invalid_params(format!("`{key}` must be a string")))
}

async fn call_tool(live: &Arc<Live>, request: Request, line: Cx) -> Outcome {
    let [name, arguments, task] = request.params.find(["name", "arguments", "task"]);
    let arguments = arguments.filter(|arguments| arguments.as_bytes() != b"null").unwrap_or(Raw::EMPTY);
    let name = name.as_ref().and_then(Raw::as_text);
    let name = name.ok_or_else(|| ErrorObject::invalid_params("`name` must be a string"))?;
    if arguments.as_bytes().first() != Some(&b'{') {
        return Err(ErrorObject::invalid_params("`arguments` must be an object"));
    }
    // spec: server/tools, an unknown tool is an error of the protocol
    let tool = live.registry.load().tools.get(&name).cloned();
    let tool = tool.filter(|tool| live.shows(&request.caller, tool.item()));
    let tool = tool.ok_or_else(|| ErrorObject::invalid_params(format!("there is no tool called {name:?}")))?;
    if tool.task_support() != TaskSupport::Forbidden || task.is_some() {
        let start = Start::of(&tool, &request.caller, &request.params)?;
        let cx = Ctx::starting(request, line, live, start.clone())?;
        return tasks::call(live, tool, arguments, cx, start).await;
    }
    let cx = Ctx::new(request, line, live)?;
    let came = deadline::run(live, &cx, || (tool.call)(&arguments, &cx)).await;
    failure::of_tool(live, &cx.form(), Subject { kind: "tool", name: &tool.words.name }, came)
}

/// A list that is known beforehand.
fn list<E: Listed>(live: &Live, request: &Request, key: &str, table: fn(&Registry) -> &Table<E>) -> Outcome {
    let (registry, revision) = (live.registry.load(), request.caller.introduction.revision);
    let Cursor::At(from) = Cursor::read(&request.params)? else { return Err(page::bad_cursor()) };
    let (table, settings, form) = (table(&registry), &live.settings, live.form(revision));
    if let Some(visible) = &settings.visible {
        let seen = table.seen(revision, &request.caller, visible);
        let (items, next) = page::cut(&seen, from, settings.page_size)?;
        return Ok(page::list(key, items.iter(), next.as_ref(), &settings.list_hints(), &form));
    }
    if from == 0 && settings.page_size.is_none() {
        return Ok(table.whole(key, &settings.lists, &form));
    }
    let (items, next) = page::cut(table.written(revision), from, settings.page_size)?;
    Ok(page::list(key, items.iter(), next.as_ref(), &settings.lists, &form))
}

/// The resources that were added, then those that the lister names.
async fn list_resources(live: &Arc<Live>, request: Request, line: Cx) -> Outcome {
    let registry = live.registry.load_full();
    let Some(lister) = &registry.lister else {
        return list(live, &request, "resources", |registry| &registry.resources);
    };
    let revision = request.caller.introduction.revision;
    let (settings, form, hints) = (&live.settings, live.form(revision), live.settings.list_hints());
    let seen = settings.visible.as_ref().map(|visible| registry.resources.seen(revision, &request.caller, visible));
    let written = seen.as_deref().unwrap_or_else(|| registry.resources.written(revision));
    let (known, beyond) = match Cursor::read(&request.params)? {
        Cursor::At(from) => match page::cut(written, from, settings.page_size)? {
            (items, Some(next)) => {
                return Ok(page::list("resources", items.iter(), Some(&next), &hints, &form));
            }
            (items, None) => (items, None),
        },
        Cursor::Beyond(cursor) => (&[][..], cursor),
    };
    let cx = Ctx::new(request, line, live)?;
    let came = deadline::run(live, &cx, || Ok(lister(beyond, cx.clone()))).await;
    let page = failure::of_other(live, Subject { kind: "list", name: "resources" }, came)?;
    let page = page.ok_or_else(|| ErrorObject::internal("nothing may be asked while resources are listed"))?;
    let listed: Vec<Raw> = page.items.into_iter().map(|item| Raw::of(&item.conformed(revision))).collect();
    let next = page.next.map(|next| Cursor::Beyond(Some(next)));
    Ok(page::list("resources", known.iter().chain(&listed), next.as_ref(), &hints, &form))
}

/// What reads a URI: the resource that has it, else the first template that it fits, and what stands in its holes. Where
/// that is hidden from the caller, nothing else reads it either.
fn reader<'r>(live: &Live, registry: &'r Registry, caller: &Caller, uri: &str) -> Option<(&'r Read, Of, Dict<String>)> {
    let of = |mime_type: &Option<String>| Of { uri: uri.to_owned(), mime_type: mime_type.clone() };
    if let Some(entry) = registry.resources.get(uri) {
        let shown = live.shows(caller, entry.item());
        return shown.then(|| (&entry.read, of(&entry.words.mime_type), Dict::new()));
    }
    let fits = |entry: &'r Arc<TemplateEntry>| Some((entry, entry.pattern.matches(uri)?));
    let (entry, holes) = registry.templates.iter().find_map(fits)?;
    live.shows(caller, entry.item()).then(|| (&entry.read, of(&entry.words.mime_type), holes))
}

async fn read_resource(live: &Arc<Live>, request: Request, line: Cx) -> Outcome {
    let uri = text(&request.params, "uri")?;
    let revision = request.caller.introduction.revision;
    let registry = live.registry.load_full();
    let reader = reader(live, &registry, &request.caller, &uri);
    let (read, of, holes) = reader.ok_or_else(|| not_found(&uri))?;
    let cx = Ctx::new(request, line, live)?;
    let found = deadline::run(live, &cx, || read(&holes, of, &cx)).await;
    match failure::of_other(live, Subject { kind: "resource", name: &uri }, found)? {
        Some(Some(result)) => Ok(Raw::of(&hinted(result, &live.settings.read_hints()).conformed(revision))),
        Some(None) => Err(not_found(&uri)),
        None => Ok(Raw::EMPTY),
    }
}

/// spec: server/resources; which code says so in which revision, the protocol knows.
fn not_found(uri: &str) -> ErrorObject {
    let error = ErrorObject::new(code::RESOURCE_NOT_FOUND, format!("there is no resource {uri:?}"));
    let mut data = toolbay_protocol::raw::Object::with_capacity(uri.len() + 16);
    data.put_text("uri", uri);
    ErrorObject { data: Some(data.finish()), ..error }
}

fn hinted(mut result: ReadResourceResult, hints: &Hints) -> ReadResourceResult {
    result.ttl_ms.get_or_insert_with(|| hints.ttl_ms.into());
    result.cache_scope.get_or_insert_with(|| hints.scope.clone());
    result
}

async fn get_prompt(live: &Arc<Live>, request: Request, line: Cx) -> Outcome {
    let name = text(&request.params, "name")?;
    let revision = request.caller.introduction.revision;
    let prompt = live.registry.load().prompts.get(&name).cloned();
    let prompt = prompt.filter(|prompt| live.shows(&request.caller, prompt.item()));
    let prompt = prompt.ok_or_else(|| ErrorObject::invalid_params(format!("there is no prompt called {name:?}")))?;
    let texts = match request.params.get("arguments").filter(|arguments| arguments.as_bytes() != b"null") {
        Some(arguments) => {
            arguments.read().map_err(|_| ErrorObject::invalid_params("`arguments` must be an object of strings"))?
        }
        None => Dict::new(),
    };
    let cx = Ctx::new(request, line, live)?;
    let came = deadline::run(live, &cx, || (prompt.fill)(&texts, &cx)).await;
    let Some(mut filled) = failure::of_other(live, Subject { kind: "prompt", name: &name }, came)? else {
        return Ok(Raw::EMPTY);
    };
    if filled.description.is_none() {
        filled.description.clone_from(&prompt.words.description);
    }
    Ok(Raw::of(&filled.conformed(revision)))
}
