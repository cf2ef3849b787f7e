//! Runs of a scenario: who copies, and where pages lie.

use host::machine::CopyLoop;
use memctrl::policy::copy::{BASELINE, CopyPolicy};
use rowclone_sim::ExperimentError;
use rowclone_sim::compare::NamedCopier;

use crate::{Document, Failure, Scenario, SystemConfig, Workload};

/// Placement of the pages of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The scenario itself, by its addresses.
    Given,
    /// The recording of a trace.
    AsRecorded,
    /// An allocator.
    Allocator(os_alloc_sim::Policy),
}

impl Placement {
    /// Name of a placement by allocators in scenarios.
    pub(crate) const ALLOCATOR: &str = "allocator";

    /// The allocator, if one places pages.
    pub const fn allocator(self) -> Option<os_alloc_sim::Policy> {
        match self {
            Placement::Given | Placement::AsRecorded => None,
            Placement::Allocator(policy) => Some(policy),
        }
    }

    /// Name in reports; none for addresses of the scenario.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Placement::Given => None,
            Placement::AsRecorded => Some("as-recorded"),
            Placement::Allocator(policy) => Some(policy.name()),
        }
    }
}

/// A run of a scenario: a copy policy with a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Copy policy.
    pub policy: &'static dyn CopyPolicy,
    /// Loop of the kernel; none for that of the machine.
    pub copy_loop: Option<CopyLoop>,
    /// Placement of its pages.
    pub placement: Placement,
}

impl Variant {
    /// A run under a policy.
    pub const fn of_policy(policy: &'static dyn CopyPolicy, placement: Placement) -> Variant {
        Variant { policy, copy_loop: None, placement }
    }

    /// Who copies.
    pub const fn copier(self) -> NamedCopier {
        NamedCopier { policy: self.policy, copy_loop: self.copy_loop }
    }

    /// Name of the policy, or of the loop where one is listed.
    pub fn name(self) -> &'static str {
        self.copier().name()
    }

    /// Name in reports and files: `rowclone`, or `rowclone/buddy`.
    pub fn label(self, separator: &str) -> String {
        match self.placement.name() {
            Some(placement) => format!("{}{separator}{placement}", self.name()),
            None => self.name().to_owned(),
        }
    }
}

impl Scenario {
    /// Its runs: each policy or copier with each placement of its pages.
    pub fn variants(&self) -> Vec<Variant> {
        let given = match &self.workload {
            Workload::Trace(trace) if trace.as_recorded => Some(Placement::AsRecorded),
            Workload::Made(settings) if !settings.needs_allocator() => Some(Placement::Given),
            Workload::Operations(_) | Workload::Programs(_) => Some(Placement::Given),
            Workload::Trace(_) | Workload::Made(_) => None,
        };
        let placed = self.allocator.iter().flat_map(|allocator| &allocator.policies);
        let placements: Vec<_> = given.into_iter().chain(placed.map(|&policy| Placement::Allocator(policy))).collect();
        let with = |&NamedCopier { policy, copy_loop }: &NamedCopier| {
            placements.iter().map(move |&placement| Variant { policy, copy_loop, placement })
        };
        self.copiers.iter().flat_map(with).collect()
    }

    /// The run to which the ratios of a run refer: the policy `baseline`, where an allocator places pages with the
    /// reference allocator, else with the placement of the run.
    pub fn reference(&self, of: Variant) -> Variant {
        let allocator = self.allocator.as_ref().filter(|_| of.placement.allocator().is_some());
        let placement = allocator.map_or(of.placement, |allocator| Placement::Allocator(allocator.reference));
        Variant::of_policy(BASELINE, placement)
    }

    /// The references of its runs that are none of its runs, each once.
    pub fn unlisted_references(&self) -> Vec<Variant> {
        let variants = self.variants();
        let mut unlisted: Vec<Variant> = Vec::new();
        for reference in variants.iter().map(|&variant| self.reference(variant)) {
            if !variants.contains(&reference) && !unlisted.contains(&reference) {
                unlisted.push(reference);
            }
        }
        unlisted
    }
}

/// Checks that the system executes each policy, and has the currents that a policy needs to compare energies.
pub(crate) fn check_policies(
    document: &Document,
    copiers: &[NamedCopier],
    system: &SystemConfig,
) -> Result<(), Failure> {
    let key = if document.root().has("copiers") { "copiers" } else { "policies" };
    for (index, policy) in copiers.iter().map(|copier| copier.policy).enumerate() {
        let Err(error) = system.memory.check_policy(policy) else { continue };
        let help = match error {
            ExperimentError::NoPrices { .. } => {
                let fitting =
                    energy::fitting(system.memory.system().standard(), system.memory.system().geometry.width());
                Some(format!("give `device.currents` in the system file: {fitting}"))
            }
            _ => error.help(),
        };
        let fault = document.fault(&format!("{key}.{index}"), format!("`{key}.{index}`: {error}"));
        return Err(fault.with_help_if(help.as_deref()));
    }
    Ok(())
}

/// The policies. Some need programs on cores: without a machine they are refused.
pub(crate) fn check_copiers(document: &Document) -> Result<Vec<NamedCopier>, Failure> {
    let root = document.root();
    let Some(key) = ["copiers", "policies"].into_iter().find(|key| root.has(key)) else {
        let message = "`policies` is missing, and so is `copiers`";
        return Err(document
            .fault("policies", message)
            .with_help("add for example `policies = [\"baseline\", \"rowclone\"]`"));
    };
    let names = root.of::<Vec<&str>>(key);
    let copiers: Vec<_> = names.into_iter().filter_map(NamedCopier::named).collect();
    match copiers.iter().position(|copier| copier.needs_cores()).filter(|_| !root.has("machine")) {
        None => Ok(copiers),
        Some(index) => {
            let name = copiers[index].name();
            let without = copiers[index].policy.without_cores().map_or_else(String::new, |plain| {
                format!("without a `machine`, write \"{}\": it copies in the same way; ", plain.name())
            });
            let message = format!("`{key}.{index}` is \"{name}\", which needs programs on cores");
            let help = format!("{without}with programs on cores, write for example `machine = \"paper\"`");
            Err(document.fault(&format!("{key}.{index}"), message).with_help(help))
        }
    }
}
