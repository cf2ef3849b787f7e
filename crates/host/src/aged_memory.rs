//! Memories as they are before a run, after aging, and their settings.

use std::sync::{Arc, Mutex, OnceLock};

use dram_spec::AddressMap;
use os_alloc_sim::{
    Age, AgeError, Aged, CopyUnit, FrameAllocator, FrameMap, FrameSet, Generator, Kernel, Policy, PolicyError,
    ZeroOnFree, age,
};

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
    /// Builds the memory and its allocator.
    ///
    /// # Errors
    /// If a share is not from 0 to 1, or the policy cannot allocate copy units of this size.
    pub fn memory(&self, map: &AddressMap) -> Result<AgedMemory, AllocatorError> {
        let target = Age::new(self.utilization, self.fragmentation)?;
        let map = FrameMap::new(map.clone());
        let set = FrameSet::new(&map, self.copy_unit);
        let mut seeds = Generator::new(self.seed);
        let (allocator, aged) = if self.utilization <= 0.0 && self.fragmentation <= 0.0 {
            (self.policy.allocator(&map, &set, seeds.number())?, Aged::fresh(&set))
        } else {
            age(&map, &set, self.policy, target, &mut seeds)?
        };
        Ok(AgedMemory { map, set, allocator, aged })
    }
}

/// A memory and its allocator before the run.
#[derive(Clone, Debug)]
pub struct AgedMemory {
    /// Frame map of the memory.
    pub map: FrameMap,
    /// Allocatable frames.
    pub set: FrameSet,
    /// The allocator, in which the frames used by the background are allocated.
    pub allocator: Box<dyn FrameAllocator>,
    /// Frames in use throughout the run.
    pub aged: Aged,
}

impl AgedMemory {
    /// A kernel without processes over this memory.
    pub fn into_kernel(self, zero_on_free: ZeroOnFree) -> Kernel {
        let AgedMemory { map, set, allocator, aged } = self;
        Kernel::aged(map, set, allocator, aged, zero_on_free)
    }
}

/// Memories that were built, for runs with equal settings on an equal address map. Such runs clone
/// the memory, because its aging takes most of the time of a short run.
#[derive(Debug, Default)]
pub struct AgedMemories {
    /// The latest memories, at most [`KEPT_MAX`], the oldest first.
    kept: Mutex<Vec<Arc<KeptMemory>>>,
}

/// Memories kept: one of each policy.
const KEPT_MAX: usize = Policy::ALL.len();

/// A memory and what determines it.
#[derive(Debug)]
struct KeptMemory {
    settings: AllocatorSettings,
    map: AddressMap,
    /// Empty until the first run has built it.
    memory: OnceLock<Result<AgedMemory, AllocatorError>>,
}

impl AgedMemories {
    /// The memory that [`AllocatorSettings::memory`] builds.
    ///
    /// # Errors
    /// As of [`AllocatorSettings::memory`].
    ///
    /// # Panics
    /// If a thread panicked during a call.
    pub fn memory(&self, settings: &AllocatorSettings, map: &AddressMap) -> Result<AgedMemory, AllocatorError> {
        // The memory is built without the lock: runs with other settings do not wait for it.
        let kept = self.entry(settings, map);
        kept.memory.get_or_init(|| settings.memory(map)).clone()
    }

    /// The entry of a memory, which may be empty.
    fn entry(&self, settings: &AllocatorSettings, map: &AddressMap) -> Arc<KeptMemory> {
        let mut kept = self.kept.lock().expect("no call panics while it holds the lock");
        if let Some(equal) = kept.iter().find(|kept| kept.settings == *settings && kept.map == *map) {
            return Arc::clone(equal);
        }
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        let entry = Arc::new(KeptMemory { settings: *settings, map: map.clone(), memory: OnceLock::new() });
        kept.push(Arc::clone(&entry));
        entry
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::MapPreset;
    use dram_spec::{Density, System, Width};
    use os_alloc_sim::PageSize;

    use super::*;

    fn map(preset: MapPreset) -> AddressMap {
        AddressMap::preset(System::paper(2, Density::Gb1, Width::X16).geometry, preset)
    }

    const BUDDY: AllocatorSettings = AllocatorSettings {
        policy: Policy::Buddy,
        seed: 1,
        utilization: 0.5,
        fragmentation: 0.5,
        copy_unit: CopyUnit::Page,
    };

    /// What a process sees of a kernel.
    fn seen(mut kernel: Kernel) -> impl PartialEq {
        let background = kernel.background().to_vec();
        let process = kernel.spawn();
        let first = kernel.map(process, 100, PageSize::Small).unwrap();
        let mut operations = Vec::new();
        let frames: Vec<_> =
            (0..100).map(|page| kernel.touch(process, first + page, &mut operations).unwrap()).collect();
        (background, frames, operations, kernel.report())
    }

    /// Each case differs from the first in one respect.
    #[test]
    fn a_kept_memory_is_the_one_that_would_be_built() {
        let rows = map(MapPreset::RowInterleaved);
        let mut cases = Policy::ALL.map(|policy| (AllocatorSettings { policy, ..BUDDY }, rows.clone())).to_vec();
        cases.extend([
            (AllocatorSettings { seed: 2, ..BUDDY }, rows.clone()),
            (AllocatorSettings { utilization: 0.75, ..BUDDY }, rows.clone()),
            (AllocatorSettings { fragmentation: 0.9, ..BUDDY }, rows.clone()),
            (AllocatorSettings { utilization: 0.0, fragmentation: 0.0, ..BUDDY }, rows.clone()),
            (AllocatorSettings { copy_unit: CopyUnit::RowSet, ..BUDDY }, map(MapPreset::LineInterleaved)),
            (BUDDY, map(MapPreset::LineInterleaved)),
        ]);
        let memories = AgedMemories::default();
        for (settings, map) in &cases {
            for zero_on_free in [ZeroOnFree::Off, ZeroOnFree::On] {
                let built = seen(settings.memory(map).unwrap().into_kernel(zero_on_free));
                // Clones are not changed by what earlier kernels allocated.
                for _ in 0..2 {
                    let kept = seen(memories.memory(settings, map).unwrap().into_kernel(zero_on_free));
                    assert!(kept == built, "{settings:?}, {zero_on_free:?}");
                }
            }
        }
    }

    #[test]
    fn equal_settings_share_a_memory_and_the_oldest_is_dropped() {
        let (memories, rows) = (AgedMemories::default(), map(MapPreset::RowInterleaved));
        let of_seed = |seed| memories.entry(&AllocatorSettings { seed, ..BUDDY }, &rows);
        let first = of_seed(0);
        for seed in 1..KEPT_MAX as u64 {
            assert!(!Arc::ptr_eq(&first, &of_seed(seed)));
        }
        assert!(Arc::ptr_eq(&first, &of_seed(0)));
        // One more drops the memory of seed 0 only.
        let second = of_seed(1);
        of_seed(KEPT_MAX as u64);
        assert!(Arc::ptr_eq(&second, &of_seed(1)));
        assert!(!Arc::ptr_eq(&first, &of_seed(0)));
    }

    #[test]
    fn a_share_above_one_is_an_error_each_time() {
        let (memories, rows) = (AgedMemories::default(), map(MapPreset::RowInterleaved));
        let settings = AllocatorSettings { utilization: 1.5, ..BUDDY };
        for _ in 0..2 {
            let error = memories.memory(&settings, &rows).err();
            assert_eq!(error, settings.memory(&rows).err());
            assert!(error.is_some());
        }
    }
}
