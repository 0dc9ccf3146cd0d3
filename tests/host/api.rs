//! What is served under `/api/v1`, and beside it.

mod access;
mod load;
mod programs;
