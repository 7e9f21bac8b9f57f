//! How a listed server would be reached: an entry for the registry of tools, and what somebody has to know and give before it
//! is one. Nothing is added here, and nothing is run.

use std::collections::BTreeMap;

use serde_json::json;

use super::{
    Entry, Transport,
    listing::{Argument, Input, Listing, Package, Remote},
};

/// A way to reach a listed server.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The entry that would be added; `${NAME}` in it stands for what is wanted.
    pub entry: Entry,
    /// What it means.
    pub means: Means,
    /// What somebody has to give first.
    pub wanted: Vec<Wanted>,
}

/// What an entry means for this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// Requests go to another machine.
    Remote {
        /// Which.
        url: String,
    },
    /// A program runs on this one.
    Program {
        /// The program and its arguments; never a shell line.
        argv: Vec<String>,
        /// The sort of package: `npm`, `pypi`, `oci`.
        kind: String,
        /// Its name.
        package: String,
        /// Its version.
        version: String,
    },
}

/// Something that has to be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The environment variable that is to hold it.
    pub variable: String,
    /// What it is.
    pub description: String,
    /// Who may see it.
    pub secrecy: Secrecy,
}

/// Who may see a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// Anybody.
    Open,
    /// Nobody.
    Secret,
}

impl Plan {
    /// The ways to reach a server, best first: another machine before a program here, Streamable HTTP before HTTP+SSE; among
    /// equals, what wants less.
    pub fn ways(listing: &Listing) -> Vec<Self> {
        let mut ways: Vec<_> = listing.remotes.iter().filter_map(|remote| by_remote(listing, remote)).collect();
        ways.sort_by_key(|plan| (!plan.wanted.is_empty(), plan.entry.transport != Transport::Http));
        let mut programs: Vec<_> = listing.packages.iter().filter_map(|package| by_package(listing, package)).collect();
        programs.sort_by_key(|plan| plan.wanted.len());
        ways.extend(programs);
        ways
    }
}

/// The name of the entry: the last part of the server's, in letters that names of tools may have.
pub(super) fn short_name(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    plain(if last.is_empty() { name } else { last })
}

/// The whole name in such letters, for when the short one is taken.
pub(super) fn long_name(name: &str) -> String {
    plain(name)
}

fn plain(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    name.chars().map(letter).take(64).collect::<String>().trim_matches('-').to_owned()
}

fn by_remote(listing: &Listing, remote: &Remote) -> Option<Plan> {
    let transport = match remote.kind.as_str() {
        "streamable-http" | "streamable" | "http" => Transport::Http,
        "sse" => Transport::Sse,
        _ => return None,
    };
    if !remote.url.starts_with("https://") && !remote.url.starts_with("http://") {
        return None;
    }
    // A header is sent to another machine: what fills it is never a variable that is set here for something else.
    let mut wants = Wants { naming: Naming::Ours, ..Wants::of(listing) };
    let url = wants.filled(&remote.url, &remote.variables);
    let mut entry = dressed(Entry::at(short_name(&listing.name), transport, url.clone()), listing);
    for header in remote.headers.iter().filter(|header| !header.name.is_empty()) {
        if let Some(value) = wants.value(header, &header.name) {
            entry.headers.insert(header.name.clone(), value);
        }
    }
    wants.asks_for_no_more_than(&entry).then(|| Plan { entry, means: Means::Remote { url }, wanted: wants.list })
}

fn by_package(listing: &Listing, package: &Package) -> Option<Plan> {
    if !matches!(package.transport.kind.as_str(), "" | "stdio") || package.identifier.is_empty() {
        return None;
    }
    let mut wants = Wants::of(listing);
    let env = environment(package, &mut wants);
    let pinned = |mark: &str| match package.version.as_str() {
        "" | "latest" => package.identifier.clone(),
        version => format!("{}{mark}{version}", package.identifier),
    };
    let before = wants.arguments(&package.runtime_arguments);
    let mut argv: Vec<String> = match package.registry_type.as_str() {
        "npm" => ["npx".into(), "-y".into()].into_iter().chain(before).chain([pinned("@")]).collect(),
        "pypi" => ["uvx".into()].into_iter().chain(before).chain([pinned("==")]).collect(),
        "oci" | "docker" => {
            let run = ["docker", "run", "-i", "--rm"].map(String::from);
            let env = env.keys().flat_map(|name| ["-e".into(), name.clone()]);
            let named = package.identifier.rsplit('/').next().is_some_and(|last| last.contains([':', '@']));
            let image = if named { package.identifier.clone() } else { pinned(":") };
            run.into_iter().chain(before).chain(env).chain([image]).collect()
        }
        "nuget" => ["dnx".into()].into_iter().chain(before).chain([pinned("@"), "--yes".into()]).collect(),
        _ => return None,
    };
    argv.extend(wants.arguments(&package.package_arguments));
    let entry = Entry::program(short_name(&listing.name), argv[0].clone(), argv[1..].to_vec());
    let means = Means::Program {
        argv,
        kind: package.registry_type.clone(),
        package: package.identifier.clone(),
        version: package.version.clone(),
    };
    let entry = dressed(Entry { env, ..entry }, listing);
    wants.asks_for_no_more_than(&entry).then(|| Plan { entry, means, wanted: wants.list })
}

