//! Header of a command log: the memory system of the commands.

use std::io::Read;

use dram_spec::{
    CopyActivations, Cycle, Density, Dialect, Geometry, PrechargePowerDown, RawGeometry, ReferenceCycle, Refresh,
    RefreshMode, RowsPerSubarray, SpeedBin, Standard, System, Width,
};

use super::{COLUMNS, VERSION_LINE};
use crate::LineError;
use crate::line::{Lines, cells, shown};
use crate::number::decimal;

/// All parameters needed to check a command stream.
#[derive(Clone, Debug, PartialEq)]
pub struct LogHeader {
    /// The memory system, idle at cycle 0.
    pub system: System,
    /// The commands that the system supports.
    pub dialect: Dialect,
    /// End of the run; `None` if the run was canceled.
    pub end: Option<Cycle>,
}

/// Keys, each with an example value.
const KEYS: [(&str, &str); 16] = [
    ("bin", "1066G"),
    ("density_gb", "2"),
    ("width", "8"),
    ("channels", "1"),
    ("ranks", "1"),
    ("row_bytes", "8192"),
    ("rows_per_subarray", "512"),
    ("t_refi_ps", "7800000"),
    ("refresh", "off"),
    ("refresh_mode", "1x"),
    ("reference_cycle", "second"),
    ("copy_activations", "counted"),
    ("precharge_power_down", "fast-exit"),
    ("dialect", "rowclone"),
    ("start", "idle"),
    ("end_cycle", "48"),
];

/// Example value of a key.
fn example(key: &str) -> &'static str {
    KEYS.iter().find(|(name, _)| *name == key).map_or("", |(_, example)| example)
}

/// Value of `end_cycle` if the end of the run is not known.
pub(super) const END_UNKNOWN: &str = "unknown";

/// Range of tREFI in ps: from 15 ns, six clocks of the slowest bin, to 1 s. No arithmetic overflows
/// within it.
pub(super) const T_REFI_PS: std::ops::RangeInclusive<u64> = 15_000..=1_000_000_000_000;

/// The exits of power-down of a standard.
fn power_downs(standard: Standard) -> &'static [&'static str] {
    let exits: &[&str] = &PrechargePowerDown::NAMES;
    if standard.definition().slow_exit.is_some() { exits } else { &exits[..1] }
}

/// The header text up to the value of `end_cycle`, its last key.
pub(super) fn text_before_end(system: &System, dialect: Dialect) -> String {
    let System { bin, geometry, copy_activations, precharge_power_down, refresh, refresh_mode, reference_cycle } =
        system;
    let RawGeometry { standard, channels, ranks, density, width, row_bytes, rows_per_subarray } = geometry.raw();
    let refresh = match refresh {
        Refresh::Every { t_refi_ps } => format!("t_refi_ps = {t_refi_ps}"),
        Refresh::Off => "refresh = off".into(),
    };
    // Keys that not every standard has are written where they differ from the default.
    let definition = standard.definition();
    let exit = if definition.slow_exit.is_some() { *precharge_power_down } else { PrechargePowerDown::FastExit };
    let mut further = String::new();
    if refresh_mode.name != definition.refresh_modes[0].name {
        further.extend(["\n# refresh_mode = ", refresh_mode.name]);
    }
    if definition.two_cycle_commands {
        further.extend(["\n# reference_cycle = ", reference_cycle.name()]);
    }
    let lines = [
        VERSION_LINE.into(),
        format!("# bin = {}", bin.name),
        format!("# density_gb = {}", density.gigabits()),
        format!("# width = {}", width.pins()),
        format!("# channels = {channels}"),
        format!("# ranks = {ranks}"),
        format!("# row_bytes = {row_bytes}"),
        format!("# rows_per_subarray = {rows_per_subarray}"),
        format!("# {refresh}{further}"),
        format!("# copy_activations = {}", copy_activations.name()),
        format!("# precharge_power_down = {}", exit.name()),
        format!("# dialect = {}", dialect.name()),
        "# start = idle".into(),
        "# end_cycle = ".into(),
    ];
    lines.join("\n")
}

/// Reads all lines up to and including the column names.
pub(super) fn read<R: Read>(lines: &mut Lines<R>) -> Result<LogHeader, LineError> {
    advance(lines)?;
    if lines.line() != VERSION_LINE.as_bytes() {
        return Err(other_version(lines.line()).in_line(lines.number()));
    }
    let mut entries = HeaderEntries::default();
    loop {
        advance(lines)?;
        let line = lines.number();
        if cells(lines.line()).eq(COLUMNS.map(str::as_bytes)) {
            entries.last_line = line;
            return entries.header();
        }
        entries.add(lines.line(), line).map_err(|error| error.in_line(line))?;
    }
}

