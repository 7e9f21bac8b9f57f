//! Encodes what is asked for in the background: tested first, batch by batch, again and again where that may help.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, task, time};
use toolbay_retrieval::{Chinese, SelfTest};

use super::{
    carry::Failed,
    embedder::{Job, Patience, Shared},
    known::Kept,
    row::{Digest, Row, digest, unit},
    wire,
};

/// How long to wait after a failure; then twice as long each time.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long where only a person can mend it.
const LASTING: Duration = Duration::from_secs(300);
/// How often a text that is refused by itself is tried at half its length.
const HALVINGS: u32 = 3;

/// A text as it is sent, by its digest.
type Text = (Digest, String);

/// Does one job after the other.
pub(super) async fn run(shared: Arc<Shared>, mut jobs: mpsc::Receiver<Job>) {
    shared.load().await;
    while let Some(Job { texts, patience, mut done }) = jobs.recv().await {
        let mut pause = PAUSE;
        loop {
            let failed = tokio::select! {
                worked = shared.work(&texts) => match worked {
                    Ok(()) => break,
                    Err(failed) => failed,
                },
                () = done.closed() => break,
            };
            shared.fails(failed.why());
            if patience == Patience::None {
                break;
            }
            let wait = match failed {
                Failed::Passing(_) => pause,
                Failed::Refused(_) | Failed::Lasting(_) => LASTING,
            };
            pause = (pause * 2).min(LONGEST_PAUSE);
            tokio::select! {
                () = time::sleep(wait) => {}
                () = done.closed() => break,
            }
        }
        // Whoever asked may have left.
        let _ = done.send(());
    }
}

impl Shared {
    /// Learns what the disk holds; where that is enough, nothing is asked.
    async fn load(&self) {
        let Some(store) = self.store.clone() else { return };
        let Ok(held) = task::spawn_blocking(move || store.load()).await else { return };
        let fits = self.settings.dimensions.is_none_or(|width| width == held.width);
        if held.width > 0 && fits {
            self.known().load(held);
            self.settle();
        }
    }

    /// Encodes what is not encoded.
    async fn work(&self, texts: &[String]) -> Result<(), Failed> {
        if self.known().encoder.is_none() {
            self.test().await?;
        }
        let texts: Vec<Text> = self.missing(texts.iter().map(|text| self.passage(text)));
        let mut asked = false;
        for batch in texts.chunks(self.settings.batch.max(1)) {
            self.batch(batch).await?;
            asked = true;
        }
        if asked {
            self.goes_on();
        }
        Ok(())
    }

    fn missing(&self, texts: impl Iterator<Item = String>) -> Vec<Text> {
        let texts: Vec<Text> = texts.map(|text| (digest(&text), text)).collect();
        let mut known = self.known();
        texts.into_iter().filter(|(digest, _)| !known.is_decided(digest)).collect()
    }

    /// Has the model take the self-test, so that its vectors count.
    async fn test(&self) -> Result<(), Failed> {
        let test = SelfTest::new();
        let requests = test.requests.iter().map(|text| self.query(text));
        let texts = self.missing(requests.chain(test.texts.iter().map(|text| self.passage(text))));
        for batch in texts.chunks(self.settings.batch.max(1)) {
            let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
            let rows = self.encoded(&texts).await.map_err(|failed| match failed {
                Failed::Refused(why) => Failed::Lasting(why),
                failed @ (Failed::Passing(_) | Failed::Lasting(_)) => failed,
            })?;
            self.keep(batch, &rows).await;
        }
        if !self.settle() {
            return Err(Failed::Lasting("its vectors of plain requests are noughts; the model cannot be used".into()));
        }
        self.goes_on();
        if self.known().encoder.as_ref().is_some_and(|encoder| encoder.chinese() == Chinese::Unread) {
            let model = &self.settings.model;
            (self.tell)(&format!(
                "the model {model:?} does not read Chinese: it has no say where a request is Chinese"
            ));
        }
        Ok(())
    }

    /// Whether the self-test can be judged by what is known; then it is.
    fn settle(&self) -> bool {
        let test = SelfTest::new();
        let requests: Vec<_> = test.requests.iter().map(|text| digest(&self.query(text))).collect();
        let texts: Vec<_> = test.texts.iter().map(|text| digest(&self.passage(text))).collect();
        let mut known = self.known();
        let mut rows = |digests: &[Digest]| -> Option<Vec<Vec<f32>>> {
            digests.iter().map(|digest| known.row(digest).map(|row| row.vector())).collect()
        };
        let Some(encoder) =
            rows(&requests).zip(rows(&texts)).and_then(|(requests, texts)| test.encoder(&requests, &texts))
        else {
            return false;
        };
        known.encoder = Some(Arc::new(encoder));
        let state = (known.stamp, true);
        drop(known);
        self.renewed.send_replace(state);
        true
    }

