//! `host`, beside all servers: which model the host uses (`toolbay chat`), how far it may go, which calls it may make without
//! asking, what it puts beside messages, and whether servers may use its model.
//!
//! A flaw in it is an error, not a remark: a rule that forbids must not be passed over.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};

use super::{
    error::{Error, Fault},
    keys,
    source::Source,
    tree,
    warn::{Remarks, nearest},
};

/// What the file says of the host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    /// The model, as `provider:model`.
    pub model: Option<String>,
    /// Others that servers may be lent, the most capable first.
    pub models: Vec<String>,
    /// How many rounds of calls a turn may have.
    pub max_iterations: Option<u32>,
    /// The most tokens a conversation may take.
    pub max_tokens: Option<u64>,
    /// The most it may cost, in the currency of the prices.
    pub max_cost: Option<f64>,
    /// What a million tokens cost: read, said, and read again from the provider's cache.
    pub prices: Option<[f64; 3]>,
    /// Servers whose word on their own tools is believed; `*` is anything.
    pub trusted: Vec<String>,
    /// Rules on calls.
    pub approve: Vec<Approve>,
    /// Resources that are put beside messages.
    pub attach: Vec<Attach>,
    /// Whether servers may use the model.
    pub sampling: Sampling,
}

/// A rule on calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approve {
    /// The server; `*` is anything.
    pub server: String,
    /// What that calls the tool; `*` is anything.
    pub tool: String,
    /// What holds for its calls.
    pub then: Then,
}

/// What holds for calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// They may be made.
    Allow,
    /// A person is asked each time.
    Ask,
    /// They may not be made.
    Deny,
}

/// Resources that are put beside messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attach {
    /// The server; `*` is anything.
    pub server: String,
    /// The URI; `*` is anything.
    pub uri: String,
    /// Words of a message that call for it; with none, it stands beside the first.
    pub words: Vec<String>,
}

/// Whether servers may use the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// They may not.
    Off,
    /// A person is asked each time; where nobody is there, they may not.
    #[default]
    Ask,
    /// They may.
    Allow,
}

const KEYS: [&str; 10] =
    ["model", "models", "maxIterations", "maxTokens", "maxCost", "prices", "trusted", "approve", "attach", "sampling"];
/// How many of each may be listed.
const MOST: usize = 1_000;
/// The most rounds that can be meant.
const ROUNDS: f64 = 1_000.0;
/// The largest number of anything.
const LARGEST: f64 = 1e12;

/// What is wrong, and where.
type Flaw = (usize, String);

/// Reads it.
pub(super) fn read(root: &Object<'_>, source: &Source<'_>, remarks: &mut Remarks<'_>) -> Result<Host, Error> {
    let written = root.properties.iter().find(|property| property.name.as_str() == "host");
    let Some(written) = written.filter(|property| property.value.as_null_keyword().is_none()) else {
        return Ok(Host::default());
    };
    let shape = || "docs/guide/host.md shows what may stand under `host`";
    let Value::Object(object) = &written.value else {
        let problem = format!("`host` is {}, not an object", tree::kind(&written.value));
        return Err(source.error(Fault::Shape, tree::start(&written.value), problem, shape()));
    };
    tree::no_key_twice(object, "the key", source)?;
    host(object, remarks).map_err(|(at, problem)| source.error(Fault::Shape, at, problem, shape()))
}

fn host(object: &Object<'_>, remarks: &mut Remarks<'_>) -> Result<Host, Flaw> {
    let mut host = Host::default();
    for property in said(object) {
        let (key, value) = (property.name.as_str(), &property.value);
        match key {
            "model" => host.model = Some(text(key, value)?),
            "models" => host.models = texts(key, value)?,
            "maxIterations" => host.max_iterations = u32::try_from(whole(key, value, 1.0, ROUNDS)?).ok(),
            "maxTokens" => host.max_tokens = Some(whole(key, value, 1.0, LARGEST)?),
            "maxCost" => host.max_cost = Some(number(key, value, 0.0, LARGEST)?),
            "prices" => host.prices = Some(prices(value)?),
            "trusted" => host.trusted = texts(key, value)?,
            "approve" => host.approve = each(key, value, |one| approve(one, remarks))?,
            "attach" => host.attach = each(key, value, |one| attach(one, remarks))?,
            "sampling" => host.sampling = word(key, value, &SAMPLING)?,
            _ => unknown("host", property, &KEYS, remarks),
        }
    }
    if host.max_cost.is_some() && host.prices.is_none() {
        return Err((object.range.start, "`host.maxCost` means nothing without `host.prices`".into()));
    }
    Ok(host)
}

const THEN: [(&str, Then); 3] = [("allow", Then::Allow), ("ask", Then::Ask), ("deny", Then::Deny)];
const SAMPLING: [(&str, Sampling); 3] = [("off", Sampling::Off), ("ask", Sampling::Ask), ("allow", Sampling::Allow)];

