//! The command line.

mod check;
mod serve;
