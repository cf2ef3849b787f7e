//! `rowclone-sim reproduce injection`: cache injection beside prefetching, and the published figures of both.

use std::path::{Path, PathBuf};

use clap::Args;
use dram_spec::Cycles;
use dram_spec::address::FRAME_BYTES;
use host::machine::{
    CacheShape, InjectionLevel, InjectionPolicy, InjectionSettings, MachineSettings, MessageReader,
    MessageReaderSettings, NetworkSettings, PrefetcherKind, Program, Purpose, Region,
};
use indicatif::ProgressBar;
use rayon::prelude::*;
use report::InjectionTable;
use report::injection::{InjectionFigures, InjectionRow, SCHEMA_VERSION};
use rowclone_config::{Failure, MachineConfig, Overrides};
use rowclone_sim::{CopyMethod, CoresReport};
use rowclone_sweep::plot_file::PictureFormat;
use rowclone_sweep::{AtomicFile, Existing};

use crate::args::Format;
use crate::commands::core_runs::run_programs;
use crate::commands::plot;

/// `reproduce injection`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim reproduce injection\n  \
    rowclone-sim reproduce injection --plot cores.svg --messages 2000\n  \
    rowclone-sim reproduce injection --set caches.prefetch_distance=10")]
pub struct InjectionArgs {
    /// Sets a key of the machine `power5-like`: `caches.prefetch_distance=10`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Messages of 4 KiB that arrive at each core, or as many bytes in messages of another size
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(32..=1_000_000))]
    pub messages: u64,
    /// Divisor of the caches where messages are delayed, so that fewer messages fill them; 1 for those of the machine
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub cache_scale: u64,
    /// Draws the time relative to base by the number of cores on one channel; the name ends with `.svg` or `.png`
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Replaces an existing picture
    #[arg(long, requires = "plot")]
    pub force: bool,
    /// Measurements to run [default: all]
    #[arg(long, value_name = "GROUP,...", value_enum, value_delimiter = ',')]
    pub only: Vec<Group>,
    /// Checks commands against the rules, and each load against a flat, coherent memory
    #[arg(long)]
    pub check: bool,
    /// Format of the table
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
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

impl Group {
    const ALL: [Group; 4] = [Group::Share, Group::Size, Group::Delay, Group::Cores];
}

/// How messages reach the program.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Base,
    Prefetch,
    Inject(InjectionPolicy, InjectionLevel),
}

use InjectionLevel::{L2, LastLevel};
use InjectionPolicy::{Always, BoundedWays, WhenExpected};

/// The modes of the paper, and injection into the L2, which it did not measure.
const MODES: [Mode; 4] = [Mode::Base, Mode::Prefetch, Mode::Inject(Always, LastLevel), Mode::Inject(Always, L2)];
/// Policies of injection into the last level.
const POLICIES: [Mode; 4] = [
    Mode::Base,
    Mode::Inject(Always, LastLevel),
    Mode::Inject(BoundedWays, LastLevel),
    Mode::Inject(WhenExpected, LastLevel),
];

impl Mode {
    const fn name(self) -> &'static str {
        match self {
            Mode::Base => "base",
            Mode::Prefetch => "prefetch",
            Mode::Inject(Always, LastLevel) => "inject L3",
            Mode::Inject(Always, L2) => "inject L2",
            Mode::Inject(policy, _) => policy.name(),
        }
    }

    fn apply(self, settings: &mut MachineSettings) {
        let off = |shape: &mut CacheShape| shape.prefetcher = PrefetcherKind::None;
        if !matches!(self, Mode::Prefetch) {
            [&mut settings.l1, &mut settings.l2].into_iter().flatten().for_each(off);
            off(&mut settings.last_level);
        }
        if let (Mode::Inject(policy, level), Some(network)) = (self, &mut settings.network) {
            network.injection = InjectionSettings { policy, level, ..network.injection };
        }
    }
}

/// A measurement under some modes.
#[derive(Clone, Debug)]
struct Case {
    group: &'static str,
    name: String,
    machine: MachineConfig,
    modes: [Mode; 4],
    cores: usize,
    packets: u64,
    reader: MessageReaderSettings,
}

