//! Copies found in traces, by hand and in random traffic.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::path::Path;

use dram_spec::PhysicalAddress;
use proptest::prelude::*;
use trace_io::trace::copies::{AddressOrder, Amount, CopyFinder, CopyReport, FindSettings, FoundCopy};
use trace_io::trace::{Arrival, Event, FORMATS, Format, Record, TraceReader};

use fuzzed::search;

/// The body of the fuzz target.
#[path = "../../../fuzz/src/find_copies.rs"]
mod fuzzed;

const SETTINGS: FindSettings = FindSettings { window: 256, bytes_min: 256, instructions_per_clock: 4.0 };

/// The report, and the records that leave.
fn find(records: &[Record], settings: FindSettings) -> (CopyReport, Vec<Record>) {
    let (mut finder, mut left) = (CopyFinder::new(settings), Vec::new());
    for (record, line) in records.iter().zip(1..) {
        let keep = |record: &Record| {
            left.push(*record);
            Ok::<_, Infallible>(())
        };
        finder.push(record, line, None, keep).unwrap();
    }
    let report = finder.finish(|record| {
        left.push(*record);
        Ok::<_, Infallible>(())
    });
    (report.unwrap(), left)
}

fn access(is_write: bool, address: u64, bytes: u64) -> Record {
    let (address, bytes) = (PhysicalAddress(address), NonZeroU32::new(bytes as u32).filter(|_| bytes != 64));
    let event =
        if is_write { Event::Write { address, bytes } } else { Event::Read { address, bytes, writeback: None } };
    Record { arrival: Arrival::WhenTaken, event }
}

const fn copy(dst: u64, src: u64, bytes: u64) -> Record {
    let event = Event::Copy { dst: PhysicalAddress(dst), src: PhysicalAddress(src), bytes, instructions: 0 };
    Record { arrival: Arrival::WhenTaken, event }
}

/// How a loop copies: pieces of `piece` bytes, of which `ahead` are read and then written.
#[derive(Clone, Copy, Debug)]
struct Loop {
    dst: u64,
    src: u64,
    pieces: u64,
    piece: u64,
    ahead: u64,
    order: AddressOrder,
}

impl Loop {
    fn up(dst: u64, src: u64, pieces: u64) -> Loop {
        Loop { dst, src, pieces, piece: 64, ahead: 1, order: AddressOrder::Up }
    }

    fn bytes(&self) -> u64 {
        self.pieces * self.piece
    }

    fn records(&self) -> Vec<Record> {
        let Loop { dst, src, pieces, piece, ahead, order } = *self;
        let place = |index: u64| match order {
            AddressOrder::Up => index * piece,
            AddressOrder::Down => (pieces - 1 - index) * piece,
        };
        let mut records = Vec::new();
        for begin in (0..pieces).step_by(ahead as usize) {
            let chunk = begin..(begin + ahead).min(pieces);
            records.extend(chunk.clone().map(|index| access(false, src + place(index), piece)));
            records.extend(chunk.map(|index| access(true, dst + place(index), piece)));
        }
        records
    }
}

impl Loop {
    /// The most accesses from a read of the loop to its write, and from a write to the next one.
    fn accesses_apart_max(&self, records: &[Record]) -> u64 {
        let (mut read, mut written, mut most) = (BTreeMap::new(), None, 0);
        for (record, number) in records.iter().zip(0_u64..) {
            match record.event {
                Event::Read { address, .. } => drop(read.insert(address.0, number)),
                Event::Write { address, .. } if (self.dst..self.dst + self.bytes()).contains(&address.0) => {
                    let before = [read.get(&(address.0 - self.dst + self.src)).copied(), written.replace(number)];
                    most = before.into_iter().flatten().map(|before| number - before).fold(most, u64::max);
                }
                _ => {}
            }
        }
        most
    }
}

fn span(address: PhysicalAddress, bytes: Option<NonZeroU32>) -> (u64, u64) {
    bytes.map_or((address.0 / 64 * 64, 64), |bytes| (address.0, bytes.get().into()))
}

