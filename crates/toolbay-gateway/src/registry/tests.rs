//! What is done to a file, and what stays.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, SystemTime},
};

use serde_json::json;

use super::{Added, Entry, Error, Existing, Registry, Switched, Transport, disk::Step};

const EXAMPLE: &str = r#"{"tools":[{"name":"weather_query","description":"查询城市天气信息","transport":"sse","url":"http://mcp-server:8080/sse","category":"weather","enabled":true,"expires_at":null},{"name":"map_search","description":"地图搜索和导航","transport":"rest","url":"http://mcp-server:8081/api/tools/call","category":"map","enabled":true,"expires_at":"2026-04-09T15:30:00"}]}"#;

const COMMENTED: &str = r#"{
  // what we use
  "theme": "dark",
  "tools": [
    /* first */ {
      "name": "one", "transport": "rest", "url": "http://127.0.0.1:1/", // here
      "mine": { "b": 1, "a": 2 },
      "enabled": true // on
    },
    // second
    { "transport": "stdio", "name": "two", "command": "x" }
  ],
  "mcpServers": { "srv": { "command": "y" } }, // last
}
"#;

fn folder(text: &str) -> (tempfile::TempDir, Registry) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolbay.json");
    fs::write(&file, text).unwrap();
    (folder, Registry::at(file))
}

const STEPS: [Step; 8] =
    [Step::Lock, Step::Read, Step::Create, Step::Write, Step::SyncFile, Step::Compare, Step::Rename, Step::SyncFolder];

fn text(registry: &Registry) -> String {
    fs::read_to_string(registry.file()).unwrap()
}

fn names(registry: &Registry, now: SystemTime) -> Vec<String> {
    registry.get_enabled_tools(now).unwrap().into_iter().map(|entry| entry.name).collect()
}

fn rest(name: &str) -> Entry {
    Entry::at(name, Transport::Rest, "http://127.0.0.1:9/")
}

#[test]
fn the_example_goes_through_all_operations() {
    let (_folder, registry) = folder(EXAMPLE);
    let map = registry.tool("map_search").unwrap();
    let end = map.expires_at.unwrap().moment();
    let before = end - Duration::from_secs(1);
    assert_eq!(names(&registry, before), ["weather_query", "map_search"]);
    assert_eq!(names(&registry, end), ["weather_query"]);
    assert_eq!(registry.add_tool(&map, Existing::Refuse).unwrap(), Added::Same);
    assert_eq!(text(&registry), EXAMPLE);
    assert_eq!(registry.disable_tool("weather_query").unwrap(), Switched::Now);
    assert_eq!(registry.disable_tool("weather_query").unwrap(), Switched::Already);
    assert_eq!(text(&registry), EXAMPLE.replacen("\"enabled\":true", "\"enabled\":false", 1));
    assert_eq!(names(&registry, before), ["map_search"]);
    assert_eq!(registry.enable_tool("weather_query").unwrap(), Switched::Now);
    assert_eq!(text(&registry), EXAMPLE);
    assert_eq!(registry.remove_expired(before).unwrap(), [] as [&str; 0]);
    assert_eq!(registry.remove_expired(end).unwrap(), ["map_search"]);
    assert_eq!(names(&registry, before), ["weather_query"]);
    assert_eq!(registry.add_tool(&map, Existing::Refuse).unwrap(), Added::New);
    assert_eq!(registry.tool("map_search").unwrap(), map);
    registry.remove_tool("weather_query").unwrap();
    registry.remove_tool("map_search").unwrap();
    assert!(registry.tools().unwrap().is_empty());
    assert!(matches!(registry.remove_tool("map_search"), Err(Error::Unknown { .. })));
}

#[cfg(unix)]
#[test]
fn a_new_file_is_for_its_user_alone_and_an_old_one_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |registry: &Registry| fs::metadata(registry.file()).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::at(folder.path().join("toolbay.json"));
    registry.add_tool(&rest("one"), Existing::Refuse).unwrap();
    assert_eq!(mode(&registry), 0o600);
    fs::set_permissions(registry.file(), fs::Permissions::from_mode(0o640)).unwrap();
    registry.add_tool(&rest("two"), Existing::Refuse).unwrap();
    assert_eq!(mode(&registry), 0o640);
}

