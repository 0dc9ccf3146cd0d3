//! The words that filters accept. The executing crate owns what they mean; a test of the server keeps both lists equal.

/// Every mode.
pub const MODES: [&str; 7] = [
    "fork",
    "forkd",
    "prefork",
    "persistent",
    "wasm-cold",
    "wasm-warm",
    "wasm-parked",
];

/// Every outcome.
pub const OUTCOMES: [&str; 12] = [
    "ok",
    "client_gone",
    "timeout",
    "cpu_limit",
    "memory_limit",
    "output_limit",
    "exit_nonzero",
    "signalled",
    "trap",
    "bad_output",
    "spawn_failed",
    "overloaded",
];
