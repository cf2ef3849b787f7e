//! Open rows of a command stream.

use std::collections::BTreeMap;

use crate::command::{AutoPrecharge, BankId, Channel, Command, Row};
use crate::geometry::Geometry;

/// Open row of each bank after the commands so far. Event sinks use it to distinguish copy
/// activations.
#[derive(Clone, Debug)]
pub struct OpenRows {
    geometry: Geometry,
    rows: BTreeMap<(Channel, BankId), Row>,
}

/// Effect of an ACT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Opens a row of a closed bank.
    Opens,
    /// Copies the open row of the same subarray.
    Copies {
        /// Open row.
        src: Row,
    },
    /// Dropped by the chips: the open row is in another subarray.
    Dropped {
        /// Open row.
        open: Row,
    },
}

impl OpenRows {
    /// Starts with all banks closed.
    pub const fn new(geometry: Geometry) -> OpenRows {
        OpenRows { geometry, rows: BTreeMap::new() }
    }

    /// Open row of a bank.
    pub fn row(&self, channel: Channel, bank: BankId) -> Option<Row> {
        self.rows.get(&(channel, bank)).copied()
    }

    /// Applies a command; returns the effect of an ACT.
    pub fn follow(&mut self, channel: Channel, command: &Command) -> Option<Activation> {
        match *command {
            Command::Activate { bank, row } => {
                let place = (channel, bank);
                let does = match self.rows.get(&place).copied() {
                    None => Activation::Opens,
                    Some(src) if self.geometry.subarray(src) == self.geometry.subarray(row) => {
                        Activation::Copies { src }
                    }
                    Some(open) => return Some(Activation::Dropped { open }),
                };
                self.rows.insert(place, row);
                Some(does)
            }
            Command::Precharge { bank }
            | Command::Read { bank, auto_precharge: AutoPrecharge::Yes, .. }
            | Command::Write { bank, auto_precharge: AutoPrecharge::Yes, .. } => {
                self.rows.remove(&(channel, bank));
                None
            }
            Command::PrechargeAll { rank } => {
                self.rows.retain(|(other, bank), _| *other != channel || bank.rank != rank);
                None
            }
            _ => None,
        }
    }
}
