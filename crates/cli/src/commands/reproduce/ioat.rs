//! `rowclone-sim reproduce ioat`: the published figures of the I/OAT measurements beside the simulated ones.

use std::path::Path;

use clap::Args;
use dram_spec::{Cycles, LINE_BYTES, PhysicalAddress};
use host::machine::{DmaSettings, NetworkSettings, Program, Receiver, ReceiverSettings, Region, Spread, Steps};
use memctrl::policy::copy::DMA;
use rayon::prelude::*;
use report::IoatTable;
use report::ioat::{CopyCost, PublishedPair, ReceiveFigures, ReceiveRow, SCHEMA_VERSION};
use rowclone_config::{Failure, MachineConfig, Overrides, ReceiverConfig};
use rowclone_sim::{CopyMethod, CoresReport};
use trace_io::program::{DeviceStep, Step};

use crate::args::Format;
use crate::commands::core_runs::run_programs;

/// `reproduce ioat`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim reproduce ioat --packets 4000")]
pub struct IoatArgs {
    /// Sets a key of the machine `ioat-2006`: `dma.channels=1`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Packets that arrive at each port
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub packets: u64,
    /// Checks commands against the rules, and each load against a flat, coherent memory
    #[arg(long)]
    pub check: bool,
    /// Format of the table
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Sizes of copies.
const SIZES: [u64; 9] = [1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10];
const ENGINE: CopyMethod = CopyMethod::of(DMA);
const SOURCE: PhysicalAddress = PhysicalAddress(1 << 32);
const DESTINATION: PhysicalAddress = PhysicalAddress(1 << 33);

/// Simulates copies and received packets, and returns the tables.
///
/// # Errors
/// An error of the machine; a signal; a failed check.
pub fn run(args: &IoatArgs) -> Result<String, Failure> {
    let machine = MachineConfig::read(Path::new("ioat-2006"), &Overrides::parse(&args.set)?)?;
    let network = machine.settings.network.ok_or_else(|| Failure::new("the machine has no network adapter"))?;
    let network = NetworkSettings { packets: args.packets, ..network };
    let copies: Vec<Result<CopyCost, Failure>> =
        SIZES.par_iter().map(|&bytes| copy_cost(&machine, bytes, args.check)).collect();
    let receiver = ReceiverConfig::shipped()?;
    let rows: Vec<Result<ReceiveRow, Failure>> =
        cases(&network, &receiver).into_par_iter().map(|case| case.row(&machine, args.check)).collect();
    let table = IoatTable {
        schema_version: SCHEMA_VERSION,
        machine: machine.name.clone(),
        packets: args.packets,
        copies: copies.into_iter().collect::<Result<_, _>>()?,
        receive: rows.into_iter().collect::<Result<_, _>>()?,
    };
    args.format.render(|| table.to_text(), &table)
}

/// Cycles from the end of a warm-up to the end of a program, or to that of its next instructions.
fn cycles(
    machine: &MachineConfig,
    method: CopyMethod,
    (warm_up, measured): (&[Step], &[Step]),
    instructions: Option<u64>,
    is_checked: bool,
) -> Result<u64, Failure> {
    let executed = warm_up.iter().filter(|step| !matches!(step, Step::Map { .. } | Step::Present { .. })).count();
    let steps: Vec<Step> = [warm_up, &[Step::Compute { instructions: 1 }], measured].concat();
    let region = Region { warm_up: executed as u64 + 1, instructions };
    let program: Box<dyn Program> = Box::new(Steps(steps.into_iter()));
    let (_, report) = run_programs(machine, method, vec![program], region, is_checked)?;
    Ok(report.cores[0].cycles)
}

fn copy_cost(machine: &MachineConfig, bytes: u64, is_checked: bool) -> Result<CopyCost, Failure> {
    let mut pinning = machine.clone();
    pinning.settings.kernel.copier_min_bytes = 0;
    let mut machine = pinning.clone();
    machine.devices.dma = DmaSettings { pin_cycles: 0, unpin_cycles: 0, ..machine.devices.dma };
    let mapped = bytes.next_multiple_of(4096);
    let frames: Vec<Step> = [SOURCE, DESTINATION]
        .into_iter()
        .flat_map(|address| [Step::Map { address, bytes: mapped }, Step::Present { address, bytes: mapped }])
        .collect();
    let lines = [SOURCE, DESTINATION].into_iter().flat_map(|first| {
        (0..bytes / LINE_BYTES).map(move |line| Step::Load { address: PhysicalAddress(first.0 + line * LINE_BYTES) })
    });
    let warm: Vec<Step> = frames.iter().copied().chain(lines).collect();
    let copy = [Step::Copy { dst: DESTINATION, src: SOURCE, bytes }];
    let begin =
        [Step::Device(DeviceStep::Begin { dst: DESTINATION, src: SOURCE, bytes }), Step::Device(DeviceStep::Issue)];
    let wait = [Step::Device(DeviceStep::Wait)];
    let cold_cycles = cycles(&machine, CopyMethod::BASELINE, (&frames, &copy), None, is_checked)?;
    let warm_cycles = cycles(&machine, CopyMethod::BASELINE, (&warm, &copy), None, is_checked)?;
    let whole = [&begin[..], &wait].concat();
    let dma_cycles = cycles(&machine, ENGINE, (&frames, &whole), None, is_checked)?;
    let pinned = cycles(&pinning, ENGINE, (&frames, &whole), None, is_checked)?;
    // Other work of more than twice the time of the copy hides all that can be hidden.
    let work = Step::Compute { instructions: 2 * dma_cycles * machine.settings.core.width };
    let alone = cycles(&machine, ENGINE, (&frames, &[work]), None, is_checked)?;
    let both = [&begin[..], &[work], &wait].concat();
    let together = cycles(&machine, ENGINE, (&frames, &both), None, is_checked)?;
    // Up to the dispatch of the instruction after the begin: the copy counts as one.
    let then = [&begin[..], &[Step::Compute { instructions: 1_000 }], &wait].concat();
    let start_up_cycles = cycles(&machine, ENGINE, (&frames, &then), Some(2), is_checked)?;
    Ok(CopyCost {
        bytes,
        cold_cycles,
        warm_cycles,
        dma_cycles,
        start_up_cycles,
        cpu_cycles: together.saturating_sub(alone),
        pinning_cycles: pinned.saturating_sub(dma_cycles),
    })
}

/// `1 port`, `2 ports`.
fn plural(ports: usize) -> String {
    format!("{ports} port{}", if ports == 1 { "" } else { "s" })
}

/// A measurement.
#[derive(Clone, Debug)]
struct Case {
    group: &'static str,
    name: String,
    network: NetworkSettings,
    receiver: ReceiverSettings,
    published: Option<PublishedPair>,
}

/// The measurements, those of a group in the order in which one thing grows.
fn cases(network: &NetworkSettings, receiver: &ReceiverConfig) -> Vec<Case> {
    let case = |group, name: String, network: NetworkSettings, change: &dyn Fn(&mut ReceiverSettings), published| {
        let mut receiver = receiver.settings(&network, false);
        change(&mut receiver);
        Case { group, name, network, receiver, published }
    };
    let pair = |without, with, benefit| {
        Some(PublishedPair { without: Some(without), with: Some(with), benefit: Some(benefit) })
    };
    let mut cases = Vec::new();
    for ports in 1..=6 {
        let published = if ports == 6 { pair(0.37, 0.29, 0.21) } else { None };
        let network = NetworkSettings { ports, ..*network };
        cases.push(case("receive", plural(ports), network, &|_| (), published));
    }
    for ports in 1..=6 {
        let published = if ports == 6 { pair(0.9, 0.7, 0.22) } else { None };
        let network = NetworkSettings { ports, ..*network };
        let both = |receiver: &mut ReceiverSettings| receiver.sent_per_100 = 100;
        cases.push(case("receive and send", plural(ports), network, &both, published));
    }
    let many = NetworkSettings { connections: 20, spread: Spread::Connections, ..*network };
    cases.push(case("receive", "120 connections".to_owned(), many, &|_| (), pair(0.76, 0.52, 0.32)));
    let four = NetworkSettings { ports: 4, ..*network };
    for message_bytes in [16_u64 << 10, 32 << 10, 64 << 10, 128 << 10] {
        for (has_split_headers, suffix) in [(false, ""), (true, ", split headers")] {
            let published = (message_bytes == 64 << 10 && !has_split_headers).then_some(PublishedPair {
                without: None,
                with: None,
                benefit: Some(0.16),
            });
            let name = format!("{} KiB{suffix}", message_bytes >> 10);
            let change = |receiver: &mut ReceiverSettings| {
                (receiver.message_bytes, receiver.has_split_headers) = (message_bytes, has_split_headers);
            };
            cases.push(case("messages, 4 ports", name, four, &change, published));
        }
    }
    cases
}

impl Case {
    fn row(&self, machine: &MachineConfig, is_checked: bool) -> Result<ReceiveRow, Failure> {
        let mut machine = machine.clone();
        machine.settings.network = Some(self.network);
        let figures = |method| {
            let programs = (0..self.network.queues).map(|_| Box::new(Receiver::new(self.receiver)) as Box<dyn Program>);
            let (_, report) = run_programs(&machine, method, programs.collect(), Region::default(), is_checked)?;
            Ok::<_, Failure>(self.figures(&machine, &report))
        };
        Ok(ReceiveRow {
            group: self.group,
            case: self.name.clone(),
            without: figures(CopyMethod::BASELINE)?,
            with: figures(ENGINE)?,
            published: self.published,
        })
    }

