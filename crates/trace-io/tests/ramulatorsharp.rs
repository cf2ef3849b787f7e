//! The laws of the trace formats.

use std::io::{self, Read, Write};

use dram_spec::address::PhysicalAddress;
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use trace_io::ramulatorsharp::{Format, Reader, Record, TraceError, Writer};

fn read(input: &[u8], format: Option<Format>) -> Result<Vec<Record>, TraceError> {
    Reader::new(input, format)?.collect()
}

fn write(records: &[Record], format: Format) -> Vec<u8> {
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

const fn at(address: u64) -> PhysicalAddress {
    PhysicalAddress(address)
}

/// A number of any length in digits.
fn arb_number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift)
}

fn arb_access(least_writeback: u64) -> impl Strategy<Value = Record> {
    let writeback = prop::option::of(arb_number().prop_map(move |address| at(address.max(least_writeback))));
    (arb_number(), writeback, arb_number()).prop_map(|(read, writeback, instructions)| Record::Access {
        read: at(read),
        writeback,
        instructions,
    })
}

fn arb_record() -> impl Strategy<Value = Record> {
    // One byte up to what is left above the higher of the two starts.
    let bytes = |start: u64, length: u64| 1 + length % (u64::MAX - start).max(1);
    prop_oneof![
        arb_access(1),
        (arb_number(), arb_number(), arb_number(), arb_number()).prop_map(move |(dst, src, length, instructions)| {
            Record::Copy { dst: at(dst), src: at(src), bytes: bytes(dst.max(src), length), instructions }
        }),
        (arb_number(), any::<u8>(), arb_number(), arb_number()).prop_map(move |(dst, value, length, instructions)| {
            Record::Fill { dst: at(dst), value, bytes: bytes(dst, length), instructions }
        }),
    ]
}

/// Bytes that come nearer to a trace than arbitrary ones do.
fn arb_near_trace() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        Just("R".to_owned()),
        Just("C".into()),
        Just("S".into()),
        Just("0".into()),
        Just(" ".into()),
        Just("\n".into()),
        Just("\r\n".into()),
        Just("\t".into()),
        Just("x".into()),
        Just("\u{0}".into()),
        arb_number().prop_map(|number| format!("{number:x} ")),
        arb_number().prop_map(|number| format!("{number} ")),
        arb_record().prop_map(|record| String::from_utf8(write(&[record], Format::Rc)).expect("text")),
    ];
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat().into_bytes())
}

/// Reads until the reader has nothing more, and tells after how many items that was.
fn items(input: impl Read, format: Option<Format>) -> usize {
    let Ok(mut reader) = Reader::new(input, format) else { return 1 };
    let items = reader.by_ref().count();
    assert!(reader.next().is_none(), "what has ended stays ended");
    items
}

proptest! {
    /// The R/C/S format can say every sensible record but a writeback of address 0.
    #[test]
    fn records_are_written_and_read_as_themselves(records in prop::collection::vec(arb_record(), 0..20)) {
        let text = write(&records, Format::Rc);
        prop_assert_eq!(read(&text, None).unwrap(), records.clone());
        prop_assert_eq!(read(&text, Some(Format::Rc)).unwrap(), records.clone());
        prop_assert_eq!(read(&gzip(&text), None).unwrap(), records, "gzip");
    }

    #[test]
    fn accesses_are_written_and_read_as_themselves_in_the_decimal_format(
        records in prop::collection::vec(arb_access(0), 0..20),
    ) {
        let text = write(&records, Format::Cpu);
        prop_assert_eq!(read(&text, None).unwrap(), records.clone());
        prop_assert_eq!(read(&gzip(&text), Some(Format::Cpu)).unwrap(), records);
    }

    /// At most one item a line, and one for the error that ends it.
    #[test]
    fn any_bytes_give_records_or_an_error_and_end(
        input in prop_oneof![prop::collection::vec(any::<u8>(), 0..200), arb_near_trace()],
        format in prop_oneof![Just(None), Just(Some(Format::Rc)), Just(Some(Format::Cpu))],
    ) {
        let lines = input.split(|&byte| byte == b'\n').count();
        prop_assert!(items(&input[..], format) <= lines);
        prop_assert!(items(&gzip(&input)[..], format) <= lines + 1);
        if let Err(error) = read(&input, format) {
            prop_assert!((1..=lines as u64).contains(&error.line()), "{error}");
            prop_assert!(!error.help().is_empty());
        }
    }

    /// A flipped bit anywhere in a compressed trace is an error, or one of the few bits that mean nothing (time stamp,
    /// padding after the last block): wrong records never pass for right ones.
    #[test]
    fn damaged_gzip_is_an_error_or_reads_the_same(
        records in prop::collection::vec(arb_record(), 1..20),
        place: prop::sample::Index,
        bit in 0..8_u32,
    ) {
        let mut packed = gzip(&write(&records, Format::Rc));
        let place = place.index(packed.len());
        packed[place] ^= 1 << bit;
        if let Ok(read) = read(&packed, None) {
            let trailer = packed.len() - 8; // checksum and length
            prop_assert!(place < trailer, "byte {place} of {} went unnoticed", packed.len());
            prop_assert_eq!(read, records);
        }
    }
}