/// Number of a record in the trace, which is its arrival.
fn number(record: &Record) -> u64 {
    let Arrival::AtCycle(at) = record.arrival else { panic!("records have cycles: {record:?}") };
    at.0
}

/// Numbers and first bytes of the writes of a copy, the last first. Nothing else writes what a copy
/// has written before its end: from there, the next write to the byte before is a part of it.
fn writes_of(copy: &FoundCopy, records: &[Record]) -> Vec<(u64, u64)> {
    let (mut rest, mut writes) = (copy.dst.0..copy.dst.0 + copy.bytes, Vec::new());
    for record in records[..copy.lines.1 as usize].iter().rev() {
        let Event::Write { address, bytes } = record.event else { continue };
        if rest.is_empty() {
            break;
        }
        let (start, bytes) = span(address, bytes);
        match copy.order {
            AddressOrder::Up if start + bytes == rest.end => rest.end = start,
            AddressOrder::Down if start == rest.start => rest.start += bytes,
            _ => continue,
        }
        writes.push((number(record), start));
    }
    writes
}

/// A flat memory at the end of some records, and the bytes that each read returned. A write for
/// which `sources` has an address stores what was last read there, others a value of their own.
fn play(records: &[Record], sources: &BTreeMap<u64, u64>) -> (BTreeMap<u64, u64>, BTreeMap<u64, Vec<u64>>) {
    let mut memory: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut registers, mut reads): (BTreeMap<u64, Vec<u64>>, BTreeMap<_, _>) = Default::default();
    let load = |memory: &BTreeMap<u64, u64>, start: u64, bytes: u64| -> Vec<u64> {
        (start..start + bytes).map(|at| memory.get(&at).copied().unwrap_or(at)).collect()
    };
    for record in records {
        let number = number(record);
        let (dst, stored) = match record.event {
            Event::Read { address, bytes, .. } => {
                let (start, bytes) = span(address, bytes);
                let found = load(&memory, start, bytes);
                registers.insert(start, found.clone());
                reads.insert(number, found);
                continue;
            }
            Event::Write { address, bytes } => {
                let (start, bytes) = span(address, bytes);
                let own = (0..bytes).map(|at| (number + 1) << 32 | at).collect();
                (start, sources.get(&number).map_or(own, |source| registers[source].clone()))
            }
            Event::Copy { dst, src, bytes, .. } => (dst.0, load(&memory, src.0, bytes)),
            _ => unreachable!("no such records are made"),
        };
        memory.extend((dst..).zip(stored));
    }
    (memory, reads)
}

#[track_caller]
fn check(records: &[Record], expected: &[Record]) -> CopyReport {
    let (report, left) = find(records, SETTINGS);
    assert_eq!(left, expected);
    report
}

#[test]
fn a_loop_of_lines_is_one_copy() {
    let report = check(&Loop::up(0x10_0000, 0x4000, 64).records(), &[copy(0x10_0000, 0x4000, 4096)]);
    assert_eq!(report.copies, Amount { count: 1, bytes: 4096 });
    assert_eq!(
        (report.replaced, report.reads),
        (Amount { count: 128, bytes: 8192 }, Amount { count: 64, bytes: 4096 })
    );
    assert_eq!((report.listed[0].lines, report.listed[0].choices, report.ambiguous), ((2, 128), 1, 0));
    assert_eq!(report.sizes, BTreeMap::from([(4096, 1)]));
}

#[test]
fn words_chunks_and_descending_loops_are_copies() {
    for (piece, ahead) in [(1, 1), (8, 1), (8, 4), (16, 4), (32, 8), (64, 4), (64, 1), (64, 32)] {
        for order in [AddressOrder::Up, AddressOrder::Down] {
            let one = Loop { piece, ahead, order, ..Loop::up(0x9000, 0x2008 / piece * piece, 2048 / piece) };
            let report = check(&one.records(), &[copy(one.dst, one.src, 2048)]);
            assert_eq!(report.listed[0].order, order, "{one:?}");
        }
    }
}

