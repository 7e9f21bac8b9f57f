//! The output schemas that a server's lists named, and results held against them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolbay_protocol::{
    Raw,
    types::{CallToolResult, ListToolsResult},
};

use super::error::ClientError;
use crate::validate::Validator;

/// How many tools are known at most.
const MOST: usize = 4096;

/// The output schemas of tools, compiled when they are first needed.
#[derive(Default)]
pub(crate) struct Schemas(Mutex<HashMap<String, Schema>>);

#[derive(Clone)]
enum Schema {
    Written(Raw),
    Compiled(Arc<Validator>),
    Unusable(String),
}

impl Schemas {
    fn known(&self) -> MutexGuard<'_, HashMap<String, Schema>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all: the tools may be others now.
    pub(crate) fn clear(&self) {
        self.known().clear();
    }

    /// Learns from a page of tools.
    pub(crate) fn learn(&self, page: &Raw) {
        let Ok(page) = page.read::<ListToolsResult>() else { return };
        let mut known = self.known();
        for tool in page.tools {
            match tool.output_schema {
                Some(schema) if known.len() < MOST => drop(known.insert(tool.name, Schema::Written(schema))),
                Some(_) | None => drop(known.remove(&tool.name)),
            }
        }
    }

    fn validator(&self, tool: &str) -> Option<Result<Arc<Validator>, String>> {
        let schema = self.known().get(tool).cloned()?;
        let compiled = match schema {
            Schema::Compiled(validator) => return Some(Ok(validator)),
            Schema::Unusable(flaw) => return Some(Err(flaw)),
            Schema::Written(schema) => Validator::of(&schema).map(Arc::new),
        };
        let kept = match &compiled {
            Ok(validator) => Schema::Compiled(Arc::clone(validator)),
            Err(flaw) => Schema::Unusable(flaw.clone()),
        };
        self.known().insert(tool.to_owned(), kept);
        Some(compiled)
    }

    /// An error where a result does not fit what its tool promised. A failure promises nothing.
    pub(crate) fn check(&self, tool: &str, result: &CallToolResult) -> Result<(), ClientError> {
        if result.failed() {
            return Ok(());
        }
        let Some(validator) = self.validator(tool) else { return Ok(()) };
        let misfit =
            |flaw: String| ClientError::Misfit(format!("the result of {tool} is not what it promises: {flaw}"));
        let Some(content) = &result.structured_content else {
            return Err(misfit("there is no structured content".into()));
        };
        validator.and_then(|validator| validator.check(content)).map_err(misfit)
    }
}
