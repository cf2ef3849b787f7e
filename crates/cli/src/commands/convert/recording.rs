//! `convert` of recordings of programs.

use std::io::BufWriter;
use std::num::NonZeroU32;

use dram_spec::address::PhysicalAddress;
use rowclone_config::{AtomicFile, Failure, file};
use rowclone_sim::quantity::counted;
use trace_io::recording::{self, BLOCK_WORDS_MAX, BlockEntry, Detail, Metadata};
use trace_io::trace::{self, Arrival, Converter, Record};

use super::{commit, converter, pushing};
use crate::args::ConvertArgs;
use crate::formats::{self, FileFormat};
use crate::recording::{self as input, RecordingFile};
use crate::{faults, interrupt, output::message};

/// The recording that `convert` writes.
fn output(args: &ConvertArgs, metadata: Metadata) -> Result<RecordingFile, Failure> {
    RecordingFile::create(&args.output, args.level, args.force, metadata)
}

/// Calls a function with each block of a recording, up to `--first` instructions.
fn each_block(
    args: &ConvertArgs,
    reader: &mut recording::RecordingReader<file::Input>,
    mut each: impl FnMut(&recording::WordBlock<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let stop = interrupt::flag();
    let mut remaining = args.first.unwrap_or(u64::MAX);
    while remaining > 0
        && let Some(block) = reader.next_block().map_err(|error| input::refused(&args.input, &error))?
    {
        Failure::if_raised(&stop)?;
        let block = block.first(remaining);
        remaining -= block.instructions;
        each(&block)?;
        if block.is_cut {
            break;
        }
    }
    Ok(())
}

/// A recording to a recording.
pub fn to_recording(args: &ConvertArgs) -> Result<(), Failure> {
    let mut reader = input::open(&args.input)?;
    let mut metadata = reader.metadata().clone();
    metadata.contents &= !args.without_contents;
    let has_contents = metadata.contents;
    let mut output = output(args, metadata)?;
    each_block(args, &mut reader, |block| {
        output.block(block.thread, block.process, block.words, block.contents.filter(|_| has_contents))
    })?;
    input::written(output)
}

/// A recording to a memory trace. Events are left out.
pub fn to_trace(args: &ConvertArgs, to: FileFormat) -> Result<(), Failure> {
    let mut reader = input::open(&args.input)?;
    let mut converter: Converter<BufWriter<AtomicFile>> = converter(args, to)?;
    let (mut events, mut instructions) = (0, 0);
    each_block(args, &mut reader, |block| {
        for entry in block.entries() {
            match entry {
                BlockEntry::Event(_) => events += 1,
                BlockEntry::Instructions(count) => instructions += count,
                BlockEntry::Access(access) => {
                    instructions += u64::from(access.instructions);
                    let kind = if access.is_store { trace::AccessKind::Write } else { trace::AccessKind::Read };
                    let event = trace::Event::of_bytes(
                        kind,
                        PhysicalAddress(access.address),
                        NonZeroU32::new(access.bytes() as u32),
                    );
                    let record = Record { arrival: Arrival::AfterInstructions(instructions), event };
                    instructions = 0;
                    let place = || format!("block {}", block.number);
                    converter.push(&record).map_err(|error| pushing(args, place(), &error))?;
                }
            }
        }
        Ok(())
    })?;
    commit(args, to, converter)?;
    if events > 0 {
        message(&format!("warning: {} left out", counted(events, "event")));
    }
    Ok(())
}

/// A memory trace to a recording: of one process and thread, or of page faults.
pub fn of_trace(args: &ConvertArgs, from: FileFormat) -> Result<(), Failure> {
    let path = &args.input;
    let refused = |error| formats::refused(path, &error);
    let mut reader = formats::memory_trace(path, trace::Format::named(from.name))?;
    let recorder = format!("rowclone-sim {} convert", env!("CARGO_PKG_VERSION"));
    let metadata = Metadata { recorder, ..Metadata::default() };
    let stop = interrupt::flag();
    if reader.format().recorded == trace::Recorded::OsEvents {
        let unseen = faults::UNSEEN.map(str::to_owned).to_vec();
        let mut output = output(args, Metadata { detail: Detail::Faults, unseen, ..metadata })?;
        faults::blocks(reader, refused, |task, words| {
            Failure::if_raised(&stop)?;
            output.block(task.thread, task.process, &words, None)
        })?;
        return input::written(output);
    }
    let unseen = vec!["Events of the system, as a memory trace has none.".to_owned()];
    let mut output = output(args, Metadata { unseen, ..metadata })?;
    let mut words: Vec<u64> = recording::Event::Create { process: 1 }.words().to_vec();
    let mut dropped = 0;
    while let Some(record) = reader.next() {
        Failure::if_raised(&stop)?;
        let record = record.map_err(refused)?;
        let access = match (record.arrival, record.event.as_bytes()) {
            (Arrival::AfterInstructions(instructions), Ok(access)) => Ok((instructions, access)),
            (_, Err(what)) => Err(what),
            _ => Err("an arrival without instructions"),
        };
        match access {
            Ok((instructions, (kind, PhysicalAddress(address), bytes))) => {
                let (address, bytes) = bytes.map_or((address & !63, 64), |bytes| (address, bytes.get()));

                let is_store = kind == trace::AccessKind::Write;
                words.extend(recording::MemoryAccess::words(is_store, address, bytes.into(), instructions));
            }
            Err(_) if args.drop_unsupported => dropped += 1,
            Err(what) => {
                let place = format!("{}:{}", path.display(), reader.line());
                let error = Failure::new(format!("{place}: {what} cannot be written as a recording"));
                return Err(error.with_help("leave out such records with `--drop-unsupported`"));
            }
        }
        while words.len() >= BLOCK_WORDS_MAX {
            output.block(1, 1, &words[..BLOCK_WORDS_MAX], None)?;
            words.drain(..BLOCK_WORDS_MAX);
        }
    }
    words.extend(recording::Event::Exit.words());
    for words in words.chunks(BLOCK_WORDS_MAX) {
        output.block(1, 1, words, None)?;
    }
    input::written(output)?;
    if dropped > 0 {
        message(&format!("warning: {} left out", counted(dropped, "record")));
    }
    Ok(())
}
