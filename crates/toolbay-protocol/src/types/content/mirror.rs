//! Structured content and its mirror in text (spec: server/tools, structured content).

use super::ContentBlock;
use crate::{
    raw::{Kind, Raw},
    revision::{Feature as F, Revision},
};

/// Drops structured content that `revision` cannot carry. A server should repeat it as text; where there is no text at
/// all, it is written here.
pub(crate) fn conform_structured(structured: &mut Option<Raw>, content: &mut Vec<ContentBlock>, revision: Revision) {
    let Some(value) = structured else { return };
    let carried = match value.kind() {
        Kind::Object => revision.has(F::StructuredOutput),
        Kind::Array | Kind::String | Kind::Number | Kind::Bool | Kind::Null => revision.has(F::AnyStructure),
    };
    if carried {
        return;
    }
    if value.kind() != Kind::Null && content.iter().all(|block| block.as_text().is_none()) {
        content.push(ContentBlock::text(format!("{value:?}")));
    }
    *structured = None;
}
