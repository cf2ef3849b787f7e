//! `rowclone-sim trace find-copies`: copies among the reads and writes of a memory trace.

mod recording;

use std::io::BufWriter;

use report::table::Align::{Left, Right};
use report::table::{TextColumn, listed};
use rowclone_config::{AtomicFile, Existing, Failure, Overrides, SystemConfig, file};
use rowclone_sim::quantity::{bytes, counted, grouped};
use serde_json::{Value, json};
use trace_io::trace::copies::{AddressOrder, Amount, CopyFinder, CopyReport, FindSettings, FoundCopy};
use trace_io::trace::{Addresses, ConvertSystem, Converter, Event, Format, Record, TraceReader, in_rank, place_of};
use trace_io::{ErrorKind, LineError};

use super::convert::convert_system;
use crate::args::FindCopiesArgs;
use crate::recording::is_recording;
use crate::{formats, interrupt, output};

/// The trace with copies, as `--write` writes it.
type Output = Converter<BufWriter<AtomicFile>>;

/// Finds copies, and writes the trace with them if `--write` is given.
///
/// # Errors
/// The trace cannot be read to its end, has page faults or DRAM coordinates without a system; the output exists or
/// cannot be written. Then no file is written.
///
/// # Panics
/// The native format does not exist, which a test of `trace-io` excludes.
pub fn run(args: &FindCopiesArgs) -> Result<String, Failure> {
    if args.input_format.is_none() && args.file.is_file() && is_recording(&args.file)? {
        return recording::run(args);
    }
    let reader = formats::memory_trace(file::of_argument(&args.file), args.input_format)?;
    let format = reader.format();
    let system = args.system.as_ref().map(|system| SystemConfig::read(system, &Overrides::default())).transpose()?;
    let system = system.as_ref().map(convert_system);
    check_addresses(args, format, system.as_ref())?;
    let native = Format::named("native").expect("it is a format");
    let create = |path| {
        let file = AtomicFile::create(path, Existing::with_force(args.force))?;
        Ok::<_, Failure>(BufWriter::new(file))
    };
    let output = args.write.as_deref().map(create).transpose()?;
    let output = output.map(|output| Converter::new(output, native, None, args.instructions_per_clock, false));
    let (report, output) = search(args, reader, system.as_ref(), output)?;
    if let Some(output) = output {
        let path = args.write.as_deref().expect("there is an output");
        let written = output.finish().0.into_inner().map_err(|error| Failure::writing(path, error.error()))?;
        output::message(&format!("wrote {}", written.commit()?));
    }
    rendered(args, format.name, &report, None)
}

/// The report; of a recording, also the numbers of copies and fills that can be marked, and that cannot.
pub(super) fn rendered(
    args: &FindCopiesArgs,
    format: &str,
    report: &CopyReport,
    marks: Option<(u64, u64)>,
) -> Result<String, Failure> {
    args.format.render(|| table(args, format, report, marks), &json(args, format, report, marks))
}

/// Refuses records without addresses.
fn check_addresses(args: &FindCopiesArgs, format: &Format, system: Option<&ConvertSystem>) -> Result<(), Failure> {
    match (format.addresses, system) {
        (Addresses::Processes, _) => Err(Failure::at(&args.file, "has page faults, and no reads and writes")
            .with_help("play it: the simulated kernel copies pages, `rowclone-sim run --trace FILE`")),
        (Addresses::Coordinates, None) => Err(Failure::at(&args.file, "has DRAM coordinates, and no addresses")
            .with_help(
                "name the memory whose address map gives them addresses: `--system configs/ddr3-1600-8gb-dimm.toml`",
            )),
        _ => Ok(()),
    }
}

