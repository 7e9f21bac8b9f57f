//! Lists as streams over their pages.

use std::{
    collections::{HashSet, VecDeque},
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_util::{FutureExt as _, Stream, future::BoxFuture};
use serde::de::DeserializeOwned;
use toolbay_protocol::{
    Method, Raw,
    fault::code,
    raw::{Kind, Object},
};

use super::{connected::Client, error::ClientError};

/// More pages than any list has; a server whose cursor never ends is stopped here.
const MOST_PAGES: usize = 10_000;

/// A list of a server, page by page as it is read. A [`Stream`]; [`List::all`] reads it to its end.
#[must_use = "nothing is asked for before it is read"]
pub struct List<T> {
    client: Client,
    method: Method,
    key: &'static str,
    waiting: VecDeque<T>,
    next: Next,
    seen: HashSet<String>,
}

enum Next {
    Ask(Option<String>),
    Asked(BoxFuture<'static, Result<Raw, ClientError>>),
    Over,
}

impl<T: DeserializeOwned> List<T> {
    pub(crate) fn new(client: Client, method: Method, key: &'static str) -> Self {
        Self { client, method, key, waiting: VecDeque::new(), next: Next::Ask(None), seen: HashSet::new() }
    }

    /// The next entry; `None` at the end. Losing the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<T, ClientError>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    /// All entries.
    pub async fn all(mut self) -> Result<Vec<T>, ClientError> {
        let mut all = Vec::new();
        while let Some(item) = self.next().await {
            all.push(item?);
        }
        Ok(all)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, ClientError>>> {
        loop {
            if let Some(item) = self.waiting.pop_front() {
                return Poll::Ready(Some(Ok(item)));
            }
            match &mut self.next {
                Next::Over => return Poll::Ready(None),
                Next::Ask(cursor) => {
                    let cursor = cursor.take();
                    self.next = Next::Asked(self.page(cursor));
                }
                Next::Asked(page) => {
                    let outcome = ready!(page.poll_unpin(context));
                    self.next = Next::Over;
                    if let Err(error) = outcome.and_then(|page| self.take(&page)) {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
            }
        }
    }

    fn page(&self, cursor: Option<String>) -> BoxFuture<'static, Result<Raw, ClientError>> {
        let (client, method) = (self.client.clone(), self.method.clone());
        Box::pin(async move {
            let mut params = Object::with_capacity(64);
            if let Some(cursor) = &cursor {
                params.put_text("cursor", cursor);
            }
            let page = client.request(method.clone(), params.finish()).await;
            if matches!(&page, Err(ClientError::Refused(error)) if error.code == code::INVALID_PARAMS) {
                // spec: server/utilities/caching, a bad cursor makes all pages stale
                client.forget_list(&method);
            }
            page
        })
    }

    fn take(&mut self, page: &Raw) -> Result<(), ClientError> {
        let items = page.get(self.key).filter(|items| items.kind() == Kind::Array).ok_or_else(|| {
            ClientError::misfit(format!("a page of {} without a list of `{}`", self.method, self.key))
        })?;
        let items: Result<VecDeque<T>, _> = items.elements().map(|item| item.read()).collect();
        self.waiting = items.map_err(|flaw| ClientError::misfit(format!("an entry of {}: {flaw}", self.method)))?;
        // The empty text is a cursor like others (spec: server/utilities/pagination).
        let next = page.get("nextCursor").and_then(|cursor| cursor.as_text().map(std::borrow::Cow::into_owned));
        if let Some(cursor) = next {
            let flaw = match self.seen.len() {
                MOST_PAGES.. => Some(format!("there are more than {MOST_PAGES}")),
                _ => (!self.seen.insert(cursor.clone())).then(|| format!("the cursor {cursor:?} came twice")),
            };
            if let Some(flaw) = flaw {
                return Err(ClientError::Misfit(format!("the pages of {} never end: {flaw}", self.method)));
            }
            self.next = Next::Ask(Some(cursor));
        }
        Ok(())
    }
}

impl<T: DeserializeOwned + Unpin> Stream for List<T> {
    type Item = Result<T, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(context)
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("method", &self.method).finish_non_exhaustive()
    }
}
