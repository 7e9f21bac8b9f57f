//! Has the corpora encoded by an embedding endpoint, as a gateway would: what `cargo xtask eval --embeddings` runs first.
//!
//! `embed CORPORA FOLDER URL MODEL [QUERY-PREFIX [PASSAGE-PREFIX]]`
//!
//! For each set: FOLDER/SET.tools.f32 and FOLDER/SET.queries.f32, rows of numbers in the order of the set's files, and the
//! same of the self-test. Requests and tools go through the product's own client; of tools its cache is kept in FOLDER too.
#![expect(clippy::print_stdout, reason = "it speaks to a terminal")]

use std::{error::Error, fs, io::Write as _, path::Path, sync::Arc, time::Duration};

use serde_json::Value;
use toolbay_gateway::{
    config::Url,
    embeddings::{Embedder, Settings},
};
use toolbay_retrieval::{SelfTest, Tool};

type Done<T> = Result<T, Box<dyn Error>>;

/// How long one set, and one request, may take: a machine may have other things to do.
const SET: Duration = Duration::from_secs(3600);
const REQUEST: Duration = Duration::from_secs(60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [corpora, folder, url, model, prefixes @ ..] = args.as_slice() else {
        return Err("embed CORPORA FOLDER URL MODEL [QUERY-PREFIX [PASSAGE-PREFIX]]".into());
    };
    let (corpora, folder) = (Path::new(corpora).join("tool-retrieval"), Path::new(folder));
    fs::create_dir_all(folder)?;
    let prefix = |at: usize| prefixes.get(at).cloned().unwrap_or_default();
    let plain = Settings::new(Url::parse(url)?, model);
    let settings = Settings { query: prefix(0), passage: prefix(1), budget: REQUEST, timeout: SET, ..plain };
    let embedder = Embedder::start(settings, Some(&folder.join("cache")), Arc::new(|what| println!("{what}")))?;
    let test = SelfTest::new();
    // The first texts have the model tested; without that, no request is encoded.
    let texts = test.texts.iter().map(|text| (*text).to_owned()).collect();
    write(folder, "self-test.tools", &tools(&embedder, texts).await?)?;
    write(folder, "self-test.queries", &queries(&embedder, &test.requests).await?)?;
    let mut sets: Vec<_> = fs::read_dir(&corpora)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    sets.sort();
    for set in sets.iter().filter(|set| set.is_dir()) {
        let name = set.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Ok(lines) = read(&set.join("tools.jsonl")) {
            let texts = lines.iter().map(|line| tool(line).text()).collect();
            write(folder, &format!("{name}.tools"), &tools(&embedder, texts).await?)?;
        }
        if let Ok(lines) = read(&set.join("queries.jsonl")) {
            let texts: Vec<&str> = lines.iter().map(|line| line["query"].as_str().unwrap_or_default()).collect();
            write(folder, &format!("{name}.queries"), &queries(&embedder, &texts).await?)?;
        }
        println!("  {name}");
    }
    Ok(())
}

fn read(path: &Path) -> Done<Vec<Value>> {
    fs::read_to_string(path)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn tool(line: &Value) -> Tool {
    let text = |key: &str| line[key].as_str().unwrap_or_default();
    Tool::new(text("id"), text("name"), text("description")).on(text("server"))
}

async fn tools(embedder: &Embedder, texts: Vec<String>) -> Done<Vec<Vec<f32>>> {
    let rows = embedder.vectors(&texts, SET).await;
    let rows: Option<Vec<_>> = rows.into_iter().collect();
    rows.ok_or_else(|| embedder.embedded().fault.unwrap_or_else(|| "a text was refused".into()).into())
}

/// Requests one by one, as they come to a gateway; one that the model has no say in is nought.
async fn queries(embedder: &Embedder, texts: &[&str]) -> Done<Vec<Vec<f32>>> {
    let width = embedder.embedded().width;
    let mut rows = Vec::with_capacity(texts.len());
    for text in texts {
        let meaning = embedder.request(text).await;
        if let Some(note) = meaning.note {
            return Err(note.into());
        }
        rows.push(meaning.vector().map_or_else(|| vec![0.0; width], <[f32]>::to_vec));
    }
    Ok(rows)
}

fn write(folder: &Path, name: &str, rows: &[Vec<f32>]) -> Done<()> {
    let mut file = fs::File::create(folder.join(format!("{name}.f32")))?;
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
    Ok(file.write_all(&bytes)?)
}
