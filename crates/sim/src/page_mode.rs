//! Runs on a page-mode memory.

use std::sync::atomic::AtomicBool;

use dram_spec::{Cycles, EventSink};
use host::{CheckedSource, Contents, FlatMemory, MemoryCheck};
use memctrl::stats::Stats;
use memctrl::{PageMode, PageModeError, PageModeMemory, RequestSource};

use crate::error::ExperimentError;

/// Runs a source on a page-mode memory; with contents, compares the memory with a flat one.
pub(crate) fn drive<S: RequestSource>(
    (settings, warm_up): (PageMode, Cycles),
    contents: Option<&Contents>,
    mut source: S,
    sink: &mut impl EventSink,
    stop: &AtomicBool,
) -> Result<(S, Stats, Option<MemoryCheck>), ExperimentError> {
    let refused = |error| match error {
        PageModeError::Stopped => ExperimentError::Stopped,
        PageModeError::Copy => ExperimentError::PageModeCopy,
    };
    let Some(contents) = contents else {
        let stats = PageModeMemory::new(settings, None, warm_up).run(&mut source, sink, stop).map_err(refused)?;
        return Ok((source, stats, None));
    };
    let at_reset = contents.clone();
    let mut memory = PageModeMemory::new(settings, Some(Box::new(move |line| at_reset.line_at(line))), warm_up);
    let mut checked = CheckedSource::new(source, FlatMemory::new(contents.clone()));
    let stats = memory.run(&mut checked, sink, stop).map_err(refused)?;
    let (source, check) = checked.finish_with_lines(|line| memory.line(line));
    Ok((source, stats, Some(check)))
}
