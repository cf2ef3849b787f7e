//! Copy policies, which choose the mechanism of each part of a copy.
//!
//! To add a policy, implement [`CopyPolicy`] in a separate file and add it to [`POLICIES`].

mod baseline;
mod fastest;
mod least_energy;
mod only;
mod rowclone_rule;
mod with_cores;

use std::fmt;

use dram_spec::Cycle;
use rowclone::{Block, FPM, Mechanism, PSM, PSM2, Part, Program};

pub use baseline::Baseline;
pub use fastest::Fastest;
pub use least_energy::LeastEnergy;
pub use only::Only;
pub use rowclone_rule::RowCloneRule;
pub use with_cores::WithCores;

use crate::price::{PriceTable, energy};

/// Chooses the mechanism of each part of a copy.
pub trait CopyPolicy: fmt::Debug + Send + Sync {
    /// Name in scenarios and reports.
    fn name(&self) -> &'static str;

    /// Mechanisms that the policy admits, the preferred one first. The last is the channel, which
    /// is always possible.
    fn admits(&self) -> &'static [Mechanism];

    /// Chooses the mechanism of a part: by default, the first that the policy admits and the part
    /// allows.
    fn choose(&self, block: &Block, part: usize, outlook: &Outlook<'_>) -> Mechanism {
        let _ = outlook;
        self.preferred(&block.parts()[part])
    }

    /// Whether [`Self::choose`] depends on the state of the memory.
    fn weighs(&self) -> bool {
        false
    }

    /// Whether [`Self::choose`] needs the energy of each command, [`Config::prices`](crate::Config::prices).
    fn needs_prices(&self) -> bool {
        false
    }

    /// Whether the policy prefers a mechanism inside the DRAM.
    fn needs_dram(&self) -> bool {
        self.admits().first().is_some_and(|first| *first != Mechanism::CHANNEL)
    }

    /// The policy that copies in the same way where no program runs on cores; none if this policy needs
    /// no cores.
    fn without_cores(&self) -> Option<&'static dyn CopyPolicy> {
        None
    }

    /// Reason why the policy chose another mechanism than its preferred one: a key for statistics,
    /// and a phrase that the name of the preferred mechanism completes.
    fn preference(&self) -> (&'static str, &'static str) {
        (BY_POLICY, "preferred by the policy to")
    }

    /// The first mechanism that the policy admits and a part allows.
    fn preferred(&self, part: &Part) -> Mechanism {
        let possible = |mechanism: &&Mechanism| part.allows(**mechanism).is_ok();
        *self.admits().iter().find(possible).unwrap_or(&Mechanism::CHANNEL)
    }
}

/// Reason why a part is not served by the first mechanism that the policy admits, for statistics
/// and reports:
///
/// - [`FIRST_CHOICE`]: it is.
/// - [`BY_POLICY`]: the policy admits no mechanism inside the DRAM.
/// - [`CopyPolicy::preference`]: the policy weighs mechanisms, and prefers another one.
/// - The planner's reason against that mechanism.
pub fn reason(policy: &dyn CopyPolicy, part: &Part, chosen: Mechanism) -> &'static str {
    let first = policy.admits()[0];
    if first == Mechanism::CHANNEL {
        return BY_POLICY;
    }
    // A part allows what was chosen for it.
    if chosen == first {
        return FIRST_CHOICE;
    }
    match part.allows(first) {
        _ if chosen != policy.preferred(part) => policy.preference().0,
        Ok(()) => FIRST_CHOICE,
        Err(reason) => reason.name(),
    }
}

/// The reason as a sentence without its full stop.
pub fn explain(policy: &dyn CopyPolicy, part: &Part, chosen: Mechanism) -> String {
    let (first, preferred) = (policy.admits()[0], policy.preferred(part));
    match part.allows(first) {
        _ if first == Mechanism::CHANNEL => "the policy admits no mechanism inside the DRAM".to_owned(),
        _ if chosen != preferred => format!("{} {}", policy.preference().1, preferred.name()),
        Ok(()) => "the first choice of the policy".to_owned(),
        Err(reason) => reason.to_string(),
    }
}

/// Reason of a part served by the first mechanism that the policy admits.
pub const FIRST_CHOICE: &str = "fastest";
/// Reason of a part under a policy that admits no mechanism inside the DRAM.
pub const BY_POLICY: &str = "policy";

/// Every copy uses the channel.
pub const BASELINE: &dyn CopyPolicy = &Baseline;
/// FPM, else the channel.
pub const FPM_ONLY: &dyn CopyPolicy = &Only { name: "fpm-only", admits: &[FPM, Mechanism::CHANNEL] };
/// PSM or 2 x PSM, else the channel.
pub const PSM_ONLY: &dyn CopyPolicy = &Only { name: "psm-only", admits: &[PSM, PSM2, Mechanism::CHANNEL] };
/// The paper's rule.
pub const ROWCLONE: &dyn CopyPolicy = &RowCloneRule;
/// FPM within a subarray, LISA between subarrays of a bank, else the channel.
pub const LISA: &dyn CopyPolicy = &Only { name: "lisa", admits: &[FPM, rowclone::LISA, Mechanism::CHANNEL] };
/// The paper's rule, with LISA instead of 2 x PSM between subarrays.
pub const ROWCLONE_LISA: &dyn CopyPolicy =
    &Only { name: "rowclone+lisa", admits: &[FPM, rowclone::LISA, PSM, PSM2, Mechanism::CHANNEL] };
