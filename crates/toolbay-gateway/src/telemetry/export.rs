//! Sends what there is: spans when enough of them wait, or the first has waited long enough; numbers at their pace. A
//! collector that is away is tried again, later and later, while the queue takes what it has room for.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use tokio::{sync::mpsc, task::JoinHandle, time};
use tokio_util::sync::CancellationToken;
use toolbay_transport::{
    Error,
    http::client::{Courier, Limits, Receipt, Target},
};

use super::{desk::Desk, numbers, otlp, settings::Place, span::Span};
use crate::{Bay, bay::Inner};

/// How often one document is tried.
const TRIES: u32 = 5;
/// How long to wait before the second time; then twice as long each time.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long the last words may take.
const FAREWELL: Duration = Duration::from_secs(5);

/// Told when sending begins to fail, and when it goes on.
pub(super) type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Sends what there is until it is finished.
#[derive(Debug)]
pub struct Exporting {
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl Exporting {
    /// Sends what is left, within a few seconds, and ends.
    pub async fn finish(mut self) {
        self.stop.cancel();
        let until = time::Instant::now() + FAREWELL;
        for mut task in std::mem::take(&mut self.tasks) {
            if time::timeout_at(until, &mut task).await.is_err() {
                task.abort();
            }
        }
    }
}

impl Drop for Exporting {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Begins to send.
pub(super) fn begin(
    desk: &Arc<Desk>,
    spans: Option<mpsc::Receiver<Span>>,
    bay: &Bay,
    delivery: impl Fn(&Place) -> Result<Delivery, Error>,
) -> Result<Exporting, Error> {
    // Both before either begins.
    let [to_spans, to_numbers] =
        [&desk.settings.spans, &desk.settings.numbers].map(|place| place.as_ref().map(&delivery));
    let (to_spans, to_numbers) = (to_spans.transpose()?, to_numbers.transpose()?);
    let (stop, mut tasks) = (CancellationToken::new(), vec![]);
    if let (Some(delivery), Some(spans)) = (to_spans, spans) {
        tasks.push(tokio::spawn(send_spans(Arc::clone(desk), spans, delivery, stop.clone())));
    }
    if let Some(delivery) = to_numbers {
        let bay = Arc::downgrade(&bay.0);
        tasks.push(tokio::spawn(send_numbers(Arc::clone(desk), bay, delivery, stop.clone())));
    }
    Ok(Exporting { stop, tasks })
}

async fn send_spans(desk: Arc<Desk>, mut spans: mpsc::Receiver<Span>, delivery: Delivery, stop: CancellationToken) {
    let mut batch = Vec::with_capacity(desk.settings.batch);
    loop {
        let gone = tokio::select! {
            biased;
            () = gather(&mut spans, &mut batch, &desk) => false,
            () = stop.cancelled() => true,
        };
        if gone {
            // What came meanwhile goes too.
            while let Ok(span) = spans.try_recv() {
                batch.push(span);
            }
        }
        for batch in batch.chunks(desk.settings.batch) {
            let document = otlp::spans(delivery.place.encoding, &desk.settings.resource, batch);
            let count = batch.len() as u64;
            match delivery.deliver(document, &stop).await {
                Delivered::Yes => desk.sent.fetch_add(count, Relaxed),
                Delivered::No => desk.dropped.fetch_add(count, Relaxed),
            };
        }
        batch.clear();
        if gone {
            return;
        }
    }
}

/// Takes spans until they are as many as go out at once, or the first has waited long enough. Nothing is lost with it.
async fn gather(spans: &mut mpsc::Receiver<Span>, batch: &mut Vec<Span>, desk: &Desk) {
    let most = desk.settings.batch;
    if batch.is_empty() && spans.recv_many(batch, most).await == 0 {
        // The other end lives in the desk that is held here.
        return std::future::pending().await;
    }
    let enough = async {
        while batch.len() < most {
            let room = most - batch.len();
            spans.recv_many(batch, room).await;
        }
    };
    // Too late is right: what there is goes out.
    let _ = time::timeout(desk.settings.delay, enough).await;
}

async fn send_numbers(desk: Arc<Desk>, bay: Weak<Inner>, delivery: Delivery, stop: CancellationToken) {
    let mut pace = time::interval(desk.settings.interval);
    pace.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
    pace.tick().await;
    loop {
        let last = tokio::select! {
            _ = pace.tick() => false,
            () = stop.cancelled() => true,
        };
        let document = counted(&desk, &bay, &delivery.place);
        // The next ones say all that these would have.
        let _ = delivery.deliver(document, &stop).await;
        if last {
            return;
        }
    }
}

fn counted(desk: &Desk, bay: &Weak<Inner>, place: &Place) -> Vec<u8> {
    let everything = bay.upgrade().map(|bay| Bay(bay).everything());
    let families = numbers::families(desk, everything.as_ref());
    otlp::numbers(place.encoding, &desk.settings.resource, &families, desk.since, SystemTime::now())
}

/// Whether a document was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delivered {
    Yes,
    No,
}

/// Takes documents to one place.
pub(super) struct Delivery {
    courier: Courier,
    place: Place,
    tell: Tell,
    fails: AtomicBool,
}

impl Delivery {
    pub(super) fn to(place: &Place, tell: Tell) -> Result<Self, Error> {
        let limits = Limits { connect: place.timeout, ..Limits::default() };
        let target = Target { headers: place.headers.clone(), limits, ..Target::new(place.url.clone()) };
        Ok(Self { courier: Courier::to(&target)?, place: place.clone(), tell, fails: AtomicBool::new(false) })
    }