/// A load of 128 bytes is two pieces.
#[test]
fn accesses_above_a_line_are_cut() {
    let pair = |n: u64| [access(false, 0x4000 + 128 * n, 128), access(true, 0x8000 + 128 * n, 128)];
    let records: Vec<Record> = (0..8).flat_map(pair).collect();
    assert_eq!(check(&records, &[copy(0x8000, 0x4000, 1024)]).reads.count, 16);
}

#[test]
fn copies_in_step_take_their_sources_in_order() {
    let loops = [Loop::up(0x10_0000, 0x4000, 32), Loop::up(0x20_0000, 0x9000, 32), Loop::up(0x30_0000, 0x5_0000, 32)];
    for ahead in [1, 4] {
        let [one, two, three] = loops.map(|one| Loop { ahead, ..one }.records());
        // Access by access, and copy by copy of each chunk: reads of all, then writes of all.
        for step in [1, ahead as usize] {
            let chunks = one.chunks(step).zip(two.chunks(step)).zip(three.chunks(step));
            let mixed: Vec<Record> = chunks.flat_map(|((a, b), c)| [a, b, c].concat()).collect();
            let (report, left) = find(&mixed, SETTINGS);
            let found: Vec<_> = left.iter().map(|record| record.event).collect();
            assert_eq!(found, loops.map(|one| copy(one.dst, one.src, 2048).event), "{ahead} ahead, {step} in step");
            assert_eq!(report.replaced.count, mixed.len() as u64);
        }
    }
}

/// Eight lines are always read before they are written: the reads before the first write and the
/// writes after the last read decide.
#[test]
fn a_loop_that_reads_ahead_throughout_has_its_whole_source() {
    let (reads, writes) =
        (0..40).map(|n| (access(false, 0x4000 + 64 * n, 64), access(true, 0x8000 + 64 * n, 64))).unzip();
    let (reads, writes): (Vec<Record>, Vec<Record>) = (reads, writes);
    let mut records = reads[..8].to_vec();
    records.extend((0..32).flat_map(|n| [writes[n], reads[n + 8]]));
    records.extend_from_slice(&writes[32..]);
    check(&records, &[copy(0x8000, 0x4000, 2560)]);
}

/// The first line is written 228 accesses after its read, and the second 40 accesses later, when the
/// first read is more than a window old.
#[test]
fn the_first_write_may_be_almost_a_window_before_the_second() {
    let unrelated = |n: u64| access(n.is_multiple_of(2), 0x10_0000 + 4096 * n, 64);
    let [read, write] = [(false, 0x4000), (true, 0x8000)].map(|(is_write, start)| {
        let of_lines = (0..8).map(move |n| access(is_write, start + 64 * n, 64));
        of_lines.collect::<Vec<_>>()
    });
    let noise: [Vec<Record>; 3] = [0..20, 20..220, 220..260].map(|numbers| numbers.map(unrelated).collect());
    let records = [&read[..1], &noise[0], &read[1..], &noise[1], &write[..1], &noise[2], &write[1..]].concat();
    check(&records, &[&noise.concat()[..], &[copy(0x8000, 0x4000, 512)]].concat());
}

/// Two lines before the source are read, too: the copy ends with its source.
#[test]
fn reads_before_a_copy_are_not_its_source() {
    let header = [access(false, 0x3f80, 64), access(false, 0x3fc0, 64)];
    let records = [&header[..], &Loop::up(0x8000, 0x4000, 16).records()].concat();
    check(&records, &[header[0], header[1], copy(0x8000, 0x4000, 1024)]);
    // Two pages are compared, and then one is copied.
    let compared: Vec<Record> =
        (0..16).flat_map(|n| [access(false, 0x4000 + 64 * n, 64), access(false, 0x9_0000 + 64 * n, 64)]).collect();
    let records = [&compared[..], &Loop::up(0x8000, 0x4000, 16).records()].concat();
    let expected = [&compared[..], &[copy(0x8000, 0x4000, 1024)]].concat();
    check(&records, &expected);
}

