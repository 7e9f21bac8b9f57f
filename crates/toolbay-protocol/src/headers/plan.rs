//! Which parameters of a tool are mirrored, found once from its input schema. Not for values: see `params`.

use memchr::memmem;
use serde_json::{Map, Value};

use super::{PARAM_PREFIX, Problem, Rule};

/// The parameters of one tool that its calls mirror in headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderPlan {
    params: Vec<Param>,
    pub(super) root: Node,
}

/// One mirrored parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// The header's whole name, such as `Mcp-Param-Region`.
    pub header: String,
    /// The property names that lead from the arguments to the value.
    pub path: Vec<String>,
    /// What the schema says the value is.
    pub kind: Kind,
}

/// The types that can be mirrored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    String,
    /// An integer.
    Integer,
    /// A boolean.
    Boolean,
}

/// The mirrored parameters as a tree of property names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) param: Option<usize>,
    pub(super) children: Vec<(String, Node)>,
}

impl HeaderPlan {
    /// The plan of an input schema, or every rule its annotations break; a client must then leave the tool out.
    pub fn of(input_schema: &Value) -> Result<Self, Vec<Problem>> {
        let mut walk = Walk::default();
        walk.schema(input_schema, Reach::Root);
        if walk.problems.is_empty() { Ok(Self::from_params(walk.params)) } else { Err(walk.problems) }
    }

    /// The same from the schema's text, which is only parsed if it can hold an annotation at all.
    pub fn of_json(input_schema: &[u8]) -> Result<Self, Vec<Problem>> {
        // A key may be spelt with `\u` escapes; then the text must be parsed to be sure.
        let may_annotate = memmem::find(input_schema, ANNOTATION.as_bytes()).is_some();
        if !may_annotate && memmem::find(input_schema, b"\\u").is_none() {
            return Ok(Self::default());
        }
        match serde_json::from_slice(input_schema) {
            Ok(schema) => Self::of(&schema),
            Err(_) => Err(vec![Problem { at: String::new(), rule: Rule::Json }]),
        }
    }

    /// The mirrored parameters, in the order of the schema.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Whether nothing is mirrored.
    pub fn is_empty(&self) -> bool {
        self.params.is_empty()
    }

    fn from_params(params: Vec<Param>) -> Self {
        let mut root = Node::default();
        for (at, param) in params.iter().enumerate() {
            param.path.iter().fold(&mut root, Node::child).param = Some(at);
        }
        Self { params, root }
    }
}

impl Node {
    fn child(&mut self, name: &String) -> &mut Self {
        let at = self.children.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.children.push((name.clone(), Self::default()));
            self.children.len() - 1
        });
        &mut self.children[at].1
    }
}

/// How a schema was come to.
#[derive(Debug, Clone, Copy)]
enum Reach<'a> {
    Root,
    /// Through `properties` alone.
    Property,
    /// Through another keyword, the first of them.
    Elsewhere(&'a str),
}

