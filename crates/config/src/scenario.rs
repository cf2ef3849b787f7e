//! A scenario: a system or a machine, copy policies, and operations or a workload.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use dram_spec::{Cycles, Min};
use host::AllocatorSettings;
use host::machine::MachineError;
use memctrl::policy::copy::{BASELINE, CopyPolicy, POLICIES, WITH_CORES};
use rowclone_sim::compare::NamedCopier;
use rowclone_sim::{CYCLES_MAX, CopyMethod, Experiment, ExperimentError, Programs};

use crate::key::{Holds, Key};
use crate::operations::check_operations;
use crate::trace_workload::needs_allocator;
use crate::variant::{Placement, Variant, check_copiers, check_policies};
use crate::workload::{Workload, check_machine, check_settings, check_workload};
use crate::{
    AllocatorConfig, CorePrograms, CoreWorkload, Document, Failure, Library, MachineConfig, Overrides, ResolvedSystem,
    Source, SystemConfig, TraceWorkload, allocator, cores, file, operations, preset, programs, workload,
};

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its file.
    pub path: PathBuf,
    /// Name in reports: the name of the file without `.toml`.
    pub name: String,
    /// The memory system, which is that of the machine where there is one.
    pub system: SystemConfig,
    /// The machine on which programs run.
    pub machine: Option<MachineConfig>,
    /// Copy policies, at least one, each once: those listed, or those of the listed copiers.
    pub policies: Vec<&'static dyn CopyPolicy>,
    /// Copiers, at least one, each once: those listed, or one per listed policy.
    pub copiers: Vec<NamedCopier>,
    /// Whether it has the key `copiers`.
    lists_copiers: bool,
    /// Seed of memory contents, written data and random addresses.
    pub seed: u64,
    /// First cycle of the figures.
    pub warm_up: Cycles,
    /// Length of an epoch; each epoch has its own figures.
    pub epoch: Option<Cycles>,
    /// Operations or workload.
    pub workload: Workload,
    /// Allocators that place pages; none where the scenario gives addresses.
    pub allocator: Option<AllocatorConfig>,
}

impl Scenario {
    /// Its runs: each policy or copier with each placement of its pages.
    pub fn variants(&self) -> Vec<Variant> {
        let given = match &self.workload {
            Workload::Trace(trace) if trace.as_recorded => Some(Placement::AsRecorded),
            Workload::Made(settings) if !settings.needs_allocator() => Some(Placement::Given),
            Workload::Operations(_) | Workload::Programs(_) => Some(Placement::Given),
            Workload::Trace(_) | Workload::Made(_) => None,
        };
        let placed = self.allocator.iter().flat_map(|allocator| &allocator.policies);
        let placements: Vec<_> = given.into_iter().chain(placed.map(|&policy| Placement::Allocator(policy))).collect();
        let with = |&NamedCopier { policy, copy_loop }: &NamedCopier| {
            placements.iter().map(move |&placement| Variant { policy, copy_loop, placement })
        };
        self.copiers.iter().flat_map(with).collect()
    }

    /// The run to which the ratios of a run refer: the policy `baseline`, where an allocator places pages with the
    /// reference allocator, else with the placement of the run.
    pub fn reference(&self, of: Variant) -> Variant {
        let allocator = self.allocator.as_ref().filter(|_| of.placement.allocator().is_some());
        let placement = allocator.map_or(of.placement, |allocator| Placement::Allocator(allocator.reference));
        Variant::of_policy(BASELINE, placement)
    }

    /// The references of its runs that are none of its runs, each once.
    pub fn unlisted_references(&self) -> Vec<Variant> {
        let variants = self.variants();
        let mut unlisted: Vec<Variant> = Vec::new();
        for reference in variants.iter().map(|&variant| self.reference(variant)) {
            if !variants.contains(&reference) && !unlisted.contains(&reference) {
                unlisted.push(reference);
            }
        }
        unlisted
    }
}

