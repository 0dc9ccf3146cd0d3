//! The admin token: given by the operator, or generated once and kept in the data folder.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::catalog::declared::hex;
use crate::config::Secret;

/// The admin token. The text is kept only if it was generated, to be shown to whoever started the host.
pub struct AdminToken {
    hash: [u8; 32],
    generated: Option<Generated>,
}

/// A token that this host made.
#[derive(Clone)]
pub struct Generated {
    /// The token.
    pub token: String,
    /// Where it is kept.
    pub path: PathBuf,
}

impl AdminToken {
    /// The configured token, or that of `DATA/admin-token`, which is made if need be.
    pub fn open(configured: Option<&Secret>, data: &Path) -> anyhow::Result<Self> {
        if let Some(Secret(token)) = configured {
            return Ok(Self {
                hash: hash(token),
                generated: None,
            });
        }
        let path = data.join("admin-token");
        let token = match std::fs::read_to_string(&path) {
            Ok(text) if text.trim().len() >= 16 => text.trim().to_owned(),
            _ => generate(&path).with_context(|| format!("cannot keep a token in {}", path.display()))?,
        };
        Ok(Self {
            hash: hash(&token),
            generated: Some(Generated { token, path }),
        })
    }

    /// Whether `presented` is the token; nothing at all never is. Takes the same time whatever is presented.
    pub fn is(&self, presented: &str) -> bool {
        !presented.is_empty() && bool::from(self.hash.ct_eq(&hash(presented)))
    }

    /// The token, if this host made it.
    pub fn generated(&self) -> Option<&Generated> {
        self.generated.as_ref()
    }
}

/// The token of an `Authorization: Bearer` header. Other schemes are a proxy's business and count as none.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

impl std::fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AdminToken(…)")
    }
}

impl std::fmt::Debug for Generated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Generated")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn generate(path: &Path) -> std::io::Result<String> {
    let mut random = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let token = hex(&random);
    // SECURITY: 0600 from the first moment, and never through a link that somebody else put there.
    let _ = std::fs::remove_file(path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(token.as_bytes())?;
    file.write_all(b"\n")?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::AdminToken;
    use crate::config::Secret;

    #[test]
    fn a_generated_token_is_private_and_survives_a_restart() {
        let data = tempfile::tempdir().unwrap();
        let first = AdminToken::open(None, data.path()).unwrap();
        let token = first.generated().unwrap().token.clone();
        assert!(first.is(&token) && !first.is("") && !first.is(&token[1..]));
        let mode = data
            .path()
            .join("admin-token")
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(AdminToken::open(None, data.path()).unwrap().is(&token));
    }

    #[test]
    fn a_configured_token_is_not_written_anywhere() {
        let data = tempfile::tempdir().unwrap();
        let token = AdminToken::open(Some(&Secret("0123456789abcdef".to_owned())), data.path()).unwrap();
        assert!(token.is("0123456789abcdef") && token.generated().is_none());
        assert_eq!(data.path().read_dir().unwrap().count(), 0);
    }
}