/// Advances to the next line, which must exist.
fn advance<R: Read>(lines: &mut Lines<R>) -> Result<(), LineError> {
    if lines.advance()? {
        return Ok(());
    }
    let help = format!("the log was cut short: write it again, or end the header with `{}`", COLUMNS.join(","));
    Err(LineError::new("the log ends within its header", help).in_line(lines.number() + 1))
}

/// The error for another first line.
fn other_version(line: &[u8]) -> LineError {
    let found = shown(line);
    let help = if found.starts_with(VERSION_LINE.trim_end_matches(char::is_numeric)) {
        "this program reads version 1: use the rowclone-sim that wrote the log, or write the log again"
    } else {
        "give a log that `rowclone-sim` wrote, or put the header of one before the commands"
    };
    LineError::new(format!("is `{found}`, but a command log begins with `{VERSION_LINE}`"), help)
}

/// The entries of a header, and the line that ends it.
#[derive(Default)]
struct HeaderEntries {
    values: [Option<HeaderEntry>; KEYS.len()],
    last_line: u64,
}

struct HeaderEntry {
    line: u64,
    value: Vec<u8>,
}

impl HeaderEntries {
    fn add(&mut self, text: &[u8], line: u64) -> Result<(), LineError> {
        let wrong = || {
            let what = "but the header has lines `# key = value`, and then the column names";
            let help = format!("after the last key comes `{}`, and then the commands", COLUMNS.join(","));
            LineError::new(format!("is `{}`, {what}", shown(text)), help)
        };
        let pair = text.strip_prefix(b"#").ok_or_else(wrong)?;
        let equals = pair.iter().position(|&byte| byte == b'=').ok_or_else(wrong)?;
        let (key, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
        let index = KEYS.iter().position(|(name, _)| name.as_bytes() == key);
        let index = index.ok_or_else(|| {
            let help = format!("the keys are {}", KEYS.map(|(key, _)| key).join(", "));
            LineError::new(format!("`{}` is not a key of the header", shown(key)), help)
        })?;
        if let Some(HeaderEntry { line: first, .. }) = &self.values[index] {
            let what = format!("`{}` was given in line {first} already", KEYS[index].0);
            return Err(LineError::new(what, format!("keep one of lines {first} and {line}")));
        }
        self.values[index] = Some(HeaderEntry { line, value: value.to_vec() });
        Ok(())
    }

    fn find(&self, key: &str) -> Option<&HeaderEntry> {
        KEYS.iter().position(|(name, _)| *name == key).and_then(|index| self.values[index].as_ref())
    }

    /// The value of a required key, converted by `parse`.
    fn get<T>(
        &self,
        key: &'static str,
        expected: impl FnOnce() -> String,
        parse: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, LineError> {
        let HeaderEntry { line, value } = self.find(key).ok_or_else(|| self.missing(key))?;
        parse(value).ok_or_else(|| {
            let what = format!("`{key}` is `{}`, but must be {}", shown(value), expected());
            LineError::new(what, format!("write for example `# {key} = {}`", example(key))).in_line(*line)
        })
    }

    /// The error for a header without a key.
    fn missing(&self, key: &str) -> LineError {
        let help = match key {
            "t_refi_ps" => "add `# t_refi_ps = 7800000`, or `# refresh = off`, before the column names".to_owned(),
            _ => format!("add a line such as `# {key} = {}` before the column names", example(key)),
        };
        LineError::new(format!("the header ends without `{key}`"), help).in_line(self.last_line)
    }

    fn number(&self, key: &'static str) -> Result<u64, LineError> {
        self.get(key, || "a whole number".into(), decimal)
    }

    /// One of several names.
    fn choice<T>(&self, key: &'static str, names: &[&str], named: impl Fn(&str) -> Option<T>) -> Result<T, LineError> {
        let expected = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        self.get(key, expected, |value| named(names.iter().find(|name| name.as_bytes() == value)?))
    }

    fn header(&self) -> Result<LogHeader, LineError> {
        self.choice("start", &["idle"], |_| Some(()))?;
        let bin = self.bin()?;
        let system = System {
            refresh_mode: self.refresh_mode(bin.standard)?,
            reference_cycle: self.reference_cycle(bin.standard)?,
            copy_activations: self.choice("copy_activations", &CopyActivations::NAMES, CopyActivations::from_name)?,
            precharge_power_down: self.choice(
                "precharge_power_down",
                power_downs(bin.standard),
                PrechargePowerDown::from_name,
            )?,
            refresh: self.refresh()?,
            ..System::new(bin, self.geometry(bin.standard)?)
        };
        let dialects = [Dialect::RowClone, Dialect::Jedec].map(Dialect::name);
        let dialect = self.choice("dialect", &dialects, Dialect::from_name)?;
        let end = self.get(
            "end_cycle",
            || format!("a whole number or `{END_UNKNOWN}`"),
            |value| {
                if value == END_UNKNOWN.as_bytes() { Some(None) } else { decimal(value).map(|end| Some(Cycle(end))) }
            },
        )?;
        Ok(LogHeader { system, dialect, end })
    }

    fn bin(&self) -> Result<&'static SpeedBin, LineError> {
        let named = |value: &[u8]| SpeedBin::named(std::str::from_utf8(value).ok()?);
        let expected = || {
            let found = self.find("bin").map_or(&b""[..], |entry| &entry.value);
            named(found).map_or_else(
                || format!("a speed bin, {}", Standard::bins_in_words(&String::from_utf8_lossy(found))),
                |rate| format!("a bin with latencies, such as `{}`", rate.example_with_latencies()),
            )
        };
        self.get("bin", expected, |value| named(value).filter(|bin| bin.has_latencies()))
    }

    /// The reference of commands of two cycles, in a standard that has them.
    fn reference_cycle(&self, standard: Standard) -> Result<ReferenceCycle, LineError> {
        match self.find("reference_cycle") {
            None => Ok(ReferenceCycle::default()),
            Some(_) if standard.definition().two_cycle_commands => {
                self.choice("reference_cycle", &ReferenceCycle::NAMES, ReferenceCycle::from_name)
            }
            Some(HeaderEntry { line, .. }) => {
                let what = format!("`reference_cycle` is given, but has no effect in {}", standard.name());
                Err(LineError::new(what, "leave the line out").in_line(*line))
            }
        }
    }

    fn refresh_mode(&self, standard: Standard) -> Result<&'static RefreshMode, LineError> {
        let modes = standard.definition().refresh_modes;
        if self.find("refresh_mode").is_none() {
            return Ok(&modes[0]);
        }
        let expected = || format!("one of {}", modes.iter().map(|mode| mode.name).collect::<Vec<_>>().join(", "));
        self.get("refresh_mode", expected, |value| standard.refresh_mode(std::str::from_utf8(value).ok()?))
    }

