//! Results of programs on cores.

use dram_spec::{Clock, Cycles, LINE_BYTES};
use host::machine::{
    CoreCounters, CoreOutcome, DmaCounts, InjectionPolicy, LineCounts, MachineOutcome, MachineSettings, NetworkCounts,
    PrefetchCounts, PrefetcherKind, Purpose, StallSlots, StoreMiss, WritePolicy, write_bursts,
};
use serde::Serialize;

use crate::interval::MeasuredInterval;
use crate::mix::MixMetrics;

/// Accesses of a core on behalf of the program, of copies or of zeroings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessRow {
    /// `program`, `kernel copy`, `kernel zeroing`, `kernel data`, or `network` where lines are injected.
    pub purpose: &'static str,
    /// Accesses to lines in a cache.
    pub hits: u64,
    /// Hits of the L1.
    pub l1_hits: u64,
    /// Hits of the L2; none without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_hits: Option<u64>,
    /// Lines requested from memory.
    pub misses: u64,
    /// Accesses to lines in flight.
    pub merged: u64,
    /// Whole lines stored to the cache without a request.
    pub allocated: u64,
    /// Lines written back.
    pub write_backs: u64,
    /// Lines written past the cache.
    pub non_temporal: u64,
    /// Stores past the caches into the write buffer; none without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// Writes of the write buffer; none without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffered: Option<u64>,
    /// Bytes of these accesses over memory channels.
    #[serde(skip)]
    pub channel_bytes: u64,
}

/// Cycles in which a core dispatched nothing, by cause.
pub type StallRow = StallSlots<f64>;

/// Results of a core in its region.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CoreRow {
    /// Core, from 0.
    pub core: usize,
    /// Instructions of the program.
    pub instructions: u64,
    /// Instructions of the kernel: its copy loops, and accesses to its data.
    pub kernel_instructions: u64,
    /// Core cycles of the region.
    pub cycles: u64,
    /// Instructions of the program per core cycle.
    pub ipc: f64,
    /// Lines requested from memory per 1000 instructions of the program.
    pub misses_per_1000_instructions: f64,
    /// Bytes that the program, copies and zeroings moved over memory channels.
    pub channel_bytes: u64,
    /// Share of copies and zeroings in them, 0 to 1; none without traffic.
    pub copy_share_of_channel_bytes: Option<f64>,
    /// Bandwidth of them, 10^9 bytes per second; none in an empty region.
    pub bandwidth_gb_s: Option<f64>,
    /// Dynamic DRAM energy of the core's requests per instruction of its program in the interval,
    /// nJ; none without instructions or without a current set.
    pub dynamic_energy_per_instruction_nj: Option<f64>,
    /// Page faults.
    pub faults: u64,
    /// Accesses by purpose.
    pub accesses: Vec<AccessRow>,
    /// Prefetches; none without a prefetcher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetches: Option<PrefetchCounts>,
    /// Work for a DMA engine; none without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dma: Option<DmaCounts>,
    /// Packets; none without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkCounts>,
    /// Cycles of the region without dispatch, by cause; the slots of a cycle count in parts.
    pub stall_cycles: StallRow,
    /// CPU time of copies: slots from the start of a copy or zeroing by the kernel, a copy unit each, to the first slot
    /// in which the core can go on, counted when it ends, in core cycles.
    pub copy_cycles: f64,
    /// Lines requested from memory by loads and stores of the program which are its first access to the line since it
    /// lay in the source or the destination of a copy, by whatever copier; a later copy of the line counts anew.
    pub misses_after_copies: u64,
    /// Copies and zeroings issued to the controller.
    pub controller_copies: u64,
    /// Dirty source lines written back before copies in DRAM.
    pub coherence_written_back: u64,
    /// Dirty source lines copied in the cache.
    pub coherence_copied_in_cache: u64,
    /// Destination lines invalidated.
    pub coherence_invalidated: u64,
    /// Clean zero lines inserted.
    pub zero_lines_inserted: u64,
    /// Core cycles in which copies of an engine were pending, from the dispatch of their instructions on.
    pub pending_copy_cycles: u64,
    /// Those of them in which other instructions advanced.
    pub overlapped_copy_cycles: u64,
}