/// Simulates all cases, and returns the table.
///
/// # Errors
/// An error of the machine; a signal; a failed check; a picture that cannot be written.
pub fn run(args: &InjectionArgs) -> Result<String, Failure> {
    let read = |further: &[&str]| {
        let further: Vec<String> = further.iter().map(|&set| set.to_owned()).collect();
        MachineConfig::read(Path::new("power5-like"), &Overrides::parse(&[&args.set[..], &further].concat())?)
    };
    let (machine, one_channel) = (read(&[])?, read(&["system.geometry.channels=1"])?);
    let picture = match &args.plot {
        Some(path) => Some((PictureFormat::of(path)?, AtomicFile::create(path, Existing::with_force(args.force))?)),
        None => None,
    };
    let groups = if args.only.is_empty() { &Group::ALL[..] } else { &args.only };
    let mut cases = Vec::new();
    for group in Group::ALL.iter().filter(|group| groups.contains(group)) {
        let machine = if *group == Group::Cores { &one_channel } else { &machine };
        cases.extend(self::cases(*group, machine, args)?);
    }
    let runs: Vec<(&Case, usize)> =
        cases.iter().flat_map(|case| (0..case.modes.len()).map(move |it| (case, it))).collect();
    // Hidden unless standard error is a terminal.
    let bar = ProgressBar::new(runs.len() as u64);
    let figures: Vec<Result<InjectionFigures, Failure>> = runs
        .par_iter()
        .map(|(case, mode)| {
            let figures = case.figures(case.modes[*mode], args.check);
            bar.inc(1);
            figures
        })
        .collect();
    bar.finish_and_clear();
    let mut figures = figures.into_iter();
    let mut rows = Vec::new();
    for case in &cases {
        let runs = figures.by_ref().take(case.modes.len()).collect::<Result<Vec<_>, _>>()?;
        rows.push(InjectionRow { group: case.group, case: case.name.clone(), runs });
    }
    let machine = machine.name;
    let table = InjectionTable { schema_version: SCHEMA_VERSION, machine, messages: args.messages, rows };
    if let Some((format, file)) = picture {
        plot::complete(file, format, &table.chart())?;
    }
    args.format.render(|| table.to_text(), &table)
}

/// Ratios of local data to those of the network, in percent.
const LOCAL_PERCENT: [u64; 5] = [0, 25, 100, 300, 900];
/// Sizes of messages, in bytes.
const SIZES: [u64; 6] = [512, 1 << 10, 2 << 10, 4 << 10, 16 << 10, 64 << 10];
/// Delays until a message is read, in percent of the last-level cache that arrive meanwhile.
const DELAYS: [u64; 4] = [25, 50, 100, 200];
/// Reads of the working set during the delay.
const PASSES: u64 = 4;
/// Rounds of a delay.
const ROUNDS: u64 = 4;
/// Area of local data, which no cache holds.
const LOCAL_AREA: u64 = 64 << 20;

fn cases(group: Group, machine: &MachineConfig, args: &InjectionArgs) -> Result<Vec<Case>, Failure> {
    let network = machine.settings.network.ok_or_else(|| Failure::new("the machine has no network adapter"))?;
    let reader = MessageReaderSettings {
        buffers: network.ring as u64,
        packet_bytes: FRAME_BYTES,
        packets_per_read: 1,
        local_bytes: 0,
        local_area: 0,
        working_set: 0,
        passes: 0,
        line_bytes: machine.settings.lines.bytes,
    };
    let case = |group, name, cores, machine: &MachineConfig, reader| {
        let packets = args.messages;
        Case { group, name, machine: machine.clone(), modes: MODES, cores, packets, reader }
    };
    Ok(match group {
        Group::Share => LOCAL_PERCENT
            .map(|percent| {
                let local_bytes = FRAME_BYTES * percent / 100 / reader.line_bytes * reader.line_bytes;
                let local_area = if percent == 0 { 0 } else { LOCAL_AREA };
                let name = format!("{} % of network", 10_000 / (100 + percent));
                case("share of data", name, 1, machine, MessageReaderSettings { local_bytes, local_area, ..reader })
            })
            .into(),
        Group::Size => SIZES
            .map(|bytes| {
                let packet_bytes = bytes.min(FRAME_BYTES);
                let packets_per_read = bytes / packet_bytes;
                let buffers = reader.buffers.max(2 * packets_per_read);
                let reader = MessageReaderSettings { buffers, packet_bytes, packets_per_read, ..reader };
                let packets = (args.messages * FRAME_BYTES / packet_bytes).next_multiple_of(packets_per_read);
                Case { packets, ..case("message size", format!("{bytes} B"), 1, machine, reader) }
            })
            .into(),
        Group::Delay => delays(&scaled(machine, args.cache_scale)?, reader),
        Group::Cores => [1, 2, 4, 8]
            .map(|cores| {
                let name = format!("{cores} core{}", if cores == 1 { "" } else { "s" });
                case("one channel", name, cores, machine, reader)
            })
            .into(),
    })
}