/// A walk over all the places where a schema can stand. Values of other keywords are data and hold no annotations.
#[derive(Default)]
struct Walk<'a> {
    params: Vec<Param>,
    problems: Vec<Problem>,
    /// Keywords and names from the root to here.
    place: Vec<&'a str>,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, schema: &'a Value, reach: Reach<'a>) {
        let Value::Object(keywords) = schema else { return };
        if self.place.len() > MAX_DEPTH {
            return self.problem(Rule::Depth { limit: MAX_DEPTH });
        }
        if let Some(annotation) = keywords.get(ANNOTATION) {
            self.annotation(annotation, keywords, reach);
        }
        for (keyword, value) in keywords {
            self.place.push(keyword);
            match (shape(keyword), value) {
                (Shape::Named, Value::Object(schemas)) => self.named(keyword, schemas, reach),
                (Shape::Plain, Value::Array(schemas)) => {
                    schemas.iter().for_each(|schema| self.schema(schema, reach.via(keyword)));
                }
                (Shape::Plain, schema) => self.schema(schema, reach.via(keyword)),
                (Shape::Named | Shape::Data, _) => {}
            }
            self.place.pop();
        }
    }

    fn named(&mut self, keyword: &'a str, schemas: &'a Map<String, Value>, reach: Reach<'a>) {
        let reach = match reach {
            Reach::Root | Reach::Property if keyword == "properties" => Reach::Property,
            Reach::Root | Reach::Property | Reach::Elsewhere(_) => reach.via(keyword),
        };
        for (name, schema) in schemas {
            self.place.push(name);
            self.schema(schema, reach);
            self.place.pop();
        }
    }

    fn annotation(&mut self, annotation: &Value, keywords: &Map<String, Value>, reach: Reach<'a>) {
        match reach {
            Reach::Root => return self.problem(Rule::OnProperty),
            Reach::Elsewhere(through) => return self.problem(Rule::Reachable { through: through.to_owned() }),
            Reach::Property if self.params.len() >= MAX_PARAMS => {
                return self.problem(Rule::Many { limit: MAX_PARAMS });
            }
            Reach::Property => {}
        }
        let kind = Kind::of(keywords.get("type"));
        let name = self.name(annotation);
        match (name, kind) {
            (Ok(header), Ok(kind)) => {
                // Every other place is a keyword, always `properties` on this way.
                let path = self.place.iter().skip(1).step_by(2).map(|&name| name.to_owned()).collect();
                self.params.push(Param { header, path, kind });
            }
            (name, kind) => [name.err(), kind.err()].into_iter().flatten().for_each(|rule| self.problem(rule)),
        }
    }

    fn name(&self, annotation: &Value) -> Result<String, Rule> {
        let Value::String(name) = annotation else { return Err(Rule::Text) };
        if name.is_empty() {
            return Err(Rule::NotEmpty);
        }
        if !name.bytes().all(is_token_byte) {
            return Err(Rule::Token { found: name.clone() });
        }
        let header = format!("{PARAM_PREFIX}{name}");
        match self.params.iter().find(|param| param.header.eq_ignore_ascii_case(&header)) {
            Some(first) => {
                let names: Vec<_> = first.path.iter().flat_map(|name| ["properties", name]).collect();
                Err(Rule::Unique { first: pointer(&names) })
            }
            None => Ok(header),
        }
    }

    fn problem(&mut self, rule: Rule) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { at: pointer(&self.place), rule });
        }
    }
}

impl<'a> Reach<'a> {
    fn via(self, keyword: &'a str) -> Self {
        match self {
            Self::Root | Self::Property => Self::Elsewhere(keyword),
            Self::Elsewhere(first) => Self::Elsewhere(first),
        }
    }
}

impl Kind {
    fn of(kind: Option<&Value>) -> Result<Self, Rule> {
        match kind {
            Some(Value::String(name)) if name == "string" => Ok(Self::String),
            Some(Value::String(name)) if name == "integer" => Ok(Self::Integer),
            Some(Value::String(name)) if name == "boolean" => Ok(Self::Boolean),
            Some(other) => Err(Rule::Primitive { found: other.to_string() }),
            None => Err(Rule::Primitive { found: "none".to_owned() }),
        }
    }
}

/// What the value of a keyword holds.
enum Shape {
    /// A schema, or a list of them.
    Plain,
    /// Schemas by name.
    Named,
    /// No schema.
    Data,
}

// The applicators of 2020-12, 2019-09 and draft-07.
fn shape(keyword: &str) -> Shape {
    match keyword {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies" => {
            Shape::Named
        }
        "items"
        | "additionalItems"
        | "unevaluatedItems"
        | "prefixItems"
        | "contains"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "contentSchema"
        | "allOf"
        | "anyOf"
        | "oneOf"
        | "not"
        | "if"
        | "then"
        | "else" => Shape::Plain,
        _ => Shape::Data,
    }
}

// spec: RFC 9110 section 5.6.2
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn pointer(place: &[&str]) -> String {
    place.iter().map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect()
}

const ANNOTATION: &str = "x-mcp-header";
const MAX_DEPTH: usize = 256;
/// HTTP servers refuse requests of a hundred headers or so.
const MAX_PARAMS: usize = 64;
const MAX_PROBLEMS: usize = 32;
