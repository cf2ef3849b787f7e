//! Addresses of files, pipes, sockets and physical memory in the kernel's region.

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use rustc_hash::{FxHashMap, FxHashSet};
use trace_io::program::Step;
use trace_io::recording::ObjectAddress;

/// First address of the kernel's region.
const REGION: u64 = 1 << 63;

/// Bytes of a window of an object, which has consecutive addresses.
const WINDOW_BYTES: u64 = 1 << 20;

/// Bytes of the ring of a stream: the default capacity of a pipe of Linux.
const RING_BYTES: u64 = 64 << 10;

/// First number of shared anonymous memory, beyond the objects of recordings.
const ANONYMOUS: u64 = 1 << 48;

/// The windows of objects that were used.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// Address of each window, by object and number of the window.
    windows: FxHashMap<(u64, u64), u64>,
    /// Pages that have frames.
    present: FxHashSet<u64>,
    /// Number of shared anonymous memories.
    anonymous: u64,
    /// Pages of files that a copy used and no `read` brought in.
    pub(super) assumed_pages: u64,
}

impl Objects {
    /// Number of the memory at addresses of the kernel, which no recording maps.
    pub(super) const KERNEL: u64 = ANONYMOUS;

    /// Number of a new shared anonymous memory.
    pub(super) const fn new_anonymous(&mut self) -> u64 {
        self.anonymous += 1;
        ANONYMOUS + self.anonymous
    }

    /// The address of a byte, and the number of bytes from it on that have consecutive addresses. Steps are appended
    /// that map a new window.
    pub(super) fn place(&mut self, of: ObjectAddress, steps: &mut impl Extend<Step>) -> (u64, u64) {
        let window_bytes = if of.is_stream() { RING_BYTES } else { WINDOW_BYTES };
        let number = if of.is_stream() { 0 } else { of.address / window_bytes };
        let next = REGION + self.windows.len() as u64 * WINDOW_BYTES;
        let first = *self.windows.entry((of.object, number)).or_insert_with(|| {
            steps.extend([Step::Map { address: PhysicalAddress(next), bytes: window_bytes }]);
            next
        });
        let offset = of.address % window_bytes;
        (first + offset, window_bytes - offset)
    }

    /// Gives the pages of a range in one window frames: they have been read from a device, or are assumed to have
    /// been. Shared anonymous memory gets zeroed frames at its first access.
    pub(super) fn present(
        &mut self,
        object: u64,
        (address, bytes): (u64, u64),
        is_read: bool,
        steps: &mut impl Extend<Step>,
    ) {
        if object >= ANONYMOUS {
            return;
        }
        for page in address / FRAME_BYTES..(address + bytes).div_ceil(FRAME_BYTES) {
            if self.present.insert(page) {
                let address = PhysicalAddress(page * FRAME_BYTES);
                self.assumed_pages += u64::from(!is_read);
                steps.extend([Step::Present { address, bytes: FRAME_BYTES - 1 }]);
            }
        }
    }
}