/// Keys of a scenario.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    [OWN_KEYS, operations::KEYS, workload::KEYS, cores::KEYS, allocator::KEYS, allocator::REFERENCE_KEYS].concat()
});

#[rustfmt::skip]
const OWN_KEYS: &[Key] = &[
    Key::new("system", Holds::Path, "\"../configs/ddr3-1066-paper.toml\"", "the system: its file, or the name of a preset (`rowclone-sim systems`); either this or `machine`").values("a path, or the name of a preset").or("that of the machine"),
    Key::new("machine", Holds::Path, "\"../configs/paper.toml\"", "the machine, for programs on cores (`cores.md`): its file, or the name of a preset, which `rowclone-sim systems` lists").values("a path, or the name of a preset").or("no cores"),
    Key::new("policies", Holds::Names(|| POLICIES.into_iter().chain(WITH_CORES).map(CopyPolicy::name).collect()), "[\"baseline\", \"rowclone\"]", "copy policies; the scenario runs once for each; `controller-copy`, `rowclone-zi` and those of devices, from `copy-engine-sync-nlb` on, need a `machine`").or("`copiers`").renamed(&[("channel", "baseline"), ("fpm", "fpm-only"), ("psm", "psm-only"), ("rule", "rowclone")]),
    Key::new("copiers", Holds::NameOrNames(NamedCopier::names), "[\"loop-cached\", \"rowclone\"]", "in place of `policies`, which it replaces where both are given: loops of the kernel by name, and policies (`copiers.md`); `loop-` is followed by a value of the machine's `kernel.copy_loop`, and needs a `machine`").values("`baseline`, a name of `rowclone-sim compare --list`, or a list of these, each once").or("`policies`"),
    Key::new("seed", Holds::Count(0, SEED_MAX), "1", "seed of memory contents, written data and random addresses"),
    Key::new("warm_up_cycles", Holds::Clocks(0, CYCLES_MAX), "100_000", "figures leave out what happens before this clock").or("0"),
    Key::new("epoch_cycles", Holds::Clocks(Experiment::EPOCH_MIN, CYCLES_MAX), "1_000_000", "length of an epoch, in clocks; there are figures of each").or("no epochs"),
];

/// A scenario with its documents.
#[derive(Clone, Debug)]
pub struct ResolvedScenario {
    /// The scenario, checked.
    pub scenario: Scenario,
    /// Document of its file, with all overrides applied.
    pub document: Document,
    /// Document of its system.
    pub system: Arc<ResolvedSystem>,
    /// Document of its machine, where it has one.
    pub machine: Option<Document>,
}

/// Largest integer of TOML, and of the tables with seeds.
const SEED_MAX: u64 = i64::MAX as u64;

impl Scenario {
    /// Number of copies of a copy unit in the measured region, the last one possibly of a part; none unless the
    /// workload is a `memcopy` whose region has copies alone.
    pub fn copies(&self) -> Option<u64> {
        match (&self.workload, &self.machine) {
            (Workload::Programs(CoreWorkload { programs: CorePrograms::Memcopy(copies), .. }), Some(machine)) => {
                copies.is_copies_alone().then(|| copies.bytes.div_ceil(machine.unit_bytes()))
            }
            _ => None,
        }
    }

    /// Reads and checks a scenario and its system; `sets` are the `--set` of the command line.
    ///
    /// # Errors
    /// A file cannot be read, has an error, or contains an operation that is impossible on this system.
    pub fn read(path: &Path, sets: &[String]) -> Result<Scenario, Failure> {
        Ok(ResolvedScenario::read(&Library::default(), path, sets)?.scenario)
    }

