//! Copiers by name: the loops of the kernel, and who copies under a policy.

use std::sync::LazyLock;

use host::machine::{CopyLoop, MachineSettings};
use memctrl::policy::copy::{BASELINE, CopyPolicy, POLICIES, WITH_CORES, named};

use crate::copy_method::CopyMethod;

/// A copier by name: a loop of the kernel, or the copier that a copy policy selects.
#[derive(Clone, Copy, PartialEq, Eq, derive_more::Debug)]
#[debug("{}", self.name())]
pub struct NamedCopier {
    /// Copy policy of the controller.
    pub policy: &'static dyn CopyPolicy,
    /// The loop of the kernel; none for that of the machine.
    pub copy_loop: Option<CopyLoop>,
}

dram_spec::named! {
    /// Kind of a copier. A picture has a line per kind: that of its best copier.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum CopierKind {
        /// A loop of the kernel.
        Loop = "CPU loop",
        /// The controller, over the channel.
        Controller = "controller",
        /// The controller, in DRAM.
        InDram = "in DRAM",
        /// A copy engine.
        Engine = "copy engine",
        /// A copy engine, in DRAM.
        EngineInDram = "copy engine, in DRAM",
        /// A DMA engine.
        Dma = "DMA engine",
        /// A DMA engine, in DRAM.
        DmaInDram = "DMA engine, in DRAM",
    }
}

/// Names of the loops: `loop-` and the name in machine files.
static LOOPS: LazyLock<Vec<(&'static str, CopyLoop)>> = LazyLock::new(|| {
    let named = |it: CopyLoop| (&*Box::leak(format!("loop-{}", it.name()).into_boxed_str()), it);
    CopyLoop::ALL.into_iter().map(named).collect()
});

impl NamedCopier {
    /// Who copies under a policy; under `baseline`, the machine's own loop.
    pub const fn of_policy(policy: &'static dyn CopyPolicy) -> NamedCopier {
        NamedCopier { policy, copy_loop: None }
    }

    /// Every copier: the loops, and the other policies. The machine's own loop, `baseline`, is one of the loops.
    pub fn all() -> Vec<NamedCopier> {
        let loops = LOOPS.iter().map(|(_, copy_loop)| NamedCopier { policy: BASELINE, copy_loop: Some(*copy_loop) });
        let policies = POLICIES.into_iter().chain(WITH_CORES).filter(|policy| *policy != BASELINE);
        loops.chain(policies.map(NamedCopier::of_policy)).collect()
    }

    /// Names of all copiers, and `baseline`.
    pub fn names() -> Vec<&'static str> {
        [BASELINE.name()].into_iter().chain(NamedCopier::all().into_iter().map(NamedCopier::name)).collect()
    }

    /// The copier with this name.
    pub fn named(name: &str) -> Option<NamedCopier> {
        let of_policy = || named(name).map(NamedCopier::of_policy);
        NamedCopier::all().into_iter().find(|copier| copier.name() == name).or_else(of_policy)
    }

    /// Name in scenarios and reports.
    pub fn name(self) -> &'static str {
        let of_loop = LOOPS.iter().find(|(_, copy_loop)| Some(*copy_loop) == self.copy_loop);
        of_loop.map_or_else(|| self.policy.name(), |(name, _)| name)
    }

    /// Kind of the copier.
    pub fn kind(self) -> CopierKind {
        let is_in_dram = self.policy.needs_dram();
        match CopyMethod::of(self.policy).device_name() {
            Some("dma") if is_in_dram => CopierKind::DmaInDram,
            Some("dma") => CopierKind::Dma,
            Some(_) if is_in_dram => CopierKind::EngineInDram,
            Some(_) => CopierKind::Engine,
            None if is_in_dram => CopierKind::InDram,
            None if self.policy == BASELINE => CopierKind::Loop,
            None => CopierKind::Controller,
        }
    }

    /// Whether the copier needs programs on cores: a loop, or who copies under a policy of [`WITH_CORES`].
    pub fn needs_cores(self) -> bool {
        self.copy_loop.is_some() || WITH_CORES.contains(&self.policy)
    }

    /// The settings of a machine with the loop of this copier.
    #[must_use]
    pub fn applied_to(self, settings: &MachineSettings) -> MachineSettings {
        let mut changed = *settings;
        changed.kernel.copy_loop = self.copy_loop.unwrap_or(changed.kernel.copy_loop);
        changed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_copier_has_a_name_of_its_own_that_finds_it() {
        let all = NamedCopier::all();
        let names: BTreeSet<&str> = all.iter().map(|copier| copier.name()).collect();
        assert_eq!(names.len(), all.len());
        assert_eq!(all.len(), CopyLoop::NAMES.len() + POLICIES.len() - 1 + WITH_CORES.len());
        assert!(all.iter().all(|copier| NamedCopier::named(copier.name()) == Some(*copier)));
        assert_eq!(NamedCopier::named("baseline"), Some(NamedCopier::of_policy(BASELINE)));
        assert_eq!(NamedCopier::named("loop"), None);
    }

    #[test]
    fn kinds_follow_from_device_and_mechanism() {
        for (name, kind) in [
            ("baseline", CopierKind::Loop),
            ("loop-cached", CopierKind::Loop),
            ("controller-copy", CopierKind::Controller),
            ("psm-only", CopierKind::InDram),
            ("rowclone-zi", CopierKind::InDram),
            ("copy-engine-async", CopierKind::Engine),
            ("copy-engine-sync-nlb-rowclone", CopierKind::EngineInDram),
            ("dma", CopierKind::Dma),
            ("dma-rowclone", CopierKind::DmaInDram),
        ] {
            assert_eq!(NamedCopier::named(name).unwrap().kind(), kind, "{name}");
        }
    }

    #[test]
    fn only_loops_set_the_loop_of_the_machine() {
        use host::machine::MachineSettings;
        let loop_of = |settings: MachineSettings| settings.kernel.copy_loop;
        let base = crate::compare::tests::machine();
        let of = |name| loop_of(NamedCopier::named(name).unwrap().applied_to(&base));
        assert_eq!(of("loop-non-temporal"), CopyLoop::NonTemporal);
        assert_eq!((of("rowclone"), of("baseline")), (CopyLoop::Cached, CopyLoop::Cached));
    }
}
