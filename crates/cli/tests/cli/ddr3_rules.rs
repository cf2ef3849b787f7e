//! DDR3 rules that other tools found broken in the command streams of whole runs: each run is checked, and the commands
//! are compared.

use std::fs;

use crate::common::{Directory, run};

const READ: &str = "[[operation]]\nkind = \"read\"\nbytes = 64\n";

/// A scenario of single reads or writes, played with `--check`; the commands of channel 0 as `cycle NAME`, for one
/// policy.
fn commands(operations: &str, sets: &[&str]) -> Vec<(u64, String)> {
    let directory = Directory::sound();
    let scenario = format!("system = \"system.toml\"\npolicies = [\"baseline\"]\nseed = 1\n{operations}");
    fs::write(directory.path("scenario.toml"), scenario).unwrap();
    let (path, log) = (directory.path("scenario.toml"), directory.path("log.csv"));
    let mut args = vec!["run", path.to_str().unwrap(), "--check", "--commands", log.to_str().unwrap()];
    args.extend(sets.iter().flat_map(|&set| ["--set", set]));
    let (code, stdout, stderr) = run(&args);
    assert_eq!(code, 0, "{stdout}{stderr}");
    let log = fs::read_to_string(log).unwrap();
    let rows =
        log.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    rows.filter(|cells| cells[2] == "0").map(|cells| (cells[0].parse().unwrap(), cells[1].to_owned())).collect()
}

fn reads(at: &[u64]) -> String {
    at.iter().map(|at| format!("{READ}dst = 0\nat_cycle = {at}\n")).collect::<Vec<_>>().concat()
}

/// PDX, REF, PDE: the second PDE waits for tXPDLL (20 clocks at 1600) from the PDX.
#[test]
fn power_down_is_not_entered_again_before_txpdll_when_a_refresh_lies_between() {
    let sets = [
        "system.device.bin=1600K",
        "system.device.currents=2 Gb x8 M-die 1600",
        "system.refresh.t_refi_ps=1950000",
        "system.geometry.channels=1",
        "system.controller.row_policy=closed",
        "system.controller.power_down_after_cycles=20",
    ];
    let commands = commands(&reads(&[0, 4000]), &sets);
    let mut refreshes_between = 0;
    for (index, (at, name)) in commands.iter().enumerate().filter(|(_, (_, name))| name == "PDE") {
        let before = &commands[..index];
        let Some(exit) = before.iter().rposition(|(_, name)| name == "PDX") else { continue };
        if before[exit..].iter().any(|(_, name)| name == "REF") {
            assert!(at - before[exit].0 >= 20, "{name} at {at}: {before:?}");
            refreshes_between += 1;
        }
    }
    assert!(refreshes_between >= 2, "{commands:?}");
}

#[test]
fn self_refresh_is_entered_again_only_after_a_refresh() {
    let sets = ["system.geometry.channels=1", "system.controller.self_refresh_after_cycles=100"];
    let commands = commands(&reads(&[0, 1200, 2400]), &sets);
    let found: Vec<&str> = commands.iter().map(|(_, name)| name.as_str()).collect();
    let entries = found.iter().filter(|name| **name == "SRE").count();
    assert_eq!(entries, 2, "{commands:?}");
    let second = found.iter().rposition(|name| *name == "SRE").unwrap();
    let exit = found[..second].iter().rposition(|name| *name == "SRX").unwrap();
    assert!(found[exit..second].contains(&"REF"), "{commands:?}");
}

/// WRA b0, PREA: the internal precharge starts CWL + BL + tWR = 18 clocks after the WRA at 1066G.
#[test]
fn precharge_all_waits_for_a_pending_auto_precharge() {
    let sets =
        ["system.geometry.channels=1", "system.refresh.t_refi_ps=1950000", "system.controller.row_policy=closed"];
    let write = |address: &str, at: u64| {
        format!("[[operation]]\nkind = \"write\"\nbytes = 64\ndst = {address}\nat_cycle = {at}\n")
    };
    let commands = commands(&(write("0x40000", 1031) + &write("0x42000", 1033)), &sets);
    let closing = commands.iter().position(|(_, name)| name == "PREA").unwrap();
    let write = commands[..closing].iter().rfind(|(_, name)| name == "WRA").unwrap();
    assert_eq!(commands[closing].0, write.0 + 18, "{commands:?}");
}
