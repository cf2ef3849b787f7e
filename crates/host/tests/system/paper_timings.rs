//! Clocks of one 4 KB operation on idle banks at DDR3-1066 8-8-8, as derived in
//! `docs/validation.md`.

use dram_spec::{CopyActivations, Cycle, Dialect, PhysicalAddress, Refresh};
use host::{MemoryCheck, Place};
use memctrl::Config;
use memctrl::policy::copy::{BASELINE, CopyPolicy, ROWCLONE};
use rowclone::Operation;

use crate::common::{copy, paper, run};

fn clocks(policy: &'static dyn CopyPolicy, operation: impl Fn(&Config) -> Operation) -> u64 {
    let config = paper(policy);
    let dialect = if policy == BASELINE { Dialect::Jedec } else { Dialect::RowClone };
    let outcome = run(&config, 1, &[(operation(&config), None)], dialect);
    assert_eq!(outcome.memory, MemoryCheck::Equal);
    outcome.completions[0].latency().0
}

#[test]
fn a_page_takes_the_clocks_of_the_legal_sequences() {
    let copied = |relation| move |config: &Config| copy(config, relation, 4096);
    let zeroed = |_: &Config| Operation::Init { dst: PhysicalAddress(0x0040_0000), bytes: 4096, value: 0 };
    assert_eq!(clocks(BASELINE, copied(Place::SameBank)), 558, "channel copy in one bank");
    assert_eq!(clocks(BASELINE, copied(Place::SameSubarray)), 558, "channel copy in one subarray");
    assert_eq!(clocks(BASELINE, copied(Place::OtherBank)), 546, "channel copy between two banks");
    assert_eq!(clocks(ROWCLONE, copied(Place::SameSubarray)), 48, "FPM");
    assert_eq!(clocks(ROWCLONE, copied(Place::OtherBank)), 290, "PSM");
    assert_eq!(clocks(ROWCLONE, copied(Place::SameBank)), 562, "2 x PSM");
    assert_eq!(clocks(BASELINE, zeroed), 286, "channel zero");
    assert_eq!(clocks(ROWCLONE, zeroed), 48, "FPM zero");
}

/// 800 FPM copies, all arriving at cycle 0, cyclically over the 8 banks of one channel.
fn clocks_per_copy(copy_activations: CopyActivations) -> f64 {
    let mut config = paper(ROWCLONE);
    config.system.copy_activations = copy_activations;
    config.system.refresh = Refresh::Off;
    let map = config.planner.map();
    let operations: Vec<_> = (0..800u32)
        .map(|index| {
            let bank = dram_spec::BankId { rank: 0, bank: (index % 8) as u8 };
            let at = |row| {
                let (channel, column) = (dram_spec::Channel(0), dram_spec::Column(0));
                map.address(dram_spec::Location { channel, bank, row: dram_spec::Row(row), column, offset: 0 })
                    .expect("the row exists")
            };
            let row = index / 8 * 2;
            (Operation::Copy { src: at(row), dst: at(row + 1), bytes: 4096 }, Some(Cycle::ZERO))
        })
        .collect();
    let outcome = run(&config, 1, &operations, Dialect::RowClone);
    assert_eq!(outcome.memory, MemoryCheck::Equal);
    let mut ends: Vec<u64> = outcome.completions.iter().map(|completion| completion.done.0).collect();
    ends.sort_unstable();
    (ends[719] - ends[79]) as f64 / 640.0
}

#[test]
fn consecutive_copies_are_limited_by_the_four_activate_window() {
    let counted = clocks_per_copy(CopyActivations::Counted);
    assert!((9.9..=10.4).contains(&counted), "{counted} clocks per copy");
    let free = clocks_per_copy(CopyActivations::Free);
    assert!((6.0..=6.3).contains(&free), "{free} clocks per copy");
}

/// Later use of a bank does not lengthen an operation.
#[test]
fn a_copy_ends_with_its_own_commands() {
    let config = paper(ROWCLONE);
    let copied = copy(&config, Place::OtherBank, 4096);
    let src = copied.src().expect("a copy has a source");
    let write = Operation::Write { address: src, bytes: 64 };
    let outcome = run(&config, 1, &[(copied, Some(Cycle::ZERO)), (write, Some(Cycle::ZERO))], Dialect::RowClone);
    assert_eq!(outcome.completions[0].latency().0, 290);
    assert_eq!(outcome.memory, MemoryCheck::Equal);
}
