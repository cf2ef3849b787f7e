//! Report of an allocator: mechanisms of copies and zeroings, and the state of the memory.

use std::collections::BTreeMap;

use os_alloc_sim::{Cause, Fallback, FreeBlocks, HUGE_ORDER, Report, RowSharing, Tally, Traffic};
use rowclone::{MECHANISMS, Mechanism};
use serde::Serialize;

/// Copies, or zeroings, of frames, by the mechanism that the paper's rule permits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficReport {
    /// Operations, each of one or more frames.
    pub operations: u64,
    /// Frames.
    pub frames: u64,
    /// Frames by the best possible mechanism, `fpm`, `lisa`, `psm`, `psm2` or `channel`, under the policy `rowclone`.
    pub frames_by_mechanism: BTreeMap<&'static str, u64>,
    /// `frames_by_mechanism` as shares of `frames`, 0 to 1; empty without frames.
    pub share_by_mechanism: BTreeMap<&'static str, f64>,
    /// Frames by the reason against FPM: `unit-too-large`, `shared-row`, `policy-blind`, `not-asked`, `pool-empty`,
    /// `rank-empty`. Reasons without frames are omitted.
    pub fallbacks: BTreeMap<&'static str, u64>,
    /// Frames by cause: `demand-zero`, `copy-on-write`, `checkpoint`, `clone`, `dedup-undo`, `migration`,
    /// `zero-on-free`. Causes without frames are omitted.
    pub frames_by_cause: BTreeMap<&'static str, u64>,
}

impl TrafficReport {
    fn new(all: &Tally, of: impl Fn(Cause) -> u64) -> TrafficReport {
        let occurred = |(name, count): (&'static str, u64)| (count > 0).then_some((name, count));
        let share = |mechanism: Mechanism| all.share(mechanism).map(|share| (mechanism.name(), share));
        let offered = MECHANISMS.into_iter().filter(|&it| it.is_in_every_chip() || all.by(it) > 0);
        TrafficReport {
            operations: all.operations,
            frames: all.frames(),
            frames_by_mechanism: offered.clone().map(|it| (it.name(), all.by(it))).collect(),
            share_by_mechanism: offered.filter_map(share).collect(),
            fallbacks: Fallback::ALL.into_iter().filter_map(|it| occurred((it.name(), all.fallbacks(it)))).collect(),
            frames_by_cause: Cause::ALL.into_iter().filter_map(|it| occurred((it.name(), of(it)))).collect(),
        }
    }
}

/// State of the memory at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryState {
    /// Share of the frames in use, 0 to 1.
    pub utilization: f64,
    /// Linux's unusable free space index of order 9, 0 to 1: the share of free memory that no huge
    /// page can use.
    pub unusable_index: f64,
    /// Free frames.
    pub free_frames: u64,
    /// Free frames by the order of their block, 0 to 10.
    pub free_frames_by_order: Vec<u64>,
}

impl MemoryState {
    /// Creates the state of a memory of `frames` frames with these free blocks.
    pub(crate) fn new(frames: u64, free: &FreeBlocks) -> MemoryState {
        MemoryState {
            utilization: if frames == 0 { 1.0 } else { 1.0 - free.frames() as f64 / frames as f64 },
            unusable_index: free.unusable(HUGE_ORDER),
            free_frames: free.frames(),
            free_frames_by_order: free.0.iter().zip(0..).map(|(blocks, order)| blocks << order).collect(),
        }
    }
}

/// Counts of an allocator during a workload, and the state of the memory before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AllocatorReport {
    /// `sequential`, `random`, `buddy`, `subarray-aware`, `bank-aware`.
    pub policy: &'static str,
    /// Sharing of rows by frames: `none`, `row-set`, `page`, `too-large`.
    pub sharing: &'static str,
    /// Frames that share rows; 1 if frames share no row.
    pub unit_frames: u32,
    /// Frames that the allocator can hand out.
    pub frames: u64,
    /// Bytes of the reserved rows.
    pub reserved_row_bytes: u64,
    /// Frames that lie in a reserved row, at least partly.
    pub reserved_frames: u64,
    /// Unreserved frames that cannot be allocated because another frame of their unit is reserved.
    pub lost_frames: u64,
    /// Memory that cannot be allocated because of the reserved rows.
    pub lost_bytes: u64,
    /// Huge pages requested.
    pub huge_pages_wanted: u64,
    /// Huge pages allocated.
    pub huge_pages_served: u64,
    /// Copies of frames.
    pub copies: TrafficReport,
    /// Zeroings of frames.
    pub zeroings: TrafficReport,
    /// State before the workload, after aging.
    pub before: MemoryState,
    /// State after the workload.
    pub after: MemoryState,
}

impl AllocatorReport {
    /// Converts the report of an allocator after a workload.
    pub(crate) fn new(after: &Report) -> AllocatorReport {
        let traffic: &Traffic = &after.traffic;
        AllocatorReport {
            policy: after.policy.name(),
            sharing: after.sharing.name(),
            unit_frames: match after.sharing {
                RowSharing::None => 1,
                RowSharing::RowSet { frames } | RowSharing::Page { frames } | RowSharing::TooLarge { frames } => frames,
            },
            frames: after.frames,
            reserved_row_bytes: after.reservation.row_bytes,
            reserved_frames: after.reservation.reserved_frames,
            lost_frames: after.reservation.lost_frames,
            lost_bytes: after.reservation.bytes(),
            huge_pages_wanted: after.huge_pages.wanted,
            huge_pages_served: after.huge_pages.served,
            copies: TrafficReport::new(&traffic.copies(), |cause| traffic.copies_of(cause).frames()),
            zeroings: TrafficReport::new(&traffic.zeroings(), |cause| traffic.zeroings_of(cause).frames()),
            before: MemoryState::new(after.frames, &after.free_before),
            after: MemoryState::new(after.frames, &after.free),
        }
    }
}

