//! One operation of a run, set against copies over the channel.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::Cycles;
use host::{Place, place};
use memctrl::policy::copy::BASELINE;
use rowclone::Operation;
use rowclone_sim::{Comparison, MemorySystem, OperationRow};

use rowclone_config::Failure;

/// Channel copies on an idle memory, simulated once each.
pub(super) struct References<'a> {
    system: &'a MemorySystem,
    stop: &'a Arc<AtomicBool>,
    known: BTreeMap<String, (Cycles, f64)>,
}

impl<'a> References<'a> {
    /// Creates the references of a system, without simulated values.
    pub(super) fn new(system: &'a MemorySystem, stop: &'a Arc<AtomicBool>) -> Self {
        References { system, stop, known: BTreeMap::new() }
    }

    /// Latency and dynamic energy (nJ) of the operation over the channel.
    fn channel(&mut self, operation: Operation) -> Result<(Cycles, f64), Failure> {
        let key = operation.to_string();
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let (completion, commands) = self.system.alone(BASELINE, operation, Some(self.stop))?;
        let latency = completion.latency();
        let energy = self.system.prices().operation(&commands).operation().nj();
        self.known.insert(key, (latency, energy));
        Ok((latency, energy))
    }

    /// Sets a latency and an energy against the channel's.
    fn compare(&mut self, channel: Operation, latency: Cycles, nj: f64) -> Result<Comparison, Failure> {
        let (channel_latency, channel_nj) = self.channel(channel)?;
        Ok(Comparison {
            latency_cycles: channel_latency.0,
            energy_nj: channel_nj,
            speedup: channel_latency.0 as f64 / latency.0 as f64,
            energy_ratio: channel_nj / nj,
        })
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

    /// Sets the row of an operation against copies over the channel.
    ///
    /// # Errors
    /// The run was stopped.
    pub(super) fn compare_row(&mut self, row: &mut OperationRow, operation: Operation) -> Result<(), Failure> {
        let (latency, nj) = (Cycles(row.latency_cycles), row.energy_nj);
        let compared = operation.is_copy() && latency.0 > 0;
        let same_pair = compared.then_some(operation);
        let same_bank = same_pair.and_then(|operation| self.same_bank(operation));
        let mut against =
            |channel: Option<Operation>| channel.map(|channel| self.compare(channel, latency, nj)).transpose();
        (row.against_same_pair, row.against_same_bank) = (against(same_pair)?, against(same_bank)?);
        Ok(())
    }
}
