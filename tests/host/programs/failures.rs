//! Programs that fail: what the client sees, and what is remembered.

use anyhow::Result;
use warmbin_tests::{MODES, TestHost, exchange};

/// Way, status, whether the answer is complete, outcome natively and as a module.
const WAYS: [(&str, u16, bool, &str, &str); 11] = [
    ("exit", 502, true, "exit_nonzero", "exit_nonzero"),
    ("late", 200, true, "exit_nonzero", "exit_nonzero"),
    ("abort", 502, true, "signalled", "trap"),
    ("panic", 502, true, "signalled", "trap"),
    ("empty", 502, true, "bad_output", "bad_output"),
    ("nohead", 502, true, "bad_output", "bad_output"),
    ("badhead", 502, true, "bad_output", "bad_output"),
    ("hugehead", 502, true, "bad_output", "bad_output"),
    ("halfway", 200, false, "signalled", "trap"),
    ("short", 200, false, "bad_output", "bad_output"),
    ("flood", 200, true, "ok", "ok"),
];

#[tokio::test]
async fn every_way_to_fail_has_its_status_and_outcome_in_every_mode() -> Result<()> {
    let host = TestHost::builder()?.guest("fail", "").start().await?;
    let mut wrong = Vec::new();
    for mode in MODES {
        for (how, status, complete, native, wasm) in WAYS {
            let request = format!(
                "GET /cgi-bin/fail?how={how} HTTP/1.1\r\nHost: h\r\nWarmbin-Mode: {mode}\r\nConnection: close\r\n\r\n"
            );
            let answer = exchange(host.programs(), request.as_bytes()).await?;
            let id = answer.header("x-request-id").unwrap_or_default().to_owned();
            let outcome = if mode == "fork" { native } else { wasm };
            let record = host.record(&id).await?;
            let seen = (
                answer.status,
                answer.complete,
                record["outcome"].as_str().unwrap_or_default(),
            );
            if seen != (status, complete, outcome) {
                wrong.push(format!(
                    "{mode} {how}: {seen:?}, not {:?}: {}",
                    (status, complete, outcome),
                    record["error"]
                ));
            }
            let text = answer.text();
            assert!(
                status == 200 || !text.contains("guests/"),
                "a path is shown: {text}"
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}
