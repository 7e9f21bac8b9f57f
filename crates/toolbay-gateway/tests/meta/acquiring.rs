//! `search_and_acquire`, as an agent sees it.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use toolbay_gateway::{
    Bay,
    registry::{
        Registry,
        acquire::{Acquirer, Remote, Settings},
        mirror::{Failed, Fetch},
        shelf::Shelf,
    },
};
use toolbay_protocol::Revision;

use crate::{
    house::{ERAS, OWN, call, client, flaw, listed, searching},
    script::{Script, bay},
};

fn shelf() -> Shelf {
    let sky = json!({"server": {
        "name": "io.github.someone/sky", "version": "1.2.0", "description": "Current weather and forecasts for cities",
        "remotes": [{"type": "streamable-http", "url": "https://sky.example/mcp"}],
    }});
    let elephant = json!({"server": {
        "name": "io.github.someone/elephant", "version": "2.0.0",
        "description": "Query PostgreSQL databases\nwith read-only SQL",
        "packages": [{
            "registryType": "npm", "identifier": "@someone/elephant", "version": "2.0.0", "transport": {"type": "stdio"},
            "environmentVariables": [{"name": "ELEPHANT_TOKEN", "description": "of your account", "isSecret": true}],
        }],
    }});
    Shelf::new([sky, elephant])
}

/// An acquirer at two registries, one of which cannot be reached; and the file that it adds to.
pub(crate) fn acquirer(folder: &std::path::Path) -> (Acquirer, Registry) {
    let shelf = Arc::new(Mutex::new(shelf()));
    let fetch: Fetch = Arc::new(move |address| {
        let shelf = Arc::clone(&shelf);
        Box::pin(async move {
            let Some((_, path)) = address.split_once("://library") else {
                return Err(Failed::Lasting("nobody is at home".into()));
            };
            let (path, query) = path.split_once('?').unwrap_or((path, ""));
            Ok(shelf.lock().unwrap().answer(path, query).body.to_string().into())
        })
    });
    let settings = Settings {
        sources: vec!["http://library".into(), "http://elsewhere".into()],
        remote: Remote::Add,
        pauses: vec![],
        ..Settings::default()
    };
    let registry = Registry::at(folder.join("toolbay.json"));
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    (Acquirer::start(settings, fetch, Arc::new(move || now), registry.clone(), None), registry)
}

async fn acquire(bay: &Bay, revision: Revision, query: &str) -> Value {
    let (one, _) = client(bay, revision, "one").await;
    call(&one, "search_and_acquire", json!({"query": query})).await.unwrap().read().unwrap()
}

#[tokio::test]
async fn it_is_there_where_servers_can_be_acquired_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    for revision in ERAS {
        let bay = bay(vec![("s", Script::new())], revision).await;
        bay.expose(searching());
        let (one, _) = client(&bay, revision, "one").await;
        assert_eq!(listed(&one).await, OWN);
        assert!(call(&one, "search_and_acquire", json!({"query": "weather"})).await.is_err());
        bay.acquire_by(Some(acquirer(folder.path()).0));
        assert_eq!(listed(&one).await.last().unwrap(), "search_and_acquire");
        assert!(bay.exposed().acquires);
        assert!(flaw(&one, "search_and_acquire", json!({})).await.contains("missing field `query`"));
        bay.acquire_by(None);
        assert_eq!(listed(&one).await, OWN);
        assert!(call(&one, "search_and_acquire", json!({"query": "weather"})).await.is_err());
    }
}

#[tokio::test]
async fn what_was_added_what_needs_a_person_and_what_could_not_be_asked_is_said() {
    for revision in ERAS {
        let folder = tempfile::tempdir().unwrap();
        let bay = bay(vec![("s", Script::new())], revision).await;
        bay.expose(searching());
        let (acquirer, registry) = acquirer(folder.path());
        bay.acquire_by(Some(acquirer));

        let answer = acquire(&bay, revision, "weather forecast").await;
        let text = answer["content"][0]["text"].as_str().unwrap();
        let structured = &answer["structuredContent"];
        let outcome = &structured["servers"][0]["outcome"];
        assert_eq!((&outcome["state"], &outcome["entry"]), (&json!("added"), &json!("sky")), "{answer}");
        assert_eq!(outcome["until"], "2027-01-15T08:15:00Z");
        assert!(text.contains("added as \"sky\" until 2027-01-15T08:15:00Z"), "{text}");
        assert!(
            text.contains("Could not be asked: ") && structured["unasked"].to_string().contains("at home"),
            "{text}"
        );
        assert!(registry.tool("sky").is_ok());

        let answer = acquire(&bay, revision, "run a query on postgres").await;
        let text = answer["content"][0]["text"].as_str().unwrap();
        let plan = &answer["structuredContent"]["servers"][0]["outcome"]["plan"];
        assert_eq!(plan["command"], json!(["npx", "-y", "@someone/elephant@2.0.0"]), "{answer}");
        assert_eq!((&plan["package"], &plan["version"]), (&json!("@someone/elephant"), &json!("2.0.0")));
        let wanted = json!([{"variable": "ELEPHANT_TOKEN", "description": "of your account", "secret": true}]);
        assert_eq!(plan["wanted"], wanted);
        for line in [
            "needs a person's yes: on this machine would run `npx -y @someone/elephant@2.0.0`",
            "wants ELEPHANT_TOKEN, a secret: of your account",
            "toolbay get io.github.someone/elephant",
            "databases with read-only",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(registry.tool("elephant").is_err());

        let nothing = acquire(&bay, revision, "zzyzx quux").await;
        assert_eq!(nothing["structuredContent"]["servers"], json!([]));
        assert!(nothing["content"][0]["text"].as_str().unwrap().contains("not all could be asked"), "{nothing}");
    }
}