/// Messages that are read after some time, without and with a working set of half of the last-level cache.
fn delays(machine: &MachineConfig, reader: MessageReaderSettings) -> Vec<Case> {
    let capacity = machine.settings.last_level.bytes;
    let case = |(working_set, percent): (u64, u64)| {
        let packets_per_read = capacity * percent / 100 / FRAME_BYTES;
        let buffers = packets_per_read + reader.buffers;
        let with = if working_set == 0 { "" } else { ", working set" };
        Case {
            group: "delay",
            name: format!("{percent} % of L3{with}"),
            machine: machine.clone(),
            modes: POLICIES,
            cores: 1,
            packets: ROUNDS * packets_per_read,
            reader: MessageReaderSettings { buffers, packets_per_read, working_set, passes: PASSES, ..reader },
        }
    };
    let all = [0, capacity / 2].into_iter().flat_map(|working_set| DELAYS.map(|percent| (working_set, percent)));
    all.map(case).collect()
}

/// The machine with caches of a fraction of their size.
fn scaled(machine: &MachineConfig, divisor: u64) -> Result<MachineConfig, Failure> {
    let mut machine = machine.clone();
    let MachineSettings { l1, l2, last_level, lines, .. } = &mut machine.settings;
    for shape in [l1.as_mut(), l2.as_mut(), Some(last_level)].into_iter().flatten() {
        let set = lines.bytes * shape.ways as u64;
        if !shape.bytes.is_multiple_of(divisor * set) {
            let message = format!("a cache of {} bytes has no whole sets at a scale of {divisor}", shape.bytes);
            return Err(Failure::new(message).with_help("try `--cache-scale 1`"));
        }
        shape.bytes /= divisor;
    }
    Ok(machine)
}

impl Case {
    fn figures(&self, mode: Mode, is_checked: bool) -> Result<InjectionFigures, Failure> {
        let mut machine = self.machine.clone();
        mode.apply(&mut machine.settings);
        let network = machine.settings.network.expect("it was found");
        machine.settings.network = Some(NetworkSettings {
            payload_bytes: self.reader.packet_bytes,
            packets: self.packets,
            ports: self.cores,
            queues: self.cores,
            ring: network.ring.max(self.reader.buffers as usize),
            ..network
        });
        let programs = (0..self.cores).map(|_| Box::new(MessageReader::new(self.reader)) as Box<dyn Program>);
        let (_, report) =
            run_programs(&machine, CopyMethod::BASELINE, programs.collect(), Region::default(), is_checked)?;
        Ok(self.of_report(mode, &machine, &report))
    }

    fn of_report(&self, mode: Mode, machine: &MachineConfig, report: &CoresReport) -> InjectionFigures {
        let clock = machine.system.memory.system().clock();
        let core_ns = clock.ns(Cycles(1)) / machine.settings.clock.per_clock();
        let bytes = (self.packets * self.reader.packet_bytes * self.cores as u64) as f64;
        let lines = bytes / machine.settings.lines.bytes as f64;
        let count = |of: &dyn Fn(&rowclone_sim::CoreRow) -> u64| report.cores.iter().map(of).sum::<u64>();
        let misses = count(&|core| core.accesses.iter().map(|row| row.misses).sum());
        let prefetches =
            |of: fn(&rowclone_sim::PrefetchCounts) -> u64| count(&|core| core.prefetches.as_ref().map_or(0, of));
        let network = |core: &rowclone_sim::CoreRow| {
            let rows = core.accesses.iter().filter(|row| row.purpose == Purpose::Network.name());
            rows.map(|row| row.write_backs).sum()
        };
        let busy = |core: &rowclone_sim::CoreRow| core.cycles as f64 - core.stall_cycles.idle;
        let longest = report.cores.iter().map(busy).fold(0.0, f64::max);
        let all: f64 = report.cores.iter().map(|core| core.cycles as f64).sum();
        InjectionFigures {
            mode: mode.name(),
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