#[test]
fn what_is_no_copy_stays() {
    let unchanged = |records: Vec<Record>| {
        let report = check(&records, &records);
        assert_eq!((report.copies.count, report.replaced.count), (0, 0));
        report
    };
    // Below the least size; read-modify-write; a fill; reads after the writes.
    unchanged(Loop::up(0x8000, 0x4000, 3).records());
    unchanged((0..64).flat_map(|n| [access(false, 64 * n, 64), access(true, 64 * n, 64)]).collect());
    let fill = unchanged((0..64).map(|n| access(true, 64 * n, 64)).collect());
    assert_eq!((fill.write_runs, fill.write_runs_with_data), (Amount { count: 1, bytes: 4096 }, 0));
    unchanged((0..64).flat_map(|n| [access(true, 0x8000 + 64 * n, 64), access(false, 64 * n, 64)]).take(2).collect());
    // The reads are further away than the window.
    let mut late: Vec<Record> = (0..300).map(|n| access(false, 64 * n, 64)).collect();
    late.extend((0..300).map(|n| access(false, 0x4000_0000 + 4096 * n, 64)));
    late.extend((0..300).map(|n| access(true, 0x10_0000 + 64 * n, 64)));
    unchanged(late);
}

/// A write to the source, or a read of the destination, ends a copy, so that the copy can take the
/// place of its last write.
#[test]
fn accesses_of_others_end_a_copy() {
    let records = Loop::up(0x8000, 0x4000, 16).records();
    for other in [access(true, 0x4000, 64), access(false, 0x8000, 64), access(true, 0x8040, 64)] {
        let mixed = [&records[..16], &[other], &records[16..]].concat();
        check(&mixed, &[copy(0x8000, 0x4000, 512), other, copy(0x8200, 0x4200, 512)]);
    }
    let unrelated = access(true, 0x4400, 64);
    let mixed = [&records[..16], &[unrelated], &records[16..]].concat();
    check(&mixed, &[unrelated, copy(0x8000, 0x4000, 1024)]);
}

/// With data, a run of zeros is a fill; a run of other data is known to be none.
#[test]
fn data_tell_fills_of_zeros() {
    let line = |n: u64, byte: &str| format!("{n}: write {:#x} 0x{}\n", 0x4000 + 64 * n, byte.repeat(64));
    for (byte, fills, others) in [("00", 1, 0), ("5a", 0, 1)] {
        let text: String = (0..32).map(|n| line(n, byte)).collect();
        let mut reader = TraceReader::new(text.as_bytes(), trace_io::trace::Format::named("stl")).unwrap();
        let (mut finder, mut left) = (CopyFinder::new(SETTINGS), Vec::new());
        while let Some(record) = reader.next() {
            let (line, data) = (reader.line(), reader.data());
            finder.push(&record.unwrap(), line, data.as_deref(), |_| Ok::<_, Infallible>(())).unwrap();
        }
        let report = finder.finish(|record| {
            left.push(*record);
            Ok::<_, Infallible>(())
        });
        let report = report.unwrap();
        assert_eq!((report.fills.count, report.write_runs_with_data), (fills, others));
        if fills == 1 {
            let event = Event::Fill { dst: PhysicalAddress(0x4000), value: 0, bytes: 2048, instructions: 0 };
            // In the place of the last write.
            assert_eq!(left, [Record { arrival: Arrival::AtCycle(dram_spec::Cycle(31)), event }]);
        }
    }
}

/// Longer than all that is delayed.
#[test]
fn a_long_copy_is_one_record() {
    let one = Loop { ahead: 4, ..Loop::up(1 << 40, 0x4000, 200_000) };
    let report = check(&one.records(), &[copy(one.dst, one.src, one.bytes())]);
    assert_eq!(report.replaced.count, 400_000);
}

