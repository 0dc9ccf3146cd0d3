//! Which mode a request is run in: the program's own, or the one that `Warmbin-Mode` names, where that is
//! allowed.

use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use warmbin_exec::{Executors, Mode};

use super::client::{Connection, was_forwarded};
use super::refuse::Refusal;
use crate::admin_token::{AdminToken, bearer};
use crate::catalog::Entry;
use crate::config::ModeOverride;

/// The request header, and the response header that says what was used.
pub const HEADER: &str = "warmbin-mode";

/// Takes the wish for a mode out of the request: it is not for the program. `None` if there is none.
pub fn take_wish(
    headers: &mut HeaderMap,
    connection: &Connection,
    policy: ModeOverride,
    token: &AdminToken,
) -> Result<Option<Mode>, Refusal> {
    let mut wishes = headers.get_all(HEADER).iter();
    let Some(wish) = wishes.next().cloned() else {
        return Ok(None);
    };
    let repeated = wishes.next().is_some();
    headers.remove(HEADER);
    let allowed = match policy {
        ModeOverride::Never => false,
        ModeOverride::Loopback => {
            connection.peer.ip().to_canonical().is_loopback() && !was_forwarded(headers)
        }
        ModeOverride::Authenticated => take_token(headers, token),
    };
    if !allowed {
        let detail = match policy {
            ModeOverride::Never => "This host does not let requests pick a mode.",
            ModeOverride::Loopback => "Only direct requests from the host itself may pick a mode.",
            ModeOverride::Authenticated => "Picking a mode needs a token: send Authorization: Bearer TOKEN.",
        };
        return Err(Refusal::new(StatusCode::FORBIDDEN, detail).as_problem());
    }
    if repeated {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "Send Warmbin-Mode once.").as_problem());
    }
    let word = String::from_utf8_lossy(wish.as_bytes());
    word.parse().map(Some).map_err(|error| {
        Refusal::new(StatusCode::BAD_REQUEST, format!("Warmbin-Mode: {error}.")).as_problem()
    })
}

/// Whether the request carries the admin token, which is then taken out of it.
fn take_token(headers: &mut HeaderMap, token: &AdminToken) -> bool {
    let is_it = bearer(headers).is_some_and(|presented| token.is(presented));
    if is_it {
        // SECURITY: a program that may see Authorization must not come to hold the admin token.
        headers.remove(AUTHORIZATION);
    }
    is_it
}

/// The mode for `entry`: the one wished for, or its default.
pub fn choose(entry: &Entry, wish: Option<Mode>) -> Result<Mode, Refusal> {
    let Some(mode) = wish else {
        return Ok(entry.default_mode);
    };
    if entry.runs(mode) {
        return Ok(mode);
    }
    let why = if Executors::AVAILABLE.contains(&mode) {
        format!("it has no {} artifact", mode.family())
    } else {
        "this host does not run that mode".to_owned()
    };
    let modes: Vec<&str> = entry.modes().into_iter().map(Mode::as_str).collect();
    let detail = format!(
        "{} cannot be run in mode {mode}: {why}. It runs in: {}.",
        entry.name,
        modes.join(", ")
    );
    Err(Refusal::new(StatusCode::CONFLICT, detail).as_problem())
}

/// The mode for a program that was not asked for by name: the wish if it can be met, or the program's default.
pub fn wished_or_default(entry: &Entry, wish: Option<Mode>) -> Mode {
    wish.filter(|mode| entry.runs(*mode))
        .unwrap_or(entry.default_mode)
}

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;
    use http::{HeaderMap, HeaderName, HeaderValue};
    use warmbin_exec::Mode;

    use super::{Connection, HEADER, take_wish};
    use crate::admin_token::AdminToken;
    use crate::config::{ModeOverride, Secret};

    const TOKEN: &str = "0123456789abcdef";

    fn wish(
        policy: ModeOverride,
        peer: &str,
        headers: &[(&'static str, &'static str)],
    ) -> (Result<Option<Mode>, u16>, HeaderMap) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let token = AdminToken::open(Some(&Secret(TOKEN.to_owned())), "/nowhere".as_ref()).unwrap();
        let connection = Connection {
            peer: peer.parse().unwrap(),
            local: "127.0.0.1:80".parse().unwrap(),
        };
        let outcome =
            take_wish(&mut map, &connection, policy, &token).map_err(|refusal| refusal.status.as_u16());
        (outcome, map)
    }

    #[test]
    fn a_wish_counts_only_where_it_is_allowed() {
        use ModeOverride::{Authenticated, Loopback, Never};
        let bearer = ("authorization", "Bearer 0123456789abcdef");
        let fork = (HEADER, "fork");
        for (policy, peer, headers, expected) in [
            (Never, "127.0.0.1:1", &[][..], Ok(None)),
            (Never, "127.0.0.1:1", &[fork], Err(403)),
            (Loopback, "127.0.0.1:1", &[fork], Ok(Some(Mode::Fork))),
            (Loopback, "[::ffff:127.0.0.1]:1", &[fork], Ok(Some(Mode::Fork))),
            (Loopback, "192.0.2.1:1", &[fork], Err(403)),
            (
                Loopback,
                "127.0.0.1:1",
                &[fork, ("x-forwarded-for", "127.0.0.1")],
                Err(403),
            ),
            (Loopback, "127.0.0.1:1", &[(HEADER, "quick")], Err(400)),
            (Loopback, "127.0.0.1:1", &[fork, fork], Err(400)),
            (Authenticated, "127.0.0.1:1", &[fork], Err(403)),
            (
                Authenticated,
                "192.0.2.1:1",
                &[fork, bearer],
                Ok(Some(Mode::Fork)),
            ),
        ] {
            let (outcome, left) = wish(policy, peer, headers);
            assert_eq!(outcome, expected, "{policy:?} {peer} {headers:?}");
            assert!(!left.contains_key(HEADER));
        }
    }

    #[test]
    fn the_admin_token_is_not_passed_on() {
        for value in ["Bearer 0123456789abcdef", "bearer  0123456789abcdef"] {
            let headers = [(HEADER, "fork"), ("authorization", value)];
            let (outcome, left) = wish(ModeOverride::Authenticated, "192.0.2.1:1", &headers);
            assert!(outcome.is_ok() && !left.contains_key(AUTHORIZATION), "{value}");
        }
    }
}
