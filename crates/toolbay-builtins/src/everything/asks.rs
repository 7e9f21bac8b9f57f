//! What is asked in the middle of a call: the user, the model, the roots; in every order and number.

use serde::Deserialize;
use toolbay::{
    Ctx, JsonSchema, Prompt, Result, Server, Tool, ok, schemars,
    server::Elicited,
    types::{CreateMessageParams, SamplingMessage},
};

pub(super) fn add(server: Server) -> Server {
    server
        .tool(Tool::new("test_sampling", "Asks the client's model", |args: Sampling, cx: Ctx| async move {
            let said = cx.sample_text("sampling", args.prompt, 100).await?;
            ok(format!("LLM response: {said}"))
        }))
        .tool(Tool::new("test_missing_capability", "Needs the client's model", |cx: Ctx| async move {
            cx.sample_text("sampling", "Say something.", 10).await
        }))
        .tool(Tool::new("test_streaming_elicitation", "Tells how far it is, then asks", |cx: Ctx| async move {
            cx.progress(1.0).of(2.0).await;
            let name: Name = cx.ask("user_name", "What is your name?").await?;
            ok(format!("Hello, {}!", name.name))
        }))
        .tool(Tool::new("test_input_required_result_elicitation", "Asks for a name", greet))
        .tool(Tool::new("test_input_required_result_sampling", "Asks the model for a capital", |cx: Ctx| async move {
            cx.sample_text("capital_question", "What is the capital of France?", 100).await
        }))
        .tool(Tool::new("test_input_required_result_list_roots", "Asks for the roots", |cx: Ctx| async move {
            let roots = cx.roots("client_roots").await?;
            let uris: Vec<String> = roots.into_iter().map(|root| root.uri).collect();
            ok(format!("The client's roots: {}", uris.join(", ")))
        }))
        .tool(Tool::new("test_input_required_result_request_state", "Asks, and checks its state", confirmed))
        .tool(Tool::new("test_input_required_result_tampered_state", "Asks, and checks its state", confirmed))
        .tool(Tool::new("test_input_required_result_multiple_inputs", "Asks three things at once", three_at_once))
        .tool(Tool::new(
            "test_input_required_result_multi_round",
            "Asks one thing after the other",
            |cx: Ctx| async move {
                let name: Name = cx.ask("step1", "Step 1: What is your name?").await?;
                let color: Color = cx.ask("step2", "Step 2: What is your favorite color?").await?;
                ok(format!("{} likes {}.", name.name, color.color))
            },
        ))
        .tool(Tool::new("test_input_required_result_capabilities", "Asks only what the client can answer", within))
        .prompt(Prompt::new("test_input_required_result_prompt", "Asks what it is about", |cx: Ctx| async move {
            let context: Context = cx.ask("user_context", "What context should the prompt use?").await?;
            ok(format!("Use this context: {}", context.context))
        }))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Sampling {
    /// What to ask the model.
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Color {
    color: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Context {
    context: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Confirmation {
    ok: bool,
}

async fn greet(cx: Ctx) -> Result<String> {
    let name: Name = cx.ask("user_name", "What is your name?").await?;
    Ok(format!("Hello, {}!", name.name))
}

/// That the state came back untouched was checked before this runs again.
async fn confirmed(cx: Ctx) -> Result<String> {
    let confirmation: Confirmation = cx.ask("confirm", "Please confirm").await?;
    Ok(format!("state-ok, confirmed: {}", confirmation.ok))
}

async fn three_at_once(cx: Ctx) -> Result<String> {
    let name = cx.ask::<Name>("user_name", "What is your name?");
    let greeting = cx.sample("greeting", CreateMessageParams::new([SamplingMessage::user("Generate a greeting")], 50));
    let (name, greeting, roots) = tokio::try_join!(name, greeting, cx.roots("client_roots"))?;
    let said: Vec<&str> = greeting.content.as_slice().iter().filter_map(|block| block.as_text()).collect();
    Ok(format!("{}, {} ({} roots)", said.join(" "), name.name, roots.len()))
}

async fn within(cx: Ctx) -> Result<String> {
    let can = cx.capabilities();
    if can.elicits_forms() {
        let name = cx.elicit::<Name>("user_name", "What is your name?").await?;
        return Ok(match name {
            Elicited::Accepted(name) => format!("Hello, {}!", name.name),
            Elicited::Declined | Elicited::Cancelled => "Hello, whoever you are!".into(),
        });
    }
    if can.sampling.is_some() {
        return cx.sample_text("greeting", "Generate a greeting", 50).await;
    }
    Ok("This client can be asked nothing.".into())
}
