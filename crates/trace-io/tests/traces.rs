//! Properties of the trace formats.

use std::io::{self, Read, Write};

use dram_spec::Cycle;
use dram_spec::address::PhysicalAddress;
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use trace_io::trace::{Arrival, Event, FORMATS, Format, Reader, Record, TraceError, WriteError, Writer};

fn format(name: &str) -> &'static Format {
    Format::named(name).expect("a format")
}

fn read(input: &[u8], format: Option<&'static Format>) -> Result<Vec<Record>, TraceError> {
    Reader::new(input, format)?.collect()
}

fn write(records: &[Record], format: &'static Format) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format);
    for record in records {
        writer.write_record(record).expect("a vector takes all, and the format these records");
    }
    writer.into_inner()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

fn zstd(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

const fn at(address: u64) -> PhysicalAddress {
    PhysicalAddress(address)
}

/// A read of a program with preceding instructions.
const fn read_after(instructions: u64, address: u64, writeback: Option<PhysicalAddress>) -> Record {
    let event = Event::Read { address: at(address), writeback };
    Record { arrival: Arrival::AfterInstructions(instructions), event }
}

const fn untimed(event: Event) -> Record {
    Record { arrival: Arrival::WhenTaken, event }
}

/// A number with any number of digits.
fn arb_number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift)
}

/// Two starts, and a size with which neither range ends beyond 2^64 - 1.
fn arb_range() -> impl Strategy<Value = (u64, u64, u64)> {
    (arb_number(), arb_number(), arb_number())
        .prop_map(|(a, b, length)| (a, b, 1 + length % (u64::MAX - a.max(b)).max(1)))
}

fn arb_access(least_writeback: u64) -> impl Strategy<Value = Record> {
    let writeback = prop::option::of(arb_number().prop_map(move |address| at(address.max(least_writeback))));
    (arb_number(), writeback, arb_number())
        .prop_map(|(address, writeback, before)| read_after(before, address, writeback))
}

fn arb_rc() -> impl Strategy<Value = Record> {
    let bulk = |event| Record { arrival: Arrival::AfterInstructions(0), event };
    prop_oneof![
        arb_access(1),
        (arb_range(), arb_number()).prop_map(move |((dst, src, bytes), instructions)| {
            bulk(Event::Copy { dst: at(dst), src: at(src), bytes, instructions })
        }),
        (arb_range(), any::<u8>(), arb_number()).prop_map(move |((dst, _, bytes), value, instructions)| {
            bulk(Event::Fill { dst: at(dst), value, bytes, instructions })
        }),
    ]
}

fn arb_native() -> impl Strategy<Value = Record> {
    let arrival = prop_oneof![
        Just(Arrival::WhenTaken),
        arb_number().prop_map(|clocks| Arrival::AtCycle(Cycle(clocks))),
        arb_number().prop_map(Arrival::AtPicoseconds),
        (0..u64::MAX / 1000).prop_map(|ns| Arrival::AtPicoseconds(ns * 1000)),
    ];
    let event = (arb_range(), 0..4).prop_map(|((dst, src, bytes), kind)| match kind {
        0 => Event::Read { address: at(dst), writeback: None },
        1 => Event::Write { address: at(dst) },
        2 => Event::Copy { dst: at(dst), src: at(src), bytes, instructions: 0 },
        _ => Event::Fill { dst: at(dst), value: 0, bytes, instructions: 0 },
    });
    (arrival, event).prop_map(|(arrival, event)| Record { arrival, event })
}

/// Records that a format can express without loss.
fn arb_trace() -> impl Strategy<Value = (&'static Format, Vec<Record>)> {
    let of = |name, record: BoxedStrategy<Record>| {
        prop::collection::vec(record, 1..20).prop_map(move |records| (format(name), records))
    };
    prop_oneof![of("native", arb_native().boxed()), of("rc", arb_rc().boxed()), of("cpu", arb_access(0).boxed())]
}

