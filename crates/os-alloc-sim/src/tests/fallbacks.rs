//! The reasons why FPM does not serve a copy, one by one; and the frames lost to reserved rows.

use dram_spec::Channel;
use rowclone::{FPM, MECHANISMS, Mechanism, PSM, PSM2};

use crate::fixture::{maps, memories};
use crate::{
    Cause, CopyUnit, Destination, Fallback, Found, Frame, FrameMap, FrameSet, Kernel, MemoryOperation, PageSize,
    Policy, RowSharing, Tally, ZeroOnFree,
};

/// A page of a forked process, in a memory of 4 KB rows: the kernel, the child, and the page's
/// frame.
fn forked(policy: Policy) -> (Kernel, crate::ProcessId, Frame) {
    let (map, set) = memories()[0].clone();
    let mut kernel = Kernel::new(map, set, policy, 3, ZeroOnFree::Off).unwrap();
    let parent = kernel.spawn();
    kernel.map(parent, 1, PageSize::Small).unwrap();
    let source = kernel.write(parent, 0, &mut Vec::new()).unwrap();
    let child = kernel.fork(parent).unwrap();
    (kernel, child, source)
}

/// Allocates all free frames that satisfy a predicate.
fn take_all(kernel: &mut Kernel, like: impl Fn(&FrameMap, Frame) -> bool) {
    let frames: Vec<Frame> = kernel.frame_set().grains().filter(|&frame| like(&kernel.map, frame)).collect();
    for frame in frames {
        kernel.allocator.claim(frame);
    }
}

/// Lets the child write; returns the mechanism of its copy and the reasons against FPM.
fn copied(kernel: &mut Kernel, child: crate::ProcessId) -> (Mechanism, Vec<Fallback>) {
    kernel.write(child, 0, &mut Vec::new()).unwrap();
    let copies: Tally = kernel.report().traffic.copies();
    let mechanism = MECHANISMS.into_iter().find(|&mechanism| copies.by(mechanism) == 1);
    (mechanism.unwrap(), Fallback::ALL.into_iter().filter(|&why| copies.fallbacks(why) == 1).collect())
}

/// A page that moves near its source found a frame of its pool; one that moves anywhere had no
/// source to look for.
#[test]
fn a_move_without_a_source_was_not_asked_to_stay_near_one() {
    for (to, expected) in [(Destination::NearSource, Found::SourcePool), (Destination::Anywhere, Found::Unbound)] {
        let (map, set) = memories()[0].clone();
        let mut kernel = Kernel::new(map, set, Policy::SubarrayAware, 3, ZeroOnFree::Off).unwrap();
        let process = kernel.spawn();
        kernel.map(process, 1, PageSize::Small).unwrap();
        kernel.write(process, 0, &mut Vec::new()).unwrap();
        let mut operations = Vec::new();
        kernel.migrate(process, 0, to, &mut operations).unwrap();
        assert!(matches!(operations[..], [MemoryOperation::Copy { found, .. }] if found == expected), "{operations:?}");
    }
}

/// First the source's pool, then another pool of its rank, possibly of its bank, then any pool.
#[test]
fn each_way_away_from_the_source_has_its_reason() {
    let (mut kernel, child, _) = forked(Policy::SubarrayAware);
    assert_eq!(copied(&mut kernel, child), (FPM, vec![]));

    let (mut kernel, child, source) = forked(Policy::SubarrayAware);
    let pool = kernel.map.subarray(source);
    take_all(&mut kernel, |map, frame| map.subarray(frame) == pool);
    let (mechanism, why) = copied(&mut kernel, child);
    assert!([PSM, PSM2].contains(&mechanism), "{mechanism:?}");
    assert_eq!(why, [Fallback::PoolEmpty]);

    let (mut kernel, child, source) = forked(Policy::SubarrayAware);
    let pool = kernel.map.subarray(source);
    take_all(&mut kernel, |map, frame| {
        let other = map.subarray(frame);
        other == pool || other.channel != pool.channel || other.bank != pool.bank
    });
    assert_eq!(copied(&mut kernel, child), (PSM2, vec![Fallback::PoolEmpty]), "none but its bank is left");

    let (mut kernel, child, source) = forked(Policy::SubarrayAware);
    let Channel(channel) = kernel.map.subarray(source).channel;
    take_all(&mut kernel, |map, frame| map.subarray(frame).channel == Channel(channel));
    assert_eq!(copied(&mut kernel, child), (Mechanism::CHANNEL, vec![Fallback::RankEmpty]));
}

#[test]
fn a_policy_that_ignores_sources_is_reported_as_policy_blind() {
    for policy in [Policy::Sequential, Policy::Random, Policy::Buddy] {
        let (mut kernel, child, source) = forked(policy);
        let pool = kernel.map.subarray(source);
        take_all(&mut kernel, |map, frame| map.subarray(frame) == pool);
        let (mechanism, why) = copied(&mut kernel, child);
        assert!(mechanism != FPM, "{policy}");
        assert_eq!(why, [Fallback::PolicyBlind], "{policy}");
    }
}

/// A map whose smallest block of whole rows exceeds 16 MiB: FPM serves neither copies nor zeroings.
#[test]
fn a_unit_that_is_too_large_is_the_reason_before_all_others() {
    let too_large: Vec<_> = memories().iter().filter(|(map, _)| map.unit().is_none()).collect();
    assert!(!too_large.is_empty());
    for (map, set) in too_large {
        for policy in Policy::ALL {
            let mut kernel = Kernel::new(map.clone(), set.clone(), policy, 3, ZeroOnFree::Off).unwrap();
            let (parent, mut operations) = (kernel.spawn(), Vec::new());
            kernel.map(parent, 1, PageSize::Small).unwrap();
            kernel.write(parent, 0, &mut operations).unwrap();
            let child = kernel.fork(parent).unwrap();
            kernel.write(child, 0, &mut operations).unwrap();
            assert!(matches!(operations[1], MemoryOperation::Copy { cause: Cause::CopyOnWrite, .. }));
            let report = kernel.report();
            assert!(matches!(report.sharing, RowSharing::TooLarge { .. }));
            for tally in [report.traffic.copies(), report.traffic.zeroings()] {
                assert_eq!((tally.by(FPM), tally.fallbacks(Fallback::UnitTooLarge)), (0, 1), "{policy}");
            }
        }
    }
}

/// A frame with a part in a reserved row is never allocated. If units are allocated together, the
/// whole unit of such a frame is not allocated; some maps have such units.
#[test]
fn a_reserved_frame_withholds_its_whole_unit() {
    let mut met = 0;
    for map in maps() {
        let map = FrameMap::new(map);
        for copy_unit in CopyUnit::ALL {
            let set = FrameSet::new(&map, copy_unit);
            let mut lost = 0;
            for unit in (0..map.frames()).step_by(set.grain_frames() as usize) {
                let frames = (unit..unit + set.grain_frames()).map(Frame);
                let reserved = frames.clone().filter(|&frame| map.is_reserved(frame)).count() as u64;
                assert!(frames.into_iter().all(|frame| set.contains(frame) == (reserved == 0)), "unit of {unit}");
                lost += if reserved > 0 { u64::from(set.grain_frames()) - reserved } else { 0 };
            }
            assert_eq!(set.reservation().lost_frames, lost);
            met += u64::from(lost > 0);
        }
    }
    assert!(met > 0, "no map has a unit that is partly reserved");
}
