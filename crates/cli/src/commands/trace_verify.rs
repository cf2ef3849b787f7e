//! `rowclone-sim trace verify`: the consistency of a recording.

use rowclone_config::programs::compared;
use rowclone_config::{Failure, file};
use rowclone_sim::quantity::counted;
use trace_io::recording::{Detail, Metadata};

use crate::args::TraceVerifyArgs;
use crate::{interrupt, recording};

/// Checks all of a recording and its digest; then compares the contents of loads with those of earlier stores, if
/// there are contents.
///
/// # Errors
/// The file is no recording, truncated, damaged or inconsistent. The error has the offset, or block and word.
pub fn run(args: &TraceVerifyArgs) -> Result<String, Failure> {
    let path = &file::spool(&args.file).map_err(|error| Failure::reading(&args.file, &error))?;
    let mut reader = recording::open(path)?.with_digest();
    let stop = interrupt::flag();
    while reader.next_block().map_err(|error| recording::refused(path, &error))?.is_some() {
        Failure::if_raised(&stop)?;
    }
    let totals = reader.metadata().totals;
    let (blocks, instructions) = (counted(totals.blocks, "block"), counted(totals.instructions, "instruction"));
    let contents = match reader.metadata() {
        Metadata { contents: true, detail: Detail::Accesses, .. } => format!("{}\n", compared(path)?),
        _ => String::new(),
    };
    Ok(format!("{}: {blocks} with {instructions} are consistent\n{contents}", path.display()))
}
