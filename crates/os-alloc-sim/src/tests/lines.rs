//! Mechanisms compared with a classification of every line.

use std::collections::{BTreeMap, BTreeSet};

use dram_spec::address::FRAME_BYTES;
use dram_spec::{BankId, Channel, LINE_BYTES, Location, PhysicalAddress, Row};
use proptest::prelude::*;
use rowclone::{FPM, MECHANISMS, Mechanism, PSM, PSM2};

use crate::fixture::{maps, memories};
use crate::{Frame, FrameMap};

type RowName = (Channel, BankId, Row);

fn name(location: Location) -> RowName {
    (location.channel, location.bank, location.row)
}

/// Lines of a copy of consecutive frames: source and destination location of each.
fn lines(map: &FrameMap, src: Frame, dst: Frame, frames: u32) -> impl Iterator<Item = (Location, Location)> {
    let locate = |address: u64| map.address_map().locate(PhysicalAddress(address)).unwrap();
    (0..u64::from(frames) * FRAME_BYTES)
        .step_by(LINE_BYTES as usize)
        .map(move |offset| (locate(src.address().0 + offset), locate(dst.address().0 + offset)))
}

/// Mechanism of each line, by the paper's rule.
fn by_line(map: &FrameMap, src: Frame, dst: Frame, frames: u32) -> Vec<Mechanism> {
    let geometry = *map.address_map().geometry();
    let mut sources: BTreeMap<RowName, BTreeSet<RowName>> = BTreeMap::new();
    let mut columns: BTreeMap<RowName, BTreeSet<_>> = BTreeMap::new();
    for (from, to) in lines(map, src, dst, frames) {
        sources.entry(name(to)).or_default().insert(name(from));
        if from.column == to.column {
            columns.entry(name(to)).or_default().insert(to.column);
        }
    }
    let whole = |to: &RowName| {
        map.unit().is_some()
            && sources[to].len() == 1
            && columns.get(to).is_some_and(|columns| columns.len() == usize::from(geometry.columns()))
    };
    let rule = |(from, to): (Location, Location)| {
        if (from.channel, from.bank.rank) != (to.channel, to.bank.rank) || name(from) == name(to) {
            Mechanism::CHANNEL
        } else if from.bank != to.bank {
            PSM
        } else if whole(&name(to)) && geometry.subarray(from.row) == geometry.subarray(to.row) {
            FPM
        } else {
            PSM2
        }
    };
    lines(map, src, dst, frames).map(rule).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// All lines of a frame have one mechanism, the one reported. Only rows of a frame in subarrays whose size is
    /// no power of two can differ: then it is the last of their mechanisms.
    #[test]
    fn a_frame_has_the_mechanism_of_each_of_its_lines(
        memory in 0..maps().len(),
        src in any::<u32>(),
        flips in prop::collection::vec(0_u32..18, 1..5),
        frames in 1_u32..70,
        align in 0_u32..7,
    ) {
        let map = &memories()[2 * memory].0;
        // Aligned frames that differ in a few bits share rows and subarrays far more often than
        // random pairs.
        let src = (src % map.frames()) >> align << align;
        let dst = (flips.iter().fold(src, |frame, flip| frame ^ 1 << flip) % map.frames()) >> align << align;
        let frames = frames.min(map.frames() - src.max(dst));
        prop_assume!(src.abs_diff(dst) >= frames);
        let lines = by_line(map, Frame(src), Frame(dst), frames);
        for (at, lines) in (0_u32..).zip(lines.chunks((FRAME_BYTES / LINE_BYTES) as usize)) {
            let mechanism = map.copied(Frame(src), Frame(dst), frames, at).mechanism;
            let is_uniform = map.address_map().geometry().subarray_row_bits().is_some();
            prop_assert!(
                !is_uniform || lines.iter().all(|line| *line == mechanism),
                "frame {} by {:?}: {:?}", at, mechanism, lines
            );
            let last = lines.iter().max_by_key(|line| line.rank());
            prop_assert!(last == Some(&mechanism), "frame {} by {:?}: {:?}", at, mechanism, lines);
        }
    }

    #[test]
    fn a_frame_is_zeroed_by_fpm_if_all_its_rows_are_covered(
        memory in 0..maps().len(),
        dst in any::<u32>(),
        frames in 1_u32..70,
        align in 0_u32..7,
    ) {
        let map = &memories()[2 * memory].0;
        let dst = (dst % map.frames()) >> align << align;
        let frames = frames.min(map.frames() - dst);
        let mut rows: BTreeMap<RowName, usize> = BTreeMap::new();
        for (line, _) in lines(map, Frame(dst), Frame(dst), frames) {
            *rows.entry(name(line)).or_default() += 1;
        }
        let columns = usize::from(map.address_map().geometry().columns());
        for at in 0..frames {
            let whole = map.unit().is_some()
                && lines(map, Frame(dst + at), Frame(dst + at), 1).all(|(line, _)| rows[&name(line)] == columns);
            let mechanism = map.zeroed(Frame(dst), frames, at).mechanism;
            prop_assert_eq!(mechanism, if whole { FPM } else { PSM });
        }
    }
}

/// The search above covers each mechanism, and each way of sharing rows.
#[test]
fn the_search_covers_all_mechanisms() {
    let mut met = BTreeSet::new();
    for (map, _) in memories() {
        let unit = map.unit().unwrap_or(1);
        for src in [0, 64, 1024] {
            for flip in 0..18 {
                for frames in [1, unit] {
                    met.insert(map.copied(Frame(src), Frame(src ^ 1 << flip), frames, 0).mechanism);
                }
            }
        }
    }
    let of_every_chip = MECHANISMS.into_iter().filter(|mechanism| mechanism.is_in_every_chip());
    assert_eq!(met, of_every_chip.collect());
}