/// Results of the cores of a run. Figures other than those of a core are of the interval that
/// covers the regions of all cores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoresReport {
    /// Core cycles per memory clock.
    pub core_cycles_per_clock: f64,
    /// Length of the interval, ns.
    pub interval_ns: f64,
    /// Instructions of all programs.
    pub instructions: u64,
    /// DRAM energy, including background and refresh, nJ; none without a current set.
    pub energy_nj: Option<f64>,
    /// DRAM energy per instruction, nJ; none without instructions or without a current set.
    pub energy_per_instruction_nj: Option<f64>,
    /// Dynamic DRAM energy from the start of the interval until the last request of the run is done, which may be
    /// after the interval, nJ; none without a current set.
    #[serde(skip)]
    pub dynamic_energy_nj: Option<f64>,
    /// Bytes that programs, copies and zeroings moved over memory channels.
    pub channel_bytes: u64,
    /// Bytes of copies and zeroings among them.
    pub copy_channel_bytes: u64,
    /// Bytes of lines among those that copies and zeroings had written in a cache, and that were
    /// written back later.
    pub copy_write_back_bytes: u64,
    /// Share of copies and zeroings, 0 to 1; none without traffic.
    pub copy_share_of_channel_bytes: Option<f64>,
    /// Bandwidth, 10^9 bytes per second; none in an empty interval.
    pub bandwidth_gb_s: Option<f64>,
    /// CPU time of copies as a share of the cycles of all regions, 0 to 1; none in empty regions.
    pub copy_share_of_cycles: Option<f64>,
    /// Sum of those of the cores.
    pub misses_after_copies: u64,
    /// Loads compared with a flat, coherent memory; none without checks.
    pub loads_checked: Option<u64>,
    /// The first load that returned wrong data.
    pub wrong_load: Option<String>,
    /// Each core.
    pub cores: Vec<CoreRow>,
}

/// How bytes over the channels are counted.
#[derive(Clone, Copy, Debug)]
struct ChannelBytes {
    line_bytes: u64,
    /// Whether the memory moves bursts of 64 bytes, and not parts of lines.
    has_bursts: bool,
}

impl ChannelBytes {
    fn of(self, lines: &LineCounts) -> u64 {
        if self.has_bursts { lines.bursts(self.line_bytes) * LINE_BYTES } else { lines.bytes(self.line_bytes) }
    }

    const fn of_write_backs(self, lines: u64) -> u64 {
        lines * if self.has_bursts { write_bursts(0, self.line_bytes) * LINE_BYTES } else { self.line_bytes }
    }
}

/// Bytes over the channels: all, those of copies and zeroings, and those of their write-backs.
fn channel_bytes(counters: &CoreCounters, channel: ChannelBytes) -> [u64; 3] {
    let of = |purpose: Purpose| channel.of(&counters.lines[purpose as usize]);
    let copies = of(Purpose::KernelCopy) + of(Purpose::KernelZero) + counters.controller_copy_bytes;
    let write_backs = [Purpose::KernelCopy, Purpose::KernelZero].map(|it| counters.lines[it as usize].write_backs);
    let write_back_bytes = channel.of_write_backs(write_backs.iter().sum::<u64>());
    let others = of(Purpose::Program) + of(Purpose::KernelData) + of(Purpose::Network);
    [copies + others, copies, write_back_bytes]
}

/// A ratio; none if the denominator is 0.
fn ratio(of: f64, to: f64) -> Option<f64> {
    (to > 0.0).then(|| of / to)
}

impl CoresReport {
    pub(crate) fn new(
        outcome: &MachineOutcome,
        settings: &MachineSettings,
        interval: &MeasuredInterval,
        (clock, has_bursts): (Clock, bool),
    ) -> CoresReport {
        let channel = ChannelBytes { line_bytes: settings.lines.bytes, has_bursts };
        let bytes = outcome.cores.iter().map(|core| channel_bytes(&core.interval, channel));
        let [all, copies, write_backs] =
            bytes.fold([0; 3], |sum: [u64; 3], bytes| std::array::from_fn(|at| sum[at] + bytes[at]));
        let instructions: u64 = outcome.cores.iter().map(|core| core.interval.instructions).sum();
        let interval_ns = clock.ns(interval.cycles);
        let energy_nj = interval.energy.as_ref().map(|energy| energy.total().nj());
        let core_ns = clock.ns(Cycles(1)) / settings.clock.per_clock();
        let wrong = outcome.check.and_then(|(_, wrong)| wrong);
        let cores = outcome.cores.iter().zip(&interval.by_core).enumerate();
        CoresReport {
            core_cycles_per_clock: settings.clock.per_clock(),
            interval_ns,
            instructions,
            energy_nj,
            energy_per_instruction_nj: energy_nj.and_then(|nj| ratio(nj, instructions as f64)),
            dynamic_energy_nj: interval.to_end.map(dram_spec::Picojoule::nj),
            channel_bytes: all,
            copy_channel_bytes: copies,
            copy_write_back_bytes: write_backs,
            copy_share_of_channel_bytes: ratio(copies as f64, all as f64),
            bandwidth_gb_s: ratio(all as f64, interval_ns),
            copy_share_of_cycles: ratio(
                outcome.cores.iter().map(|core| core.counters.copy_slots as f64).sum::<f64>()
                    / settings.core.width as f64,
                outcome.cores.iter().map(|core| core.cycles.0 as f64).sum(),
            ),
            misses_after_copies: outcome.cores.iter().map(|core| core.counters.misses_after_copies).sum(),
            loads_checked: outcome.check.map(|(loads, _)| loads),
            wrong_load: wrong.map(|wrong| format!("a load of core {} at {:#x}", wrong.core, wrong.address.0)),
            cores: cores
                .map(|(core, (it, energy))| {
                    let dynamic_nj = energy.as_ref().map(|energy| energy.operation().nj());
                    row(core, it, settings, (core_ns, channel), dynamic_nj)
                })
                .collect(),
        }
    }

