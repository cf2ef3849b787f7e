//! The tables `interconnect` and `copy_engine` of a machine file.

use host::machine::{BusSettings, EngineSettings};
use memctrl::policy::scheduler::CpuFirst;
use rowclone_sim::DeviceSettings;

use crate::Failure;
use crate::section::Section;

/// The front-side bus, whose times are core cycles; none without the table.
pub(crate) fn bus(root: &Section<'_>) -> Option<BusSettings> {
    let table = root.table("interconnect")?;
    let cycles = |key: &str| table.get(key).unwrap_or(0);
    Some(BusSettings {
        clock: table.of("clock"),
        bytes_per_clock: table.of("bytes_per_clock"),
        address_clocks: table.get("address_clocks").unwrap_or(1),
        request_latency: cycles("request_latency"),
        response_latency: cycles("response_latency"),
        snoop_latency: cycles("snoop_latency"),
    })
}

/// The devices that copy under some policies. A share needs a scheduler that these policies set: `is_given` says
/// whether the system file names one.
pub(crate) fn devices(root: &Section<'_>, is_given: bool) -> Result<DeviceSettings, Failure> {
    let defaults = DeviceSettings::default();
    let table = root.table_or_empty("copy_engine");
    if is_given && table.has("share") {
        let message = "`copy_engine.share` is given, but `controller.scheduler` of the system names the scheduler of all policies";
        let help = format!(
            "leave `controller.scheduler` out, or `share`; `scheduler = \"{}\"` has `cpu_first_share`",
            CpuFirst::NAME
        );
        return Err(table.fault("share", message).with_help(help));
    }
    let of = &defaults.copy_engine;
    let entries = |key: &str, default: usize| table.get::<u64>(key).map_or(default, |entries| entries as usize);
    Ok(DeviceSettings {
        copy_engine: EngineSettings {
            queue: entries("queue", of.queue),
            buffer_lines: entries("buffer_lines", of.buffer_lines),
            pending_copies: entries("pending_copies", of.pending_copies),
            tlb_entries: entries("tlb_entries", of.tlb_entries),
            tlb_miss_cycles: table.get("tlb_miss_cycles").unwrap_or(of.tlb_miss_cycles),
            ..*of
        },
        share: table.get("share").unwrap_or(defaults.share),
    })
}
