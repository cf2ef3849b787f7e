//! How the system software hands out frames, and how old the memory is.

use dram_spec::AddressMap;
use os_alloc_sim::{Age, AgeError, FrameMap, Kernel, Policy, PolicyError, Units, ZeroOnFree};

/// The frames that a run starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllocatorSettings {
    /// Which free frame is handed out.
    pub policy: Policy,
    /// Decides which frames are in use at the beginning, and what `random` hands out.
    pub seed: u64,
    /// The share of the frames that are in use at the beginning, 0 to 1.
    pub utilisation: f64,
    /// The share of the free memory that no huge page could use, 0 to 1. With `utilisation`, 0 and 0 are a memory as after reset.
    pub fragmentation: f64,
}

/// An allocator that cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AllocatorError {
    /// A memory that cannot be so old.
    #[error(transparent)]
    Age(#[from] AgeError),
    /// Units that the policy cannot hand out.
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

impl AllocatorSettings {
    /// A kernel without processes over a memory of that age. Frames that share rows are handed out together.
    ///
    /// # Errors
    /// No such age, or units that the policy cannot hand out.
    pub fn build(&self, map: &AddressMap) -> Result<Kernel, AllocatorError> {
        let AllocatorSettings { policy, seed, utilisation, fragmentation } = *self;
        let age = Age::new(utilisation, fragmentation)?;
        let mut kernel = Kernel::new(FrameMap::new(map.clone()), Units::Together, policy, seed, ZeroOnFree::Off)?;
        if utilisation > 0.0 || fragmentation > 0.0 {
            kernel.age(age, seed);
        }
        Ok(kernel)
    }
}
