//! Makes a server that speaks every revision look like one that speaks only one.

use serde_json::json;
use toolbay_protocol::{
    ErrorObject, Feature, Frame, Method, Raw, Revision, fault::code, frame::Rejected, greeting::envelope,
};

/// How a legacy server takes `server/discover`, which it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// With this error code.
    Code(i64),
    /// With a result that means nothing.
    Nonsense,
    /// Not at all.
    Silence,
}

/// What to do with a frame.
#[derive(Debug)]
pub(crate) enum Through {
    /// The server sees this.
    Pass(Result<Frame, Rejected>),
    /// The server never sees it; this is its answer.
    Answer(Frame),
    /// It is as if it never came.
    Nothing,
}

/// A server's view that is narrowed to one revision.
#[derive(Clone, Copy, Debug)]
pub struct Narrow {
    only: Revision,
    refusal: Refusal,
}

impl Narrow {
    /// Only `revision`, refusing what is newer with −32601.
    pub fn to(only: Revision) -> Self {
        Self { only, refusal: Refusal::Code(code::METHOD_NOT_FOUND) }
    }

    /// Refusing what is newer in another way.
    #[must_use]
    pub fn refusing(self, refusal: Refusal) -> Self {
        Self { refusal, ..self }
    }

    pub(crate) fn judge(&self, came: Result<Frame, Rejected>) -> Through {
        let (id, method, params) = match came {
            Ok(Frame::Request { id, method, params, .. }) => (id, method, params),
            other => return Through::Pass(other),
        };
        if self.only.has(Feature::Stateless) {
            if envelope::is_modern(params.as_ref()) {
                return Through::Pass(Ok(Frame::request(id, method, params)));
            }
            let data = json!({"supported": [self.only.as_str()], "requested": "?"});
            let error = ErrorObject::new(code::UNSUPPORTED_VERSION, "this server is modern").with_data(&data);
            return Through::Answer(Frame::reply(id, Err(error)));
        }
        match method {
            Method::Discover => match self.refusal {
                Refusal::Code(code) => Through::Answer(Frame::reply(id, Err(ErrorObject::new(code, "what?")))),
                Refusal::Nonsense => Through::Answer(Frame::reply(id, Ok(Raw::EMPTY))),
                Refusal::Silence => Through::Nothing,
            },
            Method::Initialize => {
                let date = Raw::of(self.only.as_str());
                let params = params.map(|params| params.with(&[("protocolVersion", Some(&date))]));
                Through::Pass(Ok(Frame::request(id, method, params)))
            }
            method => Through::Pass(Ok(Frame::request(id, method, params.map(|params| plain(&params))))),
        }
    }
}

/// To a legacy server the envelope is a member like any other; here it must not be seen.
fn plain(params: &Raw) -> Raw {
    if !envelope::is_modern(Some(params)) {
        return params.clone();
    }
    let meta = params.get("_meta").map(|meta| meta.with(&[(envelope::PROTOCOL_VERSION, None)]));
    params.with(&[("_meta", meta.as_ref())])
}
