//! The sentence about a result of a workload: its ratios, and the cause.

use rowclone_sim::ServedRow;
use rowclone_sim::quantity::bytes;

use super::table::{Lead, MEANS, of_copies, percent};
use crate::decisions;
use crate::run_report::RunReport;
use crate::table::whole;

/// Bytes of a page.
const PAGE_BYTES: u64 = 4096;

/// `rowclone, subarray-aware: 7.8x faster, 31x less dynamic energy; 100 % of copies by FPM`.
pub(super) fn of(report: &RunReport, lead: Lead) -> String {
    let outcome = &report.outcome;
    let mut ratios: Vec<String> = if lead == Lead::MeanLatencies {
        let of = MEANS.iter().zip(outcome.mean_latency_ratios()).filter_map(|(kind, ratio)| {
            let [shorter, longer, equal] =
                ["shorter mean", "longer mean", "the reference's mean"].map(|words| format!("{words} {kind} latency"));
            Some(factor(ratio?, &shorter, &longer, &equal))
        });
        of.take(2).collect()
    } else {
        outcome.speedup.map(|speedup| factor(speedup, "faster", "slower", "as fast")).into_iter().collect()
    };
    let same = "the dynamic energy of the reference";
    ratios.extend(outcome.energy_ratio.map(|ratio| factor(ratio, "less dynamic energy", "more dynamic energy", same)));
    let parts: Vec<String> = [ratios.join(", "), cause(report)].into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}: {}", report.label().replace('/', ", "), parts.join("; "))
}

fn factor(ratio: f64, more: &str, less: &str, equal: &str) -> String {
    let times = |ratio: f64| if ratio < 9.95 { format!("{ratio:.1}x") } else { format!("{}x", whole(ratio)) };
    match ratio {
        _ if ratio >= 1.05 => format!("{} {more}", times(ratio)),
        _ if ratio <= 1.0 / 1.05 => format!("{} {less}", times(1.0 / ratio)),
        _ => equal.to_owned(),
    }
}

/// Share of copies by FPM, and the most frequent reason against it.
fn cause(report: &RunReport) -> String {
    let served = of_copies(&report.outcome.served);
    let noun = if served.iter().any(|row| row.operation == "copy") { "copies" } else { "initializations" };
    let all: u64 = served.iter().map(|row| row.bytes).sum();
    if all == 0 {
        return "no copies".to_owned();
    }
    let (fpm, others): (Vec<&ServedRow>, Vec<_>) =
        served.into_iter().partition(|row| row.mechanism == rowclone::FPM.name());
    let share = percent(fpm.iter().map(|row| row.bytes).sum(), all);
    match others.iter().max_by_key(|row| row.bytes).and_then(|row| row.reason) {
        None => format!("{share} of {noun} by FPM"),
        Some(reason) => format!("{share} of {noun} by FPM: {}; see `explain plan`", why(reason, report)),
    }
}

/// A reason in words; of pages that are smaller than a row, with both sizes.
fn why(reason: &str, report: &RunReport) -> String {
    let shares = report.outcome.allocator.is_some() && report.row_bytes > PAGE_BYTES;
    if shares && ["partial-row", "columns-differ", "same-row"].contains(&reason) {
        return format!("a {} page shares a row of {}", bytes(PAGE_BYTES), bytes(report.row_bytes));
    }
    decisions::sentence(reason).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_written_in_words() {
        let said = |ratio| factor(ratio, "faster", "slower", "as fast");
        assert_eq!(
            [said(7.94), said(31.2), said(0.5), said(1.01)],
            ["7.9x faster", "31x faster", "2.0x slower", "as fast"]
        );
    }
}
