//! Each column and unit of the table, and the verdict of the checks, by hand.

use rowclone_sim::{CheckReport, Distribution, FiguresReport, Outcome, ServedRow};

use super::*;

/// A result with the mean latencies of its copies and reads.
fn report(
    policy: &'static str,
    latency_ns: f64,
    energy_nj: f64,
    ratios: [f64; 2],
    means: [Option<f64>; 2],
) -> RunReport {
    let [copy_latency_ns, read_latency_ns] =
        means.map(|mean| Distribution { count: mean.map_or(0, |_| 1), mean, p50: mean, p99: mean, max: mean });
    let figures = FiguresReport {
        dynamic_energy_nj: Some(energy_nj),
        copy_latency_ns,
        read_latency_ns,
        ..FiguresReport::default()
    };
    let [speedup, energy_ratio] = ratios.map(Some);
    // Each mean has the ratio 2 or 3.
    let [copy_latency_ratio, read_latency_ratio] = [means[0].map(|_| 2.0), means[1].map(|_| 3.0)];
    let outcome = Outcome {
        policy,
        latency_ns,
        speedup,
        energy_ratio,
        copy_latency_ratio,
        read_latency_ratio,
        figures,
        ..Outcome::default()
    };
    RunReport {
        schema_version: crate::run_report::SCHEMA_VERSION,
        placement: None,
        scenario: "scenario".into(),
        system: "system".into(),
        controller: "controller".into(),
        seed: 1,
        currents: Some("set".into()),
        background_rho: None,
        rerun: "command".into(),
        reference: Some("baseline".into()),
        baseline: "over the channel".into(),
        alone_ipc: Vec::new(),
        break_even_bytes: None,
        mix: None,
        outcome,
        warnings: Vec::new(),
        brief: "system".into(),
        copies: None,
        row_bytes: 4096,
    }
}

fn served(operation: &'static str, mechanism: &'static str, reason: Option<&'static str>, bytes: u64) -> ServedRow {
    ServedRow { operation, mechanism, reason, count: 1, bytes, share_of_bytes: 0.0 }
}

/// The lines of the table, with one blank between words.
fn lines(reports: &[RunReport], lead: Lead) -> Vec<String> {
    let text = table::text(&table::by_result(reports), lead);
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// 833 and 107 us, 5 and 0.08 mJ; the copies take 1,046.25 and 90 ns, and only the second result has
/// reads, of 2,500 ns. Each quantity has the unit in which its least value is at least 1.
fn both() -> [RunReport; 2] {
    let mut slow = report("baseline", 833_000.0, 5_000_000.0, [1.0, 1.0], [Some(1046.25), None]);
    slow.outcome.served = vec![served("copy", "channel", Some("policy"), 4096)];
    let mut fast = report("rowclone", 107_000.0, 80_000.0, [7.785, 62.5], [Some(90.0), Some(2500.0)]);
    fast.outcome.served = vec![
        served("copy", "fpm", None, 3 * 4096),
        served("copy", "psm", Some("other-bank"), 4096),
        // Zeroings do not count beside copies.
        served("init", "channel", Some("partial-row"), 1 << 20),
    ];
    [slow, fast]
}

#[test]
fn each_figure_is_in_its_column_with_its_unit() {
    let lines = lines(&both(), Lead::Makespan);
    let [units, first, second] = &lines[lines.len() - 3..] else { unreachable!() };
    assert!(units.ends_with("us speedup uJ ratio ns ns"), "{units}");
    // The means of reads come before those of copies.
    assert_eq!(first, "baseline channel 100 % 833 1.00x 5,000 1.00x - 1,046");
    assert_eq!(second, "rowclone fpm 75 % 107 7.79x 80.0 62.5x 2,500 90.0");
}

#[test]
fn fixed_arrivals_are_answered_with_mean_latencies() {
    let lines = lines(&both(), Lead::MeanLatencies);
    let [units, first, second] = &lines[lines.len() - 3..] else { unreachable!() };
    assert!(units.ends_with("ns ratio ns ratio uJ ratio"), "{units}");
    assert_eq!(first, "baseline channel 100 % - - 1,046 2.00x 5,000 1.00x");
    assert_eq!(second, "rowclone fpm 75 % 2,500 3.00x 90.0 2.00x 80.0 62.5x");
}

/// Of two results of a policy, the row shows the one with the greater ratio of the main figures.
#[test]
fn a_policy_is_represented_by_its_best_result() {
    let first = report("rowclone", 100.0, 50.0, [10.0, 4.0], [None; 2]);
    let second = report("rowclone", 300.0, 150.0, [12.0, 2.0], [None; 2]);
    let other = report("baseline", 700.0, 900.0, [1.0, 1.0], [None; 2]);
    let rows = table::best_of_policies(&[first, second, other], Lead::Makespan);
    let text = table::text(&rows, Lead::Makespan);
    let last: Vec<_> = text.lines().rev().take(2).map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    assert_eq!(last[1], ["rowclone", "-", "300", "12.0x", "150", "2.00x"]);
    assert_eq!(last[0], ["baseline", "-", "700", "1.00x", "900", "1.00x"]);
}

#[test]
fn a_failed_check_is_reported_with_its_results() {
    let checked = |violations, memory_equal| {
        let mut checked = report("rowclone", 1.0, 1.0, [1.0, 1.0], [None; 2]);
        checked.placement = Some("buddy");
        checked.outcome.check = Some(CheckReport {
            dialect: "rowclone",
            violations,
            first_violations: Vec::new(),
            memory_equal,
            memory_mismatch: None,
        });
        checked
    };
    let sound = "check: every command is legal, and memory equals that of a plain memcpy";
    let failed = "check FAILED (see `--details`): rowclone/buddy";
    let unchecked = report("baseline", 1.0, 1.0, [1.0, 1.0], [None; 2]);
    assert_eq!(checks(std::slice::from_ref(&unchecked)), None);
    assert_eq!(checks(&[unchecked.clone(), checked(0, true)]).as_deref(), Some(sound));
    // An allocator placed the pages of processes.
    let mut placed = checked(0, true);
    placed.outcome.allocator = Some(crate::allocator_tables::tests::forked(os_alloc_sim::Policy::Buddy));
    let of_processes = format!("{sound}, also as each process reads it at its virtual addresses");
    assert_eq!(checks(&[checked(0, true), placed]).as_deref(), Some(of_processes.as_str()));
    for wrong in [checked(1, true), checked(0, false), checked(3, false)] {
        assert_eq!(checks(&[checked(0, true), wrong.clone()]).as_deref(), Some(failed));
        assert!(text(&[unchecked.clone(), wrong]).lines().any(|line| line == failed));
    }
}
