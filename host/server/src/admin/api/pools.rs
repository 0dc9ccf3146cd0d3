//! `GET /api/v1/pools`: the warm pools.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use warmbin_exec::Mode;

use super::super::extract::Pairs;
use super::super::problem::Problem;
use super::super::query::Parameters;
use super::super::state::Admin;

/// Every pool, by program.
#[derive(Debug, Serialize, ToSchema)]
pub(in super::super) struct Pools {
    items: Vec<Pool>,
    /// Always null: pools come in one piece.
    next: Option<String>,
}

/// One pool.
#[derive(Debug, Serialize, ToSchema)]
pub(in super::super) struct Pool {
    program: String,
    version: Option<u32>,
    mode: &'static str,
    /// How many it means to keep ready.
    target: u32,
    /// Ready now.
    ready: u32,
    /// Running now.
    busy: u32,
    /// Requests that found a ready instance.
    hits: u64,
    /// Requests that took the cold path.
    misses: u64,
    /// Mean time to make one instance.
    refill_us: Option<u64>,
}

/// List warm pools
#[utoipa::path(get, path = "/api/v1/pools", tag = "pools", operation_id = "list_pools",
    responses((status = OK, description = "Every pool, by program", body = Pools)))]
pub(in super::super) async fn get(
    State(admin): State<Arc<Admin>>,
    Pairs(pairs): Pairs,
) -> Result<Json<Pools>, Problem> {
    Parameters::new(pairs, &[], false).check()?;
    let mut items: Vec<Pool> = admin
        .host
        .catalog
        .entries()
        .into_iter()
        .filter_map(|entry| {
            let status = entry.runnable.wasm.as_ref()?.pool();
            Some(Pool {
                program: entry.name.to_string(),
                version: entry.version,
                mode: Mode::WasmWarm.as_str(),
                target: status.target,
                ready: status.ready,
                busy: status.busy,
                hits: status.hits,
                misses: status.misses,
                refill_us: status
                    .refill
                    .map(|refill| u64::try_from(refill.as_micros()).unwrap_or(u64::MAX)),
            })
        })
        .collect();
    items.sort_by(|a, b| a.program.cmp(&b.program));
    Ok(Json(Pools { items, next: None }))
}
