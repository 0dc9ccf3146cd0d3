//! Native programs: operating-system processes.

mod fork;

pub use fork::Fork;
