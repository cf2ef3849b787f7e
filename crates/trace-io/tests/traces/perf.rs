//! The output of `perf script`, in the form that perf 6.1 prints.

use trace_io::trace::{Arrival, Event, FaultKind, OsEvent};

use super::{at, read};

/// Time in ps since the first line, and event, of each record.
fn events(text: &str) -> Vec<(u64, OsEvent)> {
    let records = read(text.as_bytes(), None).expect("a recording");
    let event = |record: &trace_io::trace::Record| match (record.arrival, record.event) {
        (Arrival::AtPicoseconds(ps), Event::Os(event)) => (ps, event),
        other => panic!("{other:?}"),
    };
    records.iter().map(event).collect()
}

fn fault(pid: u32, address: u64, kind: FaultKind) -> OsEvent {
    OsEvent::Fault { pid, address: at(address), kind }
}

const RECORDING: &str = "\
         swapper     0 [000]     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x120bb08) @ \
         0xffffffff81000000]: x [kernel.kallsyms]_text
       perf-exec     0 [000]     0.000000: PERF_RECORD_COMM: perf-exec:8067/8067
         python3  8067 [000] 46123.288281: PERF_RECORD_COMM exec: python3:8067/8067
         python3  8067 [000] 46123.288335: PERF_RECORD_MMAP2 8067/8067: [0x5629ddecd000(0x6000) @ 0x2000 fe:00 247149 \
         0]: r-xp /usr/bin/env
         python3  8067 [000] 46123.288571: exceptions:page_fault_kernel: address=0x5629dded7424 ip=elf_load \
         error_code=0x2
         python3  8067 [000] 46123.288665:   exceptions:page_fault_user: address=0x7f1cd5daeb70 ip=0x7f1cd5daeb70 \
         error_code=0x14
         tmux: a  8067 [001] 46123.515565: PERF_RECORD_FORK(8067:8137):(8067:8067)
         python3  8137 [000] 46123.517000:   exceptions:page_fault_user: address=0x7f1cd5dc7e06 ip=0x7f1cd5daf7ad \
         error_code=0x6
         python3  8137 [000] 46123.518022: PERF_RECORD_EXIT(8067:8137):(8052:8052)
            bash  8067 [000] 46123.518643: PERF_RECORD_FORK(8138:8138):(8067:8067)
            bash  8138 [001] 46123.519000:   exceptions:page_fault_user: address=0x7f1cd5dc7e06 ip=0x7f1cd5daf7ad \
            error_code=0x7
              ls  8138 [001] 46123.521701: PERF_RECORD_COMM exec: ls:8138/8138
              ls  8138 [001] 46123.522958: PERF_RECORD_EXIT(8138:8138):(8067:8067)
";

/// Faults of a thread are those of its process. Memory maps, names of commands and threads are no
/// records.
#[test]
fn faults_forks_and_exits_are_read_with_their_times() {
    let expected = [
        (0, OsEvent::Exec { pid: 8067 }),
        (290_000_000, fault(8067, 0x5629_dded_7424, FaultKind::WriteAbsent)),
        (384_000_000, fault(8067, 0x7f1c_d5da_eb70, FaultKind::ReadAbsent)),
        (228_719_000_000, fault(8067, 0x7f1c_d5dc_7e06, FaultKind::WriteAbsent)),
        (230_362_000_000, OsEvent::Fork { parent: 8067, child: 8138 }),
        (230_719_000_000, fault(8138, 0x7f1c_d5dc_7e06, FaultKind::WriteProtected)),
        (233_420_000_000, OsEvent::Exec { pid: 8138 }),
        (234_677_000_000, OsEvent::Exit { pid: 8138 }),
    ];
    assert_eq!(events(RECORDING), expected);
}

/// Columns as `perf script --ns -F comm,pid,tid,time,event,trace` prints them.
#[test]
fn nanoseconds_and_pids_with_threads_are_read() {
    let text = "x y 8067/8070 1.000000001: exceptions:page_fault_user: address=0x10 ip=0x0 error_code=0x6\n\
                x y 8067/8070 1.000000003: exceptions:page_fault_user: address=0x20 ip=0x0 error_code=0x3\n";
    let expected =
        [(0, fault(8067, 0x10, FaultKind::WriteAbsent)), (2000, fault(8067, 0x20, FaultKind::WriteProtected))];
    assert_eq!(events(text), expected);
}

#[test]
fn error_codes_give_the_kinds_of_faults() {
    for (kind, codes) in [
        (FaultKind::WriteAbsent, &["0x6", "0x2"][..]),
        (FaultKind::ReadAbsent, &["0x4", "0x14", "0x0", "0x10"]),
        (FaultKind::WriteProtected, &["0x7", "0x3"]),
    ] {
        for code in codes {
            let text = format!("a 7 1.000000: exceptions:page_fault_user: address=0x10 ip=0x0 error_code={code}");
            assert_eq!(events(&text), [(0, fault(7, 0x10, kind))], "{code}");
        }
    }
}

