//! `rowclone-sim reproduce ioat`: the published figures of the I/OAT measurements beside the simulated ones.

mod copies;
mod measurement;

use std::path::Path;

use clap::{Args, ValueEnum};
use memctrl::policy::copy::DMA;
use report::ioat::{IoatTable, SCHEMA_VERSION};
use rowclone_config::{Failure, MachineConfig, Overrides};
use rowclone_sim::CopyMethod;
use serde::Deserialize;

use self::copies::{SIZES, copy_cost};
use self::measurement::measurements;
use crate::args::count;
use crate::commands::core_runs::in_parallel;
use crate::commands::reproduce::output::OutputArgs;

/// `reproduce ioat`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim reproduce ioat --packets 4000\n  \
    rowclone-sim reproduce ioat --only copies,receive --set interconnect.address_clocks=1")]
pub struct IoatArgs {
    /// Sets a key of the machine `ioat-2006`: `dma.channels=1`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Packets that arrive at each port, at least those of two messages; servers receive a quarter of this number as
    /// requests, and at least 8 requests per client
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count(1..=1_000_000))]
    pub packets: u64,
    /// Measurements [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_enum)]
    pub only: Vec<Group>,
    /// Checks and format
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Measurements that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Copies alone, by size
    Copies,
    /// Packets received, on 1 to 6 ports and with 120 connections, and sent
    Receive,
    /// Socket options
    Options,
    /// Messages by size, with and without split headers
    Messages,
    /// Web server and proxy
    Servers,
}

impl IoatArgs {
    fn wants(&self, group: Group) -> bool {
        self.only.is_empty() || self.only.contains(&group)
    }
}

/// The machine of the measurements.
const MACHINE: &str = "ioat-2006";
/// The engine that is compared with the copy by the core.
const ENGINE: CopyMethod = CopyMethod::of(DMA);

/// Simulates copies and received packets, and returns the tables.
///
/// # Errors
/// An error of the machine; a signal; a failed check.
pub fn run(args: &IoatArgs) -> Result<String, Failure> {
    let machine = MachineConfig::read(Path::new(MACHINE), &Overrides::parse(&args.set)?)?;
    let sizes = if args.wants(Group::Copies) { &SIZES[..] } else { &[] };
    let measurements = measurements(args)?;
    let copies = in_parallel(sizes, |&bytes| copy_cost(&machine, bytes, args.output.check))?;
    let rows = in_parallel(&measurements, |measurement| measurement.row(args.output.check))?;
    let table = IoatTable {
        schema_version: SCHEMA_VERSION,
        machine: machine.name.clone(),
        packets: args.packets,
        copies,
        measurements: rows,
    };
    args.output.format.render(|| table.to_text(), &table)
}
