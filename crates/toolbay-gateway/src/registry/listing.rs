//! What a registry of servers says of one of them: `server.json`, in its present form and in the older ones with
//! underscores. Lenient in all that is not needed to reach the server; how it is reached is decided elsewhere (`plan`).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";
const PUBLISHER: &str = "io.modelcontextprotocol.registry/publisher-provided";
/// How many tools of one server are read for the search.
const TOOLS: usize = 256;

/// A server that a registry lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// Its name, as `io.github.someone/server`.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is good for.
    pub description: String,
    /// Its version.
    pub version: String,
    /// Where its source is.
    pub repository: Option<String>,
    /// Whether it is to be used.
    pub standing: Standing,
    /// When the registry last changed what it says.
    pub updated: Option<String>,
    /// Its tools, where the registry knows them.
    pub tools: Vec<Described>,
    /// Programs that are it.
    pub packages: Vec<Package>,
    /// Where it is reached.
    pub remotes: Vec<Remote>,
}

/// Whether a server is to be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    #[default]
    Active,
    /// Rather not.
    Deprecated,
    /// It was taken out.
    Deleted,
}

/// A tool's name and what it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// What it does.
    #[serde(deserialize_with = "some")]
    pub description: String,
}

/// A program that is the server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Package {
    /// `npm`, `pypi`, `oci`, `nuget`, `mcpb`, …
    #[serde(alias = "registry_type", alias = "registry_name", deserialize_with = "some")]
    pub registry_type: String,
    /// Its name there.
    #[serde(alias = "name", deserialize_with = "some")]
    pub identifier: String,
    /// Its version there.
    #[serde(deserialize_with = "some")]
    pub version: String,
    /// What runs it, as `npx`.
    #[serde(alias = "runtime_hint", deserialize_with = "some")]
    pub runtime_hint: String,
    /// How the program is spoken to.
    #[serde(deserialize_with = "some")]
    pub transport: Spoken,
    /// Arguments of what runs it.
    #[serde(alias = "runtime_arguments", deserialize_with = "some")]
    pub runtime_arguments: Vec<Argument>,
    /// Its own arguments.
    #[serde(alias = "package_arguments", deserialize_with = "some")]
    pub package_arguments: Vec<Argument>,
    /// Its environment.
    #[serde(alias = "environment_variables", deserialize_with = "some")]
    pub environment_variables: Vec<Input>,
}

/// How a program is spoken to.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Spoken {
    /// `stdio`, `streamable-http` or `sse`; nothing said is `stdio`.
    #[serde(rename = "type", deserialize_with = "some")]
    pub kind: String,
}

/// A place where the server is reached.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Remote {
    /// `streamable-http` or `sse`.
    #[serde(rename = "type", alias = "transport_type", alias = "transport", deserialize_with = "some")]
    pub kind: String,
    /// Where; `{name}` in it stands for a variable.
    #[serde(deserialize_with = "some")]
    pub url: String,
    /// Headers it wants.
    #[serde(deserialize_with = "some")]
    pub headers: Vec<Input>,
    /// The variables of the address.
    #[serde(deserialize_with = "some")]
    pub variables: BTreeMap<String, Input>,
}

/// An argument of a program.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Argument {
    /// `named` or `positional`.
    #[serde(rename = "type", deserialize_with = "some")]
    pub kind: String,
    /// What a positional one stands for.
    #[serde(alias = "value_hint", deserialize_with = "some")]
    pub value_hint: String,
    /// Its name and value.
    #[serde(flatten)]
    pub input: Input,
}

/// Something that is filled in: by its author, by a default, or by whoever uses the server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Input {
    /// Its name.
    #[serde(deserialize_with = "some")]
    pub name: String,
    /// What it is.
    #[serde(deserialize_with = "some")]
    pub description: String,
    /// Whether the server does without.
    #[serde(alias = "is_required", deserialize_with = "some")]
    pub is_required: bool,
    /// Whether nobody else may see it.
    #[serde(alias = "is_secret", deserialize_with = "some")]
    pub is_secret: bool,
    /// What it always is; `{name}` in it stands for a variable.
    #[serde(deserialize_with = "text")]
    pub value: Option<String>,
    /// What it is if nothing else is said.
    #[serde(deserialize_with = "text")]
    pub default: Option<String>,
    /// What stands for what in the value.
    #[serde(deserialize_with = "some")]
    pub variables: BTreeMap<String, Input>,
}

impl Listing {
    /// Reads what a list holds for one server: `{"server": …, "_meta": …}`, or the server alone as older registries gave it.
    /// Nothing where it has no name.
    pub fn read(value: &Value) -> Option<Self> {
        let server = value.get("server").filter(|server| server.is_object()).unwrap_or(value);
        let text = |key: &str| server.get(key).and_then(Value::as_str).map(str::to_owned);
        let official = [value, server].into_iter().find_map(|place| place.get("_meta")?.get(OFFICIAL));
        let said = |key: &str| official.and_then(|said| said.get(key)).and_then(Value::as_str);
        let version =
            text("version").or_else(|| Some(server.get("version_detail")?.get("version")?.as_str()?.to_owned()));
        let standing = match said("status").or_else(|| server.get("status").and_then(Value::as_str)) {
            Some("deleted") => Standing::Deleted,
            Some("deprecated") => Standing::Deprecated,
            Some(_) | None => Standing::Active,
        };
        Some(Self {
            name: text("name").filter(|name| !name.is_empty())?,
            title: text("title").filter(|title| !title.is_empty()),
            description: text("description").unwrap_or_default(),
            version: version.unwrap_or_default(),
            repository: server.get("repository").and_then(|place| place.get("url")?.as_str().map(str::to_owned)),
            standing,
            updated: said("updatedAt").or_else(|| said("updated_at")).map(str::to_owned),
            tools: tools(server),
            packages: each(server.get("packages")),
            remotes: each(server.get("remotes")),
        })
    }
}

/// The tools, wherever a registry writes them: beside the name, or in what its publisher added.
fn tools(server: &Value) -> Vec<Described> {
    let published = server.get("_meta").and_then(|meta| meta.get(PUBLISHER)).and_then(Value::as_object);
    let within = published.into_iter().flat_map(Map::values).filter_map(|value| value.get("tools"));
    let places = [server.get("tools"), published.and_then(|published| published.get("tools"))];
    let lists = places.into_iter().flatten().chain(within).filter_map(Value::as_array);
    let tool = |value: &Value| match value {
        Value::String(name) => Some(Described { name: name.clone(), description: String::new() }),
        object => Described::deserialize(object).ok(),
    };
    lists.flatten().filter_map(tool).take(TOOLS).collect()
}

/// The items of a list that can be read.
fn each<T: for<'a> Deserialize<'a>>(list: Option<&Value>) -> Vec<T> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| T::deserialize(item).ok()).collect()
}

/// `null`, and what has another form than is expected, says nothing.
fn some<'de, D: Deserializer<'de>, T: Default + for<'a> Deserialize<'a>>(deserializer: D) -> Result<T, D::Error> {
    Ok(T::deserialize(Value::deserialize(deserializer)?).unwrap_or_default())
}

/// A text; numbers, true and false are taken as they are typed.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    })
}
