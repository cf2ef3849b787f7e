//! Recordings with planted damage.

use std::io::{self, Read};

use proptest::prelude::*;
use trace_io::LineError;
use trace_io::recording::{Metadata, RecordingReader};

use super::{example, recording, written};

/// Reads to the end or the first error.
fn read(input: impl Read) -> Result<u64, LineError> {
    let mut reader = RecordingReader::new(input)?.with_digest();
    while reader.next_block()?.is_some() {}
    Ok(reader.offset())
}

#[test]
fn a_recording_truncated_anywhere_is_an_error() {
    for level in [0, 3] {
        let (bytes, _) = written(Metadata::default(), &example(), level);
        assert!(read(&bytes[..]).is_ok());
        for length in 0..bytes.len() {
            let error = read(&bytes[..length]).expect_err("it is truncated");
            let is_truncated = error.to_string().ends_with(": the recording is truncated");
            assert!(is_truncated, "{length} bytes of level {level}: {error}");
            assert!(!error.help().is_empty());
        }
    }
}

#[test]
fn each_flipped_bit_is_found() {
    for level in [0, 3] {
        let (bytes, _) = written(Metadata::default(), &example(), level);
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // A flip of the frame's header may change only how it is stored, never the blocks.
            match read(&damaged[..]) {
                Ok(_) if level > 0 => assert_eq!(super::blocks_of(&damaged), example(), "bit {bit}"),
                read => assert!(read.is_err(), "bit {bit} of level {level}"),
            }
        }
    }
}

#[test]
fn bytes_after_the_end_are_an_error() {
    let (mut bytes, _) = written(Metadata::default(), &example(), 0);
    let end = bytes.len() as u64;
    bytes.push(0);
    let error = read(&bytes[..]).expect_err("a tail");
    assert_eq!(error.to_string(), format!("byte {end} (block 3): bytes follow the end of the recording"));
}

#[test]
fn lengths_are_compared_before_memory_is_allocated() {
    /// Ends the test if more than one head is read.
    struct Endless(u64);
    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += buffer.len() as u64;
            assert!(self.0 < 1 << 20, "the claimed length is read");
            buffer.fill(0xff);
            Ok(buffer.len())
        }
    }
    let (bytes, _) = written(Metadata::default(), &[], 0);
    let mut header = bytes[..16].to_vec();
    header[12..].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read(header.chain(Endless(0))).expect_err("4 GiB of metadata");
    assert_eq!(
        error.to_string(),
        "byte 12 (header): the length of the metadata is 4294967295, but must be at most 65536"
    );
    let end = bytes.len() - 32;
    for (kind, limit) in [(1_u32, "words is 4294967295, but must be at most 65536"), (2, "contents")] {
        let mut head = bytes[..end].to_vec();
        let fields = [kind, 1, 1, u32::MAX, 0, 0, 0];
        let fields: Vec<u8> = fields.into_iter().flat_map(u32::to_le_bytes).collect();
        head.extend(&fields);
        head.extend(crc32fast::hash(&fields).to_le_bytes());
        let error = read(head.chain(Endless(0))).expect_err("4 GiB of payload");
        assert!(error.to_string().starts_with(&format!("byte {end} (block 1): ")), "{error}");
        assert!(error.to_string().contains(limit), "{error}");
    }
}

#[test]
fn totals_and_digest_are_compared() {
    let (bytes, metadata) = written(Metadata::default(), &example(), 0);
    let replaced = |from: String, to: String| {
        let text = serde_json::to_string(&metadata).expect("text").replacen(&from, &to, 1);
        let mut header = bytes[..16].to_vec();
        header[12..].copy_from_slice(&(text.len() as u32).to_le_bytes());
        header.extend(text.as_bytes());
        header.extend(crc32fast::hash(&header).to_le_bytes());
        let old = serde_json::to_string(&metadata).expect("text").len();
        header.extend(&bytes[16 + old + 4..]);
        let error = read(&header[..]).expect_err("a wrong total").to_string();
        error.split_once(": ").expect("a place").1.to_owned()
    };
    assert_eq!(replaced("\"loads\":1".into(), "\"loads\":2".into()), "loads is 2, but the words have 1");
    let digest = replaced(metadata.digest.clone(), "00".into());
    assert_eq!(digest, format!("the SHA-256 of the blocks is {}, but 00 is stored", metadata.digest));
    let pages = replaced("\"page_bytes\":4096".into(), "\"page_bytes\":4095".into());
    assert!(pages.contains("`page_bytes` is 4095, but must be a power of two"), "{pages}");
}

proptest! {
    #[test]
    fn any_bytes_are_blocks_or_an_error(bytes: Vec<u8>) {
        let _ = read(&bytes[..]);
    }

    #[test]
    fn changed_bytes_are_an_error((metadata, blocks) in recording(), at: prop::sample::Index, change in 1..=u8::MAX) {
        let (mut bytes, _) = written(metadata, &blocks, 0);
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        prop_assert!(read(&bytes[..]).is_err());
    }
}