    /// Delivers a document, as often as it takes; once more, where it is the last.
    async fn deliver(&self, document: Vec<u8>, stop: &CancellationToken) -> Delivered {
        let (kind, text) = (otlp::kind(self.place.encoding), Bytes::from(document));
        let mut pause = PAUSE;
        for left in (0..TRIES).rev() {
            let sending = self.courier.deliver(HeaderValue::from_static(kind), text.clone());
            let answer = match time::timeout(self.place.timeout, sending).await {
                Ok(answer) => answer,
                Err(_) => Err(Error::overdue("delivering telemetry", self.place.timeout)),
            };
            let (why, wait) = match answer {
                Ok(Receipt { status, .. }) if status.is_success() => {
                    self.goes_on();
                    return Delivered::Yes;
                }
                Ok(Receipt { status, wait, says }) => {
                    let why = format!("it answers {status}: {says:?}");
                    (why, may_pass(status).then(|| wait.unwrap_or(pause)))
                }
                Err(error) => (error.to_string(), Some(pause)),
            };
            self.fails(&why);
            let Some(wait) = wait.filter(|_| left > 0 && !stop.is_cancelled()) else { return Delivered::No };
            tokio::select! {
                () = time::sleep(wait.min(LONGEST_PAUSE)) => {}
                () = stop.cancelled() => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Delivered::No
    }

    fn fails(&self, why: &str) {
        if !self.fails.swap(true, Relaxed) {
            (self.tell)(&format!("telemetry cannot be delivered to {}: {why}", shown(&self.place)));
        }
    }

    fn goes_on(&self) {
        if self.fails.swap(false, Relaxed) {
            (self.tell)(&format!("telemetry is delivered to {} again", shown(&self.place)));
        }
    }
}

/// An address without its query, which may be secret.
fn shown(place: &Place) -> String {
    format!("{}{}", place.url.authority().map_or("", |authority| authority.as_str()), place.url.path())
}

/// Whether it is worth trying again.
// spec: OTLP/HTTP, retryable response codes
fn may_pass(status: StatusCode) -> bool {
    [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::BAD_GATEWAY,
        StatusCode::SERVICE_UNAVAILABLE,
        StatusCode::GATEWAY_TIMEOUT,
    ]
    .contains(&status)
}
