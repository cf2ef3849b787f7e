//! `explain energy`: prices, and the energy of a copy, by hand.

use crate::common::{Directory, program};

/// Words of the output, with one blank between them, for a copy of 4 KiB on the system of `common`.
fn explained(ranks: &str) -> String {
    let directory = Directory::with(("ranks = 1", ranks), ("", ""));
    let path = directory.path("scenario.toml");
    // Wide enough for every formula.
    let assert = program(&["explain", "energy", path.to_str().unwrap()]).env("COLUMNS", "200").assert().success();
    let stdout = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn says(text: &str, rows: &[&str]) {
    for row in rows {
        assert!(text.contains(row), "{row}: {text}");
    }
}

/// The currents of `2 Gb x8 -25E` at 1.5 V, 8 chips, tCK 2.5 ns: IDD0 100, IDD2N 50, IDD3N 65,
/// IDD4R 195, IDD4W 230, IDD5B 275 mA; tRC 52.5, tRAS 37.5, tRFC 160, a burst 10 ns. A burst at
/// DDR3-1066 takes 7.5 ns.
#[test]
fn the_price_of_each_command() {
    let text = explained("ranks = 1");
    says(
        &text,
        &[
            "currents of `2 Gb x8 -25E` (measured in bin 800E), 8 x8 chips per rank, at DDR3-1066",
            // 1.5 x (5250 - 2437.5 - 750) x 8 = 24,750 pJ.
            "activation with its precharge 1.5 V x (100 x 52.5 - 65 x 37.5 - 50 x 15) mA ns x 8 24.750",
            "copy activation as an activation 24.750",
            "read 1.5 V x (195 - 65) mA x 10 ns x 8 15.600",
            "write 1.5 V x (230 - 65) mA x 10 ns x 8 19.800",
            "TRANSFER mean of read and write; no pin moves 17.700",
            "refresh 1.5 V x (275 - 65) mA x 160 ns x 8 403.200",
            "read I/O 4.6 mW x 72 pins x 7.5 ns 2.484",
            "write I/O 21.2 mW x 80 pins x 7.5 ns 12.720",
        ],
    );
    assert!(!text.contains("idle rank"), "{text}");
}

/// 64 lines of a row. Over the channel: 2 ACT, 64 RD and 64 WR. FPM: an ACT and a copy ACT.
#[test]
fn the_energy_of_a_copy_is_the_sum_of_its_commands() {
    let text = explained("ranks = 1");
    let (channel, fpm) = text.split_once("policy rowclone, fpm: 48 clocks").unwrap();
    says(
        channel,
        &[
            "policy baseline, channel: 558 clocks",
            "activation with its precharge 2 24.750 49.500 1.5 %",
            "read 64 15.600 998.400 30.4 %",
            "write 64 19.800 1267.200 38.5 %",
            "read I/O 64 2.484 158.976 4.8 %",
            "write I/O 64 12.720 814.080 24.8 %",
            "dynamic energy 3288.156 100.0 %",
        ],
    );
    says(
        fpm.split("policy baseline").next().unwrap(),
        &[
            "activation with its precharge 1 24.750 24.750 50.0 %",
            "copy activation 1 24.750 24.750 50.0 %",
            "dynamic energy 49.500 100.0 %",
        ],
    );
}

/// With two ranks, the other one terminates the pins: 15.5 mW of 72 pins for a read, 15.4 mW of 80
/// pins for a write.
#[test]
fn another_rank_terminates_the_pins() {
    let text = explained("ranks = 2");
    says(
        &text,
        &[
            "idle rank, read 15.5 mW x 72 pins x 7.5 ns 8.370",
            "idle rank, write 15.4 mW x 80 pins x 7.5 ns 9.240",
            "idle rank, read 64 8.370 535.680 ",
            "idle rank, write 64 9.240 591.360 ",
            // 3288.156 + 535.680 + 591.360.
            "dynamic energy 4415.196 100.0 %",
        ],
    );
}
