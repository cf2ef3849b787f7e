//! Units of columns, from their names, and the form of their values.

use rowclone::Mechanism;
use rowclone_sim::quantity;

/// The unit of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A count or a ratio.
    None,
    /// A unit with SI prefixes; values of the column are times ten to this power.
    Prefixed {
        /// Symbol: `s`, `J`.
        symbol: &'static str,
        /// -9 for ns.
        exponent: i32,
    },
    /// Bytes, times two to this power.
    Bytes {
        /// 10 for KiB.
        exponent: i32,
    },
    /// A share, 0 to 1: written in percent.
    Share,
    /// Another unit; values are written unchanged.
    Named(&'static str),
}

/// Suffixes of column names that state a unit; the first that fits is taken.
#[rustfmt::skip]
const SUFFIXES: &[(&str, Unit)] = &[
    ("gb_s", Unit::Prefixed { symbol: "B/s", exponent: 9 }),
    ("mb_s", Unit::Prefixed { symbol: "B/s", exponent: 6 }),
    ("mt_s", Unit::Prefixed { symbol: "T/s", exponent: 6 }),
    ("bytes_per_second", Unit::Prefixed { symbol: "B/s", exponent: 0 }),
    ("ps", Unit::Prefixed { symbol: "s", exponent: -12 }),
    ("ns", Unit::Prefixed { symbol: "s", exponent: -9 }),
    ("us", Unit::Prefixed { symbol: "s", exponent: -6 }),
    ("ms", Unit::Prefixed { symbol: "s", exponent: -3 }),
    ("s",  Unit::Prefixed { symbol: "s", exponent: 0 }),
    ("pj", Unit::Prefixed { symbol: "J", exponent: -12 }),
    ("nj", Unit::Prefixed { symbol: "J", exponent: -9 }),
    ("uj", Unit::Prefixed { symbol: "J", exponent: -6 }),
    ("mj", Unit::Prefixed { symbol: "J", exponent: -3 }),
    ("mw", Unit::Prefixed { symbol: "W", exponent: -3 }),
    ("w",  Unit::Prefixed { symbol: "W", exponent: 0 }),
    ("ma", Unit::Prefixed { symbol: "A", exponent: -3 }),
    ("mhz", Unit::Prefixed { symbol: "Hz", exponent: 6 }),
    ("kib", Unit::Bytes { exponent: 10 }),
    ("mib", Unit::Bytes { exponent: 20 }),
    ("gib", Unit::Bytes { exponent: 30 }),
    ("bytes", Unit::Bytes { exponent: 0 }),
    // Of chips, as `density_gb`.
    ("gb", Unit::Named("Gb")),
    ("percent", Unit::Named("%")),
    ("celsius", Unit::Named("°C")),
    ("cycles", Unit::Named("tCK")),
    ("cycle", Unit::Named("tCK")),
];

