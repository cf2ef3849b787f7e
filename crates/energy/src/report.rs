//! Energy by cause.

use dram_spec::Picojoule;

use crate::cause::Cause;

/// Energy by cause: every cause once, in a fixed order.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyReport {
    by_cause: [(Cause, Picojoule); Cause::ALL.len()],
    io_is_modeled: bool,
}

impl EnergyReport {
    /// Creates a report without energy.
    pub fn empty() -> EnergyReport {
        EnergyReport::new(true)
    }

    /// Creates a report without energy, of a system whose pins have known powers or not.
    pub(crate) fn new(io_is_modeled: bool) -> EnergyReport {
        EnergyReport { by_cause: Cause::ALL.map(|cause| (cause, Picojoule(0.0))), io_is_modeled }
    }

    /// Whether the energy of the cause is computed: that of the data pins is not if the standard has no
    /// powers of its pins, and is then in no sum.
    pub const fn is_modeled(&self, cause: Cause) -> bool {
        self.io_is_modeled || !cause.on_channel()
    }

    pub(crate) fn book(&mut self, cause: Cause, energy: Picojoule) {
        self.by_cause[cause as usize].1 += energy;
    }

    /// All causes and their energies, in the order of [`Cause::ALL`].
    pub const fn by_cause(&self) -> &[(Cause, Picojoule)] {
        &self.by_cause
    }

    /// Energy of one cause.
    pub const fn of(&self, cause: Cause) -> Picojoule {
        self.by_cause[cause as usize].1
    }

    fn sum(&self, wanted: impl Fn(Cause) -> bool) -> Picojoule {
        self.by_cause.iter().filter(|(cause, _)| wanted(*cause)).map(|(_, energy)| *energy).sum()
    }

    /// Total energy.
    pub fn total(&self) -> Picojoule {
        self.sum(|_| true)
    }

    /// Dynamic energy: that of the commands, without background and refresh. Operations are
    /// compared by it.
    pub fn operation(&self) -> Picojoule {
        self.sum(Cause::in_operation)
    }

    /// Share of the channel in [`EnergyReport::operation`], 0 to 1; `None` if that is 0, or the energy of
    /// the pins is not modeled.
    pub fn channel_share(&self) -> Option<f64> {
        let operation = self.operation().0;
        (operation > 0.0 && self.io_is_modeled).then(|| self.sum(Cause::on_channel).0 / operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_take_in_their_causes_and_no_others() {
        let mut report = EnergyReport::empty();
        assert_eq!(report.channel_share(), None);
        for (index, cause) in Cause::ALL.into_iter().enumerate() {
            report.book(cause, Picojoule(f64::from(1 << index)));
        }
        assert_eq!(report.total(), Picojoule(65_535.0), "all sixteen");
        assert_eq!(report.operation(), Picojoule(511.0), "the first nine: neither refresh nor background");
        assert_eq!(report.channel_share(), Some(448.0 / 511.0), "64 + 128 + 256: the last three of the nine");
        assert_eq!(report.of(Cause::Refresh), Picojoule(512.0));
    }
}