#[test]
fn both_formats_read_as_their_readme_says() {
    let rc = b"R 7c025cc0 0 12\r\n\nR 7F0AAFC0 7c02 0\nC 79e9d000 1fcff000 4096 1349\n  S 7a556000 255 4096 711";
    let expected = [
        Record::Access { read: at(0x7c02_5cc0), writeback: None, instructions: 12 },
        Record::Access { read: at(0x7f0a_afc0), writeback: Some(at(0x7c02)), instructions: 0 },
        Record::Copy { dst: at(0x79e9_d000), src: at(0x1fcf_f000), bytes: 4096, instructions: 1349 },
        Record::Fill { dst: at(0x7a55_6000), value: 255, bytes: 4096, instructions: 711 },
    ];
    assert_eq!(read(rc, None).unwrap(), expected);
    let cpu = [
        Record::Access { read: at(9_618_752), writeback: None, instructions: 3 },
        Record::Access { read: at(100), writeback: Some(at(200)), instructions: 0 },
    ];
    assert_eq!(read(b"3 9618752\n0 100 200\n", None).unwrap(), cpu);
    assert_eq!(read(b"\n\n", None).unwrap(), []);
}

/// input, format, message, help
#[rustfmt::skip]
const MALFORMED: &[(&str, Option<Format>, &str, &str)] = &[
    ("# hello\n", None, "line 1: begins with `#`, but a trace begins with R, C, S or a decimal number",
     "give a RamulatorSharp trace, plain or gzip: lines like `R 7c025cc0 0 5` or `5 2080529600`"),
    ("\n0x10 5\n", None, "line 2: begins with `0x10`, but a trace begins with R, C, S or a decimal number",
     "give a RamulatorSharp trace, plain or gzip: lines like `R 7c025cc0 0 5` or `5 2080529600`"),
    ("R 1 0 0\nW 1 0 0\n", None, "line 2: begins with `W`, but must begin with R, C or S",
     "correct the line, or leave it out: R is an access, C a copy, S a fill"),
    ("1 2\n", Some(Format::Rc), "line 1: begins with `1`, but must begin with R, C or S",
     "lines that begin with a number are of the all-decimal format: read the trace as that (`format = \"cpu\"`)"),
    ("R 1 0 0\n", Some(Format::Cpu), "line 1: `instructions` is `R`, but must be a decimal number below 2^64",
     "lines that begin with a letter are of the R/C/S format: read the trace as that (`format = \"rc\"`)"),
    ("R 1 0\n", None, "line 1: has 3 fields, but must be `R <read> <writeback, 0 = none> <instructions>`",
     "separate by spaces just these: R <read> <writeback, 0 = none> <instructions>"),
    ("C 1 2 64 0 0\n", None, "line 1: has 6 fields, but must be `C <destination> <source> <bytes> <instructions>`",
     "separate by spaces just these: C <destination> <source> <bytes> <instructions>"),
    ("S 1 0 64\n", None, "line 1: has 4 fields, but must be `S <destination> <value> <bytes> <instructions>`",
     "separate by spaces just these: S <destination> <value> <bytes> <instructions>"),
    ("1\n", None, "line 1: has 1 fields, but must be `<instructions> <read> [<writeback>]`",
     "separate by spaces just these: <instructions> <read> [<writeback>]"),
    ("1 2 3 4\n", None, "line 1: has 4 fields, but must be `<instructions> <read> [<writeback>]`",
     "separate by spaces just these: <instructions> <read> [<writeback>]"),
    ("R 0x7c 0 0\n", None, "line 1: `read` is `0x7c`, but must be a hexadecimal number below 2^64",
     "write `read` as a hexadecimal number below 2^64: digits alone, no sign and no prefix"),
    ("R 1 10000000000000000 0\n", None, "line 1: `writeback` is `10000000000000000`, but must be a hexadecimal number below 2^64",
     "write `writeback` as a hexadecimal number below 2^64: digits alone, no sign and no prefix"),
    ("R 1 0 -1\n", None, "line 1: `instructions` is `-1`, but must be a decimal number below 2^64",
     "write `instructions` as a decimal number below 2^64: digits alone, no sign and no prefix"),
    ("S 1 256 64 0\n", None, "line 1: `value` is `256`, but must be a decimal number from 0 to 255",
     "write `value` as a decimal number from 0 to 255: digits alone, no sign and no prefix"),
    ("5 7c02\n", None, "line 1: `read` is `7c02`, but must be a decimal number below 2^64",
     "write `read` as a decimal number below 2^64: digits alone, no sign and no prefix"),
    ("5 18446744073709551616\n", None, "line 1: `read` is `18446744073709551616`, but must be a decimal number below 2^64",
     "write `read` as a decimal number below 2^64: digits alone, no sign and no prefix"),
    ("C 1 2 0 0\n", None, "line 1: `bytes` is 0", "give at least 1, or leave the record out"),
    ("S 1 0 0 0\n", None, "line 1: `bytes` is 0", "give at least 1, or leave the record out"),
    ("C 0 ffffffffffffffc0 65 0\n", None,
     "line 1: 65 bytes from source ffffffffffffffc0 on run past the last address, ffffffffffffffff",
     "give at most the 64 bytes that are left there"),
    ("S ffffffffffffffc0 0 65 0\n", None,
     "line 1: 65 bytes from destination ffffffffffffffc0 on run past the last address, ffffffffffffffff",
     "give at most the 64 bytes that are left there"),
];

