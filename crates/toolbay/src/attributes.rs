//! The attributes, with what they take: documented here, where their examples can run.

/// Makes a tool of an async function: its docs are the description, its arguments the schema, their docs the
/// descriptions in it.
///
/// The function stays as it is. Beside it comes a type of the same name with `tool()`, to be given to a server; both may
/// stand in a module or in the body of another function:
///
/// ```
/// use toolbay::prelude::*;
///
/// /// Adds two numbers.
/// #[tool(read_only, closed_world)]
/// async fn add(
///     /// The first of the two.
///     left: i64,
///     #[arg(default = 1, range = 1..=100)] right: i64,
/// ) -> i64 {
///     left + right
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let server = Server::new("sums", "1.0.0").tool(add::tool());
/// assert_eq!(add(1, 2).await, 3);
/// # }
/// ```
///
/// An argument of type `State<S>` is the server's state, one of type `Ctx` or `&Ctx` the context of the call; neither is
/// part of the schema.
///
/// Of the tool: `name = "…"`, `title = "…"`, `description = "…"`, `read_only`, `destructive`, `additive`, `idempotent`,
/// `closed_world`, `task`, `only_as_task`, `task_when_asked`. Of an argument, as `#[arg(…)]`: `name = "…"`,
/// `default = …` (or `default` alone; a text may stand as it is), `range = 1..=10`, `header = "…"` (mirrored in `Mcp-Param-…`; never for secrets).
#[doc(inline)]
pub use toolbay_macros::tool;

/// Makes a prompt of an async function: its docs are the description, its arguments the holes to fill in, their docs the
/// descriptions of these.
///
/// ```
/// use toolbay::prelude::*;
///
/// /// Reports on a week.
/// #[prompt(title = "Weekly report")]
/// async fn weekly_report(
///     /// Number of the week.
///     week: u32,
/// ) -> String {
///     format!("Report on week {week}.")
/// }
///
/// # fn main() {
/// let server = Server::new("reports", "1.0.0").prompt(weekly_report::prompt());
/// # }
/// ```
///
/// Of the prompt: `name = "…"`, `title = "…"`, `description = "…"`. Of an argument, as `#[arg(…)]`: `name = "…"`,
/// `default = …`, `complete = path::to::function`, which takes what is typed and the context and returns suggestions.
#[doc(inline)]
pub use toolbay_macros::prompt;

/// Makes a resource of an async function, or, where the URI has holes, a template whose holes are the arguments.
///
/// ```
/// use toolbay::prelude::*;
///
/// /// How the application is set up.
/// #[resource("config://app", mime_type = "application/json")]
/// async fn config() -> &'static str {
///     r#"{"debug":false}"#
/// }
///
/// /// One order.
/// #[resource("order://{id}")]
/// async fn order(id: u32) -> Option<String> {
///     (id < 10).then(|| format!("order {id}"))
/// }
///
/// # fn main() {
/// let server = Server::new("shop", "1.0.0").resource(config::resource()).template(order::template());
/// # }
/// ```
///
/// Of the resource: `name = "…"`, `title = "…"`, `description = "…"`, `mime_type = "…"`. Of an argument, as `#[arg(…)]`:
/// `name = "…"`, `default = …`, `complete = path::to::function`.
#[doc(inline)]
pub use toolbay_macros::resource;

/// Makes a struct or an enum something that tools take and return: it can be read, be written, and has a schema, in which
/// its docs are the descriptions. The attributes `#[serde(…)]` and `#[schemars(…)]` may stand on it.
///
/// ```
/// use toolbay::prelude::*;
///
/// #[data]
/// struct Order {
///     /// Number of the order.
///     id: u32,
///     note: Option<String>,
/// }
/// ```
#[doc(inline)]
pub use toolbay_macros::data;
