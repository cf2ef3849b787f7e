//! Names of columns and forms of numbers in a page.

pub(super) use crate::plot::number;

use crate::plot::Unit;

/// The head of a column: its quantity, and its unit; the unit is empty of words and plain counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) name: String,
    pub(super) unit: String,
}

impl Heading {
    /// The heading of a column: `copy_latency_mean_ns` is `copy latency, mean` in ns.
    pub(super) fn of(column: &str) -> Heading {
        let (unit, name) = Unit::of_column(column);
        Heading { unit: if unit.symbol() == name { String::new() } else { unit.symbol() }, name }
    }

    /// The heading as text: `latency (ns)`.
    pub(super) fn written(text: &str) -> Heading {
        let (name, unit) = text.trim().split_once(" (").unwrap_or((text.trim(), ""));
        Heading { name: name.to_owned(), unit: unit.trim_end_matches(')').to_owned() }
    }

    /// A value under this heading.
    pub(super) fn value(&self, value: f64) -> String {
        if self.unit == "%" { format!("{:.1}", value * 100.0) } else { number(value) }
    }
}

/// The value as a count, if it is one.
#[expect(clippy::cast_sign_loss, reason = "it is not below 0")]
pub(super) fn whole(value: f64) -> Option<u64> {
    (value >= 0.0 && value.fract() == 0.0 && value < u64::MAX as f64).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_its_quantity_and_its_unit() {
        let of = |column: &str| {
            let Heading { name, unit } = Heading::of(column);
            format!("{name} ({unit})")
        };
        assert_eq!(of("copy_latency_mean_ns"), "copy latency, mean (ns)");
        assert_eq!(of("dynamic_energy_nj"), "dynamic energy (nJ)");
        assert_eq!(of("bytes"), "bytes ()");
        assert_eq!(of("channel_bytes"), "channel traffic (bytes)");
        assert_eq!(of("copies_by_fpm_share"), "copies by FPM (%)");
        assert_eq!(of("policy"), "policy ()");
        assert_eq!(Heading::of("data_bus_share").value(0.1234), "12.3");
    }
}
