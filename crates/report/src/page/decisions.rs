//! Bytes by mechanism and reason.

use super::data::{Origin, Page, Served};
use super::figures::{LINEAR, chart, named_parts, summed};
use super::sortable::{Column, Shown, Sortable};
use crate::plot::{Chart, ChartKind};

/// Sentences for the reasons of `results.json`; `docs/planner.md` describes them.
#[rustfmt::skip]
const REASONS: [(&str, &str); 25] = [
    ("policy",               "the policy admits no mechanism inside the DRAM"),
    ("fastest",              "by the first choice of the policy"),
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
    ("same-bank-group",      "source and destination lie in the same bank group"),
    ("same-subarray",        "source and destination lie in the same subarray"),
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
    ("not-offered",          "the chips do not offer the mechanism"),
];

/// Sentence of a reason; empty if there is none.
pub(crate) fn sentence(reason: &str) -> &str {
    REASONS.iter().find(|(name, _)| *name == reason).map_or("", |(_, sentence)| sentence)
}

/// One row per policy, mechanism and reason.
pub(super) fn by_reason(page: &Page) -> (Vec<Result<Chart, String>>, Sortable) {
    let summed = if page.origin == Origin::Sweep { ", summed over all runs of a policy" } else { "" };
    let columns: [Column<'_, &Served>; 8] = [
        ("policy", &|it| Shown::text(&it.run)),
        ("operation", &|it| Shown::text(&it.operation)),
        ("mechanism", &|it| Shown::text(&it.mechanism)),
        ("reason", &|it| Shown::code(&it.reason)),
        ("meaning", &|it| Shown::text(sentence(&it.reason))),
        ("parts", &|it| Shown::value(it.count as f64)),
        ("served (bytes)", &|it| Shown::value(it.bytes as f64)),
        ("share of bytes (%)", &|it| Shown::percent(it.share_of_bytes)),
    ];
    let caption = format!("Parts by mechanism and reason{summed}");
    let charts = ["copy", "init"].into_iter().filter_map(|operation| bytes_by_reason(page, operation)).collect();
    (charts, Sortable::of("decisions", caption, &columns, &page.served))
}

/// The bytes of copies, or of initializations, by mechanism and reason.
fn bytes_by_reason(page: &Page, operation: &str) -> Option<Result<Chart, String>> {
    let of = || page.served.iter().filter(|served| served.operation == operation);
    let parts: Vec<(String, f64)> = of().map(|served| (label(served), served.bytes as f64)).collect();
    let name = named_parts(parts.iter().map(|(label, bytes)| (label.as_str(), *bytes)));
    let entries = summed(of().map(|served| (served.run.clone(), name(&label(served)), served.bytes as f64)));
    let name = if operation == "copy" { "Copies" } else { "Initializations" };
    let title = format!("{name}: bytes by mechanism and reason");
    (!entries.is_empty())
        .then(|| chart(ChartKind::Stacked, &title, ["policy", "served_bytes", "reason"], LINEAR, &entries))
}

/// Mechanism and reason in a legend. The preferred mechanism has no reason.
fn label(Served { mechanism, reason, .. }: &Served) -> String {
    if reason.is_empty() { mechanism.clone() } else { format!("{mechanism}: {reason}") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use memctrl::policy::copy::{BY_POLICY, FIRST_CHOICE, POLICIES, WITH_CORES};
    use rowclone::Reason;

    use super::*;

    #[test]
    fn a_legend_names_the_reason_if_there_is_one() {
        let of = |mechanism: &str, reason: &str| {
            label(&Served {
                run: "rowclone".into(),
                operation: "copy".into(),
                mechanism: mechanism.into(),
                reason: reason.into(),
                count: 1,
                bytes: 4096,
                share_of_bytes: 1.0,
            })
        };
        assert_eq!((of("psm", "other-bank").as_str(), of("fpm", "").as_str()), ("psm: other-bank", "fpm"));
    }

    /// The reasons of the planner and of the policies. Reads and writes have no parts.
    #[test]
    fn each_reason_has_one_sentence() {
        let of_policies = POLICIES.into_iter().chain(WITH_CORES).map(|policy| policy.preference().0);
        let of_parts = Reason::NAMES.into_iter().filter(|name| *name != Reason::NotACopy.name());
        let expected: BTreeSet<&str> = of_parts.chain(of_policies).chain([FIRST_CHOICE, BY_POLICY]).collect();
        let names: BTreeSet<&str> = REASONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, expected);
        assert_eq!(names.len(), REASONS.len());
        assert!(REASONS.iter().all(|(name, sentence)| !sentence.is_empty() && super::sentence(name) == *sentence));
        assert_eq!(sentence("of a later version"), "");
    }
}
