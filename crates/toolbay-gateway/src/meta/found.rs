//! What was found, and one tool described.

use serde_json::json;
use toolbay_protocol::{Raw, raw::Object};
use toolbay_retrieval::{Fit, Hit, Parts};

use super::ask::Search;
use crate::catalog::{Catalog, Found, Listed};

/// How long a description among others may be; `describe_tool` shows all of it.
const DESCRIPTION: usize = 600;

/// The tools that were found; none where nothing fits, which is said, and what else there is to say of the search.
pub(crate) fn found(search: &Search, catalog: &Catalog, hits: &toolbay_retrieval::Found, note: Option<String>) -> Raw {
    // Beside the best, only what answers a word of the request, or is nearer to it than tools are on average: among few
    // tools, a good one may be below that.
    let near = |(place, hit): &(usize, &Hit)| *place == 0 || hit.score > 0.0 || answers(hit);
    let tools: Vec<_> = match hits.fit {
        Fit::Good => {
            hits.hits.iter().enumerate().filter(near).filter_map(|(_, hit)| one(search, catalog, hit)).collect()
        }
        Fit::Nothing => vec![],
    };
    let mut answer = Object::with_capacity(1024);
    answer.put("tools", &Raw::array(&tools));
    let nothing = tools.is_empty().then(|| nothing(search, catalog));
    let notes: Vec<String> = nothing.into_iter().chain(note).collect();
    if !notes.is_empty() {
        answer.put_text("note", &notes.join("; "));
    }
    answer.finish()
}

fn one(search: &Search, catalog: &Catalog, hit: &Hit) -> Option<Raw> {
    let Found { server, definition, .. } = catalog.find(Listed::Tools, &hit.id)?;
    let [description, schema] = definition.find(["description", "inputSchema"]);
    let description = description.as_ref().and_then(Raw::as_text).unwrap_or_default();
    let mut tool = Object::with_capacity(256);
    tool.put_text("name", &hit.id);
    tool.put_text("server", server);
    tool.put_text("description", &cut(&description, DESCRIPTION));
    tool.put_value("score", &rounded(hit.score));
    tool.put_value("parts", &parts(&hit.parts));
    if let Some(schema) = schema.filter(|_| search.wants_schema()) {
        tool.put("inputSchema", &schema);
    }
    Some(tool.finish())
}

/// Whether it answers a word of the request.
fn answers(hit: &Hit) -> bool {
    match &hit.parts {
        Parts::Best { matched, .. } => !matched.is_empty(),
        Parts::Weighted(parts) => parts.name + parts.description > 0.0,
    }
}

fn parts(parts: &Parts) -> serde_json::Value {
    match parts {
        Parts::Best { words, about, model, matched } => {
            let matched =
                matched.iter().map(|one| json!({"word": one.word, "term": one.term, "score": rounded(one.score)}));
            json!({
                "words": rounded(*words), "about": rounded(*about), "model": rounded(*model),
                "matched": matched.collect::<Vec<_>>(),
            })
        }
        Parts::Weighted(parts) => json!({
            "name": rounded(parts.name), "description": rounded(parts.description), "category": rounded(parts.category),
        }),
    }
}

fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

fn nothing(search: &Search, catalog: &Catalog) -> String {
    let known = |server: &str| catalog.iter(Listed::Tools).any(|(_, found)| *found.server == *server);
    match &search.server {
        Some(server) if !known(server) => format!("no server {server:?} offers a tool to you; search without `server`"),
        Some(server) => {
            format!("no tool of {server:?} fits {:?}; search without `server`, or in other words", search.query)
        }
        None => format!("no tool fits {:?}; say in other words what has to be done", search.query),
    }
}

/// A text of at most so many bytes, and a mark where more followed.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.len() > most {
        true => format!("{}…", &text[..text.floor_char_boundary(most)]),
        false => text.to_owned(),
    }
}

/// A tool as its server gave it, beside the name to call it by.
pub(crate) fn described(public: &str, found: &Found) -> Raw {
    let mut answer = Object::with_capacity(found.definition.as_bytes().len() + 128);
    answer.put_text("name", public);
    answer.put_text("server", &found.server);
    answer.put("definition", &found.definition);
    answer.finish()
}
