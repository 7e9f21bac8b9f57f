//! An endpoint on a paused clock: in time, late, away, wrong, and another than it was.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::{self, Instant};
use toolbay_testkit::services::embeddings::{Manner, Model};

use super::{Carry, Embedder, Failed, Settings, Vectored};
use crate::config::Url;

/// A model, and what was told of it.
struct Stage {
    model: Model,
    told: Arc<Mutex<Vec<String>>>,
}

impl Stage {
    fn new() -> Self {
        Self { model: Model::knowing(&[&["weather", "rain"], &["mail", "letter"]]), told: Arc::default() }
    }

    fn settings() -> Settings {
        let settings = Settings::new(Url::parse("http://endpoint.test/v1/embeddings").unwrap(), "small");
        Settings { batch: 16, query: "query: ".into(), passage: "passage: ".into(), ..settings }
    }

    /// As over HTTP, without a network: time stands still only where nothing is waited for outside.
    fn carry(&self) -> Carry {
        let model = self.model.clone();
        Arc::new(move |document: Bytes| {
            let answer = model.answer(std::str::from_utf8(&document).unwrap());
            Box::pin(async move {
                match answer {
                    Some((200, body)) => Ok(body.into()),
                    Some((400, body)) => Err(Failed::Refused(body)),
                    Some((503, body)) => Err(Failed::Passing(body)),
                    Some((_, body)) => Err(Failed::Lasting(body)),
                    None => std::future::pending().await,
                }
            })
        })
    }

