//! `fastest` and `least-energy` where they differ from the rule: as the program runs them, and as it explains them.

use serde_json::Value;

use crate::common::{Directory, run};

/// One operation on an idle memory with one rank, from another subarray of the bank: the mechanism, and dynamic energy,
/// nJ.
fn taken(policy: &str, bytes: u64, currents: &str) -> (String, f64) {
    let directory = Directory::with(("2 Gb x8 -25E", currents), ("\"baseline\", \"rowclone\"", &format!("{policy:?}")));
    let scenario = directory.path("scenario.toml");
    let copy = format!("operation=[{{ kind = \"copy\", src = \"same-bank\", dst = 0x400000, bytes = {bytes} }}]");
    let (code, stdout, stderr) = run(&["run", scenario.to_str().unwrap(), "--set", &copy, "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    let reports: Value = serde_json::from_str(&stdout).unwrap();
    let operation = &reports[0]["operations"][0];
    (operation["mechanism"].as_str().unwrap().to_owned(), operation["energy_nj"].as_f64().unwrap())
}

/// 562 clocks against 558.
#[test]
fn fastest_takes_the_channel_for_a_page_within_a_bank() {
    assert_eq!(taken("rowclone", 4096, "2 Gb x8 -25E").0, "psm2");
    assert_eq!(taken("fastest", 4096, "2 Gb x8 -25E").0, "channel");
}

#[test]
fn least_energy_goes_by_the_currents_of_the_chips() {
    let check = |policy: &str, currents: &str, mechanism: &str, nj: f64| {
        let (found, energy) = taken(policy, 64, currents);
        assert_eq!(found, mechanism, "{policy}, {currents}");
        assert!((energy - nj).abs() < 0.05, "{policy}, {currents}: {energy} nJ");
    };
    check("rowclone", "2 Gb x8 -25E", "psm2", 109.7);
    check("least-energy", "2 Gb x8 -25E", "channel", 100.1);
    check("baseline", "2 Gb x8 early die 1066", "channel", 63.8);
    check("least-energy", "2 Gb x8 early die 1066", "psm2", 62.1);
}

#[test]
fn a_plan_is_explained_with_the_estimates_that_it_goes_by() {
    let policies = "policies=[\"rowclone\", \"fastest\", \"least-energy\"]";
    let (code, stdout, stderr) = run(&["explain", "plan", "traces/page-copy.toml", "--set", policies]);
    assert_eq!(code, 0, "{stderr}");
    // Without the breaks of long lines.
    let stdout = stdout.replace("\n  ", " ");
    let within_a_bank = stdout.split("\ncopy 4 KiB").nth(3).unwrap();
    assert!(within_a_bank.contains("562 / 2339.8  558 / 3288.2"), "{within_a_bank}");
    assert!(within_a_bank.contains(
        "\nThe choice of fastest depends on the state of the memory; on an idle memory, parts: 1 by channel\n"
    ));
    assert!(within_a_bank.contains(
        "\nThe choice of least-energy depends on the state of the memory; on an idle memory, parts: 1 by psm2\n"
    ));
}
