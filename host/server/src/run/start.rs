//! Starting the program.

use http::StatusCode;
use warmbin_exec::{Outcome, StartError};

use super::refuse::Refusal;

/// What a client gets when a program cannot be started.
pub fn refuse(error: &StartError) -> Refusal {
    let status = match error {
        // A registered program that is not there is the operator's mistake, not the client's.
        StartError::NotFound { .. } | StartError::Unsupported { .. } | StartError::Other { .. } => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        // As in a folder of drop-in programs.
        StartError::NotExecutable { .. } => StatusCode::FORBIDDEN,
        StartError::TooLarge { .. } => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        StartError::Exhausted { .. } => StatusCode::SERVICE_UNAVAILABLE,
    };
    Refusal::failed(status, Outcome::SpawnFailed, error.to_string())
}
