//! Tables of the allocators of a run: possible mechanisms of copies and zeroings, and free memory.

use rowclone::{MECHANISMS, Mechanism};
use rowclone_sim::quantity::{bytes, grouped};
use rowclone_sim::{AllocatorReport, MemoryState, TrafficReport};

use crate::table::Align::{Left, Right};
use crate::table::{TextColumn, fitted, listed, or_dash, percent};

/// The allocators of a run, each once, as a terminal shows them.
pub(crate) fn text(reports: &[&AllocatorReport], width: usize) -> String {
    [served, why_not, memory, free].map(|table| table(reports, width)).join("\n")
}

/// Table of the possible mechanisms of copies and zeroings.
fn served(reports: &[&AllocatorReport], width: usize) -> String {
    let mut columns = vec![("allocator", Left), ("frames", Left), ("number", Right)];
    let is_offered = |it: &Mechanism| {
        it.is_in_every_chip()
            || traffic(reports).any(|(.., traffic)| traffic.frames_by_mechanism.contains_key(it.name()))
    };
    let mechanisms: Vec<Mechanism> = MECHANISMS.into_iter().filter(is_offered).collect();
    columns.extend(mechanisms.iter().map(|mechanism| (mechanism.name(), Right)));
    columns.push(("for", Left));
    let rows = traffic(reports).map(|(report, kind, traffic)| {
        let shares = mechanisms
            .iter()
            .map(|mechanism| or_dash(traffic.share_by_mechanism.get(mechanism.name()), |share| percent(*share)));
        let causes = traffic.frames_by_cause.iter().map(|(cause, count)| format!("{cause} {}", grouped(*count)));
        let causes = causes.collect::<Vec<_>>().join(", ");
        let first = [report.policy.to_owned(), kind.to_owned(), grouped(traffic.frames)];
        first.into_iter().chain(shares).chain([causes]).collect()
    });
    fitted(&columns, &rows.collect::<Vec<_>>(), width)
}

fn why_not(reports: &[&AllocatorReport], width: usize) -> String {
    let columns: [TextColumn<'_, (&str, &str, &str, u64)>; 4] = [
        ("allocator", Left, &|(allocator, ..)| (*allocator).to_owned()),
        ("frames", Left, &|(_, kind, ..)| (*kind).to_owned()),
        ("why not by FPM", Left, &|(_, _, why, _)| (*why).to_owned()),
        ("number", Right, &|(.., count)| grouped(*count)),
    ];
    let rows = traffic(reports).flat_map(|(report, kind, traffic)| {
        traffic.fallbacks.iter().map(move |(why, count)| (report.policy, kind, *why, *count))
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() { "FPM is possible for every frame\n".to_owned() } else { listed(&columns, &rows, width) }
}

fn memory(reports: &[&AllocatorReport], width: usize) -> String {
    let units = |report: &AllocatorReport| match report.unit_frames {
        1 => "none".to_owned(),
        frames => format!("{} {}", grouped(frames.into()), report.sharing),
    };
    let pages =
        |it: &AllocatorReport| format!("{} of {}", grouped(it.huge_pages_served), grouped(it.huge_pages_wanted));
    let columns: [TextColumn<'_, (&AllocatorReport, &str, &MemoryState)>; 7] = [
        ("allocator", Left, &|(report, ..)| report.policy.to_owned()),
        ("", Left, &|(_, when, _)| (*when).to_owned()),
        ("in use", Right, &|(.., state)| percent(state.utilization)),
        ("unusable for huge pages", Right, &|(.., state)| percent(state.unusable_index)),
        ("lost to reserved rows", Right, &|(report, ..)| bytes(report.lost_bytes)),
        ("frames sharing rows", Right, &|(report, ..)| units(report)),
        ("huge pages", Right, &|(report, ..)| pages(report)),
    ];
    listed(&columns, &states(reports).collect::<Vec<_>>(), width)
}

fn traffic<'a>(
    reports: &[&'a AllocatorReport],
) -> impl Iterator<Item = (&'a AllocatorReport, &'static str, &'a TrafficReport)> {
    reports.iter().flat_map(|&report| [(report, "copied", &report.copies), (report, "zeroed", &report.zeroings)])
}

fn states<'a>(
    reports: &[&'a AllocatorReport],
) -> impl Iterator<Item = (&'a AllocatorReport, &'static str, &'a MemoryState)> {
    reports.iter().flat_map(|&report| [(report, "before", &report.before), (report, "after", &report.after)])
}

fn free(reports: &[&AllocatorReport], width: usize) -> String {
    let orders: Vec<String> = (0..=os_alloc_sim::MAX_ORDER).map(|order| format!("order {order}")).collect();
    let columns = [("allocator", Left), ("free frames", Left)];
    let columns: Vec<_> = columns.into_iter().chain(orders.iter().map(|name| (name.as_str(), Right))).collect();
    let rows = states(reports).map(|(report, when, state)| {
        let frames = state.free_frames_by_order.iter().map(|frames| grouped(*frames));
        [report.policy.to_owned(), when.to_owned()].into_iter().chain(frames).collect()
    });
    fitted(&columns, &rows.collect::<Vec<_>>(), width)
}

#[cfg(test)]
pub(crate) mod tests {
    use dram_spec::{Density, Width};
    use os_alloc_sim::{CopyUnit, Policy};
    use rowclone_sim::host::AllocatorSettings;
    use rowclone_sim::host::workload::{Fill, Fork, Gap, Settings};
    use rowclone_sim::{Experiment, Requests, SystemBuilder};

    use super::*;

    /// A process of 64 pages in a half-full memory forks, and the child writes to all of them.
    pub(crate) fn forked(policy: Policy) -> AllocatorReport {
        let system = SystemBuilder::default().channels(1).chips(Density::Gb1, Width::X8).build().unwrap();
        let fork = Fork { bytes: 64 * 4096, pages: 64, fill: Fill::Played, gap: Gap::ZERO };
        let copy_unit = CopyUnit::RowSet;
        let allocator = AllocatorSettings { policy, seed: 1, utilization: 0.5, fragmentation: 0.5, copy_unit };
        let requests = Requests::Made { settings: Settings::new(fork), allocator: Some(allocator) };
        Experiment::new(&system, requests).run().unwrap().allocator.unwrap()
    }

    #[test]
    fn a_terminal_shows_each_allocator_in_each_table() {
        let reports = [forked(Policy::Buddy), forked(Policy::SubarrayAware)];
        let text = text(&reports.iter().collect::<Vec<_>>(), usize::MAX);
        for line in ["subarray-aware  copied      64  100.0 %", "subarray-aware  zeroed      64  100.0 %"] {
            assert!(text.contains(line), "{text}");
        }
        for table in text.split("\n\n") {
            assert!(table.contains("buddy"), "{table}");
        }
    }
}