/// A process ends with its last thread, whichever that is.
#[test]
fn a_process_ends_with_its_last_thread() {
    let line = |event: &str| format!("a 7 1.000000: PERF_RECORD_{event}\n");
    let fork = line("FORK(7:8):(7:7)") + &line("FORK(7:9):(7:8)");
    let [first, second, third] = ["EXIT(7:7):(1:1)", "EXIT(7:8):(1:1)", "EXIT(7:9):(1:1)"].map(line);
    let ended = [(0, OsEvent::Exit { pid: 7 })];
    for order in [[&first, &second, &third], [&third, &first, &second], [&second, &third, &first]] {
        let text = fork.clone() + &order.map(String::as_str).concat();
        assert_eq!(events(&text), ended, "{text}");
        let but_one = fork.clone() + order[0] + order[1] + &line("EXIT(6:6):(1:1)");
        assert_eq!(events(&but_one), [(0, OsEvent::Exit { pid: 6 })], "{but_one}");
    }
    // A thread whose start was not recorded does not end its process.
    assert_eq!(events(&(line("EXIT(7:8):(1:1)") + &first)), ended);
    // A number that is used again, without a recorded exit.
    let reused = first.clone() + &line("FORK(5:8):(5:5)") + &second + &line("EXIT(5:5):(1:1)");
    assert_eq!(events(&(fork + &third + &reused)), [(0, OsEvent::Exit { pid: 7 }), (0, OsEvent::Exit { pid: 5 })]);
}

/// Message and help of each malformed line.
#[test]
fn other_lines_are_refused() {
    let record = "write `line` as `<command> <pid> [<cpu>] <time>: <event>: <fields>`, as perf script prints it \
        without call graphs";
    let codes = "0x6, 0x2 (a write to an absent page), 0x4, 0x14, 0x0, 0x10 (a read or fetch of one), 0x7 or 0x3 (a \
        write to a write-protected page)";
    let names =
        "exceptions:page_fault_user, exceptions:page_fault_kernel, or PERF_RECORD_ and FORK, EXIT, COMM, MMAP or MMAP2";
    let time = "seconds with 6 or 9 decimal places, a number not below the first of the trace";
    let tasks = "`(<pid>:<thread>):(<parent>:<thread>)`, decimal numbers below 2^32";
    let operands = "`address=0x<address> ip=<ip> error_code=<code>`, a hexadecimal number below 2^64";
    let field = |key: &str, found: &str, expected: &str| {
        let number = if expected.contains("number") { ", without sign and separators" } else { "" };
        (format!("`{key}` is `{found}`, but must be {expected}"), format!("write `{key}` as {expected}{number}"))
    };
    let cases = [
        ("\t7f17 _start+0x0 (/lib/ld.so)", (format!("`line` is `7f17 _start+0x0 (/lib/ld.so)`, but must be \
            {}", record.trim_start_matches("write `line` as ")), record.to_owned())),
        ("sh 7 [001] 5.250000: 1 page-faults: 7f17 _start+0x0 (/lib/ld.so)", (
            "is a page fault without its error code, which distinguishes the first write of a page from a copy".into(),
            "record `perf record -e exceptions:page_fault_user -e exceptions:page_fault_kernel -- PROGRAM`, and print \
                it with `perf script --show-task-events`".into(),
        )),
        ("sh 7 [001] 5.250000: cycles: 7f17 _start", field("event", "cycles: 7f17 _start", names)),
        ("sh 7 [001] 5.250000: PERF_RECORD_LOST lost 9", field("event", "PERF_RECORD_LOST lost 9", names)),
        ("sh 7 [001] 5.250000: exceptions:page_fault_user: address=0x10 ip=0x0 \
            error_code=0x5", field("error_code", "0x5", codes)),
        ("sh 7 [001] 5.250000: exceptions:page_fault_user: address=0x10 ip=0x0", field("fault", "address=0x10 \
            ip=0x0", operands)),
        ("sh 7 [001] 5.250000: exceptions:page_fault_user: address=10 error_code=0x6", field("fault", "address=10 \
            error_code=0x6", operands)),
        ("sh 7x [001] 5.250000: exceptions:page_fault_user: address=0x10 ip=0x0 error_code=0x6", field("pid", "7x", "a \
            decimal number below 2^32, or two with a slash between them")),
        ("sh 7 [001] 5.25: exceptions:page_fault_user: address=0x10 ip=0x0 \
            error_code=0x6", field("time", "5.25", time)),
        ("sh 7 [001] 4.250000: exceptions:page_fault_user: address=0x10 ip=0x0 \
            error_code=0x6", field("time", "4.250000", time)),
        ("sh 7 [001] 18446750.000000: exceptions:page_fault_user: address=0x10 ip=0x0 \
            error_code=0x6", field("time", "18446750.000000", time)),
        ("sh 7 [001] 5.250000: PERF_RECORD_FORK(8:8)", field("fork", "(8:8)", tasks)),
        ("sh 7 [001] 5.250000: PERF_RECORD_EXIT(8:8):(7)", field("exit", "(8:8):(7)", tasks)),
        ("sh 7 [001] 5.250000: PERF_RECORD_COMM exec: sh", field("pid", "sh", "a decimal number below 2^32, or two \
            with a slash between them")),
    ];
    for (line, (message, help)) in cases {
        let text = format!("a 7 5.000000: PERF_RECORD_EXIT(9:9):(1:1)\n{line}\n");
        let error = read(text.as_bytes(), None).unwrap_err();
        assert_eq!((error.to_string(), error.help().to_owned()), (format!("line 2: {message}"), help), "{line}");
    }
}

#[test]
fn the_number_of_threads_is_bounded() {
    let threads = |count: u32| -> String {
        let lines: Vec<String> =
            (8..8 + count).map(|thread| format!("a 7 1.000000: PERF_RECORD_FORK(7:{thread}):(7:7)\n")).collect();
        lines.concat()
    };
    let end = "a 7 1.000000: PERF_RECORD_EXIT(6:6):(1:1)\n";
    assert_eq!(events(&(threads(1 << 16) + end)).len(), 1);
    let error = read(threads((1 << 16) + 1).as_bytes(), None).unwrap_err();
    assert_eq!(error.to_string(), "line 65537: starts more than 65536 threads at a time");
}
