//! Which rows a command stream has opened.

use std::collections::BTreeMap;

use crate::command::{AutoPrecharge, BankId, Channel, Command, Row};
use crate::geometry::Geometry;

/// The open row of each bank, as the commands so far left it. Readers of a stream tell a copy ACT from an ACT by it.
#[derive(Clone, Debug)]
pub struct OpenRows {
    geometry: Geometry,
    rows: BTreeMap<(Channel, BankId), Row>,
}

/// What an ACT does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// It opens a row of a closed bank.
    Opens,
    /// It copies the open row of the same subarray.
    Copies {
        /// The open row.
        src: Row,
    },
    /// The chips drop it: the open row is in another subarray.
    Dropped {
        /// The open row.
        open: Row,
    },
}

impl OpenRows {
    /// All banks are closed.
    pub const fn new(geometry: Geometry) -> OpenRows {
        OpenRows { geometry, rows: BTreeMap::new() }
    }

    /// The open row of a bank.
    pub fn row(&self, channel: Channel, bank: BankId) -> Option<Row> {
        self.rows.get(&(channel, bank)).copied()
    }

    /// Follows a command. Returns what it does, if it is an ACT.
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
