//! What is accepted as a program, decided from its bytes before anything is compiled.

use wasmparser::{ExternalKind, MemoryType, Parser, Payload, TypeRef};
use wasmtime::{Engine, Module};

use crate::wasm::artifact::ArtifactError;
use crate::wasm::engine::MAX_TABLE_ELEMENTS;
use crate::wasm::linker::Imports;

/// What validation learned about a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traits {
    /// It has a start section: instantiating it runs its code.
    pub(super) runs_at_instantiation: bool,
}

/// Refuses what this host does not run, with the reason that helps most.
pub(super) fn validate(
    engine: &Engine,
    imports: &Imports,
    wasm: &[u8],
    max_memory: u64,
) -> Result<Traits, ArtifactError> {
    // SECURITY: a precompiled artifact is machine code of its author's choice. Only the cache may hold any.
    if Engine::detect_precompiled(wasm).is_some() {
        return Err(ArtifactError::Precompiled);
    }
    if Parser::is_component(wasm) {
        return Err(ArtifactError::Component);
    }
    if !Parser::is_core_wasm(wasm) {
        return Err(ArtifactError::Invalid(
            "it does not begin with the header of a module, `\\0asm`".to_owned(),
        ));
    }
    Module::validate(engine, wasm).map_err(|error| ArtifactError::Invalid(format!("{error:#}")))?;
    inspect(imports, wasm, max_memory).map_err(|refusal| match refusal {
        Refusal::Artifact(error) => error,
        Refusal::Parse(error) => ArtifactError::Invalid(error.to_string()),
    })
}

enum Refusal {
    Artifact(ArtifactError),
    Parse(wasmparser::BinaryReaderError),
}

impl From<wasmparser::BinaryReaderError> for Refusal {
    fn from(error: wasmparser::BinaryReaderError) -> Self {
        Self::Parse(error)
    }
}

fn inspect(imports: &Imports, wasm: &[u8], max_memory: u64) -> Result<Traits, Refusal> {
    let mut unknown = Vec::new();
    let mut has_start = false;
    let mut over_limit = None;
    let mut traits = Traits {
        runs_at_instantiation: false,
    };
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import?;
                    let function = matches!(import.ty, TypeRef::Func(_) | TypeRef::FuncExact(_));
                    if !function || !imports.provides(import.module, import.name) {
                        unknown.push(format!("{}::{}", import.module, import.name));
                    }
                }
            }
            Payload::MemorySection(section) => {
                for memory in section {
                    over_limit = over_limit.or(memory_over(&memory?, max_memory));
                }
            }
            Payload::TableSection(section) => {
                for table in section {
                    let initial = table?.ty.initial;
                    if initial > u64::from(MAX_TABLE_ELEMENTS) {
                        over_limit.get_or_insert_with(|| {
                            format!(
                                "a table of {initial} entries is asked for; the limit is {MAX_TABLE_ELEMENTS}"
                            )
                        });
                    }
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export?;
                    has_start |= export.name == "_start" && export.kind == ExternalKind::Func;
                }
            }
            Payload::StartSection { .. } => traits.runs_at_instantiation = true,
            _ => {}
        }
    }
    // The most telling reason first: a library usually lacks both an entry point and its imports.
    if !has_start {
        return Err(Refusal::Artifact(ArtifactError::NoStart));
    }
    if !unknown.is_empty() {
        unknown.sort();
        unknown.dedup();
        return Err(Refusal::Artifact(ArtifactError::UnknownImports(unknown)));
    }
    match over_limit {
        Some(limit) => Err(Refusal::Artifact(ArtifactError::OverLimit(limit))),
        None => Ok(traits),
    }
}

fn memory_over(memory: &MemoryType, max_memory: u64) -> Option<String> {
    let page = 1_u64
        .checked_shl(memory.page_size_log2.unwrap_or(16))
        .unwrap_or(u64::MAX);
    let initial = memory.initial.saturating_mul(page);
    (initial > max_memory).then(|| {
        format!(
            "it starts with {} KiB of memory; the limit is {} KiB",
            initial.div_ceil(1024),
            max_memory / 1024
        )
    })
}