    fn embedder(&self, settings: Settings, folder: Option<&Path>) -> Embedder {
        let told = Arc::clone(&self.told);
        Embedder::over(self.carry(), settings, folder, Arc::new(move |what| told.lock().unwrap().push(what.to_owned())))
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn vector(embedder: &Embedder, text: &str) -> Vectored {
    embedder.vector(embedder.encoder().unwrap().0, text)
}

#[tokio::test(start_paused = true)]
async fn tools_are_encoded_once_and_a_restart_asks_nothing() {
    let (stage, folder) = (Stage::new(), tempfile::tempdir().unwrap());
    let tools = texts(&["Sky: the weather of the next days", "Post: sends a letter"]);
    {
        let embedder = stage.embedder(Stage::settings(), Some(folder.path()));
        embedder.encode(tools.clone()).await;
        let asked = stage.model.asked();
        assert!(asked.iter().all(|texts| texts.len() <= 16), "batch by batch");
        assert_eq!(
            asked.last().unwrap(),
            &["passage: Sky: the weather of the next days", "passage: Post: sends a letter"]
        );
        embedder.encode(tools.clone()).await;
        embedder.encode([&tools[..], &texts(&["New: a third"])].concat()).await;
        let more = stage.model.asked();
        assert_eq!(
            (more.len(), more.last().unwrap().as_slice()),
            (asked.len() + 1, ["passage: New: a third".to_owned()].as_slice())
        );
        let status = embedder.embedded();
        assert!(status.ready && status.width == 64 && status.chinese == Some(false) && status.fault.is_none());
    }
    let before = stage.model.asked().len();
    let again = stage.embedder(Stage::settings(), Some(folder.path()));
    again.encode(tools.clone()).await;
    assert_eq!(stage.model.asked().len(), before, "all was on disk, the self-test too");
    let Vectored::Yes(vector) = vector(&again, &tools[0]) else { panic!("it is known") };
    assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-3);
    let other = stage.embedder(Settings { model: "other".into(), ..Stage::settings() }, Some(folder.path()));
    other.encode(tools).await;
    assert!(stage.model.asked().len() > before, "another model's vectors are its own");
    let told = stage.told();
    assert!(told.len() == 2 && told.iter().all(|what| what.contains("does not read Chinese")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_request_is_encoded_in_time_or_not_at_all() {
    let stage = Stage::new();
    let embedder = stage.embedder(Stage::settings(), None);
    assert_eq!(embedder.request("will it rain").await, super::Meaning::default(), "nothing was tested yet");
    embedder.encode(texts(&["Sky: weather"])).await;
    let meaning = embedder.request("will it rain").await;
    assert_eq!((meaning.stamp, meaning.vectors.len()), (embedder.encoder().unwrap().0, 1));
    let asked = stage.model.asked().len();
    assert_eq!(embedder.request("will it rain").await, meaning);
    assert_eq!(embedder.request("明天会下雨吗").await, super::Meaning::default(), "it does not read Chinese");
    assert_eq!(stage.model.asked().len(), asked, "neither is asked");

    stage.model.behave(Manner::Silent);
    let begun = Instant::now();
    let late = embedder.request("a letter").await;
    assert_eq!((late.vectors.len(), begun.elapsed()), (0, Duration::from_millis(150)));
    assert!(late.note.as_deref().is_some_and(|note| note.contains("within 150ms (`embeddings.budget`)")), "{late:?}");
    for _ in 0..2 {
        assert_eq!(embedder.request("a letter").await.note, None, "it was said already");
    }
    let begun = Instant::now();
    assert_eq!(embedder.request("a letter").await.vectors.len(), 0);
    assert_eq!(begun.elapsed(), Duration::ZERO, "one that does not answer is left alone");
    assert_eq!(embedder.request("will it rain").await, meaning, "what is remembered is answered");
    stage.model.behave(Manner::Answers(64));
    time::advance(Duration::from_secs(5)).await;
    assert_eq!(embedder.request("a letter").await.vectors.len(), 1);
    let told = stage.told();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[1].contains("found by words alone") && told[2].contains("answers again"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn one_that_is_away_is_tried_again_and_told_of_once() {
    let stage = Stage::new();
    stage.model.behave(Manner::Refuses(503, "loading"));
    let embedder = stage.embedder(Stage::settings(), None);
    let mut encoding = tokio::spawn({
        let embedder = embedder.clone();
        async move { embedder.encode(texts(&["Sky: weather"])).await }
    });
    assert!(time::timeout(Duration::from_secs(16), &mut encoding).await.is_err());
    assert_eq!(stage.model.asked().len(), 5, "after 0, 1, 3, 7 and 15 seconds");
    let note = embedder.request("rain").await.note.unwrap();
    assert!(note.contains("loading"), "{note}");
    assert_eq!(embedder.request("rain").await.note, None);
    assert!(embedder.embedded().fault.unwrap().contains("loading"));
    stage.model.behave(Manner::Answers(64));
    encoding.await.unwrap();
    assert!(matches!(vector(&embedder, "Sky: weather"), Vectored::Yes(_)));
    let told = stage.told();
    assert!(told[0].contains("loading") && told[1].contains("answers again") && told.len() == 3, "{told:?}");
    assert_eq!(embedder.embedded().fault, None);
}

#[tokio::test(start_paused = true)]
async fn who_cannot_wait_does_not_and_what_hangs_is_given_up() {
    let stage = Stage::new();
    stage.model.behave(Manner::Silent);
    let embedder = stage.embedder(Stage::settings(), None);
    let begun = Instant::now();
    let vectors = embedder.vectors(&texts(&["Sky: weather"]), Duration::from_secs(5)).await;
    assert_eq!((vectors, begun.elapsed()), (vec![None], Duration::from_secs(5)));
    let vectors = embedder.vectors(&texts(&["Sky: weather"]), Duration::from_secs(300)).await;
    assert_eq!((vectors, begun.elapsed()), (vec![None], Duration::from_secs(35)), "a failure ends it");
    assert!(embedder.embedded().fault.unwrap().contains("within 30s (`embeddings.timeout`)"));
    stage.model.behave(Manner::Answers(64));
    let vectors = embedder.vectors(&texts(&["Sky: weather"]), Duration::from_secs(5)).await;
    assert!(vectors[0].is_some());
}

#[tokio::test(start_paused = true)]
async fn another_width_is_another_model_and_all_is_made_anew() {
    let (stage, folder) = (Stage::new(), tempfile::tempdir().unwrap());
    let embedder = stage.embedder(Stage::settings(), Some(folder.path()));
    embedder.encode(texts(&["Sky: weather"])).await;
    let (stamp, _) = embedder.encoder().unwrap();
    stage.model.behave(Manner::Answers(32));
    let meaning = embedder.request("rain").await;
    assert!(meaning.vectors.is_empty() && meaning.note.unwrap().contains("32 numbers where they had 64"));
    assert!(embedder.encoder().is_none() && embedder.vector(stamp, "Sky: weather") == Vectored::NotYet);
    embedder.encode(texts(&["Sky: weather"])).await;
    assert!(embedder.encoder().unwrap().0 != stamp && embedder.embedded().width == 32);
    assert_eq!(embedder.request("rain").await.vectors.len(), 1);
    // The same, first seen by the one who encodes.
    stage.model.behave(Manner::Answers(48));
    embedder.encode(texts(&["Sky: weather", "Post: letter"])).await;
    assert!(matches!(vector(&embedder, "Sky: weather"), Vectored::Yes(row) if row.len() == 48));
    let again = stage.embedder(Stage::settings(), Some(folder.path()));
    let before = stage.model.asked().len();
    again.encode(texts(&["Sky: weather", "Post: letter"])).await;
    assert_eq!((stage.model.asked().len(), again.embedded().width), (before, 48), "the disk holds those of now");
}

#[tokio::test(start_paused = true)]
async fn what_is_too_long_is_shortened_and_what_is_refused_is_left_to_words() {
    let stage = Stage::new();
    stage.model.behave(Manner::Picky(64, 200));
    let embedder = stage.embedder(Stage::settings(), None);
    let (long, endless) = ("Sky: weather ".repeat(20), "Post: letter ".repeat(4000));
    let tools = texts(&["Sky: rain", &long, &endless, "Post: mail"]);
    embedder.encode(tools.clone()).await;
    let got: Vec<_> = tools.iter().map(|text| vector(&embedder, text)).collect();
    assert!(matches!(&got[..], [Vectored::Yes(_), Vectored::Yes(_), Vectored::Never, Vectored::Yes(_)]), "{got:?}");
    let asked = stage.model.asked().len();
    embedder.encode(tools).await;
    assert_eq!(stage.model.asked().len(), asked, "it is not asked again");
    assert!(stage.told().iter().any(|what| what.contains("takes no vector of a tool")), "{:?}", stage.told());
}

#[tokio::test(start_paused = true)]
async fn wrong_answers_are_told_in_words_and_harm_nothing() {
    for (manner, dimensions, says) in [
        (Manner::Says("<html>"), None, "not of the shape of /v1/embeddings"),
        (Manner::Says(r#"{"data": []}"#), None, "answers with 0"),
        (Manner::Refuses(401, "who are you"), None, "who are you"),
        (Manner::Refuses(400, "no such model"), None, "no such model"),
        (Manner::Answers(64), Some(32), "`embeddings.dimensions` is 32, and its vectors have 64 numbers"),
    ] {
        let stage = Stage::new();
        stage.model.behave(manner);
        let embedder = stage.embedder(Settings { dimensions, ..Stage::settings() }, None);
        let vectors = embedder.vectors(&texts(&["Sky: weather"]), Duration::from_secs(5)).await;
        assert_eq!(vectors, [None]);
        let told = stage.told();
        assert!(told.len() == 1 && told[0].contains(says), "{told:?}");
        assert!(embedder.request("rain").await.vectors.is_empty());
    }
}
