//! Every type, where the schemas define it, and what must hold of it.

use std::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use toolbay_protocol::{Feature, Raw, Revision, types::*};

use super::{
    generate::{Chance, Generator, Whose},
    schema::{OfRevision, Spec},
};

/// How many values of each type are bent to each revision.
const VALUES: usize = 64;

/// Parameters and results.
pub(crate) fn messages(spec: &Spec) {
    check::<InitializeParams>(spec, "InitializeRequest/params");
    check::<InitializeResult>(spec, "InitializeResult");
    check::<DiscoverResult>(spec, "DiscoverResult");
    check::<EmptyParams>(spec, "DiscoverRequest/params");
    check::<EmptyParams>(spec, "PingRequest/params");
    check::<EmptyParams>(spec, "ListRootsRequest/params");
    check::<EmptyParams>(spec, "InitializedNotification/params");
    check::<EmptyParams>(spec, "ToolListChangedNotification/params");
    check::<EmptyParams>(spec, "PromptListChangedNotification/params");
    check::<EmptyParams>(spec, "ResourceListChangedNotification/params");
    check::<EmptyParams>(spec, "RootsListChangedNotification/params");
    check::<EmptyResult>(spec, "EmptyResult");
    check::<ListParams>(spec, "ListToolsRequest/params");
    check::<ListParams>(spec, "ListPromptsRequest/params");
    check::<ListParams>(spec, "ListResourcesRequest/params");
    check::<ListParams>(spec, "ListResourceTemplatesRequest/params");
    check::<ListParams>(spec, "ListTasksRequest/params");
    check::<ListToolsResult>(spec, "ListToolsResult");
    check::<ListPromptsResult>(spec, "ListPromptsResult");
    check::<ListResourcesResult>(spec, "ListResourcesResult");
    check::<ListResourceTemplatesResult>(spec, "ListResourceTemplatesResult");
    check::<ListTasksResult>(spec, "ListTasksResult");
    check::<CallToolParams>(spec, "CallToolRequest/params");
    check::<CallToolResult>(spec, "CallToolResult");
    check::<GetPromptParams>(spec, "GetPromptRequest/params");
    check::<GetPromptResult>(spec, "GetPromptResult");
    check::<ReadResourceParams>(spec, "ReadResourceRequest/params");
    check::<ReadResourceResult>(spec, "ReadResourceResult");
    check::<ResourceParams>(spec, "SubscribeRequest/params");
    check::<ResourceParams>(spec, "UnsubscribeRequest/params");
    check::<ResourceParams>(spec, "ResourceUpdatedNotification/params");
    check::<CompleteParams>(spec, "CompleteRequest/params");
    check::<CompleteResult>(spec, "CompleteResult");
    check::<SetLevelParams>(spec, "SetLevelRequest/params");
    check::<LoggingMessageParams>(spec, "LoggingMessageNotification/params");
    check::<ProgressParams>(spec, "ProgressNotification/params");
    check::<CancelledParams>(spec, "CancelledNotification/params");
    check::<ListenParams>(spec, "SubscriptionsListenRequest/params");
    check::<ListenResult>(spec, "SubscriptionsListenResult");
    check::<AcknowledgedParams>(spec, "SubscriptionsAcknowledgedNotification/params");
    check::<InputRequiredResult>(spec, "InputRequiredResult");
}

