//! How columns and numbers of tables for programs are said to people.

use rowclone_sim::quantity::{bytes, grouped};

/// What a column is called, and its unit; the unit is empty of words and plain counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) name: String,
    pub(super) unit: &'static str,
}

/// The endings of columns, and the units that they stand for.
const UNITS: [(&str, &str); 8] = [
    ("_ns", "ns"),
    ("_ps", "ps"),
    ("_nj", "nJ"),
    ("_cycles", "clocks"),
    ("_gb_s", "GB/s"),
    ("_share", "%"),
    ("_entries", "entries"),
    ("_bytes", "bytes"),
];

/// What columns are called that their own names do not say well.
const NAMES: [(&str, &str); 9] = [
    ("channel_bytes", "channel traffic"),
    ("command_bus_share", "command bus in use"),
    ("data_bus_share", "data bus in use"),
    ("energy_nj", "energy, total"),
    ("dynamic_energy_nj", "dynamic energy"),
    ("copy_response_mean_ns", "copy, from its arrival, mean"),
    ("copies_by_fpm_share", "copies by FPM"),
    ("inits_by_fpm_share", "initialisations by FPM"),
    ("trace_skipped_share", "records left out"),
];

impl Heading {
    /// Of a column: `copy_latency_mean_ns` is `copy latency, mean` in ns.
    pub(super) fn of(column: &str) -> Heading {
        let (stem, unit) = match UNITS.iter().find(|(ending, _)| column.ends_with(ending)) {
            Some((ending, unit)) => (&column[..column.len() - ending.len()], *unit),
            None if column == "bytes" => (column, "bytes"),
            None => (column, ""),
        };
        let name = match NAMES.iter().find(|(name, _)| *name == column) {
            Some((_, name)) => (*name).to_owned(),
            None => said(stem),
        };
        Heading { name, unit }
    }

    /// With the unit in brackets.
    pub(super) fn with_unit(&self) -> String {
        if self.unit.is_empty() || self.unit == self.name {
            self.name.clone()
        } else {
            format!("{} ({})", self.name, self.unit)
        }
    }

    /// A value under this heading, as a table and a tooltip show it.
    pub(super) fn value(&self, value: f64) -> String {
        if self.unit == "%" { format!("{:.1}", value * 100.0) } else { number(value) }
    }

    /// A value with its unit: `1,046.25 ns`.
    pub(super) fn value_with_unit(&self, value: f64) -> String {
        match self.unit {
            "" => number(value),
            "bytes" => whole(value).map_or_else(|| format!("{} bytes", number(value)), bytes),
            unit => format!("{} {unit}", self.value(value)),
        }
    }
}

/// `copy_latency_mean` is `copy latency, mean`.
fn said(stem: &str) -> String {
    for part in ["mean", "p50", "p99", "max"] {
        if let Some(before) = stem.strip_suffix(&format!("_{part}")) {
            return format!("{}, {part}", before.replace('_', " "));
        }
    }
    stem.replace('_', " ")
}

/// A number for people: grouped, two decimals at most, or three figures where it is below 1.
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    if let Some(size) = whole(size).filter(|_| size < 1e15) {
        return signed(value, grouped(size));
    }
    if !(1e-3..1e12).contains(&size) {
        return format!("{value:.3e}");
    }
    if size < 1.0 {
        return trimmed(&format!("{value:.4}"));
    }
    let decimals = if size < 10_000.0 { 2 } else { 1 };
    let text = format!("{size:.decimals$}");
    let (whole, fraction) = text.split_once('.').expect("there are decimals");
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    signed(value, format!("{whole}.{fraction}"))
}

/// A value that is a count, as one.
#[expect(clippy::cast_sign_loss, reason = "it is not below 0")]
pub(super) fn whole(value: f64) -> Option<u64> {
    (value >= 0.0 && value.fract() == 0.0 && value < u64::MAX as f64).then_some(value as u64)
}

fn signed(value: f64, size: String) -> String {
    if value < 0.0 { format!("-{size}") } else { size }
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number as short as the tick of an axis wants it: `20 k`, `1.5 M`.
pub(super) fn short(value: f64) -> String {
    let steps = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    let size = value.abs();
    match steps.into_iter().find(|(step, _)| size >= *step && size >= 1e4) {
        Some((step, name)) => trimmed_if_decimal(value / step) + name,
        None if size > 0.0 && size < 1e-3 => format!("{value:e}"),
        None => trimmed_if_decimal(value),
    }
}

fn trimmed_if_decimal(value: f64) -> String {
    let text = format!("{value:.3}");
    trimmed(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_says_its_name_and_its_unit() {
        let of = |column| Heading::of(column).with_unit();
        assert_eq!(of("copy_latency_mean_ns"), "copy latency, mean (ns)");
        assert_eq!(of("dynamic_energy_nj"), "dynamic energy (nJ)");
        assert_eq!(of("bytes"), "bytes");
        assert_eq!(of("channel_bytes"), "channel traffic (bytes)");
        assert_eq!(of("copies_by_fpm_share"), "copies by FPM (%)");
        assert_eq!(of("policy"), "policy");
    }

    #[test]
    fn numbers_are_grouped_and_keep_what_matters() {
        let said = [0.0, 48.0, 1046.25, 1_234_567.0, 16_994.748, 0.5, 0.012_34, -3.25, 1e-9].map(number);
        assert_eq!(said, ["0", "48", "1,046.25", "1,234,567", "16,994.7", "0.5", "0.0123", "-3.25", "1.000e-9"]);
        assert_eq!(
            [0.0, 0.25, 500.0, 2000.0, 20_000.0, 1.5e6].map(short),
            ["0", "0.25", "500", "2000", "20 k", "1.5 M"]
        );
    }

    #[test]
    fn a_value_has_its_unit_once() {
        assert_eq!(Heading::of("bytes").value_with_unit(4096.0), "4 KiB");
        assert_eq!(Heading::of("data_bus_share").value_with_unit(0.1234), "12.3 %");
        assert_eq!(Heading::of("makespan_ns").value_with_unit(90.0), "90 ns");
    }
}