    /// A trace without a scenario file, under the policies `baseline` and `rowclone`, with seed 1. Without a system, it
    /// is that of the `RowClone` paper; `placement` is `workload.placement`.
    ///
    /// # Errors
    /// As [`Scenario::read`]; or the format has virtual addresses, and no placement is given.
    pub fn of_trace(
        trace: &Path,
        system: Option<&Path>,
        placement: Option<&str>,
        sets: &[String],
    ) -> Result<Scenario, Failure> {
        let mut overrides = Overrides::parse(sets)?;
        let for_system = overrides.take_prefix("system");
        let absolute = |path: &Path| {
            let path = std::path::absolute(path).map_err(|error| Failure::reading(path, &error))?;
            Ok::<_, Failure>(toml::Value::String(path.display().to_string()))
        };
        let system = match system {
            Some(argument) => Source::of_argument(argument, preset::SYSTEMS)?,
            None => Source::Preset(&preset::SYSTEMS[0]),
        };
        let (file, system_file) = (absolute(trace)?, absolute(&system.path())?);
        let placement = placement.or_else(|| needs_allocator(trace).then_some(Placement::ALLOCATOR));
        let placed = match placement {
            Some(Placement::ALLOCATOR) => "\nallocator.policies = [\"buddy\", \"subarray-aware\"]",
            _ => "",
        };
        let placement = placement.map_or_else(String::new, |name| {
            format!("workload.placement = {}{placed}", toml::Value::String(name.to_owned()))
        });
        let text = format!(
            "system = {system_file}\npolicies = [\"baseline\", \"rowclone\"]\nseed = 1\n\
             workload.kind = \"trace\"\nworkload.file = {file}\n{placement}\n"
        );
        let argument = format!("--trace {}", trace.display());
        let mut document = Document::of_argument(&argument, trace, &text, &KEYS)?;
        document.apply(&overrides)?;
        document.check()?;
        let system = SystemConfig::of(&system, &for_system)?;
        Scenario::check(&mut document, system, None)
    }

