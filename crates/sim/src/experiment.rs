//! An experiment: one workload on one system under one copy policy.

use dram_spec::Cycles;
use host::{Contents, OperationSpec};
use memctrl::policy::copy::{BASELINE, CopyPolicy, ROWCLONE};
use os_alloc_sim::Policy;

use crate::error::ExperimentError;
use crate::observer::Attachments;
use crate::outcome::Outcome;
use crate::range::{CYCLES_MAX, within};
use crate::run::Run;
use crate::system::MemorySystem;
use crate::workload::{Programs, Trace, Workload};

/// One workload on one system under one copy policy.
pub struct Experiment<'a> {
    /// The system.
    pub system: &'a MemorySystem,
    /// Copy policy.
    pub policy: &'static dyn CopyPolicy,
    /// Requests.
    pub workload: Workload<'a>,
    /// Seed of generated workloads, and of memory contents.
    pub seed: u64,
    /// Length of the warm-up, which the figures exclude; at most [`CYCLES_MAX`].
    pub warm_up: Cycles,
    /// Length of an epoch, if figures of epochs are required; from [`Experiment::EPOCH_MIN`] to
    /// [`CYCLES_MAX`].
    pub epoch: Option<Cycles>,
    /// Whether to check the commands against the rules, and the memory against a flat memory. The
    /// seed determines the contents at reset.
    pub is_checked: bool,
}

impl<'a> Experiment<'a> {
    /// Shortest epoch. The figures of all epochs are stored, so short epochs take much memory.
    pub const EPOCH_MIN: u64 = 100;

    /// Creates an experiment under the paper's rule with seed 1, without warm-up, epochs and
    /// checks.
    pub fn new(system: &'a MemorySystem, workload: Workload<'a>) -> Experiment<'a> {
        Experiment { system, policy: ROWCLONE, workload, seed: 1, warm_up: Cycles(0), epoch: None, is_checked: false }
    }

    /// Creates an experiment with a list of operations under the paper's rule.
    pub fn operations(system: &'a MemorySystem, operations: impl Into<Vec<OperationSpec>>) -> Experiment<'a> {
        Experiment::new(system, Workload::Operations(operations.into()))
    }

    /// Creates an experiment with programs on cores, under the paper's rule.
    pub fn programs(system: &'a MemorySystem, programs: Programs) -> Experiment<'a> {
        Experiment::new(system, Workload::Programs(Box::new(programs)))
    }

    /// Sets the copy policy.
    #[must_use]
    pub fn policy(self, policy: &'static dyn CopyPolicy) -> Experiment<'a> {
        Experiment { policy, ..self }
    }

    /// Turns the experiment into the reference of its ratios: its workload under the policy
    /// `baseline`, with pages placed by `allocator` where an allocator places them. The settings of
    /// programs on cores already name their allocator of the baseline.
    #[must_use]
    pub fn reference(mut self, allocator: Policy) -> Experiment<'a> {
        if let Workload::Made { allocator: Some(placed), .. } | Workload::Trace(Trace { allocator: Some(placed), .. }) =
            &mut self.workload
        {
            placed.policy = allocator;
        }
        self.policy(BASELINE)
    }

    /// Enables the checks of commands and memory.
    #[must_use]
    pub fn checked(self) -> Experiment<'a> {
        Experiment { is_checked: true, ..self }
    }

    /// Runs the experiment.
    ///
    /// # Errors
    /// If the workload or trace is not possible on the system.
    pub fn run(self) -> Result<Outcome, ExperimentError> {
        self.run_with(Attachments::default())
    }

    /// Runs the experiment with observers.
    ///
    /// # Errors
    /// As [`Experiment::run`], or the run was stopped.
    pub fn run_with(self, attachments: Attachments<'_, '_>) -> Result<Outcome, ExperimentError> {
        let Experiment { system, policy, workload, seed, warm_up, epoch, is_checked } = self;
        within("warm_up", warm_up.0, 0, CYCLES_MAX)?;
        within("epoch", epoch.map_or(Experiment::EPOCH_MIN, |epoch| epoch.0), Experiment::EPOCH_MIN, CYCLES_MAX)?;
        let check = is_checked.then(|| Contents::new(seed, system.map().clone()));
        let is_listed = matches!(workload, Workload::Operations(_));
        let run = Run { system, policy, seed, warm_up, epoch, check, is_listed };
        match workload {
            Workload::Operations(specs) => run.operations(&specs, attachments),
            Workload::Made { settings, allocator } => run.made(&settings, allocator, attachments),
            Workload::Trace(trace) => run.trace(trace, attachments),
            Workload::Programs(programs) => run.programs(*programs, attachments),
        }
    }
}