/// Bytes closer to a trace than arbitrary ones.
fn arb_near_trace() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "R", "C", "S", "W", "COPY", "ZERO", "0", " ", "\n", "\r\n", "\t", "x", "\u{0}", "#", "0x", "@", "ns", "ps",
    ]);
    let token = prop_oneof![
        word.prop_map(str::to_owned),
        arb_number().prop_map(|number| format!("{number:x} ")),
        arb_number().prop_map(|number| format!("{number} ")),
        arb_number().prop_map(|number| format!(" {number:#x}")),
        arb_rc().prop_map(|record| String::from_utf8(write(&[record], format("rc"))).expect("text")),
        arb_native().prop_map(|record| String::from_utf8(write(&[record], format("native"))).expect("text")),
    ];
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat().into_bytes())
}

fn arb_format() -> impl Strategy<Value = Option<&'static Format>> {
    prop::option::of(prop::sample::select(&FORMATS[..]))
}

/// Reads to the end; returns the number of items.
fn items(input: impl Read, format: Option<&'static Format>) -> usize {
    let Ok(mut reader) = Reader::new(input, format) else { return 1 };
    let items = reader.by_ref().count();
    assert!(reader.next().is_none(), "what has ended stays ended");
    items
}

proptest! {
    #[test]
    fn records_are_written_and_read_as_themselves((format, records) in arb_trace()) {
        let text = write(&records, format);
        for packed in [text.clone(), gzip(&text), zstd(&text)] {
            prop_assert_eq!(read(&packed, None).unwrap(), records.clone(), "the format is recognised");
            prop_assert_eq!(read(&packed, Some(format)).unwrap(), records.clone());
        }
    }

    /// At most one item per line, and one for the final error.
    #[test]
    fn any_bytes_give_records_or_an_error_and_end(
        input in prop_oneof![prop::collection::vec(any::<u8>(), 0..200), arb_near_trace()],
        format in arb_format(),
    ) {
        let lines = input.split(|&byte| byte == b'\n').count();
        prop_assert!(items(&input[..], format) <= lines + 1);
        prop_assert!(items(&gzip(&input)[..], format) <= lines + 1);
        prop_assert!(items(&zstd(&input)[..], format) <= lines + 1);
        if let Err(error) = read(&input, format) {
            prop_assert!((1..=lines as u64).contains(&error.line()), "{error}");
            prop_assert!(!error.help().is_empty());
        }
    }

    /// A flipped bit anywhere in a gzip trace is an error, or is in one of the few meaningless bits
    /// (time stamp, padding after the last block): no wrong record is returned.
    #[test]
    fn damaged_gzip_is_an_error_or_reads_equal(
        records in prop::collection::vec(arb_rc(), 1..20),
        place: prop::sample::Index,
        bit in 0..8_u32,
    ) {
        let mut packed = gzip(&write(&records, format("rc")));
        let place = place.index(packed.len());
        packed[place] ^= 1 << bit;
        if let Ok(read) = read(&packed, None) {
            let trailer = packed.len() - 8; // checksum and length
            prop_assert!(place < trailer, "byte {place} of {} went unnoticed", packed.len());
            prop_assert_eq!(read, records);
        }
    }

    /// Zstandard's checksum is optional: damage may go undetected, but the result is a trace or an
    /// error.
    #[test]
    fn damaged_zstd_never_panics(
        records in prop::collection::vec(arb_rc(), 1..200),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut packed = zstd(&write(&records, format("rc")));
        for (place, byte) in places {
            let place = place.index(packed.len());
            packed[place] = byte;
        }
        items(&packed[..], None);
    }
}

