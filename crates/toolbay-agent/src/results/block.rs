//! One block of a result's content, as a piece of a message.

use serde_json::{Map, Value};

use super::limits::{Pictures, ResultLimits};
use crate::transcript::{Content, Origin, Part};

/// Puts blocks into pieces; knows how many pictures there were.
pub(super) struct Blocks<'a> {
    pub(super) limits: &'a ResultLimits,
    pub(super) pictures: Pictures,
    pub(super) origin: Origin,
    pub(super) shown: usize,
}

impl Blocks<'_> {
    /// A block as a piece. Texts are moved, not copied.
    // spec: server/tools, kinds of content
    pub(super) fn piece(&mut self, block: Value) -> Part {
        let Value::Object(mut block) = block else { return self.text(block.to_string(), None) };
        let kind = text_of(&block, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "text" => match block.remove("text") {
                Some(Value::String(text)) => self.text(text, None),
                other => self.text(other.unwrap_or_default().to_string(), None),
            },
            "image" | "audio" => {
                let media = text_of(&block, "mimeType").unwrap_or_default().to_owned();
                self.bytes(&kind, &media, block.remove("data"), None)
            }
            "resource" => match block.remove("resource") {
                Some(Value::Object(resource)) => self.resource(resource),
                other => self.text(other.unwrap_or_default().to_string(), None),
            },
            "resource_link" => self.link(&block),
            _ => self.text(Value::Object(block).to_string(), None),
        }
    }

    fn resource(&mut self, mut resource: Map<String, Value>) -> Part {
        let uri = text_of(&resource, "uri").unwrap_or_default().to_owned();
        let media = text_of(&resource, "mimeType").unwrap_or_default().to_owned();
        match (resource.remove("text"), resource.remove("blob")) {
            (Some(Value::String(text)), _) => self.text(text, Some(uri)),
            (_, Some(blob)) => self.bytes(&format!("resource {uri}"), &media, Some(blob), Some(uri)),
            _ => self.text(format!("[resource {uri}: it has neither text nor bytes]"), Some(uri)),
        }
    }

    fn link(&self, block: &Map<String, Value>) -> Part {
        let text = |key| text_of(block, key).filter(|text| !text.is_empty());
        let uri = text("uri").unwrap_or_default();
        let mut told = format!("[resource {uri}");
        for key in ["title", "name", "description", "mimeType"] {
            if let Some(text) = text(key) {
                told += &format!("; {key}: {text}");
            }
        }
        if let Some(size) = block.get("size").and_then(Value::as_u64) {
            told += &format!("; {size} bytes");
        }
        told.push(']');
        self.text(told, Some(uri.to_owned()))
    }

    fn bytes(&mut self, kind: &str, media: &str, data: Option<Value>, uri: Option<String>) -> Part {
        let Some(Value::String(data)) = data else {
            return self.text(format!("[{kind} {media}: it has no bytes]"), uri);
        };
        let size = data.len() / 4 * 3;
        let why = match self.pictures {
            _ if !is_picture(media) => "this kind is not shown",
            Pictures::Named => "pictures cannot be shown here",
            Pictures::Shown if data.len() > self.limits.picture => "it is too large to be shown",
            Pictures::Shown if self.shown >= self.limits.pictures => "there are too many pictures to show this one",
            // A provider refuses the whole question over one picture that it cannot read.
            Pictures::Shown if !is_base64(&data) => "its bytes cannot be read",
            Pictures::Shown => {
                self.shown += 1;
                let what = Content::Image { media: media.to_owned(), data };
                return Part { what, origin: Some(self.origin_of(uri)) };
            }
        };
        self.text(format!("[{kind} {media}, {size} bytes: {why}]"), uri)
    }

    fn text(&self, text: String, uri: Option<String>) -> Part {
        Part { what: Content::Text(text), origin: Some(self.origin_of(uri)) }
    }

    fn origin_of(&self, uri: Option<String>) -> Origin {
        match uri {
            Some(what) => Origin { server: self.origin.server.clone(), what },
            None => self.origin.clone(),
        }
    }
}

fn text_of<'a>(block: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    block.get(key).and_then(Value::as_str)
}

fn is_picture(media: &str) -> bool {
    matches!(media, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

fn is_base64(data: &str) -> bool {
    let body = data.trim_end_matches('=');
    !data.is_empty()
        && data.len().is_multiple_of(4)
        && data.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}
