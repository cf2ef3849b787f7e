//! `rowclone-sim trace info`: the contents of a memory trace.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use rowclone_config::{Failure, file};
use rowclone_sim::quantity::{bytes, counted, grouped};
use serde_json::{Value, json};
use trace_io::Text;
use trace_io::trace::{Format, RecordTiming, TraceSummary};

use super::recording_info;
use crate::args::TraceInfoArgs;
use crate::{formats, recording};

/// Lines that are shown from each end of the trace.
const LINES: usize = 3;
/// Characters that are shown of a line.
const CHARACTERS: usize = 100;

/// The first and last lines of a trace, with their numbers.
struct Ends {
    first: Vec<(u64, String)>,
    last: VecDeque<(u64, String)>,
}

/// The format of a trace, its records, its addresses, and its first and last lines.
///
/// # Errors
/// The trace cannot be read to its end.
pub fn run(args: &TraceInfoArgs) -> Result<String, Failure> {
    let path = &file::spool(&args.file).map_err(|error| Failure::reading(&args.file, &error))?;
    if args.input_format.is_none() && recording::is_recording(path)? {
        return recording_info::run(args, path);
    }
    let reader = formats::memory_trace(path, args.input_format)?;
    let format = reader.format();
    let summary = TraceSummary::of(reader).map_err(|error| formats::refused(path, &error))?;
    let text = file::open(path).and_then(Text::new);
    let ends = text.and_then(|text| Ends::of(BufReader::new(text))).map_err(|error| Failure::reading(path, &error))?;
    let table = || {
        let lines = ends.first.iter().chain(&ends.last);
        let lines = lines.map(|(number, line)| (format!("line {}", grouped(*number)), line.clone()));
        let rows = rows(path, format, &summary).into_iter().map(|(name, value)| (name.to_owned(), value));
        rows.chain(lines).map(|(name, value)| format!("{name:12}  {value}\n")).collect::<Vec<_>>().concat()
    };
    args.format.render(table, &json(path, format, &summary, &ends))
}

/// The lines of the table.
fn rows(path: &Path, format: &Format, summary: &TraceSummary) -> Vec<(&'static str, String)> {
    let bulk = |of: trace_io::trace::copies::Amount| format!("{} ({})", grouped(of.count), bytes(of.bytes));
    let mut rows = vec![
        ("file", path.display().to_string()),
        ("format", format.name.to_owned()),
        ("recorded", format.recorded.description().to_owned()),
        ("arrivals", arrivals(format, summary)),
        ("records", grouped(summary.records)),
        ("reads", grouped(summary.reads)),
        ("writes", grouped(summary.writes)),
        ("writebacks", grouped(summary.writebacks)),
        ("copies", bulk(summary.copies)),
        ("fills", bulk(summary.fills)),
    ];
    if summary.faults + summary.forks + summary.exits > 0 {
        let TraceSummary { faults, forks, exits, .. } = summary;
        let (faults, forks) = (counted(*faults, "page fault"), counted(*forks, "fork"));
        rows.push(("OS events", format!("{faults}, {forks}, {}", counted(*exits, "exit"))));
    }
    match summary.addresses {
        Some((lowest, highest)) => {
            let least = if summary.is_capped() { "at least " } else { "" };
            rows.push(("addresses", format!("{lowest:#x} to {highest:#x}")));
            rows.push(("pages", format!("{least}{} of 4 KiB", grouped(summary.pages()))));
            rows.push(("footprint", format!("{least}{} in lines of 64 bytes", bytes(summary.footprint_bytes()))));
        }
        None => rows.push(("addresses", "none: the records have DRAM coordinates, or no place".to_owned())),
    }
    rows
}

/// How the records specify their arrivals.
fn arrivals(format: &Format, summary: &TraceSummary) -> String {
    let late = match summary.late {
        0 => String::new(),
        late => format!("; {} before an earlier one", counted(late, "record")),
    };
    let instructions = || format!("{} between records", counted(summary.instructions, "instruction"));
    let cycle = summary.last_cycle.map(|cycle| format!("clocks, the last {}", grouped(cycle)));
    let time = summary.last_ps.map(|ps| format!("times, the last {} ns", ps as f64 / 1000.0));
    match (format.timing, cycle, time) {
        (RecordTiming::Instructions, ..) => instructions(),
        (_, Some(cycle), Some(time)) => format!("{cycle}; {time}{late}"),
        (_, Some(one), None) | (_, None, Some(one)) => one + &late,
        (_, None, None) => "none: as fast as requests are accepted".to_owned(),
    }
}

fn json(path: &Path, format: &Format, summary: &TraceSummary, ends: &Ends) -> Value {
    let lines = |lines: Vec<&(u64, String)>| -> Vec<Value> {
        lines.into_iter().map(|(number, text)| json!({ "line": number, "text": text })).collect()
    };
    json!({
        "file": path.display().to_string(),
        "format": format.name,
        "recorded": format.recorded.name(),
        "records": summary.records,
        "reads": summary.reads,
        "writes": summary.writes,
        "writebacks": summary.writebacks,
        "copies": summary.copies.count,
        "copied_bytes": summary.copies.bytes,
        "fills": summary.fills.count,
        "filled_bytes": summary.fills.bytes,
        "page_faults": summary.faults,
        "forks": summary.forks,
        "exits": summary.exits,
        "instructions": summary.instructions,
        "late_records": summary.late,
        "last_cycle": summary.last_cycle,
        "last_ps": summary.last_ps,
        "lowest_address": summary.addresses.map(|(lowest, _)| lowest),
        "highest_address": summary.addresses.map(|(_, highest)| highest),
        "pages": summary.pages(),
        "footprint_bytes": summary.footprint_bytes(),
        "is_lower_bound": summary.is_capped(),
        "first_lines": lines(ends.first.iter().collect()),
        "last_lines": lines(ends.last.iter().collect()),
    })
}

impl Ends {
    /// The ends of a text whose lines a reader has found to be short.
    fn of(mut text: impl BufRead) -> io::Result<Ends> {
        let mut ends = Ends { first: Vec::new(), last: VecDeque::new() };
        let (mut line, mut number) = (Vec::new(), 0);
        while text.read_until(b'\n', &mut line)? > 0 {
            number += 1;
            let characters = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
            let shown: String = characters.chars().take(CHARACTERS).collect();
            let shown = if shown.len() < characters.len() { shown + " ..." } else { shown };
            if ends.first.len() < LINES {
                ends.first.push((number, shown));
            } else {
                ends.last.push_back((number, shown));
                if ends.last.len() > LINES {
                    ends.last.pop_front();
                }
            }
            line.clear();
        }
        Ok(ends)
    }
}
