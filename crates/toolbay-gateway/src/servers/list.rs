//! Everything that a server offers: every page of every list, within bounds.

use std::{collections::HashSet, sync::Arc, time::Duration};

use toolbay_protocol::{
    Raw,
    fault::code,
    greeting::Meeting,
    peer::{Call, Patience},
    raw::{Kind, Object},
};
use toolbay_transport::Connection;

use crate::catalog::{Listed, Part, Report};

/// How many pages one list may have (limit `pages`).
const PAGES: usize = 1000;
/// How many items one list may have (limit `items`).
const ITEMS: usize = 20_000;

/// Lists what `server` offers. A list that fails is reported and counts as empty; the others stand.
pub(super) async fn everything(connection: &Connection, server: &Arc<str>, silence: Duration) -> (Part, Vec<Report>) {
    let meeting = connection.meeting();
    let part = Part::empty(Arc::clone(server), meeting.revision);
    let mut reports = vec![];
    let (tools, prompts, resources, templates) = tokio::join!(
        whole(connection, Listed::Tools, silence),
        whole(connection, Listed::Prompts, silence),
        whole(connection, Listed::Resources, silence),
        whole(connection, Listed::Templates, silence),
    );
    let mut take = |items: Result<Vec<Raw>, String>, listed: Listed, key| match items {
        Ok(items) => part.keyed(items, key, &mut reports),
        Err(why) => {
            reports.push(Report::new(server, format!("its {} cannot be listed: {why}", listed.key())));
            vec![]
        }
    };
    let tools = take(tools, Listed::Tools, "name");
    let prompts = take(prompts, Listed::Prompts, "name");
    let resources = take(resources, Listed::Resources, "uri");
    let templates = take(templates, Listed::Templates, "uriTemplate");
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
    if !offers(connection.meeting(), listed) {
        return Ok(vec![]);
    }
    let (mut items, mut cursor, mut seen) = (vec![], None::<Raw>, HashSet::new());
    for _ in 0..PAGES {
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
        let list = page.get(listed.key()).filter(|list| list.kind() == Kind::Array);
        items.extend(list.ok_or_else(|| format!("its answer holds no array {:?}", listed.key()))?.elements());
        if items.len() > ITEMS {
            return Err(format!("it lists more than {ITEMS} (limit `items`)"));
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
    Err(format!("its list never ends: more than {PAGES} pages (limit `pages`)"))
}