/// What stands inside them, what servers ask, and tasks.
pub(crate) fn things(spec: &Spec) {
    check::<CreateMessageParams>(spec, "CreateMessageRequest/params");
    check::<CreateMessageResult>(spec, "CreateMessageResult");
    check::<ElicitParams>(spec, "ElicitRequest/params");
    check::<ElicitFormParams>(spec, "ElicitRequestFormParams");
    check::<ElicitUrlParams>(spec, "ElicitRequestURLParams");
    check::<ElicitResult>(spec, "ElicitResult");
    check::<ElicitationCompleteParams>(spec, "ElicitationCompleteNotification/params");
    check::<ListRootsResult>(spec, "ListRootsResult");
    check::<Root>(spec, "Root");
    check::<Implementation>(spec, "Implementation");
    check::<ClientCapabilities>(spec, "ClientCapabilities");
    check::<ServerCapabilities>(spec, "ServerCapabilities");
    check::<Icon>(spec, "Icon");
    check::<Annotations>(spec, "Annotations");
    check::<Tool>(spec, "Tool");
    check::<ToolAnnotations>(spec, "ToolAnnotations");
    check::<Prompt>(spec, "Prompt");
    check::<PromptArgument>(spec, "PromptArgument");
    check::<PromptMessage>(spec, "PromptMessage");
    check::<ContentBlock>(spec, "PromptMessage/content");
    check::<TextContent>(spec, "TextContent");
    check::<ImageContent>(spec, "ImageContent");
    check::<AudioContent>(spec, "AudioContent");
    check::<ResourceLink>(spec, "ResourceLink");
    check::<EmbeddedResource>(spec, "EmbeddedResource");
    check::<ToolUseContent>(spec, "ToolUseContent");
    check::<ToolResultContent>(spec, "ToolResultContent");
    check::<Resource>(spec, "Resource");
    check::<ResourceTemplate>(spec, "ResourceTemplate");
    check::<ResourceContents>(spec, "TextResourceContents");
    check::<ResourceContents>(spec, "BlobResourceContents");
    check::<Task>(spec, "GetTaskResult");
    check::<Task>(spec, "CancelTaskResult");
    check::<Task>(spec, "TaskStatusNotification/params");
    check::<CreateTaskResult>(spec, "CreateTaskResult");
    check::<TaskMetadata>(spec, "TaskMetadata");
    check::<TaskParams>(spec, "GetTaskRequest/params");
    check::<TaskParams>(spec, "GetTaskPayloadRequest/params");
    check::<TaskParams>(spec, "CancelTaskRequest/params");
}

fn check<T: Conform + Clone + PartialEq + Debug + Serialize + DeserializeOwned>(spec: &Spec, path: &str) {
    let mut lived = false;
    for of in &spec.revisions {
        let Some(validator) = of.validator(path) else { continue };
        lived = true;
        let seed = format!("{path} {}", of.revision);
        let mut generator = Generator { spec, chance: Chance::new(&seed) };
        let mut carried = 0;
        for _ in 0..VALUES {
            own_value_is_unchanged::<T>(&generator.named(path, Whose::Only(of.revision), 0), of.revision, path);
            let value = generator.named(path, Whose::All, 0);
            let typed: T = read(&value, path);
            assert_eq!(write(&typed), value, "{path} is read and written without loss");
            if typed.check(of.revision).is_err() {
                continue;
            }
            carried += 1;
            let bent = typed.clone().conformed(of.revision);
            assert_eq!(bent.clone().conformed(of.revision), bent, "{path} is bent once");
            let mut sent = write(&bent);
            add_envelope(&mut sent, of, path);
            if let Some(error) = validator.iter_errors(&sent).next() {
                let revision = of.revision;
                panic!("{path} bent to {revision}: {error} at {}\nfrom {value}\nto {sent}", error.instance_path());
            }
        }
        assert!(carried > VALUES / 8, "{path}: {} can carry only {carried} of {VALUES} values", of.revision);
    }
    assert!(lived, "no schema defines {path}");
}

/// What a revision can say, it says in its own words.
fn own_value_is_unchanged<T: Conform + Serialize + DeserializeOwned>(value: &Value, revision: Revision, path: &str) {
    let typed: T = read(value, path);
    typed.check(revision).unwrap_or_else(|fault| panic!("{path} of {revision} is refused there: {fault}\n{value}"));
    assert_eq!(write(&typed.conformed(revision)), *value, "{path} of {revision} is changed there");
}

fn read<T: DeserializeOwned>(value: &Value, path: &str) -> T {
    Raw::of(value).read().unwrap_or_else(|error| panic!("{path} cannot be read: {error}\n{value}"))
}

fn write<T: Serialize>(typed: &T) -> Value {
    Raw::of(typed).read().expect("what is written is JSON")
}

/// What a modern message's codec adds to `_meta`.
pub(crate) fn add_envelope(sent: &mut Value, of: &OfRevision, path: &str) {
    if !of.revision.has(Feature::Stateless) {
        return;
    }
    let meta = of.find(path).and_then(|message| of.follow(message.pointer("/properties/_meta")?));
    let Some(meta) = meta else { return };
    let required: Vec<_> = meta["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if required.is_empty() {
        return;
    }
    let object = sent.as_object_mut().expect("a message is an object");
    let place = object.entry("_meta").or_insert_with(|| json!({}));
    for key in required {
        place[key] = match key.rsplit('/').next() {
            Some("clientCapabilities") => json!({}),
            _ => json!("text"),
        };
    }
}
