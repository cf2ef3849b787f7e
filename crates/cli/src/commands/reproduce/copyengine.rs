//! `rowclone-sim reproduce copyengine`: the published gains of a copy engine beside the simulated ones.

use std::path::{Path, PathBuf};

use clap::Args;
use dram_spec::Cycles;
use host::machine::{ReceivedPackets, TcpReceive};
use memctrl::policy::copy::{BASELINE, COPY_ENGINE_ASYNC, COPY_ENGINE_SYNC_NLB, COPY_ENGINE_SYNC_WLB};
use report::copy_engine::{
    BANDWIDTHS, CORES, CopyEngineTable, EngineCycles, EngineRuns, LATENCIES, MemoryRuns, PAYLOADS, SCHEMA_VERSION,
    WORK_SCALES,
};
use report::published::published;
use rowclone_config::programs::baseline;
use rowclone_config::{Failure, MachineConfig, Overrides, receive};
use rowclone_sim::CopyMethod;

use crate::args::count;
use crate::commands::core_runs::{in_parallel, run_programs};
use crate::commands::reproduce::output::OutputArgs;

/// `reproduce copyengine`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim reproduce copyengine\n  \
    rowclone-sim reproduce copyengine --packets 100000 --format json\n  \
    rowclone-sim reproduce copyengine --set copy_engine.buffer_lines=4")]
pub struct CopyEngineArgs {
    /// The receive processing of a packet, a TOML file (docs/cores.md lists its keys) [default:
    /// configs/programs/tcp-receive.toml]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Measured packets of each run
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = count(2..=1_000_000))]
    pub packets: u64,
    /// Packets before the measured ones; 900 of 512 bytes fill the L2 with dirty lines
    #[arg(long, value_name = "N", default_value_t = 1_200, value_parser = count(0..=1_000_000))]
    pub warm_up: u64,
    /// Sets a key of both machines, `zhao-2005-in-order` and `zhao-2005-out-of-order`; after `system.`, of their memory
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Checks and format
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Machines, in the order of [`CORES`].
const MACHINES: [&str; 2] = ["zhao-2005-in-order", "zhao-2005-out-of-order"];

/// BASE and the modes, in the order of [`report::copy_engine::MODES`].
const METHODS: [CopyMethod; 4] = [
    CopyMethod::of(BASELINE),
    CopyMethod::of(COPY_ENGINE_SYNC_NLB),
    CopyMethod::of(COPY_ENGINE_SYNC_WLB),
    CopyMethod::of(COPY_ENGINE_ASYNC),
];

/// Payload of figures 7 and 8.
const PAYLOAD: u64 = PAYLOADS[1];

/// DDR2-800 with the times of DDR2-400: the memory clock doubles.
const DOUBLED: [&str; 3] = ["system.device.bin=DDR2-800E", "system.device.currents=none", "cores.memory_clocks=2"];

/// A run.
type Job<'a> = (&'a MachineConfig, CopyMethod, ReceivedPackets);

