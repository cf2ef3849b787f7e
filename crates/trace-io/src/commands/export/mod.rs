//! Writer of command traces with one file per rank, for other tools.

mod ddr3;
mod hdl;
mod inexpressible;
mod power_trace;
mod rank;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use dram_spec::{Cycle, Geometry, Issued, OpenRows, System};

use super::FileRank;
use crate::LineError;
pub use ddr3::ModeRegisters;
pub use inexpressible::Inexpressible;
use rank::{Rank, RankEvent};

/// A format with one file per rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// `DRAMPower` 4.
    DramPower,
    /// Ramulator 1: the lines of `DRAMPower`, without `END`.
    Ramulator,
    /// A list for HDL models.
    Hdl,
}

impl Target {
    /// The target of the format with this name.
    pub fn named(name: &str) -> Option<Target> {
        match name {
            "drampower" => Some(Target::DramPower),
            "ramulator-commands" => Some(Target::Ramulator),
            "hdl" => Some(Target::Hdl),
            _ => None,
        }
    }
}

/// What becomes of commands that the target cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// An error.
    Refuse,
    /// They are left out and counted.
    Drop,
}

/// Numbers of commands in an exported trace that not every format has.
pub type InexpressibleCommands = BTreeMap<Inexpressible, u64>;

/// Writes the commands of a memory system into one output per rank, in bounded memory.
///
/// Commands must be in order, and their channels, ranks, banks, rows and columns must exist. Timing
/// is not checked.
#[derive(Debug)]
pub struct Exporter<W: Write> {
    target: Target,
    unsupported: Unsupported,
    geometry: Geometry,
    rows: OpenRows,
    ranks: Vec<(FileRank, Rank, BufWriter<W>)>,
    found: InexpressibleCommands,
}

impl<W: Write> Exporter<W> {
    /// Writes the headers. There is one output per place.
    ///
    /// # Errors
    /// Errors of an output; an HDL list of another standard than DDR3, or of timing parameters that
    /// its mode registers cannot hold.
    pub fn new(
        target: Target,
        unsupported: Unsupported,
        system: &System,
        outputs: Vec<(FileRank, W)>,
    ) -> Result<Exporter<W>, LineError> {
        let mut ranks = Vec::with_capacity(outputs.len());
        for (place, output) in outputs {
            let mut output = BufWriter::new(output);
            if target == Target::Hdl {
                output.write_all(hdl::header(system, place)?.as_bytes())?;
            }
            ranks.push((place, Rank::new(system), output));
        }
        let (geometry, found) = (system.geometry, InexpressibleCommands::default());
        Ok(Exporter { target, unsupported, geometry, rows: OpenRows::new(geometry), ranks, found })
    }

    /// Writes a command.
    ///
    /// # Errors
    /// The command cannot be written: it is out of order, its place does not exist, the format lacks
    /// it, or it does not fit the power state. Errors of the output.
    pub fn command(&mut self, issued: &Issued) -> Result<(), LineError> {
        let Issued { at, channel, command } = *issued;
        if !self.geometry.holds_command(channel, &command) {
            return Err(no_place(issued));
        }
        let place = FileRank { channel, rank: command.rank() };
        let rank = self.ranks.iter_mut().find(|(other, ..)| *other == place);
        let (_, rank, output) = rank.ok_or_else(|| no_place(issued))?;
        let event = self.rows.event(*issued);
        let of_rank = rank.follow(&event)?;
        if let RankEvent::Inexpressible(what) = of_rank {
            if self.target != Target::Hdl && self.unsupported == Unsupported::Refuse {
                return Err(what.unsupported(&event));
            }
            *self.found.entry(what).or_default() += 1;
        }
        match self.target {
            Target::Hdl => output.write_all(hdl::line(&event).as_bytes())?,
            Target::DramPower | Target::Ramulator => {
                if let Some((name, bank)) = power_trace::cells(&command, of_rank) {
                    writeln!(output, "{at},{name},{bank}")?;
                }
            }
        }
        Ok(())
    }

    /// Writes the end of the run, if it is known, and returns the outputs and the numbers of
    /// commands that not every format has.
    ///
    /// # Errors
    /// Errors of an output.
    pub fn finish(self, end: Option<Cycle>) -> Result<(Vec<(FileRank, W)>, InexpressibleCommands), LineError> {
        let mut outputs = Vec::with_capacity(self.ranks.len());
        for (place, _, mut output) in self.ranks {
            match (self.target, end) {
                (Target::DramPower, Some(end)) => writeln!(output, "{end},END,0")?,
                (Target::Hdl, Some(end)) => writeln!(output, "# end at cycle {end}")?,
                (Target::DramPower | Target::Hdl, None) | (Target::Ramulator, _) => {}
            }
            outputs.push((place, output.into_inner().map_err(std::io::IntoInnerError::into_error)?));
        }
        Ok((outputs, self.found))
    }
}

/// The error for a command whose channel, rank, bank, row or column the system does not have.
fn no_place(Issued { at, channel, command }: &Issued) -> LineError {
    let what = format!("cycle {at}: the system does not have the place of {command}, channel {}", channel.0);
    LineError::new(what, "give the system that the trace is of")
}
