//! Where a value came from, for `warmbin check --show` and the settings page.

use std::fmt;

/// Where a value came from; later ones win.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// The configuration file.
    File,
    /// This environment variable.
    Environment(String),
    /// This flag of the command line.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File => f.write_str("file"),
            Self::Environment(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// One effective value, as shown to an operator. Secrets are masked before they get here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key, dotted.
    pub key: String,
    /// The value in words.
    pub value: String,
    /// Where it came from.
    pub origin: Origin,
}
