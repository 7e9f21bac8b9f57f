//! Servers as they were typed, each value with its place. Nothing is looked up or judged beyond its JSON kind.

use std::collections::HashMap;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};

use super::{
    clients::Section,
    error::{Error, Fault, Reason},
    keys::{self, ALIASES, FOREIGN, KNOWN},
    limits::{self, Limit},
    source::{At, Source},
    tree,
    warn::{Remarks, nearest},
    written_tool::{self, ToolBody},
};

/// Names and their values, as typed.
pub(super) type Table = Vec<(At<String>, At<String>)>;

/// One server as typed.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) name: At<String>,
    /// Off: whatever else is written does not matter.
    pub(super) disabled: bool,
    pub(super) body: Result<Body, Reason>,
    /// What an entry of the registry says beside.
    pub(super) tool: Option<ToolBody>,
}

/// What is typed between the braces of a server.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) kind: Option<At<String>>,
    pub(super) command: Option<At<String>>,
    pub(super) args: Vec<At<String>>,
    pub(super) env: Table,
    pub(super) env_file: Option<At<String>>,
    pub(super) cwd: Option<At<String>>,
    pub(super) url: Option<At<String>>,
    pub(super) headers: Table,
    pub(super) timeout: Option<At<f64>>,
    pub(super) startup_timeout: Option<At<f64>>,
    pub(super) isolation: Option<At<String>>,
    pub(super) session_dir: Option<At<String>>,
    pub(super) names: Option<At<String>>,
    pub(super) revision: Option<At<String>>,
    pub(super) start: Option<At<String>>,
    pub(super) limits: Vec<Limit>,
}

