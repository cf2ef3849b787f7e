//! Workloads of a scenario with a machine: programs on its cores.

use std::path::PathBuf;

use dram_spec::LINE_BYTES;
use dram_spec::address::FRAME_BYTES;
use host::machine::{BufferOperation, ChosenCopies, Forkbench, Memcopy, ReadAgain, Region, SourceState};

use crate::document::Section;
use crate::key::{Holds, Key, key};
use crate::{Failure, SystemConfig, file};

/// Checked programs on cores.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreWorkload {
    /// The programs.
    pub programs: CorePrograms,
    /// Warm-up and measured region of each program.
    pub region: Region,
    /// The copies of recordings that the copier of a run executes.
    pub copies: ChosenCopies,
}

/// Programs, one per core.
#[derive(Clone, Debug, PartialEq)]
pub enum CorePrograms {
    /// Program traces or memory traces, 1 to 16.
    Files(Vec<PathBuf>),
    /// The paper's forkbench.
    Forkbench(Forkbench),
    /// Copies of a buffer with dirty lines.
    Memcopy(Memcopy),
}

impl CoreWorkload {
    /// Files of the programs; empty for generated ones.
    pub fn files(&self) -> &[PathBuf] {
        match &self.programs {
            CorePrograms::Files(files) => files,
            CorePrograms::Forkbench(_) | CorePrograms::Memcopy(_) => &[],
        }
    }
}

/// Keys of `[workload]` with programs on cores.
#[rustfmt::skip]
pub(crate) const KEYS: &[Key] = &[
    Key::new("workload.files", Holds::List, "[\"programs/fork.program\"]", "the programs: program traces, memory traces or recordings (`cores.md`), one per core").values("a list of 1 to 16 paths").or("by `kind`"),
    key!(Region, workload.warm_up_instructions => warm_up, Holds::Count(0, INSTRUCTIONS_MAX), "100_000", "instructions of each program before its measured region").or("0"),
    key!(Region, workload.region_instructions => instructions, Holds::Count(1, INSTRUCTIONS_MAX), "1_000_000", "instructions of each measured region").or("to the end of the program"),
    Key::new("workload.copies", Holds::Name(|| ChosenCopies::NAMES.into()), "\"all\"", "the copies of recordings that the copier of a policy executes: those of the kernel, of library routines, or both (`cores.md`)").or("`kernel`"),
    key!(Memcopy, workload.dirty_share, Holds::Number(0.0, 1.0), "0.5", "share of the lines of the source that are dirty in the cache before the copies, spread evenly").or("0"),
    key!(Memcopy, workload.operation, Holds::Name(|| BufferOperation::NAMES.into()), "\"zero\"", "of `memcopy`: whether it copies the buffer, or zeroes it").or("`copy`"),
    key!(Memcopy, workload.source, Holds::Name(|| SourceState::NAMES.into()), "\"warm\"", "lines of the source that are not among `dirty_share`: in no cache, or loaded before; or all lines are dirty").or("`cold`"),
    key!(Memcopy, workload.read_share, Holds::Number(0.0, 1.0), "0.5", "share of the lines of the destination that the program loads after the copies, spread evenly").or("0"),
    key!(Memcopy, workload.working_set_bytes, Holds::Bytes(0, 1 << 32), "\"512KiB\"", "bytes of the program's working set, which it loads before the copies").or("0"),
    key!(Memcopy, workload.read_again, Holds::Name(|| ReadAgain::NAMES.into()), "\"forward\"", "whether the program loads its working set again at the end, from the first line or from the last").or("`no`"),
];

/// Maximum of numbers of instructions, to keep sums below 2^64.
const INSTRUCTIONS_MAX: u64 = 1 << 40;
/// Most programs of a scenario: one per core.
const PROGRAMS_MAX: usize = 16;

/// The programs of a workload that needs a machine, whose keys were checked; `seed` is that of the scenario.
pub(crate) fn check_programs(table: &Section<'_>, seed: u64, system: &SystemConfig) -> Result<CoreWorkload, Failure> {
    let bytes = || buffer(table, system);
    let (programs, region) = match table.of("kind") {
        "forkbench" => {
            let updates = table.of("pages");
            table.within("pages", updates, 1, u64::MAX)?;
            (CorePrograms::Forkbench(Forkbench { bytes: bytes()?, updates, seed }), Region::default())
        }
        "memcopy" => {
            let copies = memcopy(table, system)?;
            (CorePrograms::Memcopy(copies), copies.region())
        }
        _ => (CorePrograms::Files(files(table)?), table.over(Region::default())),
    };
    let copies = table.get("copies").unwrap_or_default();
    Ok(CoreWorkload { programs, region, copies })
}

/// A workload `memcopy`: buffers of any size up to half of the memory.
fn memcopy(table: &Section<'_>, system: &SystemConfig) -> Result<Memcopy, Failure> {
    let (bytes, most): (u64, u64) = (table.of("bytes"), system.memory.system().geometry.bytes() / 2);
    table.within("bytes", bytes, 1, most)?;
    let copies = table.over(Memcopy { bytes, ..Memcopy::default() });
    if copies.operation == BufferOperation::Zero {
        let help = "leave it out, or write `operation = \"copy\"`";
        table.without(&["source", "dirty_share"], ", but a zeroing has no source", help)?;
    }
    if copies.source == SourceState::Dirty {
        let why = ", but with `source = \"dirty\"` all lines are dirty";
        table.without(&["dirty_share"], why, "leave it out, or write `source = \"warm\"`")?;
    }
    let room = (most * 2).saturating_sub(2 * bytes) / 2;
    table.within("working_set_bytes", copies.working_set_bytes, 0, room)?;
    if copies.read_again != ReadAgain::No && copies.working_set_bytes < LINE_BYTES {
        let message = "`workload.read_again` is given, but there is no working set to read";
        return Err(table.fault("read_again", message).with_help("add for example `working_set_bytes = \"512KiB\"`"));
    }
    Ok(copies)
}

/// The size of a buffer: whole pages, and at most half of the memory, as the other half takes the copies.
fn buffer(table: &Section<'_>, system: &SystemConfig) -> Result<u64, Failure> {
    let (bytes, most): (u64, u64) = (table.of("bytes"), system.memory.system().geometry.bytes() / 2);
    table.within("bytes", bytes, FRAME_BYTES, most)?;
    if !bytes.is_multiple_of(FRAME_BYTES) {
        let message = format!("`workload.bytes` is {bytes}, but must be a multiple of {FRAME_BYTES}");
        let near = bytes.next_multiple_of(FRAME_BYTES).min(most);
        return Err(table.fault("bytes", message).with_help(format!("try `bytes = {near}`")));
    }
    Ok(bytes)
}

/// The files of the programs, each of which can be read.
fn files(table: &Section<'_>) -> Result<Vec<PathBuf>, Failure> {
    let count = table.of::<Vec<&str>>("files").len();
    if !(1..=PROGRAMS_MAX).contains(&count) {
        let message = format!("`workload.files` has {count} programs, but must have 1 to {PROGRAMS_MAX}");
        return Err(table.fault("files", message).with_help("list a program per core"));
    }
    let files = table.linked_files("files")?;
    for path in &files {
        file::open(path).map_err(|error| Failure::reading(path, &error))?;
    }
    Ok(files)
}
