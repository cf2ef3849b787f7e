//! `convert` and `trace` of recordings of programs.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use serde_json::{Value, json};
use trace_io::recording::{Event, MemoryAccess, Metadata, RecordingWriter, Word};

use crate::common::run;

/// 2 instructions and a load, then 1 and a modification of 12 bytes.
const LACKEY: &str = "I  00400000,3\nI  00400003,4\n L 1000,8\nI  00400007,4\n M 2000,12\n";

/// Runs a command with files of a directory; its standard output.
#[track_caller]
fn ran(directory: &Path, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = refused(directory, arguments);
    assert_eq!(code, 0, "{stderr}");
    stdout
}

/// Runs a command; an argument with a dot is a file of the directory.
fn refused(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    let path = |argument: &&str| {
        if argument.contains('.') {
            directory.join(argument).to_str().unwrap().to_owned()
        } else {
            (*argument).to_owned()
        }
    };
    let arguments: Vec<String> = arguments.iter().map(path).collect();
    run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_trace_becomes_a_recording_and_a_trace_again() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::write(directory.join("a.lackey"), LACKEY).unwrap();
    ran(directory, &["convert", "a.lackey", "a.rct.zst", "--level", "19"]);
    ran(directory, &["convert", "a.rct.zst", "a.rct"]);
    let head = "1 1 create process=1\n\
        1 1 load address=0x1000 bytes=8 instructions=2\n\
        1 1 load address=0x2000 bytes=8 instructions=1\n\
        1 1 load address=0x2008 bytes=4 instructions=0\n\
        1 1 store address=0x2000 bytes=8 instructions=0\n\
        1 1 store address=0x2008 bytes=4 instructions=0\n\
        1 1 exit\n";
    for file in ["a.rct.zst", "a.rct"] {
        assert_eq!(ran(directory, &["trace", "head", file]), head);
        let verified = ran(directory, &["trace", "verify", file]);
        assert!(verified.ends_with(": 1 block with 3 instructions are consistent\n"), "{verified}");
    }
    assert_eq!(ran(directory, &["trace", "head", "a.rct", "-n", "1"]), "1 1 create process=1\n");
    let info: Value = serde_json::from_str(&ran(directory, &["trace", "info", "a.rct", "--format", "json"])).unwrap();
    let of = |key: &str| info["metadata"][key].clone();
    assert_eq!([of("instructions"), of("loads"), of("stores"), of("words")], [3, 3, 2, 7].map(Value::from));
    assert_eq!(info["events"], json!({ "create": 1, "exit": 1 }));
    ran(directory, &["convert", "a.rct", "b.lackey"]);
    let accesses = "L 00001000,8\nI 00000000,1\nL 00002000,8\nL 00002008,4\nS 00002000,8\nS 00002008,4\n";
    let written = fs::read_to_string(directory.join("b.lackey")).unwrap();
    let written: Vec<String> =
        written.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(written.join("\n") + "\n", format!("I 00000000,1\nI 00000000,1\n{accesses}"));
    ran(directory, &["convert", "a.rct", "first.rct", "--first", "2"]);
    assert_eq!(ran(directory, &["trace", "head", "first.rct"]).lines().count(), 2);
}

/// A recording of a process that stores 7, and loads a byte.
fn stored_and_loaded(file: &Path, loaded: u8) {
    let metadata = Metadata { contents: true, ..Metadata::default() };
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), metadata, 0).unwrap();
    let access =
        |is_store| Word::Access(MemoryAccess { is_store, address: 0x1000, log2_bytes: 0, instructions: 1 }).bits();
    let words = [&Event::Create { process: 1 }.words()[..], &[access(true), access(false)]].concat();
    writer.block(1, 1, &words).unwrap();
    writer.contents(&[7, loaded]).unwrap();
    writer.finish(fs::File::create_new(file).unwrap()).unwrap();
}

