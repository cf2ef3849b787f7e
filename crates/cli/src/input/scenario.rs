//! A scenario: a system, policies, and what to do on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dram_spec::Cycles;
use host::OperationSpec;
use host::workload::Settings;
use memctrl::policy::copy::{CopyPolicy, POLICIES};
use rowclone_sim::{CYCLES_MAX, Experiment};
use serde::Deserialize;

use crate::CliError;

use super::allocator::{AllocatorConfig, RawAllocator};
use super::document::{Document, Example};
use super::operations::{RawOperation, check_operations, check_places};
use super::workload::{RawWorkload, TraceWorkload, check_settings};
use super::{Library, Overrides, ResolvedSystem, SystemConfig};

/// What to run, checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its file.
    pub path: PathBuf,
    /// What reports call it: the file's name without `.toml`.
    pub name: String,
    /// The memory system.
    pub system: SystemConfig,
    /// Under which policies to run it: at least one, each once.
    pub policies: Vec<&'static dyn CopyPolicy>,
    /// What memory contents and written data are made from.
    pub seed: u64,
    /// Figures leave out what happens before this cycle.
    pub warm_up: Cycles,
    /// Figures are also given for each stretch of so many cycles.
    pub epoch: Option<Cycles>,
    /// What to do.
    pub workload: Workload,
    /// Who places pages, where it is not the scenario or the recording.
    pub allocator: Option<AllocatorConfig>,
}

/// What a scenario does.
#[derive(Clone, Debug)]
pub enum Workload {
    /// These operations, at least one; each can be done on the system.
    Operations(Vec<OperationSpec>),
    /// What a recorded trace holds.
    Trace(TraceWorkload),
    /// Traffic made from a few settings.
    Made(Settings),
}

impl Workload {
    /// Whether pages of it are placed by allocators.
    const fn is_placed(&self) -> bool {
        match self {
            Workload::Operations(_) => false,
            Workload::Trace(trace) => trace.by_allocator,
            Workload::Made(settings) => settings.needs_allocator(),
        }
    }
}

/// Who says where the pages of a run lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The scenario itself, by its addresses.
    Given,
    /// The machine that a trace was recorded on.
    AsRecorded,
    /// An allocator.
    Allocator(os_alloc_sim::Policy),
}

impl Placement {
    /// The allocator, if one places pages.
    pub const fn allocator(self) -> Option<os_alloc_sim::Policy> {
        match self {
            Placement::Given | Placement::AsRecorded => None,
            Placement::Allocator(policy) => Some(policy),
        }
    }

    /// As reports name it; nothing where there is nobody to name.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Placement::Given => None,
            Placement::AsRecorded => Some("as-recorded"),
            Placement::Allocator(policy) => Some(policy.name()),
        }
    }
}

/// One of the runs that a scenario asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Which mechanisms copies are given.
    pub policy: &'static dyn CopyPolicy,
    /// Where its pages lie.
    pub placement: Placement,
}

impl Variant {
    /// As reports and files name it: `rule`, or `rule/buddy`.
    pub fn label(self, separator: &str) -> String {
        match self.placement.name() {
            Some(placement) => format!("{}{separator}{placement}", self.policy.name()),
            None => self.policy.name().to_owned(),
        }
    }
}

/// Every key of a scenario, with a value that it may have; tables have none.
pub const EXAMPLES: &[Example] = &[
    ("system", "\"../configs/ddr3-1066-paper.toml\""),
    ("policies", "[\"channel\", \"rule\"]"),
    ("seed", "1"),
    ("warm_up_cycles", "100_000"),
    ("epoch_cycles", "1_000_000"),
    ("operation", ""),
    ("operation.kind", "\"copy\""),
    ("operation.src", "\"same-subarray\""),
    ("operation.dst", "0x0040_0000"),
    ("operation.bytes", "4096"),
    ("operation.value", "255"),
    ("operation.at_cycle", "1000"),
    ("workload", ""),
    ("workload.kind", "\"fork\""),
    ("workload.file", "\"samples/forkset-rc.gz\""),
    ("workload.format", "\"rc\""),
    ("workload.unusable_records", "\"skip\""),
    ("workload.instructions_per_clock", "4.0"),
    ("workload.placement", "\"as-recorded\""),
    ("workload.count", "100_000"),
    ("workload.start", "0x0040_0000"),
    ("workload.bytes", "0x0100_0000"),
    ("workload.stride_bytes", "64"),
    ("workload.pattern", "\"rrw\""),
    ("workload.dst", "0x0800_0000"),
    ("workload.write_share", "0.3"),
    ("workload.copy_share", "0.01"),
    ("workload.zero_share", "0.01"),
    ("workload.page_bytes", "4096"),
    ("workload.pairs", "\"same-subarray\""),
    ("workload.by", "\"operation\""),
    ("workload.pages", "1024"),
    ("workload.fill", "\"before\""),
    ("workload.checkpoints", "2"),
    ("workload.writes", "1000"),
    ("workload.clones", "1"),
    ("workload.processes", "4"),
    ("workload.to", "\"anywhere\""),
    ("workload.window", "1"),
    ("workload.gap_cycles", "50"),
    ("workload.gap_ns", "62.5"),
    ("allocator", ""),
    ("allocator.policies", "[\"buddy\", \"subarray-aware\"]"),
    ("allocator.utilisation", "0.5"),
    ("allocator.fragmentation", "0.5"),
    ("allocator.units", "\"together\""),
];

