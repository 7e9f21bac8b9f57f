//! Who may depend on whom, compared with what cargo says; and that the protocol is free of a runtime.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Finding;
use crate::{child, places};

/// Our crates and the ones of ours that each may name; `docs/architecture.md` draws the same table.
const TABLE: [(&str, &[&str]); 11] = [
    ("toolbay-protocol", &[]),
    ("toolbay-retrieval", &[]),
    ("toolbay-macros", &[]),
    ("toolbay-transport", &["toolbay-protocol"]),
    ("toolbay", &["toolbay-transport", "toolbay-protocol", "toolbay-macros"]),
    ("toolbay-builtins", &["toolbay", "toolbay-retrieval"]),
    ("toolbay-gateway", &["toolbay", "toolbay-transport", "toolbay-protocol", "toolbay-retrieval"]),
    ("toolbay-agent", &["toolbay-gateway", "toolbay", "toolbay-transport", "toolbay-protocol", "toolbay-retrieval"]),
    ("toolbay-cli", &SHIPPED),
    (TESTKIT, &SHIPPED),
    ("xtask", &[]),
];

const SHIPPED: [&str; 8] = [
    "toolbay-protocol",
    "toolbay-retrieval",
    "toolbay-macros",
    "toolbay-transport",
    "toolbay",
    "toolbay-builtins",
    "toolbay-gateway",
    "toolbay-agent",
];

const TESTKIT: &str = "toolbay-testkit";

/// Breaches of the table.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>> {
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let members: BTreeSet<&str> = strings(&metadata["workspace_members"]).collect();
    let ours: Vec<&Value> =
        packages.iter().filter(|package| members.contains(package["id"].as_str().unwrap_or(""))).collect();
    let names: BTreeSet<&str> = ours.iter().filter_map(|package| package["name"].as_str()).collect();

    let mut findings = Vec::new();
    for package in &ours {
        let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap_or("Cargo.toml"));
        let text = fs::read_to_string(&manifest)?;
        let file = manifest.strip_prefix(root).unwrap_or(&manifest);
        for (dependency, words) in breaches(package, &names) {
            findings.push(Finding::new(file, line_of(&text, dependency), words));
        }
    }
    if let Some(path) = path_to(&metadata, "toolbay-protocol", "tokio") {
        let words = format!("tokio is reachable ({}): the protocol does no IO, drop the dependency", path.join(" → "));
        findings.push(Finding::new(Path::new("crates/toolbay-protocol/Cargo.toml"), 1, words));
    }
    Ok(findings)
}

fn metadata() -> Result<Value> {
    let mut cargo = places::cargo();
    cargo.args(["metadata", "--format-version", "1", "--all-features"]);
    let run = child::capture("cargo metadata", &mut cargo, Duration::from_secs(600))?;
    if !run.status.success() {
        bail!("cargo metadata failed: {}", run.stderr.trim());
    }
    Ok(serde_json::from_str(&run.stdout)?)
}

/// Dependencies on crates of ours that the table does not grant.
fn breaches<'a>(package: &'a Value, ours: &BTreeSet<&str>) -> Vec<(&'a str, String)> {
    let name = package["name"].as_str().unwrap_or("");
    let Some((_, granted)) = TABLE.iter().find(|(row, _)| *row == name) else {
        return vec![(
            "name",
            format!(
                "{name} is not in the import table: give it a row in xtask/src/tidy/imports.rs and docs/architecture.md"
            ),
        )];
    };
    let mut found = Vec::new();
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let other = dependency["name"].as_str().unwrap_or("");
        // A crate may name itself to switch on a feature for its tests.
        if !ours.contains(other) || other == name || granted.contains(&other) {
            continue;
        }
        let for_tests = dependency["kind"] == "dev";
        match (other == TESTKIT, for_tests) {
            (true, true) => {}
            (true, false) => found.push((other, format!("{TESTKIT} is for tests only: move it to [dev-dependencies]"))),
            (false, _) => found.push((
                other,
                format!("{name} must not import {other}: move the code, or change the table with a decision"),
            )),
        }
    }
    found
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn line_of(text: &str, word: &str) -> usize {
    let names = |line: &str| line.trim_start().strip_prefix(word).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
    text.lines().position(names).map_or(1, |at| at + 1)
}