    /// Encodes a batch. Where it is refused, halves of it may not be; where a text is, half of it may not be.
    async fn batch(&self, batch: &[Text]) -> Result<(), Failed> {
        let (mut parts, mut taken, mut last) = (vec![batch], 0_usize, None);
        while let Some(part) = parts.pop() {
            let texts: Vec<&str> = part.iter().map(|(_, text)| text.as_str()).collect();
            match self.encoded(&texts).await {
                Ok(rows) => {
                    taken += part.len();
                    self.keep(part, &rows).await;
                }
                Err(Failed::Refused(_)) if part.len() > 1 => {
                    let (left, right) = part.split_at(part.len() / 2);
                    parts.extend([right, left]);
                }
                Err(Failed::Refused(why)) => match self.shortened(texts[0]).await? {
                    Some(row) => {
                        taken += 1;
                        self.keep(part, &[row]).await;
                    }
                    None if parts.is_empty() && taken == 0 && batch.len() > 1 => return Err(Failed::Lasting(why)),
                    None => last = Some((part[0].0, why)),
                },
                Err(failed @ (Failed::Passing(_) | Failed::Lasting(_))) => return Err(failed),
            }
            if let Some((digest, why)) = last.take() {
                self.known().refuse(digest);
                (self.tell)(&format!(
                    "the embedding endpoint takes no vector of a tool, which is found by words alone: {why}"
                ));
            }
        }
        Ok(())
    }

    /// The vector of as much of a text as is taken.
    async fn shortened(&self, text: &str) -> Result<Option<Vec<f32>>, Failed> {
        let mut text = text;
        for _ in 0..HALVINGS {
            text = &text[..text.floor_char_boundary(text.len() / 2)];
            match self.encoded(&[text]).await {
                Ok(mut rows) => return Ok(rows.pop()),
                Err(Failed::Refused(_)) => {}
                Err(failed @ (Failed::Passing(_) | Failed::Lasting(_))) => return Err(failed),
            }
        }
        Ok(None)
    }

    /// The vectors of some texts, of the width that was agreed on.
    async fn encoded(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Failed> {
        let timeout = self.settings.timeout;
        let answer = time::timeout(timeout, (self.carry)(wire::document(&self.settings, texts))).await;
        let late = |_| Failed::Passing(format!("it did not answer within {timeout:?} (`embeddings.timeout`)"));
        let body = answer.map_err(late)??;
        let rows = wire::vectors(&body, texts.len()).map_err(Failed::Lasting)?;
        let got = rows[0].len();
        if let Some(wanted) = self.settings.dimensions.filter(|wanted| *wanted != got) {
            let why =
                format!("`embeddings.dimensions` is {wanted}, and its vectors have {got} numbers; remove the key");
            return Err(Failed::Lasting(why));
        }
        let before = self.known().width;
        if before != 0 && before != got {
            self.renew();
            let why = format!("its vectors have {got} numbers where they had {before}: all are made anew");
            return Err(Failed::Passing(why));
        }
        self.known().width = got;
        Ok(rows)
    }

    /// Forgets all that is of another model than answers now.
    pub(super) fn renew(&self) {
        let mut known = self.known();
        known.renew();
        let state = (known.stamp, false);
        drop(known);
        self.renewed.send_replace(state);
    }

    /// Keeps the vectors of texts, in memory and on disk.
    async fn keep(&self, texts: &[Text], vectors: &[Vec<f32>]) {
        let (mut new, mut all, width) = (vec![], None, vectors.first().map_or(0, Vec::len));
        {
            let mut known = self.known();
            if known.width != width {
                // It was renewed this moment.
                return;
            }
            for ((digest, _), vector) in texts.iter().zip(vectors) {
                let Some(row) = unit(vector).and_then(|vector| Row::pack(&vector)) else {
                    known.refuse(*digest);
                    continue;
                };
                match known.keep(*digest, row.clone()) {
                    Kept::Yes => new.push((*digest, row)),
                    Kept::Others => all = Some(()),
                    Kept::No => {}
                }
            }
        }
        let all = all.map(|()| self.known().rows());
        let Some(store) = self.store.clone() else { return };
        let written = task::spawn_blocking(move || match all {
            Some(all) => store.replace(width, &all),
            None => store.append(width, &new),
        });
        // That they cannot be kept costs time at the next start, and nothing else.
        let _ = written.await;
    }
}