#[test]
fn every_format_reads_as_documented() {
    let rc = b"# a comment\nR 7c025cc0 0 12\r\n\nR 7F0AAFC0 7c02 0\nC 79e9d000 1fcff000 4096 1349 # of a page\n  S 7a556000 255 4096 711";
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
    let native = b"\n# times in clocks\nR 0x12340\n\tW\t0x000000000000000012340  @90\r\nCOPY 0x2000 0xFFff 4096 @1500ns #here\nZERO 0x0 00001 @7ps";
    let timed = |arrival, event| Record { arrival, event };
    let expected = [
        untimed(Event::Read { address: at(0x12340), writeback: None }),
        timed(Arrival::AtCycle(Cycle(90)), Event::Write { address: at(0x12340) }),
        timed(
            Arrival::AtPicoseconds(1_500_000),
            Event::Copy { dst: at(0x2000), src: at(0xffff), bytes: 4096, instructions: 0 },
        ),
        timed(Arrival::AtPicoseconds(7), Event::Fill { dst: at(0), value: 0, bytes: 1, instructions: 0 }),
    ];
    assert_eq!(read(native, None).unwrap(), expected);
    for (example, format) in FORMATS.map(|format| (format.example, format)) {
        assert_eq!(Reader::new(example.as_bytes(), None).unwrap().format(), format, "{example}");
    }
}

/// Whole nanoseconds are written in nanoseconds.
#[test]
fn times_are_written_in_the_longest_unit() {
    let event = Event::Write { address: at(0x40) };
    let text = [1_500_000, 1_500_001, 0].map(|ps| {
        let record = Record { arrival: Arrival::AtPicoseconds(ps), event };
        String::from_utf8(write(&[record], format("native"))).unwrap()
    });
    assert_eq!(text, ["W 0x40 @1500ns\n", "W 0x40 @1500001ps\n", "W 0x40 @0ns\n"]);
}

/// The documentation of the formats shows valid traces, one of each format.
#[test]
fn the_documentation_of_formats_shows_valid_traces() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut shown: Vec<&str> = Vec::new();
    for block in blocks.filter(|block| !block.starts_with("record") && !block.contains("command log")) {
        let reader = Reader::new(block.as_bytes(), None).unwrap_or_else(|error| panic!("{error}"));
        shown.push(reader.format().name);
        assert!(reader.map(Result::unwrap).count() > 1);
    }
    assert_eq!(shown, FORMATS.map(|format| format.name));
}

