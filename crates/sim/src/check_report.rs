//! Results of the checks of a run: commands against the rules, and memory against a flat memory.

use dram_spec::Dialect;
use host::{MemoryCheck, WrongByte};
use protocol_check::Checker;
use serde::Serialize;

/// Maximum number of violations listed in a report. All are counted.
const VIOLATIONS_NAMED: usize = 10;

/// Results of the protocol checker and of the comparison with a flat memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Dialect of the rules: `jedec` or `rowclone`.
    pub dialect: &'static str,
    /// Number of violations.
    pub violations: u64,
    /// The first ten violations.
    pub first_violations: Vec<String>,
    /// Whether the memory equals a flat memory after the same operations, and each process reads at its
    /// virtual addresses what a plain memory of the process holds.
    pub memory_equal: bool,
    /// The difference at the lowest address, the first wrong read, or the first byte that a process
    /// reads wrong.
    pub memory_mismatch: Option<String>,
}

impl CheckReport {
    /// Creates the results of one run.
    pub(crate) fn new(checker: &Checker, memory: &MemoryCheck, dialect: Dialect) -> CheckReport {
        let memory_mismatch = match memory {
            MemoryCheck::Equal => None,
            MemoryCheck::Cells(mismatch) => Some(format!(
                "memory at {} ({}) holds {:#04x}, and a flat array {:#04x}",
                mismatch.address, mismatch.location, mismatch.found, mismatch.expected
            )),
            MemoryCheck::Read { id, at } => Some(format!("read {} returned a wrong byte at offset {at}", id.0)),
        };
        CheckReport {
            dialect: dialect.name(),
            violations: checker.total(),
            first_violations: checker.violations().iter().take(VIOLATIONS_NAMED).map(ToString::to_string).collect(),
            memory_equal: memory_mismatch.is_none(),
            memory_mismatch,
        }
    }

    /// Adds the first byte that a process reads wrong at a virtual address.
    pub(crate) fn add_wrong_byte(&mut self, wrong: Option<WrongByte>) {
        let Some(wrong) = wrong else { return };
        self.memory_equal = false;
        self.memory_mismatch.get_or_insert(wrong.to_string());
    }

    /// Whether the run has no violation and no difference.
    pub fn passed(&self) -> bool {
        self.violations == 0 && self.memory_equal
    }
}
