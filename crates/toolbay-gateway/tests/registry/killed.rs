//! Writers that are killed at any moment: the file is whole, and holds all that was acknowledged.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::SystemTime,
};

use toolbay_gateway::registry::{Entry, Existing, Registry, Transport};

/// Names the file for the writer, which is this program again.
const FILE: &str = "TOOLBAY_TEST_WRITES_TO";

fn entry(number: usize) -> Entry {
    Entry::at(format!("t{number}"), Transport::Rest, "http://127.0.0.1:9/")
}

/// Writes until it is killed; says what is acknowledged.
#[test]
fn writer() {
    let Ok(file) = std::env::var(FILE) else { return };
    let registry = Registry::at(file);
    let begun = registry.tools().unwrap().len();
    for number in begun..100_000 {
        registry.add_tool(&entry(number), Existing::Refuse).unwrap();
        eprintln!("ack {number}");
    }
}

#[test]
fn a_writer_that_is_killed_loses_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolbay.json");
    std::fs::write(&file, "{\n  // mine\n  \"other\": 1,\n  \"tools\": []\n}\n").unwrap();
    let registry = Registry::at(&file);
    let mut acknowledged = 0;
    for round in 0..12 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["killed::writer", "--exact", "--nocapture", "--test-threads=1"])
            .env(FILE, &file)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let ack = |line: String| line.strip_prefix("ack ").and_then(|number| number.parse::<usize>().ok());
        // Some writes are whole; then it is killed wherever it is.
        let first = lines.by_ref().map(|line| line.unwrap()).filter_map(ack).nth(round).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let last = lines.map_while(Result::ok).filter_map(ack).last().unwrap_or(first);
        acknowledged = acknowledged.max(last + 1);
        let names: Vec<_> = registry.get_enabled_tools(SystemTime::now()).unwrap();
        assert!(names.len() == acknowledged || names.len() == acknowledged + 1, "{} {acknowledged}", names.len());
        assert!(names.iter().enumerate().all(|(number, one)| *one == entry(number)));
        acknowledged = names.len();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("// mine") && text.contains("\"other\": 1"), "{text}");
    }
    // Nobody is in the way of the next writer, and what was left behind is swept up.
    registry.remove_tool("t0").unwrap();
    let left = std::fs::read_dir(folder.path()).unwrap().filter(|one| {
        let name = one.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".tmp")
    });
    assert_eq!(left.count(), 0);
}
