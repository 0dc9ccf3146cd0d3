//! Adding programs: what arrives is detected, validated, compiled, stored and activated, in that order, whether it came by the
//! API, a form, the command line or the configuration file.

pub mod ingest;
