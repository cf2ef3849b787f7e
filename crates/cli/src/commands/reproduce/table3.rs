//! `rowclone-sim reproduce table3`: the published rows beside the simulated ones.

use clap::Args;
use dram_spec::PhysicalAddress;
use energy::Currents;
use host::{Kind, OperationSpec, Place};
use memctrl::policy::copy::{BASELINE, CopyPolicy, ROWCLONE};
use report::Table3;
use report::table3::Simulated;
use rowclone_sim::SystemBuilder;

use crate::args::Format;
use crate::interrupt;
use rowclone_config::{Failure, Overrides, SystemConfig, currents};

/// `reproduce table3`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim reproduce table3 --currents \"2 Gb x8 D-die 1066\"")]
pub struct Table3Args {
    /// The current set: the name of a shipped set, or a TOML file [default: the set of the paper's system]
    #[arg(long, value_name = "SET")]
    pub currents: Option<String>,
    /// Format of the table
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The operations of the six rows, in the order of the published table: the policy that selects the mechanism, and the
/// location of the source.
const ROWS: [(&dyn CopyPolicy, Kind, Option<Place>); 6] = [
    (BASELINE, Kind::Copy, Some(Place::SameBank)),
    (ROWCLONE, Kind::Copy, Some(Place::SameSubarray)),
    (ROWCLONE, Kind::Copy, Some(Place::OtherBank)),
    (ROWCLONE, Kind::Copy, Some(Place::SameBank)),
    (BASELINE, Kind::Zero, None),
    (ROWCLONE, Kind::Zero, None),
];

/// Simulates the six rows and prints them.
///
/// # Errors
/// An unknown current set; a terminal that cannot be written to.
///
/// # Panics
/// If the paper's system has no current set, which is in its preset.
pub fn table3(args: &Table3Args) -> Result<String, Failure> {
    let currents = if let Some(name) = &args.currents {
        currents::named_or_read(name)?
    } else {
        let paper = SystemConfig::paper(&Overrides::default())?;
        paper.memory.currents().expect("the paper's system has a current set").clone()
    };
    let table = simulate(&currents)?;
    args.format.render(|| table.to_text(), &table)
}

/// The table, from the commands of six runs.
///
/// # Errors
/// The run was stopped.
///
/// # Panics
/// If the memory has no space for one of the pairs; every legal geometry has.
pub fn simulate(currents: &Currents) -> Result<Table3, Failure> {
    let builder = SystemBuilder::default().channels(1).chips(currents.density(), currents.width());
    // The DDR3-1066 8-8-8 of the paper with 4 KB rows, one channel and one rank, with chips of the current set.
    let system = builder.currents(currents.clone()).build();
    let system = system.map_err(|error| Failure::new(&error).with_help(error.help()))?;
    let prices = system.prices().expect("it was built with currents");
    let stop = interrupt::flag();
    let mut channel_share = 0.0;
    let mut simulated = Vec::with_capacity(ROWS.len());
    for (policy, kind, src) in ROWS {
        let spec = OperationSpec { kind, src, dst: PhysicalAddress(0x0040_0000), bytes: 4096, value: 0, at: None };
        let operation = spec.resolve(system.planner()).expect("the memory has room for each pair");
        let (completion, commands) = system.alone(policy, operation, Some(&stop))?;
        let latency = completion.latency();
        let energy = prices.operation(&commands);
        if simulated.is_empty() {
            channel_share = energy.channel_share().unwrap_or_default();
        }
        simulated.push(Simulated {
            latency_ns: system.system().clock().ns(latency),
            latency_cycles: latency.0,
            energy_nj: energy.operation().nj(),
        });
    }
    let simulated = simulated.try_into().expect("a run a row");
    Ok(Table3::new(currents.name().to_string(), system.system().geometry.ranks(), simulated, channel_share))
}
