//! Adding programs: what arrives is detected, validated, compiled, stored and activated, in that order,
//! whether it came by the API, a form, the command line or the configuration file.
//!
//! Owns: what is accepted as an artifact, the files below `DATA/programs`. Must not know: HTTP, pages, the
//! catalog.

pub mod detect;
pub mod files;
pub mod ingest;
pub mod remove;
pub mod validate;
