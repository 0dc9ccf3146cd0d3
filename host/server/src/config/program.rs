//! The settings of one program: a `[[program]]` of the file, or the `settings` JSON of an upload. Unknown keys are errors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What an operator may set for one program. Also the shape of an upload's `settings` part (JSON).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramSettings {
    /// The path it is served under; `/cgi-bin/NAME` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// The mode used when a request names none; `wasm-warm` if there is a module, else `fork`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Arguments after `argv[0]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables added to its environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    // limits, pool, pass_authorization, encoded_slashes, path_info, local_redirect, … follow
}
