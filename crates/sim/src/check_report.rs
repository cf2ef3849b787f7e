//! Findings of the checks of a run: its commands against the rules, and its memory against a flat array.

use dram_spec::Dialect;
use host::MemoryCheck;
use protocol_check::Checker;
use serde::Serialize;

/// How many violations a report names; all are counted.
const VIOLATIONS_NAMED: usize = 10;

/// Findings of the protocol checker and of the comparison with a flat memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// The rules that the commands were checked against: `jedec` or `rowclone`.
    pub dialect: &'static str,
    /// Violations of those rules.
    pub violations: u64,
    /// The first ten of them.
    pub first_violations: Vec<String>,
    /// Whether the memory equals a flat array that the same operations were applied to.
    pub memory_equal: bool,
    /// The first difference.
    pub memory_mismatch: Option<String>,
}

impl CheckReport {
    /// The findings of one run.
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

    /// Whether nothing was found.
    pub fn passed(&self) -> bool {
        self.violations == 0 && self.memory_equal
    }
}
