//! The table of the LISA paper, as the command prints it, and runs on chips with LISA.

use serde_json::Value;

use crate::common::{json, run};

/// Tolerance: 0.5 %. LISA: the published sums on a clock of 1.25 ns, rounded up.
#[test]
fn every_latency_comes_near_the_published_one() {
    let table = json(&["reproduce", "lisa"]);
    let published = [
        ("copy/channel", 1366.25, 1090),
        ("copy/psm2", 1363.75, 1095),
        ("copy/psm", 701.25, 559),
        ("copy/fpm", 83.75, 67),
        ("copy/lisa 1 hop", 148.5, 119),
        ("copy/lisa 3 hops", 164.5, 132),
        ("copy/lisa 7 hops", 196.5, 158),
        ("copy/lisa 15 hops", 260.5, 209),
        ("copy/lisa 31 hops", 388.5, 311),
        ("copy/lisa 63 hops", 644.5, 516),
    ];
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), published.len());
    for (row, (id, ns, clocks)) in rows.iter().zip(published) {
        assert_eq!((&row["id"], &row["simulated"]["latency_cycles"]), (&id.into(), &clocks.into()));
        assert!((row["published"]["latency_ns"].as_f64().unwrap() - ns).abs() < 1e-9, "{id}");
        let simulated = row["simulated"]["latency_ns"].as_f64().unwrap();
        assert!((simulated / ns - 1.0).abs() < 0.0055, "{id}: {simulated}");
    }
    // The hops cost 0.0057 uJ each, and nothing else differs.
    let energy = |row: usize| rows[row]["simulated"]["energy_nj"].as_f64().unwrap();
    assert!((energy(7) - energy(4) - 14.0 * 5.7).abs() < 1e-6, "{} {}", energy(4), energy(7));
}

const OFFERED: &str = "system.copy.mechanisms=['fpm', 'lisa', 'psm', 'zero-rows']";
const SAME_BANK: &str = "workload.pairs=same-bank";

/// Checked commands and memory. `lisa` and `rowclone+lisa` copy between subarrays by LISA, as `fastest` does.
#[test]
fn copies_within_a_bank_go_by_lisa_where_the_chips_have_it() {
    let run = |offered: &[&str]| {
        let policies = "policies=['baseline', 'rowclone', 'lisa', 'rowclone+lisa', 'fastest', 'least-energy']";
        let sets = ["run", "traces/page-copies.toml", "--check", "--set", policies, "--set", SAME_BANK];
        json(&[&sets[..], &["--set", "workload.count=40"], offered].concat())
    };
    let of = |report: &Value, policy: &str, what: &str| {
        let result = report.as_array().unwrap().iter().find(|result| result["policy"] == policy).unwrap();
        result["commands"][what].as_u64()
    };
    let with = run(&["--set", OFFERED]);
    for policy in ["lisa", "rowclone+lisa", "fastest", "least-energy"] {
        assert!(of(&with, policy, "RBM hop") >= Some(40), "{policy}");
        assert_eq!(of(&with, policy, "TRANSFER"), Some(0), "{policy}");
    }
    let without = run(&[]);
    for policy in ["baseline", "rowclone", "lisa", "rowclone+lisa", "fastest", "least-energy"] {
        assert_eq!(of(&without, policy, "RBM hop"), None, "{policy}");
    }
    assert_eq!(of(&with, "rowclone", "RBM hop"), None);
}

/// A result without RBM has 0 in the columns of those that have them.
#[test]
fn a_line_of_csv_has_every_column() {
    let policies = "policies=['baseline', 'lisa']";
    let sets = ["--set", OFFERED, "--set", policies, "--set", SAME_BANK, "--set", "workload.count=10"];
    let (code, text, stderr) = run(&[&["run", "traces/page-copies.toml", "--format", "csv"], &sets[..]].concat());
    assert_eq!(code, 0, "{stderr}");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let place = |column: &str| header.iter().position(|name| *name == column).unwrap();
    let [baseline, lisa] = [lines.next().unwrap(), lines.next().unwrap()];
    for column in ["commands_RBM_hop", "parts_lisa", "energy_mechanism_commands_nj"] {
        assert_eq!(baseline[place(column)], "0", "{column}");
        assert_ne!(lisa[place(column)], "0", "{column}");
    }
}

/// 8 Gb x4 with rows of 4 KB and 128 rows per subarray: 4,096 hops of 8 ns are 32.8 us, and eight refresh
/// intervals of 1.95 us are 15.6 us.
#[test]
fn movements_that_no_refresh_can_wait_for_are_refused() {
    let chips = ["device.bin='1333G'", "device.density_gb=8", "device.width=4", "device.currents='none'"];
    let small = ["geometry.rows_per_subarray=128", "refresh.t_refi_ps=1950000"];
    let sets = chips.iter().chain(&small).flat_map(|set| ["--set".to_owned(), format!("system.{set}")]);
    let sets: Vec<String> = sets.collect();
    let words = ["run", "traces/page-copies.toml", "--set", OFFERED].into_iter().chain(sets.iter().map(String::as_str));
    let (code, _, error) = run(&words.collect::<Vec<_>>());
    assert_eq!(code, 2, "{error}");
    let expected = "`copy.mechanisms` has `lisa`, and with copies through 4096 subarrays";
    assert!(error.contains(expected) && error.contains("postponed by 10400"), "{error}");
}