    /// A recording without a scenario file, on the cores of a machine, under the policies of `programs`, with seed 1.
    /// Without `machine` among the sets, the machine is that of the `RowClone` paper.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn of_recording(recording: &Path, sets: &[String]) -> Result<Scenario, Failure> {
        let path = std::path::absolute(recording).map_err(|error| Failure::reading(recording, &error))?;
        let file = toml::Value::String(path.display().to_string());
        let text = format!(
            "machine = \"{}\"\nseed = 1\n\
             policies = [\"baseline\", \"controller-copy\", \"psm-only\", \"rowclone\", \"rowclone-zi\"]\n\
             workload.kind = \"programs\"\nworkload.files = [{file}]\n",
            preset::MACHINES[0].name
        );
        let document = Document::of_argument(&recording.display().to_string(), recording, &text, &KEYS)?;
        Ok(ResolvedScenario::of_document(&Library::default(), document, Overrides::parse(sets)?)?.scenario)
    }

    /// The key that lists who copies: `copiers`, or else `policies`.
    pub const fn key_of_copiers(&self) -> &'static str {
        if self.lists_copiers { "copiers" } else { "policies" }
    }

    /// Converts a run of the scenario to an experiment, which has no checks. `text` returns the reader of the bytes of
    /// a trace.
    ///
    /// # Errors
    /// A trace or a program cannot be read.
    ///
    /// # Panics
    /// If the scenario has programs and no machine, which loading a scenario excludes.
    pub fn experiment(
        &self,
        variant: Variant,
        text: impl FnOnce(file::Input) -> Box<dyn Read>,
    ) -> Result<Experiment<'_>, Failure> {
        let memory = &self.system.memory;
        let workload = match &self.workload {
            Workload::Operations(listed) => rowclone_sim::Requests::Operations(listed.clone()),
            Workload::Made(settings) => {
                rowclone_sim::Requests::Made { settings: settings.clone(), allocator: self.allocator_of(variant) }
            }
            Workload::Trace(TraceWorkload { path, format, unusable, timing, fault_ps, .. }) => {
                let input = file::open(path).map_err(|error| Failure::reading(path, &error))?;
                rowclone_sim::Requests::Trace(rowclone_sim::RecordedTrace {
                    name: path.display().to_string(),
                    text: text(input),
                    format: Some(format),
                    unusable: *unusable,
                    timing: *timing,
                    allocator: self.allocator_of(variant),
                    fault: memory.system().clock().at_least(Min::ps(*fault_ps)),
                })
            }
            Workload::Programs(workload) => {
                let machine = self.machine.as_ref().expect("programs have a machine");
                let settings = programs::recording_settings(workload.copies, CopyMethod::of(variant.policy));
                let programs = programs::of_workload(workload, machine, settings)?;
                rowclone_sim::Requests::Programs(Box::new(Programs {
                    settings: variant.copier().applied_to(&machine.settings),
                    devices: machine.devices,
                    regions: vec![workload.region; programs.len()],
                    programs,
                }))
            }
        };
        Ok(Experiment {
            policy: variant.policy,
            seed: self.seed,
            warm_up: self.warm_up,
            epoch: self.epoch,
            ..Experiment::new(memory, workload)
        })
    }

    /// Settings of the allocator that places the pages of a run, if one does.
    fn allocator_of(&self, variant: Variant) -> Option<AllocatorSettings> {
        let (config, policy) = self.allocator.as_ref().zip(variant.placement.allocator())?;
        Some(config.settings(policy, self.seed))
    }

    /// Converts an error of an experiment; errors of a trace or a program name its file.
    pub fn failure(&self, error: ExperimentError) -> Failure {
        match (&error, &self.workload) {
            (ExperimentError::Stopped, _) => Failure::interrupted().with_help("no file was written"),
            (ExperimentError::Trace(error), Workload::Trace(trace)) => {
                Failure::of_reader(&trace.path, error).with_help(error.help())
            }
            (
                ExperimentError::Machine(MachineError::Program { core, .. } | MachineError::Fault { core, .. }),
                Workload::Programs(programs),
            ) => match programs.files().get(*core) {
                Some(path) => {
                    Failure::new(format!("{}: {error}", path.display())).with_help_if(error.help().as_deref())
                }
                None => Failure::from(error),
            },
            _ => Failure::from(error),
        }
    }

    /// Checks a document with all overrides applied.
    fn check(
        document: &mut Document,
        system: SystemConfig,
        machine: Option<MachineConfig>,
    ) -> Result<Scenario, Failure> {
        document.resolve_clocks(system.memory.system().clock())?;
        let copiers = check_copiers(document)?;
        let mut policies: Vec<&'static dyn CopyPolicy> = Vec::new();
        for copier in &copiers {
            if !policies.contains(&copier.policy) {
                policies.push(copier.policy);
            }
        }
        check_policies(document, &copiers, &system)?;
        let root = document.root();
        let seed = root.of("seed");
        let workload = match (root.has("operation"), root.table("workload")) {
            (true, Some(_)) => {
                let message = "has both `[workload]` and `[[operation]]`";
                let help = "leave one of them out: a scenario has a workload, or a list of operations";
                return Err(document.fault("workload", message).with_help(help));
            }
            (false, None) => {
                let help = "add an `[[operation]]`, or a `[workload]`";
                return Err(document.fault("", "has neither `[[operation]]` nor `[workload]`").with_help(help));
            }
            (true, None) => {
                check_machine(document, None)?;
                Workload::Operations(check_operations(document, &system)?)
            }
            (false, Some(table)) => {
                check_machine(document, table.text("kind"))?;
                check_workload(&table, seed, &system)?
            }
        };
        let allocator = check_allocator(document, &workload)?;
        if let Workload::Made(settings) = &workload {
            check_settings(document, settings, allocator.as_ref().map(|config| config.all(seed)), &system)?;
        }
        Ok(Scenario {
            path: document.path().to_owned(),
            name: document.name(),
            system,
            machine,
            policies,
            copiers,
            lists_copiers: document.root().has("copiers"),
            seed,
            warm_up: Cycles(root.get("warm_up_cycles").unwrap_or(0)),
            epoch: root.get("epoch_cycles").map(Cycles),
            workload,
            allocator,
        })
    }
}

