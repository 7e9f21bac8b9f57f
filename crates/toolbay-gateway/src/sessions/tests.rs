use std::{fs, sync::Arc};

use toolbay_protocol::greeting::Device;
use toolbay_transport::Principal;

use super::*;
use crate::config::{Keeping, SessionDir};

fn key(user: Option<&str>, device: Option<&str>, tool: &str) -> SessionKey {
    let user = user.map_or(Principal::Local, |name| Principal::Named(name.into()));
    let client = device.map_or(ClientUid::Alone, |device| ClientUid::Stated(Device::parse(device).unwrap()));
    SessionKey { user, client, tool: tool.into() }
}

#[test]
fn no_two_keys_have_one_name() {
    let users = [None, Some("local"), Some("ada"), Some("ad")];
    let devices = [None, Some("alone"), Some("a"), Some("aad")];
    let mut seen = std::collections::HashSet::new();
    for user in users {
        for device in devices {
            for tool in ["t", "at"] {
                let session = |tool| Arc::new(Session::new(key(user, device, tool)));
                assert_eq!(session(tool).device(), session(tool).device(), "it is the same each time");
                assert!(seen.insert(session(tool).device().unwrap()), "{user:?} {device:?} {tool}");
            }
        }
    }
}

#[test]
fn a_folder_goes_with_its_session_unless_it_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let kept = SessionDir { keeping: Keeping::At(home.path().join("deep/sessions")) };
    let passing = SessionDir { keeping: Keeping::Nothing };
    for (dir, stays) in [(&kept, true), (&passing, false)] {
        let folder = |device| Folder::of(dir, &key(None, Some(device), "t")).unwrap();
        let (first, other) = (folder("a"), folder("b"));
        let path = first.path().to_path_buf();
        assert!(path != other.path() && path.is_absolute());
        fs::write(path.join("state"), "x").unwrap();
        drop(first);
        assert_eq!(path.join("state").exists(), stays);
        assert_eq!(folder("a").path() == path, stays);
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_folder_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let dir = SessionDir { keeping: Keeping::At(home.path().into()) };
    let path = Folder::of(&dir, &key(None, Some("a"), "t")).unwrap().path().to_path_buf();
    fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink(home.path(), &path).unwrap();
    assert!(Folder::of(&dir, &key(None, Some("a"), "t")).is_err());
}
