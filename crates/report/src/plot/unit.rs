//! What a column counts in, as its name says, and how its values are written.

/// The unit of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A count or a ratio.
    None,
    /// One that takes the prefixes of the SI; the column has it times ten to this power.
    Prefixed {
        /// As written: `s`, `J`.
        symbol: &'static str,
        /// -9 for ns.
        exponent: i32,
    },
    /// Bytes, times two to this power.
    Bytes {
        /// 10 for KiB.
        exponent: i32,
    },
    /// A share, 0 to 1: written in per cent.
    Share,
    /// Any other, written as it is.
    Named(&'static str),
}

/// The ends of column names that say a unit. The last part of a name may also be all of it.
#[rustfmt::skip]
const SUFFIXES: &[(&str, Unit)] = &[
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

/// The same, of units that are two words.
const LONG_SUFFIXES: &[(&str, Unit)] = &[
    ("gb_s", Unit::Prefixed { symbol: "B/s", exponent: 9 }),
    ("mb_s", Unit::Prefixed { symbol: "B/s", exponent: 6 }),
    ("mt_s", Unit::Prefixed { symbol: "T/s", exponent: 6 }),
    ("bytes_per_second", Unit::Prefixed { symbol: "B/s", exponent: 0 }),
];

/// Prefixes of the SI by their power of ten.
const PREFIXES: [(i32, &str); 9] =
    [(-12, "p"), (-9, "n"), (-6, "µ"), (-3, "m"), (0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T")];

/// Prefixes of bytes by their power of two.
const BINARY: [(i32, &str); 5] = [(0, "B"), (10, "KiB"), (20, "MiB"), (30, "GiB"), (40, "TiB")];

impl Unit {
    /// What the name of a column says, and the rest of the name as words: `read_latency_mean_ns` is "read latency mean" in ns.
    ///
    /// Of a dotted name, as the axes of a sweep have, the last part is meant.
    pub fn of_column(column: &str) -> (Unit, String) {
        let name = column.rsplit('.').find(|part| part.parse::<u32>().is_err()).unwrap_or(column);
        let lower = name.to_lowercase();
        let parts: Vec<&str> = lower.split('_').collect();
        let last = parts.last().copied().unwrap_or_default();
        // A share of bytes is a share.
        if last != "percent" && parts.contains(&"share") {
            return (Unit::Share, words(name));
        }
        let long = LONG_SUFFIXES.iter().find(|(suffix, _)| lower.ends_with(&format!("_{suffix}")));
        let found = long.or_else(|| SUFFIXES.iter().find(|(suffix, _)| *suffix == last));
        let Some(&(suffix, unit)) = found else { return (Unit::None, words(name)) };
        let rest = &name[..name.len() - suffix.len()];
        // "channel bytes" says more than "channel".
        let label = if rest.is_empty() || suffix == "bytes" { words(name) } else { words(rest) };
        (unit, label)
    }

    /// A value of a column with this unit, alone: `4 KiB`, `1.5 µs`, with at most four digits that count.
    pub fn write(self, value: f64) -> String {
        match self {
            Unit::None => plain(value),
            Unit::Share => format!("{} %", plain(value * 100.0)),
            Unit::Named(symbol) => format!("{} {symbol}", plain(value)),
            Unit::Bytes { exponent } => bytes(value * 2f64.powi(exponent)),
            Unit::Prefixed { symbol, exponent } => {
                let (power, prefix) = fitting(value.abs(), exponent);
                format!("{} {prefix}{symbol}", plain(value / 10f64.powi(power - exponent)))
            }
        }
    }

    /// The same with two digits that count, for a value that was not measured but lies between two that were.
    pub(super) fn write_rounded(self, value: f64) -> String {
        if value == 0.0 {
            return self.write(value);
        }
        // Rounded as it is written: of 1.37 KiB the digits are those before KiB.
        let power = if let Unit::Bytes { exponent } = self {
            let bytes = value.abs() * 2f64.powi(exponent);
            let fits = BINARY.iter().rev().find(|(power, _)| bytes >= 2f64.powi(*power));
            2f64.powi(fits.map_or(0, |(power, _)| *power) - exponent)
        } else {
            1.0
        };
        let shown = value / power;
        let step = 10f64.powf(shown.abs().log10().floor() - 1.0);
        self.write((shown / step).round() * step * power)
    }

    /// The same, in full, in the unit of the column: `1046.25 ns`.
    pub fn write_in_full(self, value: f64) -> String {
        match self {
            Unit::Prefixed { symbol, exponent } => format!("{value} {}{symbol}", prefix(exponent)),
            Unit::Bytes { exponent: 0 } => format!("{value} B"),
            Unit::None => value.to_string(),
            Unit::Bytes { .. } | Unit::Share | Unit::Named(_) => self.write(value),
        }
    }

    /// How an axis whose greatest value is this writes its numbers.
    pub(super) fn display(self, greatest: f64) -> Display {
        match self {
            Unit::Named(symbol) => Display { unit: self, factor: 1.0, symbol: symbol.to_owned() },
            Unit::Share => Display { unit: self, factor: 100.0, symbol: "%".to_owned() },
            Unit::Bytes { .. } => Display { unit: self, factor: 1.0, symbol: String::new() },
            Unit::None => {
                let power = if greatest >= 1e5 { fitting(greatest, 0).0 } else { 0 };
                Display { unit: self, factor: 10f64.powi(-power), symbol: prefix(power).to_owned() }
            }
            Unit::Prefixed { symbol, exponent } => {
                let own = (1.0..10_000.0).contains(&greatest) || greatest <= 0.0;
                let (power, prefix) = if own { (exponent, prefix(exponent)) } else { fitting(greatest, exponent) };
                Display { unit: self, factor: 10f64.powi(exponent - power), symbol: format!("{prefix}{symbol}") }
            }
        }
    }
}

/// How the numbers of one axis are written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Display {
    unit: Unit,
    factor: f64,
    symbol: String,
}

impl Display {
    /// What follows the axis' label in brackets: nothing where each number has its unit.
    pub(super) fn symbol(&self) -> Option<&str> {
        let in_ticks = matches!(self.unit, Unit::None | Unit::Bytes { .. }) || self.symbol.is_empty();
        (!in_ticks).then_some(self.symbol.as_str())
    }

    /// Numbers at ticks, all with as many decimals as the finest needs.
    pub(super) fn write_all(&self, values: &[f64]) -> Vec<String> {
        if let Unit::Bytes { exponent } = self.unit {
            let written = |digits: i32| -> Vec<String> {
                values.iter().map(|value| bytes_in_digits(value * 2f64.powi(exponent), digits)).collect()
            };
            let all_differ = |texts: &Vec<String>| texts.windows(2).all(|pair| pair[0] != pair[1]);
            return [4, 6, 8].into_iter().map(written).find(all_differ).unwrap_or_else(|| written(12));
        }
        let shown: Vec<f64> = values.iter().map(|value| value * self.factor).collect();
        let decimals = shown.iter().map(|&value| decimals(value)).max().unwrap_or(0);
        let suffix = if self.unit == Unit::None { self.symbol.as_str() } else { "" };
        let write = |&value: &f64| if value == 0.0 { "0".to_owned() } else { grouped(value, decimals) + suffix };
        shown.iter().map(write).collect()
    }

    /// A number in three digits that count, or with as many decimals as `like` has of these, for a small place; without the
    /// unit, unless it is of bytes.
    pub(super) fn write_short(&self, value: f64, like: Option<f64>) -> String {
        if let Unit::Bytes { .. } = self.unit {
            return self.unit.write(value);
        }
        let shown = value * self.factor;
        if shown == 0.0 {
            return "0".to_owned();
        }
        let step = |shown: f64| 10f64.powf(shown.abs().log10().floor() - 2.0).min(1.0);
        let uniform = like.map(|like| step(like * self.factor)).filter(|step| *step > 0.0);
        let step = uniform.unwrap_or_else(|| step(shown));
        let suffix = if self.unit == Unit::None { self.symbol.as_str() } else { "" };
        let rounded = (shown / step).round() * step;
        grouped(rounded, decimals(if uniform.is_some() { step } else { rounded })) + suffix
    }

    /// Numbers that each have the decimals they need, as on a logarithmic axis.
    pub(super) fn write_each(&self, values: &[f64]) -> Vec<String> {
        values.iter().flat_map(|&value| self.write_all(&[value])).collect()
    }
}

/// A name as people write it.
fn words(name: &str) -> String {
    name.trim_matches('_').replace('_', " ")
}

fn prefix(exponent: i32) -> &'static str {
    PREFIXES.iter().find(|(power, _)| *power == exponent).map_or("", |(_, prefix)| prefix)
}

/// The power of ten, and its prefix, with which a value has one to three digits before the point.
fn fitting(value: f64, exponent: i32) -> (i32, &'static str) {
    let fits = |power: i32| value * (1.0 + 1e-9) >= 10f64.powi(power - exponent);
    PREFIXES.iter().rev().find(|(power, _)| fits(*power)).copied().unwrap_or((exponent, prefix(exponent)))
}

fn bytes(value: f64) -> String {
    bytes_in_digits(value, 4)
}

fn bytes_in_digits(value: f64, digits: i32) -> String {
    let fits = |power: i32| value.abs() >= 2f64.powi(power);
    let (power, symbol) = BINARY.iter().rev().find(|(power, _)| fits(*power)).copied().unwrap_or(BINARY[0]);
    format!("{} {symbol}", in_digits(value / 2f64.powi(power), digits))
}

/// A number with at most four digits that count, unless it is whole.
fn plain(value: f64) -> String {
    in_digits(value, 4)
}

/// The same with another number of digits.
fn in_digits(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let places = (f64::from(digits - 1) - magnitude).max(0.0);
    let scale = 10f64.powf(places);
    let rounded = (value * scale).round() / scale;
    grouped(rounded, decimals(rounded))
}

/// How many decimals a number needs, up to six that count.
fn decimals(value: f64) -> usize {
    let text = format!("{value:.9}");
    let text = text.trim_end_matches('0');
    text.split_once('.').map_or(0, |(_, after)| after.len())
}

/// With a comma between thousands, and a true minus.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{out}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NS: Unit = Unit::Prefixed { symbol: "s", exponent: -9 };

    #[test]
    fn the_end_of_a_name_says_the_unit() {
        for (column, unit, label) in [
            ("latency_ns", NS, "latency"),
            ("read_latency_mean_ns", NS, "read latency mean"),
            ("energy_read_io_nj", Unit::Prefixed { symbol: "J", exponent: -9 }, "energy read io"),
            ("bytes", Unit::Bytes { exponent: 0 }, "bytes"),
            ("channel_bytes", Unit::Bytes { exponent: 0 }, "channel bytes"),
            ("operation.0.bytes", Unit::Bytes { exponent: 0 }, "bytes"),
            ("system.geometry.rows_per_subarray", Unit::None, "rows per subarray"),
            ("capacity_kib", Unit::Bytes { exponent: 10 }, "capacity"),
            ("data_bus_share", Unit::Share, "data bus share"),
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
    }

    #[test]
    fn an_axis_has_one_unit_for_all_its_numbers() {
        let display = NS.display(1_200_000.0);
        assert_eq!(display.symbol(), Some("ms"));
        assert_eq!(display.write_all(&[0.0, 500_000.0, 1_000_000.0]), ["0", "0.5", "1.0"]);
        let display = NS.display(1200.0);
        assert_eq!(
            (display.symbol(), display.write_all(&[0.0, 1000.0])),
            (Some("ns"), vec!["0".into(), "1,000".into()])
        );
        let display = Unit::None.display(250_000.0);
        assert_eq!((display.symbol(), display.write_all(&[0.0, 100_000.0])), (None, vec!["0".into(), "100k".into()]));
        assert_eq!(Unit::Share.display(1.0).write_all(&[0.25, 0.5]), ["25", "50"]);
        assert_eq!(Unit::Bytes { exponent: 0 }.display(9e4).write_all(&[64.0, 65536.0]), ["64 B", "64 KiB"]);
    }
}
