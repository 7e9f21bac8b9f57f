//! The prescribed rule: 0.4 × name match + 0.3 × description match + 0.3 × category weight.
//!
//! Exact, with its breakdown, and selectable; not the default, for it finds the right tool far less often.
//! A match is the Jaccard overlap of the words of the request and those of the text.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::tokens::plain_words;
use crate::tool::Tool;

/// What the parts of the rule, and the categories, weigh.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// What the match with the name is worth.
    pub name: f64,
    /// What the match with the description is worth.
    pub description: f64,
    /// What the category is worth.
    pub category: f64,
    /// The categories, each with its weight.
    pub categories: Vec<(String, f64)>,
    /// The weight of a category that is not named.
    pub other: f64,
}

impl Default for Weights {
    fn default() -> Self {
        let categories = [("search", 10.0), ("weather", 5.0), ("map", 5.0)];
        Self {
            name: 0.4,
            description: 0.3,
            category: 0.3,
            categories: categories.map(|(name, weight)| (name.to_owned(), weight)).into(),
            other: 1.0,
        }
    }
}

/// How a score by the prescribed rule came about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Breakdown {
    /// How far the name matches, 0 to 1.
    pub name: f64,
    /// How far the description matches, 0 to 1.
    pub description: f64,
    /// The weight of the category, 0 to 1.
    pub category: f64,
    /// The sum of the three, each times what it is worth.
    pub score: f64,
}

impl Weights {
    /// The weight of a category as a share of the greatest.
    pub fn share(&self, category: &str) -> f64 {
        let greatest = self.categories.iter().map(|(_, weight)| *weight).fold(self.other, f64::max);
        let weight = self
            .categories
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(category))
            .map_or(self.other, |(_, weight)| *weight);
        if greatest > 0.0 { (weight / greatest).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The score of a tool for a request.
    pub fn score(&self, request: &str, tool: &Tool) -> Breakdown {
        self.of_words(&Words::of(request), &ToolWords::of(tool))
    }

    pub(crate) fn of_words(&self, request: &Words, tool: &ToolWords) -> Breakdown {
        let name = request.overlap(&tool.name);
        let description = request.overlap(&tool.description);
        let category = self.share(&tool.category);
        let score = self.name * name + self.description * description + self.category * category;
        Breakdown { name, description, category, score }
    }
}

/// A set of words, each by its hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words(Box<[u64]>);

impl Words {
    pub(crate) fn of(text: &str) -> Self {
        let hashes: BTreeSet<u64> = plain_words(text).iter().map(|word| hash(word)).collect();
        Self(hashes.into_iter().collect())
    }

    fn overlap(&self, other: &Self) -> f64 {
        let both = self.0.iter().filter(|word| other.0.binary_search(word).is_ok()).count();
        let either = self.0.len() + other.0.len() - both;
        if either == 0 { 0.0 } else { both as f64 / either as f64 }
    }
}

/// What the rule reads of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolWords {
    name: Words,
    description: Words,
    category: Box<str>,
}

impl ToolWords {
    pub(crate) fn of(tool: &Tool) -> Self {
        Self {
            name: Words::of(&tool.name),
            description: Words::of(&tool.description),
            category: tool.category.as_str().into(),
        }
    }
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::Weights;
    use crate::tool::Tool;

    #[test]
    fn the_rule_is_the_prescribed_one() {
        let tool = Tool::new("w", "weather_query", "query the weather").category("weather");
        let found = Weights::default().score("weather query", &tool);
        assert!((found.name - 1.0).abs() < 1e-12);
        assert!((found.description - 2.0 / 3.0).abs() < 1e-12);
        assert!((found.category - 0.5).abs() < 1e-12);
        assert!((found.score - (0.4 + 0.3 * 2.0 / 3.0 + 0.3 * 0.5)).abs() < 1e-12);
    }

    #[test]
    fn a_category_nobody_named_weighs_a_tenth() {
        assert!((Weights::default().share("cooking") - 0.1).abs() < 1e-12);
        assert!((Weights::default().share("Search") - 1.0).abs() < 1e-12);
    }
}