#[test]
fn what_is_not_meant_stays_as_it_was_typed() {
    let (_folder, registry) = folder(COMMENTED);
    registry.disable_tool("one").unwrap();
    assert_eq!(text(&registry), COMMENTED.replace("\"enabled\": true // on", "\"enabled\": false // on"));
    registry.enable_tool("one").unwrap();
    assert_eq!(text(&registry), COMMENTED);
    registry.disable_tool("two").unwrap();
    assert!(text(&registry).contains(r#""command": "x", "enabled": false }"#), "{}", text(&registry));
    registry.enable_tool("two").unwrap();
    registry.add_tool(&rest("three"), Existing::Refuse).unwrap();
    registry.remove_tool("two").unwrap();
    let now = text(&registry);
    for kept in [
        "// what we use",
        "\"theme\": \"dark\"",
        "/* first */",
        "// here",
        "\"mine\": { \"b\": 1, \"a\": 2 }",
        "// last",
    ] {
        assert!(now.contains(kept), "{kept} in {now}");
    }
    assert_eq!(names(&registry, SystemTime::now()), ["one", "three"]);
    // What is not ours in an entry stays when it is replaced.
    let other = Entry { category: Some("map".into()), ..rest("one") };
    assert!(matches!(registry.add_tool(&other, Existing::Refuse), Err(Error::Taken { .. })));
    assert_eq!(registry.add_tool(&other, Existing::Replace).unwrap(), Added::Replaced);
    let one = registry.tool("one").unwrap();
    assert_eq!((one.url.as_deref(), one.other["mine"].clone()), (Some("http://127.0.0.1:9/"), json!({"b": 1, "a": 2})));
    assert!(text(&registry).contains("// here"), "{}", text(&registry));
}

#[test]
fn entries_are_read_as_the_configuration_reads_them() {
    let (_folder, registry) = folder(
        r#"{"tools": [
          {"name": "a", "type": "Streamable-HTTP", "url": "http://h/", "timeout": null},
          {"name": "b", "transport": "SSE", "url": "http://h/", "disabled": true},
          {"name": "c", "transport": "stdio", "command": "x", "env": {"N": 1, "K": "s3cret"}},
          {"name": "d", "transport": "carrier pigeon"}, 7
        ]}"#,
    );
    let tools = registry.tools().unwrap();
    let [Ok(a), Ok(b), Ok(c), Err(d), Err(_)] = &tools[..] else { panic!("{tools:?}") };
    assert_eq!((a.transport, b.transport, b.enabled), (Transport::Http, Transport::Sse, false));
    assert_eq!(c.env["N"], "1");
    assert!(!format!("{c:?}").contains("s3cret") && d.to_string().contains("none of stdio"), "{c:?} {d}");
    assert_eq!(names(&registry, SystemTime::now()), ["a", "c"]);
    registry.enable_tool("b").unwrap();
    assert_eq!(names(&registry, SystemTime::now()), ["a", "b", "c"]);
    registry.remove_tool("d").unwrap();
}

