//! Settings of the frame allocator and of the memory's initial state.

use dram_spec::AddressMap;
use os_alloc_sim::{
    Age, AgeError, Aged, CopyUnit, FrameMap, FrameSet, Generator, Kernel, Policy, PolicyError, ZeroOnFree, age,
};

use crate::aged_memory::AgedMemory;

/// Allocation policy, and utilization and fragmentation of the memory before the first allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllocatorSettings {
    /// Allocation policy.
    pub policy: Policy,
    /// Determines the frames that aging leaves in use, and the allocations of `random`.
    pub seed: u64,
    /// Share of the frames in use before the run, 0 to 1. If this and `fragmentation` are 0, the
    /// memory is fresh: free frames are in their initial order, not in the order that aging
    /// leaves.
    pub utilization: f64,
    /// Unusable free space index of order 9 before the run, 0 to 1; reached as closely as possible.
    pub fragmentation: f64,
    /// What is allocated and copied as one.
    pub copy_unit: CopyUnit,
}

/// Reason why the allocator cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AllocatorError {
    /// A share is not from 0 to 1.
    #[error(transparent)]
    Age(#[from] AgeError),
    /// The policy cannot allocate copy units of this size.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl AllocatorError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            AllocatorError::Age(error) => error.help(),
            AllocatorError::Policy(error) => error.help().to_owned(),
        }
    }
}

impl AllocatorSettings {
    /// Whether no frame is in use before the run.
    fn is_fresh(&self) -> bool {
        self.utilization <= 0.0 && self.fragmentation <= 0.0
    }

    /// Builds the memory and its allocator.
    ///
    /// # Errors
    /// If a share is not from 0 to 1, or the policy cannot allocate copy units of this size.
    pub fn memory(&self, map: &AddressMap) -> Result<AgedMemory, AllocatorError> {
        let target = Age::new(self.utilization, self.fragmentation)?;
        let map = FrameMap::new(map.clone());
        let set = FrameSet::new(&map, self.copy_unit);
        let mut seeds = Generator::new(self.seed);
        let mut allocator = self.policy.allocator(&map, &set, seeds.number())?;
        let aged = if self.is_fresh() {
            Aged { held: Vec::new(), utilization: 0.0, free: allocator.free_blocks() }
        } else {
            age(&set, allocator.as_mut(), target, seeds.number())
        };
        Ok(AgedMemory { map, set, allocator, aged })
    }

    /// Builds a kernel without processes over this memory.
    ///
    /// # Errors
    /// If a share is not from 0 to 1, or the policy cannot allocate copy units of this size.
    pub fn kernel(&self, map: &AddressMap, zero_on_free: ZeroOnFree) -> Result<Kernel, AllocatorError> {
        Ok(self.memory(map)?.into_kernel(zero_on_free))
    }
}