impl ResolvedScenario {
    /// [`Scenario::read`] with the files of a library, which reads each of them once.
    ///
    /// # Errors
    /// As there.
    pub fn read(library: &Library, path: &Path, sets: &[String]) -> Result<ResolvedScenario, Failure> {
        let overrides = Overrides::parse(sets)?;
        let document = library.document(&Source::File(path.to_owned()), &KEYS)?;
        ResolvedScenario::of_document(library, document, overrides)
    }

    fn of_document(
        library: &Library,
        mut document: Document,
        mut overrides: Overrides,
    ) -> Result<ResolvedScenario, Failure> {
        let [for_system, for_machine] = ["system", "machine"].map(|prefix| overrides.take_prefix(prefix));
        document.apply(&overrides)?;
        document.check()?;
        let (machine, system) = match one_of_two(&document, &for_machine)? {
            "machine" => {
                let source = document.root().linked_or_preset("machine", preset::MACHINES)?;
                let (machine, system) = library.machine(&source, &for_machine, &for_system)?;
                (Some(machine), system)
            }
            name => {
                let source = document.root().linked_or_preset(name, preset::SYSTEMS)?;
                (None, library.system(&source, &for_system)?)
            }
        };
        let (config, of_machine) = machine.map(|machine| (machine.config, machine.document)).unzip();
        let scenario = Scenario::check(&mut document, system.config.clone(), config)?;
        Ok(ResolvedScenario { scenario, document, system, machine: of_machine })
    }
}

/// The key that names the hardware: `system` or `machine`, of which a scenario has one.
fn one_of_two(document: &Document, for_machine: &Overrides) -> Result<&'static str, Failure> {
    let root = document.root();
    match (root.has("system"), root.has("machine")) {
        (true, true) => {
            let help = "leave one of them out: a machine file names its system file; `--set system.KEY=VALUE` changes \
                its keys";
            Err(document.fault("machine", "has both `system` and `machine`").with_help(help))
        }
        (false, false) => {
            let help = "add for example `system = \"../configs/ddr3-1066-paper.toml\"`, or for programs on cores \
                        `machine = \"../configs/paper.toml\"`";
            Err(document.fault("", "`system` is missing, and so is `machine`").with_help(help))
        }
        (false, true) => Ok("machine"),
        (true, false) => match for_machine.first() {
            None => Ok("system"),
            Some(text) => {
                let message = format!("--set {text}: the scenario {} has no `machine`", document.path().display());
                Err(Failure::new(message)
                    .with_help("name a machine file instead of `system`, or leave out the `--set`"))
            }
        },
    }
}

/// The allocators, required where allocators place pages, else refused.
fn check_allocator(document: &Document, workload: &Workload) -> Result<Option<AllocatorConfig>, Failure> {
    let (root, is_placed) = (document.root(), workload.is_placed());
    let given = ["allocator", "reference"].into_iter().find(|name| root.has(name));
    if let Some(name) = given.filter(|_| !is_placed) {
        let message = format!("`{name}` is given, but no page of this scenario is placed by an allocator");
        let help = match workload {
            Workload::Trace(_) => "leave it out, or write `placement = \"allocator\"` in `workload`",
            Workload::Programs(_) => "leave it out: the machine file has `kernel.baseline_allocator`",
            _ => "leave it out",
        };
        return Err(document.fault(name, message).with_help(help));
    }
    match root.table("allocator") {
        None if is_placed => {
            let message = "`allocator` is missing, and pages of this workload are placed by one";
            let help = "add a table `[allocator]` with for example `policies = [\"buddy\", \"subarray-aware\"]`";
            Err(document.fault("workload", message).with_help(help))
        }
        table => {
            let reference = root.table_or_empty("reference");
            table.map(|table| AllocatorConfig::check(&table, &reference)).transpose()
        }
    }
}
