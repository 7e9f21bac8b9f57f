//! One piece of content, told apart by its `type`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    AudioContent, EmbeddedResource, ImageContent, Place, ResourceLink, TextContent, ToolResultContent, ToolUseContent,
    conform_block,
};
use crate::{
    raw::Raw,
    revision::Revision,
    types::{Annotations, Conform, ResourceContents},
};

/// One piece of content.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound.
    Audio(AudioContent),
    /// A resource that may be read.
    ResourceLink(Box<ResourceLink>),
    /// A resource's contents.
    Resource(Box<EmbeddedResource>),
    /// A model asks for a tool.
    ToolUse(ToolUseContent),
    /// What a tool gave a model.
    ToolResult(ToolResultContent),
    /// A kind we do not know, as it was written.
    Unknown(Raw),
}

impl ContentBlock {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// A picture, as Base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(data, mime_type))
    }

    /// Sound, as Base64.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(data, mime_type))
    }

    /// A resource that may be read.
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(Box::new(ResourceLink::new(uri, name)))
    }

    /// A resource's contents.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(Box::new(EmbeddedResource::new(contents)))
    }

    /// The text, where it is a text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(&text.text),
            Self::Image(_)
            | Self::Audio(_)
            | Self::ResourceLink(_)
            | Self::Resource(_)
            | Self::ToolUse(_)
            | Self::ToolResult(_)
            | Self::Unknown(_) => None,
        }
    }

    /// The hints it carries.
    pub fn annotations(&self) -> Option<&Annotations> {
        match self {
            Self::Text(block) => block.annotations.as_ref(),
            Self::Image(block) => block.annotations.as_ref(),
            Self::Audio(block) => block.annotations.as_ref(),
            Self::ResourceLink(block) => block.annotations.as_ref(),
            Self::Resource(block) => block.annotations.as_ref(),
            Self::ToolUse(_) | Self::ToolResult(_) | Self::Unknown(_) => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// As a tool returns it and a prompt says it; sampling has rules of its own.
impl Conform for ContentBlock {
    fn conform(&mut self, revision: Revision) {
        conform_block(self, Place::Answer, revision);
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(block) => block.serialize(serializer),
            Self::Image(block) => block.serialize(serializer),
            Self::Audio(block) => block.serialize(serializer),
            Self::ResourceLink(block) => block.serialize(serializer),
            Self::Resource(block) => block.serialize(serializer),
            Self::ToolUse(block) => block.serialize(serializer),
            Self::ToolResult(block) => block.serialize(serializer),
            Self::Unknown(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let kind = raw.get("type").ok_or_else(|| de::Error::custom("content needs a `type`"))?;
        match kind.as_text().as_deref() {
            Some("text") => raw.read().map(Self::Text),
            Some("image") => raw.read().map(Self::Image),
            Some("audio") => raw.read().map(Self::Audio),
            Some("resource_link") => raw.read().map(Self::ResourceLink),
            Some("resource") => raw.read().map(Self::Resource),
            Some("tool_use") => raw.read().map(Self::ToolUse),
            Some("tool_result") => raw.read().map(Self::ToolResult),
            Some(_) => Ok(Self::Unknown(raw)),
            None => return Err(de::Error::custom("the `type` of content must be a string")),
        }
        .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_apart_and_kept_whole() {
        for text in [
            r#"{"type":"hologram","beams":[1e400, 2]}"#,
            r#"{"type":"text","text":"a","annotations":{"audience":["robot"],"priority":1e400},"x":{"y": 1}}"#,
            r#"{"type":"resource_link","uri":"u","name":"n","size":12345678901234567890123}"#,
            r#"{"type":"tool_use","id":"1","name":"n","input":{"n":1.50}}"#,
        ] {
            let block: ContentBlock = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&block).unwrap(), text);
        }
        let tree = serde_json::json!({"type": "tool_use", "id": "1", "name": "n", "input": {"n": 1.5}});
        let block: ContentBlock = serde_json::from_value(tree.clone()).unwrap();
        assert_eq!(serde_json::to_value(&block).unwrap(), tree);
        let escaped: ContentBlock = serde_json::from_str(r#"{"text":"a","t\u0079pe":"text","_meta":null}"#).unwrap();
        assert_eq!(escaped, ContentBlock::text("a"));
    }

    #[test]
    fn what_is_no_block_is_refused() {
        for text in [
            r#"{"text":"a"}"#,
            r#"{"type":1}"#,
            r#"{"type":"text"}"#,
            r#"[]"#,
            r#"{"type":"text","type":"text","text":""}"#,
        ] {
            assert!(serde_json::from_str::<ContentBlock>(text).is_err(), "{text}");
        }
        assert!(serde_json::from_str::<TextContent>(r#"{"type":"image","text":"a"}"#).is_err());
    }
}