/// Reads the servers of all sections, in the order of the file.
pub(super) fn read(
    sections: &[Section<'_, '_>],
    tools: Option<&Array<'_>>,
    source: &Source<'_>,
    remarks: &mut Remarks<'_>,
) -> Result<Vec<Written>, Error> {
    let mut servers = Vec::new();
    let mut seen: HashMap<&str, (&'static str, usize)> = HashMap::new();
    for section in sections {
        for property in &section.servers.properties {
            let (name, at) = (property.name.as_str(), tree::key_start(property));
            if let Some((key, first)) = seen.insert(name, (section.key, at)) {
                let problem = format!("the server `{name}` is both in `{key}` and in `{}`", section.key);
                let remedy = format!("rename one; the first is at {}", source.place(first));
                return Err(source.error(Fault::Duplicate, at, problem, remedy));
            }
            if servers.len() == MOST_SERVERS {
                let problem = format!("there are more than {MOST_SERVERS} servers");
                return Err(source.error(Fault::TooMany, at, problem, "split the file"));
            }
            servers.push(server(property, source, remarks)?);
        }
    }
    for (name, object) in written_tool::entries(tools, source, remarks) {
        if let Some((key, first)) = seen.insert(name.value, ("tools", name.at)) {
            let problem = format!("the name `{}` of an entry in `tools` is taken in `{key}`", name.value);
            let remedy = format!("rename one; the first is at {}", source.place(first));
            return Err(source.error(Fault::Duplicate, name.at, problem, remedy));
        }
        if servers.len() == MOST_SERVERS {
            let problem = format!("there are more than {MOST_SERVERS} servers and tool entries");
            return Err(source.error(Fault::TooMany, name.at, problem, "split the file"));
        }
        let name = At { value: name.value.to_owned(), at: name.at };
        servers.push(typed(name, object, Some(ToolBody::default()), source, remarks)?);
    }
    Ok(servers)
}

fn server(property: &ObjectProp<'_>, source: &Source<'_>, remarks: &mut Remarks<'_>) -> Result<Written, Error> {
    let name = At { value: property.name.as_str().to_owned(), at: tree::key_start(property) };
    let Value::Object(object) = &property.value else {
        let problem = format!("it is {}, not an object", tree::kind(&property.value));
        let remedy = r#"write { "command": …, "args": […] } or { "url": … }"#;
        let body = Err(reason(source, tree::start(&property.value), problem, remedy));
        return Ok(Written { name, disabled: false, body, tool: None });
    };
    typed(name, object, None, source, remarks)
}

fn typed(
    name: At<String>,
    object: &Object<'_>,
    tool: Option<ToolBody>,
    source: &Source<'_>,
    remarks: &mut Remarks<'_>,
) -> Result<Written, Error> {
    tree::no_key_twice(object, "the key", source)?;
    let mut reader = Reader { name: &name.value, source, remarks, body: Body::default(), tool, disabled: false };
    let outcome = object.properties.iter().try_for_each(|property| reader.property(property));
    let Reader { body, mut disabled, tool, .. } = reader;
    if outcome.is_err() {
        // The reading ended early: what matters still is whether the server is off.
        disabled |= is_off(object);
    }
    Ok(Written { name, disabled, body: outcome.map(|()| body), tool })
}

fn is_off(server: &Object<'_>) -> bool {
    server.properties.iter().any(|property| {
        let off = match property.name.as_str() {
            "disabled" => true,
            "enabled" => false,
            _ => return false,
        };
        matches!(&property.value, Value::BooleanLit(flag) if flag.value == off)
    })
}

pub(super) struct Reader<'r, 's> {
    name: &'r str,
    pub(super) source: &'r Source<'r>,
    pub(super) remarks: &'r mut Remarks<'s>,
    body: Body,
    /// An entry of the registry has keys of its own.
    pub(super) tool: Option<ToolBody>,
    disabled: bool,
}

impl Reader<'_, '_> {
    fn property(&mut self, property: &ObjectProp<'_>) -> Result<(), Reason> {
        let (typed, at) = (property.name.as_str(), tree::key_start(property));
        if self.tool_property(property)? {
            return Ok(());
        }
        let alias = ALIASES.iter().find(|alias| alias.key == typed);
        let key = alias.map_or(typed, |alias| alias.ours);
        if let Some(alias) = alias.filter(|_| typed != "enabled" && !(typed == "transport" && self.tool.is_some())) {
            let message = format!("`{typed}` of {} is read as `{}`", alias.client, alias.ours);
            self.remarks.note(at, self.of(&message));
        }
        let value = &property.value;
        match key {
            // `null` says nothing, whatever the key.
            known if KNOWN.contains(&known) && value.as_null_keyword().is_some() => {}
            "type" => self.body.kind = Some(text(value, key, self.source)?),
            "command" => self.command(value)?,
            "args" => {
                let args = texts(value, key, self.source)?;
                self.body.args.extend(args);
            }
            "env" => self.body.env = self.table(value, key)?,
            "envFile" => self.body.env_file = Some(text(value, key, self.source)?),
            "cwd" => self.body.cwd = Some(text(value, key, self.source)?),
            "url" => {
                if typed == "httpUrl" && self.body.kind.is_none() {
                    self.body.kind = Some(At { value: "http".into(), at });
                }
                self.body.url = Some(text(value, key, self.source)?);
            }
            "headers" => self.body.headers = self.table(value, key)?,
            "disabled" => self.disabled = flag(value, typed, self.source)? != (typed == "enabled"),
            "timeout" => self.body.timeout = Some(number(value, key, self.source)?),
            "startupTimeout" => self.body.startup_timeout = Some(number(value, key, self.source)?),
            "isolation" => self.body.isolation = Some(text(value, key, self.source)?),
            "sessionDir" => self.body.session_dir = Some(text(value, key, self.source)?),
            "names" => self.body.names = Some(text(value, key, self.source)?),
            "start" => self.body.start = Some(text(value, key, self.source)?),
            "revision" => self.body.revision = Some(text(value, key, self.source)?),
            "limits" => {
                let whose = format!("server `{}`: ", self.name);
                self.body.limits = limits::read(value, &whose, self.source, self.remarks)?;
            }
            stranger => self.stranger(stranger, at),
        }
        Ok(())
    }

    /// A program; or, as opencode writes it, a program and its arguments in one list; or Zed's object of both.
    fn command(&mut self, value: &Value<'_>) -> Result<(), Reason> {
        match value {
            Value::Array(_) => {
                let mut words = texts(value, "command", self.source)?.into_iter();
                self.body.command = words.next();
                let rest: Vec<_> = words.collect();
                self.body.args.splice(0..0, rest);
                let message = "`command` is a list: its first text is the program, the rest are arguments";
                self.remarks.note(tree::start(value), self.of(message));
                Ok(())
            }
            Value::Object(zed) => {
                for property in &zed.properties {
                    match property.name.as_str() {
                        "path" => self.body.command = Some(text(&property.value, "command.path", self.source)?),
                        "args" | "env" => self.property(property)?,
                        other => self.stranger(other, tree::key_start(property)),
                    }
                }
                Ok(())
            }
            other => {
                self.body.command = Some(text(other, "command", self.source)?);
                Ok(())
            }
        }
    }

    /// An object of texts; numbers, true and false are taken as they are typed.
    fn table(&mut self, value: &Value<'_>, key: &str) -> Result<Table, Reason> {
        let Value::Object(object) = value else {
            return Err(wrong_kind(value, key, "an object of texts", self.source));
        };
        let mut table: Table = Vec::with_capacity(object.properties.len());
        if let Err(twice) = tree::no_key_twice(object, "the name", self.source) {
            return Err(reason(self.source, tree::start(value), twice.problem, twice.remedy));
        }
        for property in &object.properties {
            let name = At { value: property.name.as_str().to_owned(), at: tree::key_start(property) };
            let at = tree::start(&property.value);
            let value = match &property.value {
                Value::StringLit(text) => text.value.to_string(),
                Value::NumberLit(number) => number.value.to_owned(),
                Value::BooleanLit(flag) => flag.value.to_string(),
                Value::NullKeyword(_) => {
                    let message = format!("`{key}.{}` is null and is left out", name.value);
                    self.remarks.note(at, self.of(&message));
                    continue;
                }
                other @ (Value::Object(_) | Value::Array(_)) => {
                    return Err(wrong_kind(other, &format!("{key}.{}", name.value), "a text", self.source));
                }
            };
            table.push((name, At { value, at }));
        }
        Ok(table)
    }

    fn stranger(&mut self, key: &str, at: usize) {
        if keys::is_comment(key) {
            return;
        }
        if let Some(foreign) = FOREIGN.iter().find(|foreign| foreign.key == key) {
            let message = self.of(&format!("`{key}`: {}", foreign.says));
            return self.remarks.add(foreign.level, at, message);
        }
        let more: &[&str] = if self.tool.is_some() { &written_tool::KEYS } else { &[] };
        let known = || KNOWN.iter().chain(more).copied();
        let message = match nearest(key, known()) {
            Some(near) => format!("`{key}` is not a known key; did you mean `{near}`?"),
            None => {
                let known: Vec<_> = known().collect();
                format!("`{key}` is not a known key and is ignored (known are {})", known.join(", "))
            }
        };
        self.remarks.warn(at, self.of(&message));
    }

    pub(super) fn of(&self, message: &str) -> String {
        format!("server `{}`: {message}", self.name)
    }
}

pub(super) fn text(value: &Value<'_>, key: &str, source: &Source<'_>) -> Result<At<String>, Reason> {
    match value {
        Value::StringLit(text) => Ok(At { value: text.value.to_string(), at: tree::start(value) }),
        other => Err(wrong_kind(other, key, "a text", source)),
    }
}

fn texts(value: &Value<'_>, key: &str, source: &Source<'_>) -> Result<Vec<At<String>>, Reason> {
    let Value::Array(list) = value else {
        return Err(wrong_kind(value, key, r#"a list of texts, as ["one", "two"]"#, source));
    };
    let one = |value: &Value<'_>| match value {
        Value::NumberLit(number) => Ok(At { value: number.value.to_owned(), at: tree::start(value) }),
        other => text(other, key, source),
    };
    list.elements.iter().map(one).collect()
}

fn flag(value: &Value<'_>, key: &str, source: &Source<'_>) -> Result<bool, Reason> {
    match value {
        Value::BooleanLit(flag) => Ok(flag.value),
        other => Err(wrong_kind(other, key, "true or false", source)),
    }
}

pub(super) fn number(value: &Value<'_>, key: &str, source: &Source<'_>) -> Result<At<f64>, Reason> {
    let parsed = value.as_number_lit().and_then(|number| number.value.parse().ok());
    match parsed {
        Some(number) => Ok(At { value: number, at: tree::start(value) }),
        None => Err(wrong_kind(value, key, "a number of seconds", source)),
    }
}

pub(super) fn wrong_kind(value: &Value<'_>, key: &str, wanted: &str, source: &Source<'_>) -> Reason {
    let problem = format!("`{key}` is {}", tree::kind(value));
    reason(source, tree::start(value), problem, format!("write {wanted}"))
}

pub(super) fn reason(source: &Source<'_>, at: usize, problem: impl Into<String>, remedy: impl Into<String>) -> Reason {
    Reason { place: source.place(at), problem: problem.into(), remedy: remedy.into() }
}

/// As many servers as one configuration may name.
const MOST_SERVERS: usize = 1_000;
