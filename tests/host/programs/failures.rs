//! Programs that fail: what the client sees, and what is remembered.

use anyhow::{Context, Result};
use warmbin_tests::{Answer, MODES, TestHost, exchange};

/// Way, status, whether the answer is complete, outcome natively and as a module.
const WAYS: [(&str, u16, bool, &str, &str); 12] = [
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
    ("trap", 502, true, "signalled", "trap"),
];

#[tokio::test]
async fn every_way_to_fail_has_its_status_and_outcome_in_every_mode() -> Result<()> {
    let host = TestHost::builder()?.guest("fail", "").start().await?;
    let mut wrong = Vec::new();
    for mode in MODES {
        for (how, status, complete, ..) in WAYS {
            let seen = match ask(&host, how, mode).await {
                Ok(answer) => {
                    let text = answer.text();
                    assert!(
                        status == 200 || !text.contains("guests/"),
                        "a path is shown: {text}"
                    );
                    Some((answer.status, answer.complete))
                }
                Err(_) => None,
            };
            if seen != Some((status, complete)) {
                wrong.push(format!("{mode} {how}: {seen:?}, not {:?}", (status, complete)));
            }
        }
        let outcome = |native, wasm| if mode == "fork" { native } else { wasm };
        let records = host.records_when(&format!("mode={mode}"), WAYS.len()).await?;
        for (how, status, _, native, wasm) in WAYS {
            let query = format!("how={how}");
            let record = records.iter().find(|record| record["query"] == query.as_str());
            let record = record.with_context(|| format!("{mode} {how} is remembered"))?;
            if (&record["status"], &record["outcome"]) != (&status.into(), &outcome(native, wasm).into()) {
                wrong.push(format!("{mode} {how}: remembered as {record}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

async fn ask(host: &TestHost, how: &str, mode: &str) -> Result<Answer> {
    let request = format!(
        "GET /cgi-bin/fail?how={how} HTTP/1.1\r\nHost: h\r\nWarmbin-Mode: {mode}\r\nConnection: close\r\n\r\n"
    );
    exchange(host.programs(), request.as_bytes()).await
}
