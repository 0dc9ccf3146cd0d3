//! What is served on the programs listener.

mod agreement;
mod connection;
mod directory;
mod failures;
mod git;
mod limits;
mod modes;
mod streaming;
