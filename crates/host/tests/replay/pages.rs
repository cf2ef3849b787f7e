//! Pages keep their contents under every allocation policy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dram_spec::address::{FRAME_BYTES, MapPreset};
use dram_spec::geometry::PAPER_ROW_BYTES;
use dram_spec::{Geometry, PhysicalAddress, RawGeometry};
use host::{AllocatorSettings, Contents, FlatMemory, Replay, ReplaySettings};
use memctrl::{Request, RequestSource};
use os_alloc_sim::Policy;
use proptest::prelude::*;
use proptest::sample::select;
use rowclone::{Operation, Planner};

use crate::driver::{SETTINGS, allocator, blocks, completion, drive, planner, replay, small};

/// Consecutive pages of the trace.
const PAGES: u64 = 10;
const END: u64 = PAGES * FRAME_BYTES;

/// A record, with offsets from the first page.
#[derive(Clone, Copy, Debug)]
enum Event {
    Access { read: u64, writeback: Option<u64> },
    Copy { src: u64, dst: u64, bytes: u64 },
    Fill { dst: u64, bytes: u64, value: u8 },
}

fn arb_range() -> impl Strategy<Value = (u64, u64)> {
    let pages = (0..PAGES, 1..4_u64).prop_map(|(page, pages)| (page * FRAME_BYTES, pages * FRAME_BYTES));
    let bytes = (0..END, 1..3 * FRAME_BYTES);
    prop_oneof![pages, bytes].prop_map(|(start, bytes)| (start, bytes.min(END - start)))
}

fn arb_event() -> impl Strategy<Value = Event> {
    let access = (0..END, prop::option::of(0..END)).prop_map(|(read, writeback)| Event::Access { read, writeback });
    let fill = (arb_range(), select(vec![0, 0, 7])).prop_map(|((dst, bytes), value)| Event::Fill { dst, bytes, value });
    let whole = any::<bool>();
    let copy = (0..END, arb_range(), whole).prop_map(|(src, (dst, bytes), whole)| {
        // Half of the copies have equal page offsets of source and destination.
        let src = if whole { src / FRAME_BYTES * FRAME_BYTES + dst % FRAME_BYTES } else { src };
        Event::Copy { src: src.min(END - bytes), dst, bytes }
    });
    prop_oneof![2 => access, 2 => copy, 1 => fill]
}

/// Contents of the pages as far as known: a page is undefined before the first write.
struct Naive(Vec<Option<u8>>);

impl Naive {
    fn copy(&mut self, src: u64, dst: u64, bytes: u64) {
        self.0.copy_within(src as usize..(src + bytes) as usize, dst as usize);
    }

    fn set(&mut self, dst: u64, bytes: impl IntoIterator<Item = u8>) {
        bytes.into_iter().zip(&mut self.0[dst as usize..]).for_each(|(byte, at)| *at = Some(byte));
    }
}

/// A replay, the memory that it writes, and the expected contents of the pages.
struct Check<'a> {
    replay: Replay<&'a [u8]>,
    planner: &'a Planner,
    held: BTreeSet<u64>,
    frames: FlatMemory,
    pages: Naive,
}

