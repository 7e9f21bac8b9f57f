//! What a tool says of itself, as far as ranking reads it.

use crate::tokens;

/// A tool to be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// Names the tool in answers; a second tool of the same id takes the place of the first.
    pub id: String,
    /// The server it belongs to; may be empty.
    pub server: String,
    /// Its name, as its server writes it.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes.
    pub params: Vec<Param>,
    /// What it is for, in one word; only the prescribed rule reads it. May be empty.
    pub category: String,
}

/// An argument a tool takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// What it stands for; may be empty.
    pub description: String,
}

impl Tool {
    /// A tool of that id, name and description; the other fields are empty.
    pub fn new(id: impl Into<String>, name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), description: description.into(), ..Self::default() }
    }

    /// The tool as a member of that server.
    #[must_use]
    pub fn on(mut self, server: impl Into<String>) -> Self {
        self.server = server.into();
        self
    }

    /// The tool with one more argument.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.params.push(Param { name: name.into(), description: description.into() });
        self
    }

    /// The tool in that category.
    #[must_use]
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.category = category.into();
        self
    }

    /// The text to give to an encoder whose vectors are to be kept with the tool.
    pub fn text(&self) -> String {
        let name = tokens::spaced(&self.name);
        let head = if self.server.is_empty() { name } else { format!("{} {name}", self.server) };
        format!("{head}: {}", self.description)
    }
}

#[cfg(test)]
mod tests {
    use super::Tool;

    #[test]
    fn an_encoder_reads_names_as_words() {
        let tool = Tool::new("1", "get_currentWeather", "The weather now.").on("Sky");
        assert_eq!(tool.text(), "Sky get current Weather: The weather now.");
    }
}