fn approve(value: &Value<'_>, remarks: &mut Remarks<'_>) -> Result<Approve, Flaw> {
    let object =
        value.as_object().ok_or_else(|| (tree::start(value), "a rule of `approve` is no object".to_owned()))?;
    let (mut server, mut tool, mut then) = (None, "*".to_owned(), None);
    for property in said(object) {
        let (key, value) = (property.name.as_str(), &property.value);
        match key {
            "server" => server = Some(text(key, value)?),
            "tool" => tool = text(key, value)?,
            "do" => then = Some(word(key, value, &THEN)?),
            _ => unknown("host.approve", property, &["server", "tool", "do"], remarks),
        }
    }
    let missing = |what: &str| (object.range.start, format!("a rule of `approve` has no `{what}`"));
    let (server, then) = (server.ok_or_else(|| missing("server"))?, then.ok_or_else(|| missing("do"))?);
    Ok(Approve { server, tool, then })
}

fn attach(value: &Value<'_>, remarks: &mut Remarks<'_>) -> Result<Attach, Flaw> {
    let object = value.as_object().ok_or_else(|| (tree::start(value), "a rule of `attach` is no object".to_owned()))?;
    let (mut server, mut uri, mut words) = ("*".to_owned(), None, vec![]);
    for property in said(object) {
        let (key, value) = (property.name.as_str(), &property.value);
        match key {
            "server" => server = text(key, value)?,
            "uri" => uri = Some(text(key, value)?),
            "words" => words = texts(key, value)?,
            _ => unknown("host.attach", property, &["server", "uri", "words"], remarks),
        }
    }
    let uri = uri.ok_or_else(|| (object.range.start, "a rule of `attach` has no `uri`".to_owned()))?;
    Ok(Attach { server, uri, words })
}

fn prices(value: &Value<'_>) -> Result<[f64; 3], Flaw> {
    let numbers = each("prices", value, |one| number("prices", one, 0.0, LARGEST))?;
    match numbers[..] {
        [read, said] => Ok([read, said, read]),
        [read, said, kept] => Ok([read, said, kept]),
        _ => {
            Err((tree::start(value), "`prices` wants two or three numbers: [read, said] or [read, said, kept]".into()))
        }
    }
}

/// What an object says: `null` and comments say nothing.
fn said<'v, 'a>(object: &'v Object<'a>) -> impl Iterator<Item = &'v ObjectProp<'a>> {
    let says = |property: &&ObjectProp<'_>| property.value.as_null_keyword().is_none();
    object.properties.iter().filter(says).filter(|property| !keys::is_comment(property.name.as_str()))
}

fn unknown(within: &str, property: &ObjectProp<'_>, known: &[&str], remarks: &mut Remarks<'_>) {
    let key = property.name.as_str();
    let near = nearest(key, known.iter().copied());
    let near = near.map_or(" and is ignored".into(), |near| format!("; did you mean `{near}`?"));
    remarks.warn(tree::key_start(property), format!("`{within}.{key}` is not known{near}"));
}

fn text(key: &str, value: &Value<'_>) -> Result<String, Flaw> {
    let text = value.as_string_lit().map(|text| text.value.trim().to_owned()).filter(|text| !text.is_empty());
    text.ok_or_else(|| (tree::start(value), format!("`{key}` is {} where a text must stand", empty_or(value))))
}

fn empty_or(value: &Value<'_>) -> &'static str {
    if value.as_string_lit().is_some() { "empty" } else { tree::kind(value) }
}

fn texts(key: &str, value: &Value<'_>) -> Result<Vec<String>, Flaw> {
    each(key, value, |one| text(key, one))
}

fn each<T>(key: &str, value: &Value<'_>, read: impl FnMut(&Value<'_>) -> Result<T, Flaw>) -> Result<Vec<T>, Flaw> {
    let list: Option<&Array<'_>> = value.as_array();
    let list = list.ok_or_else(|| (tree::start(value), format!("`{key}` is {}, not a list", tree::kind(value))))?;
    if list.elements.len() > MOST {
        return Err((tree::start(value), format!("`{key}` lists more than {MOST}")));
    }
    list.elements.iter().map(read).collect()
}

fn word<T: Copy>(key: &str, value: &Value<'_>, words: &[(&str, T)]) -> Result<T, Flaw> {
    let written = value.as_string_lit().map(|text| text.value.as_ref());
    let found = words.iter().find(|(word, _)| Some(*word) == written).map(|(_, meaning)| *meaning);
    let all = || words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| (tree::start(value), format!("`{key}` is none of {}", all())))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only whole numbers within bounds come by")]
fn whole(key: &str, value: &Value<'_>, least: f64, most: f64) -> Result<u64, Flaw> {
    let number = number(key, value, least, most)?;
    if number.fract() != 0.0 {
        return Err((tree::start(value), format!("`{key}` is no whole number")));
    }
    Ok(number as u64)
}

fn number(key: &str, value: &Value<'_>, least: f64, most: f64) -> Result<f64, Flaw> {
    let number = value.as_number_lit().and_then(|number| number.value.parse::<f64>().ok());
    let number = number.filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| (tree::start(value), format!("`{key}` is no number from {least} to {most}")))
}
