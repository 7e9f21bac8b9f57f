//! The folder as a server: tools in the manner of the well-known filesystem server, files as resources.

use std::sync::Arc;

use serde::Deserialize;
use toolbay::{
    ErrorObject, JsonSchema, Page, Result, Server, Template, Tool, ToolError, schemars,
    types::{self, CallToolResult, ContentBlock},
};

use super::{
    Error, Kind, Leads, Part, Root, speaks_text,
    uri::{path_of, uri_of},
};

/// Serves a folder for reading.
pub fn server(root: Root) -> Server {
    let instructions = format!(
        "Reads files beneath {}. Paths are relative to it, or absolute beneath it; nothing can be changed.",
        root.path().display()
    );
    let root = Arc::new(root);
    let listed = Arc::clone(&root);
    let read = Arc::clone(&root);
    Server::new("filesystem", env!("CARGO_PKG_VERSION"))
        .title("Files of one folder, for reading")
        .instructions(instructions)
        .tool(tool(&root, "read_text_file", READ_TEXT, read_text))
        .tool(tool(&root, "read_media_file", READ_MEDIA, read_media))
        .tool(tool(&root, "list_directory", LIST, list))
        .tool(tool(&root, "directory_tree", TREE, tree))
        .tool(tool(&root, "search_files", SEARCH, search))
        .tool(tool(&root, "get_file_info", INFO, info))
        .tool(tool(&root, "list_allowed_directories", ALLOWED, allowed))
        .lister(move |_, _| {
            let root = Arc::clone(&listed);
            async move { blocking(move || Ok(Page::last(resources(&root)?))).await }
        })
        .template(
            Template::new("file:///{+path}", "file", move |file: FileUri| {
                let root = Arc::clone(&read);
                async move { blocking(move || contents(&root, &path_of(&file.path))).await }
            })
            .description("A file beneath the served folder, by its absolute path"),
        )
}

const READ_TEXT: &str = "Reads a text file, whole or its first or last lines. What is longer than one answer may be is cut, \
                         and a note says so.";
const READ_MEDIA: &str = "Reads a file that is no text, such as an image or a sound, as Base64.";
const LIST: &str = "Lists the names in a folder, each marked [FILE], [DIR], [LINK] or [OTHER].";
const TREE: &str = "Shows a folder and what lies below it, as JSON.";
const SEARCH: &str = "Finds files and folders by a pattern such as `*.txt`, `src/**/*.rs` or `**/test_*`.";
const INFO: &str = "Tells what is known of a file or folder: kind, size, times, media type, where a link leads.";
const ALLOWED: &str = "Names the folder that this server reads.";

