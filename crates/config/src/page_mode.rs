//! The table `page_mode` of a system file: a page-mode memory in the place of the controller.

use dram_spec::SpeedBin;
use memctrl::PageMode;

use crate::Failure;
use crate::document::Section;
use crate::key::{Holds, Key, key};

/// Most clocks of a transfer.
const CLOCKS_MAX: u64 = 100;

#[rustfmt::skip]
pub(crate) const KEYS: &[Key] = &[
    Key::new("page_mode", Holds::Table, "", "a page-mode memory (FPM or EDO) in the place of the controller, with `device.bin = \"page-mode\"` (`cores.md`); no energy is computed").or("none"),
    Key::new("page_mode.bus_mhz", Holds::OneOf(&[33, 66]), "66", "clock of the bus: 66 2/3 or 33 1/3 MHz; the times below are its clocks"),
    key!(PageMode, page_mode.bus_bytes, Holds::OneOf(&[4, 8]), "8", "bytes of a transfer"),
    key!(PageMode, page_mode.row_bytes, Holds::OneOfBytes(&[1024, 2048, 4096, 8192, 16_384]), "8192", "bytes of a row; one row is open at a time"),
    key!(PageMode, page_mode.read_hit, Holds::Count(1, CLOCKS_MAX), "4", "clocks of the first transfer of a read of the open row"),
    key!(PageMode, page_mode.read_miss, Holds::Count(1, CLOCKS_MAX), "9", "clocks of the first transfer of a read of another row"),
    key!(PageMode, page_mode.read_next, Holds::Count(1, CLOCKS_MAX), "2", "clocks of each further transfer of a read"),
    key!(PageMode, page_mode.post_first, Holds::Count(1, CLOCKS_MAX), "3", "clocks of the bus for the first transfer of a write"),
    key!(PageMode, page_mode.post_next, Holds::Count(1, CLOCKS_MAX), "1", "clocks of the bus for each further one"),
    key!(PageMode, page_mode.write_hit, Holds::Count(1, CLOCKS_MAX), "2", "clocks of the first transfer of a write from the queue to the open row"),
    key!(PageMode, page_mode.write_miss, Holds::Count(1, CLOCKS_MAX), "7", "clocks of the first transfer of a write from the queue to another row"),
    key!(PageMode, page_mode.write_next, Holds::Count(1, CLOCKS_MAX), "2", "clocks of each further one"),
    key!(PageMode, page_mode.write_queue, Holds::Count(1, 64), "4", "transfers of writes that wait for the memory"),
];

/// The page-mode memory of a system; none of a system with a controller.
pub(crate) fn check(root: &Section<'_>, bin: &SpeedBin) -> Result<Option<PageMode>, Failure> {
    let table = match (root.table("page_mode"), bin.is_page_mode()) {
        (None, false) => return Ok(None),
        (Some(_), false) => {
            let message = format!("`page_mode` is given, but `device.bin` is \"{}\"", bin.name);
            return Err(root
                .fault("page_mode", message)
                .with_help("write `bin = \"page-mode\"`, or leave the table out"));
        }
        (None, true) => {
            let message = "`device.bin` is \"page-mode\", but there is no table `page_mode`";
            return Err(root
                .fault("device.bin", message)
                .with_help("add the table `[page_mode]`, or name a speed bin"));
        }
        (Some(table), true) => table,
    };
    refuse_others(root)?;
    for (miss, hit) in [("read_miss", "read_hit"), ("write_miss", "write_hit")] {
        let (missed, found) = (table.of(miss), table.of(hit));
        table.within(miss, missed, found, CLOCKS_MAX)?;
    }
    Ok(Some(PageMode { divider: 66 / table.of::<u64>("bus_mhz"), ..table.over(PageMode::default()) }))
}

/// Refuses settings of a controller and of its chips.
fn refuse_others(root: &Section<'_>) -> Result<(), Failure> {
    let device = root.table("device").expect("it is required");
    let is_given = |key: &str| match key {
        "device.currents" => device.text("currents").is_some_and(|set| set != "none"),
        "device.timings" => device.has("timings"),
        "faulty_rows" => !root.tables("faulty_rows").is_empty(),
        table => root.has(table),
    };
    let others = ["device.currents", "device.timings", "copy", "controller", "faulty_rows"];
    if let Some(key) = others.into_iter().find(|key| is_given(key)) {
        let message = format!("`{key}` is given, but a page-mode memory has no controller, and no copies or energy");
        return Err(root.fault(key, message).with_help("leave it out, or name a speed bin in `device.bin`"));
    }
    if root.table("refresh").is_some_and(|refresh| refresh.of("enabled")) {
        let message = "`refresh.enabled` is true, but the refresh of a page-mode memory is not modeled";
        return Err(root.fault("refresh.enabled", message).with_help("write `enabled = false`"));
    }
    let geometry = root.table("geometry").expect("it is required");
    for key in ["channels", "ranks"] {
        if geometry.of::<u64>(key) != 1 {
            let message =
                format!("`geometry.{key}` is {}, but a page-mode memory has one array", geometry.of::<u64>(key));
            return Err(geometry.fault(key, message).with_help(format!("write `{key} = 1`")));
        }
    }
    Ok(())
}
