//! Multipart uploads, streamed to temporary files: memory does not grow with what is sent.

use std::path::Path;

use axum::extract::Multipart;
use axum::extract::multipart::{Field, MultipartError, MultipartRejection};
use http::StatusCode;
use tempfile::TempPath;
use tokio::io::AsyncWriteExt;
use warmbin_store::Source;

use super::problem::Problem;
use crate::programs::files::temporary_folder;
use crate::programs::ingest::Arrived;

/// Bytes of one artifact.
const ARTIFACT_LIMIT: u64 = 256 << 20;
/// Bytes of any other part.
const TEXT_LIMIT: usize = 64 << 10;
/// Bytes of a whole upload.
pub(super) const UPLOAD_LIMIT: usize = ((2 * 256) << 20) + (1 << 20);

/// What an upload brought. Files that are not moved away are removed with it.
#[derive(Debug, Default)]
pub(super) struct Upload {
    /// The part `name`, which only the form has.
    pub(super) name: Option<String>,
    native: Option<TempPath>,
    wasm: Option<TempPath>,
    settings: Option<String>,
    /// The part `activate`, which only the form has.
    pub(super) activate: Option<String>,
}

impl Upload {
    /// Reads every part. An empty file or text counts as absent, as forms send those; a part that is not
    /// known is refused.
    pub(super) async fn receive(
        multipart: Result<Multipart, MultipartRejection>,
        data: &Path,
        with_name: bool,
    ) -> Result<Self, Problem> {
        let mut multipart = multipart.map_err(|_| {
            Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "send multipart/form-data with the parts native, wasm and settings",
            )
        })?;
        let mut upload = Self::default();
        while let Some(field) = multipart.next_field().await.map_err(|error| broken(&error))? {
            let name = field.name().unwrap_or_default().to_owned();
            match name.as_str() {
                "native" if upload.native.is_none() => upload.native = file("native", field, data).await?,
                "wasm" if upload.wasm.is_none() => upload.wasm = file("wasm", field, data).await?,
                "settings" if upload.settings.is_none() => upload.settings = text("settings", field).await?,
                "name" if with_name && upload.name.is_none() => upload.name = text("name", field).await?,
                "activate" if with_name && upload.activate.is_none() => {
                    upload.activate = text("activate", field).await?;
                }
                "native" | "wasm" | "settings" => return Err(refused(&name, "is sent twice")),
                _ => {
                    return Err(refused(
                        &name,
                        "is not a part of an upload; those are native, wasm and settings",
                    ));
                }
            }
        }
        Ok(upload)
    }

    /// What to ingest, and the files to keep until that is done.
    pub(super) fn into_arrived(
        self,
        name: String,
        by: &str,
        activate: bool,
    ) -> (Arrived, [Option<TempPath>; 2]) {
        let arrived = Arrived {
            name,
            native: self.native.as_ref().map(|path| path.to_path_buf()),
            wasm: self.wasm.as_ref().map(|path| path.to_path_buf()),
            settings: self.settings,
            source: Source::Upload,
            created_by: by.to_owned(),
            activate,
        };
        (arrived, [self.native, self.wasm])
    }
}

async fn file(name: &'static str, mut field: Field<'_>, data: &Path) -> Result<Option<TempPath>, Problem> {
    let failed = |error: std::io::Error| Problem::internal(&format!("cannot keep an upload: {error}"));
    let folder = temporary_folder(data).map_err(failed)?;
    let (file, path) = tempfile::Builder::new()
        .prefix("upload-")
        .tempfile_in(folder)
        .map_err(failed)?
        .into_parts();
    let mut file = tokio::fs::File::from_std(file);
    // A form sends an empty part without a name for a file that was not chosen.
    let chosen = field.file_name().is_some_and(|name| !name.is_empty());
    let mut bytes: u64 = 0;
    while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
        bytes += chunk.len() as u64;
        if bytes > ARTIFACT_LIMIT {
            return Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("{name}: an artifact may have {} MiB", ARTIFACT_LIMIT >> 20),
            )
            .with_error(name, "too large"));
        }
        file.write_all(&chunk).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)?;
    // A file that is still open for writing cannot be executed: close it here and now, not whenever the
    // runtime comes to it.
    drop(file.into_std().await);
    if bytes == 0 && chosen {
        return Err(refused(name, "the file is empty"));
    }
    Ok((bytes > 0).then_some(path))
}

async fn text(name: &'static str, mut field: Field<'_>) -> Result<Option<String>, Problem> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
        if bytes.len() + chunk.len() > TEXT_LIMIT {
            return Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("{name}: may have {} KiB", TEXT_LIMIT >> 10),
            )
            .with_error(name, "too large"));
        }
        bytes.extend_from_slice(&chunk);
    }
    let text = String::from_utf8(bytes).map_err(|_| refused(name, "is not UTF-8"))?;
    Ok((!text.trim().is_empty()).then_some(text))
}

fn refused(field: &str, detail: &str) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{field}: {detail}")).with_error(field, detail)
}

/// What went wrong while a part was read. The reader has its reasons for 413; everything else is the client's
/// broken framing.
fn broken(error: &MultipartError) -> Problem {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("an upload may have {} MiB", UPLOAD_LIMIT >> 20),
        ),
        _ => Problem::bad_request(format!("the multipart body is broken: {}", error.body_text())),
    }
}
