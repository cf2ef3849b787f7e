//! Records of each format, as its documentation defines them.

use dram_spec::{Cycle, Cycles, Topology};
use trace_io::trace::{AccessKind, Arrival, Event, Record, in_rank};

use super::{accessed, at, format, located, read, read_after, untimed, write};

#[test]
fn native_and_recorded_traces_read_as_documented() {
    let rc = b"# a comment\nR 7c025cc0 0 12\r\n\nR 7F0AAFC0 7c02 0\nC 79e9d000 1fcff000 4096 1349 # of a page\n  S \
        7a556000 255 4096 711";
    let bulk = |event| Record { arrival: Arrival::AfterInstructions(0), event };
    let expected = [
        read_after(12, 0x7c02_5cc0, None),
        read_after(0, 0x7f0a_afc0, Some(at(0x7c02))),
        bulk(Event::Copy { dst: at(0x79e9_d000), src: at(0x1fcf_f000), bytes: 4096, instructions: 1349 }),
        bulk(Event::Fill { dst: at(0x7a55_6000), value: 255, bytes: 4096, instructions: 711 }),
    ];
    assert_eq!(read(rc, None).unwrap(), expected);
    let cpu = [read_after(3, 9_618_752, None), read_after(0, 100, Some(at(200)))];
    assert_eq!(read(b"3 9618752\n0 100 200\n", None).unwrap(), cpu);
    let native = b"\n# times in clocks\nR 0x12340\n\tW\t0x000000000000000012340  @90\r\nCOPY 0x2000 0xFFff 4096 \
        @1500ns #here\nZERO 0x0 00001 @7ps";
    let expected = [
        untimed(Event::Read { address: at(0x12340), bytes: None, writeback: None }),
        timed(Arrival::AtCycle(Cycle(90)), Event::Write { address: at(0x12340), bytes: None }),
        timed(
            Arrival::AtPicoseconds(1_500_000),
            Event::Copy { dst: at(0x2000), src: at(0xffff), bytes: 4096, instructions: 0 },
        ),
        timed(Arrival::AtPicoseconds(7), Event::Fill { dst: at(0), value: 0, bytes: 1, instructions: 0 }),
    ];
    assert_eq!(read(native, None).unwrap(), expected);
}

/// Whole nanoseconds are written in nanoseconds.
#[test]
fn times_are_written_in_the_longest_unit() {
    let event = Event::Write { address: at(0x40), bytes: None };
    let text = [1_500_000, 1_500_001, 0].map(|ps| {
        let record = Record { arrival: Arrival::AtPicoseconds(ps), event };
        String::from_utf8(write(&[record], format("native"))).unwrap()
    });
    assert_eq!(text, ["W 0x40 @1500ns\n", "W 0x40 @1500001ps\n", "W 0x40 @0ns\n"]);
}

const fn timed(arrival: Arrival, event: Event) -> Record {
    Record { arrival, event }
}

#[test]
fn traces_without_times_read_as_documented() {
    let dram = [untimed(accessed(AccessKind::Read, 0x1234_5680, 0)), untimed(accessed(AccessKind::Write, 0xABC, 0))];
    assert_eq!(read(b"0x12345680 R\n 0xABC\tW # a write\n", None).unwrap(), dram);
    let loads = [untimed(accessed(AccessKind::Read, 0x12340, 0)), untimed(accessed(AccessKind::Write, 4096, 0))];
    assert_eq!(read(b"LD 0x12340\nST 4096\n", None).unwrap(), loads);
    let large = [untimed(accessed(AccessKind::Read, u64::MAX, 0)); 2];
    assert_eq!(read(b"LD 0xffffffffffffffff\nLD 18446744073709551615", None).unwrap(), large);
}

/// 35 device columns are four lines of eight columns, and three columns of eight bytes.
#[test]
fn coordinates_count_columns_of_the_device() {
    let expected = [
        untimed(located(AccessKind::Read, [0, 1, 2], 100, 4, 0)),
        untimed(located(AccessKind::Write, [0, 0, 3], 200, 4, 24)),
    ];
    assert_eq!(read(b"R 0,1,2,100,32\nW 0,0,3,200,35\n", None).unwrap(), expected);
}

