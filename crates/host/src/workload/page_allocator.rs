//! The allocator of a workload of processes.

use dram_spec::AddressMap;
use os_alloc_sim::{Kernel, ZeroOnFree};

use super::error::WorkloadError;
use crate::aged_memory::{AgedMemories, AllocatorSettings};

/// Settings of the allocator, if the workload was given one, and the memories that are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageAllocator<'a> {
    pub(super) settings: Option<&'a AllocatorSettings>,
    pub(super) memories: &'a AgedMemories,
}

impl PageAllocator<'_> {
    /// A kernel without processes.
    pub(super) fn kernel(
        self,
        workload: &'static str,
        map: &AddressMap,
        zero_on_free: ZeroOnFree,
    ) -> Result<Kernel, WorkloadError> {
        let settings = self.settings.ok_or(WorkloadError::NoAllocator { workload })?;
        Ok(self.memories.kernel(settings, map, zero_on_free)?)
    }
}
