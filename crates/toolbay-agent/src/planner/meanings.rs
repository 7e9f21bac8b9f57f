//! What a model makes of tools and texts, worked out beforehand: planning itself asks nobody.

use std::{collections::HashMap, sync::Arc};

use toolbay_retrieval::Encoder;

/// What a model makes of tools and texts.
#[derive(Clone, Debug)]
pub struct Meanings {
    /// How it encodes.
    pub encoder: Encoder,
    /// Its vectors of tools, by name; those without one are found by words.
    pub tools: Vec<(String, Vec<f32>)>,
    /// Its vectors of the texts that are looked for.
    pub texts: HashMap<String, Arc<[f32]>>,
}