impl Check<'_> {
    /// Executes the next request, which must lie in allocatable frames.
    fn next(&mut self) -> (Request, Option<Vec<u8>>) {
        let now = self.replay.next_arrival().expect("the record has more to do");
        let request = self.replay.take(now).unwrap();
        let operation = request.operation;
        assert!(self.planner.check(&operation).is_ok(), "{operation}");
        let read = self.frames.apply(&operation, request.payload.as_deref());
        for address in [operation.src(), Some(operation.target())].into_iter().flatten() {
            let frame = address.0 / FRAME_BYTES;
            assert!(!self.held.contains(&frame), "{operation}: a frame of the background");
            assert_eq!(frame, (address.0 + operation.bytes() - 1) / FRAME_BYTES, "{operation}: one page at a time");
        }
        if blocks(&operation) {
            self.replay.complete(completion(&request, now));
        }
        (request, read)
    }

    /// Executes all pieces of a copy or fill.
    fn bulk(&mut self, bytes: u64) {
        let mut done = 0;
        while done < bytes {
            let (request, _) = self.next();
            assert!(blocks(&request.operation));
            done += request.operation.bytes();
        }
        assert_eq!(done, bytes);
    }

    fn play(&mut self, event: Event) {
        match event {
            Event::Access { read, writeback } => {
                let line = read / 64 * 64;
                let (request, found) = self.next();
                assert_eq!(request.operation.target().0 % FRAME_BYTES, line % FRAME_BYTES);
                let known = &self.pages.0[line as usize..line as usize + 64];
                for (at, (known, found)) in known.iter().zip(found.unwrap()).enumerate() {
                    assert!(known.is_none_or(|known| known == found), "byte {at} of the line at {line:#x}");
                }
                if let Some(writeback) = writeback {
                    let (request, _) = self.next();
                    self.pages.set(writeback / 64 * 64, request.payload.unwrap().iter().copied());
                }
            }
            Event::Copy { src, dst, bytes } => {
                self.pages.copy(src, dst, bytes);
                self.bulk(bytes);
            }
            Event::Fill { dst, bytes, value } => {
                self.pages.set(dst, (0..bytes).map(|_| value));
                self.bulk(bytes);
            }
        }
    }
}

/// The trace of the events, with pages numbered from `first`.
fn trace(first: u64, events: &[Event]) -> String {
    let mut trace = String::new();
    for event in events {
        match *event {
            Event::Access { read, writeback } => {
                let writeback = writeback.map_or(0, |writeback| first + writeback);
                writeln!(trace, "R {:x} {writeback:x} 1", first + read).unwrap();
            }
            Event::Copy { src, dst, bytes } => {
                writeln!(trace, "C {:x} {:x} {bytes} 9", first + dst, first + src).unwrap();
            }
            Event::Fill { dst, bytes, value } => writeln!(trace, "S {:x} {value} {bytes} 9", first + dst).unwrap(),
        }
    }
    trace
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// If two pages shared a frame, a write to one would change the other, and a later read would
    /// differ. All pages are read at the end.
    #[test]
    fn every_page_holds_what_was_written_to_it(
        events in prop::collection::vec(arb_event(), 1..40),
        policy in select(&Policy::ALL[..]), preset in select(&MapPreset::ALL[..]), paper in any::<bool>(),
        age in select(vec![(0.0, 0.0), (0.5, 0.3), (1.0 - 12.0 / 130_808.0, 1.0)]), seed in any::<u64>(),
        first in prop_oneof![1..100_000_u64, 1..u64::MAX / FRAME_BYTES - PAGES].prop_map(|page| page * FRAME_BYTES),
    ) {
        let row_bytes = if paper { PAPER_ROW_BYTES } else { 8192 };
        let geometry = Geometry::try_from(RawGeometry { row_bytes, ..small().geometry.raw() }).unwrap();
        let planner = planner(&dram_spec::System { geometry, ..small() }, preset);
        let settings = AllocatorSettings { seed, utilization: age.0, fragmentation: age.1, ..allocator(policy) };
        let aged = settings.memory(planner.map()).unwrap().aged;
        let contents = Contents::new(seed, planner.map().clone());

        let lines = (0..END / 64).map(|line| Event::Access { read: line * 64, writeback: None });
        let events: Vec<Event> = events.into_iter().chain(lines).collect();
        let trace = trace(first, &events);
        let settings = ReplaySettings { allocator: Some(settings), ..SETTINGS };
        let mut check = Check {
            replay: replay(&trace, &planner, settings, Some(contents.clone())).unwrap(),
            planner: &planner,
            held: aged.held.iter().map(|frame| u64::from(frame.0)).collect(),
            frames: FlatMemory::new(contents),
            pages: Naive(vec![None; END as usize]),
        };
        for &event in &events {
            check.play(event);
        }
        prop_assert_eq!(check.replay.next_arrival(), None);

        let pages = check.replay.into_outcome().unwrap().pages.unwrap();
        prop_assert_eq!(pages.appeared + pages.copied + pages.filled - pages.freed, PAGES);
        let used = pages.allocator.frames - pages.allocator.free.frames();
        prop_assert_eq!(used, PAGES + aged.held.len() as u64);
        prop_assert_eq!(pages.utilization_before.to_bits(), aged.utilization.to_bits());
    }
}

