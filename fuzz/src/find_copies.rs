//! A search for copies in any bytes, whose counts are compared with the records that leave it.

use std::convert::Infallible;

use trace_io::trace::copies::{CopyFinder, CopyReport, FindSettings};
use trace_io::trace::{Event, Format, Record, TraceReader};

/// A window of few accesses, so that copies end within short traces, and the default.
const SETTINGS: [FindSettings; 2] = [
    FindSettings { window: 8, bytes_min: 16, instructions_per_clock: 0.5 },
    FindSettings { window: 256, bytes_min: 1024, instructions_per_clock: 4.0 },
];

/// Searches a trace up to its first error under each setting; `None` if the bytes are no trace.
///
/// # Panics
/// If the counts of a report differ from the records that leave the search.
pub fn search(bytes: &[u8], format: Option<&'static Format>) -> Option<[CopyReport; 2]> {
    let mut reports = SETTINGS.map(|settings| search_with(settings, bytes, format)).into_iter();
    Some([reports.next()??, reports.next()??])
}

fn search_with(settings: FindSettings, bytes: &[u8], format: Option<&'static Format>) -> Option<CopyReport> {
    let mut reader = TraceReader::new(bytes, format).ok()?;
    let (mut finder, mut left) = (CopyFinder::new(settings), Left::default());
    let mut records = 0;
    while let Some(Ok(record)) = reader.next() {
        records += 1;
        let Ok(()) = finder.push(&record, reader.line(), reader.data().as_deref(), add(&mut left));
    }
    let Ok(report) = finder.finish(add(&mut left));
    let found = report.copies.count + report.fills.count;
    assert_eq!(report.records, records);
    assert_eq!(left.accesses + report.replaced.count, report.reads.count + report.writes.count, "accesses");
    assert_eq!(left.ranges, found + report.recorded.count, "copies and fills");
    // Each byte of a copy was written, and read for this copy or for another of equal source; each
    // byte of a fill was written.
    let written = report.copies.bytes + report.fills.bytes;
    assert!((written..=written + report.copies.bytes).contains(&report.replaced.bytes), "bytes");
    assert_eq!(report.listed.len() as u64, found.min(CopyReport::LISTED_MAX as u64), "listed");
    for copy in &report.listed {
        assert!(copy.bytes >= settings.bytes_min && copy.choices >= 1, "{copy:?}");
        assert!(copy.lines.0 <= copy.lines.1 && copy.lines.1 <= reader.line(), "{copy:?}");
    }
    Some(report)
}

/// Counts the records that leave.
fn add(left: &mut Left) -> impl FnMut(&Record) -> Result<(), Infallible> {
    |record| {
        left.add(record);
        Ok(())
    }
}

/// Records that left the search.
#[derive(Default)]
struct Left {
    accesses: u64,
    /// Copies and fills.
    ranges: u64,
}

impl Left {
    fn add(&mut self, record: &Record) {
        match record.event {
            Event::Read { .. } | Event::Write { .. } => self.accesses += 1,
            Event::Copy { .. } | Event::Fill { .. } => self.ranges += 1,
            Event::Located { .. } | Event::Os(_) => {}
        }
    }
}
