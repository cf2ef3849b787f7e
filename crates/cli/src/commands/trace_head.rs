//! `rowclone-sim trace head`: the first words and events of a recording.

use std::fmt::Write;

use rowclone_config::{Failure, file};

use crate::args::TraceHeadArgs;
use crate::recording;

/// The first words and events, one per line after its thread and process.
///
/// # Errors
/// The file is no recording, or damaged before the last line.
pub fn run(args: &TraceHeadArgs) -> Result<String, Failure> {
    let path = &file::spool(&args.file).map_err(|error| Failure::reading(&args.file, &error))?;
    let mut reader = recording::open(path)?;
    let (mut text, mut remaining) = (String::new(), args.lines);
    while remaining > 0
        && let Some(block) = reader.next_block().map_err(|error| recording::refused(path, &error))?
    {
        for entry in block.entries().take(remaining) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} {} {entry}", block.thread, block.process);
            remaining -= 1;
        }
    }
    Ok(text)
}
