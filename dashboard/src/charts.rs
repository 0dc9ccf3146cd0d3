//! Charts as SVG, computed here, drawn by the browser without script. Geometry in Rust, markup in templates (which
//! escape), colour and dashes in the style sheet by mode.

pub(crate) mod distribution;
pub(crate) mod scale;
pub(crate) mod sparkline;
pub(crate) mod waterfall;
