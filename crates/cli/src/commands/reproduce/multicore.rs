//! `rowclone-sim reproduce multicore`: mixes of copy-intensive and memory-intensive programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use host::machine::{ChosenCopies, MixProgram, Program, Region, Steps};
use report::multicore::{MethodRuns, MixRun, MulticoreRow, MulticoreTable, RegionLength, SCHEMA_VERSION};
use report::published::published;
use rowclone_config::programs::{baseline, label, open, recording_settings};
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::{CopyMethod, CoresReport};
use trace_io::program::Step;

use crate::args::{MachineArgs, compared, count, method};
use crate::commands::core_runs::{in_parallel, run_in_regions};
use crate::commands::reproduce::output::{OutputArgs, PictureArgs};
use crate::commands::reproduce::recordings;

/// Schedulers by default.
const SCHEDULERS: [&str; 3] = ["fr-fcfs", "bliss", "par-bs"];

/// `reproduce multicore`.
#[derive(Debug, Args)]
#[command(mut_arg("plot", |plot| plot.help("Draws the gain of each \
    mix over its copy share, with the paper's means as lines; the name ends with `.svg` or `.png`")))]
#[command(after_help = "Examples:\n  \
    rowclone-sim reproduce multicore\n  \
    rowclone-sim reproduce multicore --cores 4 --schedulers bliss --details\n  \
    rowclone-sim reproduce multicore --schedulers fr-fcfs --plot gains.svg\n  \
    rowclone-sim reproduce multicore --programs generated --mixes 9 --schedulers fr-fcfs --plot gains.svg\n  \
    rowclone-sim reproduce multicore --cores 2 --trace traces/samples/forkset-rc.gz --instructions 100000")]
pub struct MulticoreArgs {
    /// The machine
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Numbers of cores, each even
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [2, 4, 8], value_parser = even)]
    pub cores: Vec<usize>,
    /// Copy policies to compare with the baseline [default: controller-copy, rowclone, rowclone-zi]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = method(), hide_possible_values = true)]
    pub policies: Vec<CopyMethod>,
    /// Schedulers, instead of that of the machine; `by-policy` leaves the scheduler to the machine and to each policy
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_values = SCHEDULERS)]
    pub schedulers: Vec<String>,
    /// Programs of the mixes
    #[arg(long, value_enum, default_value_t)]
    pub programs: MixPrograms,
    /// Mixes per number of cores: of recorded programs, 8 contain each equally often; of generated ones, 3 or 6
    /// contain each equally often, and 9 also each pair on 2 cores [default: 8 of recorded, 3 of generated programs]
    #[arg(long, value_name = "N", value_parser = count(1..=9))]
    pub mixes: Option<u64>,
    /// Length of regions as a time: the instructions that a program executes alone under the baseline in N core
    /// cycles, after a warm-up of a quarter of them [default for recorded programs: 4000000]
    #[arg(long, value_name = "N", value_parser = count(4..))]
    pub cycles: Option<u64>,
    /// Instructions of each program before its measured region [default for generated programs: 1000000]
    #[arg(long, value_name = "N", conflicts_with = "cycles")]
    pub warm_up: Option<u64>,
    /// Instructions of each measured region [default for generated programs: 4000000]
    #[arg(long, value_name = "N", conflicts_with = "cycles", value_parser = count(1..))]
    pub instructions: Option<u64>,
    /// Replaces the program of a core by a program trace or a memory trace of the format `rc`, `cpu` or `lackey`: the
    /// first `--trace` on core 0, the second on core 1
    #[arg(long = "trace", value_name = "FILE")]
    pub traces: Vec<PathBuf>,
    /// Seed of the programs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The picture
    #[command(flatten)]
    pub picture: PictureArgs,
    /// Prints also a line per core of each run
    #[arg(long)]
    pub details: bool,
    /// Checks and format
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The programs of mixes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MixPrograms {
    /// The recordings of `traces/recorded`, in a checkout of the repository
    #[default]
    Recorded,
    /// Those that the simulator generates: `fork`, `allocate`, `copy`; `stream`, `random`, `burst`
    Generated,
}

impl MulticoreArgs {
    /// Mixes per number of cores.
    fn mixes(&self) -> u64 {
        self.mixes.unwrap_or(match self.programs {
            MixPrograms::Recorded => 8,
            MixPrograms::Generated => 3,
        })
    }

    /// Length of the regions.
    fn length(&self) -> RegionLength {
        let is_time = self.programs == MixPrograms::Recorded && self.warm_up.is_none() && self.instructions.is_none();
        match self.cycles.or(is_time.then_some(4_000_000)) {
            Some(cycles) => RegionLength::Cycles { warm_up_cycles: cycles / 4, cycles },
            None => RegionLength::Instructions {
                warm_up: self.warm_up.unwrap_or(1_000_000),
                instructions: self.instructions.unwrap_or(4_000_000),
            },
        }
    }
}

