//! Comparison of the loads of a recording with what its program and the kernel had written.

use std::rc::Rc;

use dram_spec::address::FRAME_BYTES;
use rustc_hash::{FxHashMap, FxHashSet};
use trace_io::LineError;
use trace_io::recording::{Event, MemoryAccess, ObjectAddress};

use super::mappings::{Backing, Mappings};

/// Whose page it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Space {
    Process(u32),
    Object(u64),
}

type SpaceAddress = (Space, u64);

/// The bytes of a page, as far as they are known.
type KnownBytes = Rc<[Option<u8>; FRAME_BYTES as usize]>;

/// A byte that a load read, and that differs from the byte that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherByte {
    /// Number of the block.
    pub block: u64,
    /// Process.
    pub process: u32,
    /// Virtual address.
    pub address: u64,
    /// The byte that the load read.
    pub found: u8,
    /// The byte that was written.
    pub expected: u8,
}

/// Where a word of a recording lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordPlace {
    /// Number of the block.
    pub(super) block: u64,
    pub(super) process: u32,
    /// Number of the word in the block, from 0.
    pub(super) word: usize,
    /// Whether its instruction then stores the bytes: the recorder may have read them after the store.
    pub(super) is_modified: bool,
}

/// Bytes that loads read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentsCounts {
    /// Those that the program or the kernel had written, or an earlier load had read.
    pub equal: u64,
    /// Those that no event has given a value.
    pub unknown: u64,
    /// Those that differ from the byte that was written: the recorder did not see a later write.
    pub different: u64,
    /// The first that differs.
    pub first: Option<OtherByte>,
}

/// A flat memory per process, and one per file. Bytes that come from a device, or that were there before the
/// recording, are known from their first load on.
#[derive(Debug, Default)]
pub(super) struct ContentsCheck {
    pages: FxHashMap<SpaceAddress, KnownBytes>,
    counts: ContentsCounts,
    /// Addresses of the private bytes that the thread of the block has stored in it, since the last event.
    stored: FxHashSet<u64>,
    /// The thread of each process; `None` of several, whose accesses have no order.
    threads: FxHashMap<u32, Option<u32>>,
    /// The first load of each process that reads another byte than its thread has just stored.
    wrong: FxHashMap<u32, (usize, OtherByte)>,
}

impl ContentsCheck {
    /// The page of an address, and the one whose bytes it has until a store.
    fn keys(process: u32, mappings: &Mappings, page: u64) -> (SpaceAddress, Option<SpaceAddress>) {
        let of_object = |of: ObjectAddress| (Space::Object(of.object), of.address / FRAME_BYTES);
        match mappings.at(page).map(|mapping| mapping.backing) {
            Some(Backing::Shared(of)) => (of_object(of), None),
            Some(Backing::Private(of)) => ((Space::Process(process), page), Some(of_object(of))),
            Some(Backing::Anonymous) | None => ((Space::Process(process), page), None),
        }
    }

    /// The bytes of a page, for a write: the first write copies them from the source.
    fn page(&mut self, (own, source): (SpaceAddress, Option<SpaceAddress>)) -> &mut [Option<u8>; FRAME_BYTES as usize] {
        if !self.pages.contains_key(&own) {
            let found = source.and_then(|source| self.pages.get(&source).cloned());
            self.pages.insert(own, found.unwrap_or_else(|| Rc::new([None; FRAME_BYTES as usize])));
        }
        Rc::make_mut(self.pages.get_mut(&own).expect("it was inserted"))
    }

    /// Begins a block of a thread. The kernel may have written memory before it.
    pub(super) fn begin_block(&mut self, thread: u32, process: u32) {
        self.stored.clear();
        let known = self.threads.entry(process).or_insert(Some(thread));
        if *known != Some(thread) {
            *known = None;
        }
    }

    /// The counts.
    ///
    /// # Errors
    /// A load reads another byte than the only thread of its process has stored in the same block, without an event
    /// in between.
    pub(super) fn finish(self) -> Result<ContentsCounts, LineError> {
        let ContentsCheck { counts, threads, wrong, .. } = self;
        let of_one_thread = wrong.into_iter().filter(|(process, _)| threads[process].is_some());
        match of_one_thread.map(|(_, wrong)| wrong).min_by_key(|(word, byte)| (byte.block, *word)) {
            Some((word, byte)) => Err(wrong_load(word, &byte)),
            None => Ok(counts),
        }
    }

