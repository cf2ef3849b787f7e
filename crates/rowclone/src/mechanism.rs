//! The ways in which bytes get from one row to another.

/// A way to copy or to initialise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mechanism {
    /// Over the memory channel: read and write bursts. Always possible.
    Channel,
    /// Pipelined serial mode: one TRANSFER a line, between two banks of a rank.
    Psm,
    /// Two of them within one bank, by way of the temporary row of another bank.
    Psm2,
    /// Fast parallel mode: a whole row by a copy activation within one subarray.
    Fpm,
}

impl Mechanism {
    /// All mechanisms, in the order in which reports list them.
    pub const ALL: [Mechanism; 4] = [Mechanism::Channel, Mechanism::Psm, Mechanism::Psm2, Mechanism::Fpm];

    /// The name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Mechanism::Channel => "channel",
            Mechanism::Psm => "psm",
            Mechanism::Psm2 => "psm2",
            Mechanism::Fpm => "fpm",
        }
    }

    /// The mechanism of that name.
    pub fn from_name(name: &str) -> Option<Mechanism> {
        Mechanism::ALL.into_iter().find(|mechanism| mechanism.name() == name)
    }
}
