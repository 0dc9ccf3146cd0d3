//! All modes agree: the same request gives the same bytes, and no request sees another.

use anyhow::Result;
use futures_util::future::try_join_all;
use warmbin_tests::{MODES, TestHost, exchange};

/// Variables that differ from request to request.
const VOLATILE: [&str; 2] = ["REMOTE_PORT=", "UNIQUE_ID="];

/// A request without its `Warmbin-Mode`, and lines its environment must hold.
const REQUESTS: [(&str, &[&str]); 9] = [
    (
        "GET /cgi-bin/printenv HTTP/1.1\r\nHost: Example.COM:8081\r\n\r\n",
        &[
            "GATEWAY_INTERFACE=CGI/1.1",
            "QUERY_STRING=",
            "REQUEST_METHOD=GET",
            "SCRIPT_NAME=/cgi-bin/printenv",
            "SERVER_NAME=example.com",
            "FLAVOUR=set by the operator",
        ],
    ),
    (
        "GET /cgi-bin/printenv/a%20b%3Fc//d/?x=%20&y=1+2 HTTP/1.1\r\nHost: h\r\n\r\n",
        &["PATH_INFO=/a b?c//d/", "QUERY_STRING=x=%20&y=1+2"],
    ),
    (
        "GET /cgi-bin/printenv/ HTTP/1.0\r\n\r\n",
        &["PATH_INFO=/", "SERVER_PROTOCOL=HTTP/1.0"],
    ),
    (
        "BREW /cgi-bin/printenv HTTP/1.1\r\nHost: h\r\n\r\n",
        &["REQUEST_METHOD=BREW"],
    ),
    (
        "POST /cgi-bin/printenv HTTP/1.1\r\nHost: h\r\nContent-Type: a/b; c=d\r\nContent-Length: 3\r\n\r\nxyz",
        &["CONTENT_LENGTH=3", "CONTENT_TYPE=a/b; c=d"],
    ),
    (
        "POST /cgi-bin/printenv HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\
         5\r\nhello\r\n00B;x=y\r\n, and world\r\n0\r\n\r\n",
        &["CONTENT_LENGTH=16"],
    ),
    (
        "GET /cgi-bin/printenv HTTP/1.1\r\nHost: h\r\nAccept: a/b\r\nAccept: c/d\r\nCookie: a=1\r\nCookie: b=2\r\n\
         X-Empty:\r\nX-Spaced:   a  b \t\r\n\r\n",
        &[
            "HTTP_ACCEPT=a/b, c/d",
            "HTTP_COOKIE=a=1; b=2",
            "HTTP_X_EMPTY=",
            "HTTP_X_SPACED=a  b",
        ],
    ),
    (
        // A session of the host's own is nobody else's business; the program's own cookies are.
        "GET /cgi-bin/printenv HTTP/1.1\r\nHost: h\r\nCookie: a=1; warmbin_session=secret; b=2\r\n\r\n",
        &["HTTP_COOKIE=a=1; b=2"],
    ),
    (
        "GET /cgi-bin/printenv HTTP/1.1\r\nHost: h\r\nProxy: http://evil\r\nFoo_Bar: evil\r\nFoo-Bar: good\r\n\
         Authorization: Basic c2VjcmV0\r\nX.Y: 1\r\n\r\n",
        &["HTTP_FOO_BAR=good"],
    ),
];

/// Never in any environment: httpoxy, credentials, the host's own cookie, the header that picks the mode.
const FORBIDDEN: [&str; 7] = [
    "HTTP_PROXY=",
    "HTTP_AUTHORIZATION=",
    "REMOTE_USER=",
    "warmbin_session",
    "HTTP_X_Y=",
    "HTTP_CONTENT_LENGTH=",
    "HTTP_WARMBIN_MODE=",
];

#[tokio::test]
async fn printenv_prints_the_same_bytes_in_every_mode() -> Result<()> {
    let host = TestHost::builder()?
        .guest("printenv", "env = { FLAVOUR = \"set by the operator\" }")
        .start()
        .await?;
    for (request, expected) in REQUESTS {
        let mut first: Option<Vec<u8>> = None;
        for mode in MODES {
            let (line, rest) = request.split_once("\r\n").expect("a request has lines");
            let request = format!("{line}\r\nWarmbin-Mode: {mode}\r\nConnection: close\r\n{rest}");
            let answer = exchange(host.programs(), request.as_bytes()).await?;
            assert_eq!(answer.status, 200, "{mode}: {request}\n{}", answer.text());
            assert!(answer.complete, "{mode}: {request}");
            assert_eq!(answer.header("content-type"), Some("text/plain"));
            assert_eq!(answer.header("warmbin-mode"), Some(mode));

            let text = answer.text();
            for line in expected {
                assert!(
                    text.lines().any(|known| known == *line),
                    "{mode} lacks {line}:\n{text}"
                );
            }
            for word in FORBIDDEN {
                assert!(!text.contains(word), "{mode} shows {word}:\n{text}");
            }
            let steady = without_volatile(&answer.body);
            match &first {
                None => first = Some(steady),
                Some(first) => assert_eq!(
                    String::from_utf8_lossy(first),
                    String::from_utf8_lossy(&steady),
                    "{mode} disagrees with {}: {request}",
                    MODES[0]
                ),
            }
        }
    }
    Ok(())
}

fn without_volatile(body: &[u8]) -> Vec<u8> {
    body.split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !VOLATILE.iter().any(|name| line.starts_with(name.as_bytes())))
        .flatten()
        .copied()
        .collect()
}

#[tokio::test]
async fn counter_answers_one_every_time_in_every_mode() -> Result<()> {
    let host = TestHost::builder()?.guest("counter", "").start().await?;
    for mode in MODES {
        // Ten rounds of eight at once: pooled instances are taken, used and replaced many times over.
        for _ in 0..10 {
            let answers = try_join_all(
                (0..8).map(|_| async { host.get_in(mode, "/cgi-bin/counter").send().await?.text().await }),
            );
            for answer in answers.await? {
                assert_eq!(answer, "1\n", "{mode}");
            }
        }
    }
    Ok(())
}