    /// Sum of the instructions per cycle of all cores.
    pub fn ipc_sum(&self) -> f64 {
        self.cores.iter().map(|core| core.ipc).sum()
    }

    /// Metrics of the programs, given the instructions per cycle of each alone, by core. None without those, or if a
    /// program has no instruction.
    pub fn mix(&self, alone: &[f64]) -> Option<MixMetrics> {
        let together: Vec<f64> = self.cores.iter().map(|core| core.ipc).collect();
        MixMetrics::new(&together, alone)
    }

    /// Whether no load returned wrong data.
    pub const fn passed(&self) -> bool {
        self.wrong_load.is_none()
    }
}

/// Whether stores leave through a write buffer.
fn has_write_buffer(settings: &MachineSettings) -> bool {
    settings.lines.write == WritePolicy::WriteThrough || settings.last_level.store_miss == StoreMiss::NoAllocate
}

/// Whether a machine has accesses on behalf of a purpose: those of a network adapter are lines that it injects.
fn is_shown(settings: &MachineSettings, purpose: Purpose) -> bool {
    let injects = settings.network.is_some_and(|network| network.injection.policy != InjectionPolicy::Never);
    purpose != Purpose::Network || injects
}

/// Whether a cache has a prefetcher.
fn has_prefetcher(settings: &MachineSettings) -> bool {
    let shapes = [settings.l1, settings.l2, Some(settings.last_level)];
    shapes.into_iter().flatten().any(|shape| shape.prefetcher != PrefetcherKind::None)
}

/// Results of a core. `core_ns` is the length of a core cycle, `dynamic_nj` the energy of the core's requests in the
/// interval.
fn row(
    core: usize,
    outcome: &CoreOutcome,
    settings: &MachineSettings,
    (core_ns, channel): (f64, ChannelBytes),
    dynamic_nj: Option<f64>,
) -> CoreRow {
    let (counters, cycles) = (&outcome.counters, outcome.cycles.0);
    let per = |count: u64, per: u64| ratio(count as f64, per as f64).unwrap_or(0.0);
    let [bytes, copy_bytes, _] = channel_bytes(counters, channel);
    let misses: u64 = counters.lines.iter().map(|lines| lines.misses).sum();
    let access = |purpose: Purpose| {
        let lines = counters.lines[purpose as usize];
        AccessRow {
            purpose: purpose.name(),
            hits: lines.hits,
            l1_hits: lines.l1_hits,
            l2_hits: settings.l2.map(|_| lines.l2_hits),
            misses: lines.misses,
            merged: lines.merged,
            allocated: lines.allocated,
            write_backs: lines.write_backs,
            non_temporal: lines.non_temporal,
            passed: has_write_buffer(settings).then_some(lines.passed),
            buffered: has_write_buffer(settings).then_some(lines.buffered),
            channel_bytes: channel.of(&lines),
        }
    };
    let coherence = &counters.coherence;
    CoreRow {
        core,
        instructions: counters.instructions,
        kernel_instructions: counters.kernel_instructions,
        cycles,
        ipc: per(counters.instructions, cycles),
        misses_per_1000_instructions: 1000.0 * per(misses, counters.instructions),
        channel_bytes: bytes,
        copy_share_of_channel_bytes: ratio(copy_bytes as f64, bytes as f64),
        bandwidth_gb_s: ratio(bytes as f64, cycles as f64 * core_ns),
        dynamic_energy_per_instruction_nj: dynamic_nj.and_then(|nj| ratio(nj, outcome.interval.instructions as f64)),
        faults: counters.faults,
        accesses: Purpose::ALL.into_iter().filter(|purpose| is_shown(settings, *purpose)).map(access).collect(),
        prefetches: has_prefetcher(settings).then_some(counters.prefetches),
        dma: Some(counters.dma).filter(|counts| *counts != DmaCounts::default()),
        network: Some(counters.network).filter(|counts| *counts != NetworkCounts::default()),
        stall_cycles: counters.stalls.cycles(settings.core.width),
        copy_cycles: counters.copy_slots as f64 / settings.core.width as f64,
        misses_after_copies: counters.misses_after_copies,
        controller_copies: coherence.copies + coherence.zeroings,
        coherence_written_back: coherence.written_back,
        coherence_copied_in_cache: coherence.copied_in_cache,
        coherence_invalidated: coherence.invalidated,
        zero_lines_inserted: coherence.zero_lines,
        pending_copy_cycles: counters.pending_copy_cycles,
        overlapped_copy_cycles: counters.overlapped_copy_cycles,
    }
}

#[cfg(test)]
mod tests;