#[test]
fn the_name_of_a_server_is_taken_too() {
    let (_folder, registry) = folder(r#"{"mcpServers": {"one": {"command": "x"}}, "tools": []}"#);
    assert!(matches!(registry.add_tool(&rest("one"), Existing::Refuse), Err(Error::Taken { .. })));
    assert!(registry.add_tool(&rest("one"), Existing::Replace).is_err(), "what is no entry is not replaced");
    assert_eq!(registry.add_tool(&rest("two"), Existing::Refuse).unwrap(), Added::New);
}

#[test]
fn an_entry_that_cannot_be_used_is_refused() {
    let (_folder, registry) = folder(COMMENTED);
    for (entry, why) in [
        (Entry { url: None, ..rest("a") }, "no `url`"),
        (Entry { url: Some("ftp://x/".into()), ..rest("a") }, "neither http nor https"),
        (Entry { url: Some("nonsense".into()), transport: Transport::Stdio, ..rest("a") }, "no `command`"),
        (rest(" "), "no name"),
        (rest("srv"), "taken in `mcpServers`"),
        (Entry { input_schema: Some(json!({"type": "string"})), ..rest("a") }, "`inputSchema`"),
    ] {
        let error = registry.add_tool(&entry, Existing::Replace).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert_eq!(text(&registry), COMMENTED);
    let filled = Entry { url: Some("${URL}".into()), ..rest("a") };
    assert_eq!(registry.add_tool(&filled, Existing::Refuse).unwrap(), Added::New);
}

#[test]
fn a_file_that_does_not_parse_is_left_alone_and_the_place_is_told() {
    let (_folder, registry) = folder("{\n  \"tools\": [ {\"name\": \"a\" } oops ]\n}");
    let error = registry.disable_tool("a").unwrap_err().to_string();
    assert!(error.contains("toolbay.json:2:"), "{error}");
    let (_folder, registry) = folder(r#"{"tools": {"a": 1}}"#);
    let error = registry.add_tool(&rest("a"), Existing::Refuse).unwrap_err().to_string();
    assert!(error.contains("not a list"), "{error}");
}

#[test]
fn a_file_that_is_not_there_is_made_and_a_link_stays_one() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::at(folder.path().join("new.json"));
    assert!(registry.tools().unwrap().is_empty());
    registry.add_tool(&rest("a"), Existing::Refuse).unwrap();
    assert_eq!(names(&registry, SystemTime::now()), ["a"]);
    #[cfg(unix)]
    {
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink(registry.file(), &link).unwrap();
        Registry::at(&link).remove_tool("a").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(registry.tools().unwrap().is_empty());
    }
}

/// Stops before a step, once.
fn once(step: Step) -> Arc<dyn Fn(Step) -> bool + Send + Sync> {
    let done = AtomicBool::new(false);
    Arc::new(move |now| now == step && !done.swap(true, Ordering::Relaxed))
}

#[test]
fn a_write_that_stops_at_any_step_leaves_the_file_whole() {
    for step in STEPS {
        let (folder, registry) = folder(COMMENTED);
        let stopping = registry.clone().stopping(once(step));
        stopping.add_tool(&rest("three"), Existing::Refuse).unwrap_err();
        let now = names(&registry, SystemTime::now());
        let renamed = step == Step::SyncFolder;
        assert_eq!(now, if renamed { vec!["one", "two", "three"] } else { vec!["one", "two"] }, "{step:?}");
        assert!(renamed || text(&registry) == COMMENTED, "{step:?}");
        // The next writer is not in the way of what was left behind, and sweeps it up.
        let added = registry.add_tool(&rest("three"), Existing::Refuse).unwrap();
        assert_eq!(added, if renamed { Added::Same } else { Added::New }, "{step:?}");
        registry.disable_tool("three").unwrap();
        let left: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().path()).collect();
        assert!(!left.iter().any(|path| path.extension() == Some("tmp".as_ref())), "{step:?} {left:?}");
    }
}

/// Names the file, and the step, for a process that ends in the middle of a write: this program again.
const DIES: &str = "TOOLBAY_TEST_DIES";

#[test]
fn dies_at_a_step() {
    let Ok(told) = std::env::var(DIES) else { return };
    let (step, file) = told.split_once(' ').unwrap();
    let (step, file) = (step.to_owned(), file.to_owned());
    // Nobody unwinds, and nobody tidies up.
    let stop = Arc::new(move |now: Step| if format!("{now:?}") == step { std::process::abort() } else { false });
    let _ = Registry::at(file).stopping(stop).add_tool(&rest("three"), Existing::Refuse);
}

#[test]
fn a_process_that_is_killed_at_any_step_leaves_the_file_whole_and_nobody_waiting() {
    for step in STEPS {
        let (_folder, registry) = folder(COMMENTED);
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["registry::tests::dies_at_a_step", "--exact"])
            .env(DIES, format!("{step:?} {}", registry.file().display()))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(!status.success(), "{step:?}");
        let renamed = step == Step::SyncFolder;
        assert!(renamed || text(&registry) == COMMENTED, "{step:?}");
        let added = registry.add_tool(&rest("three"), Existing::Refuse).unwrap();
        assert_eq!(added, if renamed { Added::Same } else { Added::New }, "{step:?}");
        assert_eq!(names(&registry, SystemTime::now()), ["one", "two", "three"], "{step:?}");
    }
}

#[test]
fn several_who_write_at_once_lose_nothing() {
    let (_folder, registry) = folder(EXAMPLE);
    thread::scope(|scope| {
        for writer in 0..4 {
            let registry = registry.clone();
            scope.spawn(move || {
                for number in 0..8 {
                    registry.add_tool(&rest(&format!("t{writer}-{number}")), Existing::Refuse).unwrap();
                }
            });
        }
    });
    assert_eq!(registry.tools().unwrap().len(), 2 + 4 * 8);
}

#[test]
fn what_somebody_writes_without_a_lock_meanwhile_is_not_lost() {
    let (_folder, registry) = folder(COMMENTED);
    let file = registry.file().to_path_buf();
    let done = AtomicBool::new(false);
    let edited = registry.clone().stopping(Arc::new(move |step| {
        if step == Step::Compare && !done.swap(true, Ordering::Relaxed) {
            by_hand(&file);
        }
        false
    }));
    edited.add_tool(&rest("three"), Existing::Refuse).unwrap();
    assert_eq!(names(&registry, SystemTime::now()), ["hand", "two", "three"]);
}

fn by_hand(file: &Path) {
    fs::write(file, COMMENTED.replace("\"one\"", "\"hand\"")).unwrap();
}
