//! Systems by name, and traces of every standard.

use std::fs;

use rowclone_config::preset::{SYSTEMS, names};
use serde_json::Value;

use crate::common::run;

#[test]
fn the_list_of_systems_has_every_preset() {
    let (code, text, _) = run(&["systems", "--format", "json"]);
    let listed: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(code, 0);
    assert_eq!(listed.iter().map(|system| system["name"].as_str().unwrap()).collect::<Vec<_>>(), names(SYSTEMS));
    let ddr5 = listed.iter().find(|system| system["standard"] == "DDR5").unwrap();
    assert_eq!((&ddr5["bin"], &ddr5["latencies"]), (&"DDR5-4800B".into(), &"40-39-39".into()));
    let keys = ["channels", "ranks", "chips_per_rank", "bank_groups", "banks", "row_bytes"];
    let numbers: Vec<u64> = keys.iter().map(|key| ddr5[*key].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2, 2, 4, 8, 32, 4096]);
    assert_eq!((ddr5["capacity_bytes"].as_u64(), &ddr5["address_map"]), (Some(32 << 30), &"group-interleaved".into()));
    let (_, table, _) = run(&["systems"]);
    assert!(names(SYSTEMS).iter().all(|name| table.contains(name)) && table.contains("`ddr4-desktop`"), "{table}");
}

#[test]
fn a_system_is_named_wherever_a_file_is() {
    let (code, text, _) = run(&["explain", "rules", "--system", "ddr4-3200-16gb-dimm"]);
    assert!(code == 0 && text.starts_with("DDR4-3200AA (22-22-22), tCK 0.6250 ns; 8 Gb x8 chips"), "{text}");
    let (code, _, message) = run(&["explain", "rules", "--system", "ddr4"]);
    assert_eq!(code, 2);
    let of_run = |system: &str| run(&["run", "traces/page-copy.toml", "--system", system]);
    assert_eq!(of_run("ddr4"), (2, String::new(), message.clone()));
    assert!(message.starts_with("error: \"ddr4\" is neither a file nor a preset\nhelp: "), "{message}");
    assert!(names(SYSTEMS).iter().all(|name| message.contains(&format!("`{name}`"))), "{message}");
    for missing in ["ddr2-400.toml", "configs/ddr4.toml"] {
        let of_rules = run(&["explain", "rules", "--system", missing]);
        assert!(of_rules.2.starts_with(&format!("error: {missing}: cannot be read: ")), "{of_rules:?}");
        assert_eq!(of_run(missing), of_rules);
    }
    let (code, text, _) = run(&["run", "traces/page-copy.toml", "--set", "system=ddr4-3200-16gb-dimm", "--check"]);
    assert_eq!(code, 0, "{text}");
    let text = text.replace("\n  ", " ");
    assert!(
        text.contains("page-copy on ddr4-3200-16gb-dimm: DDR4-3200AA, 16 GiB, 1 channel x 2 ranks, 8 KiB"),
        "{text}"
    );
}

/// A log names its system; the trace of another tool needs the standard, or the system.
#[test]
fn traces_take_the_standard_from_the_system_or_the_command_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let trace = "clock,command,Channel,Rank,BankGroup,Bank,Row,Column,type,source\n\
        10,ACT,0,0,2,1,17,5,0,0\n32,RD,0,0,2,1,17,5,0,0\n90,PRE,0,0,2,1,17,5,0,0\n";
    fs::write(path("x.ch0"), trace).unwrap();
    let (code, text, message) = run(&["check", &path("x.ch0"), "--standard", "DDR4"]);
    assert_eq!((code, text.as_str()), (0, "3 commands, no violation\n"), "{message}");
    assert_eq!(message, "note: the system is `ddr4-3200-16gb-dimm`; `--system` names another\n");
    let (code, _, message) = run(&["check", &path("x.ch0"), "--system", "ddr3-1600-8gb-dimm"]);
    assert_eq!(code, 2);
    assert!(message.contains("`BankGroup` is no level of DDR3"), "{message}");
    let (code, _, message) = run(&["check", &path("x.ch0"), "--system", "ddr2-400", "--standard", "DDR4"]);
    assert_eq!(code, 2);
    assert!(message.starts_with("error: `--standard DDR4`, but the system ddr2-400 is DDR2-400B\n"), "{message}");

    let to = |name: &str| run(&["convert", &path("x.ch0"), &path(name), "--system", "ddr4-3200-16gb-dimm"]);
    assert_eq!(to("x.csv").0, 0);
    let log = fs::read_to_string(path("x.csv")).unwrap();
    assert!(log.contains("# bin = DDR4-3200AA\n") && log.contains("\n32,RD,0,0,9,,5,,\n"), "{log}");
    let (code, _, message) = run(&["check", &path("x.csv"), "--standard", "DDR4"]);
    assert_eq!(code, 2);
    assert!(message.contains("help: leave out `--standard DDR4`"), "{message}");
    let (code, _, message) = run(&["convert", &path("x.csv"), &path("x.hdl")]);
    assert_eq!(code, 2);
    assert!(message.contains("the format is one of DDR3 chips only, and the system is DDR4-3200AA"), "{message}");
    let (code, ..) = run(&["convert", &path("x.csv"), &path("x.drampower")]);
    assert_eq!(code, 0);
    let lines = fs::read_to_string(directory.path().join("x-chan-0-rank-0.drampower")).unwrap();
    assert_eq!(lines, "10,ACT,9\n32,RD,9\n90,PRE,9\n");
}
