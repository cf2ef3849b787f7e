//! Recordings of random words.

use proptest::prelude::*;
use trace_io::recording::{Event, INLINE_MAX, MemoryAccess, Metadata, Word};

/// A block that is written or was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub thread: u32,
    pub process: u32,
    pub words: Vec<u64>,
    pub contents: Option<Vec<u8>>,
}

/// A word without state, and the bytes that it accesses.
fn word() -> impl Strategy<Value = (Vec<u64>, usize)> {
    let access = (any::<bool>(), 0..=INLINE_MAX, 0..8_u8, 0..2048_u16);
    prop_oneof![
        8 => access.prop_map(|(is_store, address, log2_bytes, instructions)| {
            // An access does not go beyond the last address.
            let address = address.min(INLINE_MAX + 1 - (1 << log2_bytes));
            let access = MemoryAccess { is_store, address, log2_bytes, instructions };
            (vec![Word::Access(access).bits()], 1 << log2_bytes)
        }),
        2 => (1..=INLINE_MAX >> 16).prop_map(|count| (vec![Word::Instructions(count).bits()], 0)),
        1 => (1..4096_u64).prop_map(|bytes| (Event::Unmap { address: 4096, bytes }.words().to_vec(), 0)),
        1 => (0..9_u64).prop_map(|nanoseconds| (Event::Time { nanoseconds }.words().to_vec(), 0)),
    ]
}

/// Metadata and blocks of up to three processes, with or without contents.
pub fn recording() -> impl Strategy<Value = (Metadata, Vec<Recorded>)> {
    let block = (1..4_u32, 1..4_u32, prop::collection::vec(word(), 0..30));
    (any::<bool>(), any::<String>(), prop::collection::vec(block, 0..8)).prop_map(|(contents, recorder, blocks)| {
        let metadata = Metadata { contents, recorder, ..Metadata::default() };
        let begin = (1..4).flat_map(|process| Event::Create { process }.words().to_vec()).collect();
        let begin = Recorded { thread: 1, process: 1, words: begin, contents: contents.then(Vec::new) };
        let blocks = blocks.into_iter().map(|(thread, process, words)| {
            let bytes: usize = words.iter().map(|(_, bytes)| bytes).sum();
            let words = words.into_iter().flat_map(|(words, _)| words).collect();
            let contents = contents.then(|| (0..bytes).map(|byte| byte as u8).collect());
            Recorded { thread, process, words, contents }
        });
        (metadata, std::iter::once(begin).chain(blocks).collect())
    })
}
