//! `rowclone-sim reproduce table3` and `reproduce lisa`: the published copies of `RowClone` and LISA beside the
//! simulated ones.

use clap::Args;
use dram_spec::{BankId, Location, Operation, PhysicalAddress, Row, SpeedBin};
use energy::EnergyReport;
use host::{OperationKind, OperationSpec, Place};
use memctrl::policy::copy::{BASELINE, CopyPolicy, LISA, ROWCLONE};
use report::published_copies::{CopyTable, PublishedCopies, Simulated};
use rowclone::CopySupport;
use rowclone_config::{Failure, Overrides, SystemConfig, currents};
use rowclone_sim::{MemorySystem, SystemBuilder};

use crate::args::OutputFormat;
use crate::interrupt;

/// `reproduce table3`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim reproduce table3 --currents \"2 Gb x8 D-die 1066\"")]
pub struct Table3Args {
    /// The current set: the name of a shipped set, or a TOML file [default: the set of the paper's system]
    #[arg(long, value_name = "SET")]
    pub currents: Option<String>,
    /// Format of the table
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// The operations of the six rows, in the order of the published table: the policy that selects the mechanism, and the
/// location of the source.
const ROWS: [(&dyn CopyPolicy, OperationKind, Option<Place>); 6] = [
    (BASELINE, OperationKind::Copy, Some(Place::SameBank)),
    (ROWCLONE, OperationKind::Copy, Some(Place::SameSubarray)),
    (ROWCLONE, OperationKind::Copy, Some(Place::OtherBank)),
    (ROWCLONE, OperationKind::Copy, Some(Place::SameBank)),
    (BASELINE, OperationKind::Zero, None),
    (ROWCLONE, OperationKind::Zero, None),
];

/// Simulates the six rows, and returns the table.
///
/// # Errors
/// An unknown current set; the run was stopped.
///
/// # Panics
/// If the paper's system has no current set, which is in its preset, or the memory no space for one of the pairs; every
/// legal geometry has.
pub fn table3(args: &Table3Args) -> Result<String, Failure> {
    let currents = if let Some(name) = &args.currents {
        currents::named_or_read(name)?
    } else {
        let paper = SystemConfig::paper(&Overrides::default())?;
        paper.memory.currents().expect("the paper's system has a current set").clone()
    };
    // The DDR3-1066 8-8-8 of the paper with 4 KB rows, one channel and one rank, with chips of the current set.
    let builder = SystemBuilder::default().channels(1).chips(currents.density(), currents.width());
    let system = built(builder.currents(currents.clone()))?;
    let mut channel_share = None;
    let mut simulated = Vec::new();
    for (policy, kind, src) in ROWS {
        let spec = OperationSpec { kind, src, dst: PhysicalAddress(0x0040_0000), bytes: 4096, value: 0, at: None };
        let listed = spec.resolve(system.planner()).expect("the memory has room for each pair");
        let (figures, energy) = simulate(&system, policy, listed.operation())?;
        channel_share = channel_share.or(Some(energy.channel_share().unwrap_or_default()));
        simulated.push(figures);
    }
    let of_channel = (system.system().geometry.ranks(), channel_share.unwrap_or_default());
    let table = CopyTable::new(PublishedCopies::table3(), currents.name().to_string(), simulated, of_channel);
    args.format.render(|| table.to_text(), &table)
}

/// `reproduce lisa`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim reproduce lisa --format json")]
pub struct LisaArgs {
    /// The current set: the name of a shipped set, or a TOML file
    #[arg(long, value_name = "SET", default_value = "4 Gb x8 E/J-die 1600")]
    pub currents: String,
    /// Format of the table
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// Hops of the rows of LISA, in the order of the published table.
const HOPS: [u32; 6] = [1, 3, 7, 15, 31, 63];

/// Bytes of a copy of LISA: a row.
const ROW_BYTES: u64 = 8192;

/// Simulates the rows of LISA, and returns the table.
///
/// # Errors
/// An unknown current set; the run was stopped.
pub fn lisa(args: &LisaArgs) -> Result<String, Failure> {
    let currents = currents::named_or_read(&args.currents)?;
    let bin = SpeedBin::named("1600K").expect("it is in the table of bins");
    let builder = SystemBuilder::default().bin(bin).channels(1).ranks(1).row_bytes(ROW_BYTES);
    let builder = builder.chips(currents.density(), currents.width()).currents(currents.clone());
    let system = built(builder.copy_support(CopySupport::offering(CopySupport::names())))?;
    let address = |location| system.map().address(location).expect("the memory has the row");
    let simulated = copies(&system).map(|(policy, src)| {
        let operation = Operation::Copy { src: address(src), dst: address(Location::default()), bytes: ROW_BYTES };
        Ok(simulate(&system, policy, operation)?.0)
    });
    let simulated = simulated.collect::<Result<Vec<_>, Failure>>()?;
    let of_channel = (system.system().geometry.ranks(), 0.0);
    let table = CopyTable::new(PublishedCopies::lisa(), currents.name().to_string(), simulated, of_channel);
    args.format.render(|| table.to_text(), &table)
}

/// The policy and the source of each row of the table. The destination is row 0 of bank 0.
fn copies(system: &MemorySystem) -> impl Iterator<Item = (&'static dyn CopyPolicy, Location)> {
    let first_of = |subarray| system.system().geometry.rows_of_subarray(subarray).start;
    let row = |row| Location { row: Row(row), ..Location::default() };
    let other_bank = Location { bank: BankId { rank: 0, bank: 1 }, ..Location::default() };
    let published =
        [(BASELINE, row(first_of(1))), (ROWCLONE, row(first_of(1))), (ROWCLONE, other_bank), (ROWCLONE, row(1))];
    published.into_iter().chain(HOPS.map(|hops| (LISA, row(first_of(hops)))))
}

fn built(builder: SystemBuilder) -> Result<MemorySystem, Failure> {
    builder.build().map_err(|error| Failure::new(&error).with_help(error.help()))
}

/// Latency and energy of an operation alone.
///
/// # Errors
/// The run was stopped.
fn simulate(
    system: &MemorySystem,
    policy: &'static dyn CopyPolicy,
    operation: Operation,
) -> Result<(Simulated, EnergyReport), Failure> {
    let (completion, commands) = system.alone(policy, operation, Some(&interrupt::flag()))?;
    let latency = completion.latency();
    let energy = system.prices().expect("the system has a current set").operation(&commands);
    let figures = Simulated {
        latency_ns: system.system().clock().ns(latency),
        latency_cycles: latency.0,
        energy_nj: energy.operation().nj(),
    };
    Ok((figures, energy))
}
