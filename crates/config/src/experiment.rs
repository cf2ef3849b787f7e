//! Conversion of a run of a scenario to an experiment of the library.

use std::io::Read;

use dram_spec::Min;
use host::AllocatorSettings;
use host::machine::MachineError;
use rowclone_sim::{CopyMethod, Experiment, ExperimentError, Programs};

use crate::{Failure, Scenario, TraceWorkload, Variant, Workload, file, programs};

impl Scenario {
    /// Converts a run of the scenario to an experiment, which has no checks. `text` returns the reader of the bytes of
    /// a trace.
    ///
    /// # Errors
    /// A trace or a program cannot be read.
    ///
    /// # Panics
    /// If the scenario has programs and no machine, which loading a scenario excludes.
    pub fn experiment(
        &self,
        variant: Variant,
        text: impl FnOnce(file::Input) -> Box<dyn Read>,
    ) -> Result<Experiment<'_>, Failure> {
        let memory = &self.system.memory;
        let workload = match &self.workload {
            Workload::Operations(specs) => rowclone_sim::Workload::Operations(specs.clone()),
            Workload::Made(settings) => {
                rowclone_sim::Workload::Made { settings: settings.clone(), allocator: self.allocator_of(variant) }
            }
            Workload::Trace(TraceWorkload { path, format, unusable, timing, fault_ps, .. }) => {
                let input = file::open(path).map_err(|error| Failure::reading(path, &error))?;
                rowclone_sim::Workload::Trace(rowclone_sim::Trace {
                    name: path.display().to_string(),
                    text: text(input),
                    format: Some(format),
                    unusable: *unusable,
                    timing: *timing,
                    allocator: self.allocator_of(variant),
                    fault: memory.system().clock().at_least(Min::ps(*fault_ps)),
                })
            }
            Workload::Programs(workload) => {
                let machine = self.machine.as_ref().expect("programs have a machine");
                let settings = programs::recording_settings(workload.copies, CopyMethod::of(variant.policy));
                rowclone_sim::Workload::Programs(Box::new(Programs {
                    settings: variant.copier().applied_to(&machine.settings),
                    devices: machine.devices,
                    programs: programs::of_workload(workload, machine, settings)?,
                    region: workload.region,
                }))
            }
        };
        Ok(Experiment {
            policy: variant.policy,
            seed: self.seed,
            warm_up: self.warm_up,
            epoch: self.epoch,
            ..Experiment::new(memory, workload)
        })
    }

    /// Settings of the allocator that places the pages of a run, if one does.
    fn allocator_of(&self, variant: Variant) -> Option<AllocatorSettings> {
        let (config, policy) = self.allocator.as_ref().zip(variant.placement.allocator())?;
        Some(config.settings(policy, self.seed))
    }

    /// Converts an error of an experiment; errors of a trace or a program name its file.
    pub fn failure(&self, error: ExperimentError) -> Failure {
        match (&error, &self.workload) {
            (ExperimentError::Stopped, _) => Failure::interrupted().with_help("no file was written"),
            (ExperimentError::Trace(error), Workload::Trace(trace)) => {
                Failure::of_reader(&trace.path, error).with_help(error.help())
            }
            (
                ExperimentError::Machine(MachineError::Program { core, .. } | MachineError::Fault { core, .. }),
                Workload::Programs(programs),
            ) => match programs.files().get(*core) {
                Some(path) => {
                    Failure::new(format!("{}: {error}", path.display())).with_help_if(error.help().as_deref())
                }
                None => Failure::from(error),
            },
            _ => Failure::from(error),
        }
    }
}
