//! Everything that a server offers: every page of every list, within bounds.

use std::{collections::HashSet, sync::Arc, time::Duration};

use tokio::time;
use toolbay_protocol::{
    Raw,
    fault::code,
    greeting::Meeting,
    peer::{Call, Patience},
    raw::{Kind, Object},
};
use toolbay_transport::Connection;

use super::spec::Spec;
use crate::{
    catalog::{Listed, Part, Report, Tasks},
    limits::Bounds,
};

/// How long a listing may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    /// Without a word.
    pub(super) silence: Duration,
    /// In all (limit `startupTimeout`).
    pub(super) total: Duration,
}

/// Lists what a server offers. A list that fails is reported and stays as it was `before`; the others stand.
pub(super) async fn everything(
    connection: &Connection,
    spec: &Spec,
    allowed: Allowed,
    before: Option<&Part>,
) -> (Part, Vec<Report>) {
    let meeting = connection.meeting();
    let server = &spec.name;
    let empty = Part::empty(Arc::clone(server), meeting.revision);
    let part = Part { names: spec.names, tasks: Tasks::of(meeting), ..empty };
    let mut reports = vec![];
    let in_time = async |listed| {
        let listing =
            time::timeout(allowed.total, whole_within(connection, listed, allowed.silence, &spec.bounds)).await;
        let limit = allowed.total.as_secs_f64();
        listing.unwrap_or_else(|_| Err(format!("it took longer than {limit:.1} s in all (limit `startupTimeout`)")))
    };
    let (tools, prompts, resources, templates) = tokio::join!(
        in_time(Listed::Tools),
        in_time(Listed::Prompts),
        in_time(Listed::Resources),
        in_time(Listed::Templates),
    );
    let mut take = |items: Result<Vec<Raw>, String>, listed: Listed, before: Option<&Vec<(String, Raw)>>| match items {
        Ok(items) => part.keyed(items, listed, &spec.bounds, &mut reports),
        Err(why) => {
            let kept = before.cloned().unwrap_or_default();
            let on = if kept.is_empty() { "" } else { "; what it offered before is offered on" };
            reports.push(Report::new(server, format!("its {} cannot be listed: {why}{on}", listed.key())));
            kept
        }
    };
    let tools = take(tools, Listed::Tools, before.map(|part| &part.tools));
    let prompts = take(prompts, Listed::Prompts, before.map(|part| &part.prompts));
    let resources = take(resources, Listed::Resources, before.map(|part| &part.resources));
    let templates = take(templates, Listed::Templates, before.map(|part| &part.templates));
    (Part { tools, prompts, resources, templates, ..part }, reports)
}

fn offers(meeting: &Meeting, listed: Listed) -> bool {
    let capability = match listed {
        Listed::Tools => "tools",
        Listed::Prompts => "prompts",
        Listed::Resources | Listed::Templates => "resources",
    };
    meeting.profile.declares(&[capability])
}

/// Every page of one list, as the server wrote its items; none where the server does not offer such a list.
pub async fn whole(connection: &Connection, listed: Listed, silence: Duration) -> Result<Vec<Raw>, String> {
    whole_within(connection, listed, silence, &Bounds::default()).await
}

async fn whole_within(
    connection: &Connection,
    listed: Listed,
    silence: Duration,
    bounds: &Bounds,
) -> Result<Vec<Raw>, String> {
    let Bounds { pages, items: most, list_bytes, .. } = *bounds;
    if !offers(connection.meeting(), listed) {
        return Ok(vec![]);
    }
    let (mut items, mut bytes, mut cursor, mut seen) = (vec![], 0, None::<Raw>, HashSet::new());
    for _ in 0..pages {
        let params = cursor.as_ref().map(|cursor| {
            let mut params = Object::with_capacity(64);
            params.put("cursor", cursor);
            params.finish()
        });
        let patience = Patience { silence, total: None };
        let call = Call { patience, ..Call::new(listed.method(), params) };
        let page = match connection.request(call).await.map_err(|error| error.to_string())? {
            Ok(page) => page,
            // Some servers declare resources and know no templates.
            Err(error) if error.code == code::METHOD_NOT_FOUND && listed == Listed::Templates => return Ok(items),
            Err(error) => return Err(error.to_string()),
        };
        bytes += page.as_bytes().len();
        if bytes > list_bytes {
            return Err(format!("its pages hold more than {list_bytes} bytes in all (limit `listBytes`)"));
        }
        let list = page.get(listed.key()).filter(|list| list.kind() == Kind::Array);
        items.extend(list.ok_or_else(|| format!("its answer holds no array {:?}", listed.key()))?.elements());
        if items.len() > most {
            return Err(format!("it lists more than {most} (limit `items`)"));
        }
        // spec: server/utilities/pagination; an empty string is a cursor, null is none
        match page.get("nextCursor").filter(|next| next.kind() == Kind::String) {
            None => return Ok(items),
            Some(next) if !seen.insert(next.as_bytes().to_vec()) => {
                return Err("its pages go in a circle: a cursor came twice".into());
            }
            next => cursor = next,
        }
    }
    Err(format!("its list never ends: more than {pages} pages (limit `pages`)"))
}