/// A scenario, and what it was made of.
#[derive(Clone, Debug)]
pub struct ResolvedScenario {
    /// The scenario, checked.
    pub scenario: Scenario,
    /// Its file, with all overrides in their places.
    pub document: Document,
    /// Its system.
    pub system: Arc<ResolvedSystem>,
}

/// The largest integer of TOML, and of the tables in which seeds stand.
const SEED_MAX: u64 = i64::MAX as u64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    system: String,
    policies: Vec<String>,
    seed: u64,
    warm_up_cycles: Option<u64>,
    epoch_cycles: Option<u64>,
    operation: Option<Vec<RawOperation>>,
    workload: Option<RawWorkload>,
    allocator: Option<RawAllocator>,
}

impl Scenario {
    /// Reads and checks a scenario and its system; `sets` are the `--set` of the command line.
    ///
    /// # Errors
    /// A file cannot be read, something in it is wrong, or an operation cannot be done on this system.
    pub fn read(path: &Path, sets: &[String]) -> Result<Scenario, CliError> {
        Ok(ResolvedScenario::read(&Library::default(), path, sets)?.scenario)
    }

    /// Its runs: each policy with each placement of its pages.
    pub fn variants(&self) -> Vec<Variant> {
        let given = match &self.workload {
            Workload::Trace(trace) if trace.as_recorded => Some(Placement::AsRecorded),
            Workload::Made(settings) if !settings.needs_allocator() => Some(Placement::Given),
            Workload::Operations(_) => Some(Placement::Given),
            Workload::Trace(_) | Workload::Made(_) => None,
        };
        let placed = self.allocator.iter().flat_map(|allocator| &allocator.policies);
        let placements: Vec<_> = given.into_iter().chain(placed.map(|&policy| Placement::Allocator(policy))).collect();
        let with =
            |&policy: &&'static dyn CopyPolicy| placements.iter().map(move |&placement| Variant { policy, placement });
        self.policies.iter().flat_map(with).collect()
    }
}

impl ResolvedScenario {
    /// [`Scenario::read`], with files that may have been read before.
    ///
    /// # Errors
    /// As there.
    pub fn read(library: &Library, path: &Path, sets: &[String]) -> Result<ResolvedScenario, CliError> {
        let mut overrides = Overrides::parse(sets)?;
        let for_system = overrides.take_prefix("system");
        let mut document = library.document(path, EXAMPLES)?;
        document.apply(&overrides)?;
        let RawScenario { system, policies, seed, warm_up_cycles, epoch_cycles, operation, workload, allocator } =
            document.decode()?;
        let policies = document.choices("policies", &policies, &POLICIES.map(|it| (it.name(), it)))?;
        document.within("seed", seed, 0, SEED_MAX)?;
        document.within("warm_up_cycles", warm_up_cycles.unwrap_or(0), 0, CYCLES_MAX)?;
        document.within(
            "epoch_cycles",
            epoch_cycles.unwrap_or(Experiment::EPOCH_MIN),
            Experiment::EPOCH_MIN,
            CYCLES_MAX,
        )?;
        let resolved = library.system(&document.linked("system", &system)?, &for_system)?;
        let system = resolved.config.clone();
        let clock = system.memory.system().clock();
        let workload = match (operation, workload) {
            (Some(_), Some(_)) => {
                let message = "has both `[workload]` and `[[operation]]`";
                let help = "leave one of them out: a scenario has a workload, or a list of operations";
                return Err(document.fault("workload", message).with_help(help));
            }
            (None, None) => {
                let help = "add an `[[operation]]`, or a `[workload]`";
                return Err(document.fault("", "has neither `[[operation]]` nor `[workload]`").with_help(help));
            }
            (Some(operations), None) => Workload::Operations(check_operations(&document, operations)?),
            (None, Some(workload)) => workload.check(&document, clock)?,
        };
        let allocator = check_allocator(&document, allocator.as_ref(), &workload)?;
        if let Workload::Operations(operations) = &workload {
            check_places(&document, operations, &system)?;
        }
        if let Workload::Made(settings) = &workload {
            let allocators: Vec<_> = match &allocator {
                Some(config) => config.policies.iter().map(|&policy| Some(config.settings(policy, seed))).collect(),
                None => vec![None],
            };
            check_settings(&document, settings, &allocators, &system)?;
        }
        let name = document.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (warm_up, epoch) = (Cycles(warm_up_cycles.unwrap_or(0)), epoch_cycles.map(Cycles));
        let path = document.path().to_owned();
        let scenario = Scenario { path, name, system, policies, seed, warm_up, epoch, workload, allocator };
        Ok(ResolvedScenario { scenario, document, system: resolved })
    }
}

/// That there are allocators where pages are to be placed, and none where nobody would ask them.
fn check_allocator(
    document: &Document,
    raw: Option<&RawAllocator>,
    workload: &Workload,
) -> Result<Option<AllocatorConfig>, CliError> {
    match (raw, workload.is_placed()) {
        (Some(_), false) => {
            let message = "`allocator` is given, but no page of this scenario is placed by one";
            let help = match workload {
                Workload::Trace(_) => "leave it out, or write `placement = \"allocator\"` in `workload`",
                _ => "leave it out",
            };
            Err(document.fault("allocator", message).with_help(help))
        }
        (None, true) => {
            let message = "`allocator` is missing, and pages of this workload are placed by one";
            let help = "add a table `[allocator]` with for example `policies = [\"buddy\", \"subarray-aware\"]`";
            Err(document.fault("workload", message).with_help(help))
        }
        (raw, _) => raw.map(|raw| raw.check(document, workload)).transpose(),
    }
}