#[test]
fn a_malformed_line_is_named_with_what_was_found_and_what_would_work() {
    for (input, format, message, help) in MALFORMED {
        let error = read(input.as_bytes(), *format).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.help().as_str()), (*message, *help), "{input:?}");
    }
    // 64 bytes up to the very last address are fine.
    assert_eq!(read(b"C 0 ffffffffffffffc0 64 0\n", None).unwrap().len(), 1);
}

#[test]
fn a_line_without_end_is_an_error_and_not_unbounded_memory() {
    let endless = io::Cursor::new("R 1 0 0\nR ").chain(io::repeat(b'1'));
    let error = Reader::new(endless, None).unwrap().find_map(Result::err).unwrap();
    assert_eq!(error.to_string(), "line 2: longer than 4096 bytes");
}

#[test]
fn gzip_that_is_cut_short_gives_its_records_and_then_names_the_line_reached() {
    let records: Vec<Record> = (0..20_000_u64)
        .map(|i| Record::Access { read: at(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)), writeback: None, instructions: i })
        .collect();
    let packed = gzip(&write(&records, Format::Rc));
    let mut reader = Reader::new(&packed[..packed.len() / 2], None).unwrap();
    let read: Vec<Record> = reader.by_ref().map_while(Result::ok).collect();
    assert!(read.len() > 1000 && records.starts_with(&read), "{} records", read.len());
    assert!(reader.next().is_none(), "it ended with the error");

    let error = Reader::new(&packed[..packed.len() / 2], None).unwrap().find_map(Result::err).unwrap();
    let line = format!("line {}: the input cannot be read any further: ", read.len() + 1);
    assert!(error.to_string().starts_with(&line), "{error}");
    assert_eq!(error.help(), "the compressed file is cut short or damaged: test it with `gzip -t`, and fetch it again");
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
    let items: Vec<_> = reader.map(|item| item.map_err(|error| (error.to_string(), error.help()))).collect();
    let message = "line 3: the input cannot be read any further: the disk is on fire".to_owned();
    let help = "check the disk or the pipe that the input comes from".to_owned();
    assert_eq!(items.len(), 3);
    assert_eq!(items[2], Err((message, help)));
}

#[test]
fn a_record_that_a_format_cannot_say_is_refused_and_leaves_no_line() {
    let access = |writeback| Record::Access { read: at(1), writeback, instructions: 0 };
    let copy = |src, bytes| Record::Copy { dst: at(1), src: at(src), bytes, instructions: 0 };
    let cases = [
        (Format::Rc, access(Some(at(0))), "a writeback of address 0 cannot be written, for there 0 means none"),
        (Format::Cpu, copy(0, 64), "a copy or a fill cannot be written, for this format has accesses alone"),
        (Format::Rc, copy(0, 0), "`bytes` is 0"),
        (
            Format::Rc,
            copy(u64::MAX, 2),
            "2 bytes from source ffffffffffffffff on run past the last address, ffffffffffffffff",
        ),
    ];
    for (format, record, message) in cases {
        let mut writer = Writer::new(Vec::new(), format);
        let error = writer.write_record(&record).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.help().is_empty());
        assert!(writer.into_inner().is_empty());
    }
}
