//! Which file is taken.

use super::folder;
use crate::config::{Choice, Found, Surroundings, System, find};

#[test]
fn the_first_of_the_usual_files_is_taken() {
    let all = ["here/toolbay.json", "here/.mcp.json", "home/.config/toolbay/toolbay.json"];
    for first in 0..=all.len() {
        let files: Vec<_> = all[first..].iter().map(|name| (*name, "{}")).chain([("here/other.json", "{}")]).collect();
        let (_keep, path) = folder(&files);
        let home = path.join("home").display().to_string();
        let variable = |name: &str| (name == "HOME").then(|| home.clone());
        let here = path.join("here");
        let around = Surroundings { folder: &here, system: System::Unix, variable: &variable };
        let expected = match all.get(first) {
            Some(name) => Found::File(path.join(name)),
            None => Found::Nothing { looked: all.iter().map(|name| path.join(name)).collect() },
        };
        assert_eq!(find(&Choice::Usual, &around), Ok(expected));
        let named = find(&Choice::Named("other.json".into()), &around);
        assert_eq!(named, Ok(Found::File("other.json".into())));
    }
}

#[test]
fn a_named_file_that_is_not_there_is_an_error() {
    let (_keep, path) = folder(&[("toolbay.json", "{}")]);
    let around = Surroundings { folder: &path, system: System::Unix, variable: &|_| None };
    let error = find(&Choice::Named("toolbya.json".into()), &around).unwrap_err();
    let expected = format!(
        "toolbya.json: there is no such file; check the path given to --config (the current folder is {})",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn each_system_has_its_own_folder() {
    fn check(system: System, variables: &[(&str, &str)], expected: Option<&str>) {
        let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into());
        let around = Surroundings { folder: "/".as_ref(), system, variable: &variable };
        assert_eq!(around.configuration_folder(), expected.map(Into::into), "{variables:?}");
    }
    check(System::Unix, &[("HOME", "/h")], Some("/h/.config/toolbay"));
    check(System::Unix, &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")], Some("/x/toolbay"));
    check(System::Unix, &[("HOME", "/h"), ("XDG_CONFIG_HOME", "x")], Some("/h/.config/toolbay"));
    check(System::Unix, &[("HOME", "/h"), ("XDG_CONFIG_HOME", "")], Some("/h/.config/toolbay"));
    check(System::Unix, &[], None);
    check(System::MacOs, &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")], Some("/h/Library/Application Support/toolbay"));
    check(System::Windows, &[("APPDATA", "/a"), ("HOME", "/h")], Some("/a/toolbay"));
}
