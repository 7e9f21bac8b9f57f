//! Where a file keeps its servers, and whose file it is when they are kept elsewhere.

use jsonc_parser::{
    ast::{Array, Object, ObjectProp, Value},
    common::Ranged as _,
};

use super::{
    error::{Error, Fault},
    expose, keys,
    source::Source,
    syntax::EXAMPLE,
    tree,
    warn::{Remarks, nearest},
};

/// An object of servers in the file.
pub(super) struct Section<'v, 'a> {
    /// Its key as a reader would look for it.
    pub(super) key: &'static str,
    pub(super) servers: &'v Object<'a>,
}

/// The tool entries of the file; another program's `tools` is no list.
pub(super) fn tools<'v, 'a>(root: &'v Object<'a>) -> Option<&'v Array<'a>> {
    root.properties.iter().find(|property| property.name.as_str() == "tools")?.value.as_array()
}

/// Finds the servers of a file, or says whose file it looks like and how to write it here.
pub(super) fn sections<'v, 'a>(
    root: &'v Object<'a>,
    source: &Source<'_>,
    remarks: &mut Remarks<'_>,
) -> Result<Vec<Section<'v, 'a>>, Error> {
    tree::no_key_twice(root, "the key", source)?;
    let mut found = Vec::new();
    let mut strangers = Vec::new();
    for property in &root.properties {
        let key = property.name.as_str();
        if let Some(home) = HOMES.iter().find(|home| home.key == key)
            && let Some(section) = open(home, property, source)?
        {
            if let Some(client) = home.client {
                let message = format!("`{}` looks like {client}; its servers are read", home.path);
                remarks.note(tree::key_start(property), message);
            }
            found.push(section);
            continue;
        }
        if key == "inputs" {
            remark_inputs(property, remarks);
        } else if key == "limits"
            || key == "acquire"
            || key == "embeddings"
            || key == "host"
            || key == "telemetry"
            || expose::KEYS.contains(&key)
            || key == "tools" && is_list(&property.value)
        {
            // Read by the rooms of those names.
        } else if !keys::is_comment(key) {
            strangers.push(property);
        }
    }
    let bare = found.is_empty() && tools(root).is_none();
    if bare && !strangers.is_empty() {
        return Err(no_servers(root, &strangers, source));
    }
    if bare {
        remarks.warn(root.start(), format!("the file names no servers; {EXAMPLE}"));
    }
    remark_strangers(&strangers, remarks);
    Ok(found)
}

fn is_list(value: &Value<'_>) -> bool {
    matches!(value, Value::Array(_) | Value::NullKeyword(_))
}

/// A key under which some client keeps servers of the usual shape.
struct Home {
    key: &'static str,
    /// The same with the key below it, if there is one.
    path: &'static str,
    /// The key below that holds the servers.
    below: Option<&'static str>,
    /// The client, where it is not one of those this format is meant for.
    client: Option<&'static str>,
}

const HOMES: [Home; 7] = [
    home("mcpServers", "mcpServers", None, None),
    home("servers", "servers", None, None),
    home("mcp", "mcp.servers", Some("servers"), Some("VS Code's settings.json")),
    home("mcp.servers", "mcp.servers", None, Some("VS Code's settings.json")),
    home("context_servers", "context_servers", None, Some("Zed's settings.json")),
    home("amp.mcpServers", "amp.mcpServers", None, Some("Amp's settings.json")),
    home("mcp_servers", "mcp_servers", None, Some("Codex's configuration")),
];

const fn home(
    key: &'static str,
    path: &'static str,
    below: Option<&'static str>,
    client: Option<&'static str>,
) -> Home {
    Home { key, path, below, client }
}

fn open<'v, 'a>(
    home: &Home,
    property: &'v ObjectProp<'a>,
    source: &Source<'_>,
) -> Result<Option<Section<'v, 'a>>, Error> {
    let mut value = &property.value;
    if let Some(below) = home.below {
        match value.as_object().and_then(|object| object.properties.iter().find(|inner| inner.name.as_str() == below)) {
            Some(inner) => value = &inner.value,
            None => return Ok(None),
        }
    }
    match value {
        Value::Object(servers) => {
            tree::no_key_twice(servers, "the server", source)?;
            Ok(Some(Section { key: home.path, servers }))
        }
        other => {
            let problem = format!("`{}` is {}, not an object of servers", home.path, tree::kind(other));
            Err(source.error(Fault::Shape, tree::start(other), problem, EXAMPLE))
        }
    }
}

fn remark_inputs(property: &ObjectProp<'_>, remarks: &mut Remarks<'_>) {
    let asks = property.value.as_array().is_some_and(|list| !list.elements.is_empty());
    if asks {
        let message = "`inputs` are questions VS Code asks; Toolbay asks none. \
                       Where a server says ${input:NAME}, write ${NAME} and set NAME in the environment";
        remarks.warn(tree::key_start(property), message);
    }
}