/// input, format, message, help
#[rustfmt::skip]
const MALFORMED: &[(&str, Option<&str>, &str, &str)] = &[
    ("", None, "the trace holds no record", "give a trace of at least one record; docs/formats.md says what a record is"),
    ("\n \n# nothing\n", Some("rc"), "the trace holds no record", "give a trace of at least one record; docs/formats.md says what a record is"),
    ("hello world\n", None, "line 1: `hello world` is a record of no trace format",
     "give a trace in one of the formats native (`R 0x7c025cc0 @1500`), rc (`R 7c025cc0 0 5`), cpu (`5 2080529600`), plain, gzip or zstd; see docs/formats.md"),
    ("\n#\n0x10 5\n", None, "line 3: `0x10 5` is a record of no trace format",
     "give a trace in one of the formats native (`R 0x7c025cc0 @1500`), rc (`R 7c025cc0 0 5`), cpu (`5 2080529600`), plain, gzip or zstd; see docs/formats.md"),
    ("R 1 0 0\nX 1 0 0\n", None, "line 2: begins with `X`, but must begin with R, C or S",
     "correct the line, or leave it out; docs/formats.md has the grammar"),
    ("R 0x1 @5\nr 0x1\n", None, "line 2: begins with `r`, but must begin with R, W, COPY or ZERO",
     "correct the line, or leave it out; docs/formats.md has the grammar"),
    ("R 1 0 0\nW 0x1\n", None, "line 2: begins with `W`, but must begin with R, C or S",
     "this is a record of another format: read the whole trace as that (`format = \"native\"`)"),
    ("1 2\n", Some("rc"), "line 1: begins with `1`, but must begin with R, C or S",
     "this is a record of another format: read the whole trace as that (`format = \"cpu\"`)"),
    ("R 1 0 0\n", Some("cpu"), "line 1: `instructions` is `R`, but must be a decimal number below 2^64",
     "this is a record of another format: read the whole trace as that (`format = \"rc\"`)"),
    ("R 7c02\n", Some("native"), "line 1: `address` is `7c02`, but must be `0x` and a hexadecimal number below 2^64",
     "this is a record of another format: read the whole trace as that (`format = \"rc\"`)"),
    ("R 1 0\n", None, "line 1: has 3 fields, but must be `R <read> <writeback, 0 = none> <instructions>`",
     "separate by blanks just these: R <read> <writeback, 0 = none> <instructions>"),
    ("C 1 2 64 0 0\n", None, "line 1: has 6 fields, but must be `C <destination> <source> <bytes> <instructions>`",
     "separate by blanks just these: C <destination> <source> <bytes> <instructions>"),
    ("S 1 0 64\n", None, "line 1: has 4 fields, but must be `S <destination> <value> <bytes> <instructions>`",
     "separate by blanks just these: S <destination> <value> <bytes> <instructions>"),
    ("1\n", None, "line 1: has 1 fields, but must be `<instructions> <read> [<writeback>]`",
     "separate by blanks just these: <instructions> <read> [<writeback>]"),
    ("1 2 3 4\n", None, "line 1: has 4 fields, but must be `<instructions> <read> [<writeback>]`",
     "separate by blanks just these: <instructions> <read> [<writeback>]"),
    ("R 0x7c 0 0\n", Some("rc"), "line 1: `read` is `0x7c`, but must be a hexadecimal number below 2^64",
     "this is a record of another format: read the whole trace as that (`format = \"native\"`)"),
    ("R 1 10000000000000000 0\n", None, "line 1: `writeback` is `10000000000000000`, but must be a hexadecimal number below 2^64",
     "write `writeback` as a hexadecimal number below 2^64, without sign and separators"),
    ("R 1 0 -1\n", None, "line 1: `instructions` is `-1`, but must be a decimal number below 2^64",
     "write `instructions` as a decimal number below 2^64, without sign and separators"),
    ("R 1 0 0\rR 1 0 0\n", None, "line 1: has 8 fields, but must be `R <read> <writeback, 0 = none> <instructions>`",
     "separate by blanks just these: R <read> <writeback, 0 = none> <instructions>"),
    ("S 1 256 64 0\n", None, "line 1: `value` is `256`, but must be a decimal number from 0 to 255",
     "write `value` as a decimal number from 0 to 255, without sign and separators"),
    ("5 7c02\n", None, "line 1: `read` is `7c02`, but must be a decimal number below 2^64",
     "write `read` as a decimal number below 2^64, without sign and separators"),
    ("5 18446744073709551616\n", None, "line 1: `read` is `18446744073709551616`, but must be a decimal number below 2^64",
     "write `read` as a decimal number below 2^64, without sign and separators"),
    ("R 0x1000 64\n", None, "line 1: `time` is `64`, but must be `@` and a decimal number below 2^64, of clocks, or with `ns` or `ps` behind it",
     "write `time` as `@` and a decimal number below 2^64, of clocks, or with `ns` or `ps` behind it, without sign and separators"),
    ("R 0x1000 @1.5ns\n", None, "line 1: `time` is `@1.5ns`, but must be `@` and a decimal number below 2^64, of clocks, or with `ns` or `ps` behind it",
     "write `time` as `@` and a decimal number below 2^64, of clocks, or with `ns` or `ps` behind it, without sign and separators"),
    ("R 0x1000 @18446744073709551616\n", None, "line 1: `time` is `@18446744073709551616`, but must be `@` and a decimal number below 2^64, of clocks, or with `ns` or `ps` behind it",
     "write `time` as `@` and a decimal number below 2^64, of clocks, or with `ns` or `ps` behind it, without sign and separators"),
    ("W 0x1000 @5 @6\n", None, "line 1: has 4 fields, but must be `W <address> [<time>]`",
     "separate by blanks just these: W <address> [<time>]"),
    ("COPY 0x1000 0x2000 # bytes\n", None, "line 1: has 3 fields, but must be `COPY <dst> <src> <bytes> [<time>]`",
     "separate by blanks just these: COPY <dst> <src> <bytes> [<time>]"),
    ("ZERO 0x 4096\n", None, "line 1: `address` is `0x`, but must be `0x` and a hexadecimal number below 2^64",
     "write `address` as `0x` and a hexadecimal number below 2^64, without sign and separators"),
    ("C 1 2 0 0\n", None, "line 1: `bytes` is 0", "give at least 1, or leave the record out"),
    ("ZERO 0x1000 0\n", None, "line 1: `bytes` is 0", "give at least 1, or leave the record out"),
    ("C 0 ffffffffffffffc0 65 0\n", None,
     "line 1: 65 bytes from source ffffffffffffffc0 on run past the last address, ffffffffffffffff",
     "give at most the 64 bytes that are left there"),
    ("ZERO 0xffffffffffffffc0 65\n", None,
     "line 1: 65 bytes from destination ffffffffffffffc0 on run past the last address, ffffffffffffffff",
     "give at most the 64 bytes that are left there"),
];

