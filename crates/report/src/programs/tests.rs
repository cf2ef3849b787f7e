//! Ratios and tables of programs, by hand.

use rowclone_sim::{AccessRow, NetworkCounts, PrefetchCounts, StallRow};

use super::*;

/// A report without a core.
pub(crate) fn empty() -> CoresReport {
    CoresReport {
        core_cycles_per_clock: 6.0,
        interval_ns: 1000.0,
        instructions: 0,
        energy_nj: Some(0.0),
        energy_per_instruction_nj: None,
        dynamic_energy_nj: None,
        channel_bytes: 0,
        copy_channel_bytes: 0,
        copy_write_back_bytes: 0,
        copy_share_of_channel_bytes: None,
        bandwidth_gb_s: None,
        copy_share_of_cycles: None,
        misses_after_copies: 0,
        loads_checked: None,
        wrong_load: None,
        cores: Vec::new(),
    }
}

/// A core of which each figure differs.
pub(crate) fn core(core: usize, cycles: u64, ipc: f64) -> CoreRow {
    CoreRow {
        core,
        instructions: 2_000,
        kernel_instructions: 512,
        cycles,
        ipc,
        misses_per_1000_instructions: 25.04,
        channel_bytes: 12_672,
        copy_share_of_channel_bytes: Some(0.375),
        bandwidth_gb_s: Some(5.069),
        dynamic_energy_per_instruction_nj: Some(0.166),
        faults: 7,
        accesses: Vec::new(),
        prefetches: None,
        dma: None,
        network: None,
        stall_cycles: StallRow {
            window: 10.0,
            mshr: 20.0,
            store_buffer: 30.0,
            kernel: 40.0,
            coherence: 50.4,
            controller_copy: 60.0,
            ..StallRow::default()
        },
        copy_cycles: 0.0,
        misses_after_copies: 0,
        controller_copies: 3,
        coherence_written_back: 3,
        coherence_copied_in_cache: 4,
        coherence_invalidated: 5,
        zero_lines_inserted: 6,
        pending_copy_cycles: 0,
        overlapped_copy_cycles: 0,
    }
}

/// A run whose regions last `latency_ns`, with this energy in all and per instruction.
fn outcome(
    policy: &'static str,
    latency_ns: f64,
    cores: Vec<CoreRow>,
    energy_nj: f64,
    energy_per_instruction_nj: Option<f64>,
) -> Outcome {
    let copy_share_of_channel_bytes = Some(0.256);
    let cores = CoresReport {
        energy_nj: Some(energy_nj),
        energy_per_instruction_nj,
        copy_share_of_channel_bytes,
        cores,
        ..empty()
    };
    Outcome { policy, latency_ns, cores: Some(cores), ..Outcome::default() }
}

/// Regions of 8,000 and 6,000 cycles of 0.3125 ns, and 2.5 nJ per instruction.
fn slow() -> Outcome {
    outcome("baseline", 2_500.0, vec![core(0, 8_000, 0.25), core(1, 6_000, 0.5)], 9_000.0, Some(2.5))
}

/// Regions of 4,000 and 5,000 cycles, and 2 nJ per instruction, compared with [`slow`].
fn fast() -> Outcome {
    let mut fast = outcome("rowclone", 1_562.5, vec![core(0, 4_000, 0.5), core(1, 5_000, 0.75)], 1_000.0, Some(2.0));
    fast.compare(&slow().reference());
    fast
}

