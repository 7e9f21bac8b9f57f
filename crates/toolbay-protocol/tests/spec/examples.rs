//! The official examples of the newest revision: each is read as its type and written without loss.

use std::{fmt::Debug, fs, path::Path};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use toolbay_protocol::{ErrorObject, Frame, Raw, Revision, types::*};

/// Checks every file of every folder; how many there were.
pub(crate) fn check_all(folder: &Path) -> usize {
    let mut count = 0;
    for kind in list(folder) {
        for file in list(&kind) {
            let text = fs::read_to_string(&file).expect("an example can be read");
            let name = kind.file_name().expect("a folder has a name").to_string_lossy().into_owned();
            check(&name, &text);
            count += 1;
        }
    }
    count
}

fn list(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.sort();
    paths
}

fn check(kind: &str, text: &str) {
    let value: Value = serde_json::from_str(text).expect("an example is JSON");
    if value.get("jsonrpc").is_some() {
        return check_message(kind, text, &value);
    }
    if let (Some(method), true) = (value["method"].as_str(), kind.ends_with("Request")) {
        let request = survives::<InputRequest>(text, &value);
        assert_eq!(request.method.as_str(), method);
        return request.params.iter().for_each(|params| check_body(kind, params));
    }
    check_body(kind, &Raw::of(&value));
}

/// A message: through its frame, then what it carries.
fn check_message(kind: &str, text: &str, value: &Value) {
    let frame =
        Frame::parse(&Bytes::copy_from_slice(text.as_bytes())).unwrap_or_else(|error| panic!("{kind}: {error:?}"));
    let written: Value = serde_json::from_slice(&frame.to_bytes()).expect("a frame is JSON");
    assert_eq!(written, *value, "{kind}");
    let bare = kind.strip_suffix("Response").unwrap_or(kind);
    match frame {
        Frame::Request { params, .. } | Frame::Notification { params, .. } => {
            params.iter().for_each(|params| check_body(bare, params));
        }
        Frame::Result { result, .. } => check_body(bare, &result),
        Frame::Error { error, .. } => check_body("Error", &error),
    }
}

fn check_body(kind: &str, raw: &Raw) {
    let text = std::str::from_utf8(raw.as_bytes()).expect("JSON is text");
    let value: Value = raw.read().expect("an example is JSON");
    macro_rules! by_kind {
        ($($($name:literal)|+ => $type:ty,)*) => {
            match kind {
                $($($name)|+ => drop(bends::<$type>(text, &value)),)*
                _ => check_plain(kind, text, &value),
            }
        };
    }
    by_kind! {
        "AudioContent" => AudioContent,
        "BlobResourceContents" | "TextResourceContents" => ResourceContents,
        "CallToolRequest" | "CallToolRequestParams" => CallToolParams,
        "CallToolResult" => CallToolResult,
        "CancelledNotification" | "CancelledNotificationParams" => CancelledParams,
        "ClientCapabilities" => ClientCapabilities,
        "CompleteRequest" | "CompleteRequestParams" => CompleteParams,
        "CompleteResult" => CompleteResult,
        "CreateMessageRequest" | "CreateMessageRequestParams" => CreateMessageParams,
        "CreateMessageResult" => CreateMessageResult,
        "DiscoverRequest" | "ListRootsRequest" | "ToolListChangedNotification" | "PromptListChangedNotification"
            | "ResourceListChangedNotification" => EmptyParams,
        "DiscoverResult" => DiscoverResult,
        "ElicitRequest" | "ElicitRequestFormParams" | "ElicitRequestURLParams" => ElicitParams,
        "ElicitResult" => ElicitResult,
        "EmbeddedResource" => EmbeddedResource,
        "GetPromptRequest" | "GetPromptRequestParams" => GetPromptParams,
        "GetPromptResult" => GetPromptResult,
        "ImageContent" => ImageContent,
        "InputRequiredResult" => InputRequiredResult,
        "ListPromptsRequest" | "ListResourcesRequest" | "ListResourceTemplatesRequest" | "ListToolsRequest"
            | "PaginatedRequestParams" => ListParams,
        "ListPromptsResult" => ListPromptsResult,
        "ListResourcesResult" => ListResourcesResult,
        "ListResourceTemplatesResult" => ListResourceTemplatesResult,
        "ListToolsResult" => ListToolsResult,
        "ListRootsResult" => ListRootsResult,
        "LoggingMessageNotification" | "LoggingMessageNotificationParams" => LoggingMessageParams,
        "ProgressNotification" | "ProgressNotificationParams" => ProgressParams,
        "ReadResourceRequest" | "ReadResourceRequestParams" => ReadResourceParams,
        "ReadResourceResult" => ReadResourceResult,
        "Resource" => Resource,
        "ResourceLink" => ResourceLink,
        "ResourceUpdatedNotification" | "ResourceUpdatedNotificationParams" => ResourceParams,
        "Root" => Root,
        "ServerCapabilities" => ServerCapabilities,
        "SubscriptionsListenRequest" => ListenParams,
        "SubscriptionsListenResult" => ListenResult,
        "SubscriptionsAcknowledgedNotification" => AcknowledgedParams,
        "TextContent" => TextContent,
        "Tool" => Tool,
        "ToolResultContent" => ToolResultContent,
        "ToolUseContent" => ToolUseContent,
    }
}

/// What has no history of its own.
fn check_plain(kind: &str, text: &str, value: &Value) {
    match kind {
        "BooleanSchema" => assert!(matches!(survives(text, value), FieldSchema::Boolean(_))),
        "NumberSchema" => assert!(matches!(survives(text, value), FieldSchema::Number(_))),
        "StringSchema" => assert!(matches!(survives(text, value), FieldSchema::String(_))),
        "TitledSingleSelectEnumSchema" | "UntitledSingleSelectEnumSchema" => {
            assert!(matches!(survives(text, value), FieldSchema::Single(_)));
        }
        "TitledMultiSelectEnumSchema" | "UntitledMultiSelectEnumSchema" => {
            assert!(matches!(survives(text, value), FieldSchema::Multi(_)));
        }
        "InputRequests" => drop(survives::<InputRequests>(text, value)),
        "InputResponses" => drop(survives::<InputResponses>(text, value)),
        "ModelPreferences" => drop(survives::<ModelPreferences>(text, value)),
        "SamplingMessage" => drop(survives::<SamplingMessage>(text, value)),
        error if error.ends_with("Error") => drop(survives::<ErrorObject>(text, value)),
        unknown => panic!("no type for the example of {unknown}"),
    }
}

fn survives<T: Serialize + DeserializeOwned + Debug>(text: &str, value: &Value) -> T {
    let typed: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(serde_json::to_value(&typed).expect("types always serialize"), *value);
    typed
}

/// It survives, and the newest revision says it in the same words. (An example or two leaves out cache hints.)
fn bends<T: Serialize + DeserializeOwned + Debug + Conform>(text: &str, value: &Value) -> Value {
    let typed = survives::<T>(text, value).conformed(Revision::LATEST);
    let mut bent = serde_json::to_value(&typed).expect("types always serialize");
    if let (Some(bent), Some(value)) = (bent.as_object_mut(), value.as_object()) {
        bent.retain(|key, _| value.contains_key(key) || !matches!(key.as_str(), "resultType" | "ttlMs" | "cacheScope"));
    }
    assert_eq!(bent, *value);
    bent
}
