//! What an allocator made of a workload: how its copies and zeroings can go, and what it left free.

use std::collections::BTreeMap;

use os_alloc_sim::{Cause, Fallback, FreeBlocks, HUGE_ORDER, Report, Sharing, Tally, Traffic};
use rowclone::{MECHANISMS, Mechanism};
use serde::Serialize;

/// Copies, or zeroings, of frames, by how they can go under the paper's rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficReport {
    /// Operations; one may have many frames.
    pub operations: u64,
    /// Frames.
    pub frames: u64,
    /// Frames by mechanism.
    pub frames_by_mechanism: BTreeMap<&'static str, u64>,
    /// The same as shares of `frames`; empty where there are none.
    pub share_by_mechanism: BTreeMap<&'static str, f64>,
    /// Frames that do not go by FPM, by the reason; reasons that did not occur are left out.
    pub fallbacks: BTreeMap<&'static str, u64>,
    /// Frames by what they were copied or zeroed for; causes that did not occur are left out.
    pub frames_by_cause: BTreeMap<&'static str, u64>,
}

impl TrafficReport {
    fn new(all: &Tally, of: impl Fn(Cause) -> u64) -> TrafficReport {
        let occurred = |(name, count): (&'static str, u64)| (count > 0).then_some((name, count));
        let share = |mechanism: Mechanism| all.share(mechanism).map(|share| (mechanism.name(), share));
        TrafficReport {
            operations: all.operations,
            frames: all.frames(),
            frames_by_mechanism: MECHANISMS.into_iter().map(|it| (it.name(), all.by(it))).collect(),
            share_by_mechanism: MECHANISMS.into_iter().filter_map(share).collect(),
            fallbacks: Fallback::ALL.into_iter().filter_map(|it| occurred((it.name(), all.fallbacks(it)))).collect(),
            frames_by_cause: Cause::ALL.into_iter().filter_map(|it| occurred((it.name(), of(it)))).collect(),
        }
    }
}

/// The memory at one moment, as the allocator sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryState {
    /// Share of the frames in use, 0 to 1.
    pub utilisation: f64,
    /// Linux's unusable free space index of order 9, 0 to 1: what of the free memory no huge page can use.
    pub unusable_index: f64,
    /// Free frames.
    pub free_frames: u64,
    /// The same by the order of the block that they lie in, 0 to 10.
    pub free_frames_by_order: Vec<u64>,
}

impl MemoryState {
    /// A memory of so many frames, of which these are free.
    pub(crate) fn new(frames: u64, free: &FreeBlocks) -> MemoryState {
        MemoryState {
            utilisation: if frames == 0 { 1.0 } else { 1.0 - free.frames() as f64 / frames as f64 },
            unusable_index: free.unusable(HUGE_ORDER),
            free_frames: free.frames(),
            free_frames_by_order: free.0.iter().zip(0..).map(|(blocks, order)| blocks << order).collect(),
        }
    }
}

/// What an allocator made of a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AllocatorReport {
    /// The policy.
    pub policy: &'static str,
    /// What became of frames that share a row: `none`, `together`, `marked`, `too-large`.
    pub sharing: &'static str,
    /// Frames that share rows: 1 where each has its own.
    pub unit_frames: u32,
    /// Frames that there are to hand out.
    pub frames: u64,
    /// Bytes of the reserved rows.
    pub reserved_row_bytes: u64,
    /// Frames with a part in a reserved row.
    pub reserved_frames: u64,
    /// Sound frames that are lost with them.
    pub lost_frames: u64,
    /// Memory that nobody can have because of the reserved rows.
    pub lost_bytes: u64,
    /// Huge pages wanted.
    pub huge_pages_wanted: u64,
    /// Those for which there was a block.
    pub huge_pages_served: u64,
    /// Copies.
    pub copies: TrafficReport,
    /// Zeroings.
    pub zeroings: TrafficReport,
    /// The memory before the workload, aged.
    pub before: MemoryState,
    /// The memory after it.
    pub after: MemoryState,
}

impl AllocatorReport {
    /// From the memory before the workload, and the allocator's report after it.
    pub(crate) fn new(before: MemoryState, after: &Report) -> AllocatorReport {
        let traffic: &Traffic = &after.traffic;
        AllocatorReport {
            policy: after.policy.name(),
            sharing: after.sharing.name(),
            unit_frames: match after.sharing {
                Sharing::None => 1,
                Sharing::Together { frames } | Sharing::Marked { frames } | Sharing::TooLarge { frames } => frames,
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
            before,
            after: MemoryState::new(after.frames, &after.free),
        }
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::Preset;
    use dram_spec::{AddressMap, Density, System, Width};
    use os_alloc_sim::{Age, FrameMap, Kernel, PageSize, Policy, Units, ZeroOnFree};

    use super::*;

    /// A process of 64 pages in a half-full memory forks, and writes to all of them.
    fn forked(policy: Policy) -> AllocatorReport {
        let geometry = System::paper(1, Density::Gb1, Width::X8).geometry;
        let map = FrameMap::new(AddressMap::preset(geometry, Preset::RowInterleaved));
        let mut kernel = Kernel::new(map, Units::Together, policy, 1, ZeroOnFree::Off).expect("a frame is a row");
        kernel.age(Age::new(0.5, 0.5).expect("shares"), 1);
        let before = MemoryState::new(kernel.report().frames, &kernel.report().free);
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
        AllocatorReport::new(before, &kernel.report())
    }

    #[test]
    fn every_frame_goes_some_way_for_some_cause_and_what_is_not_fpm_has_its_reason() {
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
}
