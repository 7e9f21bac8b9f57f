//! What may be looked at beside the endpoint.

use toolbay_gateway::Bay;
use toolbay_transport::http::server::{Page, Pages};

/// Whether the process lives, whether all is decided, what is counted.
pub(super) fn pages(bay: Bay) -> Pages {
    Pages::by(move |path, _| match path {
        "/healthz" => Some(page(true, "text/plain; charset=utf-8", "ok\n".into())),
        "/readyz" => {
            let readiness = bay.readiness();
            let text = serde_json::to_string(&readiness).expect("it is texts");
            Some(page(readiness.ready, "application/json", text))
        }
        "/metrics" => Some(page(true, "text/plain; version=0.0.4; charset=utf-8", bay.metrics())),
        _ => None,
    })
}

fn page(well: bool, kind: &'static str, text: String) -> Page {
    let status = if well { http::StatusCode::OK } else { http::StatusCode::SERVICE_UNAVAILABLE };
    Page { status, kind, text }
}
