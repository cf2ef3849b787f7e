//! Any bytes are blocks of a recording or an error, and any words are a block that reads as written or an error.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use trace_io::recording::{Metadata, RecordingReader, RecordingWriter};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(reader) = RecordingReader::new(bytes) {
        let mut reader = reader.with_digest();
        while let Ok(Some(block)) = reader.next_block() {
            assert_eq!(block.entries().map(|entry| entry.to_string()).count() == 0, block.words.is_empty());
        }
    }
    let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), Metadata::default(), 1).expect("a vector takes all");
    if writer.block(1, 1, &words).is_err() {
        return;
    }
    let mut written = Vec::new();
    writer.finish(&mut written).expect("a vector takes all");
    let mut reader = RecordingReader::new(&written[..]).expect("a header").with_digest();
    assert_eq!(reader.next_block().expect("a block").expect("a block").words, words);
    assert!(reader.next_block().expect("the end").is_none());
});