/// A planted defect: the load has another byte than the store before it.
#[test]
fn a_wrong_byte_in_the_contents_of_a_recording_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    stored_and_loaded(&directory.join("right.rct"), 7);
    let verified = ran(directory, &["trace", "verify", "right.rct"]);
    assert!(
        verified.ends_with("of 1 byte loaded, 1 had been written or read before, and 0 were not known\n"),
        "{verified}"
    );
    ran(directory, &["run", "right.rct", "--check"]);
    stored_and_loaded(&directory.join("wrong.rct"), 9);
    for arguments in [&["trace", "verify", "wrong.rct"][..], &["run", "wrong.rct", "--check"]] {
        let (code, _, message) = refused(directory, arguments);
        let expected = "block 1, word 2: process 1 reads 0x09 at 0x1000, where it had stored 0x07 in this block";
        assert!(code == 2 && message.contains("wrong.rct: ") && message.contains(expected), "{code}: {message}");
    }
    ran(directory, &["run", "wrong.rct"]);
}

#[test]
fn a_damaged_recording_is_refused_with_its_offset() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::write(directory.join("a.lackey"), LACKEY).unwrap();
    ran(directory, &["convert", "a.lackey", "a.rct"]);
    let mut bytes = fs::read(directory.join("a.rct")).unwrap();
    let length = bytes.len();
    fs::write(directory.join("cut.rct"), &bytes[..length - 1]).unwrap();
    let (code, _, stderr) = refused(directory, &["trace", "verify", "cut.rct"]);
    assert_eq!(code, 2);
    assert!(stderr.contains(&format!("byte {} (block 2): the recording is truncated", length - 1)), "{stderr}");
    // A bit of the last column of the words.
    bytes[length - 33] ^= 1;
    fs::write(directory.join("flipped.rct"), &bytes).unwrap();
    let (code, _, stderr) = refused(directory, &["trace", "verify", "flipped.rct"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("(block 1): the CRC-32 of the payload is "), "{stderr}");
    let (code, _, stderr) = refused(directory, &["convert", "a.lackey", "b.rct", "--level", "3"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("is a plain recording, which has no `--level`"), "{stderr}");
}

/// Page faults of a shell that forks, and its child, which executes a program; the times are in us.
const PERF: &str = "\
    sh 7 [000] 10.000001: PERF_RECORD_COMM exec: sh:7/7\n\
    sh 7 [000] 10.000001: exceptions:page_fault_user: address=0x7f0000001008 ip=0x1 error_code=0x6\n\
    sh 7 [000] 10.000002: exceptions:page_fault_user: address=0x7f0000002008 ip=0x1 error_code=0x4\n\
    sh 7 [000] 10.000002: PERF_RECORD_FORK(8:8):(7:7)\n\
    sh 8 [001] 10.000004: exceptions:page_fault_user: address=0x7f0000001010 ip=0x1 error_code=0x7\n\
    sh 7 [000] 10.000004: exceptions:page_fault_user: address=0x7f0000002010 ip=0x1 error_code=0x7\n\
    ls 8 [001] 10.000005: PERF_RECORD_COMM exec: ls:8/8\n\
    ls 8 [001] 10.000006: exceptions:page_fault_user: address=0x7f0000001010 ip=0x1 error_code=0x6\n\
    ls 8 [001] 10.000007: PERF_RECORD_EXIT(8:8):(7:7)\n\
    sh 7 [000] 10.000009: PERF_RECORD_EXIT(7:7):(1:1)\n";

/// The first `exec` of a process is an event of perf, and no event of a recording.
#[test]
fn a_recording_of_page_faults_runs_as_the_text_of_perf() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::write(directory.join("a.perf"), PERF).unwrap();
    ran(directory, &["convert", "a.perf", "a.rct.zst"]);
    let info: Value =
        serde_json::from_str(&ran(directory, &["trace", "info", "a.rct.zst", "--format", "json"])).unwrap();
    assert_eq!(info["metadata"]["detail"], "faults");
    assert_eq!(info["events"], json!({ "create": 2, "fork": 1, "exit": 3, "fault": 5, "time": 7 }));
    let results = |file: &str, records: u64| {
        let run = ran(directory, &["run", "--trace", file, "--check", "--format", "json"]);
        let run = run.replace("a.rct.zst", "a.perf").replace("\"a.rct\"", "\"a\"");
        let mut results: Value = serde_json::from_str(&run).unwrap();
        for result in results.as_array_mut().unwrap() {
            let counts = ["os_events", "records"].map(|key| result["trace"][key].take());
            assert_eq!(counts, [records; 2].map(Value::from));
        }
        results
    };
    let of_recording = results("a.rct.zst", 9);
    assert_eq!(of_recording[0]["trace"]["copies"], 2);
    assert_eq!(of_recording, results("a.perf", 10));
    let scenario = "system = \"ddr3-1066-paper\"\npolicies = [\"baseline\"]\nseed = 1\n\
                    [workload]\nkind = \"trace\"\nfile = \"a.rct.zst\"\nformat = \"perf\"\n[allocator]\npolicies = \
                    [\"buddy\"]\n";
    fs::write(directory.join("a.toml"), scenario).unwrap();
    let screen = ran(directory, &["run", "a.toml"]);
    assert!(screen.contains("\ntrace of the format perf, "), "{screen}");
    for arguments in [&["run", "--trace", "a.rct.zst"][..], &["run", "a.rct.zst"], &["run", "--trace", "a.perf"]] {
        let screen = ran(directory, arguments);
        assert!(screen.contains("\nno IPC: only page faults were recorded, no instructions\n"), "{screen}");
    }
}

