//! The meaning of a copy policy for programs on cores.

use host::machine::{
    DmaCompletion, DmaSettings, EngineMode, EngineSettings, KernelSettings, MachineSettings, PageCopier,
};
use memctrl::policy::copy::{
    BASELINE, CONTROLLER_COPY, COPY_ENGINE_ASYNC, COPY_ENGINE_ASYNC_ROWCLONE, COPY_ENGINE_SYNC_NLB,
    COPY_ENGINE_SYNC_NLB_ROWCLONE, COPY_ENGINE_SYNC_WLB, COPY_ENGINE_SYNC_WLB_ROWCLONE, CopyPolicy, DMA, DMA_ROWCLONE,
    PSM_ONLY, ROWCLONE, ROWCLONE_ZI,
};
use memctrl::policy::scheduler::{CpuFirst, Fifo, Scheduler};
use os_alloc_sim::Policy;
use rowclone::{FPM, PSM};

use crate::controller::ControllerSettings;

/// Settings of devices that copy under some policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceSettings {
    /// The copy engine; the policy sets its mode, and whether it copies in DRAM.
    pub copy_engine: EngineSettings,
    /// The DMA engine; the policy sets whether it copies in DRAM.
    pub dma: DmaSettings,
    /// Percent of the contested RDs that devices are guaranteed under the scheduler `cpu-first`, where a
    /// policy sets the scheduler.
    pub share: u64,
}

impl Default for DeviceSettings {
    /// The defaults of [`EngineSettings`], of [`DmaSettings`] with polling, as Linux 2.6 does, and of the scheduler.
    fn default() -> DeviceSettings {
        DeviceSettings {
            copy_engine: EngineSettings::new(EngineMode::Async, false),
            dma: DmaSettings::new(DmaCompletion::Polling, false),
            share: CpuFirst::SHARE,
        }
    }
}

/// Who copies and zeroes pages of programs on cores, and where copies are placed: the meaning of a
/// copy policy for a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyMethod {
    /// Copy policy of the controller.
    pub policy: &'static dyn CopyPolicy,
}

/// A device that copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyDevice {
    /// A copy engine in a mode.
    Engine(EngineMode),
    /// A DMA engine.
    Dma,
}

/// The policies under which a device copies, and whether the copies are executed in DRAM.
const DEVICES: &[(&dyn CopyPolicy, CopyDevice, bool)] = &[
    (COPY_ENGINE_SYNC_NLB, CopyDevice::Engine(EngineMode::SyncFifo), false),
    (COPY_ENGINE_SYNC_WLB, CopyDevice::Engine(EngineMode::SyncCpuFirst), false),
    (COPY_ENGINE_ASYNC, CopyDevice::Engine(EngineMode::Async), false),
    (COPY_ENGINE_SYNC_NLB_ROWCLONE, CopyDevice::Engine(EngineMode::SyncFifo), true),
    (COPY_ENGINE_SYNC_WLB_ROWCLONE, CopyDevice::Engine(EngineMode::SyncCpuFirst), true),
    (COPY_ENGINE_ASYNC_ROWCLONE, CopyDevice::Engine(EngineMode::Async), true),
    (DMA, CopyDevice::Dma, false),
    (DMA_ROWCLONE, CopyDevice::Dma, true),
];

impl CopyDevice {
    /// The copier of a machine with the device.
    const fn copier(self, is_in_dram: bool, settings: &DeviceSettings) -> PageCopier {
        match self {
            CopyDevice::Engine(mode) => PageCopier::Engine(EngineSettings { mode, is_in_dram, ..settings.copy_engine }),
            CopyDevice::Dma => PageCopier::Dma(DmaSettings { is_in_dram, ..settings.dma }),
        }
    }

    /// The scheduler that a copy engine needs: one queue for all in the mode that has no priorities, else cores
    /// before devices. None for a DMA engine, a device on the bus of peripherals, which any controller serves.
    fn scheduler(self, settings: &DeviceSettings) -> Option<Box<dyn Scheduler>> {
        match self {
            CopyDevice::Engine(EngineMode::SyncFifo) => Some(Box::new(Fifo)),
            CopyDevice::Engine(EngineMode::SyncCpuFirst | EngineMode::Async) => {
                Some(Box::new(CpuFirst::new(settings.share)))
            }
            CopyDevice::Dma => None,
        }
    }
}

impl CopyMethod {
    /// A loop of the kernel: what a system without `RowClone` does.
    pub const BASELINE: CopyMethod = CopyMethod::of(BASELINE);
    /// The controller, over the memory channel.
    pub const CONTROLLER_COPY: CopyMethod = CopyMethod::of(CONTROLLER_COPY);
    /// The controller by PSM, with copies in another bank.
    pub const PSM: CopyMethod = CopyMethod::of(PSM_ONLY);
    /// The controller, under the paper's rule, with copies in the subarray of their source.
    pub const ROWCLONE: CopyMethod = CopyMethod::of(ROWCLONE);
    /// [`CopyMethod::ROWCLONE`] with clean zero lines inserted after a zeroing (RowClone-ZI).
    pub const ROWCLONE_ZI: CopyMethod = CopyMethod::of(ROWCLONE_ZI);

