//! The allocator that pages get their frames from, and the memory that it finds.

use dram_spec::AddressMap;
use os_alloc_sim::{
    Age, AgeError, Aged, FrameAllocator, FrameMap, FrameSet, Generator, Kernel, Policy, PolicyError, Units, ZeroOnFree,
    age,
};

/// Which frames are handed out, and how full the memory is before the first is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllocatorSettings {
    /// How a frame is chosen.
    pub policy: Policy,
    /// Decides which frames ageing leaves in use, and what `random` hands out.
    pub seed: u64,
    /// The share of the frames that is in use before the traffic begins, 0 to 1. With 0 here and for `fragmentation`
    /// the memory is fresh: free frames are in their first order, not in that which ageing leaves.
    pub utilisation: f64,
    /// How fragmented the free memory is by then, as far as it can be: the unusable free space index of order 9, 0 to 1.
    pub fragmentation: f64,
    /// What becomes of frames that share rows in workloads of processes. Pages of a recorded trace are always [`Units::Marked`].
    pub units: Units,
}

/// Why there is no such allocator.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AllocatorError {
    /// A share that is none.
    #[error(transparent)]
    Age(#[from] AgeError),
    /// A policy that cannot hand out the units of this memory.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl AllocatorError {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            AllocatorError::Age(error) => error.help(),
            AllocatorError::Policy(error) => error.help().to_owned(),
        }
    }
}

/// A memory with its allocator, before the traffic begins.
#[derive(Debug)]
pub struct AgedMemory {
    /// Where frames lie.
    pub map: FrameMap,
    /// The frames that there are to hand out.
    pub set: FrameSet,
    /// Hands them out; what was in use before is handed out already.
    pub allocator: Box<dyn FrameAllocator>,
    /// What was in use before, and stays so.
    pub aged: Aged,
}

impl AllocatorSettings {
    /// Whether nothing was in use before.
    fn is_fresh(&self) -> bool {
        self.utilisation <= 0.0 && self.fragmentation <= 0.0
    }

    /// The memory and its allocator.
    ///
    /// # Errors
    /// A share that is not from 0 to 1; a policy that cannot hand out units of this size.
    pub fn memory(&self, map: &AddressMap, units: Units) -> Result<AgedMemory, AllocatorError> {
        let target = Age::new(self.utilisation, self.fragmentation)?;
        let map = FrameMap::new(map.clone());
        let set = FrameSet::new(&map, units);
        let mut seeds = Generator::new(self.seed);
        let mut allocator = self.policy.allocator(&map, &set, seeds.number())?;
        let aged = if self.is_fresh() {
            Aged {
                held: Vec::new(),
                utilisation: 0.0,
                unusable: allocator.free_blocks().unusable(os_alloc_sim::HUGE_ORDER),
            }
        } else {
            age(&set, allocator.as_mut(), target, seeds.number())
        };
        Ok(AgedMemory { map, set, allocator, aged })
    }

    /// A kernel without processes over a memory of that age.
    ///
    /// # Errors
    /// No such age, or units that the policy cannot hand out.
    pub fn kernel(&self, map: &AddressMap, zero_on_free: ZeroOnFree) -> Result<Kernel, AllocatorError> {
        let age = Age::new(self.utilisation, self.fragmentation)?;
        let map = FrameMap::new(map.clone());
        // The seeds in the order of [`Self::memory`]: it is the same memory.
        let mut seeds = Generator::new(self.seed);
        let mut kernel = Kernel::new(map, self.units, self.policy, seeds.number(), zero_on_free)?;
        if !self.is_fresh() {
            kernel.age(age, seeds.number());
        }
        Ok(kernel)
    }
}
