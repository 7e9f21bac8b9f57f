use std::{
    fs,
    os::unix::{ffi::OsStrExt as _, fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    process::Command,
};

use super::*;

/// A served folder `root` beside a file `secret`, and links of every kind.
struct Place {
    _keep: tempfile::TempDir,
    outer: PathBuf,
    root: Root,
}

fn place() -> Place {
    place_with(Limits::default())
}

fn place_with(limits: Limits) -> Place {
    let keep = tempfile::tempdir().unwrap();
    let outer = keep.path().canonicalize().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = outer.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("secret", b"secret");
    write("rooted/near", b"near");
    write("root/a.txt", b"one\ntwo\nthree\n");
    write("root/empty", b"");
    write("root/b/c.rs", "fn é() {}".as_bytes());
    write("root/b/d/e.rs", b"//");
    write("root/raw.bin", b"ab\xff\0cd");
    let link = |to: &str, name: &str| symlink(to, outer.join("root").join(name)).unwrap();
    link("a.txt", "inner");
    link("b", "inner_folder");
    link("../secret", "out");
    link("..", "out_folder");
    link(outer.join("root/a.txt").to_str().unwrap(), "absolute");
    link("/etc", "etc");
    link("nothing", "dangling");
    link("circle", "circle");
    link("../root/a.txt", "out_and_back");
    link("..", "b/up");
    let root = Root::open_with(&outer.join("root"), limits).unwrap();
    Place { _keep: keep, outer, root }
}

fn fault<T>(result: Result<T, Error>) -> &'static str {
    match result {
        Ok(_) => "read",
        Err(Error::Outside { .. }) => "outside",
        Err(Error::Missing { .. }) => "missing",
        Err(Error::NotFile { .. }) => "no file",
        Err(Error::NotFolder { .. }) => "no folder",
        Err(Error::TooLarge { .. }) => "too large",
        Err(Error::NotText { .. }) => "no text",
        Err(Error::BadPath { .. }) => "bad path",
        Err(Error::BadPattern { .. }) => "bad pattern",
        Err(Error::OutOfRange { .. }) => "out of range",
        Err(Error::Denied { .. }) => "denied",
        Err(Error::Disk { .. }) => "disk",
    }
}

#[test]
fn nothing_outside_the_folder_can_be_read() {
    let place = place();
    let outer = place.outer.display();
    for (path, expected) in [
        ("a.txt", "read"),
        ("./a.txt", "read"),
        ("b/../a.txt", "read"),
        ("inner", "read"),
        ("inner_folder/c.rs", "read"),
        ("b/up/a.txt", "read"),
        ("../secret", "outside"),
        ("../root/a.txt", "outside"),
        ("b/../../secret", "outside"),
        ("b/d/../../../secret", "outside"),
        ("out", "outside"),
        ("out_folder/secret", "outside"),
        ("out_and_back", "outside"),
        ("absolute", "outside"),
        ("etc/passwd", "outside"),
        ("b/up/../secret", "outside"),
        ("/etc/passwd", "outside"),
        ("//etc/passwd", "outside"),
        (&format!("{outer}/secret"), "outside"),
        (&format!("{outer}/rooted/near"), "outside"),
        (&format!("{outer}/root/../secret"), "outside"),
        (&format!("{outer}/root/a.txt"), "read"),
        ("..\\secret", "missing"),
        ("%2e%2e/secret", "missing"),
        ("~/x", "missing"),
        ("nothing", "missing"),
        ("dangling", "missing"),
        ("circle", "bad path"),
        ("a\0b", "bad path"),
        ("a.txt\0", "bad path"),
        (&"x".repeat(300), "bad path"),
        (&"x/".repeat(5_000), "bad path"),
        ("a.txt/x", "no folder"),
        ("b", "no file"),
        ("", "no file"),
        (".", "no file"),
    ] {
        assert_eq!(fault(place.root.read_text(path, Part::Whole)), expected, "text {path:?}");
        assert_eq!(fault(place.root.read_bytes(path)), expected, "bytes {path:?}");
    }
}

#[test]
fn no_folder_outside_can_be_listed_walked_or_searched() {
    let place = place();
    let outer = place.outer.display();
    for (path, expected) in [
        ("", "read"),
        ("b", "read"),
        ("b/", "read"),
        ("inner_folder", "read"),
        ("b/up", "read"),
        (&format!("{outer}/root"), "read"),
        ("..", "outside"),
        ("out_folder", "outside"),
        ("etc", "outside"),
        ("/", "outside"),
        ("b/../..", "outside"),
        ("a.txt", "no folder"),
        ("dangling", "missing"),
        ("b\0", "bad path"),
    ] {
        assert_eq!(fault(place.root.list(path)), expected, "list {path:?}");
        assert_eq!(fault(place.root.tree(path, 3)), expected, "tree {path:?}");
        assert_eq!(fault(place.root.search(path, "*", 10)), expected, "search {path:?}");
    }
}

