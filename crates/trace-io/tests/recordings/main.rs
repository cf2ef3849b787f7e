//! Recordings that are written and read back, truncated, damaged or hostile.

mod arbitrary;
mod damaged;

use std::io::Cursor;

use arbitrary::{Recorded, recording};
use proptest::prelude::*;
use trace_io::recording::{
    BlockEntry, Detail, Event, MapFlags, MemoryAccess, Metadata, ObjectAddress, RecordingReader, RecordingWriter,
    Routine, Totals, Word,
};

/// The blocks of a recording: thread, process, words and contents.
fn blocks_of(bytes: &[u8]) -> Vec<Recorded> {
    let mut reader = RecordingReader::new(bytes).expect("a header").with_digest();
    let mut blocks = Vec::new();
    while let Some(block) = reader.next_block().expect("a block") {
        let (words, contents) = (block.words.to_vec(), block.contents.map(<[u8]>::to_vec));
        blocks.push(Recorded { thread: block.thread, process: block.process, words, contents });
    }
    assert!(reader.next_block().expect("the end").is_none());
    blocks
}

/// A recording of blocks.
fn written(metadata: Metadata, blocks: &[Recorded], level: i32) -> (Vec<u8>, Metadata) {
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), metadata, level).expect("a vector takes all");
    for block in blocks {
        writer.block(block.thread, block.process, &block.words).expect("a block");
        if let Some(contents) = block.contents.as_ref().filter(|contents| !contents.is_empty()) {
            writer.contents(contents).expect("contents");
        }
    }
    let mut bytes = Vec::new();
    let metadata = writer.finish(&mut bytes).expect("a vector takes all");
    (bytes, metadata)
}

/// A process that maps a page, calls `memcpy`, forks, and ends.
fn example() -> Vec<Recorded> {
    let access = |is_store, address| {
        vec![Word::Access(MemoryAccess { is_store, address, log2_bytes: 3, instructions: 2 }).bits()]
    };
    let flags = MapFlags { is_writable: true, is_shared: false };
    let of = ObjectAddress { object: 0, address: 0 };
    let words = [
        Event::Create { process: 1 }.words().to_vec(),
        Event::Map { flags, address: 0x1000, bytes: 4096, of }.words().to_vec(),
        Event::Call { routine: Routine::Copy { src: 0x1100 }, dst: 0x1000, bytes: 8 }.words().to_vec(),
        access(false, 0x1100),
        access(true, 0x1000),
        Event::Return.words().to_vec(),
        vec![Word::Instructions(7).bits()],
        Event::Fork { process: 2 }.words().to_vec(),
    ];
    let first = Recorded { thread: 1, process: 1, words: words.concat(), contents: None };
    let words = [access(true, 0xffff_8000_0000_0000), Event::Exit.words().to_vec()].concat();
    vec![first, Recorded { thread: 2, process: 2, words, contents: None }]
}

#[test]
fn entries_and_totals_are_those_of_the_words() {
    let (bytes, metadata) = written(Metadata::default(), &example(), 3);
    let totals = Totals { threads: 2, processes: 2, blocks: 2, words: 17, instructions: 13, loads: 1, stores: 2 };
    assert_eq!(metadata.totals, totals);
    let mut reader = RecordingReader::new(&bytes[..]).expect("a header");
    assert_eq!(reader.metadata(), &metadata);
    let first = reader.next_block().expect("a block").expect("a block");
    assert_eq!(first.instructions, 11);
    let entries: Vec<BlockEntry> = first.entries().collect();
    assert_eq!(entries.len(), 8);
    assert_eq!(
        entries[4],
        BlockEntry::Access(MemoryAccess { is_store: true, address: 0x1000, log2_bytes: 3, instructions: 2 })
    );
    assert_eq!(entries[6..], [BlockEntry::Instructions(7), BlockEntry::Event(Event::Fork { process: 2 })]);
}

/// The fault of a block after a process 1 has begun.
fn refused(process: u32, words: &[u64]) -> String {
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), Metadata::default(), 0).expect("a vector takes all");
    writer.block(1, 1, &Event::Create { process: 1 }.words()).expect("a block");
    let fault = writer.block(1, process, words).expect_err("a fault");
    assert!(!fault.help().is_empty());
    fault.to_string()
}