/// A memory with bank groups has six coordinates. With four banks per group, bank 1 of group 2 is bank 9.
#[test]
fn the_bank_group_is_the_third_of_six_coordinates() {
    let Event::Located { access, location, .. } = located(AccessKind::Read, [0, 1, 1], 100, 4, 0) else { panic!() };
    let record = untimed(Event::Located { access, location, group: Some(2) });
    assert_eq!(read(b"R 0,1,2,1,100,32\n", None).unwrap(), [record]);
    assert_eq!(write(&[record], format("ramulator2-rw")), b"R 0,1,2,1,100,32\n");
    let of = |groups: u8, group| {
        let topology = Topology { channels: 1, ranks: 2, banks_per_rank: groups * 4, banks_per_group: 4 };
        in_rank(location, group, topology).map(|location| location.bank.bank)
    };
    assert_eq!([of(4, Some(2)), of(4, None), of(2, Some(2)), of(1, Some(0))], [Some(9), Some(1), None, None]);
}

#[test]
fn the_operations_of_dramsim3_are_reads_or_writes() {
    for (operations, access) in [
        (["READ", "read", "P_MEM_RD", "P_FETCH"], AccessKind::Read),
        (["WRITE", "write", "P_MEM_WR", "BOFF"], AccessKind::Write),
    ] {
        for operation in operations {
            let expected = [timed(Arrival::AtCycle(Cycle(30)), accessed(access, 0x2000_d5c0, 0))];
            assert_eq!(read(format!("0x2000D5C0 {operation} 30").as_bytes(), None).unwrap(), expected, "{operation}");
        }
    }
}

/// The clocks of `.stl` count from reset, those of `.rstl` from the record before.
#[test]
fn the_clocks_of_dramsys_are_absolute_or_relative() {
    let data = "a5".repeat(64);
    let text = format!(
        "# a comment\n31: read 0x400140\n81: (128) write 0x800\n81:\t(2) write 0x800 0x0011\n\
         18446744073709551615: write 0x40 0x{data}\n"
    );
    let events = [
        (31, accessed(AccessKind::Read, 0x40_0140, 0)),
        (81, accessed(AccessKind::Write, 0x800, 128)),
        (81, accessed(AccessKind::Write, 0x800, 2)),
        (u64::MAX, accessed(AccessKind::Write, 0x40, 0)),
    ];
    let absolute = events.map(|(clock, event)| timed(Arrival::AtCycle(Cycle(clock)), event));
    assert_eq!(read(text.as_bytes(), Some(format("stl"))).unwrap(), absolute);
    let relative = events.map(|(clock, event)| timed(Arrival::AfterCycles(Cycles(clock)), event));
    assert_eq!(read(text.as_bytes(), Some(format("rstl"))).unwrap(), relative);
}

/// Recorded by valgrind 3.19, with `--trace-syscalls=yes`.
#[test]
fn instructions_of_lackey_precede_the_next_access() {
    let text = b"==6573== Lackey, an example Valgrind tool\n==6573== \nI  0401ab70,3\nI  0401ab73,5\n \
        S 1fff000678,8\nSYSCALL[11584,1](56) sys_clone ( 1200011, 0x0, 0x0, 0x4a27a10, 0x0 )   clone(fork): process \
        11584 created child 11588\n --> [pre-success] Success(0x2d44) \nI  04919353,6\n M 04a2,4\n L 04a17de0,8\n\
        --6573-- a message\nI  0491,2\n==6573== Exit code:       0\n";
    let after = |instructions, event| timed(Arrival::AfterInstructions(instructions), event);
    let expected = [
        after(2, accessed(AccessKind::Write, 0x1f_ff00_0678, 8)),
        after(1, accessed(AccessKind::Read, 0x04a2, 4)),
        after(0, accessed(AccessKind::Write, 0x04a2, 4)),
        after(0, accessed(AccessKind::Read, 0x04a1_7de0, 8)),
    ];
    assert_eq!(read(text, None).unwrap(), expected);
}
