//! A model behind HTTP: sends the question, listens to the reply, asks again where that may help.

use std::fmt;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time;
use toolbay_gateway::errands::{Arriving, Decoder, Errands, Item};

use super::{
    connect::Options,
    fault::{Again, Trouble},
    key::Key,
    lines::Lines,
    pieces::merge,
    retry,
    speech::{self, Delivery, Ear, House, Question, Reader},
};
use crate::model::{Ask, Heard, Model, ModelError, Reply, Why, Wire};

/// How much of a refusal is read.
const REFUSAL: usize = 64 << 10;

/// A model of a provider.
pub(super) struct Remote {
    wire: Wire,
    model: String,
    house: House,
    errands: Errands,
    key: Option<Key>,
    options: Options,
}

impl Remote {
    pub(super) fn new(
        wire: Wire,
        model: String,
        house: House,
        errands: Errands,
        key: Option<Key>,
        options: Options,
    ) -> Self {
        Self { wire, model, house, errands, key, options }
    }

    /// Where it is.
    #[cfg(test)]
    pub(super) fn place(&self) -> String {
        self.errands.place()
    }

    #[cfg(test)]
    pub(super) fn be_impatient(&mut self, silence: std::time::Duration) {
        self.options.silence = silence;
    }

    fn document(&self, ask: Ask<'_>) -> Bytes {
        let question = Question { ask, model: &self.model, delivery: self.options.delivery, house: self.house };
        let mut document = speech::request(self.wire, &question);
        for (name, more) in &self.options.more {
            merge(&mut document[name.as_str()], more);
        }
        document.to_string().into()
    }

    async fn patient(&self, ask: Ask<'_>, heard: &mut Ear<'_>) -> Result<Reply, ModelError> {
        let document = self.document(ask);
        let mut tries = 0;
        loop {
            let mut spoke = false;
            let mut ear = |what: Heard<'_>| {
                spoke = true;
                heard(what);
            };
            let trouble = match self.once(ask, document.clone(), &mut ear).await {
                Ok(reply) => return Ok(reply),
                Err(trouble) => trouble,
            };
            let wait = match trouble.again {
                Again::Later(asked) if !spoke && tries < self.options.retries => retry::wait(tries, asked),
                Again::Later(_) | Again::Never => None,
            };
            let Some(wait) = wait else { return Err(self.told(trouble, tries)) };
            heard(Heard::Again(wait));
            time::sleep(wait).await;
            tries += 1;
        }
    }

    /// What is told of trouble: in words without the key.
    fn told(&self, Trouble { error, again }: Trouble, tries: u32) -> ModelError {
        let mut what = error.what;
        if let Again::Later(Some(asked)) = again
            && asked > retry::PATIENCE
        {
            what.push_str(&format!(" (it wants to be asked again after {} s)", asked.as_secs()));
        }
        if tries > 0 {
            what.push_str(&format!(" (asked {} times)", tries + 1));
        }
        let what = match &self.key {
            Some(key) => key.hide(what),
            None => what,
        };
        ModelError { why: error.why, what }
    }

    async fn once(&self, ask: Ask<'_>, document: Bytes, heard: &mut Ear<'_>) -> Result<Reply, Trouble> {
        let arriving = self.in_time(self.errands.ask(document)).await?;
        if !arriving.status.is_success() {
            let (status, headers) = (arriving.status, arriving.headers.clone());
            let body = self.refusal(arriving).await;
            return Err(Trouble::refused(status, &headers, &body));
        }
        let mut reader = speech::reader(self.wire, ask);
        let stream = self.options.delivery == Delivery::Stream;
        match arriving.kind.as_str() {
            "text/event-stream" => self.events(arriving, &mut *reader, heard).await?,
            "application/x-ndjson" => self.lines(arriving, &mut *reader, heard).await?,
            _ if stream && self.wire == Wire::Ollama => self.lines(arriving, &mut *reader, heard).await?,
            _ => self.whole(arriving, &mut *reader, heard).await?,
        }
        reader.reply()
    }

    async fn in_time<T>(
        &self,
        what: impl Future<Output = Result<T, toolbay_gateway::errands::Error>>,
    ) -> Result<T, Trouble> {
        match time::timeout(self.options.silence, what).await {
            Ok(got) => got.map_err(|error| Trouble::on_the_way(&error)),
            Err(_) => {
                let silence = self.options.silence.as_secs();
                let what = format!("nothing came from {} for {silence} s", self.errands.place());
                Err(Trouble::lasting(Why::Provider, what))
            }
        }
    }

    /// What is said of a refusal; what cannot be read of it is not missed.
    async fn refusal(&self, mut arriving: Arriving) -> Vec<u8> {
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = self.in_time(arriving.chunk()).await {
            body.extend_from_slice(&chunk);
            if body.len() >= REFUSAL {
                body.truncate(REFUSAL);
                break;
            }
        }
        body
    }

    async fn events(
        &self,
        mut arriving: Arriving,
        reader: &mut dyn Reader,
        heard: &mut Ear<'_>,
    ) -> Result<(), Trouble> {
        let mut decoder = Decoder::with_limit(self.options.reply_bytes);
        while let Some(chunk) = self.chunk(&mut arriving).await? {
            decoder.push(chunk);
            while let Some(item) = decoder.pull().map_err(|fault| Trouble::unreadable(&fault.to_string()))? {
                let Item::Message(message) = item else { continue };
                let data = message.data.trim_ascii();
                // The last word of OpenAI's chat is no JSON.
                if data == b"[DONE]" {
                    return Ok(());
                }
                if !data.is_empty() {
                    reader.event(&json(data)?, heard)?;
                }
                if reader.over() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn lines(&self, mut arriving: Arriving, reader: &mut dyn Reader, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        let mut lines = Lines::default();
        while let Some(chunk) = self.chunk(&mut arriving).await? {
            lines.push(&chunk);
            while let Some(line) = lines.pull() {
                reader.event(&json(&line)?, heard)?;
                if reader.over() {
                    return Ok(());
                }
            }
        }
        // A last line without its end is whole, or the end is missing and the reader says so.
        if let Some(Ok(last)) = lines.rest().map(|rest| json(&rest)) {
            reader.event(&last, heard)?;
        }
        Ok(())
    }

    async fn whole(&self, mut arriving: Arriving, reader: &mut dyn Reader, heard: &mut Ear<'_>) -> Result<(), Trouble> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk(&mut arriving).await? {
            body.extend_from_slice(&chunk);
        }
        reader.whole(&json(&body)?, heard)
    }

    /// The next chunk; a stream that breaks is a reply that ends too early.
    async fn chunk(&self, arriving: &mut Arriving) -> Result<Option<Bytes>, Trouble> {
        self.in_time(arriving.chunk()).await.map_err(|trouble| match trouble.error.why {
            Why::Unreachable => Trouble::cut(),
            Why::Key | Why::Question | Why::TooLong | Why::Provider | Why::Reply => trouble,
        })
    }
}

fn json(text: &[u8]) -> Result<Value, Trouble> {
    serde_json::from_slice(text).map_err(|error| Trouble::unreadable(&format!("it is no JSON ({error})")))
}

impl Model for Remote {
    fn wire(&self) -> Wire {
        self.wire
    }

    fn ask<'a>(
        &'a self,
        ask: Ask<'a>,
        heard: &'a mut (dyn FnMut(Heard<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.patient(ask, heard))
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Remote({} {} at {})", self.wire, self.model, self.errands.place())
    }
}