#[test]
fn a_malformed_line_is_named_with_what_was_found_and_what_would_work() {
    for (input, name, message, help) in MALFORMED {
        let error = read(input.as_bytes(), name.map(format)).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.help().as_str()), (*message, *help), "{input:?}");
        let line = message.strip_prefix("line ").map_or_else(
            || input.lines().count().max(1).to_string(),
            |rest| rest.split(':').next().unwrap().to_owned(),
        );
        assert_eq!(error.line().to_string(), line, "{input:?}");
    }
    // 64 bytes up to the last address are valid.
    assert_eq!(read(b"C 0 ffffffffffffffc0 64 0\n", None).unwrap().len(), 1);
}

/// Initial inputs of the fuzzers: traces, and lines similar to records.
#[test]
fn the_seeds_of_the_fuzzers_are_read_or_refused() {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let (mut sound, mut refused) = (0, 0);
    for folder in ["trace", "native"] {
        for file in std::fs::read_dir(seeds.join(folder)).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            for format in FORMATS.into_iter().map(Some).chain([None]) {
                items(&bytes[..], format);
            }
            if read(&bytes, None).is_ok() { sound += 1 } else { refused += 1 }
        }
    }
    assert!(sound >= 6 && refused >= 3, "{sound} traces, {refused} that are none");
}

#[test]
fn a_line_without_end_is_an_error_and_not_unbounded_memory() {
    let endless = io::Cursor::new("R 1 0 0\nR ").chain(io::repeat(b'1'));
    let error = Reader::new(endless, None).unwrap().find_map(Result::err).unwrap();
    assert_eq!((error.to_string().as_str(), error.line()), ("line 2: longer than 65536 bytes", 2));
    // As blanks and in a comment, 64 KiB are accepted, and one byte more is not.
    for (bytes, sound) in [(1 << 16, true), ((1 << 16) + 1, false)] {
        let padded = format!("R 1 0 0\nR 1 0 0{}\nR 1 0 0\n", " ".repeat(bytes - 7));
        let comment = format!("R 1 0 0\n#{}\nR 1 0 0\n", "x".repeat(bytes - 1));
        assert_eq!(read(padded.as_bytes(), None).is_ok(), sound);
        assert_eq!(read(comment.as_bytes(), None).is_ok(), sound);
    }
}

