//! `rowclone-sim trace info` of a recording of a program.

use std::path::Path;

use rowclone_config::{Failure, file};
use rowclone_sim::quantity::{bytes, grouped};
use serde_json::{Map, Value, json};
use trace_io::recording::{EVENT_NAMES, Metadata, RecordingSummary};

use crate::args::TraceInfoArgs;
use crate::recording;

/// Metadata, totals, events and copies of a recording.
///
/// # Errors
/// The recording cannot be read to its end.
pub fn run(args: &TraceInfoArgs, path: &Path) -> Result<String, Failure> {
    let size = file::open(path).map_err(|error| Failure::reading(path, &error))?.size();
    let mut reader = recording::open(path)?;
    let summary = RecordingSummary::of(&mut reader).map_err(|error| recording::refused(path, &error))?;
    let metadata = reader.metadata();
    let table = || {
        let rows = rows(path, size, metadata, &summary);
        rows.into_iter().map(|(name, value)| format!("{name:12}  {value}\n")).collect::<Vec<_>>().concat()
    };
    args.format.render(table, &json(path, size, metadata, &summary))
}

/// Share of a total; 0 if the total is 0.
fn part(part: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { part as f64 / total as f64 }
}

/// Names and numbers of the events that occur.
fn events(summary: &RecordingSummary) -> impl Iterator<Item = (&'static str, u64)> {
    EVENT_NAMES.iter().copied().zip(summary.events).filter(|(_, count)| *count > 0)
}

fn rows(path: &Path, size: u64, metadata: &Metadata, summary: &RecordingSummary) -> Vec<(&'static str, String)> {
    let Metadata { detail, order, totals, .. } = metadata;
    let key = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let events: Vec<String> = events(summary).map(|(name, count)| format!("{} {name}", grouped(count))).collect();
    let bits = 8.0 * part(size, totals.instructions);
    let share = 100.0 * part(summary.routine_instructions, totals.instructions);
    let RecordingSummary { kernel_copied_bytes, kernel_zeroed_bytes, routine_copied_bytes, routine_set_bytes, .. } =
        *summary;
    let mut rows = vec![
        ("file", path.display().to_string()),
        ("format", "recording of a program".to_owned()),
        ("program", metadata.program.join(" ")),
        ("recorder", metadata.recorder.clone()),
        ("detail", key(json!(detail))),
        ("order", key(json!(order))),
        ("contents", if metadata.contents { "yes" } else { "no" }.to_owned()),
        ("page", bytes(metadata.page_bytes)),
        ("threads", grouped(totals.threads)),
        ("processes", grouped(totals.processes)),
        ("blocks", grouped(totals.blocks)),
        ("instructions", format!("{}; {bits:.2} bits of the file each", grouped(totals.instructions))),
        ("loads", grouped(totals.loads)),
        ("stores", grouped(totals.stores)),
        ("events", if events.is_empty() { "none".to_owned() } else { events.join(", ") }),
        ("kernel", format!("copies {}, zeroes {}", bytes(kernel_copied_bytes), bytes(kernel_zeroed_bytes))),
        ("routines", format!("copy {}, set {}", bytes(routine_copied_bytes), bytes(routine_set_bytes))),
        ("", format!("{share:.1} % of the instructions")),
    ];
    rows.extend(metadata.unseen.iter().map(|sentence| ("unseen", sentence.clone())));
    rows
}

fn json(path: &Path, size: u64, metadata: &Metadata, summary: &RecordingSummary) -> Value {
    let events: Map<String, Value> = events(summary).map(|(name, count)| (name.to_owned(), count.into())).collect();
    json!({
        "file": path.display().to_string(),
        "format": "recording",
        "file_bytes": size,
        "bits_per_instruction": 8.0 * part(size, metadata.totals.instructions),
        "metadata": metadata,
        "events": events,
        "kernel_copied_bytes": summary.kernel_copied_bytes,
        "kernel_zeroed_bytes": summary.kernel_zeroed_bytes,
        "routine_copied_bytes": summary.routine_copied_bytes,
        "routine_set_bytes": summary.routine_set_bytes,
        "routine_instructions": summary.routine_instructions,
    })
}
