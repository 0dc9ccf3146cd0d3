//! The admin listener's service on a real host in a temporary folder, without sockets.

mod access;
mod live;
mod programs;
mod refusals;
mod requests;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;

use crate::config::{Config, Sources};
use crate::host::Host;

const TOKEN: &str = "a-token-of-the-unit-tests";

/// A host that listens nowhere.
struct TestAdmin {
    host: Arc<Host>,
    router: Router,
    data: TempDir,
}

/// An answer, read to its end.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl TestAdmin {
    async fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("data");
        let environment = |key: &str| match key {
            "WARMBIN_DATA" => Some(folder.display().to_string()),
            "WARMBIN_ADMIN_TOKEN" => Some(TOKEN.to_owned()),
            _ => None,
        };
        let config = Config::load(Sources::default(), &environment).unwrap();
        let host = Host::open(config).await.unwrap();
        Self {
            router: super::router(Arc::clone(&host)),
            host,
            data,
        }
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// A request with the token and without a body.
    async fn call(&self, method: &str, path: &str) -> Answer {
        self.send(known(method, path).body(Body::empty()).unwrap()).await
    }

    /// An upload of these parts.
    async fn upload(&self, path: &str, parts: &[(&str, &[u8])]) -> Answer {
        let request = known("POST", path).header(CONTENT_TYPE, "multipart/form-data; boundary=XX");
        self.send(request.body(Body::from(multipart(parts))).unwrap())
            .await
    }
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// A request with the token.
fn known(method: &str, path: &str) -> http::request::Builder {
    anonymous(method, path).header(AUTHORIZATION, format!("Bearer {TOKEN}"))
}

fn anonymous(method: &str, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path)
}

fn multipart(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, content) in parts {
        // As a form sends a file that was not chosen.
        let file = if content.is_empty() { "" } else { "f" };
        let head =
            format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file}\"\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--XX--\r\n");
    body
}
