//! Cost of copies for programs on cores under each policy: time, CPU time, channel bytes, energy, and misses.

use memctrl::policy::copy::named;
use rowclone_sim::CopyMethod;
use rowclone_sim::quantity::bytes;

use super::{ENERGY_RATIO, MethodRow, POLICY, SPEEDUP, per_copy};
use crate::table::Align::Right;
use crate::table::{TextColumn, listed, or_dash, percent};

/// Bytes of the unit of channel bytes.
const KIB: f64 = 1024.0;

/// The method of a row.
fn method(row: &MethodRow) -> Option<CopyMethod> {
    named(row.method).map(CopyMethod::of)
}

/// Whether a device copies under one of some methods.
pub(crate) fn has_device(rows: &[MethodRow]) -> bool {
    rows.iter().filter_map(method).any(CopyMethod::has_device)
}

/// A line per method, in at most 80 columns for the usual numbers; of copies alone with time and bytes per copy.
pub(crate) fn table(rows: &[MethodRow]) -> String {
    let is_per_copy = rows.iter().any(|row| row.copies.is_some());
    let [time, channel] = if is_per_copy { ["us per\ncopy", "KiB per\ncopy"] } else { ["time\nus", "channel\nKiB"] };
    let columns: [TextColumn<'_, MethodRow>; 7] = [
        POLICY,
        (time, Right, &|row| per_copy(row.latency_ns / 1000.0, row)),
        SPEEDUP,
        ("CPU\ntime", Right, &|row| or_dash(row.report.copy_share_of_cycles, percent)),
        (channel, Right, &|row| per_copy(row.report.channel_bytes as f64 / KIB, row)),
        ENERGY_RATIO,
        ("misses\nafter", Right, &|row| row.report.misses_after_copies.to_string()),
    ];
    listed(&columns, rows, usize::MAX)
}

/// The definitions of the columns of [`table`] that [`super::definitions`] does not have.
pub(crate) const DEFINITIONS: &str =
    "CPU time: share of the cycles of cores that copies took; misses after: first accesses to copied lines that missed";

/// The break-even sizes of the devices: `break-even size: copy-engine-async 512 B`; none without a device.
pub(crate) fn break_even(rows: &[MethodRow]) -> Option<String> {
    let sizes = rows.iter().filter(|row| method(row).is_some_and(CopyMethod::has_device)).map(|row| {
        let size = row.break_even_bytes.map_or_else(|| "none".to_owned(), bytes);
        format!("{} {size}", row.method)
    });
    let sizes: Vec<String> = sizes.collect();
    (!sizes.is_empty())
        .then(|| format!("break-even size, from which the device is faster than the loop: {}", sizes.join(", ")))
}
