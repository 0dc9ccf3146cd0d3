//! A host that does not exist: the same records and programs every time, held in memory. For tests of pages and for
//! looking at them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use warmbin_dashboard::{Dashboard, HostFacts, LiveHost, LiveProgram, ModeWish};
use warmbin_store::percentile::{bucket_le, percentiles};
use warmbin_store::{
    Artifact, Bucket, Filter, GroupKey, Histogram, MASKED, NewVersion, Order, Page, Phase, Program, Record,
    RecordDetail, ResponseField, Session, Slice, Source, StatusFilter, Store, StoreError, SummaryRow,
    Version,
};

/// The moment the sample is about: 2026-01-31T12:00:00Z.
pub(crate) const NOW_US: i64 = 1_769_860_800_000_000;

/// What a mode costs in the sample: word, microseconds at best, requests.
const MODES: [(&str, u64, u64); 4] = [
    ("fork", 2_900, 640),
    ("wasm-cold", 1_150, 600),
    ("wasm-warm", 240, 700),
    ("persistent", 180, 12),
];

/// Records and programs in memory.
#[derive(Debug)]
pub(crate) struct SampleStore {
    requests: Mutex<Vec<(Record, RecordDetail)>>,
    programs: Vec<Program>,
}

/// Live state of the sample's programs; the names of those that were declared in vain.
#[derive(Debug, Default)]
pub(crate) struct SampleHost(pub(crate) Vec<String>);

impl LiveHost for SampleHost {
    fn program(&self, name: &str) -> Option<LiveProgram> {
        let broken = name == "broken";
        Some(LiveProgram {
            route: format!("/cgi-bin/{name}"),
            default_mode: (!broken).then(|| "wasm-warm".to_owned()),
            problem: broken.then(|| "the wasm module has no _start".to_owned()),
            from_config: name == "hello",
        })
    }

    fn refused(&self) -> Vec<String> {
        self.0.clone()
    }

    fn in_flight(&self) -> u64 {
        2
    }

    fn backlog(&self) -> u64 {
        0
    }
}

/// A dashboard over `store`.
pub(crate) fn dashboard(store: SampleStore) -> (Dashboard, Arc<SampleStore>) {
    let store = Arc::new(store);
    let facts = HostFacts {
        version: "0.1.0",
        programs_url: "http://127.0.0.1:8080".to_owned(),
        modes: vec!["fork", "persistent", "wasm-cold", "wasm-warm"],
        engine: "wasmtime 48, pooling allocator".to_owned(),
        started_at: NOW_US - 3_600_000_000,
        mode_wish: ModeWish::Free,
        folders: Vec::new(),
        store_flags: vec!["--data".to_owned(), "/srv/warmbin data".to_owned()],
    };
    let dashboard = Dashboard {
        store: store.clone(),
        live: Arc::new(SampleHost::default()),
        facts: Arc::new(facts),
    };
    (dashboard, store)
}

/// A record that started `before_us` before [`NOW_US`] and took `total_us`.
pub(crate) fn record(index: u64, mode: &str, before_us: i64, total_us: u64) -> Record {
    let native = !mode.starts_with("wasm");
    let start_us = if native { total_us * 6 / 10 } else { total_us / 10 };
    Record {
        id: format!("019c1000-0000-7000-8000-{index:012}"),
        started_at: NOW_US - before_us,
        host: "sample".to_owned(),
        program: "hello".to_owned(),
        version: Some(2),
        mode: mode.to_owned(),
        method: "GET".to_owned(),
        path: "/cgi-bin/hello/greet".to_owned(),
        query: "name=World".to_owned(),
        status: 200,
        outcome: "ok".to_owned(),
        queue_us: 4,
        start_us,
        head_us: total_us * 2 / 10,
        body_us: total_us / 20,
        exit_us: total_us / 10,
        total_us,
        cpu_us: Some(total_us / 2),
        peak_memory_bytes: Some(1_376_256),
        request_bytes: 0,
        response_bytes: 1_234,
        exit_code: Some(0),
        signal: None,
        error: None,
        remote_addr: "127.0.0.1".to_owned(),
        concurrency: 3,
        experiment: None,
    }
}

