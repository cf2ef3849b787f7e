//! Copies between subarrays of a bank by row buffer movement.

use std::sync::Arc;

use dram_core::{Background, LineBytes};
use dram_spec::address::{AddressMap, MapPreset};
use dram_spec::{BankId, Channel, Column, Operation, Refresh, Row, SpeedBin, System};
use memctrl::Config;
use memctrl::policy::copy::{CopyPolicy, FASTEST, LISA, ROWCLONE, ROWCLONE_LISA};
use rowclone::{CopySupport, FPM, FaultyRows, Mechanism, PSM, PSM2, Planner};

use crate::drive::{check, run_until};
use crate::{line, read, requests, system};

/// Chips that offer every mechanism.
fn config_of(system: System, copy_policy: &'static dyn CopyPolicy) -> Config {
    let map = AddressMap::preset(system.geometry, MapPreset::RowInterleaved);
    let planner = Planner::of_chips(map, FaultyRows::default(), CopySupport::offering(CopySupport::names()));
    Config::new(system, Arc::new(planner), copy_policy)
}

fn config(refresh: Refresh, copy_policy: &'static dyn CopyPolicy) -> Config {
    config_of(system(1, refresh), copy_policy)
}

/// A copy of a row.
const fn copy((src_bank, src): (u64, u64), (dst_bank, dst): (u64, u64)) -> Operation {
    Operation::Copy { src: line(src_bank, src, 0), dst: line(dst_bank, dst, 0), bytes: 4096 }
}

/// One hop: two times 8 ns are 9 clocks. A read of another bank goes on between the steps.
#[test]
fn a_row_moves_to_the_next_subarray() {
    let config = config(Refresh::Off, LISA);
    let list = [(0, copy((0, 1), (0, 600))), (15, read(line(1, 3, 0)))];
    let expected = [
        "0 ACT r0 b0 row 1",
        "15 ACT r0 b1 row 3",
        // tRAS.
        "20 RBM r0 b0 row 600",
        "23 RD r0 b1 col 0",
        "29 ACT r0 b0 row 600",
        "49 PRE r0 b0",
        "57 ACT r0 b0 row 600",
        "77 PRE r0 b0",
    ];
    let outcome = check(&config, requests(&list), 100, &expected);
    assert_eq!(outcome.done(), [(1, 35), (0, 85)]);
}

/// The published sums, 3 tRAS + 2 tRP + 8 ns x (hops + 1), on the clock of DDR3-1600 11-11-11: 84 + 22, and 12.8, 25.6,
/// 51.2, 102.4, 204.8 and 409.6 rounded up.
#[test]
fn each_distance_takes_the_published_time() {
    let system = System { bin: SpeedBin::named("1600K").unwrap(), ..system(1, Refresh::Off) };
    let config = config_of(system, LISA);
    for (hops, clocks) in [(1, 119), (3, 132), (7, 158), (15, 209), (31, 311), (63, 516)] {
        for list in [[(0, copy((0, 1), (0, 1 + 512 * hops)))], [(0, copy((0, 512 * hops), (0, 2)))]] {
            let outcome = run_until(&config, requests(&list), 1000);
            assert_eq!(outcome.done(), [(0, clocks)], "{hops} hops: {:?}", outcome.listing);
        }
    }
}

/// All bytes of a row are its number.
struct RowNumbers;

impl Background for RowNumbers {
    fn line(&self, _: Channel, _: BankId, row: Row, _: Column) -> LineBytes {
        [row.0 as u8; 64]
    }
}

#[test]
fn the_destination_has_the_contents_of_the_source() {
    let config = Config { contents: Some(Arc::new(RowNumbers)), ..config(Refresh::Off, LISA) };
    // Row 600 to row 5, and from there to row 1030.
    let list = [
        (0, copy((0, 600), (0, 5))),
        (0, copy((0, 5), (0, 1030))),
        (300, read(line(0, 5, 7))),
        (300, read(line(0, 1030, 9))),
    ];
    let outcome = run_until(&config, requests(&list), 500);
    let data: Vec<u8> =
        outcome.completions[2..].iter().map(|completion| completion.data.as_ref().unwrap()[0]).collect();
    assert_eq!(data, [600_u64 as u8; 2]);
}

/// Row 3 of bank 1 must be closed within 9 tREFI. The rank yields the margin of 206 clocks earlier, and what a movement
/// through the bank takes: 128 times 8 ns are 547 clocks, then tRP + tRAS = 28. A copy that has begun ends; the next
/// one waits for the PREA.
#[test]
fn a_copy_is_preempted_between_rows_only() {
    let config = config(Refresh::Off, LISA);
    let must = 9 * 4160 - 206 - 575;
    let list = [(0, read(line(1, 3, 0))), (must - 5, copy((0, 1), (0, 600))), (must - 5, copy((0, 2), (0, 601)))];
    let outcome = run_until(&config, requests(&list), must + 300);
    let expected = [
        (0, "ACT r0 b0 row 1"),
        (20, "RBM r0 b0 row 600"),
        (29, "ACT r0 b0 row 600"),
        (49, "PRE r0 b0"),
        (57, "ACT r0 b0 row 600"),
        (77, "PRE r0 b0"),
        (78, "PREA r0"),
        (86, "ACT r0 b0 row 2"),
        (106, "RBM r0 b0 row 601"),
        (115, "ACT r0 b0 row 601"),
        (135, "PRE r0 b0"),
        (143, "ACT r0 b0 row 601"),
        (163, "PRE r0 b0"),
    ];
    let expected = expected.map(|(at, command)| format!("{} {command}", must - 5 + at));
    assert_eq!(outcome.listing[2..], expected);
    // After its last ACT, the thread of the first copy only closes its row.
    assert_eq!(outcome.stats.whole.preempted_for_refresh, 1);
}

/// Mechanism of a copy under a policy.
fn served(policy: &'static dyn CopyPolicy, src: (u64, u64), dst: (u64, u64)) -> Mechanism {
    let outcome = run_until(&config(Refresh::Off, policy), requests(&[(0, copy(src, dst))]), 2000);
    outcome.completions[0].served.iter().next().unwrap().0
}

/// LISA takes 85 clocks at one hop and 618 at 126; 2 x PSM takes 562, and the channel 558.
#[test]
fn policies_take_it_where_it_is_best() {
    let [far, near, within, between] = [((0, 1), (0, 65_000)), ((0, 1), (0, 600)), ((0, 1), (0, 2)), ((0, 1), (1, 1))];
    let of = |policy| [far, near, within, between].map(|(src, dst)| served(policy, src, dst));
    assert_eq!(of(LISA), [rowclone::LISA, rowclone::LISA, FPM, Mechanism::CHANNEL]);
    assert_eq!(of(ROWCLONE_LISA), [rowclone::LISA, rowclone::LISA, FPM, PSM]);
    assert_eq!(of(ROWCLONE), [PSM2, PSM2, FPM, PSM]);
    assert_eq!(of(FASTEST), [Mechanism::CHANNEL, rowclone::LISA, FPM, PSM]);
}