/// The mechanism with the earliest estimated completion.
pub const FASTEST: &dyn CopyPolicy = &Fastest;
/// The mechanism with the least energy.
pub const LEAST_ENERGY: &dyn CopyPolicy = &LeastEnergy;

/// The controller's copy over the channel, for programs on cores; with cores, the baseline is a loop of
/// the kernel.
pub const CONTROLLER_COPY: &dyn CopyPolicy = &WithCores::over_channel("controller-copy");
/// The paper's rule, with clean zero lines inserted into the caches of cores (RowClone-ZI).
pub const ROWCLONE_ZI: &dyn CopyPolicy = &WithCores::in_dram("rowclone-zi");
/// A copy engine for whose copies the core waits, with one FIFO queue of engine and cores.
pub const COPY_ENGINE_SYNC_NLB: &dyn CopyPolicy = &WithCores::over_channel("copy-engine-sync-nlb");
/// As before, with accesses of cores before those of the engine.
pub const COPY_ENGINE_SYNC_WLB: &dyn CopyPolicy = &WithCores::over_channel("copy-engine-sync-wlb");
/// A copy engine that copies while its core continues.
pub const COPY_ENGINE_ASYNC: &dyn CopyPolicy = &WithCores::over_channel("copy-engine-async");
/// [`COPY_ENGINE_SYNC_NLB`], whose copies the controller executes by the paper's rule.
pub const COPY_ENGINE_SYNC_NLB_ROWCLONE: &dyn CopyPolicy = &WithCores::in_dram("copy-engine-sync-nlb-rowclone");
/// [`COPY_ENGINE_SYNC_WLB`], whose copies the controller executes by the paper's rule.
pub const COPY_ENGINE_SYNC_WLB_ROWCLONE: &dyn CopyPolicy = &WithCores::in_dram("copy-engine-sync-wlb-rowclone");
/// [`COPY_ENGINE_ASYNC`], whose copies the controller executes by the paper's rule.
pub const COPY_ENGINE_ASYNC_ROWCLONE: &dyn CopyPolicy = &WithCores::in_dram("copy-engine-async-rowclone");
/// A DMA engine with descriptor rings in memory.
pub const DMA: &dyn CopyPolicy = &WithCores::over_channel("dma");
/// [`DMA`], whose copies the controller executes by the paper's rule.
pub const DMA_ROWCLONE: &dyn CopyPolicy = &WithCores::in_dram("dma-rowclone");

/// All policies that need no cores, in the order of reports.
pub const POLICIES: [&dyn CopyPolicy; 8] =
    [BASELINE, FPM_ONLY, PSM_ONLY, ROWCLONE, LISA, ROWCLONE_LISA, FASTEST, LEAST_ENERGY];

/// The policies that need programs on cores, in the order of reports.
pub const WITH_CORES: [&dyn CopyPolicy; 10] = [
    CONTROLLER_COPY,
    ROWCLONE_ZI,
    COPY_ENGINE_SYNC_NLB,
    COPY_ENGINE_SYNC_WLB,
    COPY_ENGINE_ASYNC,
    COPY_ENGINE_SYNC_NLB_ROWCLONE,
    COPY_ENGINE_SYNC_WLB_ROWCLONE,
    COPY_ENGINE_ASYNC_ROWCLONE,
    DMA,
    DMA_ROWCLONE,
];

/// The policy with this name.
pub fn named(name: &str) -> Option<&'static dyn CopyPolicy> {
    POLICIES.into_iter().chain(WITH_CORES).find(|policy| policy.name() == name)
}

/// Policies are equal if their names are equal.
impl PartialEq for dyn CopyPolicy {
    fn eq(&self, other: &dyn CopyPolicy) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn CopyPolicy {}

/// Estimates from the present state of the memory.
pub trait Forecast {
    /// Estimated completion of a program.
    fn done(&self, program: &Program) -> Cycle;
}

/// Inputs of a policy when a block is planned.
#[derive(Clone, Copy)]
pub struct Outlook<'a> {
    pub(crate) forecast: &'a dyn Forecast,
    pub(crate) prices: Option<&'a PriceTable>,
    pub(crate) staging_lines: usize,
}

impl Outlook<'_> {
    /// Programs of a part under a mechanism.
    pub fn programs(&self, block: &Block, part: usize, mechanism: Mechanism) -> Vec<Program> {
        block.programs_of(part, mechanism, self.staging_lines)
    }

    /// Estimated completion of a program.
    pub fn done(&self, program: &Program) -> Cycle {
        self.forecast.done(program)
    }

    /// Dynamic energy of a program, in pJ.
    ///
    /// # Panics
    /// If the controller has no prices.
    pub fn energy(&self, program: &Program) -> f64 {
        energy(program, self.prices.expect("this copy policy needs prices")).0
    }

    /// The mechanism with the least value over its programs, of those that the policy admits and
    /// the part allows; of equal ones, the preferred one.
    pub fn least<T: PartialOrd>(
        &self,
        policy: &dyn CopyPolicy,
        block: &Block,
        part: usize,
        price: impl Fn(&[Program]) -> T,
    ) -> Mechanism {
        let mut best: Option<(T, Mechanism)> = None;
        for &mechanism in policy.admits() {
            if block.parts()[part].allows(mechanism).is_err() {
                continue;
            }
            let price = price(&self.programs(block, part, mechanism));
            if best.as_ref().is_none_or(|(least, _)| price < *least) {
                best = Some((price, mechanism));
            }
        }
        best.map_or(Mechanism::CHANNEL, |(_, mechanism)| mechanism)
    }
}
