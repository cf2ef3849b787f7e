//! Copiers compared: copies, zeroings and received messages of some sizes under each of them.

mod answers;
mod case;
mod copiers;
mod receive;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

use dram_spec::address::FRAME_BYTES;
use dram_spec::{Cycles, LINE_BYTES};
use host::machine::{
    BufferOperation, MachineSettings, Memcopy, Program, ReadAgain, ReceiverSettings, Region, SourceState,
};
use rowclone::Mechanism;

pub use self::answers::{Best, Question};
pub use self::case::{Case, CaseOperation};
pub use self::copiers::{CopierKind, NamedCopier};
pub use self::receive::Delivery;

use crate::copy_method::{CopyMethod, DeviceSettings};
use crate::error::ExperimentError;
use crate::experiment::Experiment;
use crate::observer::Attachments;
use crate::outcome::Outcome;
use crate::requests::Programs;
use crate::system::MemorySystem;

/// The machine on which copiers are compared.
#[derive(Clone, Copy, Debug)]
pub struct CopierComparison<'a> {
    /// The system.
    pub system: &'a MemorySystem,
    /// Cores, caches and kernel.
    pub settings: &'a MachineSettings,
    /// Devices.
    pub devices: &'a DeviceSettings,
    /// Work of the program that receives a message: its instructions and lines. Its sizes are those of the case.
    pub receiver: ReceiverSettings,
    /// Bytes of the working set beside which a program copies.
    pub working_set_bytes: u64,
    /// Whether to check commands, memory and loads.
    pub is_checked: bool,
}

/// Figures of a copier in a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CopierFigures {
    /// Time of the operation and of the reads that follow it, ns.
    pub time_ns: f64,
    /// Time that the operation takes from the program, ns: for a message, all time in which the core is busy. None
    /// without cores.
    pub cpu_ns: Option<f64>,
    /// Dynamic DRAM energy from the start of the operation until the last of its requests is done, nJ; none without a
    /// current set.
    pub energy_nj: Option<f64>,
    /// Bytes over the memory channels, those of the reads included.
    pub channel_bytes: u64,
    /// Lines of the working set that are not in a cache afterwards; none without a working set.
    pub lines_lost: Option<u64>,
    /// Misses of the program due to the operation: of loads of the working set, or of a message or a scenario all
    /// misses of its program. None without cores.
    pub extra_misses: Option<u64>,
    /// Share of the bytes of copies, or of zeroings, that were executed in DRAM, 0 to 1.
    pub in_dram_share: f64,
}

/// Why a copier does not do an operation itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unable {
    /// The copier copies in DRAM, and no byte of the operation was: the planner's reason.
    OverChannel(&'static str),
    /// Smaller than the copies that the kernel gives to devices: bytes of the smallest of these.
    TooSmall(u64),
    /// A device that copies, and does not zero.
    DoesNotZero,
    /// The copier needs programs on cores, and the scenario has none.
    NeedsCores,
    /// The run is impossible: the error.
    Impossible(String),
}

/// Result of a copier in a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CopierResult {
    /// Figures, or why there are none.
    pub figures: Result<CopierFigures, Unable>,
    /// Whether no check failed.
    pub passed_checks: bool,
}

