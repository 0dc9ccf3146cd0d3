//! Who is believed about what: who may pick a mode, and which proxies speak for their clients.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Who may pick a mode with `Warmbin-Mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModeOverride {
    /// Clients on this machine that no proxy stands in front of.
    #[default]
    Loopback,
    /// Clients that present the admin token.
    Authenticated,
    /// Nobody.
    Never,
}

impl fmt::Display for ModeOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "loopback",
            Self::Authenticated => "authenticated",
            Self::Never => "never",
        })
    }
}

impl FromStr for ModeOverride {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        [Self::Loopback, Self::Authenticated, Self::Never]
            .into_iter()
            .find(|known| known.to_string() == word)
            .ok_or_else(|| format!("{word:?} is none of loopback, authenticated, never"))
    }
}
