//! Aging, and the share of copies served by FPM.

use std::collections::BTreeSet;

use dram_spec::AddressMap;
use dram_spec::address::MapPreset;
use proptest::prelude::*;
use rowclone::FPM;

use crate::fixture::geometry;
use crate::{Age, CopyUnit, Fallback, FrameMap, FrameSet, Generator, HUGE_ORDER, Policy, Survey, Tally, age};

const COPIES: u64 = 20_000;
const UTILIZATIONS: [f64; 9] = [0.1, 0.25, 0.5, 0.6, 0.75, 0.9, 0.95, 0.98, 0.99];

fn map(row_bytes: u64, preset: MapPreset) -> FrameMap {
    FrameMap::new(AddressMap::preset(geometry(row_bytes), preset))
}

fn copies(map: &FrameMap, policy: Policy, copy_unit: CopyUnit, utilization: f64, unusable: f64) -> Tally {
    let age = Age::new(utilization, unusable).unwrap();
    let surveyed = Survey { policy, copy_unit, age, copies: COPIES, seed: 1 }.run(map).unwrap();
    assert!((surveyed.report.utilization() - utilization).abs() < 1e-4);
    let copies = surveyed.report.traffic.copies();
    assert_eq!(copies.operations, COPIES);
    let fallbacks: u64 = Fallback::ALL.iter().map(|&why| copies.fallbacks(why)).sum();
    assert_eq!(fallbacks + copies.by(FPM), copies.frames());
    copies
}

/// Standard deviation of a share measured on [`COPIES`] copies.
fn sigma(share: f64) -> f64 {
    (share * (1.0 - share) / COPIES as f64).sqrt()
}

/// A random destination lies in the source's subarray with the expected probability: 1 of 256, or 1
/// of 128 if a unit of two frames has a row of each channel.
#[test]
fn fpm_serves_random_destinations_with_the_expected_probability() {
    for (preset, row_bytes, subarrays) in [
        (MapPreset::RowInterleaved, 4096, 256),
        (MapPreset::LineInterleaved, 4096, 128),
        (MapPreset::RowInterleaved, 8192, 128),
    ] {
        let map = map(row_bytes, preset);
        let set = FrameSet::new(&map, CopyUnit::RowSet);
        let places: BTreeSet<_> = set.grains().map(|grain| map.subarray(grain)).collect();
        assert_eq!(places.len(), subarrays);
        let chance = 1.0 / subarrays as f64;
        for utilization in UTILIZATIONS {
            let share = copies(&map, Policy::Random, CopyUnit::RowSet, utilization, 0.8).share(FPM).unwrap();
            assert!((share - chance).abs() <= 3.0 * sigma(chance), "{share} at {utilization} of {preset:?}");
        }
    }
}

#[test]
fn fpm_share_of_subarray_aware_falls_as_memory_fills() {
    for (preset, row_bytes) in [(MapPreset::RowInterleaved, 4096), (MapPreset::BankInterleaved, 8192)] {
        let map = map(row_bytes, preset);
        for unusable in [0.2, 0.9] {
            let mut last = 1.0;
            for utilization in UTILIZATIONS {
                let tally = copies(&map, Policy::SubarrayAware, CopyUnit::RowSet, utilization, unusable);
                let share = tally.share(FPM).unwrap();
                assert!(
                    share <= last + 3.0 * (sigma(last).powi(2) + sigma(share).powi(2)).sqrt(),
                    "{share} after {last}"
                );
                assert!(share >= 0.95 || utilization > 0.5, "{share} at {utilization}");
                assert_eq!(tally.fallbacks(Fallback::PoolEmpty), tally.frames() - tally.by(FPM));
                last = share;
            }
        }
    }
}

#[test]
fn fpm_serves_no_part_of_a_shared_row() {
    for policy in Policy::ALL {
        let tally = copies(&map(8192, MapPreset::RowInterleaved), policy, CopyUnit::Page, 0.5, 0.5);
        assert_eq!((tally.by(FPM), tally.fallbacks(Fallback::SharedRow)), (0, COPIES));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Utilization to half a grain; fragmentation to half a block and the rounding of utilization.
    #[test]
    fn aging_reaches_its_targets(
        preset in prop::sample::select(MapPreset::ALL.to_vec()),
        policy in prop::sample::select(Policy::ALL.to_vec()),
        utilization in 0.05..0.99,
        unusable in 0.05..=1.0,
        seed in any::<u64>(),
    ) {
        let map = map(4096, preset);
        let set = FrameSet::new(&map, CopyUnit::RowSet);
        let target = Age::new(utilization, unusable).unwrap();
        let (allocator, aged) = age(&map, &set, policy, target, &mut Generator::new(seed)).unwrap();
        let (all, grain) = (set.frames() as f64, f64::from(set.grain_frames()));
        prop_assert!((aged.utilization - utilization).abs() * all <= grain);
        let free = allocator.free_frames() as f64;
        prop_assert!((aged.unusable() - unusable).abs() * free <= 256.0 + grain, "{} for \
            {}", aged.unusable(), unusable);
        prop_assert_eq!(aged.unusable().to_bits(), allocator.free_blocks().unusable(HUGE_ORDER).to_bits());
        prop_assert_eq!(aged.held.len() as u64 * u64::from(set.grain_frames()) + allocator.free_frames(), set.frames());
        prop_assert!(aged.held.iter().all(|&grain| !allocator.is_free(grain)));
    }
}

/// Aging reports the index reached: an empty memory is not fragmented, and a full one has no free
/// block.
#[test]
fn aging_reports_targets_it_cannot_reach() {
    let map = map(4096, MapPreset::RowInterleaved);
    let set = FrameSet::new(&map, CopyUnit::RowSet);
    let reached = |utilization, unusable| {
        let target = Age::new(utilization, unusable).unwrap();
        let (_, aged) = age(&map, &set, Policy::Buddy, target, &mut Generator::new(0)).unwrap();
        (aged.utilization, aged.unusable())
    };
    let (utilization, unusable) = reached(0.0, 1.0);
    assert!(utilization == 0.0 && unusable < 0.04, "the reserved rows alone break blocks: {unusable}");
    assert_eq!(reached(1.0, 0.0), (1.0, 1.0));
    // 26 free frames form no block; and a few frames in use per block break all blocks if each
    // block has some.
    let unusable = [reached(0.9999, 0.0).1, reached(0.01, 1.0).1];
    assert_eq!(unusable.map(f64::to_bits), [1_f64.to_bits(); 2]);
}

#[test]
fn an_age_out_of_range_is_refused_with_a_remedy() {
    let error = Age::new(50.0, 0.5).unwrap_err();
    assert_eq!(error.to_string(), "`utilization` is 50, but must be a share from 0 to 1");
    assert_eq!(error.help(), "try `utilization = 0.5`");
    assert_eq!(Age::new(0.5, f64::NAN).unwrap_err().help(), "try `fragmentation = 0.5`");
}