fn environment(package: &Package, wants: &mut Wants) -> BTreeMap<String, String> {
    let named = package.environment_variables.iter().filter(|variable| !variable.name.is_empty());
    named.filter_map(|variable| Some((variable.name.clone(), wants.value(variable, &variable.name)?))).collect()
}

fn dressed(entry: Entry, listing: &Listing) -> Entry {
    let mut entry = Entry { description: listing.description.clone(), ..entry };
    entry.other.insert("source".into(), json!({"name": listing.name, "version": listing.version}));
    entry
}

/// How variables are named after what they hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// As their program calls them, where that says something.
    Own,
    /// With a word of ours and the server's name before them: a registry chooses that name, too.
    Ours,
}

/// What is wanted so far.
struct Wants {
    prefix: String,
    naming: Naming,
    list: Vec<Wanted>,
}

impl Wants {
    fn of(listing: &Listing) -> Self {
        Self { prefix: variable(&short_name(&listing.name)), naming: Naming::Own, list: vec![] }
    }

    /// Whether an entry refers to what somebody was asked for, and to nothing else: what a registry writes is never a
    /// reference to what is set on this machine.
    fn asks_for_no_more_than(&self, entry: &Entry) -> bool {
        let texts = entry.url.iter().chain(&entry.command).chain(&entry.args).chain(entry.headers.values());
        let mut references = texts.chain(entry.env.values()).flat_map(|text| text.split("${").skip(1));
        references.all(|rest| {
            let name = rest.split_once('}').map_or(rest, |(name, _)| name);
            self.list.iter().any(|wanted| wanted.variable == name)
        })
    }

    /// The arguments of a program; what it does without, and nobody gave, is left out.
    fn arguments(&mut self, arguments: &[Argument]) -> Vec<String> {
        arguments.iter().flat_map(|argument| self.argument(argument)).collect()
    }

    fn argument(&mut self, argument: &Argument) -> Vec<String> {
        let Argument { kind, value_hint, input } = argument;
        let name = [&input.name, value_hint].into_iter().find(|name| !name.is_empty()).cloned().unwrap_or_default();
        let value = self.value(input, &name);
        if kind != "named" {
            return value.into_iter().collect();
        }
        match value {
            // A flag: nothing follows it.
            None if input.value.is_none() && input.default.is_none() && !input.is_required => vec![],
            None => vec![input.name.clone()],
            Some(value) => vec![input.name.clone(), value],
        }
    }

    /// What is filled in: what the author fixed, else what is wanted of somebody, else the default.
    fn value(&mut self, input: &Input, name: &str) -> Option<String> {
        if let Some(value) = &input.value {
            return Some(self.filled(value, &input.variables));
        }
        match &input.default {
            Some(default) if !is_secret(input, name) => Some(default.clone()),
            Some(_) | None if input.is_required || is_secret(input, name) => Some(self.want(input, name)),
            Some(_) | None => None,
        }
    }

    /// A text with its `{variables}` filled in; one that is not described stays as it is.
    fn filled(&mut self, text: &str, variables: &BTreeMap<String, Input>) -> String {
        let mut filled = text.to_owned();
        for (name, input) in variables {
            let place = format!("{{{name}}}");
            if filled.contains(&place) {
                let required = Input { is_required: true, ..input.clone() };
                let value = self.value(&required, name).unwrap_or_default();
                filled = filled.replace(&place, &value);
            }
        }
        filled
    }

    /// A reference to what somebody has to give.
    fn want(&mut self, input: &Input, name: &str) -> String {
        let own = variable(name);
        // A name that says nothing alone belongs to its server.
        let variable = match self.naming {
            Naming::Own if own.contains('_') => own,
            Naming::Own => format!("{}_{own}", self.prefix),
            Naming::Ours => format!("TOOLBAY_{}_{own}", self.prefix),
        };
        if !self.list.iter().any(|wanted| wanted.variable == variable) {
            let secrecy = if is_secret(input, name) { Secrecy::Secret } else { Secrecy::Open };
            self.list.push(Wanted { variable: variable.clone(), description: input.description.clone(), secrecy });
        }
        format!("${{{variable}}}")
    }
}

/// Whether nobody else may see a value: older entries do not say so, but name it for what it is.
fn is_secret(input: &Input, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let names = ["key", "token", "secret", "password", "authorization"];
    input.is_secret || names.iter().any(|secret| name.ends_with(secret))
}

/// A name as environment variables have them.
fn variable(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
    let name = name.chars().map(letter).collect::<String>().trim_matches('_').to_owned();
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("_{name}") } else { name }
}
