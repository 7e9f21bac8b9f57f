//! What becomes of a handler that came to no answer: a panic takes nothing down, and nobody reads what was not meant for
//! them.

use std::{any::Any, fmt, future::Future, panic::AssertUnwindSafe, pin::Pin, time::Duration};

use futures_util::FutureExt as _;
use toolbay_protocol::{ErrorObject, Method, Raw, exchange::Outcome};

use super::{arguments::Misfit, ask::Parted, context::Ctx, live::Live, output::Form};
use crate::error::{Foreign, Reason, Report, Result, chain, reference};

/// What a handler came to.
pub(crate) enum Came<T> {
    /// An answer, or its own failure.
    Answer(Result<T>),
    /// Its arguments did not fit: it was not called.
    Misfit(Misfit),
    /// It panicked.
    Panicked(String),
    /// None: the caller was sent back with questions.
    Parted,
    /// None: it took longer than this, and was dropped.
    Late(Duration),
}

/// The work of a handler, or why it was not called.
pub(crate) type Begun<T> = Result<Pin<Box<dyn Future<Output = Result<T>> + Send>>, Misfit>;

/// Runs a handler to its end, whatever that is.
pub(crate) async fn run<T>(cx: &Ctx, start: impl FnOnce() -> Begun<T>) -> Came<T> {
    let work = async {
        match start() {
            Ok(work) => Came::Answer(work.await),
            Err(misfit) => Came::Misfit(misfit),
        }
    };
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(Came::Answer(answer)) => match cx.part().await {
            Ok(Parted::No) => Came::Answer(answer),
            Ok(Parted::Yes) => Came::Parted,
            Err(error) => Came::Answer(Err(error.into())),
        },
        Ok(came) => came,
        Err(panic) => Came::Panicked(said(&*panic)),
    }
}

/// Answers a request with code around it that is the author's too: a panic there ends the request and nothing else.
pub(crate) async fn guarded(live: &Live, method: &Method, answer: impl Future<Output = Outcome>) -> Outcome {
    let came = AssertUnwindSafe(answer).catch_unwind().await;
    let subject = Subject { kind: "request", name: method.as_str() };
    came.unwrap_or_else(|panic| Err(ErrorObject::internal(hidden(live, subject, &said(&*panic)))))
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panicked: {}", text.unwrap_or_else(|| "without a word".into()))
}

/// What failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    /// `tool`, `prompt` and the like.
    pub(crate) kind: &'static str,
    /// Which of them.
    pub(crate) name: &'a str,
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)
    }
}

/// The outcome of a tool call: all but protocol errors is for the model (spec: server/tools, error handling).
pub(crate) fn of_tool(live: &Live, form: &Form, subject: Subject<'_>, came: Came<Raw>) -> Outcome {
    let reason = match came {
        Came::Answer(Ok(result)) => return Ok(result),
        // What the caller was asked is the answer; the transport has it.
        Came::Parted => return Ok(Raw::EMPTY),
        Came::Misfit(misfit) => return Ok(form.failure(&format!("invalid arguments for {subject}: {misfit}"))),
        Came::Panicked(what) => return Ok(form.failure(&hidden(live, subject, &what))),
        Came::Late(limit) => return Ok(form.failure(&late(subject, limit))),
        Came::Answer(Err(fail)) => fail.reason(),
    };
    match reason {
        Reason::Tool(error) => Ok(form.failure(&error.to_string())),
        Reason::Protocol(error) => Err(error),
        Reason::Foreign(error) => Ok(form.failure(&hidden(live, subject, &chain(&*error)))),
        Reason::Suspended => Err(nothing_asked()),
    }
}

/// The answer of anything else, where each failure is an error of the protocol.
pub(crate) fn of_other<T>(
    live: &Live,
    subject: Subject<'_>,
    came: Came<T>,
) -> std::result::Result<Option<T>, ErrorObject> {
    let reason = match came {
        Came::Answer(Ok(answer)) => return Ok(Some(answer)),
        Came::Parted => return Ok(None),
        Came::Misfit(misfit) => return Err(ErrorObject::invalid_params(format!("{subject}: {misfit}"))),
        Came::Panicked(what) => return Err(ErrorObject::internal(hidden(live, subject, &what))),
        Came::Late(limit) => return Err(ErrorObject::internal(late(subject, limit))),
        Came::Answer(Err(fail)) => fail.reason(),
    };
    match reason {
        Reason::Tool(error) => Err(ErrorObject::internal(error.to_string())),
        Reason::Protocol(error) => Err(error),
        Reason::Foreign(error) => Err(ErrorObject::internal(hidden(live, subject, &chain(&*error)))),
        Reason::Suspended => Err(nothing_asked()),
    }
}

fn late(subject: Subject<'_>, limit: Duration) -> String {
    format!("{subject} did not come to an end within {limit:?} (limit `call_deadline`) and was stopped")
}

fn nothing_asked() -> ErrorObject {
    ErrorObject::internal("the handler waits for an answer that it never asked for")
}

/// Reports a failure to the author; what the other side may know of it.
fn hidden(live: &Live, subject: Subject<'_>, what: &str) -> String {
    let report = Report { subject: subject.to_string(), what: what.to_owned(), reference: reference() };
    (live.settings.report)(&report);
    match live.settings.foreign {
        Foreign::Shown => format!("{subject} failed: {what}"),
        Foreign::Referenced => {
            format!("{subject} failed inside; whoever runs the server finds it under {}", report.reference)
        }
    }
}
