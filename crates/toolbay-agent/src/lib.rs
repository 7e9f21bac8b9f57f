//! From a request in plain words to calls of tools.
//!
//! With a model: an [`Agent`] asks a [`model`], calls what stands in a [`toolbox`], asks the [`person`] where the rules
//! ([`approve`]) say so, and goes on until there is an answer. What was said is a [`transcript`], what was done a [`trace`];
//! what follows from what is decided by a state machine ([`turn`]) that a test can drive without any of them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use futures_util::future::BoxFuture;
//! use serde_json::{Map, Value, json};
//! use toolbay_agent::{Agent, approve::ReadOnly, model::*, person::Person, planner::Failure, toolbox::*, transcript::*};
//! # use toolbay_gateway::catalog::Listed;
//!
//! // A model that follows a script; those behind an API are made in `model`.
//! struct Scripted;
//!
//! impl Model for Scripted {
//!     fn wire(&self) -> Wire {
//!         Wire::Anthropic
//!     }
//!
//!     fn ask<'a>(
//!         &'a self,
//!         ask: Ask<'a>,
//!         _: &'a mut (dyn FnMut(Heard<'_>) + Send),
//!     ) -> BoxFuture<'a, Result<Reply, ModelError>> {
//!         let (piece, stop) = match ask.transcript.messages.last() {
//!             Some(Message::Tools(answers)) => {
//!                 let Content::Text(weather) = &answers[0].parts[0].what else { unreachable!() };
//!                 (Piece::Text(format!("In Bern: {weather}.")), Stop::End)
//!             }
//!             _ => {
//!                 let arguments = Written::Object(Map::from_iter([("city".into(), json!("Bern"))]));
//!                 let (id, name) = ("1".into(), ask.tools[1].name.clone());
//!                 (Piece::Intent(Intent { id, name, arguments, kept: None }), Stop::Tools)
//!             }
//!         };
//!         let reply = Reply { said: Said { pieces: vec![piece] }, stop, usage: Usage::default() };
//!         Box::pin(async { Ok(reply) })
//!     }
//! }
//!
//! // Tools that stand in for those of servers.
//! struct Sky;
//!
//! impl Toolbox for Sky {
//!     fn shelf(&self) -> BoxFuture<'_, Arc<Shelf>> {
//!         let tool = Tool {
//!             id: ToolId { server: "sky".into(), name: "weather".into() },
//!             public: "sky__weather".into(),
//!             description: "The weather in a city.".into(),
//!             schema: json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
//!             hints: Hints { read_only: Some(true), ..Hints::default() },
//!         };
//!         Box::pin(async { Arc::new(Shelf { generation: 1, tools: vec![Arc::new(tool)], down: vec![] }) })
//!     }
//!
//!     fn call<'a>(
//!         &'a self,
//!         _: &'a Tool,
//!         _: Map<String, Value>,
//!         _: &'a dyn Person,
//!     ) -> BoxFuture<'a, Result<Value, Failure>> {
//!         Box::pin(async { Ok(json!({"content": [{"type": "text", "text": "rain"}]})) })
//!     }
//! #
//! #     fn items(&self, _: Listed) -> BoxFuture<'_, Vec<Item>> {
//! #         Box::pin(async { vec![] })
//! #     }
//! #
//! #     fn read<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Value, Failure>> {
//! #         Box::pin(async { Ok(Value::Null) })
//! #     }
//! #
//! #     fn prompt<'a>(
//! #         &'a self,
//! #         _: &'a str,
//! #         _: Map<String, Value>,
//! #         _: &'a dyn Person,
//! #     ) -> BoxFuture<'a, Result<Value, Failure>> {
//! #         Box::pin(async { Ok(Value::Null) })
//! #     }
//!     // … and what else there is: resources, prompts.
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! // What changes nothing may be called on a trusted server; for all else a person would be asked.
//! let mut agent = Agent::new(Arc::new(Scripted), Arc::new(Sky)).policy(Arc::new(ReadOnly::of(["sky"])));
//! let end = agent.say("What is the weather in Bern?").await;
//! assert_eq!(end.text, "In Bern: rain.");
//! for step in agent.steps() {
//!     println!("{}", step.to_value());
//! }
//! # });
//! ```
//!
//! Without one: [`planner`] needs none. Words choose the tools, and the words of the request become their arguments.
//!
//! ```
//! use serde_json::{Map, Value, json};
//! use toolbay_agent::planner::{Answered, Failure, Offered, Planner, Rules, Tools, run};
//!
//! struct Weather;
//!
//! impl Tools for Weather {
//!     type Answer = String;
//!
//!     async fn call(&self, _tool: &str, arguments: Map<String, Value>) -> Result<String, Failure> {
//!         Ok(format!("{}: 晴", arguments["city"].as_str().unwrap_or_default()))
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
//! let tool = Offered::new("weather_query", "查询城市天气信息").category("weather").taking(schema);
//! let planner = Planner::new(vec![tool], Rules::default());
//!
//! let plan = planner.plan("北京市今天天气");
//! assert_eq!(plan.groups[0].steps[0].tool.name, "weather_query");
//! let ran = run(&plan, &Weather, std::time::Duration::from_secs(30)).await;
//! assert!(matches!(&ran[0].answered, Answered::By { answer, .. } if answer == "北京市: 晴"));
//!
//! assert!(planner.plan("帮我翻译这句话").groups.is_empty());
//! # });
//! ```

mod agent;
pub mod approve;
pub mod bay;
pub mod context;
pub mod forms;
pub mod lend;
pub mod model;
pub mod person;
pub mod planner;
mod results;
mod shown;
pub mod toolbox;
pub mod trace;
pub mod transcript;
pub mod turn;

pub use agent::{Agent, Canceller, Event, Parallel, Settings};
pub use results::{Pictures, ResultLimits, Store};
pub use shown::{Expose, Showing};
