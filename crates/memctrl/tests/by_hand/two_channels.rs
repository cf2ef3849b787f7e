//! Copies with reads on one channel and writes on the other, while ranks of both must be refreshed.

use dram_spec::address::MapPreset;
use dram_spec::{Operation, PhysicalAddress, Refresh};

use crate::drive::run_until;
use crate::{config_of, requests, system};

/// 64 KB over two channels whose rows do not match: each row of the destination requires lines of
/// both channels. A thread that waits for a line delays the due refresh of its rank, and the thread
/// that would read the line waits for the refresh of its own rank.
#[test]
fn a_thread_that_waits_for_the_other_channel_lets_its_rank_refresh() {
    let [without, with] = [Refresh::Off, Refresh::NORMAL].map(|refresh| {
        let config = config_of(system(2, refresh), MapPreset::RowInterleaved);
        let (src, dst) = (PhysicalAddress(0x80_0020), PhysicalAddress(0x40_0040));
        let copy = Operation::Copy { src, dst, bytes: 65_536 };
        run_until(&config, requests(&[(0, copy)]), 100_000).done()[0].1
    });
    // At tREFI 4160, a copy of 8,953 cycles includes two REFs of tRFC 86 with the rows closed and
    // opened again.
    assert!(without < 9_000 && with < without + 2 * 500, "{without} cycles, with refresh {with}");
}
