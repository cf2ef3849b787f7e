//! Open rows of banks, and the effects of the commands of a log.

use std::collections::BTreeMap;

use crate::command::Command;
use crate::coordinates::{BankId, Channel, Row};
use crate::event::{CommandEvent, Issued};
use crate::geometry::Geometry;
use crate::properties::{Effect, Operands, RowChange};

/// Open row of each bank after the commands of a log so far.
///
/// Events of a run contain the effects of their commands, and logs do not: this type converts the
/// commands of a log to events.
#[derive(Clone, Debug)]
pub struct OpenRows {
    geometry: Geometry,
    rows: BTreeMap<(Channel, BankId), Row>,
    /// Row whose contents a row buffer movement has moved, until the next ACT or PRE.
    moved: BTreeMap<(Channel, BankId), Row>,
}

impl OpenRows {
    /// Starts with all banks closed.
    pub const fn new(geometry: Geometry) -> OpenRows {
        OpenRows { geometry, rows: BTreeMap::new(), moved: BTreeMap::new() }
    }

    /// Event of the next command of the log, of unknown cause.
    pub fn event(&mut self, issued: Issued) -> CommandEvent {
        let Issued { at, channel, command } = issued;
        let effect = self.apply(channel, &command);
        CommandEvent::new(at, channel, command, effect)
    }

    /// Applies a command; returns its effect.
    fn apply(&mut self, channel: Channel, command: &Command) -> Effect {
        let place = |bank| (channel, bank);
        match (command.row_change(), command.operands()) {
            (RowChange::Opens(row), Operands::Row(bank, _)) => {
                let moved = self.moved.remove(&place(bank));
                let effect = match self.rows.get(&place(bank)).copied() {
                    None => moved.map_or(Effect::Plain, |src| Effect::Copied { src }),
                    Some(src) if self.geometry.subarray_distance(src, row) == 0 => Effect::Copied { src },
                    Some(open) => return Effect::Dropped { open },
                };
                self.rows.insert(place(bank), row);
                return effect;
            }
            (RowChange::Leaves, Operands::Row(bank, row)) => {
                let hops = |src| self.geometry.subarray_distance(src, row);
                if let Some(src) = self.rows.get(&place(bank)).copied().filter(|&src| hops(src) > 0) {
                    self.rows.remove(&place(bank));
                    self.moved.insert(place(bank), src);
                    return Effect::Moved { src, hops: hops(src) };
                }
            }
            (RowChange::Closes, Operands::Rank(rank)) => {
                let others = |(other, bank): &(Channel, BankId), _: &mut Row| *other != channel || bank.rank != rank;
                self.rows.retain(others);
                self.moved.retain(others);
            }
            (RowChange::Closes, _) => {
                let bank = command.bank().expect("a command of no rank names its bank");
                self.rows.remove(&place(bank));
                self.moved.remove(&place(bank));
            }
            (RowChange::Opens(_) | RowChange::Leaves, _) => unreachable!("a row command names its row"),
            (RowChange::None, _) => {}
        }
        Effect::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{AutoPrecharge, CommandKind};
    use crate::coordinates::Column;
    use crate::standard::{Density, Width};
    use crate::system::System;
    use crate::units::Cycle;

    const CHANNEL: Channel = Channel(0);
    const OTHER: Channel = Channel(1);
    const BANK: BankId = BankId { rank: 1, bank: 3 };

    fn act(row: u32) -> Command {
        Command::Activate { bank: BANK, row: Row(row) }
    }

    /// Of the commands to one bank: an ACT opens, copies within the subarray of 512 rows, or is dropped.
    #[test]
    fn the_effect_of_an_activation_follows_from_the_commands_before_it() {
        let mut rows = OpenRows::new(System::paper(1, Density::Gb2, Width::X8).geometry);
        let (bank, column) = (BANK, Column(0));
        let mut effect = |channel, command| rows.event(Issued { at: Cycle(7), channel, command }).effect;
        assert_eq!(effect(CHANNEL, act(5)), Effect::Plain);
        assert_eq!(effect(OTHER, act(7)), Effect::Plain, "a bank of its own");
        assert_eq!(effect(CHANNEL, act(511)), Effect::Copied { src: Row(5) });
        assert_eq!(effect(CHANNEL, act(512)), Effect::Dropped { open: Row(511) });
        assert_eq!(effect(CHANNEL, act(6)), Effect::Copied { src: Row(511) }, "a dropped ACT opens nothing");
        let (no, yes) = (AutoPrecharge::No, AutoPrecharge::Yes);
        for closing in [
            Command::Precharge { bank },
            Command::Read { bank, column, auto_precharge: yes },
            Command::Write { bank, column, auto_precharge: yes },
            Command::PrechargeAll { rank: 1 },
        ] {
            assert_eq!(effect(CHANNEL, closing), Effect::Plain);
            assert_eq!(effect(CHANNEL, act(6)), Effect::Plain, "{closing} closes the bank");
            assert_eq!(effect(OTHER, act(7)), Effect::Copied { src: Row(7) }, "{closing} is to the other channel");
        }
        for other in [
            Command::Read { bank, column, auto_precharge: no },
            Command::Write { bank, column, auto_precharge: no },
            Command::Precharge { bank: BankId { rank: 1, bank: 2 } },
            Command::PrechargeAll { rank: 0 },
        ] {
            assert_eq!(effect(CHANNEL, other), Effect::Plain);
            assert_eq!(effect(CHANNEL, act(6)), Effect::Copied { src: Row(6) }, "{other} closes nothing here");
        }
    }

    /// After ACT of row 4 or 4096, each example has its effect; the kinds that close the bank are known.
    #[test]
    fn the_examples_of_each_kind_have_their_effect() {
        let geometry = System::paper(1, Density::Gb2, Width::X8).geometry;
        for kind in CommandKind::ALL {
            for (command, effect) in kind.examples() {
                let mut rows = OpenRows::new(geometry);
                let issued = |command| Issued { at: Cycle(7), channel: CHANNEL, command };
                let bank = BankId { rank: 0, bank: 0 };
                let open = match effect {
                    Effect::Copied { src } | Effect::Moved { src, .. } => Some(src),
                    Effect::Dropped { open } => Some(open),
                    Effect::Plain => None,
                };
                if let Some(row) = open {
                    rows.event(issued(Command::Activate { bank, row }));
                }
                let event = CommandEvent::new(Cycle(7), CHANNEL, command, effect);
                assert_eq!((rows.event(issued(command)), event.kind()), (event, kind));
            }
        }
    }
}
