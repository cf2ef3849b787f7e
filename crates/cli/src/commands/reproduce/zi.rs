//! `rowclone-sim reproduce zi`: zeroing of pages and their first use.

use clap::Args;
use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use host::machine::{Program, Region, Steps};
use report::zeroing::{SCHEMA_VERSION, ZeroingFigures, ZeroingRow, ZeroingTable};
use rowclone_config::programs::baseline;
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::CopyMethod;
use trace_io::program::Step;

use crate::args::{MachineArgs, count};
use crate::commands::core_runs::{in_parallel, run_programs};
use crate::commands::reproduce::output::OutputArgs;

/// Numbers of pages by default.
const PAGES: [u64; 7] = [16, 64, 128, 192, 256, 512, 1024];

/// `reproduce zi`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim reproduce zi --pages 64,512")]
pub struct ZiArgs {
    /// The machine
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Pages that are zeroed, and then read and written
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = PAGES, value_parser = count(1..=65_536))]
    pub pages: Vec<u64>,
    /// Checks and format
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The methods of a row, in the order of [`ZeroingRow::methods`].
const METHODS: [CopyMethod; 3] = [CopyMethod::BASELINE, CopyMethod::ROWCLONE, CopyMethod::ROWCLONE_ZI];

const START: u64 = 1 << 32;

/// Simulates all numbers of pages, and returns the table.
///
/// # Errors
/// An error of the machine; pages that do not fit its memory; a signal; a failed check.
pub fn run(args: &ZiArgs) -> Result<String, Failure> {
    let machine = args.machine.read_for_paper(&[])?;
    let rows = in_parallel(&args.pages, |&pages| row(&machine, pages, args.output.check))?;
    let table = ZeroingTable {
        schema_version: SCHEMA_VERSION,
        machine: machine.name.clone(),
        baseline: baseline(&machine),
        rows,
    };
    args.output.format.render(|| table.to_text(), &table)
}

fn row(machine: &MachineConfig, pages: u64, is_checked: bool) -> Result<ZeroingRow, Failure> {
    let figures = METHODS.into_iter().map(|method| {
        // The run with both phases begins with the run of phase 1.
        let (_, first) =
            run_programs(machine, method, vec![program(machine, pages, false)], Region::default(), is_checked)?;
        let (outcome, both) =
            run_programs(machine, method, vec![program(machine, pages, true)], Region::default(), is_checked)?;
        let zero_cycles = first.cores[0].cycles;
        Ok(ZeroingFigures {
            method: method.name(),
            zero_cycles,
            use_cycles: both.cores[0].cycles - zero_cycles,
            energy_nj: outcome.figures.energy_nj.expect("`read_for_paper` refuses a machine without currents"),
        })
    });
    Ok(ZeroingRow { pages, methods: figures.collect::<Result<_, Failure>>()? })
}

/// The cache is full of dirty lines of other memory. Pages that have frames are zeroed by one `meminit`; in phase 2
/// each line is read and written.
fn program(machine: &MachineConfig, pages: u64, has_phase_2: bool) -> Box<dyn Program> {
    let (address, bytes) = (PhysicalAddress(START), pages * FRAME_BYTES);
    // Twice the cache, so that no set has an empty way for the pages.
    let (other, other_bytes) = (PhysicalAddress(0), 2 * machine.settings.last_level.bytes);
    let lines = if has_phase_2 { bytes / LINE_BYTES } else { 0 };
    let uses = (0..lines).flat_map(|number| {
        let address = PhysicalAddress(START + number * LINE_BYTES);
        [Step::Load { address }, Step::Store { address }]
    });
    let begin = [
        Step::Map { address: other, bytes: other_bytes },
        Step::Filled { address: other, bytes: other_bytes },
        Step::Map { address, bytes },
        Step::Filled { address, bytes },
        Step::Zero { address, bytes },
    ];
    Box::new(Steps(begin.into_iter().chain(uses)))
}
