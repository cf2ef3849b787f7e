//! `rowclone-sim reproduce fastcopy`: copy loops of a core on historical and present machines, beside FreeBSD's
//! figures.

use std::path::Path;

use clap::Args;
use dram_spec::PhysicalAddress;
use host::machine::{Program, Region, Steps};
use report::fast_copy::{CROSSING_UNROLLS, Crossing, FastCopyTable, LOOPS, MACHINES, MachineRates, Rates};
use rowclone_config::{Failure, MachineConfig, Overrides};
use rowclone_sim::CopyMethod;
use serde::Deserialize;
use trace_io::program::Step;

use crate::args::count;
use crate::commands::core_runs::{in_parallel, run_programs};
use crate::commands::reproduce::output::{OutputArgs, PictureArgs};

/// `reproduce fastcopy`.
#[derive(Debug, Args)]
#[command(mut_arg("plot", |plot| plot.help("Draws the rates of a \
    machine over the size; the name ends with `.svg` or `.png`")))]
#[command(after_help = "Examples:\n  \
    rowclone-sim reproduce fastcopy\n  \
    rowclone-sim reproduce fastcopy --plot fastcopy.svg --plot-machine p6-200")]
pub struct FastCopyArgs {
    /// Bytes copied per size, once as a warm-up and once in the measurement; at least one copy each
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 18, value_parser = count(4096..=1 << 22))]
    pub bytes: u64,
    /// The largest copy, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 22, value_parser = count(8192..=1 << 22))]
    pub largest: u64,
    /// The picture
    #[command(flatten)]
    pub picture: PictureArgs,
    /// The machine of the picture
    #[arg(long, value_name = "NAME", default_value = MACHINES[0], requires = "plot", value_parser = MACHINES)]
    pub plot_machine: String,
    /// Checks and format
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `fastcopy.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable<'a> {
    #[serde(borrow)]
    machines: Vec<RawMachine<'a>>,
}

/// A machine of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMachine<'a> {
    name: &'a str,
    /// Its preset.
    machine: &'a str,
    /// Keys that differ.
    #[serde(default)]
    set: Vec<String>,
    /// Its loops, in the order of [`LOOPS`].
    #[serde(borrow)]
    loops: [&'a str; LOOPS.len()],
}

/// A measurement: a machine with a loop, and the bytes of a copy.
struct Job {
    machine: MachineConfig,
    size: u64,
}

/// Simulates all cells, and returns the tables.
///
/// # Errors
/// An error of a machine; a signal; a failed check; the picture cannot be written.
pub fn run(args: &FastCopyArgs) -> Result<String, Failure> {
    let picture = args.picture.open()?;
    let RawTable::<'static> { machines } = toml::from_str(include_str!("fastcopy.toml")).map_err(Failure::new)?;
    let mut rates = in_parallel(&jobs(&machines, args)?, |job| rate(job, args))?.into_iter();
    let mut next = || rates.next().expect("each job has a rate");
    let of_machines = machines.iter().map(|RawMachine { name, loops, .. }| MachineRates {
        machine: name,
        loops: *loops,
        rates: sizes(args).map(|bytes| Rates { bytes, mb_s: [(); LOOPS.len()].map(|()| next()) }).collect(),
    });
    let of_machines: Vec<_> = of_machines.collect();
    let mut by_size = || crossing_sizes().map(|bytes| (bytes, next())).collect::<Vec<_>>();
    let libc = by_size();
    let crossings = CROSSING_UNROLLS.map(|unroll_bytes| Crossing::of(unroll_bytes, &libc, &by_size()));
    let table = FastCopyTable::new(of_machines, crossings.into());
    picture.draw(|| table.chart(&args.plot_machine).expect("the table has each machine"))?;
    args.output.format.render(|| table.to_text(), &table)
}

/// Sizes of the table: powers of two from 16 bytes on.
fn sizes(args: &FastCopyArgs) -> impl Iterator<Item = u64> {
    let largest = args.largest;
    (4..=22).map(|power| 1 << power).filter(move |&bytes| bytes <= largest)
}

/// Sizes among which the crossing of a loop with libc is looked for.
fn crossing_sizes() -> impl Iterator<Item = u64> {
    (1..=64).map(|number| number * 16)
}

/// All measurements: those of the machines, of libc on the first one, and of the integer loop there by its iterations.
fn jobs(machines: &[RawMachine<'_>], args: &FastCopyArgs) -> Result<Vec<Job>, Failure> {
    let mut jobs = Vec::new();
    for machine in machines {
        let loops = machine.loops.map(|name| machine.with(&[format!("kernel.copy_loop={name}")]));
        let loops = loops.into_iter().collect::<Result<Vec<_>, _>>()?;
        jobs.extend(sizes(args).flat_map(|size| loops.iter().map(move |it| Job { machine: it.clone(), size })));
    }
    let first = &machines[0];
    let integer = format!("kernel.copy_loop={}", first.loops[1]);
    let mut compared = vec![first.with(&[format!("kernel.copy_loop={}", first.loops[0])])?];
    for unroll in CROSSING_UNROLLS {
        compared.push(first.with(&[integer.clone(), format!("kernel.unroll_bytes={unroll}")])?);
    }
    jobs.extend(compared.iter().flat_map(|it| crossing_sizes().map(|size| Job { machine: it.clone(), size })));
    Ok(jobs)
}

impl RawMachine<'_> {
    /// The machine with further keys.
    fn with(&self, set: &[String]) -> Result<MachineConfig, Failure> {
        MachineConfig::read(Path::new(self.machine), &Overrides::parse(&[&self.set, set].concat())?)
    }
}

const SOURCE: u64 = 1 << 32;
const DESTINATION: u64 = 1 << 33;
/// Distance between copies: no two use a line of the largest size.
const LINE: u64 = 128;

/// MB/s of copies of a size, of which no byte is in a cache before. As many copies precede them, so that the caches
/// hold what a series of copies leaves there.
fn rate(job: &Job, args: &FastCopyArgs) -> Result<f64, Failure> {
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
    let (outcome, _) = run_programs(&job.machine, CopyMethod::BASELINE, vec![program], region, args.output.check)?;
    // Bytes per ns are 1,000 MB/s.
    Ok((measured * job.size) as f64 * 1000.0 / outcome.latency_ns)
}
