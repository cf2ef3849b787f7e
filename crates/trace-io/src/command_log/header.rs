//! Header of a command log: the memory system of the commands.

use std::io::Read;

use dram_spec::datasheet::BINS;
use dram_spec::{
    CopyActivations, Cycle, Density, Dialect, Geometry, PrechargePowerDown, RawGeometry, Refresh, SpeedBin, Standard,
    System, Width,
};

use super::{COLUMNS, LogError, VERSION_LINE};
use crate::line::{Lines, shown};
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
pub(super) const KEYS: [(&str, &str); 14] = [
    ("bin", "1066G"),
    ("density_gb", "2"),
    ("width", "8"),
    ("channels", "1"),
    ("ranks", "1"),
    ("row_bytes", "8192"),
    ("rows_per_subarray", "512"),
    ("t_refi_ps", "7800000"),
    ("refresh", "off"),
    ("copy_activations", "counted"),
    ("precharge_power_down", "fast-exit"),
    ("dialect", "rowclone"),
    ("start", "idle"),
    ("end_cycle", "48"),
];

/// Example value of a key.
pub(super) fn example(key: &str) -> &'static str {
    KEYS.iter().find(|(name, _)| *name == key).map_or("", |(_, example)| example)
}

/// Value of `end_cycle` if the end of the run is not known.
pub(super) const END_UNKNOWN: &str = "unknown";

/// Range of tREFI in ps: from 15 ns, six clocks of the slowest bin, to 1 s. No arithmetic overflows
/// within it.
pub(super) const T_REFI_PS: std::ops::RangeInclusive<u64> = 15_000..=1_000_000_000_000;

const COPY_ACTIVATIONS: [CopyActivations; 2] = [CopyActivations::Counted, CopyActivations::Free];
const PRECHARGE_POWER_DOWN: [PrechargePowerDown; 2] = [PrechargePowerDown::FastExit, PrechargePowerDown::SlowExit];
const DIALECTS: [Dialect; 2] = [Dialect::RowClone, Dialect::Jedec];

const fn copy_activations_name(value: CopyActivations) -> &'static str {
    match value {
        CopyActivations::Counted => "counted",
        CopyActivations::Free => "free",
    }
}

const fn precharge_power_down_name(value: PrechargePowerDown) -> &'static str {
    match value {
        PrechargePowerDown::FastExit => "fast-exit",
        PrechargePowerDown::SlowExit => "slow-exit",
    }
}

/// The header text up to the value of `end_cycle`, its last key.
pub(super) fn text_before_end(system: &System, dialect: Dialect) -> String {
    let System { bin, geometry, copy_activations, precharge_power_down, refresh } = system;
    let RawGeometry { standard: Standard::Ddr3, channels, ranks, density, width, row_bytes, rows_per_subarray } =
        geometry.raw();
    let refresh = match refresh {
        Refresh::Every { t_refi_ps } => format!("t_refi_ps = {t_refi_ps}"),
        Refresh::Off => "refresh = off".into(),
    };
    let lines = [
        VERSION_LINE.into(),
        format!("# bin = {}", bin.name),
        format!("# density_gb = {}", density.gigabits()),
        format!("# width = {}", width.pins()),
        format!("# channels = {channels}"),
        format!("# ranks = {ranks}"),
        format!("# row_bytes = {row_bytes}"),
        format!("# rows_per_subarray = {rows_per_subarray}"),
        format!("# {refresh}"),
        format!("# copy_activations = {}", copy_activations_name(*copy_activations)),
        format!("# precharge_power_down = {}", precharge_power_down_name(*precharge_power_down)),
        format!("# dialect = {}", dialect.name()),
        "# start = idle".into(),
        "# end_cycle = ".into(),
    ];
    lines.join("\n")
}

/// Reads all lines up to and including the column names.
pub(super) fn read<R: Read>(lines: &mut Lines<R>) -> Result<LogHeader, LogError> {
    advance(lines)?;
    if lines.line() != VERSION_LINE.as_bytes() {
        return Err(LogError::Version { line: lines.number(), found: shown(lines.line()) });
    }
    let mut entries = Entries::default();
    loop {
        advance(lines)?;
        let line = lines.number();
        if lines.line().split(|&byte| byte == b',').map(<[u8]>::trim_ascii).eq(COLUMNS.map(str::as_bytes)) {
            entries.last_line = line;
            return entries.header();
        }
        entries.add(lines.line(), line)?;
    }
}

/// Advances to the next line, which must exist.
fn advance<R: Read>(lines: &mut Lines<R>) -> Result<(), LogError> {
    if lines.advance()? { Ok(()) } else { Err(LogError::NoColumns { line: lines.number() + 1 }) }
}

/// The entries of a header, and the line that ends it.
#[derive(Default)]
struct Entries {
    values: [Option<Entry>; KEYS.len()],
    last_line: u64,
}

