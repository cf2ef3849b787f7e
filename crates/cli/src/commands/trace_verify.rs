//! `rowclone-sim trace verify`: the consistency of a recording.

use rowclone_config::{Failure, file};
use rowclone_sim::quantity::counted;

use crate::args::TraceVerifyArgs;
use crate::{interrupt, recording};

/// Reads a recording to its end, and compares everything, with the digest.
///
/// # Errors
/// The file is no recording, truncated, damaged or inconsistent. The error has the offset.
pub fn run(args: &TraceVerifyArgs) -> Result<String, Failure> {
    let path = &file::spool(&args.file).map_err(|error| Failure::reading(&args.file, &error))?;
    let mut reader = recording::open(path)?.with_digest();
    let stop = interrupt::flag();
    while reader.next_block().map_err(|error| recording::refused(path, &error))?.is_some() {
        Failure::if_raised(&stop)?;
    }
    let totals = reader.metadata().totals;
    let (blocks, instructions) = (counted(totals.blocks, "block"), counted(totals.instructions, "instruction"));
    Ok(format!("{}: {blocks} of {instructions} are consistent\n", path.display()))
}
