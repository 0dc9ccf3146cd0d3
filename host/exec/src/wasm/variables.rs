//! The preview1 functions that deal in the request's strings and in exit codes, on bytes.
//!
//! They take the place of the stock ones, which carry only UTF-8 (a header may be anything), copy every variable into
//! strings of its own, and know exit codes below 126 only.

use wasmtime::{Caller, Linker, Memory, Trap};

use crate::wasm::guest::Guest;

const PREVIEW1: &str = "wasi_snapshot_preview1";
const SUCCESS: u32 = 0;
const OVERFLOW: u32 = 61;

/// A guest called `proc_exit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the program exited with {0}")]
pub(super) struct ProcessExit(pub(super) u32);

/// Puts the functions in place of those that `linker` has.
pub(super) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    linker.func_wrap(
        PREVIEW1,
        "environ_sizes_get",
        |mut caller: Caller<'_, Guest>, count: u32, size: u32| {
            let variables = caller.data().environment.iter();
            // NAME=value and its NUL.
            let (number, bytes) = variables.fold((0, 0), |(number, bytes), (name, value)| {
                (number + 1, bytes + name.len() + value.len() + 2)
            });
            put_sizes(&mut caller, count, number, size, bytes)
        },
    )?;
    linker.func_wrap(
        PREVIEW1,
        "environ_get",
        |mut caller: Caller<'_, Guest>, pointers: u32, block: u32| {
            let (mut strings, guest) = Strings::begin(&mut caller, pointers, block)?;
            for (name, value) in guest.environment.iter() {
                strings.push(&[name, b"=", value])?;
            }
            Ok(SUCCESS)
        },
    )?;
    linker.func_wrap(
        PREVIEW1,
        "args_sizes_get",
        |mut caller: Caller<'_, Guest>, count: u32, size: u32| {
            let arguments = &caller.data().arguments;
            let (number, bytes) = (
                arguments.len(),
                arguments.iter().map(|argument| argument.len() + 1).sum(),
            );
            put_sizes(&mut caller, count, number, size, bytes)
        },
    )?;
    linker.func_wrap(
        PREVIEW1,
        "args_get",
        |mut caller: Caller<'_, Guest>, pointers: u32, block: u32| {
            let (mut strings, guest) = Strings::begin(&mut caller, pointers, block)?;
            for argument in &guest.arguments {
                strings.push(&[argument])?;
            }
            Ok(SUCCESS)
        },
    )?;
    linker.func_wrap(PREVIEW1, "proc_exit", |code: u32| -> wasmtime::Result<()> {
        Err(ProcessExit(code).into())
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

fn memory(caller: &mut Caller<'_, Guest>) -> wasmtime::Result<Memory> {
    caller
        .get_export("memory")
        .and_then(wasmtime::Extern::into_memory)
        .ok_or_else(|| wasmtime::Error::msg("the module exports no memory named `memory`"))
}

fn put_sizes(
    caller: &mut Caller<'_, Guest>,
    count_at: u32,
    count: usize,
    size_at: u32,
    size: usize,
) -> wasmtime::Result<u32> {
    let (Ok(count), Ok(size)) = (u32::try_from(count), u32::try_from(size)) else {
        return Ok(OVERFLOW);
    };
    let memory = memory(caller)?;
    let bytes = memory.data_mut(caller);
    put(bytes, count_at, &count.to_le_bytes())?;
    put(bytes, size_at, &size.to_le_bytes())?;
    Ok(SUCCESS)
}

/// Writes NUL-terminated strings one behind the other, and their addresses into an array.
struct Strings<'a> {
    memory: &'a mut [u8],
    /// Where the next address goes.
    pointer: u32,
    /// Where the next string goes.
    text: u32,
}

impl<'a> Strings<'a> {
    /// Begins to write into the guest's memory; also lends what the guest holds.
    fn begin(
        caller: &'a mut Caller<'_, Guest>,
        pointer: u32,
        text: u32,
    ) -> wasmtime::Result<(Self, &'a Guest)> {
        let (memory, guest) = memory(caller)?.data_and_store_mut(caller);
        Ok((
            Self {
                memory,
                pointer,
                text,
            },
            guest,
        ))
    }

    fn push(&mut self, parts: &[&[u8]]) -> Result<(), Trap> {
        self.pointer = put(self.memory, self.pointer, &self.text.to_le_bytes())?;
        for part in parts {
            self.text = put(self.memory, self.text, part)?;
        }
        self.text = put(self.memory, self.text, &[0])?;
        Ok(())
    }
}

/// Copies `bytes` to `at` and returns the address behind them. The address is the guest's: one outside of its memory
/// is a trap, as if the guest itself had written there.
fn put(memory: &mut [u8], at: u32, bytes: &[u8]) -> Result<u32, Trap> {
    let start = usize::try_from(at).map_err(|_| Trap::MemoryOutOfBounds)?;
    let end = start.checked_add(bytes.len()).ok_or(Trap::MemoryOutOfBounds)?;
    memory
        .get_mut(start..end)
        .ok_or(Trap::MemoryOutOfBounds)?
        .copy_from_slice(bytes);
    u32::try_from(end).map_err(|_| Trap::MemoryOutOfBounds)
}