struct Entry {
    line: u64,
    value: Vec<u8>,
}

impl Entries {
    fn add(&mut self, text: &[u8], line: u64) -> Result<(), LogError> {
        let wrong = || LogError::HeaderLine { line, found: shown(text) };
        let pair = text.strip_prefix(b"#").ok_or_else(wrong)?;
        let equals = pair.iter().position(|&byte| byte == b'=').ok_or_else(wrong)?;
        let (key, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
        let index = KEYS.iter().position(|(name, _)| name.as_bytes() == key);
        let index = index.ok_or_else(|| LogError::UnknownKey { line, found: shown(key) })?;
        if let Some(Entry { line: first, .. }) = &self.values[index] {
            return Err(LogError::Duplicate { line, key: KEYS[index].0, first: *first });
        }
        self.values[index] = Some(Entry { line, value: value.to_vec() });
        Ok(())
    }

    fn find(&self, key: &str) -> Option<&Entry> {
        KEYS.iter().position(|(name, _)| *name == key).and_then(|index| self.values[index].as_ref())
    }

    /// The value of a required key, converted by `parse`.
    fn get<T>(
        &self,
        key: &'static str,
        expected: impl FnOnce() -> String,
        parse: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, LogError> {
        let Entry { line, value } = self.find(key).ok_or(LogError::Missing { line: self.last_line, key })?;
        parse(value).ok_or_else(|| LogError::Value { line: *line, key, found: shown(value), expected: expected() })
    }

    fn number(&self, key: &'static str) -> Result<u64, LogError> {
        self.get(key, || "a whole number".into(), decimal)
    }

    fn choice<T: Copy>(
        &self,
        key: &'static str,
        choices: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Result<T, LogError> {
        let expected = || choices.iter().map(|&choice| format!("`{}`", name(choice))).collect::<Vec<_>>().join(" or ");
        self.get(key, expected, |value| choices.iter().copied().find(|&choice| name(choice).as_bytes() == value))
    }

    fn header(&self) -> Result<LogHeader, LogError> {
        self.choice("start", &["idle"], |name| name)?;
        let system = System {
            copy_activations: self.choice("copy_activations", &COPY_ACTIVATIONS, copy_activations_name)?,
            precharge_power_down: self.choice(
                "precharge_power_down",
                &PRECHARGE_POWER_DOWN,
                precharge_power_down_name,
            )?,
            refresh: self.refresh()?,
            ..System::new(self.bin()?, self.geometry()?)
        };
        let dialect = self.choice("dialect", &DIALECTS, Dialect::name)?;
        let end = self.get(
            "end_cycle",
            || format!("a whole number or `{END_UNKNOWN}`"),
            |value| {
                if value == END_UNKNOWN.as_bytes() { Some(None) } else { decimal(value).map(|end| Some(Cycle(end))) }
            },
        )?;
        Ok(LogHeader { system, dialect, end })
    }

    fn bin(&self) -> Result<&'static SpeedBin, LogError> {
        let expected = || format!("one of {}", BINS.iter().map(|bin| bin.name).collect::<Vec<_>>().join(", "));
        self.get("bin", expected, |value| SpeedBin::named(std::str::from_utf8(value).ok()?))
    }

    fn geometry(&self) -> Result<Geometry, LogError> {
        let density = |value: &[u8]| decimal(value).and_then(Density::from_gigabits);
        let width = |value: &[u8]| decimal(value).and_then(Width::from_pins);
        let raw = RawGeometry {
            standard: Standard::Ddr3,
            channels: self.number("channels")?,
            ranks: self.number("ranks")?,
            density: self.get("density_gb", || "1, 2, 4 or 8".into(), density)?,
            width: self.get("width", || "4, 8 or 16".into(), width)?,
            row_bytes: self.number("row_bytes")?,
            rows_per_subarray: self.number("rows_per_subarray")?,
        };
        Geometry::try_from(raw).map_err(|source| {
            let line = self.find(source.key()).map_or(self.last_line, |entry| entry.line);
            LogError::Geometry { line, source }
        })
    }

    fn refresh(&self) -> Result<Refresh, LogError> {
        let Some(off) = self.find("refresh") else {
            let expected = || format!("a whole number from {} to {}", T_REFI_PS.start(), T_REFI_PS.end());
            let t_refi_ps =
                self.get("t_refi_ps", expected, |value| decimal(value).filter(|ps| T_REFI_PS.contains(ps)))?;
            return Ok(Refresh::Every { t_refi_ps });
        };
        self.choice("refresh", &["off"], |name| name)?;
        match self.find("t_refi_ps") {
            Some(every) => Err(LogError::RefreshTwice { line: off.line.max(every.line) }),
            None => Ok(Refresh::Off),
        }
    }
}
