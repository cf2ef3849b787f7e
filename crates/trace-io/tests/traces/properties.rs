//! Properties of all formats, on arbitrary records and bytes.

use std::path::Path;

use proptest::prelude::*;
use trace_io::ErrorKind;
use trace_io::trace::{FORMATS, TraceReader, TraceWriter};

use super::arbitrary::{arb_format, arb_near_trace, arb_rc, arb_trace};
use super::{format, gzip, items, read, write, zstd};

proptest! {
    #[test]
    fn records_are_written_and_read_as_themselves((format, records) in arb_trace()) {
        let text = write(&records, format);
        let name = format!("trace.{}", format.extension.unwrap_or("txt"));
        for packed in [text.clone(), gzip(&text), zstd(&text)] {
            let reader = TraceReader::with_name(&packed[..], Path::new(&name)).unwrap();
            prop_assert_eq!(reader.format(), format);
            prop_assert_eq!(reader.collect::<Result<Vec<_>, _>>().unwrap(), records.clone(), "the format is \
                recognized");
            prop_assert_eq!(read(&packed, Some(format)).unwrap(), records.clone());
        }
    }

    /// A format refuses a record, or writes it so that its reader returns an equal record.
    #[test]
    fn any_record_is_refused_or_read_as_itself((_, records) in arb_trace()) {
        for format in FORMATS {
            for record in &records {
                let mut writer = TraceWriter::new(Vec::new(), format);
                match writer.write_record(record) {
                    Ok(()) => prop_assert_eq!(read(&writer.into_inner(), Some(format)).unwrap(), [*record]),
                    Err(error) => prop_assert!(writer.into_inner().is_empty(), "{error}"),
                }
            }
        }
    }

    /// At most two items per line, and one for the final error.
    #[test]
    fn any_bytes_give_records_or_an_error_and_end(
        input in prop_oneof![prop::collection::vec(any::<u8>(), 0..200), arb_near_trace()],
        format in arb_format(),
    ) {
        let lines = input.split(|&byte| byte == b'\n').count();
        prop_assert!(items(&input[..], format) <= 2 * lines + 1);
        prop_assert!(items(&gzip(&input)[..], format) <= 2 * lines + 1);
        prop_assert!(items(&zstd(&input)[..], format) <= 2 * lines + 1);
        if let Err(error) = read(&input, format) {
            if matches!(error.kind(), ErrorKind::Ambiguous) {
                prop_assert!(error.to_string().ends_with(" is a record of the formats `stl` and `rstl`"), "{error}");
            }
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

/// Initial inputs of the fuzzers: of each target, traces and lines similar to records.
#[test]
fn the_seeds_of_the_fuzzers_are_read_or_refused() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for target in FORMATS.map(|format| format.name).into_iter().chain(["trace"]) {
        let (mut sound, mut refused) = (0, 0);
        for file in std::fs::read_dir(seeds.join(target)).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            for format in FORMATS.into_iter().map(Some).chain([None]) {
                items(&bytes[..], format);
            }
            let own = FORMATS.into_iter().find(|format| format.name == target);
            if read(&bytes, own).is_ok() { sound += 1 } else { refused += 1 }
        }
        assert!(sound >= 1 && refused >= 1, "{target}: {sound} traces, {refused} that are none");
    }
}
