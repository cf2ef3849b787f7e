//! Means of mixes, by hand.

use super::*;

/// A run with the four metrics, its instructions, bytes and nJ, and the share of copies in the bytes.
fn run(metrics: [f64; 4], instructions: u64, channel_bytes: u64, energy_nj: f64, share: Option<f64>) -> MixRun {
    let [weighted_speedup, instruction_throughput, harmonic_speedup, maximum_slowdown] = metrics;
    let metrics = MixMetrics { weighted_speedup, instruction_throughput, harmonic_speedup, maximum_slowdown };
    let report = CoresReport {
        instructions,
        channel_bytes,
        energy_nj: Some(energy_nj),
        copy_share_of_channel_bytes: share,
        ..crate::programs::tests::empty()
    };
    MixRun { programs: Vec::new(), alone_ipc: Vec::new(), metrics, report }
}

/// Two mixes: 4 and 1 bytes per instruction, 2 and 0.5 nJ per instruction; the second has no traffic
/// of which copies could have a share.
fn baseline() -> MethodRuns {
    let mixes =
        [run([1.0, 0.5, 0.5, 2.0], 1000, 4000, 2000.0, Some(0.5)), run([2.0, 1.0, 1.0, 4.0], 2000, 2000, 1000.0, None)];
    MethodRuns::new("baseline", mixes.into())
}

/// Ratios of the first mix 1.5, 1.1, 1.2, 0.5, 1/4 and 1/2; of the second 1.1, 1.3, 1.4, 0.75, 3/4 and 9/10.
fn zi() -> MethodRuns {
    let mixes = [
        run([1.5, 0.55, 0.6, 1.0], 1000, 1000, 1000.0, Some(0.1)),
        run([2.2, 1.3, 1.4, 3.0], 1000, 750, 450.0, Some(0.3)),
    ];
    MethodRuns::new("rowclone-zi", mixes.into())
}

#[track_caller]
fn near(found: MixFigures, expected: [f64; 6]) {
    for (found, expected) in found.0.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found}, not {expected}");
    }
}

#[test]
fn means_are_those_of_the_mixes() {
    let baseline = baseline();
    near(baseline.mean, [1.5, 0.75, 0.75, 3.0, 2.5, 1.25]);
    assert!((baseline.copy_share_of_channel_bytes - 0.25).abs() < 1e-12);
    let zi = zi();
    near(zi.mean, [1.85, 0.925, 1.0, 2.0, 0.875, 0.725]);
    assert!((zi.copy_share_of_channel_bytes - 0.2).abs() < 1e-12);
}

/// The mean of the ratios of each mix, not the ratio of the means: 1.3, and not 1.85 / 1.5.
#[test]
fn ratios_are_means_of_the_ratios_of_each_mix() {
    let row = MulticoreRow::new(2, "fr-fcfs".into(), vec![baseline(), zi()]);
    near(row.methods[0].ratios, [1.0; 6]);
    near(row.methods[1].ratios, [1.3, 1.2, 1.3, 0.625, 0.5, 0.7]);
}

/// The line that begins with these words, with one blank between words.
fn line_of(text: &str, start: &str) -> String {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.into_iter().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}:\n{text}"))
}

/// Two and four cores, with other methods in the second and third place.
#[test]
fn the_tables_have_each_figure_in_its_column() {
    let copied = || {
        let MethodRuns { runs, .. } = zi();
        MethodRuns::new("rowclone", runs)
    };
    let row = |cores, methods| MulticoreRow::new(cores, "fr-fcfs".into(), methods);
    let table = MulticoreTable {
        schema_version: SCHEMA_VERSION,
        machine: "paper".into(),
        baseline: "a loop".into(),
        seed: 1,
        programs: "generated",
        mixes: 2,
        length: RegionLength::Instructions { warm_up: 10, instructions: 20 },
        traces: Vec::new(),
        published: crate::published::published("multicore"),
        rows: vec![
            row(2, vec![baseline(), baseline(), zi()]),
            row(4, vec![baseline(), copied(), MethodRuns::new("rowclone-zi", baseline().runs)]),
        ],
    };
    let text = table.to_text(false);
    // Weighted speedup, nJ per instruction and copy share, each of 2 and 4 cores.
    assert_eq!(line_of(&text, "fr-fcfs baseline"), "fr-fcfs baseline 1.50 1.50 1.25 1.25 25 % 25 %");
    assert_eq!(line_of(&text, "fr-fcfs rowclone-zi"), "fr-fcfs rowclone-zi +30.0 % +0.0 % -30.0 % +0.0 % 20 % 25 %");
    // Published and simulated, of 2 and of 4 cores.
    for (start, changes) in [
        ("rowclone-zi weighted speedup", "+15.0 % +30.0 % +20.0 % +0.0 %"),
        ("rowclone-zi instruction throughput", "+14.0 % +20.0 % +15.0 % +0.0 %"),
        ("rowclone-zi harmonic speedup", "+13.0 % +30.0 % +16.0 % +0.0 %"),
        ("rowclone-zi maximum slowdown", "-6.0 % -37.5 % -12.0 % +0.0 %"),
        ("rowclone-zi bandwidth per instruction", "-29.0 % -50.0 % -27.0 % +0.0 %"),
        ("rowclone-zi energy per instruction", "-19.0 % -30.0 % -17.0 % +0.0 %"),
        // The row of two cores has no such method.
        ("rowclone weighted speedup", "- - +10.0 % +30.0 %"),
    ] {
        assert_eq!(line_of(&text, start), format!("{start} {changes}"));
    }
}
