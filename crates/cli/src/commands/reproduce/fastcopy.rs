//! `rowclone-sim reproduce fastcopy`: copy loops of a core on historical and present machines, beside FreeBSD's
//! figures.

use std::path::Path;

use clap::Args;
use clap::builder::PossibleValuesParser;
use dram_spec::PhysicalAddress;
use host::machine::{CopyLoop, Program, Region, Steps};
use report::FastCopyTable;
use report::fast_copy::{CROSSING_UNROLLS, Crossing, LOOPS, MACHINES, MachineRates, Rates, SCHEMA_VERSION, SIZES};
use rowclone_config::{Failure, MachineConfig, Overrides};
use rowclone_sim::CopyMethod;
use trace_io::program::Step;

use crate::commands::core_runs::{in_parallel, run_programs};
use crate::commands::reproduce::output::{OutputArgs, PictureArgs};

/// `reproduce fastcopy`.
#[derive(Debug, Args)]
#[command(mut_arg("plot", |plot| plot.help("Draws the rates of a machine over the size; the name ends with `.svg` or `.png`")))]
#[command(after_help = "Examples:\n  \
    rowclone-sim reproduce fastcopy\n  \
    rowclone-sim reproduce fastcopy --plot fastcopy.svg --plot-machine p6-200")]
pub struct FastCopyArgs {
    /// Bytes that are copied before the measured copies of a size, and in them; at least one copy
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 1 << 18,
        value_parser = clap::value_parser!(u64).range(4096..=1 << 22)
    )]
    pub bytes: u64,
    /// The largest copy, bytes
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 1 << 22,
        value_parser = clap::value_parser!(u64).range(8192..=1 << 22)
    )]
    pub largest: u64,
    /// The picture
    #[command(flatten)]
    pub picture: PictureArgs,
    /// The machine of the picture
    #[arg(
        long,
        value_name = "NAME",
        default_value = MACHINES[0],
        requires = "plot",
        value_parser = PossibleValuesParser::new(MACHINES)
    )]
    pub plot_machine: String,
    /// Checks and format
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A machine of the table: its name, its file, keys that differ, and its loops, in the order of [`LOOPS`].
struct Case {
    name: &'static str,
    machine: &'static str,
    sets: &'static [&'static str],
    loops: [CopyLoop; LOOPS.len()],
}

const HISTORICAL: [CopyLoop; 3] = [CopyLoop::String, CopyLoop::Integer, CopyLoop::FloatBlock];
const PRESENT: [CopyLoop; 3] = [CopyLoop::RepMovsb, CopyLoop::Integer, CopyLoop::SimdBlock];

/// The machines, in the order of [`report::fast_copy::MACHINES`].
const CASES: [Case; report::fast_copy::MACHINES.len()] = [
    Case { name: "pentium-133", machine: "pentium-133", sets: &[], loops: HISTORICAL },
    Case {
        name: "pentium-133, page mode",
        machine: "pentium-133",
        sets: &["system=fpm-60ns-430fx"],
        loops: HISTORICAL,
    },
    Case { name: "pentium-100, page mode", machine: "pentium-100", sets: &[], loops: HISTORICAL },
    Case {
        name: "p6-200",
        machine: "p6-200",
        sets: &[],
        loops: [CopyLoop::FastString, CopyLoop::Integer, CopyLoop::FloatBlock],
    },
    Case { name: "i486-100", machine: "i486-100", sets: &[], loops: HISTORICAL },
    Case { name: "paper", machine: "paper", sets: &[], loops: PRESENT },
    Case { name: "ddr4-desktop", machine: "ddr4-desktop", sets: &[], loops: PRESENT },
];

/// A measurement.
#[derive(Clone, Copy, Debug)]
struct Job {
    case: usize,
    copy_loop: CopyLoop,
    unroll: Option<u16>,
    size: u64,
}

