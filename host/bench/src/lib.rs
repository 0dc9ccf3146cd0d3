//! The load generator and the experiments: the place that is kept for them. It holds no code yet.
#![forbid(unsafe_code)]