/// The way from one crate to another through normal and build dependencies, if there is one.
fn path_to(metadata: &Value, from: &str, to: &str) -> Option<Vec<String>> {
    let packages = metadata["packages"].as_array()?;
    let name_of: BTreeMap<&str, &str> =
        packages.iter().filter_map(|one| Some((one["id"].as_str()?, one["name"].as_str()?))).collect();
    let nodes = metadata["resolve"]["nodes"].as_array()?;
    let edges: BTreeMap<&str, Vec<&str>> =
        nodes.iter().filter_map(|node| Some((node["id"].as_str()?, shipped(node)))).collect();

    let start = name_of.iter().find(|(_, name)| **name == from).map(|(id, _)| *id)?;
    let mut came: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = vec![start];
    while let Some(at) = queue.pop() {
        if name_of.get(at) == Some(&to) {
            let mut path = vec![at];
            while let Some(before) = came.get(path[path.len() - 1]) {
                path.push(before);
            }
            return Some(path.iter().rev().filter_map(|id| name_of.get(id)).map(|name| (*name).to_owned()).collect());
        }
        for next in edges.get(at).into_iter().flatten() {
            if *next != start && !came.contains_key(next) {
                came.insert(next, at);
                queue.push(next);
            }
        }
    }
    None
}

/// What a crate needs outside its tests.
fn shipped(node: &Value) -> Vec<&str> {
    let real = |dep: &&Value| dep["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"] != "dev");
    node["deps"].as_array().into_iter().flatten().filter(real).filter_map(|dep| dep["pkg"].as_str()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_names_only_its_own_rows_and_has_no_circle() {
        for (at, (name, granted)) in TABLE.iter().enumerate() {
            for other in *granted {
                let row = TABLE.iter().position(|(row, _)| row == other).expect("a granted crate has a row");
                assert!(row < at, "{name} may import {other}, which comes after it");
            }
        }
    }

    #[test]
    fn a_forbidden_import_is_named_and_the_testkit_is_for_tests() {
        let ours = BTreeSet::from(["toolbay-protocol", "toolbay-transport", TESTKIT]);
        let package = |name: &str, dependency: &str, kind: Value| json!({ "name": name, "dependencies": [{ "name": dependency, "kind": kind }] });
        let count = |package: Value| breaches(&package, &ours).len();
        assert_eq!(count(package("toolbay-protocol", "toolbay-transport", Value::Null)), 1);
        assert_eq!(count(package("toolbay-protocol", "toolbay-transport", json!("dev"))), 1);
        assert_eq!(count(package("toolbay-transport", "toolbay-protocol", Value::Null)), 0);
        assert_eq!(count(package("toolbay-transport", TESTKIT, json!("dev"))), 0);
        assert_eq!(count(package("toolbay-transport", TESTKIT, Value::Null)), 1);
        assert_eq!(count(package("toolbay-unheard-of", "serde", Value::Null)), 1);
    }

    #[test]
    fn a_runtime_below_transport_is_traced() {
        let dep = |id: &str, kind: Value| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let metadata = |kind: Value| {
            json!({
                "packages": [{ "id": "p", "name": "toolbay-protocol" }, { "id": "x", "name": "x" }, { "id": "t", "name": "tokio" }],
                "resolve": { "nodes": [{ "id": "p", "deps": [dep("x", kind)] }, { "id": "x", "deps": [dep("t", Value::Null)] }] },
            })
        };
        assert_eq!(
            path_to(&metadata(Value::Null), "toolbay-protocol", "tokio").unwrap(),
            ["toolbay-protocol", "x", "tokio"]
        );
        assert_eq!(path_to(&metadata(json!("dev")), "toolbay-protocol", "tokio"), None);
    }
}
