//! Under load nothing fails, every request is remembered once, and the figures are those of the records.

use std::collections::HashSet;

use anyhow::{Context, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::Value;
use warmbin_tests::{MODES, TestHost};

const REQUESTS: usize = 2000;
const CONCURRENCY: usize = 50;
const PHASES: [&str; 5] = ["queue", "start", "head", "body", "exit"];

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_requests_a_mode_are_answered_and_remembered() -> Result<()> {
    let host = TestHost::builder()?.guest("hello", "").start().await?;
    for mode in MODES {
        let ids: HashSet<String> = stream::iter(0..REQUESTS)
            .map(|_| async {
                let answer = host.get_in(mode, "/cgi-bin/hello").send().await?;
                let status = answer.status();
                let id = answer.headers()["x-request-id"].to_str()?.to_owned();
                let text = answer.text().await?;
                anyhow::ensure!(
                    status == 200 && text == "Hello from a CGI program.\n",
                    "{mode}: {status}: {text}"
                );
                Ok(id)
            })
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await?;
        assert_eq!(ids.len(), REQUESTS, "every request has an id of its own");

        let filter = format!("program=hello&mode={mode}");
        let records = host.records_when(&filter, REQUESTS).await?;
        assert_eq!(records.len(), REQUESTS, "{mode}");
        let remembered: HashSet<String> = records
            .iter()
            .filter_map(|record| record["id"].as_str())
            .map(str::to_owned)
            .collect();
        assert_eq!(remembered, ids, "{mode}: the records are those of the requests");
        for record in &records {
            assert_eq!(
                (&record["outcome"], &record["status"]),
                (&"ok".into(), &200.into()),
                "{record}"
            );
            // The exit may come after the last byte.
            let parts: u64 = PHASES[..4]
                .iter()
                .filter_map(|phase| record[format!("{phase}_us")].as_u64())
                .sum();
            let total = record["total_us"].as_u64().context("a total")?;
            assert!(total > 0 && parts <= total, "phases beyond the total: {record}");
        }
    }

    let summary = host
        .document("/api/v1/summary?group_by=mode&program=hello")
        .await?;
    let groups = summary["items"].as_array().context("items is a list")?;
    assert_eq!(groups.len(), MODES.len());
    for mode in MODES {
        let group = groups
            .iter()
            .find(|group| group["group"]["mode"] == mode)
            .context("a group per mode")?;
        let records = host.records(&format!("program=hello&mode={mode}")).await?;
        assert_eq!(group["count"], REQUESTS);
        assert_eq!(group["errors"], 0);
        compare(group, &column(&records, "total_us"), mode);
        for phase in PHASES {
            compare(
                &group["phases"][phase],
                &column(&records, &format!("{phase}_us")),
                &format!("{mode} {phase}"),
            );
        }
        let cpu = column(&records, "cpu_us");
        assert_eq!(
            group["cpu_us_mean"],
            cpu.iter().sum::<u64>() / cpu.len() as u64,
            "{mode}"
        );
        assert_eq!(
            group["peak_memory_bytes_max"].as_u64(),
            column(&records, "peak_memory_bytes").last().copied()
        );
    }
    Ok(())
}

/// The values of one field, ascending.
fn column(records: &[Value], field: &str) -> Vec<u64> {
    let mut values: Vec<u64> = records
        .iter()
        .filter_map(|record| record[field].as_u64())
        .collect();
    values.sort_unstable();
    values
}

/// Compares a group's figures with those of the values themselves: nearest rank, and the mean rounded down.
fn compare(figures: &Value, sorted: &[u64], what: &str) {
    for (name, percent) in [
        ("p50_us", 50),
        ("p90_us", 90),
        ("p95_us", 95),
        ("p99_us", 99),
        ("max_us", 100),
    ] {
        let rank = (sorted.len() * percent).div_ceil(100);
        assert_eq!(figures[name], sorted[rank - 1], "{what} {name}");
    }
    assert_eq!(
        figures["mean_us"],
        sorted.iter().sum::<u64>() / sorted.len() as u64,
        "{what} mean"
    );
}
