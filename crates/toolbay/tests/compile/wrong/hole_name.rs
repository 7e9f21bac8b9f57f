use toolbay::prelude::*;

/// Some rows.
#[resource("db://{table}{?from,to:3}{/rest*}")]
async fn rows(table: String, from: Option<u32>, to: Option<String>, rest: Option<String>, id: u32) -> String {
    format!("{table} {from:?} {to:?} {rest:?} {id}")
}

fn main() {}
