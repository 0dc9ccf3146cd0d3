//! The binary: commands, configuration, listeners, the request path, the API.
#![forbid(unsafe_code)]

pub mod admin;
pub mod admin_token;
pub mod catalog;
pub mod cli;
pub mod config;
pub mod data_lock;
pub mod documents;
pub mod host;
pub mod listen;
pub mod programs;
pub mod run;