/// An even number of cores.
fn even(text: &str) -> Result<usize, String> {
    let cores = text.parse().ok().filter(|cores| (2..=16).contains(cores) && cores % 2 == 0);
    cores.ok_or_else(|| "half of the cores run each kind of program: give 2, 4, 6, ... 16".to_owned())
}

/// The methods beside the baseline.
const METHODS: [CopyMethod; 3] = [CopyMethod::CONTROLLER_COPY, CopyMethod::ROWCLONE, CopyMethod::ROWCLONE_ZI];

/// The name that stands for the scheduler of the machine, or of the policy.
const BY_POLICY: &str = "by-policy";

/// The program of a core.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Member {
    /// A file of `--trace` or a recording, with its name.
    File(PathBuf, String),
    /// A generated program, with the number of its instance in the mix.
    Generated(MixProgram, u64),
}

/// A run.
#[derive(Clone, Debug)]
struct Job {
    scheduler: usize,
    method: CopyMethod,
    members: Vec<Member>,
}

/// Simulates all mixes, and returns the tables.
///
/// # Errors
/// An error of the machine or a trace; a signal; a failed check.
pub fn run(args: &MulticoreArgs) -> Result<String, Failure> {
    let fewest = args.cores.iter().copied().min().unwrap_or(0);
    if args.traces.len() > fewest {
        return Err(Failure::new(format!("{} traces are given for {fewest} cores", args.traces.len()))
            .with_help("give `--trace` at most as often as the least number of `--cores`"));
    }
    let traces = args.traces.iter().map(|path| label(path)).collect::<Result<Vec<_>, _>>()?;
    let scheduler = |name: &String| match name.as_str() {
        BY_POLICY => args.machine.read_for_paper(&[]),
        name => args.machine.read_for_paper(&[format!("system.controller.scheduler={name}")]),
    };
    let machines = args.schedulers.iter().map(scheduler).collect::<Result<Vec<_>, _>>()?;
    let picture = args.picture.open()?;
    if args.programs == MixPrograms::Recorded {
        recordings::require_mixes()?;
    }
    let files = args.traces.iter().cloned().zip(traces.clone()).map(|(path, name)| Member::File(path, name));
    let files: Vec<Member> = files.collect();
    let compared = compared(&args.policies, &METHODS);
    let jobs = jobs(args, &compared, &files);
    let reports = run_all(&jobs, &machines, args)?;
    let is_alone = |(job, _): &(&Job, &CoresReport)| job.members.len() == 1;
    let alone = jobs.iter().zip(&reports).filter(is_alone);
    let alone: BTreeMap<_, _> =
        alone.map(|(job, report)| ((job.scheduler, &job.members[0]), report.cores[0].ipc)).collect();
    let mut together = jobs.iter().zip(reports.iter().cloned()).filter(|(job, _)| job.members.len() > 1);
    let mut rows = Vec::new();
    for &cores in &args.cores {
        for name in &args.schedulers {
            let methods = compared.iter().map(|method| {
                let runs = together.by_ref().take(args.mixes() as usize);
                MethodRuns::new(method.name(), runs.map(|(job, report)| mix_run(job, report, &alone)).collect())
            });
            rows.push(MulticoreRow::new(cores, name.clone(), methods.collect()));
        }
    }
    let table = MulticoreTable {
        schema_version: SCHEMA_VERSION,
        machine: machines[0].name.clone(),
        baseline: baseline(&machines[0]),
        seed: args.seed,
        programs: match args.programs {
            MixPrograms::Generated => "generated",
            MixPrograms::Recorded => "recorded",
        },
        mixes: args.mixes(),
        length: args.length(),
        traces,
        published: published("multicore"),
        rows,
    };
    picture.draw(|| table.chart())?;
    args.output.format.render(|| table.to_text(args.details), &table)
}

/// All runs: mixes by row, method and number, then each program alone.
fn jobs(args: &MulticoreArgs, methods: &[CopyMethod], files: &[Member]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for &cores in &args.cores {
        for scheduler in 0..args.schedulers.len() {
            for &method in methods {
                let mixes = (0..args.mixes() as usize).map(|number| members(number, cores, files, args));
                jobs.extend(mixes.map(|members| Job { scheduler, method, members }));
            }
        }
    }
    let single: BTreeSet<(usize, Member)> =
        jobs.iter().flat_map(|job| job.members.iter().map(|member| (job.scheduler, member.clone()))).collect();
    let alone = |(scheduler, member)| Job { scheduler, method: CopyMethod::BASELINE, members: vec![member] };
    jobs.extend(single.into_iter().map(alone));
    jobs
}

