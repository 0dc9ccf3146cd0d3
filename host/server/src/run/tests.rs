//! The request path with real programs: scripts in a folder, asked without a listener.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use warmbin_store::{Filter, Order, Page, Record};

use super::{ClientBody, Connection, answer};
use crate::config::Config;
use crate::config::layer::Layer;
use crate::host::Host;

/// A host with one folder of scripts.
struct Bench {
    host: Arc<Host>,
    _folder: tempfile::TempDir,
}

/// An answer; the body is `None` if it broke off.
struct Answered {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Option<Bytes>,
}

impl Answered {
    fn text(&self) -> Option<&str> {
        self.body
            .as_deref()
            .map(|bytes| std::str::from_utf8(bytes).unwrap())
    }
}

impl Bench {
    async fn new(settings: &str, scripts: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        for (name, text) in scripts {
            let path = bin.join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::write(bin.join("source.txt"), "secret").unwrap();
        let text = format!(
            "data = '{0}/data'\n{settings}\n[[directory]]\nurl = '/c'\npath = '{0}/bin'\nindex = ['hello']",
            folder.path().display()
        );
        let layer: Layer = toml::from_str(&text).unwrap();
        let config = Config::resolve(layer, Layer::default(), Layer::default()).unwrap();
        Self {
            host: Host::open(config).await.unwrap(),
            _folder: folder,
        }
    }

    async fn ask(&self, method: Method, target: &str, body: &'static str) -> Answered {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("host", "localhost")
            .body(ClientBody::new(
                Full::new(Bytes::from_static(body.as_bytes())),
                false,
            ))
            .unwrap();
        let here = "127.0.0.1:80".parse().unwrap();
        let response = answer(
            &self.host,
            &Connection {
                peer: here,
                local: here,
            },
            request,
        )
        .await;
        let (head, body) = response.into_parts();
        let body = body.collect().await.ok().map(http_body_util::Collected::to_bytes);
        Answered {
            status: head.status,
            headers: head.headers,
            body,
        }
    }

    async fn get(&self, target: &str) -> Answered {
        self.ask(Method::GET, target, "").await
    }

    /// Every record, oldest first, once all runs are over.
    async fn records(&self) -> Vec<Record> {
        self.host.runs.close();
        self.host.runs.wait().await;
        self.host.recorder.flush().await;
        let page = Page {
            limit: 1000,
            cursor: None,
            order: Order::StartedAt,
        };
        let mut records = self
            .host
            .store
            .requests(&Filter::default(), &page)
            .await
            .unwrap()
            .items;
        records.sort_by(|a, b| a.id.cmp(&b.id));
        records
    }
}

const PLAIN: &str = "printf 'Content-Type: text/plain\\n\\n'";

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_whole_or_breaks_off_and_its_record_says_why() {
    let length = |body: &str| format!("printf 'Content-Type: text/plain\\nContent-Length: 5\\n\\n{body}'");
    let scripts = [
        ("good", format!("{PLAIN}; printf whole")),
        ("exact", length("12345")),
        ("long", length("1234567")),
        ("short", length("123")),
        ("failed", format!("{PLAIN}; printf whole; exit 3")),
        ("killed", format!("{PLAIN}; printf half; kill -9 $$")),
        ("flood", format!("{PLAIN}; head -c 2000 /dev/zero")),
        ("stuck", format!("{PLAIN}; printf half; exec sleep 60")),
        ("mute", "exit 0".to_owned()),
        ("mute3", "exit 3".to_owned()),
        ("garbage", "echo no header".to_owned()),
        ("hang", "exec sleep 60".to_owned()),
        ("nothing", "printf 'Status: 204\\n\\nbody'".to_owned()),
    ];
    let scripts: Vec<(&str, &str)> = scripts
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let bench = Bench::new("limits = { wall = '1s', response_body = '1000' }", &scripts).await;
    let cases = [
        ("good", 200, Some("whole"), "ok"),
        ("exact", 200, Some("12345"), "ok"),
        ("long", 200, Some("12345"), "ok"),
        ("short", 200, None, "bad_output"),
        ("failed", 200, Some("whole"), "exit_nonzero"),
        ("killed", 200, None, "signalled"),
        ("flood", 200, None, "output_limit"),
        ("stuck", 200, None, "timeout"),
        ("mute", 502, None, "bad_output"),
        ("mute3", 502, None, "exit_nonzero"),
        ("garbage", 502, None, "bad_output"),
        ("hang", 504, None, "timeout"),
        ("nothing", 204, Some(""), "ok"),
    ];
    for (name, status, body, _) in cases {
        let answered = bench.get(&format!("/c/{name}")).await;
        assert_eq!(answered.status, status, "{name}");
        if status < 500 {
            assert_eq!(answered.text(), body, "{name}");
        }
    }
    let records = bench.records().await;
    assert_eq!(records.len(), cases.len());
    for (record, (name, status, _, outcome)) in records.iter().zip(cases) {
        assert_eq!(record.program, format!("c/{name}"));
        assert_eq!(
            (record.status, record.outcome.as_str()),
            (status, outcome),
            "{name}: {:?}",
            record.error
        );
        assert_eq!(
            record.error.is_none(),
            outcome == "ok",
            "{name}: {:?}",
            record.error
        );
        let phases = record.queue_us + record.start_us + record.head_us;
        assert!(phases <= record.total_us, "{record:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_ends_the_program_and_is_recorded() {
    let bench = Bench::new("", &[("endless", "printf 'Content-Type: a/b\\n\\n'; exec yes")]).await;
    let request = Request::get("/c/endless")
        .header("host", "localhost")
        .body(None)
        .unwrap();
    let here = "127.0.0.1:80".parse().unwrap();
    let response = answer(
        &bench.host,
        &Connection {
            peer: here,
            local: here,
        },
        request,
    )
    .await;
    assert_eq!(response.status(), 200);
    drop(response);
    let head = bench.ask(Method::HEAD, "/c/endless", "").await;
    assert_eq!((head.status, head.text()), (StatusCode::OK, Some("")));
    let records = bench.records().await;
    let outcomes: Vec<_> = records.iter().map(|record| record.outcome.as_str()).collect();
    assert_eq!(
        outcomes,
        ["client_gone", "ok"],
        "a HEAD is answered without the rest"
    );
    assert!(
        records
            .iter()
            .all(|record| record.signal.is_some() && record.cpu_us.is_some()),
        "{records:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_programs_is_searched_the_classic_way() {
    let show = format!("{PLAIN}; printf '%s|%s' \"$SCRIPT_NAME\" \"$PATH_INFO\"");
    let bench = Bench::new("", &[("hello", &show), (".hidden", &show)]).await;
    for (target, status, expected) in [
        ("/c/hello", 200, "/c/hello|"),
        ("/c/hello/a%20b/", 200, "/c/hello|/a b/"),
        ("/c//hello//x", 200, "/c/hello|//x"),
        ("/c/", 200, "/c/hello|"),
        ("/c", 301, ""),
        ("/c/none", 404, ""),
        ("/c/.hidden", 404, ""),
        ("/c/source.txt", 403, ""),
        ("/c/../../etc/passwd", 400, ""),
        ("/c/hello%2Fx", 404, ""),
        ("/elsewhere", 404, ""),
    ] {
        let answered = bench.get(target).await;
        assert_eq!(answered.status, status, "{target}");
        let text = answered.text().unwrap();
        if status == 200 {
            assert_eq!(text, expected, "{target}");
        } else {
            assert!(!text.contains("secret"), "{target}: {text}");
        }
        assert!(answered.headers.contains_key("x-request-id"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_redirect_is_answered_in_place_and_a_circle_is_cut() {
    let show =
        format!("{PLAIN}; printf '%s %s %s' \"$REQUEST_METHOD\" \"$QUERY_STRING\" \"$CONTENT_LENGTH\"; cat");
    let bench = Bench::new(
        "",
        &[
            ("to", "printf 'Location: /c/show?q=1\\n\\n'"),
            ("circle", "printf 'Location: /c/circle\\n\\n'"),
            ("show", &show),
        ],
    )
    .await;
    let answered = bench.ask(Method::POST, "/c/to", "a body").await;
    assert_eq!(
        (answered.status, answered.text()),
        (StatusCode::OK, Some("GET q=1 "))
    );
    assert_eq!(bench.get("/c/circle").await.status, 500);
    assert_eq!(bench.records().await.len(), 2 + 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_the_queue_requests_are_turned_away_and_asked_to_come_back() {
    let wait = format!("cat > /dev/null; {PLAIN}; printf done");
    let bench = Bench::new(
        "limits = { concurrency = 1, queue = 1, request_body = '10' }",
        &[("wait", &wait)],
    )
    .await;
    // A body that does not end keeps the first request running for as long as the test wants.
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<http_body::Frame<Bytes>, std::io::Error>>(1);
    let body = http_body_util::StreamBody::new(tokio_stream::wrappers::ReceiverStream::new(receiver));
    let body = Sized5(body);
    let request = Request::post("/c/wait")
        .header("host", "h")
        .body(ClientBody::new(body, false))
        .unwrap();
    let here: std::net::SocketAddr = "127.0.0.1:80".parse().unwrap();
    let connection = Connection {
        peer: here,
        local: here,
    };
    let first = tokio::spawn({
        let host = Arc::clone(&bench.host);
        async move {
            answer(&host, &connection, request)
                .await
                .into_body()
                .collect()
                .await
                .unwrap()
                .to_bytes()
        }
    });
    let until = async |running: usize| {
        while bench.host.in_flight.load(std::sync::atomic::Ordering::Relaxed) < running as u64
            || bench.host.executors.running_count() < 1
        {
            tokio::task::yield_now().await;
        }
    };
    until(1).await;
    let mut second = Box::pin(bench.get("/c/wait"));
    assert!(futures_util::future::poll_immediate(&mut second).await.is_none());
    // The folder is searched on another thread; the second request waits once it is in flight.
    while bench.host.in_flight.load(std::sync::atomic::Ordering::Relaxed) < 2 {
        assert!(futures_util::future::poll_immediate(&mut second).await.is_none());
        tokio::task::yield_now().await;
    }
    let third = bench.get("/c/wait").await;
    assert_eq!(third.status, 503);
    assert!(third.headers.contains_key("retry-after"));
    sender
        .send(Ok(http_body::Frame::data(Bytes::from_static(b"12345"))))
        .await
        .unwrap();
    drop(sender);
    assert_eq!(first.await.unwrap(), "done");
    assert_eq!(second.await.text(), Some("done"));
    assert_eq!(
        bench.ask(Method::POST, "/c/wait", "more than ten").await.status,
        413
    );
    let outcomes: Vec<_> = bench
        .records()
        .await
        .into_iter()
        .map(|record| record.outcome)
        .collect();
    assert_eq!(outcomes, ["ok", "ok", "overloaded", "ok"]);
}

/// A body that says it has five bytes.
struct Sized5<B>(B);

impl<B: http_body::Body + Unpin> http_body::Body for Sized5<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<B::Data>, B::Error>>> {
        std::pin::Pin::new(&mut self.0).poll_frame(cx)
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(5)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_keeps_the_environment_that_the_program_was_given() {
    let script = format!("{PLAIN}; exec /usr/bin/env");
    let bench = Bench::new("", &[("env", script.as_str())]).await;
    let answer = bench.get("/c/env/extra?a=b").await;
    let record = bench.records().await.pop().unwrap();
    let (_, detail) = bench.host.store.request(&record.id).await.unwrap().unwrap();
    let kept: Vec<String> = detail
        .environment
        .iter()
        .map(|field| format!("{}={}", field.name, field.value))
        .collect();
    assert!(kept.contains(&"PATH_INFO=/extra".to_owned()), "{kept:?}");
    let told: Vec<&str> = answer.text().unwrap().lines().collect();
    for line in &kept {
        assert!(told.contains(&line.as_str()), "{line} is not among {told:?}");
    }
}
