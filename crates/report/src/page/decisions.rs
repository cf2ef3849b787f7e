//! Which mechanism served how much, and why no better one.

use super::chart::{Chart, Stacks};
use super::data::{Origin, Page, Served, in_order};
use super::sortable::{Head, Shown, Sortable};
use super::words::Heading;
use rowclone_sim::quantity::grouped;

/// What the reasons of `results.json` say in a sentence; `docs/planner.md` has more about each.
#[rustfmt::skip]
const REASONS: [(&str, &str); 22] = [
    ("policy",               "a better mechanism was possible, and the policy excludes it"),
    ("fastest",              "FPM: nothing is better"),
    ("soonest",              "it was expected to be done sooner than by any other"),
    ("cheapest",             "it was expected to take less energy than any other"),
    ("overlap",              "source and destination overlap, closer than the granularity"),
    ("line-misaligned",      "source and destination differ by a part of a line"),
    ("partial-line",         "the operation covers only a part of a line"),
    ("other-channel",        "source and destination lie in different channels"),
    ("other-rank",           "source and destination lie in different ranks"),
    ("other-bank",           "source and destination lie in different banks"),
    ("other-subarray",       "source and destination lie in different subarrays of a bank"),
    ("same-bank",            "source and destination lie in the same bank"),
    ("same-row",             "source and destination lie in the same row"),
    ("partial-row",          "the operation covers only a part of the row"),
    ("interleaved",          "the address map spreads each row over others, and the operation covers no whole row"),
    ("columns-differ",       "source and destination begin at different places of a row"),
    ("faulty-row",           "a row was remapped"),
    ("no-temporary-row",     "the temporary rows of all other banks of the rank were remapped"),
    ("no-zero-row",          "the zero rows of all other banks of the rank were remapped"),
    ("psm-suffices",         "the zeros come from another bank by one PSM"),
    ("first-row-is-written", "the first row of a value must be written in each rank"),
    ("no-source",            "no sound row of the subarray holds the value yet"),
];

/// What a reason says; empty where there is none.
pub(crate) fn sentence(reason: &str) -> &str {
    REASONS.iter().find(|(name, _)| *name == reason).map_or("", |(_, sentence)| sentence)
}

/// One row a policy, mechanism and reason.
pub(super) fn by_reason(page: &Page) -> (Vec<(String, Chart)>, Sortable) {
    let heads = vec![
        Head::text("policy"),
        Head::text("of"),
        Head::text("mechanism"),
        Head::text("why no better one"),
        Head::text("that is"),
        Head::number("segments", ""),
        Head::number("served", "bytes"),
        Head::number("share of bytes", "%"),
    ];
    let row = |served: &Served| {
        vec![
            Shown::text(served.run.clone()),
            Shown::text(served.operation.clone()),
            Shown::text(served.mechanism.clone()),
            Shown::code(served.reason.clone()),
            Shown::text(sentence(&served.reason)),
            Shown::number(grouped(served.count), served.count as f64),
            Shown::number(grouped(served.bytes), served.bytes as f64),
            Shown::number(format!("{:.1}", served.share_of_bytes * 100.0), served.share_of_bytes),
        ]
    };
    let rows = page.served.iter().map(row).collect();
    let summed = if page.origin == Origin::Sweep { ", summed over all runs of a policy" } else { "" };
    let caption = format!("Segments by mechanism and reason{summed}");
    let charts = ["copy", "init"].into_iter().filter_map(|operation| stacks(page, operation)).collect();
    (charts, Sortable { id: "decisions", caption, heads, rows })
}

/// The bytes of copies, or of initialisations, by mechanism and reason.
fn stacks(page: &Page, operation: &str) -> Option<(String, Chart)> {
    let rows = || page.served.iter().filter(|served| served.operation == operation);
    let part = |served: &Served| format!("{}: {}", served.mechanism, served.reason);
    let parts = in_order(rows().map(part));
    let runs = in_order(rows().map(|served| served.run.clone()));
    let bar = |run: String| {
        let bytes = parts.iter().map(|name| {
            let of = rows().filter(|served| served.run == run && part(served) == *name);
            of.map(|served| served.bytes as f64).sum()
        });
        let bytes = bytes.collect();
        (run, bytes)
    };
    let bars: Vec<(String, Vec<f64>)> = runs.into_iter().map(bar).collect();
    let unit = Heading { name: "served".to_owned(), unit: "bytes" };
    let name = if operation == "copy" { "Copies" } else { "Initialisations" };
    (!bars.is_empty()).then(|| (name.to_owned(), Chart::Stacks(Stacks { unit, parts, bars })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_one_sentence() {
        let mut names: Vec<&str> = REASONS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), REASONS.len());
        assert_eq!(sentence("other-bank"), "source and destination lie in different banks");
        assert_eq!(sentence("of a later version"), "");
    }
}
