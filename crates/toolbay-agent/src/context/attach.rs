//! Resources beside a message: read, cut to size, marked with where they come from, each once unless it changed.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use serde_json::Value;

use super::mention::{Mention, candidates, nearest};
use crate::{
    toolbox::Toolbox,
    transcript::{Content, Part},
};

/// How much may be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachLimits {
    /// Characters of one text; what is longer is cut, and says so.
    pub characters: usize,
    /// Characters of all texts of one message together.
    pub message: usize,
    /// Bytes of one picture in base64; a larger one is named alone.
    pub picture: usize,
    /// Resources of one message.
    pub resources: usize,
}

impl Default for AttachLimits {
    fn default() -> Self {
        Self { characters: 50_000, message: 200_000, picture: 5 << 20, resources: 20 }
    }
}

/// What is attached to a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attached {
    /// To be put beside the message.
    pub parts: Vec<Part>,
    /// What was attached, or was there already, or was cut: for the person.
    pub told: Vec<String>,
    /// What could not be, and why.
    pub failed: Vec<String>,
}

/// What a conversation has attached so far.
#[derive(Debug, Default)]
pub struct Attacher {
    limits: AttachLimits,
    seen: HashMap<(String, String), u64>,
}

impl Attacher {
    /// With other limits than the usual ones.
    pub fn within(limits: AttachLimits) -> Self {
        Self { limits, seen: HashMap::new() }
    }

    /// Reads resources to be put beside a message. One that stands in the conversation already is left out unless it has
    /// changed.
    pub async fn attach(&mut self, toolbox: &dyn Toolbox, mentions: &[Mention]) -> Attached {
        let mut attached = Attached::default();
        let mut room = self.limits.message;
        for (at, mention) in mentions.iter().enumerate() {
            let name = format!("{}:{}", mention.server, mention.uri);
            if at >= self.limits.resources {
                attached.failed.push(format!("@{name}: more than {} resources in one message", self.limits.resources));
                continue;
            }
            match toolbox.read(&mention.server, &mention.uri).await {
                Ok(result) => self.put(mention, &name, &result, &mut room, &mut attached),
                Err(failure) => {
                    let all = candidates(toolbox).await;
                    let hint = nearest(&name, &all).filter(|near| *near != name);
                    let hint = hint.map(|near| format!("; is @{near} meant?")).unwrap_or_default();
                    attached.failed.push(format!("@{name}: {}{hint}", failure.what));
                }
            }
        }
        attached
    }

    fn put(&mut self, mention: &Mention, name: &str, result: &Value, room: &mut usize, attached: &mut Attached) {
        let mut hasher = DefaultHasher::new();
        result.get("contents").unwrap_or(result).to_string().hash(&mut hasher);
        let now = hasher.finish();
        let key = (mention.server.clone(), mention.uri.clone());
        if self.seen.get(&key) == Some(&now) {
            attached.told.push(format!("@{name} stands in the conversation already"));
            return;
        }
        let contents = result.get("contents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if contents.is_empty() {
            attached.failed.push(format!("@{name}: it is empty"));
            return;
        }
        for content in contents {
            let uri = content.get("uri").and_then(Value::as_str).unwrap_or(&mention.uri);
            let (what, told) = self.content(name, content, room);
            attached.parts.push(Part { what, origin: None }.from(&mention.server, uri));
            attached.told.push(told);
        }
        self.seen.insert(key, now);
    }

    fn content(&self, name: &str, content: &Value, room: &mut usize) -> (Content, String) {
        let says = |key: &str| content.get(key).and_then(Value::as_str);
        let media = says("mimeType").unwrap_or("application/octet-stream");
        if let Some(text) = says("text") {
            let all = text.chars().count();
            let most = all.min(self.limits.characters).min(*room);
            *room -= most;
            let cut = |note: &str| text.chars().take(most).collect::<String>() + note;
            return match all - most {
                0 => (Content::Text(text.to_owned()), format!("@{name}: {all} characters")),
                left => {
                    let note = format!("\n[{left} of {all} characters are left out here]");
                    (Content::Text(cut(&note)), format!("@{name}: cut to {most} of {all} characters"))
                }
            };
        }
        let data = says("blob").unwrap_or_default();
        let picture = ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&media);
        if picture && data.len() <= self.limits.picture {
            let (media, data) = (media.to_owned(), data.to_owned());
            return (Content::Image { media, data }, format!("@{name}: a picture"));
        }
        let bytes = data.len() / 4 * 3;
        let note = format!("[{name}: {bytes} bytes of {media}, which cannot be shown here]");
        (Content::Text(note), format!("@{name}: {bytes} bytes of {media}, told by name alone"))
    }
}
