//! From a request in plain words to calls of tools.
//!
//! With a model: a [`transcript`] of what was said, a [`model`] that replies, a [`toolbox`] of what may be called, and the
//! [`person`] who is asked.
//!
//! [`planner`] needs no model: words choose the tools, and the words of the request become their arguments.
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

pub mod model;
pub mod person;
pub mod planner;
pub mod toolbox;
pub mod transcript;