/// The report of an allocator without any event.
#[cfg(test)]
pub(crate) fn no_counts() -> Report {
    Report {
        policy: os_alloc_sim::Policy::Buddy,
        sharing: RowSharing::None,
        traffic: Traffic::default(),
        huge_pages: os_alloc_sim::HugePages::default(),
        frames: 0,
        free_before: FreeBlocks::default(),
        free: FreeBlocks::default(),
        reservation: os_alloc_sim::Reservation::default(),
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::MapPreset;
    use dram_spec::{AddressMap, Density, System, Width};
    use host::AllocatorSettings;
    use os_alloc_sim::{CopyUnit, PageSize, Policy, ZeroOnFree};

    use super::*;

    /// A process of 64 pages in a half-full memory forks, and the parent writes to all its pages.
    fn forked(policy: Policy) -> AllocatorReport {
        let geometry = System::paper(1, Density::Gb1, Width::X8).geometry;
        let map = AddressMap::preset(geometry, MapPreset::RowInterleaved);
        let copy_unit = CopyUnit::RowSet;
        let settings = AllocatorSettings { policy, seed: 1, utilization: 0.5, fragmentation: 0.5, copy_unit };
        let mut kernel = settings.memory(&map).expect("a frame is a row").into_kernel(ZeroOnFree::Off);
        let mut operations = Vec::new();
        let process = kernel.spawn();
        let first = kernel.map(process, 64, PageSize::Small).expect("it lives");
        for page in first..first + 64 {
            kernel.touch(process, page, &mut operations).expect("there is room");
        }
        kernel.fork(process).expect("it lives");
        for page in first..first + 64 {
            kernel.write(process, page, &mut operations).expect("there is room");
        }
        AllocatorReport::new(&kernel.report())
    }

    #[test]
    fn every_frame_has_a_mechanism_and_a_cause_and_a_reason_if_not_fpm() {
        for policy in Policy::ALL {
            let report = forked(policy);
            for (traffic, cause) in [(&report.copies, "copy-on-write"), (&report.zeroings, "demand-zero")] {
                assert_eq!((traffic.operations, traffic.frames), (64, 64), "{policy}");
                assert_eq!(traffic.frames_by_cause, BTreeMap::from([(cause, 64)]), "{policy}");
                assert_eq!(traffic.frames_by_mechanism.values().sum::<u64>(), 64, "{policy}");
                let refused: u64 = traffic.fallbacks.values().sum();
                assert_eq!(refused + traffic.frames_by_mechanism["fpm"], 64, "{policy}");
                assert!((traffic.share_by_mechanism.values().sum::<f64>() - 1.0).abs() < 1e-12, "{policy}");
            }
            for state in [&report.before, &report.after] {
                assert_eq!(state.free_frames_by_order.iter().sum::<u64>(), state.free_frames, "{policy}");
            }
            assert_eq!(report.before.free_frames - report.after.free_frames, 128, "{policy}");
            assert_eq!(report.reserved_frames * 4096, report.lost_bytes, "{policy}: a frame is a row");
        }
        assert_eq!(forked(Policy::SubarrayAware).copies.frames_by_mechanism["fpm"], 64);
    }

    /// 1,000 frames, of which 3 + 2 x 2 + 512 = 519 were free before, and 100 are free after. Of the
    /// free frames, only those of order 9 can be a huge page. 6 + 3 frames of 4,096 bytes are lost.
    #[test]
    fn every_count_of_an_allocator_is_its_own() {
        let blocks = |counts: [(usize, u64); 3]| {
            let mut blocks = FreeBlocks::default();
            for (order, count) in counts {
                blocks.0[order] = count;
            }
            blocks
        };
        let report = AllocatorReport::new(&Report {
            policy: Policy::BankAware,
            sharing: RowSharing::RowSet { frames: 4 },
            huge_pages: os_alloc_sim::HugePages { wanted: 11, served: 7 },
            frames: 1_000,
            free_before: blocks([(0, 3), (1, 2), (9, 1)]),
            free: blocks([(0, 96), (2, 1), (9, 0)]),
            reservation: os_alloc_sim::Reservation { row_bytes: 20_000, reserved_frames: 6, lost_frames: 3 },
            ..no_counts()
        });
        let none = || TrafficReport::new(&Tally::default(), |_| 0);
        let state = |utilization, unusable_index, free_frames, free_frames_by_order: &[u64; 11]| MemoryState {
            utilization,
            unusable_index,
            free_frames,
            free_frames_by_order: free_frames_by_order.to_vec(),
        };
        let expected = AllocatorReport {
            policy: "bank-aware",
            sharing: "row-set",
            unit_frames: 4,
            frames: 1_000,
            reserved_row_bytes: 20_000,
            reserved_frames: 6,
            lost_frames: 3,
            lost_bytes: 9 * 4_096,
            huge_pages_wanted: 11,
            huge_pages_served: 7,
            copies: none(),
            zeroings: none(),
            before: state(1.0 - 0.519, 7.0 / 519.0, 519, &[3, 4, 0, 0, 0, 0, 0, 0, 0, 512, 0]),
            after: state(0.9, 1.0, 100, &[96, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]),
        };
        assert_eq!(report, expected);
        assert_eq!(MemoryState::new(0, &FreeBlocks::default()), state(1.0, 1.0, 0, &[0; 11]), "no frame is free");
    }
}
