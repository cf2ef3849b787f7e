//! A sweep with two placements: the reference of each row is the baseline under `buddy`.

use std::collections::BTreeMap;
use std::fs;

use crate::common::Directory;
use crate::sweeps::sweep;

const SCENARIO: &str = r#"system = "system.toml"
policies = ["baseline", "rowclone"]
seed = 1
[workload]
kind = "fork"
bytes = 0x0040_0000
pages = 32
[allocator]
policies = ["subarray-aware", "buddy"]
utilization = 0.5
fragmentation = 0.5
"#;

/// Figures of a row: speedup, energy ratio, latency in ns, and dynamic energy in nJ.
type Figures = [f64; 4];

/// The figures of each row, by point, policy and placement.
fn rows(directory: &Directory, set: &str) -> BTreeMap<[String; 3], Figures> {
    let axis = "[[axis]]\nkey = \"workload.pages\"\nvalues = [32]\n";
    fs::write(directory.path("sweep.toml"), format!("scenario = \"scenario.toml\"\n{set}{axis}")).unwrap();
    let (code, stderr) = sweep(directory, "out", &[]);
    assert_eq!(code, 0, "{stderr}");
    let mut table = csv::Reader::from_path(directory.path("out/results.csv")).unwrap();
    let rows = table.deserialize().map(Result::unwrap).map(|row: BTreeMap<String, String>| {
        assert_eq!(row["reference"], "baseline/buddy");
        let figures = ["speedup", "energy_ratio", "latency_ns", "dynamic_energy_nj"];
        (["point", "policy", "placement"].map(|key| row[key].clone()), figures.map(|key| row[key].parse().unwrap()))
    });
    rows.collect()
}

#[test]
fn each_row_is_compared_with_the_baseline_under_buddy() {
    let directory = Directory::sound();
    fs::write(directory.path("scenario.toml"), SCENARIO).unwrap();
    let both = rows(&directory, "");
    assert_eq!(both.len(), 4);
    for ([point, policy, placement], [speedup, energy_ratio, latency, energy]) in &both {
        let of = |placement: &str| both[&[point.as_str(), "baseline", placement].map(str::to_owned)];
        let [.., reference_latency, reference_energy] = of("buddy");
        let place = format!("point {point}, {policy}/{placement}");
        assert!((speedup * latency / reference_latency - 1.0).abs() < 1e-9, "{place}");
        assert!((energy_ratio * energy / reference_energy - 1.0).abs() < 1e-9, "{place}");
        // So that no other reference gives these ratios.
        assert!((of("subarray-aware")[2] / reference_latency - 1.0).abs() > 1e-6, "{place}");
    }
    // A reference that the sweep does not list runs, too, and has no row.
    let one = rows(&directory, "set = { \"allocator.policies\" = [\"subarray-aware\"] }\n");
    let listed: BTreeMap<_, _> =
        both.into_iter().filter(|([.., placement], _)| placement == "subarray-aware").collect();
    assert_eq!(one, listed);
}