/// Operations of a trace, as placed in a fresh memory of the paper's system.
fn placed(trace: &str, policy: Policy) -> Vec<Operation> {
    let settings = ReplaySettings { allocator: Some(allocator(policy)), ..SETTINGS };
    let mut replay = replay(trace, &planner(&small(), MapPreset::RowInterleaved), settings, None).unwrap();
    let mut operations = Vec::new();
    drive(&mut replay, dram_spec::Cycles(1), |request| operations.push(request.operation));
    replay.into_outcome().unwrap();
    operations
}

/// The first destination had no frame, and gets the lowest free one; the frame it frees at the
/// second copy is allocated again.
#[test]
fn a_destination_frees_its_frame_before_it_gets_another() {
    let read = |frame: u64| Operation::Read { address: PhysicalAddress(frame * 4096), bytes: 64 };
    let [src, dst] = [0, 0x1000].map(PhysicalAddress);
    let copy = Operation::Copy { src, dst, bytes: 4096 };
    let found = placed("C 8000 10000 4096 1\nR 8000 0 1\nC 8000 10000 4096 1\nR 9000 0 1\n", Policy::Sequential);
    assert_eq!(found, [copy, read(1), copy, read(2)]);
}

/// Half of the page must be kept, so it cannot get another frame.
#[test]
fn a_destination_that_is_covered_in_part_keeps_its_frame() {
    let found = placed("R 8000 0 1\nC 8800 10000 2048 1\nS 8000 0 64 1\nR 8000 0 1\n", Policy::Sequential);
    let found: Vec<String> = found.iter().map(Operation::to_string).collect();
    assert_eq!(
        found,
        ["read 64 bytes 0x0", "copy 2048 bytes 0x1000 -> 0x800", "init 64 bytes 0x0 with 0x00", "read 64 bytes 0x0"]
    );
}

/// A copy goes to the subarray of its source, although other pages were allocated in between. All
/// other pages are spread over the eight banks.
#[test]
fn subarray_aware_places_copies_near_their_source_and_spreads_other_pages_over_banks() {
    let mut trace = String::new();
    for page in 0..64_u64 {
        write!(
            trace,
            "R {:x} 0 1\nC {:x} 1000 4096 1\nS {:x} 0 4096 1\n",
            page << 12,
            (page + 100) << 12,
            (page + 200) << 12
        )
        .unwrap();
    }
    let (planner, found) = (planner(&small(), MapPreset::RowInterleaved), placed(&trace, Policy::SubarrayAware));
    let pool = |address| {
        let location = planner.map().locate(address).unwrap();
        (location.bank, planner.map().geometry().subarray(location.row))
    };
    let copies: Vec<_> = found.iter().filter_map(|operation| Some((operation.src()?, operation.target()))).collect();
    assert_eq!(copies.len(), 64);
    assert!(copies.iter().all(|&(src, dst)| pool(src) == pool(dst)));
    let others = found.iter().filter(|operation| operation.src().is_none()).map(|operation| pool(operation.target()).0);
    let mut banks = BTreeMap::new();
    others.for_each(|bank| *banks.entry(bank).or_insert(0) += 1);
    assert_eq!(banks.len(), 8);
    // First touches skip the source's pool, which 64 copies have used.
    assert!(banks.values().all(|touches| (13..=17).contains(touches)), "64 reads and 64 fills: {banks:?}");
}