#[derive(Clone, Debug)]
struct Draft {
    pieces: u64,
    ahead: u64,
    down: bool,
    gap: u64,
}

fn arb_drafts() -> impl Strategy<Value = Vec<Draft>> {
    let draft = (16_u64..80, 1_u64..9, any::<bool>(), 0_u64..200).prop_map(|(pieces, ahead, down, gap)| Draft {
        pieces,
        ahead,
        down,
        gap,
    });
    prop::collection::vec(draft, 0..8)
}

/// Interleaves loops and noise at random.
fn mix(loops: &[Loop], noise: u64, seed: u64) -> Vec<Record> {
    let mut state = seed | 1;
    let mut draw = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    let mut queues: Vec<_> = loops.iter().map(|one| one.records().into_iter()).collect();
    let mut records = Vec::new();
    while !queues.is_empty() {
        if draw(100) < noise {
            // Random lines of 64 MiB, of which a part is that of the loops.
            records.push(access(draw(2) == 0, draw(1 << 20) * 64, 64));
            continue;
        }
        let index = draw(queues.len() as u64) as usize;
        match queues[index].next() {
            Some(record) => records.push(record),
            None => drop(queues.swap_remove(index)),
        }
    }
    records
}

/// Initial inputs of the fuzzer, with the copies and fills of each, under a window of 8 accesses and
/// 16 bytes at the least, and under the default; and what it found, if it ran here.
#[test]
fn the_seeds_of_the_fuzzer_have_copies() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let inputs = |of: &str| {
        let entries = std::fs::read_dir(fuzz.join(of).join("find-copies")).into_iter().flatten();
        entries.map(|entry| entry.unwrap()).map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap()))
    };
    for (_, bytes) in inputs("seeds").chain(inputs("corpus")) {
        for format in FORMATS.into_iter().map(Some).chain([None]) {
            search(&bytes, format);
        }
    }
    let found = |name: &str, bytes: &[u8]| {
        let format = name.rsplit_once('.').and_then(|(_, extension)| Format::named(extension));
        search(bytes, format).unwrap().map(|CopyReport { copies, fills, .. }| (copies.count, copies.bytes, fills.bytes))
    };
    let seeds: BTreeMap<_, _> = inputs("seeds")
        .map(|(name, bytes)| (name.into_string().unwrap(), bytes))
        .map(|(name, bytes)| (name.clone(), found(&name, &bytes)))
        .collect();
    let expected = [
        // 40 words, and 64 bytes to an overlapping range above, descending.
        ("memmove.lackey", [(2, 320 + 64, 0), (0, 0, 0)]),
        // The second record is no write of the first one's line, and the third one is refused.
        ("refused.txt", [(0, 0, 0), (0, 0, 0)]),
        // 4 lines, and 3 lines of each loop.
        ("two-loops.txt", [(3, 256 + 2 * 192, 0), (0, 0, 0)]),
        // 20 lines of zeros.
        ("zeros.stl", [(0, 0, 1280), (0, 0, 1280)]),
    ];
    assert_eq!(seeds, expected.map(|(name, found)| (name.to_owned(), found)).into());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Copies that run at the same time, in noise that does not touch them, are found exactly, if
    /// they lie in the window and the report counts no equal candidates.
    #[test]
    fn copies_in_noise_are_found(drafts in arb_drafts(), noise in 0_u64..60, seed in any::<u64>()) {
        let mut at = 0;
        let loops: Vec<Loop> = drafts.iter().map(|draft| {
            let lines = draft.pieces * 64;
            let (src, dst) = (at, at + lines + 64 * (1 + draft.gap));
            at = dst + lines + 4096;
            let order = if draft.down { AddressOrder::Down } else { AddressOrder::Up };
            Loop { ahead: draft.ahead, order, ..Loop::up((1 << 30) + dst, (1 << 30) + src, draft.pieces) }
        }).collect();
        let records = mix(&loops, noise, seed);
        prop_assume!(loops.iter().all(|one| one.accesses_apart_max(&records) < SETTINGS.window));
        let (report, left) = find(&records, SETTINGS);
        let mut found: Vec<(u64, u64, u64)> =
            report.listed.iter().map(|copy| (copy.dst.0, copy.src.unwrap().0, copy.bytes)).collect();
        found.sort_unstable();
        let mut expected: Vec<_> = loops.iter().map(|one| (one.dst, one.src, one.bytes())).collect();
        expected.sort_unstable();
        // The report counts copies with equal candidates: addresses do not tell which is the source.
        if report.ambiguous > 0 && found != expected {
            return Ok(());
        }
        prop_assert_eq!(found, expected);
        let is_noise = |record: &&Record| match record.event {
            Event::Read { address, .. } | Event::Write { address, .. } => address.0 < 1 << 30,
            _ => false,
        };
        let noise: Vec<_> = records.iter().filter(is_noise).collect();
        let kept: Vec<_> = left.iter().filter(|record| !matches!(record.event, Event::Copy { .. })).collect();
        prop_assert_eq!(kept, noise, "nothing else is changed");
    }

    /// Random traffic has no copies: by chance, a pair of lines matches now and then, and four never.
    #[test]
    fn random_traffic_has_no_copies(seed in any::<u64>(), lines in 1_u64..20) {
        let mut state = seed | 1;
        let mut draw = move |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) % below
        };
        let records: Vec<_> = (0..5000).map(|_| access(draw(2) == 0, draw(1 << lines) * 64, 64)).collect();
        let (report, left) = find(&records, FindSettings { bytes_min: 1024, ..SETTINGS });
        prop_assert_eq!(report.copies.count, 0);
        prop_assert_eq!(left, records);
    }

    /// Overlapping and disturbed copies: whatever is found, the final memory is that of the trace.
    #[test]
    fn the_rewritten_trace_has_the_same_final_memory(
        drafts in arb_drafts(),
        places in prop::collection::vec((0_u64..300, 0_u64..300), 8),
        noise in 0_u64..50,
        words in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let piece = if words { 8 } else { 64 };
        let loops: Vec<Loop> = drafts.iter().zip(places).map(|(draft, (src, dst))| {
            let order = if draft.down { AddressOrder::Down } else { AddressOrder::Up };
            let (src, dst) = (src * 64, dst * 64 + if words { 8 * (draft.gap % 8) } else { 0 });
            Loop { piece, ahead: draft.ahead, order, pieces: draft.pieces * (64 / piece), dst, src }
        }).collect();
        let mut records = mix(&loops, noise, seed);
        for (record, number) in records.iter_mut().zip(0..) {
            record.arrival = Arrival::AtCycle(dram_spec::Cycle(number));
        }
        let (report, left) = find(&records, SETTINGS);
        let kept: BTreeSet<u64> =
            left.iter().filter(|record| !matches!(record.event, Event::Copy { .. })).map(number).collect();
        // Destinations and sources of the writes that were replaced.
        let mut sources = BTreeMap::new();
        for copy in &report.listed {
            for (number, start) in writes_of(copy, &records) {
                let before = sources.insert(number, start - copy.dst.0 + copy.src.unwrap().0);
                prop_assert_eq!(before, None, "a write belongs to two copies");
            }
        }
        let writes = records.iter().filter(|record| matches!(record.event, Event::Write { .. })).map(number);
        let replaced: BTreeSet<u64> = writes.filter(|number| !kept.contains(number)).collect();
        prop_assert!(replaced.iter().eq(sources.keys()), "the copies do not have the writes that were replaced");
        let (memory, reads) = play(&records, &sources);
        let (rewritten, reads_left) = play(&left, &BTreeMap::new());
        prop_assert_eq!(memory, rewritten);
        prop_assert!(reads_left.iter().all(|(number, found)| reads[number] == *found), "a read returns other bytes");
    }
}
