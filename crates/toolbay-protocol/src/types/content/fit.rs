//! Which kind of content fits where, and the text that stands in for one that does not.

use super::{ContentBlock, TextContent, ToolResultContent};
use crate::{
    raw::Raw,
    revision::{Feature as F, Revision},
    types::{Conform, ResourceContents},
};

/// Where content stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In what a tool returns or a prompt says.
    Answer,
    /// In what a model is sampled with.
    Sampling,
}

/// How much of an unknown block its note repeats.
const NOTE_BYTES: usize = 2_000;

/// Bends a block; one that does not fit becomes a text that says what was there.
pub(crate) fn conform_block(block: &mut ContentBlock, place: Place, revision: Revision) {
    if !fits(block, place, revision) {
        let annotations = block.annotations().cloned();
        *block = ContentBlock::Text(TextContent { annotations, ..TextContent::new(note(block)) });
    }
    match block {
        ContentBlock::Text(block) => block.conform(revision),
        ContentBlock::Image(block) => block.conform(revision),
        ContentBlock::Audio(block) => block.conform(revision),
        ContentBlock::ResourceLink(block) => block.conform(revision),
        ContentBlock::Resource(block) => block.conform(revision),
        ContentBlock::ToolUse(block) => block.conform(revision),
        ContentBlock::ToolResult(block) => block.conform(revision),
        ContentBlock::Unknown(_) => {}
    }
}

fn fits(block: &ContentBlock, place: Place, revision: Revision) -> bool {
    let listed = match (block, place) {
        (ContentBlock::Text(_) | ContentBlock::Image(_), _) => true,
        (ContentBlock::Audio(_), _) => revision.has(F::Audio),
        (ContentBlock::Resource(_), Place::Answer) => true,
        (ContentBlock::ResourceLink(_), Place::Answer) => revision.has(F::ResourceLink),
        (ContentBlock::ToolUse(_) | ContentBlock::ToolResult(_), Place::Sampling) => revision.has(F::SamplingTools),
        (ContentBlock::Resource(_) | ContentBlock::ResourceLink(_), Place::Sampling)
        | (ContentBlock::ToolUse(_) | ContentBlock::ToolResult(_), Place::Answer)
        | (ContentBlock::Unknown(_), _) => false,
    };
    listed || revision.has(F::UnknownContent)
}

/// What a block says, in text.
pub(crate) fn note(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => left_out("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => left_out("audio", &audio.mime_type, &audio.data),
        ContentBlock::ResourceLink(link) => {
            let name = link.title.as_ref().unwrap_or(&link.name);
            let kind = link.mime_type.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
            let about = link.description.as_ref().map(|about| format!("\n{about}")).unwrap_or_default();
            format!("{name}{kind}: {}{about}", link.uri)
        }
        ContentBlock::Resource(embedded) => resource_note(&embedded.resource),
        ContentBlock::ToolUse(tool) => format!("[use {} of tool {}] {:?}", tool.id, tool.name, tool.input),
        ContentBlock::ToolResult(result) => result_note(result),
        ContentBlock::Unknown(raw) => unknown_note(raw),
    }
}

fn left_out(sort: &str, mime_type: &str, base64: &str) -> String {
    let bytes = base64.len() / 4 * 3;
    format!("[{sort}, {mime_type}, about {bytes} bytes: this protocol version cannot carry it here]")
}

fn resource_note(contents: &ResourceContents) -> String {
    match (&contents.text, &contents.blob) {
        (Some(text), _) => format!("[resource {}]\n{text}", contents.uri),
        (None, Some(blob)) => {
            let sort = format!("resource {}", contents.uri);
            left_out(&sort, contents.mime_type.as_deref().unwrap_or("application/octet-stream"), blob)
        }
        (None, None) => format!("[resource {}]", contents.uri),
    }
}

fn result_note(result: &ToolResultContent) -> String {
    let failed = if result.is_error == Some(true) { "error" } else { "result" };
    let mut text = format!("[{failed} of use {}]", result.tool_use_id);
    for block in &result.content {
        text.push('\n');
        text.push_str(&note(block));
    }
    if let (true, Some(structured)) = (result.content.is_empty(), &result.structured_content) {
        text.push_str(&format!("\n{structured:?}"));
    }
    text
}

fn unknown_note(raw: &Raw) -> String {
    let kind = raw.get("type").and_then(|kind| kind.as_text().map(std::borrow::Cow::into_owned)).unwrap_or_default();
    let length = raw.as_bytes().len();
    if length <= NOTE_BYTES {
        format!("[content of kind {kind:?}] {raw:?}")
    } else {
        format!("[content of kind {kind:?}, {length} bytes: this protocol version cannot carry it]")
    }
}
