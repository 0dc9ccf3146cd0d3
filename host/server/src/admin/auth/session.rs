//! Sessions: a random cookie in the browser, its hash in the store.

use std::fs::File;
use std::io::Read;

use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderValue};
use sha2::{Digest, Sha256};
use warmbin_store::Session;

use super::super::problem::Problem;
use super::super::state::Admin;
use crate::catalog::declared::hex;
use crate::host::{SESSION_COOKIE, now_us};

/// A session ends this long after the login, whatever happens.
const LIFETIME_SECONDS: i64 = 7 * 24 * 60 * 60;

/// Starts a session and returns the `Set-Cookie` that carries it.
pub(super) async fn start(
    admin: &Admin,
    name: &str,
    role: &str,
    secure: bool,
) -> Result<HeaderValue, Problem> {
    let id = random_id().map_err(|error| Problem::internal(&error))?;
    let now = now_us();
    let session = Session {
        // SECURITY: whoever reads the database learns no cookie that works.
        id_hash: hash(&id),
        name: name.to_owned(),
        role: role.to_owned(),
        created_at: now,
        used_at: now,
        expires_at: now.saturating_add(LIFETIME_SECONDS * 1_000_000),
    };
    admin.host.store.add_session(&session).await?;
    cookie(&id, LIFETIME_SECONDS, secure)
}

/// The live session that the cookies name.
pub(super) async fn of(admin: &Admin, headers: &HeaderMap) -> Result<Option<Session>, Problem> {
    match presented(headers) {
        Some(id) => Ok(admin.host.store.session(&hash(id), now_us()).await?),
        None => Ok(None),
    }
}

/// Ends the session that the cookies name and returns the `Set-Cookie` that clears it.
pub(super) async fn end(admin: &Admin, headers: &HeaderMap, secure: bool) -> Result<HeaderValue, Problem> {
    if let Some(id) = presented(headers) {
        admin.host.store.remove_session(&hash(id)).await?;
    }
    cookie("", 0, secure)
}

/// The session cookie's value, if it has the form of one.
fn presented(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == SESSION_COOKIE)
        .map(|(_, id)| id)
        .filter(|id| id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// 256 random bits in hexadecimal.
fn random_id() -> std::io::Result<String> {
    let mut random = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(hex(&random))
}

fn hash(id: &str) -> String {
    hex(&Sha256::digest(id.as_bytes()))
}

fn cookie(value: &str, max_age: i64, secure: bool) -> Result<HeaderValue, Problem> {
    // SECURITY: HttpOnly keeps it from scripts, SameSite=Lax from other sites' forms.
    let secure = if secure { "; Secure" } else { "" };
    HeaderValue::try_from(format!(
        "{SESSION_COOKIE}={value}; HttpOnly; SameSite=Lax; Path=/; Max-Age={max_age}{secure}"
    ))
    .map_err(|error| Problem::internal(&error))
}

/// A response with the cookie added.
pub(super) fn with_cookie(
    mut response: axum::response::Response,
    cookie: HeaderValue,
) -> axum::response::Response {
    response.headers_mut().append(SET_COOKIE, cookie);
    response
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::{cookie, presented};

    #[test]
    fn a_session_cookie_is_found_among_others_and_must_have_the_form_of_one() {
        let id = "0123456789abcdef".repeat(4);
        for (header, expected) in [
            (format!("a=b; warmbin_session={id}; c=d"), Some(id.as_str())),
            (format!("warmbin_session={id}"), Some(id.as_str())),
            (format!("xwarmbin_session={id}"), None),
            ("warmbin_session=short".to_owned(), None),
            ("warmbin_session=".to_owned(), None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("cookie", HeaderValue::try_from(&header).unwrap());
            assert_eq!(presented(&headers), expected, "{header}");
        }
    }

    #[test]
    fn the_cookie_is_strict_and_secure_where_it_can_be() {
        let plain = cookie("x", 60, false).unwrap();
        assert_eq!(
            plain,
            "warmbin_session=x; HttpOnly; SameSite=Lax; Path=/; Max-Age=60"
        );
        assert!(
            cookie("x", 60, true)
                .unwrap()
                .to_str()
                .unwrap()
                .ends_with("; Secure")
        );
    }
}