fn field(name: &str, value: &str) -> ResponseField {
    ResponseField {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

/// What is kept beside an ordinary record.
pub(crate) fn detail() -> RecordDetail {
    RecordDetail {
        stderr: "\u{1b}[33mwarning\u{1b}[0m: greeting <b>nobody</b>\n".to_owned(),
        stderr_truncated: false,
        response_head: vec![field("Content-Type", "text/plain"), field("X-Request-Id", "r-1")],
        environment: vec![
            field("GATEWAY_INTERFACE", "CGI/1.1"),
            field("HTTP_ACCEPT", "*/*"),
            field("HTTP_COOKIE", MASKED),
            field("QUERY_STRING", "name=World"),
        ],
    }
}

impl SampleStore {
    /// About two thousand requests of the quarter of an hour before `now_us`, a few of which failed.
    pub(crate) fn busy(now_us: i64) -> Self {
        // A linear congruential generator: the same numbers on every machine.
        let mut state: u64 = 42;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut requests = Vec::new();
        for (mode, best, count) in MODES {
            for _ in 0..count {
                let spread = (0..4).map(|_| random(best)).min().unwrap_or(0) + random(best / 5);
                let tail = if random(60) == 0 { best * random(30) } else { 0 };
                let before = i64::try_from(random(880_000_000)).unwrap_or(0);
                let mut record = record(requests.len() as u64, mode, before, best + spread + tail);
                record.started_at += now_us - NOW_US;
                if mode == "fork" && random(150) == 0 {
                    record.status = 502;
                    "bad_output".clone_into(&mut record.outcome);
                    record.error = Some("the header block has a line without a colon: \"oops\"".to_owned());
                }
                requests.push((record, detail()));
            }
        }
        requests.sort_by_key(|(record, _)| std::cmp::Reverse(record.started_at));
        Self {
            requests: Mutex::new(requests),
            programs: vec![program("broken", false), program("hello", true)],
        }
    }

    /// Just these; perhaps none.
    pub(crate) fn of(requests: Vec<(Record, RecordDetail)>, programs: Vec<Program>) -> Self {
        Self {
            requests: Mutex::new(requests),
            programs,
        }
    }

    fn matching(&self, filter: &Filter) -> Vec<(Record, RecordDetail)> {
        let requests = self
            .requests
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        requests
            .iter()
            .filter(|(record, _)| matches(filter, record))
            .cloned()
            .collect()
    }
}

/// A program with two versions.
pub(crate) fn program(name: &str, native: bool) -> Program {
    let artifact = |kind: &str| {
        Some(Artifact {
            path: format!("artifacts/{name}"),
            sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
            bytes: 48_213,
            kind: kind.to_owned(),
        })
    };
    let version = |number, source| Version {
        number,
        source,
        native: if native { artifact("ELF executable") } else { None },
        wasm: artifact("WebAssembly module (preview1)"),
        settings: r#"{"limits":{"wall":"5s"}}"#.to_owned(),
        created_by: "admin".to_owned(),
        created_at: NOW_US - 1_800_000_000,
    };
    Program {
        name: name.to_owned(),
        active: Some(2),
        versions: vec![version(2, Source::Upload), version(1, Source::Config)],
        created_at: NOW_US - 3_600_000_000,
    }
}

fn matches(filter: &Filter, record: &Record) -> bool {
    let is = |wanted: &Option<String>, value: &str| wanted.as_ref().is_none_or(|wanted| wanted == value);
    filter.from_us.is_none_or(|from| record.started_at >= from)
        && filter.to_us.is_none_or(|to| record.started_at < to)
        && is(&filter.program, &record.program)
        && is(&filter.mode, &record.mode)
        && is(&filter.outcome, &record.outcome)
        && filter.status.is_none_or(|status| match status {
            StatusFilter::Exact(code) => record.status == code,
            StatusFilter::Class(class) => record.status / 100 == class,
        })
}

fn group(key: GroupKey, record: &Record) -> String {
    match key {
        GroupKey::Mode => record.mode.clone(),
        GroupKey::Program => record.program.clone(),
        _ => record.outcome.clone(),
    }
}

fn summarise(group: Vec<(GroupKey, Option<String>)>, records: &[Record]) -> SummaryRow {
    let mut totals: Vec<u64> = records.iter().map(|record| record.total_us).collect();
    let count = records.len() as u64;
    SummaryRow {
        group,
        count,
        errors: records.iter().filter(|record| record.outcome != "ok").count() as u64,
        rps: f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / 900.0,
        total: percentiles(&mut totals),
        phases: Vec::new(),
        cpu_us_mean: records
            .iter()
            .filter_map(|record| record.cpu_us)
            .sum::<u64>()
            .checked_div(count),
        peak_memory_bytes_max: records.iter().filter_map(|record| record.peak_memory_bytes).max(),
    }
}

#[async_trait]
impl Store for SampleStore {
    async fn insert_requests(&self, batch: &[(Arc<Record>, RecordDetail)]) -> Result<(), StoreError> {
        let mut requests = self
            .requests
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let arrived = batch.iter();
        let arrived = arrived.map(|(record, detail)| (Record::clone(record), detail.clone()));
        requests.splice(0..0, arrived);
        Ok(())
    }

    async fn requests(&self, filter: &Filter, page: &Page) -> Result<Slice<Record>, StoreError> {
        let mut records: Vec<Record> = self
            .matching(filter)
            .into_iter()
            .map(|(record, _)| record)
            .collect();
        if page.order == Order::Total {
            records.sort_by_key(|record| std::cmp::Reverse(record.total_us));
        }
        let skip = match &page.cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| StoreError::BadCursor)?,
        };
        let limit = page.limit as usize;
        let more = records.len() > skip + limit;
        let items = records.into_iter().skip(skip).take(limit).collect();
        Ok(Slice {
            items,
            next: more.then(|| (skip + limit).to_string()),
        })
    }

    async fn request(&self, id: &str) -> Result<Option<(Record, RecordDetail)>, StoreError> {
        Ok(self
            .matching(&Filter::default())
            .into_iter()
            .find(|(record, _)| record.id == id))
    }

    async fn neighbours(&self, record: &Record) -> Result<(Option<String>, Option<String>), StoreError> {
        let all = self.matching(&Filter::default());
        let at = all.iter().position(|(other, _)| other.id == record.id);
        let id = |at: Option<usize>| at.and_then(|at| all.get(at)).map(|(record, _)| record.id.clone());
        Ok((id(at.map(|at| at + 1)), id(at.and_then(|at| at.checked_sub(1)))))
    }

    async fn summary(&self, filter: &Filter, group_by: &[GroupKey]) -> Result<Vec<SummaryRow>, StoreError> {
        let mut groups: BTreeMap<Vec<String>, Vec<Record>> = BTreeMap::new();
        for (record, _) in self.matching(filter) {
            let values = group_by.iter().map(|key| group(*key, &record)).collect();
            groups.entry(values).or_default().push(record);
        }
        let row = |(values, records): (Vec<String>, Vec<Record>)| {
            summarise(
                group_by
                    .iter()
                    .copied()
                    .zip(values.into_iter().map(Some))
                    .collect(),
                &records,
            )
        };
        Ok(groups.into_iter().map(row).collect())
    }

    async fn histogram(
        &self,
        filter: &Filter,
        _phase: Phase,
        group_by: Option<GroupKey>,
    ) -> Result<Vec<Histogram>, StoreError> {
        let mut groups: BTreeMap<String, BTreeMap<u64, u64>> = BTreeMap::new();
        for (record, _) in self.matching(filter) {
            let name = group_by.map_or_else(String::new, |key| group(key, &record));
            *groups
                .entry(name)
                .or_default()
                .entry(bucket_le(record.total_us))
                .or_default() += 1;
        }
        let buckets = |counts: BTreeMap<u64, u64>| {
            counts
                .into_iter()
                .map(|(le_us, count)| Bucket { le_us, count })
                .collect()
        };
        Ok(groups
            .into_iter()
            .map(|(group, counts)| Histogram {
                group,
                buckets: buckets(counts),
            })
            .collect())
    }

    async fn programs(&self) -> Result<Vec<Program>, StoreError> {
        Ok(self.programs.clone())
    }

    async fn program(&self, name: &str) -> Result<Option<Program>, StoreError> {
        Ok(self.programs.iter().find(|program| program.name == name).cloned())
    }

    async fn add_version(&self, version: &NewVersion) -> Result<u32, StoreError> {
        Err(StoreError::NotFound(version.program.clone()))
    }

    async fn activate(&self, program: &str, _number: u32) -> Result<(), StoreError> {
        Err(StoreError::NotFound(program.to_owned()))
    }

    async fn remove_program(&self, name: &str) -> Result<Program, StoreError> {
        Err(StoreError::NotFound(name.to_owned()))
    }

    async fn programs_generation(&self) -> Result<i64, StoreError> {
        Ok(1)
    }

    async fn add_session(&self, _session: &Session) -> Result<(), StoreError> {
        Ok(())
    }

    async fn session(&self, _id_hash: &str, _now_us: i64) -> Result<Option<Session>, StoreError> {
        Ok(None)
    }

    async fn remove_session(&self, _id_hash: &str) -> Result<(), StoreError> {
        Ok(())
    }

    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
