//! Configuration: defaults < file < environment < flags, every key checked before anything is bound.

pub mod program;

pub use program::ProgramSettings;
