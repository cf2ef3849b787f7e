//! `trace find-copies` of recordings of programs.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use dram_spec::PhysicalAddress;
use rowclone_config::Failure;
use rowclone_sim::quantity::counted;
use trace_io::recording::{self, BLOCK_WORDS_MAX, BlockEntry, INLINE_MAX, OPERANDS_MAX, Routine};
use trace_io::trace::copies::{CopyFinder, CopyReport, FindSettings, FoundCopy};
use trace_io::trace::{self, Arrival, Record};

use crate::args::FindCopiesArgs;
use crate::interrupt;
use crate::recording::{self as input, RecordingFile};

/// Bytes of a piece of an access.
const PIECE_BYTES: u64 = 64;
/// Bits of a position in the words of a thread; the thread is above.
const POSITION_BITS: u32 = 42;

/// Pieces of accesses, and events, of each thread so far.
type Positions = BTreeMap<u32, u64>;

/// A found copy whose pieces follow each other in the words of a thread.
#[derive(Clone, Copy, Debug)]
struct CopyMark {
    /// Positions of its first and last piece.
    first: u64,
    last: u64,
    routine: Routine,
    dst: u64,
    bytes: u64,
}

/// The address for the search: addresses of different processes differ.
const fn of_process(process: u32, address: u64) -> PhysicalAddress {
    PhysicalAddress((process as u64) << 48 | address & INLINE_MAX)
}

/// The address in its process.
const fn in_process(address: PhysicalAddress) -> u64 {
    ((address.0 << 16).cast_signed() >> 16).cast_unsigned()
}

/// Number of positions that an entry takes.
const fn positions(entry: &BlockEntry) -> u64 {
    match entry {
        BlockEntry::Access(access) => access.bytes().div_ceil(PIECE_BYTES),
        BlockEntry::Instructions(_) => 0,
        BlockEntry::Event(_) => 1,
    }
}

/// Finds copies, and writes the recording with marks if `--write` is given.
///
/// # Errors
/// The recording cannot be read to its end; the output exists or cannot be written. Then no file is written.
pub fn run(args: &FindCopiesArgs) -> Result<String, Failure> {
    let mut report = search(args)?;
    let (marks, others) = marks(&report);
    let numbers = (marks.values().map(|marks| marks.len() as u64).sum(), others);
    if args.write.is_some() {
        write(args, marks)?;
    }
    let position = |line: u64| line & ((1 << POSITION_BITS) - 1);
    for copy in &mut report.listed {
        copy.lines = (position(copy.lines.0), position(copy.lines.1));
        copy.dst = PhysicalAddress(in_process(copy.dst));
        copy.src = copy.src.map(|src| PhysicalAddress(in_process(src)));
    }
    super::rendered(args, "recording", &report, Some(numbers))
}

/// Reads the recording to its end. Accesses within routines are left out.
fn search(args: &FindCopiesArgs) -> Result<CopyReport, Failure> {
    let FindCopiesArgs { window, min_bytes, instructions_per_clock, .. } = *args;
    let mut finder = CopyFinder::new(FindSettings { window, bytes_min: min_bytes, instructions_per_clock });
    let mut reader = input::open(&args.file)?;
    let (mut all, mut in_routine) = (Positions::new(), BTreeMap::new());
    let stop = interrupt::flag();
    let leave = |_: &Record| Ok::<_, Failure>(());
    while let Some(block) = reader.next_block().map_err(|error| input::refused(&args.file, &error))? {
        Failure::if_raised(&stop)?;
        let thread = u64::from(block.thread) << POSITION_BITS;
        let position = all.entry(block.thread).or_default();
        let in_routine: &mut bool = in_routine.entry(block.thread).or_default();
        let mut push = |event, line, data: Option<&[u8]>| {
            finder.push(&Record { arrival: Arrival::WhenTaken, event }, line, data, leave)
        };
        let mut contents = block.contents;
        for entry in block.entries() {
            match entry {
                BlockEntry::Access(access) => {
                    let bytes = access.bytes();
                    let data = contents.and_then(|contents| contents.get(..bytes as usize));
                    contents = contents.and_then(|rest| rest.get(bytes as usize..));
                    let kind = if access.is_store { trace::AccessKind::Write } else { trace::AccessKind::Read };
                    let pieces = if *in_routine { 0 } else { positions(&entry) };
                    for piece in 0..pieces {
                        let done = piece * PIECE_BYTES;
                        let address = of_process(block.process, access.address + done);
                        let size = NonZeroU32::new((bytes - done).min(PIECE_BYTES) as u32);
                        let data = data.and_then(|data| data.get(done as usize..));
                        push(trace::Event::of_bytes(kind, address, size), thread | (*position + piece + 1), data)?;
                    }
                }
                BlockEntry::Event(recording::Event::Call { routine, dst, bytes }) => {
                    *in_routine = true;
                    let dst = of_process(block.process, dst);
                    let event = match routine {
                        Routine::Copy { src } | Routine::Move { src } | Routine::CopyPage { src } => {
                            let src = of_process(block.process, src);
                            trace::Event::Copy { dst, src, bytes, instructions: 0 }
                        }
                        Routine::Set { value } => trace::Event::Fill { dst, value, bytes, instructions: 0 },
                        Routine::ClearPage => trace::Event::Fill { dst, value: 0, bytes, instructions: 0 },
                    };
                    push(event, thread | (*position + 1), None)?;
                }
                BlockEntry::Event(recording::Event::Return) => *in_routine = false,
                BlockEntry::Event(_) | BlockEntry::Instructions(_) => {}
            }
            *position += positions(&entry);
        }
    }
    finder.finish(leave)
}

