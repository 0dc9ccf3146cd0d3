use crate::session::Session;
use crate::store::Store;

const HOUR: i64 = 3_600_000_000;
const NOW: i64 = 1_700_000_000_000_000;

fn session(id_hash: &str) -> Session {
    Session {
        id_hash: id_hash.to_owned(),
        name: "admin".to_owned(),
        role: "operator".to_owned(),
        created_at: NOW,
        used_at: NOW,
        expires_at: NOW + 24 * HOUR,
    }
}

pub(super) async fn a_session_ends_at_its_time_or_when_idle(store: &dyn Store) {
    store.add_session(&session("a")).await.unwrap();
    assert_eq!(store.session("a", NOW + 1).await.unwrap(), Some(session("a")));
    assert_eq!(store.session("b", NOW + 1).await.unwrap(), None);
    assert_eq!(store.session("a", NOW + 12 * HOUR).await.unwrap(), None, "idle");

    let brief = Session {
        expires_at: NOW + HOUR,
        ..session("brief")
    };
    store.add_session(&brief).await.unwrap();
    assert!(store.session("brief", NOW + HOUR - 1).await.unwrap().is_some());
    assert_eq!(store.session("brief", NOW + HOUR).await.unwrap(), None, "expired");
}

pub(super) async fn use_keeps_a_session_alive(store: &dyn Store) {
    store.add_session(&session("a")).await.unwrap();
    // Noted once a minute: the first does not count, the second does.
    store.session("a", NOW + 1).await.unwrap();
    store.session("a", NOW + 11 * HOUR).await.unwrap();
    let found = store.session("a", NOW + 22 * HOUR).await.unwrap().unwrap();
    assert_eq!(found.used_at, NOW + 11 * HOUR);
    assert_eq!(store.session("a", NOW + 24 * HOUR).await.unwrap(), None);

    // A login clears away what is over, and only that.
    let later = Session {
        created_at: NOW + 23 * HOUR,
        used_at: NOW + 23 * HOUR,
        ..session("b")
    };
    store.add_session(&later).await.unwrap();
    assert!(store.session("a", NOW + 23 * HOUR).await.unwrap().is_some());
}

pub(super) async fn a_removed_session_is_gone(store: &dyn Store) {
    store.add_session(&session("a")).await.unwrap();
    store.add_session(&session("b")).await.unwrap();
    store.remove_session("a").await.unwrap();
    store.remove_session("never").await.unwrap();
    assert_eq!(store.session("a", NOW).await.unwrap(), None);
    assert!(store.session("b", NOW).await.unwrap().is_some());
}