    fn geometry(&self, standard: Standard) -> Result<Geometry, LineError> {
        let densities = standard.definition().densities();
        let density = |value: &[u8]| {
            let named = |one: &Density| one.gigabits().to_string().as_bytes() == value;
            densities.iter().copied().find(named)
        };
        let expected = || standard.definition().densities_in_words();
        let width = |value: &[u8]| decimal(value).and_then(Width::from_pins);
        let raw = RawGeometry {
            standard,
            channels: self.number("channels")?,
            ranks: self.number("ranks")?,
            density: self.get("density_gb", expected, density)?,
            width: self.get("width", || "4, 8 or 16".into(), width)?,
            row_bytes: self.number("row_bytes")?,
            rows_per_subarray: self.rows_per_subarray()?,
        };
        Geometry::try_from(raw).map_err(|source| {
            let line = self.find(source.key()).map_or(self.last_line, |entry| entry.line);
            LineError::new(source.to_string(), source.help()).in_line(line)
        })
    }

    /// A whole number, or a list of them in brackets.
    fn rows_per_subarray(&self) -> Result<RowsPerSubarray, LineError> {
        let expected = || "a whole number, or a list such as `[640, 640, 768]`".into();
        self.get("rows_per_subarray", expected, |value| {
            let list = value.strip_prefix(b"[").and_then(|value| value.strip_suffix(b"]"));
            match list {
                None => decimal(value).map(RowsPerSubarray::from),
                Some(list) if list.trim_ascii().is_empty() => Some(RowsPerSubarray::from_iter([])),
                Some(list) => cells(list).map(decimal).collect(),
            }
        })
    }

    fn refresh(&self) -> Result<Refresh, LineError> {
        let Some(off) = self.find("refresh") else {
            let expected = || format!("a whole number from {} to {}", T_REFI_PS.start(), T_REFI_PS.end());
            let t_refi_ps =
                self.get("t_refi_ps", expected, |value| decimal(value).filter(|ps| T_REFI_PS.contains(ps)))?;
            return Ok(Refresh::Every { t_refi_ps });
        };
        self.choice("refresh", &["off"], |_| Some(()))?;
        match self.find("t_refi_ps") {
            Some(every) => {
                let help = "keep `t_refi_ps` for a run with refresh, `refresh = off` for one without";
                let error = LineError::new("refresh is off, and yet `t_refi_ps` is given", help);
                Err(error.in_line(off.line.max(every.line)))
            }
            None => Ok(Refresh::Off),
        }
    }
}
