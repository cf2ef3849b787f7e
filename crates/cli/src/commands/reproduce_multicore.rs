//! `rowclone-sim reproduce multicore`: mixes of copy-intensive and memory-intensive programs.

use std::collections::BTreeMap;

use host::machine::{MixProgram, Program, Region};
use indicatif::ProgressBar;
use rayon::prelude::*;
use report::MulticoreTable;
use report::multicore::{MethodRuns, MixRun, MulticoreRow, PUBLISHED, SCHEMA_VERSION};
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::{CopyMethod, CoresReport};
use rowclone_sweep::plot_file::PictureFormat;
use rowclone_sweep::programs::{baseline, label, open};
use rowclone_sweep::{AtomicFile, Existing};

use super::core_runs::run_programs;
use super::plot;
use crate::args::MulticoreArgs;

/// The methods of a row; the first is the baseline.
const METHODS: [CopyMethod; 4] =
    [CopyMethod::BASELINE, CopyMethod::CONTROLLER_COPY, CopyMethod::ROWCLONE, CopyMethod::ROWCLONE_ZI];

/// The program of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Member {
    /// A file of `--trace`.
    Trace(usize),
    /// A shipped program, with the number of its instance in the mix.
    Shipped(MixProgram, u64),
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
    let scheduler = |name: &String| args.machine.read_for_paper(&[format!("system.controller.scheduler={name}")]);
    let machines = args.schedulers.iter().map(scheduler).collect::<Result<Vec<_>, _>>()?;
    // Opened before anything runs: a name that cannot be had is known at once.
    let picture = match &args.plot {
        Some(path) => Some((PictureFormat::of(path)?, AtomicFile::create(path, Existing::with_force(args.force))?)),
        None => None,
    };
    let jobs = jobs(args);
    let reports = run_all(&jobs, &machines, args)?;
    let mut alone = BTreeMap::new();
    for (job, report) in jobs.iter().zip(&reports).filter(|(job, _)| job.members.len() == 1) {
        alone.insert((job.scheduler, job.members[0]), report.cores[0].ipc);
    }
    let mut together = jobs.iter().zip(reports).filter(|(job, _)| job.members.len() > 1);
    let mut rows = Vec::new();
    for &cores in &args.cores {
        for name in &args.schedulers {
            let methods = METHODS.map(|method| {
                let runs = together
                    .by_ref()
                    .take(args.mixes as usize)
                    .map(|(job, report)| mix_run(job, report, &alone, &traces));
                MethodRuns::new(method.name(), runs.collect())
            });
            rows.push(MulticoreRow::new(cores, name.clone(), methods.into()));
        }
    }
    let table = MulticoreTable {
        schema_version: SCHEMA_VERSION,
        machine: machines[0].name.clone(),
        baseline: baseline(&machines[0]),
        seed: args.seed,
        mixes: args.mixes,
        warm_up: args.warm_up,
        instructions: args.instructions,
        traces,
        published: PUBLISHED,
        rows,
    };
    if let Some((format, file)) = picture {
        plot::complete(file, format, &table.chart())?;
    }
    args.format.render(|| table.to_text(args.details), &table)
}

/// All runs: mixes by row, method and number, then each program alone.
fn jobs(args: &MulticoreArgs) -> Vec<Job> {
    let mut jobs = Vec::new();
    for &cores in &args.cores {
        for scheduler in 0..args.schedulers.len() {
            for method in METHODS {
                let mixes = (0..args.mixes as usize).map(|number| members(number, cores, args.traces.len()));
                jobs.extend(mixes.map(|members| Job { scheduler, method, members }));
            }
        }
    }
    let mut single: Vec<(usize, Member)> =
        jobs.iter().flat_map(|job| job.members.iter().map(|&member| (job.scheduler, member))).collect();
    single.sort_unstable();
    single.dedup();
    let alone = |(scheduler, member)| Job { scheduler, method: CopyMethod::BASELINE, members: vec![member] };
    jobs.extend(single.into_iter().map(alone));
    jobs
}

/// The programs of a mix by core, of which files replace the first ones.
fn members(number: usize, cores: usize, traces: usize) -> Vec<Member> {
    let mut instances = BTreeMap::new();
    let shipped = MixProgram::mix(number, cores).into_iter().map(|program| {
        let instance = instances.entry(program).or_insert(0);
        *instance += 1;
        Member::Shipped(program, *instance)
    });
    shipped.enumerate().map(|(core, member)| if core < traces { Member::Trace(core) } else { member }).collect()
}

fn run_all(jobs: &[Job], machines: &[MachineConfig], args: &MulticoreArgs) -> Result<Vec<CoresReport>, Failure> {
    let region = Region { warm_up: args.warm_up, instructions: Some(args.instructions) };
    // Hidden unless standard error is a terminal.
    let bar = ProgressBar::new(jobs.len() as u64);
    let run = |job: &Job| {
        let machine = &machines[job.scheduler];
        let programs = job.members.iter().map(|&member| program(member, machine, args)).collect::<Result<_, _>>()?;
        let (_, report) = run_programs(machine, job.method, programs, region, args.check)?;
        bar.inc(1);
        Ok(report)
    };
    // The first error in the order of the jobs, independent of the threads.
    let reports: Vec<Result<CoresReport, Failure>> = jobs.par_iter().map(run).collect();
    bar.finish_and_clear();
    reports.into_iter().collect()
}

fn program(member: Member, machine: &MachineConfig, args: &MulticoreArgs) -> Result<Box<dyn Program>, Failure> {
    match member {
        Member::Trace(index) => open(&args.traces[index], machine),
        Member::Shipped(program, instance) => Ok(program.program(args.seed.wrapping_mul(1_000) + instance)),
    }
}

fn mix_run(job: &Job, report: CoresReport, alone: &BTreeMap<(usize, Member), f64>, traces: &[String]) -> MixRun {
    let name = |member: &Member| match member {
        Member::Trace(index) => traces[*index].clone(),
        Member::Shipped(program, _) => program.name().to_owned(),
    };
    let alone_ipc: Vec<f64> = job.members.iter().map(|&member| alone[&(job.scheduler, member)]).collect();
    let metrics = report.mix(&alone_ipc).expect("every program has a region");
    MixRun { programs: job.members.iter().map(name).collect(), alone_ipc, metrics, report }
}
