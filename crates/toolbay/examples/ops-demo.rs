//! Orders in a SQLite file, the policy for them, and a prompt for the weekly report. The file is the first argument.

use std::sync::Mutex;

use rusqlite::{Connection, params};
use toolbay::prelude::*;

const STATUSES: [&str; 3] = ["pending", "shipped", "cancelled"];

/// Lists orders of one status, newest first.
#[tool(read_only, closed_world)]
async fn query_orders(
    /// pending, shipped or cancelled
    #[arg(default = "pending")]
    status: String,
    /// How many at most, 1 to 50
    #[arg(default = 10)]
    limit: i64,
    db: State<Mutex<Connection>>,
) -> toolbay::Result<String> {
    if !STATUSES.contains(&&*status) {
        return Ok(format!("There is no status {status:?}; the known ones are {}.", STATUSES.join(", ")));
    }
    let db = db.lock().map_err(|_| tool_error!("the database is out of order"))?;
    let mut query = db.prepare("SELECT * FROM orders WHERE status = ?1 ORDER BY created_at DESC, id DESC LIMIT ?2")?;
    let rows = query.query_map(params![status, limit.clamp(1, 50)], |row| {
        let (id, customer, created): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(4)?);
        Ok(format!("{id} | {customer} | ¥{:.2} | {status} | {created}", row.get::<_, f64>(2)?))
    })?;
    let lines = rows.collect::<Result<Vec<_>, _>>()?;
    Ok(format!("{} {status} orders\n{}", lines.len(), lines.join("\n")))
}

/// What may be promised to customers, and what not.
#[resource("file://policy/order-policy.md", name = "order policy", mime_type = "text/markdown")]
async fn policy() -> &'static str {
    "# Orders\n\n- Pending orders ship within two working days.\n- Refunds over ¥1000 need a second pair of eyes.\n"
}

/// Reports on the orders of a week.
#[prompt]
async fn weekly_report(
    /// Which week, such as 2026-W48
    week: String,
) -> String {
    format!(
        "Write the order report for week {week}. Call the tool query_orders for every status, group the orders by \
         status, give the count and the sum of each group, and invent nothing: what the tool does not say is unknown."
    )
}

fn open(path: &str) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    if db.table_exists(None, "orders")? {
        return Ok(db);
    }
    db.execute_batch(
        "CREATE TABLE orders(id TEXT PRIMARY KEY, customer TEXT, amount REAL, status TEXT, created_at TEXT);
         INSERT INTO orders VALUES
            ('SO-1024', '杭州云栖', 2680.00, 'pending', '2026-11-23'),
            ('SO-1025', '上海临港', 899.00, 'pending', '2026-11-24'),
            ('SO-1026', '深圳南山', 15600.00, 'shipped', '2026-11-25');",
    )?;
    Ok(db)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let db = open(&std::env::args().nth(1).unwrap_or_else(|| "orders.db".into()))?;
    let server = Server::new("ops-demo", "1.0.0").state(Mutex::new(db)).tool(query_orders::tool());
    Ok(server.resource(policy::resource()).prompt(weekly_report::prompt()).serve(stdio()).await?)
}
