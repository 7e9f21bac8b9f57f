//! `toolbay list`.

use toolbay_gateway::{catalog::Listed, servers};
use toolbay_protocol::{Raw, raw::Object};
use toolbay_transport::Connection;

use crate::{
    args::{List, What},
    exit::Exit,
    show,
    target::{self, SILENCE},
};

/// Runs it.
pub(crate) async fn run(list: List) -> Result<(), Exit> {
    let reached = target::reach((&list.target).into()).await?;
    reached.settled().await;
    let listed = show_lists(&reached.connection, list.what, list.target.json).await;
    reached.close().await;
    listed
}

async fn show_lists(connection: &Connection, what: Option<What>, json: bool) -> Result<(), Exit> {
    let wanted = |this: What| what.is_none_or(|what| what == this);
    let mut lists = vec![];
    for (listed, of) in [
        (Listed::Tools, What::Tools),
        (Listed::Prompts, What::Prompts),
        (Listed::Resources, What::Resources),
        (Listed::Templates, What::Resources),
    ] {
        if wanted(of) {
            let items = servers::whole(connection, listed, SILENCE).await;
            let items = items.map_err(|why| Exit::failed(format!("{} cannot be listed: {why}", listed.key())))?;
            lists.push((listed, items));
        }
    }
    if json {
        let mut all = Object::with_capacity(1024);
        for (listed, items) in &lists {
            all.put(listed.key(), &Raw::array(items));
        }
        show::line(&show::json(&all.finish()));
        return Ok(());
    }
    let mut first = true;
    for (listed, items) in lists.iter().filter(|(_, items)| !items.is_empty()) {
        if !std::mem::take(&mut first) {
            show::line("");
        }
        show::line(&table(*listed, items));
    }
    if first {
        show::line("nothing is offered");
    }
    Ok(())
}

fn table(listed: Listed, items: &[Raw]) -> String {
    let about = |item: &Raw| {
        let about = show::text(item, "description").or_else(|| show::text(item, "title"));
        show::headline(&about.unwrap_or_default(), 80)
    };
    let (heading, key) = match listed {
        Listed::Tools => ("TOOL", "name"),
        Listed::Prompts => ("PROMPT", "name"),
        Listed::Resources => ("RESOURCE", "uri"),
        Listed::Templates => ("TEMPLATE", "uriTemplate"),
    };
    let name = |item: &Raw| show::safe(&show::text(item, key).unwrap_or_default());
    let rows = items.iter().map(|item| [name(item), about(item)]).collect();
    show::table([heading, "DESCRIPTION"], rows)
}