/// Reads the trace to its end.
fn search(
    args: &FindCopiesArgs,
    mut reader: TraceReader<file::Input>,
    system: Option<&ConvertSystem>,
    mut output: Option<Output>,
) -> Result<(CopyReport, Option<Output>), Failure> {
    let path = file::of_argument(&args.file);
    let FindCopiesArgs { window, min_bytes, instructions_per_clock, .. } = *args;
    let mut finder = CopyFinder::new(FindSettings { window, bytes_min: min_bytes, instructions_per_clock });
    let writing = |error: LineError| match (error.kind(), &args.write) {
        (ErrorKind::Io(error), Some(out)) => Failure::writing(out, error),
        _ => Failure::at(path, &error).with_help(error.help()),
    };
    let stop = interrupt::flag();
    while let Some(record) = reader.next() {
        Failure::if_raised(&stop)?;
        let record = with_address(record.map_err(|error| formats::refused(path, &error))?, system).map_err(|what| {
            Failure::new(format!("{}:{}: the memory system has no {what}", path.display(), reader.line()))
        })?;
        let leave = |record: &Record| output.as_mut().map_or(Ok(()), |output| output.push(record));
        finder.push(&record, reader.line(), reader.data().as_deref(), leave).map_err(writing)?;
    }
    let leave = |record: &Record| output.as_mut().map_or(Ok(()), |output| output.push(record));
    let report = finder.finish(leave).map_err(writing)?;
    Ok((report, output))
}

/// The record with an address instead of coordinates.
fn with_address(record: Record, system: Option<&ConvertSystem>) -> Result<Record, String> {
    let (Event::Located { access, location, group }, Some(system)) = (record.event, system) else { return Ok(record) };
    let in_rank = in_rank(location, group, system.map.geometry().topology());
    let address = in_rank.and_then(|location| system.map.address(location));
    let address = address.ok_or_else(|| place_of(location, group))?;
    Ok(Record { event: Event::of_line(access, address), ..record })
}

/// `12 (48 KiB)`.
fn sized(accesses: Amount) -> String {
    format!("{} ({})", grouped(accesses.count), bytes(accesses.bytes))
}

fn percent(part: u64, all: u64) -> String {
    format!("{:.2} %", part as f64 / all.max(1) as f64 * 100.0)
}

fn table(args: &FindCopiesArgs, format: &str, report: &CopyReport, marks: Option<(u64, u64)>) -> String {
    let all = report.reads.count + report.writes.count;
    let all_bytes = report.reads.bytes.saturating_add(report.writes.bytes);
    let share = format!(
        "{} of reads and writes, {} of their bytes",
        percent(report.replaced.count, all),
        percent(report.replaced.bytes, all_bytes)
    );
    let mut sizes: Vec<(u64, u64)> = report.sizes.iter().map(|(bytes, count)| (*count, *bytes)).collect();
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    let shown: Vec<String> =
        sizes.iter().take(4).map(|(count, size)| format!("{} x {}", grouped(*count), bytes(*size))).collect();
    let more = if sizes.len() > 4 { format!(", {} others", grouped(sizes.len() as u64 - 4)) } else { String::new() };
    let mut rows = vec![
        ("file", args.file.display().to_string()),
        ("format", format.to_owned()),
        ("records", grouped(report.records)),
        ("reads", sized(report.reads)),
        ("writes", sized(report.writes)),
        ("copies", sized(report.copies)),
        ("fills", format!("{} with zeros", sized(report.fills))),
        ("share", share),
    ];
    if report.copies.count > 0 {
        rows.insert(6, ("sizes", shown.join(", ") + &more));
    }
    if report.recorded.count > 0 {
        rows.push(("recorded", format!("{} copies and fills were records already", sized(report.recorded))));
    }
    rows.extend(marks.map(|marks| ("marks", recording::marked(marks))));
    let rows = rows.into_iter().fold(String::new(), |text, (name, value)| text + &format!("{name:8}  {value}\n"));
    let found: String = if report.listed.is_empty() || args.limit == 0 { String::new() } else { copies(args, report) };
    let notes: String = unknown(report).iter().map(|note| report::table::wrapped(note, 80)).collect();
    format!("{rows}{found}\nnot known from a trace:\n{notes}")
}

