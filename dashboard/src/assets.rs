//! The files that pages refer to, inside the binary. An address holds the content's hash, so a browser may keep
//! it for ever and a new build is never mixed with an old file.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use sha2::{Digest, Sha256};

struct Asset {
    name: &'static str,
    url: String,
    content_type: &'static str,
    bytes: &'static [u8],
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    vec![
        asset(
            "style.css",
            "text/css; charset=utf-8",
            include_bytes!("../assets/style.css"),
        ),
        asset(
            "theme.js",
            "text/javascript; charset=utf-8",
            include_bytes!("../assets/theme.js"),
        ),
        asset(
            "app.js",
            "text/javascript; charset=utf-8",
            include_bytes!("../assets/app.js"),
        ),
        asset(
            "live.js",
            "text/javascript; charset=utf-8",
            include_bytes!("../assets/live.js"),
        ),
        asset(
            "upload.js",
            "text/javascript; charset=utf-8",
            include_bytes!("../assets/upload.js"),
        ),
        asset("icon.svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
    ]
});

fn asset(name: &'static str, content_type: &'static str, bytes: &'static [u8]) -> Asset {
    let (stem, extension) = name.split_once('.').unwrap_or((name, "bin"));
    let mut url = format!("/assets/{stem}-");
    for byte in Sha256::digest(bytes).iter().take(6) {
        let _ = write!(url, "{byte:02x}");
    }
    let _ = write!(url, ".{extension}");
    Asset {
        name,
        url,
        content_type,
        bytes,
    }
}

/// The address of an asset by its name in the source tree; empty for one that does not exist (a test asks for
/// each that the templates name).
pub(crate) fn url(name: &str) -> &'static str {
    ASSETS
        .iter()
        .find(|asset| asset.name == name)
        .map_or("", |asset| asset.url.as_str())
}

/// `GET /assets/{file}`.
pub(crate) async fn get(Path(file): Path<String>) -> Response {
    let Some(asset) = ASSETS
        .iter()
        .find(|asset| asset.url.strip_prefix("/assets/") == Some(file.as_str()))
    else {
        return (StatusCode::NOT_FOUND, "no such asset\n").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        // SECURITY: a file is only ever what its type says.
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, asset.bytes).into_response()
}
