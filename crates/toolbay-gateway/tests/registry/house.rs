//! A bay that follows a file, with scripted servers in the place of those that it names.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use serde_json::json;
use tempfile::TempDir;
use tokio::sync::{Semaphore, mpsc};
use toolbay_gateway::{
    Bay, Identity,
    config::{self, Surroundings, System},
    registry::{
        Registry,
        hot::{Hot, News},
    },
    servers::{Plan, Spec, embedded},
};
use toolbay_protocol::{
    ErrorObject, Method, Raw,
    exchange::Outcome,
    greeting::Profile,
    peer::Call,
    watch::{Change, Filter},
};
use toolbay_transport::{Caller, Connection, Cx, Hub, Request, Service, Watch};

/// A server with one tool (which answers when it is let go), one prompt and one resource.
pub(crate) struct Scripted {
    name: String,
    gate: Arc<Semaphore>,
    hub: Hub,
}

impl Scripted {
    /// One whose calls are answered at once.
    pub(crate) fn open(name: &str) -> Self {
        Self { name: name.into(), gate: Arc::new(Semaphore::new(1_000)), hub: Hub::new() }
    }
}

impl Service for Scripted {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            server: Raw::of(&json!({"name": "scripted", "version": "1"})),
            capabilities: Raw::of(&json!({"tools": {}, "prompts": {}, "resources": {}})),
            instructions: None,
        })
    }

    async fn call(&self, request: Request, _: Cx) -> Outcome {
        let name = &self.name;
        Ok(Raw::of(&match request.method {
            Method::ToolsList => json!({"tools": [
                {"name": name, "inputSchema": {"type": "object"}}, {"name": "t", "inputSchema": {"type": "object"}}
            ]}),
            Method::PromptsList => json!({"prompts": [{"name": "p"}]}),
            Method::PromptsGet => json!({"messages": []}),
            Method::ResourcesList => json!({"resources": [{"uri": format!("test://{name}"), "name": "r"}]}),
            Method::ResourcesRead => json!({"contents": []}),
            Method::TemplatesList => json!({"resourceTemplates": []}),
            _ => {
                self.gate.acquire().await.unwrap().forget();
                json!({"content": [{"type": "text", "text": name}]})
            }
        }))
    }

    async fn watch(&self, _: &Arc<Caller>, filter: Filter) -> Result<Watch, ErrorObject> {
        Ok(self.hub.watch(filter))
    }
}

/// The scripted servers: how often each was started, and what lets its calls go.
#[derive(Clone, Default)]
pub(crate) struct Peers(Arc<Mutex<Known>>);

type Known = HashMap<String, (usize, Arc<Semaphore>)>;

impl Peers {
    pub(crate) fn gate(&self, server: &str) -> Arc<Semaphore> {
        let mut all = self.0.lock().unwrap();
        Arc::clone(&all.entry(server.to_owned()).or_insert_with(|| (0, Arc::new(Semaphore::new(0)))).1)
    }

    pub(crate) fn starts(&self, server: &str) -> usize {
        self.0.lock().unwrap().get(server).map_or(0, |(starts, _)| *starts)
    }

    fn scripted(&self, spec: Spec) -> Spec {
        if !matches!(spec.plan, Plan::Connect(_)) {
            return spec;
        }
        let (peers, name) = (self.clone(), spec.name.to_string());
        let plan = Plan::Connect(Arc::new(move |approach| {
            let gate = peers.gate(&name);
            peers.0.lock().unwrap().get_mut(&name).unwrap().0 += 1;
            let service = Scripted { name: name.clone(), gate, hub: Hub::new() };
            embedded(Arc::new(service))(approach)
        }));
        Spec { plan, ..spec }
    }

    pub(crate) fn specs(&self, text: &str) -> Result<Vec<Spec>, config::Error> {
        let around = Surroundings { folder: Path::new("/"), system: System::Unix, variable: &|_| None };
        let config = config::parse(text, Path::new("toolbay.json"), &around)?.config;
        Ok(config.servers.iter().map(Spec::configured).map(|spec| self.scripted(spec)).collect())
    }
}

/// All of it.
pub(crate) struct House {
    _folder: TempDir,
    pub(crate) file: PathBuf,
    pub(crate) registry: Registry,
    pub(crate) peers: Peers,
    pub(crate) bay: Bay,
    pub(crate) hot: Hot,
    pub(crate) news: mpsc::UnboundedReceiver<News>,
}

impl House {
    /// One that begins with this text, at this time by its clock.
    pub(crate) async fn open(text: &str, now: SystemTime) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolbay.json");
        std::fs::write(&file, text).unwrap();
        let (peers, registry) = (Peers::default(), Registry::at(&file));
        let identity = Identity { name: "bay".into(), version: "0".into() };
        let bay = Bay::open(&identity, peers.specs(text).unwrap()).unwrap();
        let begun = tokio::time::Instant::now();
        let (tell, news) = mpsc::unbounded_channel();
        let reading = peers.clone();
        let hot = Hot::follow(
            bay.clone(),
            registry.clone(),
            Arc::new(move |text| reading.specs(text)),
            Arc::new(move || now + begun.elapsed()),
            Arc::new(move |news| drop(tell.send(news.clone()))),
        );
        hot.caught_up().await;
        bay.settled().await;
        Self { _folder: folder, file, registry, peers, bay, hot, news }
    }

    /// Changes the file as an editor does.
    pub(crate) fn edit(&self, from: &str, to: &str) {
        let text = std::fs::read_to_string(&self.file).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        std::fs::write(&self.file, text.replacen(from, to, 1)).unwrap();
    }

    /// The next thing that happened, within a second.
    pub(crate) async fn next(&mut self) -> News {
        tokio::time::timeout(Duration::from_secs(1), self.news.recv()).await.expect("within a second").unwrap()
    }
}

/// The public names of a client's tools.
pub(crate) async fn tools(client: &Connection) -> Vec<String> {
    let result = client.request(Call::new(Method::ToolsList, None)).await.unwrap().unwrap();
    let name = |tool: Raw| tool.get("name").unwrap().as_text().unwrap().into_owned();
    result.get("tools").unwrap().elements().map(name).collect()
}

/// Asks for something by a member of its parameters.
pub(crate) async fn ask(client: &Connection, method: Method, key: &str, value: &str) -> Outcome {
    let params = Raw::of(&json!({ key: value }));
    client.request(Call::new(method, Some(params))).await.unwrap()
}

/// Calls a tool on a task of its own.
pub(crate) fn call(client: &Connection, tool: &str) -> tokio::task::JoinHandle<Outcome> {
    let (client, tool) = (client.clone(), tool.to_owned());
    tokio::spawn(async move { ask(&client, Method::ToolsCall, "name", &tool).await })
}

/// Waits until the client was told that the tools are not what they were, and takes all that was told.
pub(crate) async fn told(heard: &mut mpsc::UnboundedReceiver<Change>) {
    let tools = async { while heard.recv().await.unwrap() != Change::Tools {} };
    tokio::time::timeout(Duration::from_secs(1), tools).await.expect("within a second");
    while heard.try_recv().is_ok() {}
}