/// A tool whose work blocks.
fn tool<A, T>(root: &Arc<Root>, name: &str, description: &str, work: fn(&Root, A) -> Result<T, Error>) -> Tool
where
    A: for<'de> Deserialize<'de> + JsonSchema + Send + 'static,
    T: toolbay::server::ToolOutput,
{
    let root = Arc::clone(root);
    let handler = move |args: A| {
        let root = Arc::clone(&root);
        async move { blocking(move || work(&root, args).map_err(|error| ToolError::new(error.to_string()).into())).await }
    };
    Tool::new(name, description, handler).read_only().idempotent().closed_world()
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await?
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct TextFile {
    /// The file.
    path: String,
    /// Only so many lines from its beginning.
    head: Option<usize>,
    /// Only so many lines from its end.
    tail: Option<usize>,
}

fn read_text(root: &Root, file: TextFile) -> Result<CallToolResult, Error> {
    let part = match (file.head, file.tail) {
        (Some(_), Some(_)) => {
            let why = "head and tail were both asked for; ask for one of them";
            return Err(Error::BadPath { path: file.path, why });
        }
        (Some(lines), None) => Part::Head(lines),
        (None, Some(lines)) => Part::Tail(lines),
        (None, None) => Part::Whole,
    };
    let text = root.read_text(&file.path, part)?;
    let note = text.note.map(|note| ContentBlock::text(format!("[{note}]")));
    Ok(CallToolResult::of([ContentBlock::text(text.text)].into_iter().chain(note).collect::<Vec<_>>()))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct OnePath {
    /// The file or folder.
    path: String,
}

fn read_media(root: &Root, file: OnePath) -> Result<ContentBlock, Error> {
    let binary = root.read_bytes(&file.path)?;
    let data = toolbay::base64(&binary.bytes);
    Ok(match binary.mime {
        mime if mime.starts_with("image/") => ContentBlock::image(data, mime),
        mime if mime.starts_with("audio/") => ContentBlock::audio(data, mime),
        mime => {
            let uri = uri_of(&root.path().join(&binary.path)).unwrap_or_default();
            ContentBlock::resource(types::ResourceContents::blob(uri, data).of_type(mime))
        }
    })
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Folder {
    /// The folder; the served one where nothing is given.
    #[serde(default = "here")]
    path: String,
}

fn here() -> String {
    ".".into()
}

fn list(root: &Root, folder: Folder) -> Result<String, Error> {
    let listing = root.list(&folder.path)?;
    let lines = listing.entries.iter().map(|entry| format!("{} {}", mark(entry.kind), entry.name));
    Ok(lined(lines, listing.note, "the folder is empty"))
}

fn mark(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "[FILE]",
        Kind::Folder => "[DIR]",
        Kind::Link => "[LINK]",
        Kind::Other => "[OTHER]",
    }
}

fn lined(lines: impl Iterator<Item = String>, note: Option<String>, none: &str) -> String {
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if text.is_empty() {
        none.clone_into(&mut text);
    }
    match note {
        Some(note) => format!("{text}\n[{note}]"),
        None => text,
    }
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Below {
    /// The folder; the served one where nothing is given.
    #[serde(default = "here")]
    path: String,
    /// How many levels deep; 4 where nothing is given.
    #[serde(default = "four")]
    depth: usize,
}

fn four() -> usize {
    4
}

fn tree(root: &Root, below: Below) -> Result<String, Error> {
    let tree = root.tree(&below.path, below.depth)?;
    Ok(serde_json::to_string_pretty(&tree).expect("names and words always serialize"))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Pattern {
    /// The folder to search; the served one where nothing is given.
    #[serde(default = "here")]
    path: String,
    /// What to find. Without `/` it fits a name at any depth, with one the whole path below the folder.
    pattern: String,
}

fn search(root: &Root, wanted: Pattern) -> Result<String, Error> {
    let found = root.search(&wanted.path, &wanted.pattern, root.limits().entries.min(200))?;
    Ok(lined(found.matches.into_iter().map(|found| found.path), found.note, "nothing fits"))
}

fn info(root: &Root, path: OnePath) -> Result<String, Error> {
    let info = root.info(&path.path)?;
    let kind = match info.kind {
        Kind::File => "file",
        Kind::Folder => "folder",
        Kind::Link => "link",
        Kind::Other => "something that is not read (a pipe, a socket or a device)",
    };
    let leads = info.leads.map(|leads| match leads {
        Leads::Inside { path, .. } => path,
        Leads::Outside => "out of the served folder".into(),
        Leads::Nowhere => "nowhere".into(),
    });
    let lines = [
        ("path", Some(info.path)),
        ("kind", Some(kind.to_owned())),
        ("size", info.size.map(|size| format!("{size} bytes"))),
        ("modified", info.modified),
        ("created", info.created),
        ("media type", info.mime.map(str::to_owned)),
        ("leads to", leads),
    ];
    Ok(lined(lines.into_iter().filter_map(|(key, value)| Some(format!("{key}: {}", value?))), None, ""))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Nothing {}

fn allowed(root: &Root, _: Nothing) -> Result<String, Error> {
    Ok(root.path().display().to_string())
}

/// How many files are listed as resources; the tools find the others.
const LISTED: usize = 200;

fn resources(root: &Root) -> Result<Vec<types::Resource>> {
    let found = root.search(".", "**/*", root.limits().entries)?;
    let files = found.matches.into_iter().filter(|found| found.kind == Kind::File).take(LISTED);
    Ok(files
        .filter_map(|file| {
            let mut resource = types::Resource::new(uri_of(&root.path().join(&file.path))?, file.path.clone());
            resource.mime_type = super::mime_of(&file.path).map(str::to_owned);
            Some(resource)
        })
        .collect())
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct FileUri {
    path: String,
}

fn contents(root: &Root, path: &str) -> Result<Option<types::ResourceContents>> {
    let uri = |shown: &str| uri_of(&root.path().join(shown)).unwrap_or_default();
    let as_text = super::mime_of(path).is_none_or(speaks_text);
    let text = if as_text { root.read_text(path, Part::Whole).map(Some) } else { Ok(None) };
    let read = match text {
        // A resource has no place for a note that it was cut, and half of it is not what was asked for.
        Ok(Some(text)) if text.note.is_some() => {
            Err(Error::TooLarge { path: path.to_owned(), size: text.size, limit: root.limits().bytes })
        }
        Ok(Some(text)) => Ok(types::ResourceContents::text(uri(&text.path), text.text).of_type(text.mime)),
        Ok(None) | Err(Error::NotText { .. }) => root.read_bytes(path).map(|binary| {
            types::ResourceContents::blob(uri(&binary.path), toolbay::base64(&binary.bytes)).of_type(binary.mime)
        }),
        Err(error) => Err(error),
    };
    match read {
        Ok(contents) => Ok(Some(contents)),
        // What lies outside is not there, as far as a caller is concerned.
        Err(Error::Missing { .. } | Error::Outside { .. }) => Ok(None),
        Err(error @ (Error::Disk { .. } | Error::Denied { .. })) => {
            Err(ErrorObject::internal(error.to_string()).into())
        }
        Err(error) => Err(ErrorObject::invalid_params(error.to_string()).into()),
    }
}