/// Simulates all cells, and returns the tables.
///
/// # Errors
/// An error of a machine; a signal; a failed check; the picture cannot be written.
pub fn run(args: &FastCopyArgs) -> Result<String, Failure> {
    let picture = args.picture.open()?;
    let machines = CASES.iter().map(machine).collect::<Result<Vec<_>, _>>()?;
    let jobs = jobs(args);
    let mut rates = in_parallel(&jobs, |job| rate(job, &machines[job.case], args))?.into_iter();
    let mut next = || rates.next().expect("each job has a rate");
    let of_machines = CASES.iter().map(|case| MachineRates {
        machine: case.name,
        loops: case.loops.map(CopyLoop::name),
        rates: sizes(args).map(|bytes| Rates { bytes, mb_s: [(); LOOPS.len()].map(|()| next()) }).collect(),
    });
    let of_machines: Vec<_> = of_machines.collect();
    let libc: Vec<(u64, f64)> = crossing_sizes().map(|bytes| (bytes, next())).collect();
    let crossings = CROSSING_UNROLLS.map(|unroll_bytes| {
        let rates: Vec<(u64, f64)> = crossing_sizes().map(|bytes| (bytes, next())).collect();
        Crossing::of(unroll_bytes, &libc, &rates)
    });
    let table = FastCopyTable::new(SCHEMA_VERSION, of_machines, crossings.into());
    picture.draw(|| table.chart(&args.plot_machine).expect("the table has each machine"))?;
    args.output.format.render(|| table.to_text(), &table)
}

/// Sizes of the table.
fn sizes(args: &FastCopyArgs) -> impl Iterator<Item = u64> {
    let largest = args.largest;
    SIZES.into_iter().filter(move |&bytes| bytes <= largest)
}

/// Sizes among which the crossing of a loop with libc is looked for.
fn crossing_sizes() -> impl Iterator<Item = u64> {
    (1..=64).map(|number| number * 16)
}

/// All measurements: those of the machines, of libc on the first one, and of the integer loop there by its iterations.
fn jobs(args: &FastCopyArgs) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        for size in sizes(args) {
            let job = |copy_loop| Job { case: number, copy_loop, unroll: None, size };
            jobs.extend(case.loops.map(job));
        }
    }
    let job = |copy_loop, unroll, size| Job { case: 0, copy_loop, unroll, size };
    jobs.extend(crossing_sizes().map(|size| job(CopyLoop::String, None, size)));
    for unroll in CROSSING_UNROLLS {
        jobs.extend(crossing_sizes().map(|size| job(CopyLoop::Integer, Some(unroll as u16), size)));
    }
    jobs
}

fn machine(case: &Case) -> Result<MachineConfig, Failure> {
    let sets: Vec<String> = case.sets.iter().map(|&set| set.to_owned()).collect();
    MachineConfig::read(Path::new(case.machine), &Overrides::parse(&sets)?)
}

const SOURCE: u64 = 1 << 32;
const DESTINATION: u64 = 1 << 33;
/// Distance between copies: no two use a line of the largest size.
const LINE: u64 = 128;

/// MB/s of copies of a size, of which no byte is in a cache before. As many copies precede them, so that the caches
/// hold what a series of copies leaves there.
fn rate(job: &Job, machine: &MachineConfig, args: &FastCopyArgs) -> Result<f64, Failure> {
    let mut machine = machine.clone();
    let kernel = &mut machine.settings.kernel;
    (kernel.copy_loop, kernel.loops.unroll_bytes) = (job.copy_loop, job.unroll);
    let (measured, warm_up) = ((args.bytes / job.size).max(1), args.bytes.div_ceil(job.size));
    let stride = job.size.next_multiple_of(LINE);
    let bytes = ((measured + warm_up) * stride).next_multiple_of(4096);
    let mut steps: Vec<Step> = [SOURCE, DESTINATION]
        .map(PhysicalAddress)
        .into_iter()
        .flat_map(|address| [Step::Map { address, bytes }, Step::Present { address, bytes }])
        .collect();
    steps.extend((0..measured + warm_up).map(|number| Step::Copy {
        dst: PhysicalAddress(DESTINATION + number * stride),
        src: PhysicalAddress(SOURCE + number * stride),
        bytes: job.size,
    }));
    let region = Region { warm_up, instructions: None };
    let program: Box<dyn Program> = Box::new(Steps(steps.into_iter()));
    let (outcome, _) = run_programs(&machine, CopyMethod::BASELINE, vec![program], region, args.output.check)?;
    // Bytes per ns are 1,000 MB/s.
    Ok((measured * job.size) as f64 * 1000.0 / outcome.latency_ns)
}
