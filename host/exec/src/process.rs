//! Native programs: operating-system processes.
//!
//! A run goes through these files in order: `fork` takes the invocation, `spawn` makes a child with pipes,
//! `confine` limits it, `supervise` stays with it to the end with the help of `feed` (its input), `stdout`, `stderr`
//! and `child` (its end and its group), and `verdict` says what that end means. `sys` has the system calls.

mod child;
mod confine;
mod feed;
mod fork;
mod progress;
mod spawn;
mod stderr;
mod stdout;
mod supervise;
mod sys;
mod verdict;

#[cfg(test)]
mod tests;

pub use fork::Fork;