/// Simulates all cells, and returns the tables.
///
/// # Errors
/// An error of the program or of a `--set`; a signal; a failed check.
pub fn run(args: &CopyEngineArgs) -> Result<String, Failure> {
    let program = match &args.program {
        Some(path) => receive::read(path)?,
        None => receive::shipped(),
    };
    let machine = |core: usize, further: &[String]| {
        MachineConfig::read(Path::new(MACHINES[core]), &Overrides::parse(&[&args.set[..], further].concat())?)
    };
    let machines = [machine(0, &[])?, machine(1, &[])?];
    let doubled = machine(1, &DOUBLED.map(str::to_owned))?;
    let slower = slower(&machines[1]).into_iter().map(|set| machine(1, &[set])).collect::<Result<Vec<_>, _>>()?;
    let packets = ReceivedPackets {
        payload_bytes: PAYLOAD,
        warm_up: args.warm_up.next_multiple_of(program.period()),
        measured: args.packets.next_multiple_of(program.period()),
        work_scale: 1.0,
        is_copied: true,
    };
    let cells = cells(packets);
    let of_cells = cells.iter().flat_map(|&(core, packets)| {
        let without = ReceivedPackets { is_copied: false, ..packets };
        let runs = METHODS.map(|method| (&machines[core], method, packets));
        std::iter::once((&machines[core], METHODS[0], without)).chain(runs)
    });
    let memories = std::iter::once(&doubled).chain(&slower);
    let of_memories = memories.flat_map(|machine| METHODS.map(|method| (machine, method, packets)));
    let jobs: Vec<Job<'_>> = of_cells.chain(of_memories).collect();
    let found = in_parallel(&jobs, |&job| packet_run(job, &program, args.output.check))?;
    let (of_cells, of_memories) = found.split_at(cells.len() * (1 + METHODS.len()));
    let rows = cells.iter().zip(of_cells.chunks(1 + METHODS.len())).map(|(cell, runs)| engine_runs(*cell, runs));
    // The memory of the machine itself is that of a cell, whose first run is without copies.
    let own = cells.iter().position(|cell| *cell == (1, packets)).expect("the factor 1 is one of the factors");
    let own = of_cells.chunks(1 + METHODS.len()).nth(own).map(|runs| &runs[1..]);
    let times: Vec<[f64; 4]> = own
        .into_iter()
        .chain(of_memories.chunks(METHODS.len()))
        .map(|runs| std::array::from_fn(|method| runs[method].ns))
        .collect();
    let memory = |setting: f64, place: usize| MemoryRuns { setting, packet_ns: times[place] };
    let table = CopyEngineTable {
        schema_version: SCHEMA_VERSION,
        machines: MACHINES.map(str::to_owned),
        program: args.program.as_ref().map_or_else(|| "tcp-receive".to_owned(), |path| path.display().to_string()),
        baseline: baseline(&machines[0]),
        warm_up: packets.warm_up,
        packets: packets.measured,
        published: published("copyengine"),
        rows: rows.collect(),
        orderings: Vec::new(),
        cells_within: [0; 3],
        bandwidths: BANDWIDTHS.into_iter().zip(0..).map(|(gb_s, place)| memory(gb_s, place)).collect(),
        latencies: LATENCIES.into_iter().zip([2, 3, 0]).map(|(ns, place)| memory(ns as f64, place)).collect(),
    };
    let table = table.compared();
    args.output.format.render(|| table.to_text(), &table)
}

/// Cores and packets of the rows: the factors, cores and payloads in this order.
fn cells(packets: ReceivedPackets) -> Vec<(usize, ReceivedPackets)> {
    let of_core = |work_scale: f64| {
        (0..CORES.len()).flat_map(move |core| {
            PAYLOADS.map(|payload_bytes| (core, ReceivedPackets { payload_bytes, work_scale, ..packets }))
        })
    };
    WORK_SCALES.into_iter().flat_map(of_core).collect()
}

/// The settings of the memories whose mean latency is greater than that of the machine: the response of the controller
/// takes longer.
fn slower(machine: &MachineConfig) -> Vec<String> {
    let bus = machine.settings.bus.expect("the machine has a bus");
    let core_ns = machine.system.memory.system().clock().ns(Cycles(1)) / machine.settings.clock.per_clock();
    let own = LATENCIES[LATENCIES.len() - 1];
    let further = LATENCIES[..LATENCIES.len() - 1].iter().map(|ns| (ns - own) as f64 / core_ns);
    #[expect(clippy::cast_sign_loss, reason = "further time is not negative")]
    let cycles = further.map(|cycles| bus.response_latency + cycles.round() as u64);
    cycles.map(|cycles| format!("interconnect.response_latency={cycles}")).collect()
}

/// Figures of a run per packet.
#[derive(Clone, Copy, Debug)]
struct PacketRun {
    cycles: EngineCycles,
    ns: f64,
}

fn packet_run(
    (machine, method, packets): Job<'_>,
    program: &TcpReceive,
    is_checked: bool,
) -> Result<PacketRun, Failure> {
    let (programs, region) = (vec![program.program(packets)], program.region(packets));
    let (outcome, cores) = run_programs(machine, method, programs, region, is_checked)?;
    let per_packet = |count: u64| count as f64 / packets.measured as f64;
    let core = &cores.cores[0];
    let cycles = EngineCycles {
        cycles: per_packet(core.cycles),
        copy: per_packet(core.pending_copy_cycles),
        overlapped: per_packet(core.overlapped_copy_cycles),
    };
    Ok(PacketRun { cycles, ns: outcome.latency_ns / packets.measured as f64 })
}

/// The row of the runs without copies, under BASE and in the modes.
fn engine_runs((core, packets): (usize, ReceivedPackets), runs: &[PacketRun]) -> EngineRuns {
    let [without, base, modes @ ..] = runs else { unreachable!("BASE runs twice") };
    EngineRuns {
        payload_bytes: packets.payload_bytes,
        core: CORES[core],
        work_scale: packets.work_scale,
        base: base.cycles.cycles,
        base_without_copies: without.cycles.cycles,
        modes: std::array::from_fn(|mode| modes[mode].cycles),
    }
}
