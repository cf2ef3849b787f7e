//! Bytes by mechanism and reason.

use super::data::{Page, Subject};
use super::figures::{LINEAR, chart, named_parts, summed};
use super::sortable::{PageColumn, Shown, Sortable};
use crate::decisions::{Served, sentence};
use crate::plot::{Chart, ChartKind};

/// One row per policy, mechanism and reason.
pub(super) fn by_reason(page: &Page) -> (Vec<Result<Chart, String>>, Sortable) {
    let summed = if page.subject == Subject::Sweep { ", summed over all runs of a policy" } else { "" };
    let columns: [PageColumn<'_, &Served>; 8] = [
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
}