    /// The methods that `programs` compares by default.
    pub const ALL: [CopyMethod; 5] = [
        CopyMethod::BASELINE,
        CopyMethod::CONTROLLER_COPY,
        CopyMethod::PSM,
        CopyMethod::ROWCLONE,
        CopyMethod::ROWCLONE_ZI,
    ];

    /// The method under a policy.
    pub const fn of(policy: &'static dyn CopyPolicy) -> CopyMethod {
        CopyMethod { policy }
    }

    /// Name in reports: that of the policy.
    pub fn name(&self) -> &'static str {
        self.policy.name()
    }

    /// The device that copies, and whether its copies are executed in DRAM; none under other methods.
    fn device(self) -> Option<(CopyDevice, bool)> {
        let found = DEVICES.iter().find(|(policy, ..)| *policy == self.policy);
        found.map(|(_, device, is_in_dram)| (*device, *is_in_dram))
    }

    /// Name of the device that copies, `copy engine` or `dma`; none under other methods.
    pub(crate) fn device_name(self) -> Option<&'static str> {
        self.device().map(|(device, _)| match device {
            CopyDevice::Engine(_) => "copy engine",
            CopyDevice::Dma => "dma",
        })
    }

    /// Whether a device copies.
    pub fn has_device(self) -> bool {
        self.device().is_some()
    }

    /// Allocator of the destinations: the one that serves the preferred mechanism; none for that of
    /// the settings.
    fn placement(self) -> Option<Policy> {
        let preferred = self.policy.admits().first();
        let of = [(FPM, Policy::SubarrayAware), (PSM, Policy::BankAware)];
        of.into_iter().find(|(mechanism, _)| Some(mechanism) == preferred).map(|(_, policy)| policy)
    }

    /// The settings of a machine, with this method.
    pub(crate) fn applied_to(self, settings: &MachineSettings, devices: &DeviceSettings) -> MachineSettings {
        let mut changed = *settings;
        changed.kernel = KernelSettings {
            copier: match self.device() {
                Some((device, is_in_dram)) => device.copier(is_in_dram, devices),
                None if self.policy == BASELINE => PageCopier::Loop,
                None => PageCopier::Controller,
            },
            inserts_zero_lines: self.policy == ROWCLONE_ZI,
            ..settings.kernel
        };
        changed.allocator.policy = self.placement().unwrap_or(settings.allocator.policy);
        changed
    }

    /// The settings of the controller under this method: where they name no scheduler, with the one that the
    /// device needs.
    pub fn controller(self, settings: &ControllerSettings, devices: &DeviceSettings) -> ControllerSettings {
        let needed = self.device().and_then(|(device, _)| device.scheduler(devices));
        ControllerSettings { scheduler: settings.scheduler.clone().or(needed), ..settings.clone() }
    }
}

#[cfg(test)]
mod tests {
    use memctrl::policy::copy::{POLICIES, WITH_CORES};

    use super::*;
    use crate::SystemBuilder;

    #[test]
    fn policies_of_engines_have_their_schedulers_unless_one_is_given() {
        let devices = DeviceSettings { share: 40, ..DeviceSettings::default() };
        let of = |builder: SystemBuilder, policy| {
            let system = builder.build().unwrap();
            CopyMethod::of(policy).controller(system.controller(), &devices).scheduler_or_default().summary()
        };
        for (policy, expected) in [
            (BASELINE, "fr-fcfs"),
            (ROWCLONE, "fr-fcfs"),
            (COPY_ENGINE_SYNC_NLB, "fifo"),
            (COPY_ENGINE_SYNC_NLB_ROWCLONE, "fifo"),
            (COPY_ENGINE_SYNC_WLB, "cpu-first, 40 % for devices"),
            (COPY_ENGINE_ASYNC_ROWCLONE, "cpu-first, 40 % for devices"),
            (DMA, "fr-fcfs"),
            (DMA_ROWCLONE, "fr-fcfs"),
        ] {
            assert_eq!(of(SystemBuilder::default(), policy), expected, "{policy:?}");
            assert_eq!(of(SystemBuilder::default().scheduler(Fifo), policy), "fifo", "{policy:?}");
        }
    }

    #[test]
    fn each_policy_of_an_engine_has_a_device_and_its_place_of_copies() {
        for policy in POLICIES.into_iter().chain(WITH_CORES) {
            let is_of_device = policy.name().starts_with("copy-engine") || policy.name().starts_with("dma");
            let device = CopyMethod::of(policy).device();
            assert_eq!(device.is_some(), is_of_device, "{}", policy.name());
            if let Some((_, is_in_dram)) = device {
                assert_eq!(is_in_dram, policy.name().ends_with("-rowclone"), "{}", policy.name());
                assert_eq!(is_in_dram, policy.without_cores() == Some(ROWCLONE), "{}", policy.name());
            }
        }
    }
}