impl CopierComparison<'_> {
    /// Default of the working set: half of a last-level cache.
    pub const fn half_of_cache(settings: &MachineSettings) -> u64 {
        settings.last_level.bytes / 2
    }

    /// Simulates a case under a copier.
    ///
    /// # Errors
    /// `stop` was set. All other errors are results.
    pub fn result(&self, copier: NamedCopier, case: Case, stop: &AtomicBool) -> Result<CopierResult, ExperimentError> {
        let unable = |why| Ok(CopierResult { figures: Err(why), passed_checks: true });
        if let Some(why) = self.refusal(copier, case) {
            return unable(why);
        }
        match self.figures(copier, case, stop) {
            Err(ExperimentError::Stopped) => Err(ExperimentError::Stopped),
            Err(error) => unable(Unable::Impossible(error.to_string())),
            Ok(result) => Ok(result),
        }
    }

    /// Why the copier leaves the operation to another one by its rules.
    fn refusal(&self, copier: NamedCopier, case: Case) -> Option<Unable> {
        if copier.kind() == CopierKind::Loop {
            return None;
        }
        let (least, payload) = (self.settings.kernel.copier_min_bytes.unwrap_or(0), case.bytes.min(FRAME_BYTES));
        match case.operation {
            CaseOperation::Zero => CopyMethod::of(copier.policy).has_device().then_some(Unable::DoesNotZero),
            CaseOperation::Copy(_) | CaseOperation::Receive(_) => (payload < least).then_some(Unable::TooSmall(least)),
        }
    }

    fn figures(&self, copier: NamedCopier, case: Case, stop: &AtomicBool) -> Result<CopierResult, ExperimentError> {
        let core_ns = self.system.system().clock().ns(Cycles(1)) / self.settings.clock.per_clock();
        let settings = copier.applied_to(self.settings);
        let source = match case.operation {
            CaseOperation::Copy(source) => source,
            CaseOperation::Zero => SourceState::Cold,
            CaseOperation::Receive(delivery) => {
                let (machine, receiver) =
                    receive::of_message(&settings, &self.receiver, delivery, case.bytes, case.read_percent, core_ns);
                let outcome = self.run(copier, machine, Box::new(receiver), Region::default(), stop)?;
                let core = &outcome.cores.as_ref().expect("a program ran on a core").cores[0];
                let busy_ns = (core.cycles as f64 - core.stall_cycles.idle) * core_ns;
                let found = CopierFigures { cpu_ns: Some(busy_ns), ..figures(&outcome, core_ns) };
                return Ok(copier_result(copier, &outcome, found));
            }
        };
        let is_zeroing = case.operation == CaseOperation::Zero;
        let copies = Memcopy {
            operation: if is_zeroing { BufferOperation::Zero } else { BufferOperation::Copy },
            source,
            read_share: case.read_percent as f64 / 100.0,
            working_set_bytes: self.working_set_bytes,
            ..Memcopy::new(case.bytes)
        };
        let outcome = self.copies(copier, settings, copies, stop)?;
        let mut found = CopierFigures { extra_misses: None, ..figures(&outcome, core_ns) };
        if self.working_set_bytes >= LINE_BYTES {
            let requested = |read_again| {
                let again = self.copies(copier, settings, Memcopy { read_again, ..copies }, stop)?;
                Ok::<_, ExperimentError>(requested(&again).saturating_sub(requested(&outcome)))
            };
            found.lines_lost = Some(requested(ReadAgain::Backward)?);
            found.extra_misses = Some(requested(ReadAgain::Forward)?);
        }
        Ok(copier_result(copier, &outcome, found))
    }

    /// Runs a program that copies or zeroes.
    fn copies(
        &self,
        copier: NamedCopier,
        settings: MachineSettings,
        copies: Memcopy,
        stop: &AtomicBool,
    ) -> Result<Outcome, ExperimentError> {
        let unit = self.system.copy_unit_bytes(settings.allocator.copy_unit);
        self.run(copier, settings, copies.program(unit), copies.region(), stop)
    }

    fn run(
        &self,
        copier: NamedCopier,
        settings: MachineSettings,
        program: Box<dyn Program>,
        region: Region,
        stop: &AtomicBool,
    ) -> Result<Outcome, ExperimentError> {
        let programs = Programs { settings, devices: *self.devices, programs: vec![program], regions: vec![region] };
        let experiment = Experiment {
            is_checked: self.is_checked,
            ..Experiment::programs(self.system, programs).policy(copier.policy)
        };
        experiment.run_with(Attachments { stop: Some(stop), ..Attachments::default() })
    }
}

/// Lines that loads and stores of the program, or a prefetcher, requested from memory.
fn requested(outcome: &Outcome) -> u64 {
    let cores = outcome.cores.iter().flat_map(|cores| &cores.cores);
    cores.map(|core| core.accesses[0].misses + core.prefetches.map_or(0, |prefetches| prefetches.requested)).sum()
}

/// Share of the bytes that were copied or zeroed in DRAM.
fn in_dram_share(outcome: &Outcome) -> f64 {
    let bytes = |counts: fn(&&crate::ServedRow) -> bool| -> u64 {
        outcome.served.iter().filter(counts).map(|row| row.bytes).sum()
    };
    let (all, in_dram) = (bytes(|_| true), bytes(|row| row.mechanism != Mechanism::CHANNEL.name()));
    if all > 0 { in_dram as f64 / all as f64 } else { 0.0 }
}

/// Figures of a run; `core_ns` is a core cycle.
fn figures(outcome: &Outcome, core_ns: f64) -> CopierFigures {
    let cores = outcome.cores.as_ref();
    let copy_cycles = |cores: &crate::CoresReport| cores.cores.iter().map(|core| core.copy_cycles).sum::<f64>();
    CopierFigures {
        time_ns: outcome.latency_ns,
        cpu_ns: cores.map(|cores| copy_cycles(cores) * core_ns),
        energy_nj: cores.map_or(outcome.figures.dynamic_energy_nj, |cores| cores.dynamic_energy_nj),
        channel_bytes: cores.map_or(outcome.figures.channel_bytes, |cores| cores.channel_bytes),
        lines_lost: None,
        extra_misses: cores.map(|_| requested(outcome)),
        in_dram_share: in_dram_share(outcome),
    }
}

/// The result of a run, unless its policy copies in DRAM, and the run copied nothing there.
fn copier_result(copier: NamedCopier, outcome: &Outcome, figures: CopierFigures) -> CopierResult {
    let is_in_dram = copier.policy.needs_dram();
    let most = outcome.served.iter().max_by_key(|row| row.bytes);
    // A policy that weighs mechanisms may have preferred the channel.
    let is_choice = |row: &&crate::ServedRow| row.reason == Some(copier.policy.preference().0);
    let over_channel = most.filter(|row| is_in_dram && figures.in_dram_share == 0.0 && !is_choice(row));
    CopierResult {
        figures: over_channel.map_or(Ok(figures), |row| Err(Unable::OverChannel(row.reason.unwrap_or_default()))),
        passed_checks: outcome.passed_checks(),
    }
}

impl CopierResult {
    /// The result of a run of a scenario under a copier.
    pub fn of_outcome(copier: NamedCopier, outcome: &Outcome) -> CopierResult {
        let cycles: u64 =
            outcome.cores.iter().flat_map(|cores| &cores.cores).map(|core| core.cycles).max().unwrap_or(0);
        let core_ns = if cycles > 0 { outcome.latency_ns / cycles as f64 } else { 0.0 };
        copier_result(copier, outcome, figures(outcome, core_ns))
    }
}
