//! `rowclone-sim reproduce multicore`: mixes of copy-intensive and memory-intensive programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use host::machine::{ChosenCopies, MixProgram, Region};
use report::multicore::{MethodRuns, MixRun, MulticoreRow, MulticoreTable, SCHEMA_VERSION};
use report::published::published;
use rowclone_config::programs::{baseline, label, open, recording_settings};
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::{CopyMethod, CoresReport};

use crate::args::{MachineArgs, compared, count, method};
use crate::commands::core_runs::{in_parallel, run_programs};
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
    rowclone-sim reproduce multicore --mixes 9 --schedulers fr-fcfs --plot gains.svg\n  \
    rowclone-sim reproduce multicore --programs recorded --mixes 8 --schedulers fr-fcfs --plot gains.svg\n  \
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
    pub programs: Programs,
    /// Mixes per number of cores: of generated programs, 3 or 6 contain each equally often, and 9 also each pair on 2
    /// cores; of recorded ones, 8 contain each equally often
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = count(1..=9))]
    pub mixes: u64,
    /// Instructions of each program before its measured region
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub warm_up: u64,
    /// Instructions of each measured region
    #[arg(long, value_name = "N", default_value_t = 4_000_000, value_parser = count(1..))]
    pub instructions: u64,
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
pub enum Programs {
    /// Those that the simulator generates: `fork`, `allocate`, `copy`; `stream`, `random`, `burst`
    #[default]
    Generated,
    /// The recordings of `traces/recorded`, in a checkout of the repository
    Recorded,
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
    if args.programs == Programs::Recorded {
        recordings::shipped()?;
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
                let runs = together.by_ref().take(args.mixes as usize);
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
            Programs::Generated => "generated",
            Programs::Recorded => "recorded",
        },
        mixes: args.mixes,
        warm_up: args.warm_up,
        instructions: args.instructions,
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
                let mixes = (0..args.mixes as usize).map(|number| members(number, cores, files, args));
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
        Programs::Generated => MixProgram::mix(number, cores).into_iter().map(generated).collect(),
        Programs::Recorded => recordings::mix(number, cores).into_iter().map(recorded).collect(),
    };
    files.iter().chain(&members[files.len()..]).cloned().collect()
}

fn run_all(jobs: &[Job], machines: &[MachineConfig], args: &MulticoreArgs) -> Result<Vec<CoresReport>, Failure> {
    let region = Region { warm_up: args.warm_up, instructions: Some(args.instructions) };
    in_parallel(jobs, |job| {
        let machine = &machines[job.scheduler];
        let program = |member: &Member| match member {
            Member::File(path, _) => open(path, machine, recording_settings(ChosenCopies::default(), job.method)),
            Member::Generated(program, instance) => Ok(program.program(args.seed.wrapping_mul(1_000) + instance)),
        };
        let programs = job.members.iter().map(program).collect::<Result<_, _>>()?;
        Ok(run_programs(machine, job.method, programs, region, args.output.check)?.1)
    })
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
