//! The cycle from which a rank yields to a refresh.

use dram_core::Device;
use dram_spec::{Command, Cycle, Cycles, Refresh, Row};
use memctrl::yield_from;

use crate::{bank, system};

/// tRC 28 + tRAS 20 + CWL 6 + BL/2 4 + tWR 8 + tRP 8 + tXP 4, and 128 slots of the command bus.
const MARGIN: u64 = 78 + 128;

fn issue(device: &mut Device, at: u64, command: Command) {
    device.issue(Cycle(at), &command);
}

#[test]
fn a_rank_is_made_free_in_time_for_its_latest_refresh() {
    let mut device = Device::new(&system(1, Refresh::NORMAL), None);
    assert_eq!(yield_from(&device, 0, Cycles(0)), Some(Cycle(9 * 4160 - MARGIN)));
    // The second REF is due at 2 tREFI, and may be eight intervals late: nine after the first.
    issue(&mut device, 4160, Command::Refresh { rank: 0 });
    assert_eq!(yield_from(&device, 0, Cycles(0)), Some(Cycle(10 * 4160 - MARGIN)));
    // The second REF is issued in advance: the third is due by 11 tREFI, but at most nine intervals
    // after the second, which is earlier.
    issue(&mut device, 5000, Command::Refresh { rank: 0 });
    assert_eq!(yield_from(&device, 0, Cycles(0)), Some(Cycle(5000 + 9 * 4160 - MARGIN)));
    // 1000 cycles in self-refresh do not count.
    issue(&mut device, 6000, Command::SelfRefreshEnter { rank: 0 });
    issue(&mut device, 7000, Command::SelfRefreshExit { rank: 0 });
    assert_eq!(yield_from(&device, 0, Cycles(0)), Some(Cycle(6000 + 9 * 4160 - MARGIN)));
}

#[test]
fn without_refresh_it_is_made_free_for_the_row_that_is_open_longest() {
    let mut device = Device::new(&system(1, Refresh::Off), None);
    assert_eq!(yield_from(&device, 0, Cycles(0)), None, "nothing is open");
    for (at, number) in [(100, 7), (150, 2)] {
        issue(&mut device, at, Command::Activate { bank: bank(number), row: Row(5) });
    }
    assert_eq!(yield_from(&device, 0, Cycles(0)), Some(Cycle(100 + 9 * 4160 - MARGIN)));
    issue(&mut device, 200, Command::Precharge { bank: bank(7) });
    assert_eq!(yield_from(&device, 0, Cycles(0)), Some(Cycle(150 + 9 * 4160 - MARGIN)));
}

/// tREFI of 22 cycles: nine of them are less than the margin.
#[test]
fn where_there_is_no_time_it_is_made_free_at_once() {
    let device = Device::new(&system(1, Refresh::Every { t_refi_ps: 22 * 1875 }), None);
    assert_eq!(device.refresh(0).deadline(), Some(Cycle(198)));
    assert_eq!(yield_from(&device, 0, Cycles(0)), Some(Cycle(0)));
}