#[test]
fn inconsistent_blocks_are_refused() {
    let load = Word::Access(MemoryAccess { is_store: false, address: 0, log2_bytes: 0, instructions: 1 }).bits();
    let call = Event::Call { routine: Routine::Set { value: 0 }, dst: 0x1000, bytes: 8 }.words();
    let exit = Event::Exit.words();
    assert_eq!(refused(2, &[load]), "process 2 has words, but has not begun");
    assert_eq!(refused(1, &[exit[0], load]), "process 1 has words, but has ended");
    assert_eq!(refused(1, &Event::Fork { process: 1 }.words()), "process 1 begins a second time");
    assert_eq!(refused(1, &[call.to_vec(), call.to_vec()].concat()), "a `call` follows a `call` without `return`");
    assert_eq!(refused(1, &Event::Return.words()), "a `return` has no `call`");
    assert_eq!(refused(1, &call[..3]), "the block ends within an event");
    let range = "is 0, but must be from 1 to 4194304";
    assert_eq!(refused(0, &[load]), format!("the process {range}"));
    assert_eq!(refused(1, &vec![load; 65_537]), "the number of words is 65537, but must be at most 65536");
    assert_eq!(refused(1, &[0x8000_0000_0000_0000]), "a word of instructions has none");
}

/// A load of 8 bytes at an address.
fn load(address: u64) -> u64 {
    Word::Access(MemoryAccess { is_store: false, address, log2_bytes: 3, instructions: 1 }).bits()
}

#[test]
fn accesses_beyond_the_last_address_are_refused() {
    assert_eq!(
        refused(1, &[load(u64::MAX - 7), load(u64::MAX - 6)]),
        "the access goes beyond the last address, 2^64 - 1"
    );
    // In a file: the first column of a block begins after its head of 32 bytes, and has 2 bytes per word.
    let block = |words: &[u64]| Recorded { thread: 1, process: 1, words: words.to_vec(), contents: None };
    let create = Event::Create { process: 1 }.words()[0];
    let (mut bytes, _) = written(Metadata::default(), &[block(&[create, load(u64::MAX - 7)])], 0);
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let head = 16 + length + 4;
    // The size becomes 16 bytes, and the two CRC-32 those of the new bytes.
    bytes[head + 32 + 3] |= 0x20;
    bytes[head + 32 + 3] &= !0x18;
    let payload = crc32fast::hash(&bytes[head + 32..head + 32 + 16]);
    bytes[head + 24..head + 28].copy_from_slice(&payload.to_le_bytes());
    let check = crc32fast::hash(&bytes[head..head + 28]);
    bytes[head + 28..head + 32].copy_from_slice(&check.to_le_bytes());
    let error = RecordingReader::new(&bytes[..]).unwrap().next_block().unwrap_err();
    let place = format!("byte {} (block 1)", head + 34);
    assert_eq!(error.to_string(), format!("{place}: the access goes beyond the last address, 2^64 - 1"));
}

#[test]
fn accesses_among_page_faults_are_refused() {
    let metadata = Metadata { detail: Detail::Faults, ..Metadata::default() };
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), metadata, 0).unwrap();
    let words = [Event::Create { process: 1 }.words()[0], load(0x1000)];
    let fault = writer.block(1, 1, &words).unwrap_err();
    assert_eq!(fault.to_string(), "an access is in a recording whose `detail` is `faults`");
    // In a file of accesses whose metadata are changed.
    let block = Recorded { thread: 1, process: 1, words: words.to_vec(), contents: None };
    let (bytes, metadata) = written(Metadata::default(), &[block], 0);
    let text = serde_json::to_vec(&Metadata { detail: Detail::Faults, ..metadata }).unwrap();
    let rest = 16 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize + 4;
    let mut changed = [&bytes[..12], &(text.len() as u32).to_le_bytes(), &text].concat();
    changed.extend(crc32fast::hash(&changed).to_le_bytes());
    let head = changed.len() as u64;
    changed.extend(&bytes[rest..]);
    let error = RecordingReader::new(&changed[..]).unwrap().next_block().unwrap_err();
    assert_eq!(error.to_string(), format!("byte {} (block 1): {fault}", head + 34));
}

#[test]
fn contents_belong_to_the_block_before() {
    let metadata = Metadata { contents: true, ..Metadata::default() };
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), metadata, 1).expect("a vector takes all");
    let unexpected = writer.contents(&[0]).unwrap_err().to_string();
    assert!(unexpected.starts_with("a block of contents does not follow"), "{unexpected}");
    let store = Word::Access(MemoryAccess { is_store: true, address: 0, log2_bytes: 1, instructions: 1 }).bits();
    writer.block(1, 1, &[Event::Create { process: 1 }.words()[0], store]).expect("a block");
    let missing = writer.block(1, 1, &[store]).unwrap_err().to_string();
    assert!(missing.starts_with("a block of contents must follow"), "{missing}");
    let fault = writer.contents(&[0]).expect_err("too few bytes").to_string();
    assert_eq!(fault, "the number of bytes of contents is 1, but the words have 2");
}

proptest! {
    #[test]
    fn a_recording_reads_as_it_was_written((metadata, blocks) in recording(), level in 0..4_i32) {
        let (bytes, metadata) = written(metadata, &blocks, level);
        let reader = RecordingReader::new(&bytes[..]).expect("a header");
        prop_assert_eq!(reader.metadata(), &metadata);
        prop_assert_eq!(blocks_of(&bytes), blocks);
    }
}