/// The programs of a mix by core, of which files replace the first ones.
fn members(number: usize, cores: usize, files: &[Member], args: &MulticoreArgs) -> Vec<Member> {
    let mut instances = BTreeMap::new();
    let generated = |program| {
        let instance = instances.entry(program).or_insert(0);
        *instance += 1;
        Member::Generated(program, *instance)
    };
    let recorded = |name: &str| Member::File(recordings::path(name), name.to_owned());
    let members: Vec<Member> = match args.programs {
        MixPrograms::Generated => MixProgram::mix(number, cores).into_iter().map(generated).collect(),
        MixPrograms::Recorded => recordings::mix(number, cores).into_iter().map(recorded).collect(),
    };
    files.iter().chain(&members[files.len()..]).cloned().collect()
}

impl Member {
    /// The program, for a machine under a method.
    fn program(&self, machine: &MachineConfig, method: CopyMethod, seed: u64) -> Result<Box<dyn Program>, Failure> {
        match self {
            Member::File(path, _) => open(path, machine, recording_settings(ChosenCopies::default(), method)),
            Member::Generated(program, instance) => Ok(program.program(seed.wrapping_mul(1_000) + instance)),
        }
    }
}

fn run_all(jobs: &[Job], machines: &[MachineConfig], args: &MulticoreArgs) -> Result<Vec<CoresReport>, Failure> {
    let regions = regions(jobs, &machines[0], args)?;
    in_parallel(jobs, |job| {
        let machine = &machines[job.scheduler];
        let program = |member: &Member| Ok((member.program(machine, job.method, args.seed)?, regions[member]));
        let programs = job.members.iter().map(program).collect::<Result<_, Failure>>()?;
        Ok(run_in_regions(machine, job.method, programs, args.output.check)?.1)
    })
}

/// The region of each program. It is the same in all runs, so that all compare equal instructions.
fn regions<'a>(
    jobs: &'a [Job],
    machine: &MachineConfig,
    args: &MulticoreArgs,
) -> Result<BTreeMap<&'a Member, Region>, Failure> {
    let members: BTreeSet<&Member> = jobs.iter().flat_map(|job| &job.members).collect();
    let (warm_up_cycles, cycles) = match args.length() {
        RegionLength::Instructions { warm_up, instructions } => {
            let region = Region { warm_up, instructions: Some(instructions) };
            return Ok(members.into_iter().map(|member| (member, region)).collect());
        }
        RegionLength::Cycles { warm_up_cycles, cycles } => (warm_up_cycles, cycles),
    };
    let ends: Vec<(&Member, u64)> =
        members.iter().flat_map(|&member| [warm_up_cycles, warm_up_cycles + cycles].map(|end| (member, end))).collect();
    let executed = in_parallel(&ends, |&(member, end)| {
        executed_in(end, member.program(machine, CopyMethod::BASELINE, args.seed)?, machine)
    })?;
    let region = |(member, executed): (&'a Member, &[u64])| {
        let instructions = Some((executed[1] - executed[0]).max(1));
        (member, Region { warm_up: executed[0], instructions })
    };
    Ok(members.into_iter().zip(executed.chunks_exact(2)).map(region).collect())
}

/// Instructions that a program executes in some core cycles, alone under the baseline.
fn executed_in(cycles: u64, program: Box<dyn Program>, machine: &MachineConfig) -> Result<u64, Failure> {
    // Another core executes instructions without memory access, as many per cycle as its width: its region ends last.
    let instructions = cycles * machine.settings.core.width;
    let clock: Box<dyn Program> = Box::new(Steps(std::iter::once(Step::Compute { instructions: u64::MAX })));
    let region = |instructions| Region { warm_up: 0, instructions: Some(instructions) };
    let programs = vec![(program, region(1)), (clock, region(instructions))];
    Ok(run_in_regions(machine, CopyMethod::BASELINE, programs, false)?.1.instructions - instructions)
}

fn mix_run(job: &Job, report: CoresReport, alone: &BTreeMap<(usize, &Member), f64>) -> MixRun {
    let name = |member: &Member| match member {
        Member::File(_, name) => name.clone(),
        Member::Generated(program, _) => program.name().to_owned(),
    };
    let alone_ipc: Vec<f64> = job.members.iter().map(|member| alone[&(job.scheduler, member)]).collect();
    let metrics = report.mix(&alone_ipc).expect("every program has a region");
    MixRun { programs: job.members.iter().map(name).collect(), alone_ipc, metrics, report }
}
