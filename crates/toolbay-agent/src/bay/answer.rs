//! A question of a server, put to the person; what they say, in the protocol's words.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use toolbay_protocol::{
    ErrorObject, Method, Raw, Revision,
    exchange::{Ask, Outcome},
    fault::code,
    types::{Conform, CreateMessageResult, ElicitParams, ElicitResult, ListRootsResult},
};

use crate::{
    forms::Form,
    person::{Answered, Elicitation, Person, Sampling},
};

/// Answers one question of a server, in words of the revision that is spoken with it.
pub(super) async fn answer(server: &str, ask: &Ask, revision: Revision, person: &dyn Person) -> Outcome {
    let params = ask.params.clone().unwrap_or(Raw::EMPTY);
    match &ask.method {
        Method::Elicit => conformed::<ElicitResult>(&elicited(server, &params, person).await?, revision),
        Method::CreateMessage => {
            let params: Value = params.read().map_err(misfit)?;
            let sampled = person.sample(Sampling { server, params: &params }).await;
            // spec: client/sampling, a user who says no
            let sampled = sampled.map_err(|why| ErrorObject::new(code::REFUSED, why))?;
            conformed::<CreateMessageResult>(&sampled, revision)
        }
        Method::RootsList => conformed::<ListRootsResult>(&json!({"roots": person.roots().await}), revision),
        other => Err(ErrorObject::new(code::METHOD_NOT_FOUND, format!("this host does not answer {other}"))),
    }
}

async fn elicited(server: &str, params: &Raw, person: &dyn Person) -> Result<Value, ErrorObject> {
    let server = server.to_owned();
    let (question, form) = match params.read::<ElicitParams>().map_err(misfit)? {
        ElicitParams::Form(asked) => {
            let schema: Value = asked.requested_schema.read().map_err(misfit)?;
            let form = Form::read(&schema).map_err(ErrorObject::invalid_params)?;
            (Elicitation::Form { server, message: asked.message, schema }, Some(form))
        }
        ElicitParams::Url(asked) => (Elicitation::Url { server, message: asked.message, url: asked.url }, None),
        // spec: client/elicitation, an undeclared mode
        _ => return Err(ErrorObject::invalid_params("this host answers elicitation in the modes form and url")),
    };
    Ok(match (person.elicit(question).await, form) {
        (Answered::Accept(content), Some(form)) => {
            let content = form.complete(content.unwrap_or_default());
            // Nothing leaves here that is not what was asked for.
            form.check(&content).map_err(|wrong| ErrorObject::internal(wrong.to_string()))?;
            json!({"action": "accept", "content": content})
        }
        (Answered::Accept(_), None) => json!({"action": "accept"}),
        (Answered::Decline, _) => json!({"action": "decline"}),
        (Answered::Cancel, _) => json!({"action": "cancel"}),
    })
}

fn conformed<T: DeserializeOwned + Conform + Serialize>(answer: &Value, revision: Revision) -> Outcome {
    let ours = |flaw| ErrorObject::internal(format!("the host answered what the protocol does not know: {flaw}"));
    Ok(Raw::of(&Raw::of(answer).read::<T>().map_err(ours)?.conformed(revision)))
}

fn misfit(flaw: serde_json::Error) -> ErrorObject {
    ErrorObject::invalid_params(format!("the question does not fit: {flaw}"))
}
