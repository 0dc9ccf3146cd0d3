//! Changes to programs, the same for the API and for forms: do it, let the catalog follow, say who did.

use http::StatusCode;
use warmbin_dashboard::Viewer;
use warmbin_store::{StoreError, Version};

use super::live_host::is_declared;
use super::problem::Problem;
use super::state::Admin;
use crate::programs::ingest::{Arrived, IngestError, ingest};
use crate::programs::remove::{RemoveError, remove};

/// Adds a version. A refusal is a 422 that names the field.
pub(super) async fn add_version(
    admin: &Admin,
    viewer: &Viewer,
    arrived: Arrived,
) -> Result<Version, Problem> {
    let host = &admin.host;
    let name = arrived.name.clone();
    let version = ingest(arrived, &host.data, &host.store, &host.wasm)
        .await
        .map_err(refused)?;
    host.catalog.reload().await?;
    tracing::info!(target: "warmbin", { program.name = name, program.version = version.number, by = viewer.name }, "version added");
    Ok(version)
}

/// Makes a version the active one.
pub(super) async fn activate(admin: &Admin, viewer: &Viewer, name: &str, number: u32) -> Result<(), Problem> {
    let host = &admin.host;
    match host.store.activate(name, number).await {
        Err(StoreError::NotFound(_)) => {
            return Err(Problem::not_found(format!(
                "there is no version {number} of a program {name}"
            )));
        }
        done => done?,
    }
    host.catalog.reload().await?;
    tracing::info!(target: "warmbin", { program.name = name, program.version = number, by = viewer.name }, "version activated");
    Ok(())
}

/// Removes a program.
pub(super) async fn remove_program(admin: &Admin, viewer: &Viewer, name: &str) -> Result<(), Problem> {
    let host = &admin.host;
    remove(name, is_declared(host, name), &host.data, &host.store)
        .await
        .map_err(|error| match error {
            RemoveError::NotFound(_) => Problem::not_found(error.to_string()),
            RemoveError::Declared(_) => Problem::new(StatusCode::CONFLICT, error.to_string()),
            RemoveError::Lock(_) => Problem::internal(&error),
            RemoveError::Store(error) => error.into(),
        })?;
    host.catalog.reload().await?;
    tracing::info!(target: "warmbin", { program.name = name, by = viewer.name }, "program removed");
    Ok(())
}

fn refused(error: IngestError) -> Problem {
    match error {
        IngestError::Invalid { field, detail } => {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{field}: {detail}"))
                .with_error(field, detail)
        }
        IngestError::Failed(cause) => Problem::internal(&cause),
    }
}
