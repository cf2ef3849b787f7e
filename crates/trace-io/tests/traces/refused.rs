//! Records that a format cannot express.

use dram_spec::{Cycle, Cycles};
use trace_io::ErrorKind;
use trace_io::trace::{AccessKind, Arrival, Event, OsEvent, Record, TraceWriter};

use super::{accessed, at, format, located, read_after, untimed};

#[test]
fn a_record_that_a_format_cannot_express_is_refused_and_writes_no_line() {
    let write = accessed(AccessKind::Write, 1, 0);
    let sized = accessed(AccessKind::Read, 1, 8);
    let placed = located(AccessKind::Read, [0; 3], 1, 1, 4);
    let os = Event::Os(OsEvent::Exit { pid: 7 });
    let at_cycle = |event| Record { arrival: Arrival::AtCycle(Cycle(5)), event };
    let copy = |instructions, bytes| Event::Copy { dst: at(1), src: at(2), bytes, instructions };
    let recorded = |event| Record { arrival: Arrival::AfterInstructions(0), event };
    let fill = |value| Event::Fill { dst: at(1), value, bytes: 64, instructions: 0 };
    let cases = [
        ("rc", read_after(0, 1, Some(at(0))), "a writeback of address 0"),
        ("rc", recorded(write), "a write"),
        ("rc", untimed(copy(0, 64)), "a record without an arrival"),
        (
            "rc",
            Record { arrival: Arrival::AfterInstructions(5), event: copy(0, 64) },
            "instructions before a copy or fill",
        ),
        ("cpu", recorded(copy(0, 64)), "a copy"),
        ("cpu", recorded(sized), "an access with a size"),
        ("native", read_after(5, 1, None), "an arrival by instructions"),
        ("native", untimed(copy(5, 64)), "the instructions of a copy or fill"),
        ("native", untimed(fill(1)), "a fill with another value than 0"),
        (
            "native",
            Record { arrival: Arrival::AfterCycles(Cycles(5)), event: write },
            "an arrival relative to the record before",
        ),
        ("native", untimed(os), "an event of the operating system"),
        ("ramulator-dram", at_cycle(write), "an arrival at a cycle"),
        ("ramulator-dram", untimed(sized), "an access with a size"),
        ("ramulator2-ls", untimed(fill(0)), "a fill"),
        ("ramulator2-ls", untimed(placed), "an access by DRAM coordinates"),
        ("ramulator2-ls", untimed(read_after(0, 1, Some(at(2))).event), "a read with its writeback"),
        ("ramulator2-rw", untimed(write), "a write"),
        ("ramulator2-rw", untimed(placed), "a byte within a column"),
        ("dramsim3", untimed(write), "a record without an arrival"),
        ("dramsim3", at_cycle(sized), "an access with a size"),
        ("stl", Record { arrival: Arrival::AtPicoseconds(5), event: write }, "an arrival at a time"),
        ("stl", at_cycle(copy(0, 64)), "a copy"),
        ("rstl", at_cycle(write), "an arrival at a cycle"),
        ("lackey", recorded(write), "an access without a size"),
        (
            "lackey",
            Record { arrival: Arrival::AfterInstructions(65537), event: sized },
            "more than 65536 instructions before an access",
        ),
        ("perf", Record { arrival: Arrival::AtPicoseconds(0), event: os }, "a trace"),
    ];
    for (name, record, what) in cases {
        let mut writer = TraceWriter::new(Vec::new(), format(name));
        let error = writer.write_record(&record).unwrap_err();
        assert_eq!(error.to_string(), format!("{what} cannot be written in the format `{name}`"));
        assert!(matches!(error.kind(), ErrorKind::Unsupported) && error.help().contains("write another format"));
        assert!(writer.into_inner().is_empty());
    }
}

#[test]
fn an_invalid_record_is_refused() {
    let mut writer = TraceWriter::new(Vec::new(), format("native"));
    let copy = Event::Copy { dst: at(1), src: at(2), bytes: 0, instructions: 0 };
    let error = writer.write_record(&untimed(copy)).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.help()),
        ("`bytes` is 0", "give at least 1, or leave the record out")
    );
    assert!(writer.into_inner().is_empty());
}
