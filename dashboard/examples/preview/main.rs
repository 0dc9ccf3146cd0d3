//! Serves the pages over a sample, for looking at them: `cargo run -p warmbin-dashboard --example preview`, then
//! <http://127.0.0.1:8099/>. `/empty/…` shows the same without data. Records keep arriving for as
//! long as somebody looks.

mod sample;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::Extension;
use axum::response::Response;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::{get, post};
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderValue, StatusCode, header};
use sample::SampleStore;
use warmbin_dashboard::{CONTENT_POLICY, Viewer, error_page, login_page, router};
use warmbin_store::Store;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:8099".to_owned());
    let (dashboard, store) = sample::dashboard(SampleStore::busy(now_us()));
    let (empty, _) = sample::dashboard(SampleStore::of(Vec::new(), Vec::new()));
    let app = router(dashboard)
        .nest("/empty", router(empty))
        .route(
            "/login",
            get(|| async { login_page(Some("This token is not valid."), "/") }),
        )
        .route(
            "/api/v1/live",
            get(move || std::future::ready(live(store.clone()))),
        )
        .route("/api/v1/programs/{name}/versions", post(refuse))
        .fallback(|| async { error_page(StatusCode::NOT_FOUND, "Not found", "There is no such page.", None) })
        .layer(Extension(Viewer {
            name: "admin".to_owned(),
            may_operate: true,
        }))
        .layer(axum::middleware::map_response(|mut response: Response| async {
            response.headers_mut().insert(
                header::CONTENT_SECURITY_POLICY,
                HeaderValue::from_static(CONTENT_POLICY),
            );
            response
        }));
    let listener = tokio::net::TcpListener::bind(&address).await?;
    axum::serve(listener, app).await
}

/// An upload that is always found wanting.
async fn refuse() -> (StatusCode, Json<serde_json::Value>) {
    let problem = serde_json::json!({
        "type": "about:blank", "title": "Unprocessable Content", "status": 422,
        "detail": "The module cannot be run.",
        "errors": [{ "field": "wasm", "detail": "it has no _start function; compile it as a command" }],
    });
    (StatusCode::UNPROCESSABLE_ENTITY, Json(problem))
}

/// A record every 700 ms, now.
fn live(store: Arc<SampleStore>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = stream::unfold(1_000_000_u64, move |index| {
        let store = store.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(700)).await;
            let mode = if index.is_multiple_of(3) {
                "fork"
            } else {
                "wasm-warm"
            };
            let mut record = sample::record(index, mode, 0, 300 + index % 977 * 3);
            record.started_at = now_us();
            let _ = store
                .insert_requests(&[(Arc::new(record.clone()), sample::detail())])
                .await;
            let event = Event::default()
                .event("request")
                .json_data(&record)
                .unwrap_or_default();
            Some((Ok(event), index + 1))
        }
    });
    Sse::new(events.boxed()).keep_alive(KeepAlive::default())
}

fn now_us() -> i64 {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
