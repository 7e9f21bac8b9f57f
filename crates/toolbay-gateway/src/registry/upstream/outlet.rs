//! A server with one tool, behind which a service stands.

use std::{future::Future, sync::Arc};

use serde_json::json;
use toolbay_protocol::{
    ErrorObject, Method, Raw, exchange::Outcome, fault::code, greeting::Profile, raw::Object, watch::Filter,
};
use toolbay_transport::{
    Caller, Cx, Error, Hub, Request, Service, Watch,
    http::client::{Answer, Errands},
};

use super::{
    polled::{self, Session},
    result, verdict,
};
use crate::{
    config::{self, Answering, Polling},
    registry::Call,
};

/// Such a server.
pub(super) struct Outlet {
    service: config::Service,
    polling: Option<Polling>,
    errands: Errands,
    hub: Hub,
}

impl Outlet {
    pub(super) fn new(service: config::Service, errands: Errands) -> Self {
        let polling = match &service.answering {
            Answering::AtOnce => None,
            Answering::Polled(polling) | Answering::Unknown(polling) => Some(polling.clone()),
        };
        Self { service, polling, errands, hub: Hub::new() }
    }

    fn tool(&self) -> Raw {
        let mut tool = Object::with_capacity(256);
        tool.put_text("name", &self.service.name);
        if let Some(description) = &self.service.description {
            tool.put_text("description", description);
        }
        tool.put("inputSchema", &self.service.schema);
        tool.finish()
    }

    async fn called(&self, params: &Raw) -> Outcome {
        let name = params.get("name").as_ref().and_then(Raw::as_text).map(std::borrow::Cow::into_owned);
        if name.as_deref() != Some(&self.service.name) {
            return Err(ErrorObject::invalid_params(format!("unknown tool: {name:?}")));
        }
        let arguments = params.get("arguments").unwrap_or(Raw::EMPTY);
        let posted = self.errands.post(self.document(&arguments).into_bytes()).await;
        Ok(match (posted, &self.polling) {
            (Err(error), _) => failed(&error),
            (Ok(answer), None) => result::of(&answer, &self.errands.place()),
            (Ok(answer), Some(polling)) => self.later(&answer, polling).await,
        })
    }

    /// What is posted: the arguments are the bytes that were judged.
    fn document(&self, arguments: &Raw) -> Raw {
        match self.service.call {
            Call::Arguments => arguments.clone(),
            Call::Named => {
                let mut document = Object::with_capacity(arguments.as_bytes().len() + 64);
                document.put_text("name", &self.service.name);
                document.put("arguments", arguments);
                document.finish()
            }
        }
    }

    /// The result of a call that was answered with the promise of one.
    async fn later(&self, answer: &Answer, polling: &Polling) -> Raw {
        let session = if answer.status.is_success() { verdict::session(answer) } else { None };
        let Some(session) = session else { return result::of(answer, &self.errands.place()) };
        if let Some(result) = verdict::done_already(answer) {
            return result;
        }
        match Session::of(&self.errands, self.service.remote.url.uri(), polling, session) {
            Ok(session) => polled::wait(&session, polling).await,
            Err(error) => failed(&error),
        }
    }
}

fn failed(error: &Error) -> Raw {
    result::error(&format!("the service could not be called: {error}"))
}

impl Service for Outlet {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": self.service.name, "version": "1"})),
            capabilities: Raw::of(&json!({"tools": {}})),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        match &request.method {
            Method::ToolsList => {
                let mut list = Object::with_capacity(512);
                list.put("tools", &Raw::array(&[self.tool()]));
                Ok(list.finish())
            }
            Method::ToolsCall => self.called(&request.params).await,
            other => Err(ErrorObject::new(code::METHOD_NOT_FOUND, format!("{other} is not served"))),
        }
    }

    fn watch(&self, _: &Arc<Caller>, filter: Filter) -> impl Future<Output = Result<Watch, ErrorObject>> + Send {
        std::future::ready(Ok(self.hub.watch(filter)))
    }
}