/// The marks of each thread in the order of its words, and the number of copies and fills without one.
fn marks(report: &CopyReport) -> (BTreeMap<u32, VecDeque<CopyMark>>, u64) {
    let mut marks: BTreeMap<u32, VecDeque<CopyMark>> = BTreeMap::new();
    let mut count = 0;
    for copy in &report.listed {
        let FoundCopy { lines: (_, last), src, dst, bytes, begin_line: first, pieces, .. } = *copy;
        if pieces != (last - first.min(last)) + 1 {
            continue;
        }
        let routine = src.map_or(Routine::Set { value: 0 }, |src| Routine::Copy { src: in_process(src) });
        let of_thread = marks.entry((last >> POSITION_BITS) as u32).or_default();
        let position = |line: u64| line & ((1 << POSITION_BITS) - 1);
        of_thread.push_back(CopyMark {
            first: position(first),
            last: position(last),
            routine,
            dst: in_process(dst),
            bytes,
        });
        count += 1;
    }
    for of_thread in marks.values_mut() {
        of_thread.make_contiguous().sort_unstable_by_key(|mark| mark.first);
    }
    (marks, report.copies.count + report.fills.count - count)
}

/// Writes the recording with `call` before the first access of each mark and `return` after the last one.
fn write(args: &FindCopiesArgs, mut marks: BTreeMap<u32, VecDeque<CopyMark>>) -> Result<(), Failure> {
    let path = args.write.as_deref().expect("there is an output");
    let mut reader = input::open(&args.file)?;
    let mut output = RecordingFile::create(path, None, args.force, reader.metadata().clone())?;
    let mut all = Positions::new();
    let stop = interrupt::flag();
    while let Some(block) = reader.next_block().map_err(|error| input::refused(&args.file, &error))? {
        Failure::if_raised(&stop)?;
        let position = all.entry(block.thread).or_default();
        let marks = marks.entry(block.thread).or_default();
        let (mut entries, mut words, mut bytes) = (block.entries(), Vec::new(), 0);
        let mut contents = block.contents;
        let mut begin = 0;
        while let Some(entry) = entries.next() {
            let end = block.words.len() - entries.words_left();
            let own = &block.words[begin..end];
            begin = end;
            if let BlockEntry::Access(access) = entry {
                bytes += access.bytes() as usize;
                if let Some(&CopyMark { first, routine, dst, bytes, .. }) = marks.front()
                    && first == *position + 1
                {
                    words.extend(recording::Event::Call { routine, dst, bytes }.words());
                }
            }
            words.extend(own);
            *position += positions(&entry);
            if marks.front().is_some_and(|mark| mark.last == *position) {
                marks.pop_front();
                words.extend(recording::Event::Return.words());
            }
            // The next entry, a `call` and a `return`.
            if words.len() + 3 * (1 + OPERANDS_MAX) > BLOCK_WORDS_MAX || entries.words_left() == 0 {
                let own = contents.map(|contents| &contents[..bytes]);
                output.block(block.thread, block.process, &words, own)?;
                contents = contents.map(|contents| &contents[bytes..]);
                words.clear();
                bytes = 0;
            }
        }
    }
    input::written(output)
}

/// Text with the numbers of copies and fills that can be marked and that cannot.
pub fn marked((marked, others): (u64, u64)) -> String {
    let marked = counted(marked, "copy or fill").replace("copy or fills", "copies and fills");
    format!("{marked} can be marked; of {others}, the accesses are not contiguous in the words of a thread")
}
