//! `rowclone-sim reproduce injection`: cache injection beside prefetching, and the published figures of both.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use dram_spec::Cycles;
use dram_spec::address::FRAME_BYTES;
use host::machine::{
    MachineSettings, MessageReader, MessageReaderSettings, NetworkSettings, PrefetcherKind, Program, Purpose, Region,
};
use report::injection::{InjectionFigures, InjectionRow, InjectionTable, SCHEMA_VERSION};
use rowclone_config::{Failure, MachineConfig, Overrides};
use rowclone_sim::{CopyMethod, CoreRow, CoresReport, PrefetchCounts};
use serde::Deserialize;

use crate::args::count;
use crate::commands::core_runs::{in_parallel, run_programs};
use crate::commands::reproduce::output::{OutputArgs, PictureArgs};

/// `reproduce injection`.
#[derive(Debug, Args)]
#[command(mut_arg("plot", |plot| plot.help("Draws the time relative \
    to base by the number of cores on one channel; the name ends with `.svg` or `.png`")))]
#[command(after_help = "Examples:\n  \
    rowclone-sim reproduce injection\n  \
    rowclone-sim reproduce injection --plot cores.svg --messages 2000\n  \
    rowclone-sim reproduce injection --set caches.prefetch_distance=10")]
pub struct InjectionArgs {
    /// Sets a key of the machine `power5-like`: `caches.prefetch_distance=10`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Messages of 4 KiB that arrive at each core, or as many bytes in messages of another size
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = count(32..=1_000_000))]
    pub messages: u64,
    /// Divisor of the caches where messages are delayed, so that fewer messages fill them; 1 for those of the machine
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = count(1..=64))]
    pub cache_scale: u64,
    /// The picture
    #[command(flatten)]
    pub picture: PictureArgs,
    /// Measurements to run [default: all]
    #[arg(long, value_name = "GROUP,...", value_enum, value_delimiter = ',')]
    pub only: Vec<Group>,
    /// Checks and format
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Shares of network data in all data, and the published figures
    Share,
    /// Sizes of messages
    Size,
    /// Delays until messages are read, with and without a working set
    Delay,
    /// Cores on one memory channel
    Cores,
}

/// `injection.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable<'a> {
    /// Keys of the machine by the name of a mode.
    #[serde(borrow)]
    modes: BTreeMap<&'a str, Vec<String>>,
    #[serde(borrow)]
    groups: Vec<RawGroup<'a>>,
}

/// Cases that differ in one respect.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGroup<'a> {
    only: Group,
    name: &'a str,
    #[serde(borrow)]
    modes: [&'a str; 4],
    /// Keys of the machine.
    #[serde(default)]
    set: Vec<String>,
    #[serde(borrow)]
    cases: Vec<RawCase<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase<'a> {
    case: &'a str,
    cores: Option<usize>,
    /// Local data per message.
    local_bytes: Option<u64>,
    message_bytes: Option<u64>,
    /// Time until a message is read, in percent of the last-level cache that arrive meanwhile.
    delay_percent: Option<u64>,
    /// Whether a working set of half of the last-level cache is read during the delay.
    #[serde(default)]
    has_working_set: bool,
}

/// A case under a mode.
struct CaseRun {
    mode: &'static str,
    machine: MachineConfig,
    cores: usize,
    packets: u64,
    reader: MessageReaderSettings,
}

/// Simulates all cases, and returns the table.
///
/// # Errors
/// An error of the machine; a signal; a failed check; a picture that cannot be written.
pub fn run(args: &InjectionArgs) -> Result<String, Failure> {
    let table: RawTable<'static> = toml::from_str(include_str!("injection.toml")).map_err(Failure::new)?;
    let is_wanted = |group: &&RawGroup<'_>| args.only.is_empty() || args.only.contains(&group.only);
    let groups = table.groups.iter().filter(is_wanted);
    let cases: Vec<(&RawGroup<'static>, &RawCase<'static>)> =
        groups.flat_map(|group| group.cases.iter().map(move |case| (group, case))).collect();
    let runs = cases.iter().flat_map(|&(group, case)| group.modes.map(|mode| (group, case, mode)));
    let runs = runs.map(|(group, case, mode)| CaseRun::new(args, (group, case), (mode, &table.modes[mode])));
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    let picture = args.picture.open()?;
    let figures = in_parallel(&runs, |run| run.figures(args.output.check))?;
    let rows = cases.iter().zip(figures.chunks(4)).map(|((group, case), runs)| InjectionRow {
        group: group.name,
        case: case.case,
        runs: runs.into(),
    });
    let table = InjectionTable {
        schema_version: SCHEMA_VERSION,
        machine: runs[0].machine.name.clone(),
        messages: args.messages,
        rows: rows.collect(),
    };
    picture.draw(|| table.chart())?;
    args.output.format.render(|| table.to_text(), &table)
}

/// Reads of the working set during a delay.
const PASSES: u64 = 4;
/// Rounds of a delay.
const ROUNDS: u64 = 4;
/// Area of local data, which no cache holds.
const LOCAL_AREA: u64 = 64 << 20;