/// Prefixes of the SI by their power of ten.
const PREFIXES: [(i32, &str); 9] =
    [(-12, "p"), (-9, "n"), (-6, "µ"), (-3, "m"), (0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T")];

/// Units of bytes by their power of two.
const BINARY: [(i32, &str); 5] = [(0, "B"), (10, "KiB"), (20, "MiB"), (30, "GiB"), (40, "TiB")];

/// Large counts by their power of ten.
const LARGE: [(i32, &str); 4] = [(0, ""), (3, "thousands"), (6, "millions"), (9, "billions")];

/// Labels of columns whose names need an explanation.
const NAMES: [(&str, &str); 9] = [
    ("from_cycle", "start of the epoch"),
    ("dst", "destination"),
    ("src", "source"),
    ("channel_bytes", "channel traffic"),
    ("command_bus_share", "command bus in use"),
    ("data_bus_share", "data bus in use"),
    ("energy_nj", "energy, total"),
    ("copy_response_mean_ns", "copy response, mean"),
    ("trace_skipped_share", "records left out"),
];

impl Unit {
    /// The unit that the name of a column states, and its quantity in words: `read_latency_mean_ns` is "read latency,
    /// mean" in ns.
    ///
    /// The unit and the label of a column. Of a dotted name, the last part counts.
    pub fn of_column(column: &str) -> (Unit, String) {
        let name = column.rsplit('.').find(|part| part.parse::<u32>().is_err()).unwrap_or(column);
        let (unit, label) = Unit::of_name(name);
        let known = NAMES.iter().find(|(known, _)| *known == name);
        (unit, known.map_or(label, |(_, label)| (*label).to_owned()))
    }

    fn of_name(name: &str) -> (Unit, String) {
        let lower = name.to_lowercase();
        // A share of bytes is a share.
        if lower.split('_').any(|part| part == "share") && !lower.ends_with("_percent") {
            return (Unit::Share, words(name.strip_suffix("_share").unwrap_or(name)));
        }
        let ends = |suffix: &str| lower.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'));
        let found = SUFFIXES.iter().find(|(suffix, _)| ends(suffix));
        let Some(&(suffix, unit)) = found else { return (Unit::None, words(name)) };
        let rest = &name[..name.len() - suffix.len()];
        // "channel bytes" says more than "channel".
        let label = if rest.is_empty() || suffix == "bytes" { words(name) } else { words(rest) };
        (unit, label)
    }

    /// The unit as tables write it beside values of the column: `ns`, `GB/s`, `%`; empty for counts.
    pub fn symbol(self) -> String {
        match self {
            Unit::None => String::new(),
            Unit::Share => "%".to_owned(),
            Unit::Named(symbol) => symbol.to_owned(),
            Unit::Bytes { exponent: 0 } => "bytes".to_owned(),
            Unit::Bytes { exponent } => named(&BINARY, exponent).to_owned(),
            Unit::Prefixed { symbol, exponent } => format!("{}{symbol}", named(&PREFIXES, exponent)),
        }
    }

    /// A value of a column with this unit, alone: `4 KiB`, `1.5 µs`, with at most four significant digits.
    pub fn write(self, value: f64) -> String {
        self.write_digits(value, 4)
    }

    /// A value that was not measured but lies between measured ones, with two significant digits.
    pub(super) fn write_rounded(self, value: f64) -> String {
        let shown = value * self.display(value.abs()).factor;
        let step = 10f64.powf(shown.abs().log10().floor() - 1.0);
        self.write(if value == 0.0 { value } else { (shown / step).round() * step * value / shown })
    }

    /// A value with at most `digits` significant digits.
    fn write_digits(self, value: f64, digits: i32) -> String {
        let Display { factor, symbol } = self.in_prefix(value.abs());
        let text = in_digits(value * factor, digits);
        if symbol.is_empty() { text } else { format!("{text} {symbol}") }
    }

    /// Value in full, in the unit of the column: `1046.25 ns`.
    pub fn write_in_full(self, value: f64) -> String {
        match self {
            Unit::Prefixed { .. } | Unit::Bytes { exponent: 0 } => format!("{value} {}", self.symbol()),
            Unit::None => value.to_string(),
            Unit::Bytes { .. } | Unit::Share | Unit::Named(_) => self.write(value),
        }
    }

    /// The unit in which a value of this size has one to three digits before the point.
    pub(super) fn display(self, size: f64) -> Display {
        let (names, base, exponent, symbol): (&[_], f64, i32, &str) = match self {
            Unit::Named(symbol) => return Display { factor: 1.0, symbol: symbol.to_owned() },
            Unit::Share => return Display { factor: 100.0, symbol: "%".to_owned() },
            Unit::None => (&LARGE, 10.0, 0, ""),
            Unit::Prefixed { symbol, exponent } => (&PREFIXES, 10.0, exponent, symbol),
            Unit::Bytes { exponent } => (&BINARY, 2.0, exponent, ""),
        };
        // The greatest unit that the value reaches, else its own.
        let reaches = |power: i32| size * (1.0 + 1e-9) >= base.powi(power - exponent);
        let fitting = names.iter().rev().find(|(power, _)| reaches(*power));
        let (power, name) = fitting.copied().unwrap_or((exponent, named(names, exponent)));
        Display { factor: base.powi(exponent - power), symbol: format!("{name}{symbol}") }
    }

    /// The unit of a single value: counts stay as they are.
    fn in_prefix(self, size: f64) -> Display {
        if self == Unit::None { Display { factor: 1.0, symbol: String::new() } } else { self.display(size) }
    }

    /// The labels of these values of an axis, each with the decimals that it needs, and the title of the axis.
    pub(super) fn labels(self, label: &str, values: &[f64]) -> (Vec<String>, String) {
        if let Unit::Bytes { .. } = self {
            let written =
                |digits: i32| values.iter().map(|value| self.write_digits(*value, digits)).collect::<Vec<_>>();
            let differ = |texts: &Vec<String>| texts.windows(2).all(|pair| pair[0] != pair[1]);
            let labels = [4, 6, 8].into_iter().map(written).find(differ).unwrap_or_else(|| written(12));
            let unit = if label.contains("bytes") { "" } else { " (bytes)" };
            return (labels, format!("{label}{unit}"));
        }
        let greatest = values.iter().copied().map(f64::abs).fold(0.0, f64::max);
        let display = self.in_prefix(greatest / 2.0);
        let labels = values.iter().flat_map(|value| write_all(&[value * display.factor])).collect();
        (labels, titled(label, &display.symbol))
    }
}

/// The unit of one axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Display {
    /// Values of the column times this are in the unit.
    pub(super) factor: f64,
    /// The unit as the title of the axis has it; empty where there is none.
    pub(super) symbol: String,
}

/// Numbers of an axis, all with as many decimals as the finest needs.
pub(super) fn write_all(shown: &[f64]) -> Vec<String> {
    let size = shown.iter().map(|value| value.abs()).fold(0.0, f64::max);
    if size > 0.0 && !(1e-6..1e15).contains(&size) {
        return shown.iter().map(|value| scientific(*value)).collect();
    }
    let decimals = shown.iter().map(|&value| decimals(value)).max().unwrap_or(0);
    let write = |&value: &f64| if value == 0.0 { "0".to_owned() } else { grouped(value, decimals) };
    shown.iter().map(write).collect()
}

/// The title of an axis: the quantity, and its unit in brackets.
pub(super) fn titled(label: &str, symbol: &str) -> String {
    match symbol {
        "" => label.to_owned(),
        _ if label == symbol => label.to_owned(),
        _ => format!("{label} ({symbol})"),
    }
}

/// Words of column names with another spelling in labels: acronyms, abbreviations. Mechanisms have their label.
const SPELLINGS: [(&str, &str); 2] = [("io", "I/O"), ("inits", "initializations")];

/// A word of a column name in labels.
fn spelling(word: &str) -> &str {
    let spelled = SPELLINGS.iter().find(|(name, _)| *name == word).map(|(_, spelling)| *spelling);
    spelled.or_else(|| rowclone::mechanism(word).map(Mechanism::label)).unwrap_or(word)
}

/// `copy_latency_mean` is "copy latency, mean", and `copies_by_fpm` is "copies by FPM".
fn words(name: &str) -> String {
    let mut words = String::new();
    for word in name.split('_').filter(|word| !word.is_empty()) {
        let statistic = !words.is_empty() && ["mean", "p50", "p99", "max"].contains(&word);
        words += if words.is_empty() { "" } else { " " };
        if statistic {
            words.insert(words.len() - 1, ',');
        }
        words += spelling(word);
    }
    words
}

/// The text with a capital at its beginning.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn named(names: &[(i32, &'static str)], exponent: i32) -> &'static str {
    names.iter().find(|(power, _)| *power == exponent).map_or("", |(_, name)| name)
}

