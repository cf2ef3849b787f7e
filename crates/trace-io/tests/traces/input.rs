//! Inputs that fail, end early or are too long, and outputs that fail.

use std::io::{self, Read};

use trace_io::trace::{Record, TraceReader, TraceWriter};

use super::{format, gzip, read, read_after, write};

#[test]
fn a_line_without_end_is_an_error_and_not_unbounded_memory() {
    let endless = io::Cursor::new("R 1 0 0\nR ").chain(io::repeat(b'1'));
    let error = TraceReader::new(endless, None).unwrap().find_map(Result::err).unwrap();
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
    let mut reader = TraceReader::new(&packed[..packed.len() / 2], None).unwrap();
    let read: Vec<Record> = reader.by_ref().map_while(Result::ok).collect();
    assert!(read.len() > 1000 && records.starts_with(&read), "{} records", read.len());
    assert!(reader.next().is_none(), "it ended with the error");

    let error = TraceReader::new(&packed[..packed.len() / 2], None).unwrap().find_map(Result::err).unwrap();
    let text = write(&records, format("rc"));
    let bytes: usize = text.split_inclusive(|&byte| byte == b'\n').take(read.len()).map(<[u8]>::len).sum();
    let message = error.to_string();
    let (line, rest) = message.split_once(": the input cannot be read any further after ").unwrap();
    let (offset, why) = rest.split_once(" bytes of text: ").unwrap();
    assert_eq!((line, why), (&*format!("line {}", read.len() + 1), "incomplete deflate stream"));
    assert!((bytes..bytes + 32).contains(&offset.parse().unwrap()), "{offset}: {bytes} bytes hold the records");
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
    let reader = TraceReader::new(io::Cursor::new("1 2\n3 4\n").chain(Broken), None).unwrap();
    let items: Vec<_> =
        reader.map(|item| item.map_err(|error| (error.to_string(), error.help().to_owned(), error.line()))).collect();
    let message = "line 3: the input cannot be read any further after 8 bytes of text: the disk is on fire".to_owned();
    let help = "check the disk or the pipe that the input comes from".to_owned();
    assert_eq!(items.len(), 3);
    assert_eq!(items[2], Err((message, help, 3)));
}

#[test]
fn an_output_that_fails_is_an_error_of_the_writer() {
    let mut room = [0; 3];
    let error = TraceWriter::new(&mut room[..], format("cpu")).write_record(&read_after(1, 2, None)).unwrap_err();
    assert!(error.to_string().starts_with("the output cannot be written: "), "{error}");
    assert_eq!(error.help(), "check that the output may be written to, and has room");
}

#[test]
fn the_line_is_that_of_the_record_returned_last() {
    let mut reader = TraceReader::new(&b"\n# comment\n1 2\n\n3 4\n"[..], None).unwrap();
    let lines: Vec<u64> =
        std::iter::from_fn(|| reader.next().map(|record| record.map(|_| reader.line()).unwrap())).collect();
    assert_eq!(lines, [3, 5]);
}
