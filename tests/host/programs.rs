//! What is served on the programs listener.

mod agreement;
mod connection;
mod directory;
mod failures;
mod limits;
mod modes;
mod streaming;