/// Divides the sizes of all caches.
fn scale(machine: &mut MachineConfig, divisor: u64) -> Result<(), Failure> {
    let MachineSettings { l1, l2, last_level, lines, .. } = &mut machine.settings;
    for shape in [l1.as_mut(), l2.as_mut(), Some(last_level)].into_iter().flatten() {
        let set = lines.bytes * shape.ways as u64;
        if !shape.bytes.is_multiple_of(divisor * set) {
            let message = format!("a cache of {} bytes has no whole sets at a scale of {divisor}", shape.bytes);
            return Err(Failure::new(message).with_help("try `--cache-scale 1`"));
        }
        shape.bytes /= divisor;
    }
    Ok(())
}

impl CaseRun {
    fn new(
        args: &InjectionArgs,
        (group, case): (&RawGroup<'_>, &RawCase<'_>),
        (mode, set): (&'static str, &[String]),
    ) -> Result<CaseRun, Failure> {
        let overrides = Overrides::parse(&[&args.set[..], &group.set, set].concat())?;
        let mut machine = MachineConfig::read(Path::new("power5-like"), &overrides)?;
        if case.delay_percent.is_some() {
            scale(&mut machine, args.cache_scale)?;
        }
        let MachineSettings { l1, l2, last_level, lines, network, .. } = &mut machine.settings;
        if mode != "prefetch" {
            for shape in [l1.as_mut(), l2.as_mut(), Some(&mut *last_level)].into_iter().flatten() {
                shape.prefetcher = PrefetcherKind::None;
            }
        }
        let network = network.as_mut().ok_or_else(|| Failure::new("the machine has no network adapter"))?;
        let (ring, cores) = (network.ring as u64, case.cores.unwrap_or(1));
        let message_bytes = case.message_bytes.unwrap_or(FRAME_BYTES);
        let packet_bytes = message_bytes.min(FRAME_BYTES);
        let (packets, packets_per_read, buffers) = if let Some(percent) = case.delay_percent {
            let delayed = last_level.bytes * percent / 100 / FRAME_BYTES;
            (ROUNDS * delayed, delayed, delayed + ring)
        } else {
            let packets_per_read = message_bytes / packet_bytes;
            let packets = (args.messages * FRAME_BYTES / packet_bytes).next_multiple_of(packets_per_read);
            (packets, packets_per_read, ring.max(2 * packets_per_read))
        };
        let reader = MessageReaderSettings {
            buffers,
            packet_bytes,
            packets_per_read,
            local_bytes: case.local_bytes.unwrap_or(0),
            local_area: case.local_bytes.map_or(0, |_| LOCAL_AREA),
            working_set: if case.has_working_set { last_level.bytes / 2 } else { 0 },
            passes: PASSES,
            line_bytes: lines.bytes,
        };
        *network = NetworkSettings {
            payload_bytes: packet_bytes,
            packets,
            ports: cores,
            queues: cores,
            ring: network.ring.max(buffers as usize),
            ..*network
        };
        Ok(CaseRun { mode, machine, cores, packets, reader })
    }

    fn figures(&self, is_checked: bool) -> Result<InjectionFigures, Failure> {
        let programs = (0..self.cores).map(|_| Box::new(MessageReader::new(self.reader)) as Box<dyn Program>);
        let (_, report) =
            run_programs(&self.machine, CopyMethod::BASELINE, programs.collect(), Region::default(), is_checked)?;
        Ok(self.of_report(&report))
    }

    fn of_report(&self, report: &CoresReport) -> InjectionFigures {
        let CaseRun { machine, .. } = self;
        let clock = machine.system.memory.system().clock();
        let core_ns = clock.ns(Cycles(1)) / machine.settings.clock.per_clock();
        let bytes = (self.packets * self.reader.packet_bytes * self.cores as u64) as f64;
        let lines = bytes / machine.settings.lines.bytes as f64;
        let count = |of: &dyn Fn(&CoreRow) -> u64| report.cores.iter().map(of).sum::<u64>();
        let misses = count(&|core| core.accesses.iter().map(|row| row.misses).sum());
        let prefetches = |of: fn(&PrefetchCounts) -> u64| count(&|core| core.prefetches.as_ref().map_or(0, of));
        let network = |core: &CoreRow| {
            let rows = core.accesses.iter().filter(|row| row.purpose == Purpose::Network.name());
            rows.map(|row| row.write_backs).sum()
        };
        let busy = |core: &CoreRow| core.cycles as f64 - core.stall_cycles.idle;
        let longest = report.cores.iter().map(busy).fold(0.0, f64::max);
        let all: f64 = report.cores.iter().map(|core| core.cycles as f64).sum();
        InjectionFigures {
            mode: self.mode,
            us_per_4_kib: longest * core_ns / 1000.0 / (bytes / self.cores as f64 / FRAME_BYTES as f64),
            idle: 1.0 - report.cores.iter().map(busy).sum::<f64>() / all,
            memory_reads: misses + prefetches(|row| row.requested),
            reads_per_line: (misses + prefetches(|row| row.requested)) as f64 / lines,
            injected: count(&|core| core.network.map_or(0, |row| row.injected)),
            written_back: count(&network),
            prefetched: [
                prefetches(|row| row.useful),
                prefetches(|row| row.late),
                prefetches(|row| row.useless + row.dropped),
            ],
        }
    }
}