/// The words of each line.
fn words(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// 2,500 ns against 1,562.5 ns; 2.5 nJ against 2 nJ per instruction.
#[test]
fn ratios_are_the_baseline_over_the_method() {
    let baseline = MethodRow::new(&slow(), None).unwrap();
    assert_eq!((baseline.cycles, baseline.ipc_sum, baseline.energy_nj), (8_000, 0.75, Some(9_000.0)));
    assert_eq!((baseline.speedup, baseline.energy_ratio), (None, None));
    let fast = MethodRow::new(&fast(), None).unwrap();
    assert_eq!((fast.cycles, fast.ipc_sum, fast.energy_nj), (5_000, 1.25, Some(1_000.0)));
    assert_eq!((fast.speedup, fast.energy_ratio), (Some(1.6), Some(1.25)));
    assert_eq!(MethodRow::new(&Outcome::default(), None), None, "a run without cores");
}

#[test]
fn a_line_of_a_core_has_each_figure_in_its_column() {
    let lines = words(&core_table(&[core(3, 8_000, 0.25)]));
    // Copies in DRAM: coherence and the controller, 110.4 cycles.
    assert_eq!(lines.last().unwrap(), "3 2000 512 8000 250.00 25.0 7 37.50 5.07 0.17 10 20 30 40 110", "{lines:?}");
    let none = CoreRow {
        copy_share_of_channel_bytes: None,
        bandwidth_gb_s: None,
        dynamic_energy_per_instruction_nj: None,
        ..core(0, 1, 0.5)
    };
    assert!(words(&core_table(&[none])).last().unwrap().contains(" 7 - - - 10 "));
}

#[test]
fn work_with_devices_has_a_line_per_core_where_there_is_any() {
    let of_dma = CoreRow {
        dma: Some(DmaCounts {
            descriptors: 1,
            doorbells: 2,
            polls: 3,
            interrupts: 4,
            pinned_pages: 5,
            unpinned_pages: 6,
        }),
        stall_cycles: StallRow { idle: 70.0, ..StallRow::default() },
        ..core(1, 8_000, 0.25)
    };
    let of_both = CoreRow {
        network: Some(NetworkCounts { packets: 7, dropped: 8, interrupts: 9, sent: 10, injected: 0 }),
        ..of_dma.clone()
    };
    let lines = words(&core_table(&[core(0, 8_000, 0.25), of_dma]));
    assert!(lines.iter().any(|line| line.ends_with("0.17 10 20 30 40 110 0")), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with("0.17 0 0 0 0 0 70")), "{lines:?}");
    assert_eq!(lines[lines.len() - 2..], ["0 0 0 0 0 0 0", "1 1 2 3 4 5 6"], "{lines:?}");
    let lines = words(&core_table(&[of_both]));
    assert_eq!(lines.last().unwrap(), "1 1 2 3 4 5 6 7 8 9 10", "{lines:?}");
    let prefetches = Some(PrefetchCounts { requested: 21, useful: 22, late: 23, useless: 24, dropped: 25 });
    let network = Some(NetworkCounts { packets: 7, dropped: 8, interrupts: 9, sent: 10, injected: 11 });
    let mut injected = CoreRow { prefetches, network, ..core(1, 8_000, 0.25) };
    injected.accesses.push(AccessRow {
        purpose: "network",
        hits: 0,
        l1_hits: 0,
        l2_hits: None,
        misses: 0,
        merged: 0,
        allocated: 0,
        write_backs: 12,
        non_temporal: 0,
        passed: None,
        buffered: None,
        channel_bytes: 0,
    });
    let lines = words(&core_table(&[injected]));
    assert_eq!(lines.last().unwrap(), "1 21 22 23 24 25 7 8 9 10 11 12", "{lines:?}");
}

#[test]
fn a_line_of_a_method_has_each_figure_in_its_column() {
    let line = |row: &MethodRow| words(&methods(std::slice::from_ref(row))).last().unwrap().clone();
    let mut row = MethodRow::new(&fast(), None).unwrap();
    assert_eq!(line(&row), "rowclone 1250.00 5000 1.60x 1.25x 2.000 25.6 %");
    row.mix = MixMetrics::new(&[0.5, 0.75], &[1.0, 1.0]);
    // 1/2 + 3/4 of the speeds alone; 2 / (2 + 4/3).
    assert_eq!(line(&row), "rowclone 1250.00 1.250 1.60x 1.25x 2.000 25.6 %");
    assert_eq!(words(&mixes(std::slice::from_ref(&row))).last().unwrap(), "rowclone 1.250 1.250 0.600 2.000");
    let alone = outcome("baseline", 2_500.0, vec![core(0, 8_000, 0.25)], 9_000.0, None);
    assert_eq!(line(&MethodRow::new(&alone, None).unwrap()), "baseline 250.00 8000 - - - 25.6 %");
    // 1.5625 us and 1,000 nJ for a quarter of a thousand copies are 6.25 ns and 4 nJ per copy.
    row.copies = Some(250);
    let per_copy = line(&row);
    assert!(per_copy.starts_with("rowclone 0.01 1.60x 4.00 1.25x ") && per_copy.ends_with(" 25.6 %"), "{per_copy}");
}
