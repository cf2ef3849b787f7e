//! A workload that plays a recorded trace.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use host::{Timing, UnusableRecords};
use trace_io::trace::{self, Addresses, Format, TraceReader};

use crate::document::Section;
use crate::variant::Placement;
use crate::{Failure, file};

/// Checked settings of a recorded trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceWorkload {
    /// Its file.
    pub path: PathBuf,
    /// Its format: the given one, else that of its first record.
    pub format: &'static Format,
    /// Treatment of records that are not possible on the system.
    pub unusable: UnusableRecords,
    /// Arrival of its records.
    pub timing: Timing,
    /// Whether the file gives the timing; else it is that of the format.
    pub is_timing_given: bool,
    /// CPU time of a recorded page fault, apart from its copy or zeroing, ps.
    pub fault_ps: u64,
    /// Whether to play it at the recorded addresses.
    pub as_recorded: bool,
    /// Whether to play it with pages placed by allocators.
    pub by_allocator: bool,
}

/// Placements of the pages of a trace, and whether allocators place them.
pub(crate) const PLACEMENTS: [(&str, bool); 2] = [("as-recorded", false), (Placement::ALLOCATOR, true)];
/// CPU time of a page fault, unless the file gives it.
const FAULT_PS: u64 = 406_250;

/// The trace of a table whose keys were checked.
pub(crate) fn trace(table: &Section<'_>) -> Result<TraceWorkload, Failure> {
    let placements = table.choices("placement", &PLACEMENTS);
    let given = table.choice("format", &Format::names().collect::<Vec<_>>());
    let path = table.linked("file")?;
    let format = given.map_or_else(|| recognize(table, &path), Ok)?;
    check_placement(table, format, &placements)?;
    if format.addresses != Addresses::Processes {
        let why = format!(", but a trace of the format `{}` has no page faults", format.name);
        table.without(&["fault_time"], &why, "leave it out")?;
    }
    Ok(TraceWorkload {
        path,
        format,
        unusable: table.get("unusable_records").unwrap_or_default(),
        timing: timing(table, format)?,
        is_timing_given: ["timing", "instructions_per_clock", "window"].iter().any(|key| table.has(key)),
        fault_ps: table.get("fault_time").unwrap_or(FAULT_PS),
        as_recorded: placements.contains(&false) || (placements.is_empty() && format.addresses != Addresses::Processes),
        by_allocator: placements.contains(&true) || (placements.is_empty() && format.addresses == Addresses::Processes),
    })
}

/// Checks that the pages of a trace can be placed as the file says.
fn check_placement(table: &Section<'_>, format: &Format, placements: &[bool]) -> Result<(), Failure> {
    let (name, has) = (format.name, |placed: bool| placements.contains(&placed));
    let (found, help) = match format.addresses {
        Addresses::Virtual if placements.is_empty() => (
            "has virtual addresses, and no `placement` is given",
            "let an allocator place its pages with `placement = \"allocator\"`, or take its addresses as physical with \
             `placement = \"as-recorded\"`",
        ),
        Addresses::Processes if has(false) => {
            ("has page faults, for which an allocator must hand out frames", "write `placement = \"allocator\"`")
        }
        Addresses::Coordinates if has(true) => {
            ("has DRAM coordinates, which no allocator can place", "leave out `placement`")
        }
        _ => return Ok(()),
    };
    let message = format!("`workload.placement`: a trace of the format `{name}` {found}");
    Err(table.fault("placement", message).with_help(help))
}

/// Whether a trace can be played only with pages that an allocator places.
pub(crate) fn needs_allocator(trace: &Path) -> bool {
    let reader = file::open(trace).ok().and_then(|opened| TraceReader::with_name(opened, trace).ok());
    reader.is_some_and(|reader| reader.format().addresses == Addresses::Processes)
}

/// The format of the first record of a trace.
fn recognize(table: &Section<'_>, path: &Path) -> Result<&'static Format, Failure> {
    let opened = file::open(path).map_err(|error| Failure::reading(path, &error))?;
    TraceReader::with_name(opened, path).map(|reader| reader.format()).map_err(|error| {
        let message = format!("`workload.file`: {}", file::located(path, &error.to_string()));
        table.fault("file", message).with_help(error.help())
    })
}

/// Instructions per clock of the memory, unless the file gives them.
const INSTRUCTIONS_PER_CLOCK: f64 = 4.0;
/// Requests in flight with the timing `window`, unless the file gives them.
const TRACE_WINDOW: u64 = 16;

/// When the records of a trace arrive: as the file says, else as the format permits.
fn timing(table: &Section<'_>, format: &Format) -> Result<Timing, Failure> {
    let of_format = match format.timing {
        trace::RecordTiming::AtCycles | trace::RecordTiming::AfterCycles | trace::RecordTiming::Times => "recorded",
        trace::RecordTiming::Instructions => "instructions",
        trace::RecordTiming::None => "back-to-back",
    };
    let name = table.text("timing").unwrap_or(of_format);
    if matches!(name, "recorded" | "instructions") && name != of_format {
        let message = format!(
            "`workload.timing` is \"{name}\", but a trace of the format `{}` has no {}",
            format.name,
            if name == "recorded" { "times" } else { name }
        );
        let help = format!("leave it out for `{of_format}`, or write `timing = \"back-to-back\"` or `\"window\"`");
        return Err(table.fault("timing", message).with_help(help));
    }
    for (key, of) in [("instructions_per_clock", "instructions"), ("window", "window")] {
        if name != of {
            let why = format!(", but the timing of this trace is `{name}`");
            table.without(&[key], &why, &format!("leave it out, or write `timing = \"{of}\"`"))?;
        }
    }
    let window = table.get("window").unwrap_or(TRACE_WINDOW);
    table.within("window", window, 1, u32::MAX.into())?;
    Ok(match name {
        "recorded" => Timing::Recorded,
        "instructions" => Timing::Instructions(table.get("instructions_per_clock").unwrap_or(INSTRUCTIONS_PER_CLOCK)),
        "window" => Timing::Window(NonZeroU32::new(window as u32).unwrap_or(NonZeroU32::MIN)),
        _ => Timing::BackToBack,
    })
}
