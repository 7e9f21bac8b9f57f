//! The embedded servers, as clients see them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "these are tests, helpers included")]

use serde_json::{Value, json};
use toolbay::{
    Client,
    client::{ClientError, ResultExt},
};
use toolbay_builtins::{
    filesystem::{self, Limits, Root},
    time,
};

async fn files() -> (tempfile::TempDir, Client) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("sub dir")).unwrap();
    std::fs::write(path("a.txt"), "one\ntwo\nthree\n").unwrap();
    std::fs::write(path("sub dir/é?.md"), "# é").unwrap();
    std::fs::write(path("p.png"), [0x89, b'P', b'N', b'G']).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", path("out")).unwrap();
    let root = Root::open(&folder.path().canonicalize().unwrap()).unwrap();
    let client = Client::connect(filesystem::server(root)).await.unwrap();
    (folder, client)
}

async fn said(client: &Client, tool: &str, arguments: Value) -> String {
    let result = client.call(tool, &arguments).await.unwrap();
    assert!(!result.failed(), "{}", result.texts());
    result.texts()
}

#[tokio::test]
async fn files_are_listed_found_and_read() {
    let (_folder, client) = files().await;
    for tool in client.tools().all().await.unwrap() {
        let hints = tool.annotations.unwrap();
        assert_eq!((hints.read_only_hint, hints.open_world_hint), (Some(true), Some(false)), "{}", tool.name);
    }
    assert_eq!(
        said(&client, "list_directory", json!({})).await,
        "[FILE] a.txt\n[LINK] out\n[FILE] p.png\n[DIR] sub dir"
    );
    assert_eq!(said(&client, "read_text_file", json!({"path": "a.txt", "tail": 1})).await, "three\n");
    assert_eq!(said(&client, "search_files", json!({"pattern": "*.md"})).await, "sub dir/é?.md");
    assert!(
        said(&client, "get_file_info", json!({"path": "out"})).await.contains("leads to: out of the served folder")
    );
    let tree: Value = serde_json::from_str(&said(&client, "directory_tree", json!({})).await).unwrap();
    assert_eq!(tree["children"].as_array().unwrap().len(), 4);
    let picture = client.call("read_media_file", &json!({"path": "p.png"})).await.unwrap();
    assert!(serde_json::to_string(&picture.content[0]).unwrap().contains("iVBORw=="));
}

#[tokio::test]
async fn nothing_outside_is_read_by_path_link_or_uri() {
    let (folder, client) = files().await;
    for path in ["../x", "/etc/passwd", "out", "sub dir/../../x"] {
        let refused = client.call("read_text_file", &json!({ "path": path })).await.unwrap();
        assert!(refused.failed(), "{path}");
    }
    let inside = folder.path().canonicalize().unwrap();
    for uri in ["file:///etc/passwd", "file:///..", &format!("file://{}/out", inside.display())] {
        assert!(matches!(client.read(uri).await, Err(ClientError::Refused(error)) if error.code == -32602), "{uri}");
    }
}

#[tokio::test]
async fn every_listed_resource_can_be_read() {
    let (_folder, client) = files().await;
    let resources = client.resources().all().await.unwrap();
    let mut names: Vec<&str> = resources.iter().map(|resource| &*resource.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["a.txt", "p.png", "sub dir/é?.md"]);
    for resource in &resources {
        let read = client.read(&resource.uri).await.unwrap();
        assert_eq!(read.contents[0].uri, resource.uri);
        assert_eq!(read.contents[0].blob.is_some(), resource.name == "p.png");
    }
}

#[tokio::test]
async fn a_resource_is_read_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("long.txt"), "0123456789").unwrap();
    let root = Root::open_with(folder.path(), Limits { bytes: 4, ..Limits::default() }).unwrap();
    let client = Client::connect(filesystem::server(root)).await.unwrap();
    let uri = &client.resources().all().await.unwrap()[0].uri;
    let refused = client.read(uri).await;
    assert!(matches!(refused, Err(ClientError::Refused(error)) if error.message.contains("4")));
}

#[tokio::test]
async fn time_is_told_in_words_that_programs_read() {
    let client = Client::connect(time::server()).await.unwrap();
    let now: Value =
        client.call("get_current_time", &json!({"timezone": "Asia/Shanghai"})).await.unwrap().json().unwrap();
    assert_eq!((&now["timezone"], &now["is_dst"]), (&json!("Asia/Shanghai"), &json!(false)));
    assert!(now["datetime"].as_str().unwrap().ends_with("+08:00"));
    let asked = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Kolkata"});
    let there: Value = client.call("convert_time", &asked).await.unwrap().json().unwrap();
    assert_eq!(there["time_difference"], "+5.5h");
    let wrong = client.call("get_current_time", &json!({"timezone": "Asia/Shangai"})).await.unwrap();
    assert!(wrong.failed() && wrong.texts().contains("Asia/Shanghai"));
    assert!(client.call("get_current_time", &json!({})).await.unwrap().json::<Value>().is_ok());
}
