//! Each column and unit of the table, sums per policy, and the verdict of the checks, by hand.

use rowclone_sim::{CheckReport, Distribution, FiguresReport, Outcome};

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
    let figures =
        FiguresReport { dynamic_energy_nj: energy_nj, copy_latency_ns, read_latency_ns, ..FiguresReport::default() };
    let [speedup, energy_ratio] = ratios.map(Some);
    let outcome = Outcome { policy, latency_ns, speedup, energy_ratio, figures, ..Outcome::default() };
    RunReport {
        schema_version: crate::run_report::SCHEMA_VERSION,
        placement: None,
        scenario: "scenario".into(),
        system: "system".into(),
        controller: "controller".into(),
        seed: 1,
        currents: "set".into(),
        rerun: "command".into(),
        reference: Some("baseline".into()),
        baseline: "over the channel".into(),
        alone_ipc: Vec::new(),
        mix: None,
        outcome,
        warnings: Vec::new(),
        brief: "system".into(),
        row_bytes: 4096,
    }
}

fn served(operation: &'static str, mechanism: &'static str, reason: Option<&'static str>, bytes: u64) -> ServedRow {
    ServedRow { operation, mechanism, reason, count: 1, bytes, share_of_bytes: 0.0 }
}

/// The lines of the table, with one blank between words.
fn lines(rows: &[Row]) -> Vec<String> {
    table(rows).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// 833 and 107 us, 5 and 0.08 mJ; the copies take 1,046.25 and 90 ns, and only the second result has
/// reads, of 2,500 ns. Each quantity has the unit in which its least value is at least 1.
#[test]
fn each_figure_is_in_its_column_with_its_unit() {
    let mut slow = report("baseline", 833_000.0, 5_000_000.0, [1.0, 1.0], [Some(1046.25), None]);
    slow.outcome.served = vec![served("copy", "channel", Some("policy"), 4096)];
    let mut fast = report("rowclone", 107_000.0, 80_000.0, [7.785, 62.5], [Some(90.0), Some(2500.0)]);
    fast.outcome.served = vec![
        served("copy", "fpm", None, 3 * 4096),
        served("copy", "psm", Some("other-bank"), 4096),
        // Zeroings do not count beside copies.
        served("init", "channel", Some("partial-row"), 1 << 20),
    ];
    let rows = [of_result(&slow), of_result(&fast)];
    let lines = lines(&rows);
    let [units, first, second] = &lines[lines.len() - 3..] else { unreachable!() };
    assert!(units.ends_with("us speedup uJ ratio ns ns"), "{units}");
    assert_eq!(first, "baseline channel 100 % 833 1.00x 5,000 1.00x 1,046 -");
    assert_eq!(second, "rowclone fpm 75 % 107 7.79x 80.0 62.5x 90.0 2,500");
}

#[test]
fn units_change_at_a_thousand() {
    let of = |value: f64| unit([Some(value), Some(value * 1e9)].into_iter(), TIMES);
    assert_eq!([of(999.0), of(1e3), of(999_999.0), of(1e6)], [(1.0, "ns"), (1e3, "us"), (1e3, "us"), (1e6, "ms")]);
    let nothing = [None, Some(0.0)].into_iter();
    assert_eq!(unit(nothing, TIMES), (1.0, "ns"));
    let digits = [9.994, 9.996, 99.94, 99.96, 999.4, 1_234_567.0].map(three_digits);
    assert_eq!(digits, ["9.99", "10.0", "99.9", "100", "999", "1,234,567"]);
    let said = |ratio| factor(ratio, "faster", "slower", "as fast");
    // 1 / 1.05 is 0.952.
    assert_eq!(
        [said(1.049), said(1.05), said(0.953), said(0.952)],
        ["as fast", "1.1x faster", "as fast", "1.1x slower"]
    );
    assert_eq!([said(9.94), said(9.96), said(0.1)], ["9.9x faster", "10x faster", "10x slower"]);
}

/// Two results: 100 ns at 10x and 300 ns at 2x are 1,600 ns against 400; 50 nJ at 4x and 150 nJ at
/// 2x are 500 nJ against 200.
#[test]
fn sums_per_policy_have_the_ratio_of_the_sums() {
    let mut first = report("rowclone", 100.0, 50.0, [10.0, 4.0], [None; 2]);
    first.outcome.served = vec![served("init", "fpm", None, 4096)];
    let mut second = report("rowclone", 300.0, 150.0, [2.0, 2.0], [None; 2]);
    second.outcome.served = vec![served("init", "channel", Some("partial-row"), 8192)];
    let other = report("baseline", 700.0, 900.0, [1.0, 1.0], [None; 2]);
    let rows = by_policy(&[first.clone(), second, other]);
    let found: Vec<_> = rows.iter().map(|row| (row.label.as_str(), row.latency_ns, row.energy_nj)).collect();
    assert_eq!(found, [("rowclone", 400.0, 200.0), ("baseline", 700.0, 900.0)]);
    assert_eq!((rows[0].speedup, rows[0].energy_ratio), (Some(4.0), Some(2.5)));
    // 8,192 of 12,288 bytes.
    assert_eq!(rows[0].mechanism, "channel 67 %");
    first.outcome.speedup = None;
    assert_eq!(by_policy(&[first])[0].speedup, None, "no sum without each reference");
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
    for wrong in [checked(1, true), checked(0, false), checked(3, false)] {
        assert_eq!(checks(&[checked(0, true), wrong.clone()]).as_deref(), Some(failed));
        assert!(text(&[unchecked.clone(), wrong]).lines().any(|line| line == failed));
    }
}