/// Few unknown keys are named one by one; many are another program's settings and get one note.
fn remark_strangers(strangers: &[&ObjectProp<'_>], remarks: &mut Remarks<'_>) {
    let known = HOMES.iter().map(|home| home.key).chain([
        "inputs",
        "acquire",
        "embeddings",
        "host",
        "limits",
        "telemetry",
        "tools",
    ]);
    let (slips, others): (Vec<_>, Vec<_>) = strangers
        .iter()
        .map(|property| (*property, nearest(property.name.as_str(), known.clone())))
        .partition(|(property, near)| near.is_some() && HOMES.iter().all(|home| home.key != property.name.as_str()));
    for (property, near) in slips {
        let near = near.unwrap_or_default();
        let message = format!("`{}` is not a known key; did you mean `{near}`?", property.name.as_str());
        remarks.warn(tree::key_start(property), message);
    }
    match others.as_slice() {
        [] => {}
        few if few.len() <= 3 => {
            for (property, _) in few {
                let message = format!("`{}` is not a known key and is ignored", property.name.as_str());
                remarks.warn(tree::key_start(property), message);
            }
        }
        many => {
            let (first, _) = many[0];
            let message = format!(
                "{} keys such as `{}` belong to another program and are ignored",
                many.len(),
                first.name.as_str()
            );
            remarks.note(tree::key_start(first), message);
        }
    }
}

/// The error for a file with keys and without servers: the most telling thing that can be said of it.
fn no_servers(root: &Object<'_>, strangers: &[&ObjectProp<'_>], source: &Source<'_>) -> Error {
    let first = strangers[0];
    let has = |key: &str| root.properties.iter().any(|property| property.name.as_str() == key);
    let at_key = |key: &str| {
        let property = root.properties.iter().find(|property| property.name.as_str() == key);
        property.map_or(0, tree::key_start)
    };
    if let Some(sign) = SIGNS.iter().find(|sign| sign.keys.iter().all(|key| has(key))) {
        let problem = format!("this looks like {}", sign.client);
        return source.error(Fault::Foreign, at_key(sign.keys[0]), problem, sign.remedy);
    }
    if let Some((path, at)) = nested(root) {
        let problem = format!("`mcpServers` is found inside `{path}`, where it is not read");
        return source.error(Fault::Shape, at, problem, "move it to the top level of the file");
    }
    if has("command") || has("url") {
        let problem = "the file holds one server without a name";
        let remedy = r#"wrap it: { "mcpServers": { "NAME": { … } } }"#;
        return source.error(Fault::Shape, tree::key_start(first), problem, remedy);
    }
    if strangers.iter().all(|property| is_server(&property.value)) {
        let problem = "the servers stand at the top level of the file";
        return source.error(Fault::Shape, tree::key_start(first), problem, r#"wrap them: { "mcpServers": { … } }"#);
    }
    let known = HOMES.iter().map(|home| home.key);
    for property in strangers {
        if let Some(near) = nearest(property.name.as_str(), known.clone()) {
            let problem = format!("`{}` is not a known key", property.name.as_str());
            let remedy = format!("did you mean `{near}`?");
            return source.error(Fault::Shape, tree::key_start(property), problem, remedy);
        }
    }
    let problem = format!("the file has no `mcpServers` (its first key is `{}`)", first.name.as_str());
    source.error(Fault::Shape, tree::key_start(first), problem, EXAMPLE)
}

fn is_server(value: &Value<'_>) -> bool {
    value.as_object().is_some_and(|object| {
        object.properties.iter().any(|property| ["command", "url"].contains(&property.name.as_str()))
    })
}

/// `mcpServers` one or two levels down, with the path to it.
fn nested(root: &Object<'_>) -> Option<(String, usize)> {
    let inner = |object: &Object<'_>| {
        object.properties.iter().find(|property| property.name.as_str() == "mcpServers").map(tree::key_start)
    };
    for one in &root.properties {
        let Some(object) = one.value.as_object() else { continue };
        if let Some(at) = inner(object) {
            return Some((one.name.as_str().to_owned(), at));
        }
        for two in &object.properties {
            if let Some(at) = two.value.as_object().and_then(inner) {
                return Some((format!("{}.{}", one.name.as_str(), two.name.as_str()), at));
            }
        }
    }
    None
}

/// Keys that give another program's file away.
struct Sign {
    keys: &'static [&'static str],
    client: &'static str,
    remedy: &'static str,
}

const SIGNS: [Sign; 9] = [
    sign(
        &["projects"],
        "Claude Code's ~/.claude.json",
        "copy the `mcpServers` of one project to the top level of a file",
    ),
    sign(
        &["permissions"],
        "Claude Code's settings.json",
        "its servers are kept in .mcp.json or in ~/.claude.json; give that file",
    ),
    sign(
        &["enabledMcpjsonServers"],
        "Claude Code's settings.json",
        "its servers are kept in .mcp.json or in ~/.claude.json; give that file",
    ),
    sign(
        &["manifest_version"],
        "the manifest of an MCP bundle",
        r#"write its `server.mcp_config` as "NAME": { "command": …, "args": […] } under "mcpServers""#,
    ),
    sign(&["packages"], "a registry's server.json", REGISTRY),
    sign(&["remotes"], "a registry's server.json", REGISTRY),
    sign(
        &["extensions"],
        "goose's configuration",
        r#"write each extension as "NAME": { "command": …, "args": […], "env": {…} } under "mcpServers""#,
    ),
    sign(
        &["mcp"],
        "opencode's opencode.json",
        r#"write each server as "NAME": { "command": …, "args": […], "env": {…} } or { "url": … } under "mcpServers""#,
    ),
    sign(&["experimental"], "Continue's config.json", r#"write each server under "mcpServers" with a name of its own"#),
];

const REGISTRY: &str =
    r#"write the command that starts it as "NAME": { "command": …, "args": […] } under "mcpServers""#;

const fn sign(keys: &'static [&'static str], client: &'static str, remedy: &'static str) -> Sign {
    Sign { keys, client, remedy }
}