#[test]
fn gzip_that_is_cut_short_gives_its_records_and_then_names_the_line_reached() {
    let records: Vec<Record> =
        (0..20_000_u64).map(|i| read_after(i, i.wrapping_mul(0x9e37_79b9_7f4a_7c15), None)).collect();
    let packed = gzip(&write(&records, format("rc")));
    let mut reader = Reader::new(&packed[..packed.len() / 2], None).unwrap();
    let read: Vec<Record> = reader.by_ref().map_while(Result::ok).collect();
    assert!(read.len() > 1000 && records.starts_with(&read), "{} records", read.len());
    assert!(reader.next().is_none(), "it ended with the error");

    let error = Reader::new(&packed[..packed.len() / 2], None).unwrap().find_map(Result::err).unwrap();
    let line = format!("line {}: the input cannot be read any further: ", read.len() + 1);
    assert!(error.to_string().starts_with(&line), "{error}");
    assert_eq!(
        error.help(),
        "the compressed file is cut short or damaged: test it with `gzip -t` or `zstd -t`, and fetch it again"
    );
}

#[test]
fn an_input_that_fails_is_an_error_once() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is on fire"))
        }
    }
    let reader = Reader::new(io::Cursor::new("1 2\n3 4\n").chain(Broken), None).unwrap();
    let items: Vec<_> =
        reader.map(|item| item.map_err(|error| (error.to_string(), error.help(), error.line()))).collect();
    let message = "line 3: the input cannot be read any further: the disk is on fire".to_owned();
    let help = "check the disk or the pipe that the input comes from".to_owned();
    assert_eq!(items.len(), 3);
    assert_eq!(items[2], Err((message, help, 3)));
}

#[test]
fn an_output_that_fails_is_an_error_of_the_writer() {
    let mut room = [0; 3];
    let error = Writer::new(&mut room[..], format("cpu")).write_record(&read_after(1, 2, None)).unwrap_err();
    assert!(error.to_string().starts_with("the trace cannot be written: "), "{error}");
    assert_eq!(error.help(), "check that the output exists, may be written to, and has room");
}

#[test]
fn the_line_is_that_of_the_record_returned_last() {
    let mut reader = Reader::new(&b"\n# comment\n1 2\n\n3 4\n"[..], None).unwrap();
    let lines: Vec<u64> =
        std::iter::from_fn(|| reader.next().map(|record| record.map(|_| reader.line()).unwrap())).collect();
    assert_eq!(lines, [3, 5]);
}

#[test]
fn a_record_that_a_format_cannot_express_is_refused_and_writes_no_line() {
    let write = Event::Write { address: at(1) };
    let copy = |instructions, bytes| Event::Copy { dst: at(1), src: at(2), bytes, instructions };
    let recorded = |event| Record { arrival: Arrival::AfterInstructions(0), event };
    let cases = [
        ("rc", read_after(0, 1, Some(at(0))), "a writeback of address 0 cannot be written in the format `rc`"),
        ("rc", recorded(write), "a write without a read cannot be written in the format `rc`"),
        ("rc", untimed(copy(0, 64)), "an arrival at a time cannot be written in the format `rc`"),
        ("rc", recorded(copy(0, 0)), "`bytes` is 0"),
        ("cpu", recorded(copy(0, 64)), "anything but a read with its writeback cannot be written in the format `cpu`"),
        ("native", read_after(5, 1, None), "an arrival by instructions cannot be written in the format `native`"),
        ("native", untimed(copy(5, 64)), "what a copy or fill costs a CPU cannot be written in the format `native`"),
        (
            "native",
            untimed(Event::Fill { dst: at(1), value: 1, bytes: 64, instructions: 0 }),
            "a fill with another value than 0 cannot be written in the format `native`",
        ),
    ];
    for (name, record, message) in cases {
        let mut writer = Writer::new(Vec::new(), format(name));
        let error = writer.write_record(&record).unwrap_err();
        let help = match &error {
            WriteError::Record(_) => "give at least 1, or leave the record out",
            WriteError::NotInFormat { .. } => {
                "write the trace in another format: docs/formats.md says what each can express"
            }
            WriteError::Output(_) => unreachable!("a vector takes all"),
        };
        assert_eq!((error.to_string().as_str(), error.help().as_str()), (message, help));
        assert!(writer.into_inner().is_empty());
    }
}
