//! One operation of a run beside the published baseline: the channel copy within one bank of an idle memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::Cycles;
use host::{Place, place};
use memctrl::policy::copy::BASELINE;
use rowclone::Operation;
use rowclone_sim::{Comparison, MemorySystem, OperationRow};

use rowclone_config::Failure;

/// Channel copies within a bank on an idle memory, simulated once each.
pub(super) struct SameBankCopies<'a> {
    system: &'a MemorySystem,
    stop: &'a Arc<AtomicBool>,
    known: BTreeMap<String, (Cycles, Option<f64>)>,
}

impl<'a> SameBankCopies<'a> {
    /// Creates the copies of a system, without simulated values.
    pub(super) fn new(system: &'a MemorySystem, stop: &'a Arc<AtomicBool>) -> Self {
        SameBankCopies { system, stop, known: BTreeMap::new() }
    }

    /// Latency and dynamic energy (nJ) of the operation over the channel; no energy without a current set.
    fn channel(&mut self, operation: Operation) -> Result<(Cycles, Option<f64>), Failure> {
        let key = operation.to_string();
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let (completion, commands) = self.system.alone(BASELINE, operation, Some(self.stop))?;
        let latency = completion.latency();
        let energy = self.system.prices().map(|prices| prices.operation(&commands).operation().nj());
        self.known.insert(key, (latency, energy));
        Ok((latency, energy))
    }

    /// The pair in one bank that the published baseline copies; for a zeroing, itself.
    fn same_bank(&self, operation: Operation) -> Option<Operation> {
        match operation {
            Operation::Copy { dst, bytes, .. } => {
                let src = place(self.system.planner(), Place::SameBank, dst, bytes).ok()?;
                Some(Operation::Copy { src, dst, bytes })
            }
            Operation::Init { .. } => Some(operation),
            Operation::Read { .. } | Operation::Write { .. } => None,
        }
    }

    /// Compares the row of a copy or an initialization with the channel copy within a bank.
    ///
    /// # Errors
    /// The run was stopped.
    pub(super) fn compare(&mut self, row: &mut OperationRow, operation: Operation) -> Result<(), Failure> {
        let Some(channel) = self.same_bank(operation).filter(|_| row.latency_cycles > 0) else { return Ok(()) };
        let (latency, nj) = self.channel(channel)?;
        row.against_same_bank = Some(Comparison {
            latency_cycles: latency.0,
            energy_nj: nj,
            speedup: latency.0 as f64 / row.latency_cycles as f64,
            energy_ratio: nj.zip(row.energy_nj).map(|(channel, this)| channel / this),
        });
        Ok(())
    }
}