/// The first copies and fills.
fn copies(args: &FindCopiesArgs, report: &CopyReport) -> String {
    let columns: [TextColumn<'_, FoundCopy>; 5] = [
        ("lines", Right, &|copy| format!("{}-{}", copy.lines.0, copy.lines.1)),
        ("destination", Right, &|copy| format!("{:#x}", copy.dst.0)),
        ("source", Right, &|copy| copy.src.map_or("zeros".to_owned(), |src| format!("{:#x}", src.0))),
        ("bytes", Right, &|copy| grouped(copy.bytes)),
        ("order", Left, &|copy| order_name(copy.order).to_owned()),
    ];
    let shown = &report.listed[..report.listed.len().min(args.limit)];
    let left = report.copies.count + report.fills.count - shown.len() as u64;
    let more = if left > 0 { format!("... and {} more: `--limit` lists more\n", grouped(left)) } else { String::new() };
    format!("\n{}\n{more}", listed(&columns, shown, usize::MAX).trim_end())
}

const fn order_name(order: AddressOrder) -> &'static str {
    match order {
        AddressOrder::Up => "ascending",
        AddressOrder::Down => "descending",
    }
}

/// Notes about properties of the trace that its addresses do not show.
fn unknown(report: &CopyReport) -> Vec<String> {
    let mut notes = vec![
        "- whether the bytes written are those read: a loop that reads one array and writes another in step looks like \
            a copy"
            .to_owned(),
    ];
    if report.ambiguous > 0 {
        let number = counted(report.ambiguous, "copy").replace("copys", "copies");
        notes.push(format!("- the source of {number}: several sequences of reads fit, and one of them was taken"));
    }
    let without_data = report.write_runs.count - report.write_runs_with_data;
    if without_data > 0 {
        notes.push(format!(
            "- whether {} to ascending addresses, without reads that fit, are fills: the trace has no data of them",
            counted(without_data, "run of writes")
                .replace("writess", "writes")
                .replace("run of writes", "runs of writes")
        ));
    }
    notes
}

fn json(args: &FindCopiesArgs, format: &str, report: &CopyReport, marks: Option<(u64, u64)>) -> Value {
    let accesses = |of: Amount| json!({ "count": of.count, "bytes": of.bytes });
    let all = report.reads.count + report.writes.count;
    let copy = |copy: &FoundCopy| {
        json!({
            "first_line": copy.lines.0,
            "last_line": copy.lines.1,
            "dst": copy.dst.0,
            "src": copy.src.map(|src| src.0),
            "offset": copy.src.map(|src| i128::from(copy.dst.0) - i128::from(src.0)).map(|offset| offset.to_string()),
            "bytes": copy.bytes,
            "order": order_name(copy.order),
            "equally_good_sources": copy.choices,
        })
    };
    json!({
        "file": args.file.display().to_string(),
        "format": format,
        "window": args.window,
        "min_bytes": args.min_bytes,
        "records": report.records,
        "reads": accesses(report.reads),
        "writes": accesses(report.writes),
        "copies": accesses(report.copies),
        "fills": accesses(report.fills),
        "replaced": accesses(report.replaced),
        "share_of_accesses": report.replaced.count as f64 / all.max(1) as f64,
        "share_of_bytes": report.replaced.bytes as f64 / (report.reads.bytes + report.writes.bytes).max(1) as f64,
        "copies_by_bytes": (report.sizes.iter())
            .map(|(bytes, count)| json!({ "bytes": bytes, "count": count })).collect::<Vec<_>>(),
        "recorded": accesses(report.recorded),
        "marks": marks.map(|(marked, others)| json!({ "marked": marked, "not_contiguous": others })),
        "ambiguous": report.ambiguous,
        "write_runs": accesses(report.write_runs),
        "write_runs_with_data": report.write_runs_with_data,
        "listed": report.listed.iter().take(args.limit).map(copy).collect::<Vec<_>>(),
        "not_known": unknown(report),
    })
}
