//! Copies alone: by the loop, cold and warm, and by the DMA engine.

use dram_spec::{LINE_BYTES, PhysicalAddress};
use host::machine::{DmaSettings, Program, Region, Steps};
use report::ioat::CopyCost;
use rowclone_config::{Failure, MachineConfig};
use rowclone_sim::CopyMethod;
use trace_io::program::{DeviceStep, Step};

use super::ENGINE;
use crate::commands::core_runs::run_programs;

/// Sizes of copies.
pub(super) const SIZES: [u64; 11] =
    [64, 256, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10];

const SOURCE: PhysicalAddress = PhysicalAddress(1 << 32);
const DESTINATION: PhysicalAddress = PhysicalAddress(1 << 33);

/// The cost of copies of a size.
///
/// # Errors
/// An error of the machine; a signal; a failed check.
pub(super) fn copy_cost(machine: &MachineConfig, bytes: u64, is_checked: bool) -> Result<CopyCost, Failure> {
    let mut pinning = machine.clone();
    pinning.settings.kernel.copier_min_bytes = Some(0);
    let mut machine = pinning.clone();
    machine.devices.dma = DmaSettings { pin_cycles: 0, unpin_cycles: 0, ..machine.devices.dma };
    let mapped = bytes.next_multiple_of(4096);
    let frames: Vec<Step> = [SOURCE, DESTINATION]
        .into_iter()
        .flat_map(|address| [Step::Map { address, bytes: mapped }, Step::Present { address, bytes: mapped }])
        .collect();
    let lines = [SOURCE, DESTINATION].into_iter().flat_map(|first| {
        (0..bytes / LINE_BYTES).map(move |line| Step::Load { address: PhysicalAddress(first.0 + line * LINE_BYTES) })
    });
    let warm: Vec<Step> = frames.iter().copied().chain(lines).collect();
    let copy = [Step::Copy { dst: DESTINATION, src: SOURCE, bytes }];
    let begin =
        [Step::Device(DeviceStep::Begin { dst: DESTINATION, src: SOURCE, bytes }), Step::Device(DeviceStep::Issue)];
    let wait = [Step::Device(DeviceStep::Wait)];
    // Cycles from the end of a warm-up to the end of a program, or to that of its next instructions.
    let cycles = |machine: &MachineConfig, method, warm_up: &[Step], measured: &[Step], instructions| {
        let steps = [warm_up, &[Step::Compute { instructions: 1 }], measured].concat();
        let region = Region { warm_up: (warm_up.len() - frames.len()) as u64 + 1, instructions };
        let program: Box<dyn Program> = Box::new(Steps(steps.into_iter()));
        let (_, report) = run_programs(machine, method, vec![program], region, is_checked)?;
        Ok::<_, Failure>(report.cores[0].cycles)
    };
    let cold_cycles = cycles(&machine, CopyMethod::BASELINE, &frames, &copy, None)?;
    let warm_cycles = cycles(&machine, CopyMethod::BASELINE, &warm, &copy, None)?;
    let whole = [&begin[..], &wait].concat();
    let dma_cycles = cycles(&machine, ENGINE, &frames, &whole, None)?;
    let pinned = cycles(&pinning, ENGINE, &frames, &whole, None)?;
    // Other work of more than twice the time of the copy hides all that can be hidden.
    let work = Step::Compute { instructions: 2 * dma_cycles * machine.settings.core.width };
    let alone = cycles(&machine, ENGINE, &frames, &[work], None)?;
    let both = [&begin[..], &[work], &wait].concat();
    let together = cycles(&machine, ENGINE, &frames, &both, None)?;
    // Up to the dispatch of the instruction after the start: the copy counts as one.
    let then = [&begin[..], &[Step::Compute { instructions: 1_000 }], &wait].concat();
    let start_up_cycles = cycles(&machine, ENGINE, &frames, &then, Some(2))?;
    Ok(CopyCost {
        bytes,
        cold_cycles,
        warm_cycles,
        dma_cycles,
        start_up_cycles,
        cpu_cycles: together.saturating_sub(alone),
        pinning_cycles: pinned.saturating_sub(dma_cycles),
    })
}
