//! The size from which a device copies faster than the loop of the kernel.

use std::sync::atomic::AtomicBool;

use dram_spec::{LINE_BYTES, PhysicalAddress};
use host::machine::{MachineSettings, Program, Region, Steps};
use trace_io::program::Step;

use crate::copy_method::{CopyMethod, DeviceSettings};
use crate::error::ExperimentError;
use crate::experiment::Experiment;
use crate::observer::Attachments;
use crate::requests::Programs;
use crate::system::MemorySystem;

/// The largest copy that is tried, a line times a power of two: above it, the time per byte hardly changes.
const BYTES_MAX: u64 = 64 << 10;

/// Machine, devices and memory system on which copies are tried.
#[derive(Clone, Copy, Debug)]
pub struct BreakEven<'a> {
    /// The system.
    pub system: &'a MemorySystem,
    /// Cores, caches and kernel.
    pub settings: &'a MachineSettings,
    /// Devices.
    pub devices: &'a DeviceSettings,
}

impl BreakEven<'_> {
    /// The size from which a copy under a method takes less time than by the loop, each alone on the idle
    /// machine with nothing cached. Sizes from 64 KiB down by powers of two are tried until one is not faster; then
    /// bisection finds the size to a line. None if no device copies under the method, or 64 KiB are not faster.
    ///
    /// # Errors
    /// If the machine cannot run, or `stop` was set.
    pub fn bytes(&self, method: CopyMethod, stop: &AtomicBool) -> Result<Option<u64>, ExperimentError> {
        if !method.has_device() {
            return Ok(None);
        }
        let is_faster = |bytes: u64| {
            Ok::<_, ExperimentError>(
                self.cycles(method, bytes, stop)? < self.cycles(CopyMethod::BASELINE, bytes, stop)?,
            )
        };
        let mut faster = None;
        let mut tried = BYTES_MAX;
        while tried >= LINE_BYTES && is_faster(tried)? {
            faster = Some(tried);
            tried /= 2;
        }
        let Some(mut faster) = faster.filter(|&faster| faster > LINE_BYTES) else { return Ok(faster) };
        let mut slower = faster / 2;
        while faster - slower > LINE_BYTES {
            let between = u64::midpoint(slower, faster) / LINE_BYTES * LINE_BYTES;
            *(if is_faster(between)? { &mut faster } else { &mut slower }) = between;
        }
        Ok(Some(faster))
    }

    /// Core cycles of a copy, whose frames lie as the method places those of copies.
    fn cycles(&self, method: CopyMethod, bytes: u64, stop: &AtomicBool) -> Result<u64, ExperimentError> {
        let mut settings = *self.settings;
        settings.kernel.copier_min_bytes = Some(0);
        let unit = self.system.copy_unit_bytes(settings.allocator.copy_unit);
        let programs = Programs {
            settings,
            devices: *self.devices,
            programs: vec![program(bytes, bytes.next_multiple_of(unit))],
            regions: vec![Region { warm_up: 1, instructions: None }],
        };
        let attachments = Attachments { stop: Some(stop), ..Attachments::default() };
        let outcome = Experiment::programs(self.system, programs).policy(method.policy).run_with(attachments)?;
        Ok(outcome.cores.expect("a program ran on a core").cores[0].cycles)
    }
}

/// An instruction, and then a copy between two ranges of whole copy units, which have frames.
fn program(bytes: u64, units: u64) -> Box<dyn Program> {
    let [src, dst] = [1 << 32, 1 << 33].map(PhysicalAddress);
    let frames = [src, dst]
        .into_iter()
        .flat_map(move |address| [Step::Map { address, bytes: units }, Step::Present { address, bytes: units }]);
    let copy = [
        Step::Renew { page: dst, source: src, bytes: units },
        Step::Compute { instructions: 1 },
        Step::Copy { dst, src, bytes },
    ];
    Box::new(Steps(frames.chain(copy)))
}
