//! The sets of tools and queries, as they lie in the corpora.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;
use toolbay_retrieval::{Index, Tool};

/// What a group has to reach, R@5.
pub(super) struct Goals {
    /// Without a model.
    pub(super) plain: f64,
    /// With one.
    pub(super) model: f64,
}

/// The groups, each the mean of its sets.
pub(super) const GROUPS: [(&str, &[&str], Goals); 3] = [
    (
        "English",
        &["livemcp", "hand-en", "ace-en", "seal", "stabletoolbench", "metatool", "ultra-en"],
        Goals { plain: 68.0, model: 71.0 },
    ),
    ("Chinese", &["ace-zh", "ultra-zh"], Goals { plain: 77.5, model: 78.0 }),
    ("Chinese on mixed or English tools", &["hand-zh", "ultra-x"], Goals { plain: 57.5, model: 64.0 }),
];

/// A set: its tools in an index, and what is asked of them.
pub(super) struct Corpus {
    pub(super) name: &'static str,
    pub(super) tools: Vec<Tool>,
    pub(super) index: Index,
    pub(super) queries: Vec<Wanted>,
}

/// A query, and the tools that answer it.
pub(super) struct Wanted {
    pub(super) text: String,
    pub(super) relevant: Vec<String>,
    /// Whether one of them is enough.
    pub(super) any: bool,
}

impl Corpus {
    pub(super) fn read(corpora: &Path, name: &'static str) -> Result<Self> {
        let tools = tools(corpora, tools_of(name))?;
        let mut index = Index::new();
        tools.iter().for_each(|tool| index.insert(tool));
        let queries = lines(corpora, name, "queries.jsonl")?.iter().map(wanted).collect();
        Ok(Self { name, tools, index, queries })
    }
}

/// The set whose tools a set of queries searches.
pub(super) fn tools_of(name: &'static str) -> &'static str {
    if name.starts_with("hand-") { "livemcp" } else { name }
}

/// The tools of a set, in the order of its file.
pub(super) fn tools(corpora: &Path, name: &str) -> Result<Vec<Tool>> {
    Ok(lines(corpora, name, "tools.jsonl")?.iter().map(tool).collect())
}

fn lines(corpora: &Path, name: &str, file: &str) -> Result<Vec<Value>> {
    let path = corpora.join("tool-retrieval").join(name).join(file);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn text(item: &Value, key: &str) -> String {
    item[key].as_str().unwrap_or_default().to_owned()
}

fn tool(item: &Value) -> Tool {
    let mut tool = Tool::new(text(item, "id"), text(item, "name"), text(item, "description"))
        .on(text(item, "server"))
        .category(text(item, "category"));
    for (name, schema) in item["input_schema"]["properties"].as_object().into_iter().flatten() {
        tool = tool.param(name, text(schema, "description"));
    }
    tool
}

fn wanted(item: &Value) -> Wanted {
    let relevant = item["relevant"].as_array().into_iter().flatten();
    Wanted {
        text: text(item, "query"),
        relevant: relevant.filter_map(|id| id.as_str().map(str::to_owned)).collect(),
        any: item["any"] == true,
    }
}
