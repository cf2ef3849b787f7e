//! `convert` of memory traces.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::workspace;

/// Runs `convert` in a directory; returns its exit code and its messages.
fn convert(directory: &TempDir, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    let output = command.current_dir(directory).arg("convert").args(arguments).output().unwrap();
    assert!(output.stdout.is_empty(), "messages are no data");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The results of a trace, played back to back.
fn results(trace: &Path) -> Vec<Value> {
    let mut command = Command::cargo_bin("rowclone-sim").unwrap();
    command.arg("run").arg("--trace").arg(trace).args(["--set", "workload.timing=back-to-back", "--format", "json"]);
    let assert = command.assert().success();
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

#[test]
fn a_converted_recording_is_played_like_the_recording() {
    let directory = tempfile::tempdir().unwrap();
    let recording = workspace().join("traces/samples/forkset-rc.gz");
    let native = directory.path().join("forkset.native");
    let (code, messages) = convert(&directory, &[recording.to_str().unwrap(), "forkset.native"]);
    assert_eq!((code, messages.as_str()), (0, "wrote forkset.native\n"));
    for (recorded, converted) in results(&recording).iter().zip(results(&native)) {
        for field in ["latency_cycles", "requests", "dynamic_energy_nj"] {
            assert_eq!(recorded[field], converted[field], "{field}");
        }
    }
}

#[test]
fn what_cannot_be_converted_is_refused_before_a_file_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("a.native"), "R 0x0\nCOPY 0x8000 0x10000 64\nW 0x40 @5ns\n").unwrap();
    fs::write(path("a"), "5: read 0x1000\n").unwrap();
    let refused = |arguments: &[&str], parts: &[&str]| {
        let (code, messages) = convert(&directory, arguments);
        assert_eq!(code, 2, "{arguments:?}: {messages}");
        assert!(parts.iter().all(|part| messages.contains(part)), "{arguments:?}: {messages}");
    };
    refused(
        &["a.native", "b.dramsim3"],
        &["a.native:2: a copy cannot be written in the format `dramsim3`", "--drop-unsupported"],
    );
    refused(&["a.native", "b.dramsim3", "--drop-unsupported"], &["a.native:3: a time can be converted", "--system"]);
    refused(&["a", "b.native"], &["a:1: ", "--from stl", "--from rstl"]);
    refused(&["a.native", "b.hdl"], &["a memory trace (`native`) cannot be written as a command trace (`hdl`)"]);
    refused(&["a.native", "b.perf"], &["the format is not known", "--to"]);
    refused(&["a.native", "b.cpu", "--instructions-per-clock", "0"], &["must be above 0"]);
    assert!(!path("b.dramsim3").exists());
    let system = workspace().join("configs/ddr3-1066-paper.toml");
    let arguments = ["a.native", "b.dramsim3", "--drop-unsupported", "--system", system.to_str().unwrap()];
    let (code, messages) = convert(&directory, &arguments);
    let warning = "warning: 1 record left out, which `dramsim3` cannot express\n";
    assert_eq!((code, messages), (0, format!("wrote b.dramsim3\n{warning}")));
    assert_eq!(fs::read_to_string(path("b.dramsim3")).unwrap(), "0x0 READ 0\n0x40 WRITE 3\n");
    refused(&arguments, &["b.dramsim3", "--force"]);
    assert_eq!(convert(&directory, &["a", "b.rstl", "--from", "stl"]), (0, "wrote b.rstl\n".to_owned()));
    assert_eq!(fs::read_to_string(path("b.rstl")).unwrap(), "5: read 0x1000\n");
}