/// A number with at most six significant digits, unless it is whole: `1,046.25`.
pub fn number(value: f64) -> String {
    in_digits(value, 6)
}

/// A number with at most `digits` significant digits, unless it is whole.
pub(super) fn in_digits(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return scientific(value);
    }
    let scale = 10f64.powf((f64::from(digits - 1) - magnitude).max(0.0));
    let rounded = (value * scale).round() / scale;
    grouped(rounded, decimals(rounded))
}

/// A very large or very small number, with at most nine decimals.
fn scientific(value: f64) -> String {
    let text = format!("{value:.9e}");
    let (digits, exponent) = text.split_once('e').expect("there is an exponent");
    format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// The number of decimals that a number needs, at most nine.
fn decimals(value: f64) -> usize {
    let text = format!("{value:.9}");
    text.trim_end_matches('0').split_once('.').map_or(0, |(_, after)| after.len())
}

/// With a comma between thousands, and a true minus.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if value < 0.0 { "−" } else { "" };
    let whole = quantity::grouped(whole.parse().expect("it is at most 10^15"));
    format!("{sign}{whole}{rest}")
}

#[cfg(test)]
mod tests {
    use dram_spec::{CommandKind, Mechanism};

    use super::*;

    const NS: Unit = Unit::Prefixed { symbol: "s", exponent: -9 };