#[test]
fn pipes_sockets_and_devices_are_never_opened() {
    let place = place();
    let at = |name: &str| place.outer.join("root").join(name);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    symlink("pipe", at("to_pipe")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    for name in ["pipe", "to_pipe", "socket"] {
        assert_eq!(fault(place.root.read_text(name, Part::Whole)), "no file", "{name}");
        assert_eq!(fault(place.root.read_bytes(name)), "no file", "{name}");
        assert_eq!(fault(place.root.list(name)), "no folder", "{name}");
        assert!(place.root.info(name).is_ok(), "{name}");
    }
    let devices = Root::open(Path::new("/dev")).unwrap();
    for name in ["zero", "null", "tty"] {
        assert_eq!(fault(devices.read_bytes(name)), "no file", "{name}");
    }
}

#[test]
fn what_was_opened_is_what_is_shown() {
    let place = place();
    for (path, shown) in [("inner", "a.txt"), ("inner_folder/c.rs", "b/c.rs"), ("b/./../b//c.rs", "b/c.rs")] {
        assert_eq!(place.root.read_text(path, Part::Whole).unwrap().path, shown);
    }
    assert_eq!(place.root.list("inner_folder").unwrap().path, "b");
    assert_eq!(place.root.list("b/up").unwrap().path, ".");
    assert_eq!(place.root.path(), place.outer.join("root"));
}

#[test]
fn text_is_read_whole_or_from_either_end() {
    let place = place_with(Limits { bytes: 10, ..Limits::default() });
    let file = place.outer.join("root/t");
    let check = |bytes: &[u8], part: Part, expected: &str, cut: &str| {
        fs::write(&file, bytes).unwrap();
        let text = place.root.read_text("t", part).unwrap();
        assert_eq!(text.text, expected, "{part:?} of {bytes:?}");
        let note = text.note.unwrap_or_default();
        assert_eq!(note.is_empty(), cut.is_empty(), "{note}");
        assert!(note.contains(cut), "{note}");
        assert_eq!(text.size, bytes.len() as u64);
    };
    use Part::{Head, Tail, Whole};
    check(b"", Whole, "", "");
    check(b"0123456789", Whole, "0123456789", "");
    check(b"0123456789x", Whole, "0123456789", "the first 10 of 11 bytes");
    check("12345678é9".as_bytes(), Whole, "12345678é", "the first 10 of 11");
    check("123456789éx".as_bytes(), Whole, "123456789", "the first 10 of 12");
    check(b"\xef\xbb\xbfab", Whole, "ab", "");
    check(b"a\nb\nc\n", Head(2), "a\nb\n", "");
    check(b"a\nb\nc", Head(3), "a\nb\nc", "");
    check(b"a\nb\nc", Head(9), "a\nb\nc", "");
    check(b"a\nb", Head(0), "", "");
    check(b"a\nb\nc\nd\ne\nf\n", Head(2), "a\nb\n", "");
    check(b"a\nb\nc\nd\ne\nf\n", Head(6), "a\nb\nc\nd\ne\n", "the first 10 of 12");
    check(b"a\n\xff\xff", Head(1), "a\n", "");
    check(b"a\nb\nc\n", Tail(2), "b\nc\n", "");
    check(b"a\nb\nc", Tail(2), "b\nc", "");
    check(b"a\nb\nc", Tail(9), "a\nb\nc", "");
    check(b"a\nb", Tail(0), "", "");
    check(b"\n\n", Tail(1), "\n", "");
    check(b"a\nb\nc\nd\ne\nf\n", Tail(2), "e\nf\n", "");
    check(b"a\nb\nc\nd\ne\nf\n", Tail(6), "b\nc\nd\ne\nf\n", "the last 10 of 12");
    check("ééééé1".as_bytes(), Tail(1), "éééé1", "the last 10 of 11");
}

#[test]
fn bytes_that_are_no_text_are_told_with_their_place() {
    let place = place();
    let error = place.root.read_text("raw.bin", Part::Whole).unwrap_err();
    assert_eq!(error.to_string(), "`raw.bin` is not UTF-8 text (byte 2); read it as bytes");
    assert_eq!(place.root.read_bytes("raw.bin").unwrap().bytes, b"ab\xff\0cd");
    fs::write(place.outer.join("root/torn"), b"ab\xc3").unwrap();
    assert_eq!(fault(place.root.read_text("torn", Part::Whole)), "no text");
    assert_eq!(fault(place.root.read_text("torn", Part::Tail(1))), "no text");
}

#[test]
fn bytes_beyond_the_limit_are_an_error_that_names_it() {
    let place = place_with(Limits { bytes: 4, ..Limits::default() });
    let error = place.root.read_bytes("raw.bin").unwrap_err();
    let expected = "`raw.bin` has 6 bytes, and 4 is the most in one answer; read it in parts as text";
    assert_eq!(error.to_string(), expected);
    assert!(place.root.read_bytes("empty").unwrap().bytes.is_empty());
}

#[test]
fn a_file_whose_size_is_a_fiction_is_read_up_to_the_limit() {
    let Ok(system) = Root::open_with(Path::new("/proc/self"), Limits { bytes: 16, ..Limits::default() }) else {
        return;
    };
    assert_eq!(system.read_text("status", Part::Whole).unwrap().text.len(), 16);
    assert_eq!(fault(system.read_bytes("status")), "too large");
    // Links of that kind lead anywhere the process can reach.
    assert_eq!(fault(system.read_text("exe", Part::Whole)), "bad path");
    assert_eq!(fault(system.list("root")), "bad path");
}

#[test]
fn a_listing_is_in_order_with_kinds_and_sizes() {
    let place = place();
    let odd = std::ffi::OsStr::from_bytes(b"zz\xff");
    fs::write(place.outer.join("root").join(odd), b"").unwrap();
    let listing = place.root.list(".").unwrap();
    let shown: Vec<_> = listing.entries.iter().map(|e| (e.name.as_str(), e.kind, e.size, e.exact)).collect();
    assert_eq!(
        shown[..3],
        [("a.txt", Kind::File, Some(14), true), ("absolute", Kind::Link, None, true), ("b", Kind::Folder, None, true)]
    );
    assert_eq!(shown.last(), Some(&("zz\u{fffd}", Kind::File, Some(0), false)));
    assert_eq!(listing.note, None);
    assert_eq!(fault(place.root.read_text("zz\u{fffd}", Part::Whole)), "missing");
}

#[test]
fn a_long_listing_is_cut_with_a_note() {
    let place = place_with(Limits { entries: 2, visits: 5, ..Limits::default() });
    let listing = place.root.list("").unwrap();
    assert_eq!(listing.entries.len(), 2);
    assert_eq!(listing.note.unwrap(), "these are 2 of at least 5 entries; search with a pattern to see others");
}

#[test]
fn a_path_is_described_and_links_are_not_followed() {
    let place = place();
    fs::File::open(place.outer.join("root/a.txt"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_700_000_000_999))
        .unwrap();
    let info = place.root.info("b/../a.txt").unwrap();
    assert_eq!((info.path.as_str(), info.kind, info.size), ("a.txt", Kind::File, Some(14)));
    assert_eq!((info.modified.as_deref(), info.mime), (Some("2023-11-14T22:13:20Z"), Some("text/plain")));
    let inside = |path: &str, kind| Some(Leads::Inside { path: path.into(), kind });
    for (path, kind, leads) in [
        ("", Kind::Folder, None),
        ("b", Kind::Folder, None),
        ("b/..", Kind::Folder, None),
        ("inner", Kind::Link, inside("a.txt", Kind::File)),
        ("inner_folder", Kind::Link, inside("b", Kind::Folder)),
        ("inner_folder/up", Kind::Link, inside(".", Kind::Folder)),
        ("out", Kind::Link, Some(Leads::Outside)),
        ("absolute", Kind::Link, Some(Leads::Outside)),
        ("dangling", Kind::Link, Some(Leads::Nowhere)),
        ("circle", Kind::Link, Some(Leads::Nowhere)),
    ] {
        let info = place.root.info(path).unwrap();
        assert_eq!((info.kind, info.leads), (kind, leads), "{path}");
    }
    for (path, expected) in [("..", "outside"), ("out_folder/secret", "outside"), ("x", "missing"), ("\0", "bad path")]
    {
        assert_eq!(fault(place.root.info(path)), expected, "{path:?}");
    }
}

fn drawn(nodes: &[Node]) -> String {
    let one = |node: &Node| match &node.children {
        Some(children) => format!("{}({})", node.name, drawn(children)),
        None => node.name.clone(),
    };
    nodes.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_tree_goes_as_deep_as_asked_and_follows_no_link() {
    let place = place();
    let links = "circle dangling empty etc inner inner_folder out out_and_back out_folder raw.bin";
    for (path, depth, expected, note) in [
        ("", 1, format!("a.txt absolute b {links}"), "more than 1 levels"),
        ("", 2, format!("a.txt absolute b(c.rs d up) {links}"), "more than 2 levels"),
        ("", 3, format!("a.txt absolute b(c.rs d(e.rs) up) {links}"), ""),
        ("b/up/b/d", 16, "e.rs".into(), ""),
    ] {
        let tree = place.root.tree(path, depth).unwrap();
        assert_eq!(drawn(&tree.children), expected);
        assert!(tree.note.as_deref().unwrap_or_default().contains(note), "{:?}", tree.note);
        assert_eq!(tree.note.is_some(), !note.is_empty());
    }
    assert_eq!(fault(place.root.tree("", 0)), "out of range");
    assert_eq!(fault(place.root.tree("", 17)), "out of range");
}

#[test]
fn a_great_tree_is_cut_deep_down() {
    let place = place_with(Limits { entries: 14, ..Limits::default() });
    let tree = place.root.tree("", 16).unwrap();
    assert!(drawn(&tree.children).starts_with("a.txt absolute b(c.rs) circle"), "{}", drawn(&tree.children));
    assert!(tree.note.unwrap().starts_with("only 14 entries are shown"));
    let place = place_with(Limits { visits: 14, ..Limits::default() });
    let tree = place.root.tree("", 16).unwrap();
    assert!(tree.note.unwrap().starts_with("the folder holds more names"));
}

#[test]
fn a_folder_as_deep_as_can_be_is_walked_within_bounds() {
    let place = place();
    let deep = "d/".repeat(500);
    fs::create_dir_all(place.outer.join("root/deep").join(&deep)).unwrap();
    let tree = place.root.tree("deep", 16).unwrap();
    assert_eq!(drawn(&tree.children), format!("{}d{}", "d(".repeat(15), ")".repeat(15)));
    let found = place.root.search("deep", "d", 1_000).unwrap();
    assert_eq!(found.matches.len(), 64);
    assert!(found.note.unwrap().contains("more than 64 levels"));
}

#[test]
fn a_search_finds_names_or_paths() {
    let place = place();
    let check = |path: &str, pattern: &str, expected: &[&str]| {
        let found = place.root.search(path, pattern, 100).unwrap();
        let paths: Vec<_> = found.matches.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, expected, "{pattern} in {path:?}");
        assert_eq!(found.note, None);
    };
    check("", "*.rs", &["b/c.rs", "b/d/e.rs"]);
    check("b", "*.rs", &["b/c.rs", "b/d/e.rs"]);
    check("inner_folder", "e*", &["b/d/e.rs"]);
    check("", "b/*.rs", &["b/c.rs"]);
    check("", "./b/*", &["b/c.rs", "b/d", "b/up"]);
    check("", "**/*.rs", &["b/c.rs", "b/d/e.rs"]);
    check("", "*.{txt,bin}", &["a.txt", "raw.bin"]);
    check("", "[ad]", &["b/d"]);
    check("", "secret", &[]);
    check("", "../*", &[]);
    check("", "A.TXT", &[]);
}

#[test]
fn a_search_is_bounded_and_its_pattern_is_checked() {
    let place = place();
    let found = place.root.search("", "*", 3).unwrap();
    assert_eq!(found.matches.len(), 3);
    assert!(found.note.unwrap().starts_with("there are more than 3 matches"));
    for (pattern, limit, expected) in [
        ("", 1, "bad pattern"),
        ("[", 1, "bad pattern"),
        ("{a", 1, "bad pattern"),
        (&"*".repeat(2_000), 1, "bad pattern"),
        ("*", 0, "out of range"),
        ("*", 1_001, "out of range"),
    ] {
        assert_eq!(fault(place.root.search("", pattern, limit)), expected, "{pattern:?}");
    }
    let error = place.root.search("", "[", 1).unwrap_err().to_string();
    assert!(error.ends_with("write for example `*.txt` or `src/**/*.rs`"), "{error}");
}

#[test]
fn a_root_must_be_a_folder() {
    let place = place();
    assert_eq!(fault(Root::open(&place.outer.join("none"))), "missing");
    assert_eq!(fault(Root::open(&place.outer.join("secret"))), "no folder");
    // Whoever starts the server may name it by a link; only paths inside are bound.
    let by_link = Root::open(&place.outer.join("root/out_folder/root")).unwrap();
    assert_eq!(by_link.path(), place.outer.join("root"));
    let linked = place.outer.join("linked");
    symlink("root", &linked).unwrap();
    let root = Root::open(&linked).unwrap();
    for folder in [linked, place.outer.join("root")] {
        assert_eq!(fault(root.read_text(folder.join("a.txt").to_str().unwrap(), Part::Whole)), "read");
    }
}

#[test]
fn media_types_follow_the_end_of_the_name() {
    for (name, expected) in [
        ("a.MD", Some("text/markdown")),
        ("a/b.tar.gz", Some("application/gzip")),
        ("a.json", Some("application/json")),
        ("Makefile", None),
        (".env", None),
        ("a.unknown", None),
    ] {
        assert_eq!(mime_of(name), expected, "{name}");
    }
    assert!(speaks_text("text/x-rust") && speaks_text("image/svg+xml") && !speaks_text("image/png"));
}