/// A loop copies 4 KiB in words of 8 bytes. In a second loop of 2 KiB, each store is followed by a load of another
/// array.
#[test]
fn a_copy_without_marks_is_found_and_marked() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let line = |kind: &str, address: u64| format!(" {kind} {address:x},8\n");
    let copy = |at: u64| {
        "I  00400000,3\n".to_owned() + &line("L", 0x10_0000 + at) + "I  00400003,4\n" + &line("S", 0x20_0000 + at)
    };
    let other = |at: u64| line("L", 0x30_0000 + at) + &line("S", 0x40_0000 + at) + &line("L", 0x50_0000 + 0x1000 * at);
    let loops: String = (0..512).map(|word| copy(8 * word)).chain((0..256).map(|word| other(8 * word))).collect();
    fs::write(directory.join("a.lackey"), loops).unwrap();
    ran(directory, &["convert", "a.lackey", "a.rct.zst"]);
    let found = ran(directory, &["trace", "find-copies", "a.rct.zst", "--write", "b.rct.zst"]);
    assert!(found.contains("\ncopies    2 (6 KiB)\n"), "{found}");
    let marks =
        "\nmarks     1 copy or fill can be marked; of 1, the accesses are not contiguous in the words of a thread\n";
    assert!(found.contains(marks), "{found}");
    ran(directory, &["trace", "verify", "b.rct.zst"]);
    let head = ran(directory, &["trace", "head", "b.rct.zst", "-n", "100000"]);
    let lines: Vec<&str> = head.lines().collect();
    assert!(lines[1].starts_with("1 1 call ") && lines[1].contains("0x200000"), "{}", lines[1]);
    assert_eq!(lines[2 + 1024], "1 1 return");
    assert_eq!(lines.len(), 1 + 1 + 1024 + 1 + 768 + 1);
    assert_eq!(ran(directory, &["trace", "head", "a.rct.zst", "-n", "2"]).lines().nth(1), Some(lines[2]));
    let run = ran(directory, &["run", "b.rct.zst", "--copies", "library", "--format", "json"]);
    let results: Value = serde_json::from_str(&run).unwrap();
    for result in results.as_array().unwrap().iter().filter(|result| result["policy"] != "baseline") {
        let copies = result["served"].as_array().unwrap().iter().filter(|row| row["operation"] == "copy");
        let copies: Vec<_> = copies.map(|row| (row["count"].clone(), row["bytes"].clone())).collect();
        assert_eq!(copies, [(1.into(), 4096.into())]);
    }
    // A marked copy is not found again.
    let again = ran(directory, &["trace", "find-copies", "b.rct.zst"]);
    assert!(
        again.contains("\ncopies    1 (2 KiB)\n") && again.contains("1 (4 KiB) copies and fills were records"),
        "{again}"
    );
}