    /// Applies a store, or compares a load, of a process.
    pub(super) fn access(&mut self, place: WordPlace, mappings: &Mappings, access: &MemoryAccess, bytes: &[u8]) {
        let WordPlace { block, process, word, is_modified } = place;
        for (address, &found) in (access.address..).zip(bytes) {
            let (page, at) = (address / FRAME_BYTES, (address % FRAME_BYTES) as usize);
            let (own, source) = Self::keys(process, mappings, page);
            // A load of a page that was not written reads, and makes known, the page of the file.
            let is_of_source = !access.is_store && !self.pages.contains_key(&own);
            let keys = if is_of_source { (source.unwrap_or(own), None) } else { (own, source) };
            let before = self.page(keys)[at].replace(found);
            let is_private = own.0 == Space::Process(process);
            if access.is_store && is_private {
                self.stored.insert(address);
            }
            let counts = &mut self.counts;
            match before {
                _ if access.is_store => {}
                None => counts.unknown += 1,
                Some(expected) if expected == found => counts.equal += 1,
                Some(expected) => {
                    let byte = OtherByte { block, process, address, found, expected };
                    counts.different += 1;
                    counts.first.get_or_insert(byte);
                    if !is_modified && self.stored.contains(&address) {
                        self.wrong.entry(process).or_insert((word, byte));
                    }
                }
            }
        }
    }

    /// The pages of the bytes of an object; none of streams and physical memory, whose bytes are not known.
    fn keys_of(of: ObjectAddress, process: u32, mappings: &Mappings) -> Option<(SpaceAddress, Option<SpaceAddress>)> {
        let page = of.address / FRAME_BYTES;
        match of.object {
            ObjectAddress::PROCESS => Some(Self::keys(process, mappings, page)),
            object if object >= ObjectAddress::STREAMS => None,
            object => Some(((Space::Object(object), page), None)),
        }
    }

    /// Writes bytes by the kernel.
    fn write(
        &mut self,
        process: u32,
        mappings: &Mappings,
        dst: ObjectAddress,
        bytes: impl Iterator<Item = Option<u8>>,
    ) {
        for (address, byte) in (dst.address..).zip(bytes) {
            if let Some(keys) = Self::keys_of(ObjectAddress { address, ..dst }, process, mappings) {
                self.page(keys)[(address % FRAME_BYTES) as usize] = byte;
            }
        }
    }

    fn read(&self, process: u32, mappings: &Mappings, src: ObjectAddress, bytes: u64) -> Vec<Option<u8>> {
        let byte = |address: u64| {
            let (own, source) = Self::keys_of(ObjectAddress { address, ..src }, process, mappings)?;
            let page = self.pages.get(&own).or_else(|| self.pages.get(&source?))?;
            page[(address % FRAME_BYTES) as usize]
        };
        (src.address..src.address + bytes).map(byte).collect()
    }

    /// Applies an event of a process, before its mappings change.
    pub(super) fn event(&mut self, process: u32, mappings: &Mappings, event: &Event) {
        if !matches!(event, Event::Call { .. } | Event::Return) {
            self.stored.clear();
        }
        let mut forget = |first: u64, bytes: u64| {
            for page in first / FRAME_BYTES..(first + bytes).div_ceil(FRAME_BYTES) {
                self.pages.remove(&(Space::Process(process), page));
            }
        };
        match *event {
            Event::Fork { process: child } => {
                let of_parent = |((space, page), data): (&SpaceAddress, &KnownBytes)| {
                    (*space == Space::Process(process)).then(|| ((Space::Process(child), *page), Rc::clone(data)))
                };
                let pages: Vec<(SpaceAddress, KnownBytes)> = self.pages.iter().filter_map(of_parent).collect();
                self.pages.extend(pages);
            }
            Event::Exit => self.pages.retain(|(space, _), _| *space != Space::Process(process)),
            Event::Map { address, bytes, .. } | Event::Unmap { address, bytes } | Event::Discard { address, bytes } => {
                forget(address, bytes);
            }
            Event::Move { from, to, bytes } => {
                for page in from / FRAME_BYTES..(from + bytes).div_ceil(FRAME_BYTES) {
                    let new = page - from / FRAME_BYTES + to / FRAME_BYTES;
                    match self.pages.remove(&(Space::Process(process), page)) {
                        Some(data) => self.pages.insert((Space::Process(process), new), data),
                        None => self.pages.remove(&(Space::Process(process), new)),
                    };
                }
            }
            Event::Read { of, bytes } => {
                self.write(process, mappings, of, std::iter::repeat_n(None, bytes as usize));
            }
            Event::Copy { dst, src, bytes } => {
                let copied = self.read(process, mappings, src, bytes);
                self.write(process, mappings, dst, copied.into_iter());
            }
            Event::Zero { dst, bytes } => {
                self.write(process, mappings, dst, std::iter::repeat_n(Some(0), bytes as usize));
            }
            Event::Create { .. } | Event::Call { .. } | Event::Return | Event::Fault { .. } | Event::Time { .. } => {}
        }
    }
}

/// The error of a load.
fn wrong_load(word: usize, &OtherByte { block, process, address, found, expected }: &OtherByte) -> LineError {
    LineError::new(
        format!(
            "block {block}, word {word}: process {process} reads {found:#04x} at {address:#x}, where it had stored \
             {expected:#04x} in this block"
        ),
        "the contents are damaged, or their recorder has a defect: record the program again; `rowclone-sim trace \
         verify FILE` compares the digest",
    )
}