    fn figures(&self, machine: &MachineConfig, report: &CoresReport) -> ReceiveFigures {
        let idle = |core: &rowclone_sim::CoreRow| core.stall_cycles.idle;
        let busy = report.cores.iter().map(|core| 1.0 - idle(core) / core.cycles as f64);
        let cycles: f64 = report.cores.iter().map(|core| core.cycles as f64).sum();
        let (packets, dropped) = report
            .cores
            .iter()
            .filter_map(|core| core.network)
            .fold((0, 0), |sums, row| (sums.0 + row.packets, sums.1 + row.dropped));
        let system = machine.system.memory.system();
        // A line takes four clocks of a channel, two transfers of 8 bytes each.
        let line_ns = system.clock().ns(Cycles(4));
        let peak = f64::from(system.geometry.channels()) * LINE_BYTES as f64 / line_ns;
        let NetworkSettings { header_bytes, payload_bytes, ports, .. } = self.network;
        let longest = report.cores.iter().map(|core| core.cycles).max().unwrap_or(1);
        let link = self.network.link_cycles(packets + dropped, header_bytes + payload_bytes) as f64;
        ReceiveFigures {
            cpu_utilization: 1.0 - report.cores.iter().map(idle).sum::<f64>() / cycles,
            waiting: report.cores.iter().map(|core| core.stall_cycles.controller_copy).sum::<f64>() / cycles,
            mbit_s: (packets * payload_bytes * 8) as f64 * 1000.0 / report.interval_ns,
            busiest_core: busy.fold(0.0, f64::max),
            channel_load: report.bandwidth_gb_s.unwrap_or(0.0) / peak,
            link_load: link / (longest as f64 * ports as f64),
            dropped,
        }
    }
}