    #[test]
    fn the_end_of_a_name_states_the_unit() {
        for (column, unit, label) in [
            ("latency_ns", NS, "latency"),
            ("read_latency_mean_ns", NS, "read latency, mean"),
            ("energy_read_io_nj", Unit::Prefixed { symbol: "J", exponent: -9 }, "energy read I/O"),
            ("bytes", Unit::Bytes { exponent: 0 }, "bytes"),
            ("channel_bytes", Unit::Bytes { exponent: 0 }, "channel traffic"),
            ("operation.0.bytes", Unit::Bytes { exponent: 0 }, "bytes"),
            ("system.geometry.rows_per_subarray", Unit::None, "rows per subarray"),
            ("capacity_kib", Unit::Bytes { exponent: 10 }, "capacity"),
            ("data_bus_share", Unit::Share, "data bus in use"),
            ("copies_by_psm2_share", Unit::Share, "copies by 2 × PSM"),
            ("dynamic_energy_nj", Unit::Prefixed { symbol: "J", exponent: -9 }, "dynamic energy"),
            ("share_of_bytes", Unit::Share, "share of bytes"),
            ("share_percent", Unit::Named("%"), "share"),
            ("latency_cycles", Unit::Named("tCK"), "latency"),
            ("bandwidth_gb_s", Unit::Prefixed { symbol: "B/s", exponent: 9 }, "bandwidth"),
            ("ranks", Unit::None, "ranks"),
            ("speedup", Unit::None, "speedup"),
        ] {
            assert_eq!(Unit::of_column(column), (unit, label.to_owned()), "{column}");
        }
    }

    /// Names of mechanisms are acronyms, except that of the channel. Kinds of commands are in capitals.
    #[test]
    fn mechanisms_and_commands_are_spelled_in_capitals() {
        for mechanism in rowclone::MECHANISMS.into_iter().filter(|&mechanism| mechanism != Mechanism::CHANNEL) {
            let words = words(&format!("copies_by_{}", mechanism.name()));
            let spelling = words.strip_prefix("copies by ").expect("the other words are unchanged");
            let is_acronym = !spelling.chars().any(char::is_lowercase);
            assert!(is_acronym, "{} has no spelling in SPELLINGS", mechanism.name());
        }
        for kind in CommandKind::ALL {
            let words = words(&format!("commands_{}", kind.name().replace(' ', "_")));
            assert_eq!(words, format!("commands {}", kind.name()));
        }
    }

    #[test]
    fn values_are_written_with_a_prefix_that_fits() {
        for (unit, value, text) in [
            (NS, 90.0, "90 ns"),
            (NS, 1046.25, "1.046 µs"),
            (NS, 0.5, "500 ps"),
            (NS, 1e6, "1 ms"),
            (NS, 0.0, "0 ps"),
            (Unit::Bytes { exponent: 0 }, 4096.0, "4 KiB"),
            (Unit::Bytes { exponent: 0 }, 1536.0, "1.5 KiB"),
            (Unit::Bytes { exponent: 0 }, 63.0, "63 B"),
            (Unit::Bytes { exponent: 10 }, 2048.0, "2 MiB"),
            (Unit::Share, 0.125, "12.5 %"),
            (Unit::None, 1234.0, "1,234"),
            (Unit::None, -1.5, "−1.5"),
            (Unit::Named("tCK"), 558.0, "558 tCK"),
        ] {
            assert_eq!(unit.write(value), text.replace("0 ps", if value == 0.0 { "0 ns" } else { "0 ps" }));
        }
        assert_eq!(NS.write_in_full(1046.25), "1046.25 ns");
        let numbers = [0.0, 48.0, 1046.25, 1_234_567.0, 16_994.748, 0.5, 0.012_34, -3.25, 1e-9].map(number);
        assert_eq!(numbers, ["0", "48", "1,046.25", "1,234,567", "16,994.7", "0.5", "0.01234", "−3.25", "1e-9"]);
        let bytes = Unit::Bytes { exponent: 0 };
        assert_eq!([104.0, 1400.0, 0.0].map(|value| bytes.write_rounded(value)), ["100 B", "1.4 KiB", "0 B"]);
    }
}
