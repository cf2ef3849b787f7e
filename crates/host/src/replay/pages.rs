//! Pages of a trace, and the frames allocated to them.

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use os_alloc_sim::{Cause, Found, Frame, FrameRequest, HugePages, MemoryOperation, Report, Traffic};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::pieces::{DestinationUnit, Piece};
use crate::aged_memory::{AgedMemory, AllocatorSettings};
use crate::virtual_memory::{EventLog, Owner, ProcessEvent};

/// Counts of the allocator during a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageReport {
    /// Allocator settings.
    #[serde(skip)]
    pub settings: AllocatorSettings,
    /// Share of the frames in use before the trace, as reached by aging.
    #[serde(skip)]
    pub utilization_before: f64,
    /// Unusable free space index of order 9 before the trace.
    #[serde(skip)]
    pub fragmentation_before: f64,
    /// Frames allocated to pages at their first access, other than as a whole destination.
    pub appeared: u64,
    /// Frames allocated to destinations of copies.
    pub copied: u64,
    /// Frames allocated to destinations of fills.
    pub filled: u64,
    /// Frames freed because their page, as a whole destination, got another frame.
    pub freed: u64,
    /// Copies not in the tallies: of parts of pages, or of overlapping ranges. FPM serves none of
    /// them.
    pub copies_in_part: u64,
    /// Fills not in the tallies: of parts of pages.
    pub fills_in_part: u64,
    /// Fills of whole pages with a value other than zero, not in the tallies.
    pub fills_of_other_values: u64,
    /// Whole pages copied (as `copy-on-write`) and zeroed (as `demand-zero`), by the mechanism that
    /// their frames permit; free frames at the end; memory lost to reserved rows.
    #[serde(skip)]
    pub allocator: Report,
}

/// No frame is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoFrame {
    /// The page without a frame.
    pub(super) page: PhysicalAddress,
}

/// Frames of each copy unit, which is a page or several. Recorded addresses are virtual: any 64-bit
/// address is a byte of some unit.
#[derive(Debug)]
pub(super) struct Pages {
    settings: AllocatorSettings,
    memory: AgedMemory,
    /// First frame by number of the unit; at most one entry per unit of the memory. Accessed only by
    /// key, so the map's order has no effect.
    frames: FxHashMap<u64, Frame>,
    counts: Counts,
    traffic: Traffic,
    /// What the recorded program does, for the check of virtual addresses.
    pub(super) log: EventLog,
}

/// The recorded program.
pub(super) const RECORDED: Owner = Owner::Process(0);

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    appeared: u64,
    copied: u64,
    filled: u64,
    freed: u64,
    copies_in_part: u64,
    fills_in_part: u64,
    fills_of_other_values: u64,
}

impl Pages {
    /// Starts without mapped pages, on the memory of these settings.
    pub(super) fn new(settings: AllocatorSettings, memory: AgedMemory) -> Pages {
        Pages {
            settings,
            memory,
            frames: FxHashMap::default(),
            counts: Counts::default(),
            traffic: Traffic::default(),
            log: EventLog::new(),
        }
    }

    /// Compares all pages with their frames.
    pub(super) fn compare(&mut self) {
        let pages = u64::from(self.memory.set.grain_frames());
        let of_unit = |(unit, first): (&u64, &Frame)| {
            let (unit, first) = (*unit, *first);
            (0..pages).map(move |at| (unit * pages + at, first.plus(at as u32)))
        };
        let mut frames: Vec<(u64, Frame)> = self.frames.iter().flat_map(of_unit).collect();
        frames.sort_unstable();
        self.log.push(ProcessEvent::Compare { owner: RECORDED, frames });
    }

    /// Allocatable frames, and the frames in use before the trace.
    pub(super) fn frames(&self) -> (u64, u64) {
        let held = self.memory.aged.held.len() as u64 * u64::from(self.memory.set.grain_frames());
        (self.memory.set.frames(), held)
    }

    /// Bytes of a copy unit.
    pub(super) fn unit_bytes(&self) -> u64 {
        u64::from(self.memory.set.grain_frames()) * FRAME_BYTES
    }

    /// Physical address of a recorded address. Its unit gets frames if it has none.
    pub(super) fn place(&mut self, address: PhysicalAddress) -> Result<PhysicalAddress, NoFrame> {
        let frame = if let Some(frame) = self.frame(address) {
            frame
        } else {
            self.counts.appeared += 1;
            let first = self.allocate(address, FrameRequest::ANYWHERE)?.0;
            let pages = u64::from(self.memory.set.grain_frames());
            for at in 0..pages {
                let (page, frame) = (self.number(address) * pages + at, first.plus(at as u32));
                self.log.push(ProcessEvent::Found { owner: RECORDED, page, frame });
            }
            first
        };
        Ok(PhysicalAddress(frame.address().0 + address.0 % self.unit_bytes()))
    }

    /// Physical source and destination of a piece of a copy.
    pub(super) fn place_copy(
        &mut self,
        src: PhysicalAddress,
        piece: &Piece,
    ) -> Result<(PhysicalAddress, PhysicalAddress), NoFrame> {
        let placed = self.place(src)?;
        if piece.unit != DestinationUnit::Renewed {
            self.counts.copies_in_part += 1;
            return Ok((placed, self.place(piece.dst)?));
        }
        self.release(piece.dst);
        self.counts.copied += 1;
        let source = Frame((placed.0 / FRAME_BYTES) as u32);
        let (frame, found) = self.allocate(piece.dst, FrameRequest::near(source))?;
        if piece.bytes == self.unit_bytes() {
            let cause = Cause::CopyOnWrite;
            let copy =
                MemoryOperation::Copy { src: source, dst: frame, frames: self.memory.set.grain_frames(), cause, found };
            self.traffic.count(&self.memory.map, &copy);
        } else {
            self.counts.copies_in_part += 1;
        }
        Ok((placed, frame.address()))
    }

    /// Physical destination of a piece of a fill.
    pub(super) fn place_fill(&mut self, value: u8, piece: &Piece) -> Result<PhysicalAddress, NoFrame> {
        if piece.unit != DestinationUnit::Renewed {
            self.counts.fills_in_part += 1;
            return self.place(piece.dst);
        }
        self.release(piece.dst);
        self.counts.filled += 1;
        let (frame, _) = self.allocate(piece.dst, FrameRequest::ANYWHERE)?;
        if value == 0 {
            let zero =
                MemoryOperation::Zero { dst: frame, frames: self.memory.set.grain_frames(), cause: Cause::DemandZero };
            self.traffic.count(&self.memory.map, &zero);
        } else {
            self.counts.fills_of_other_values += 1;
        }
        Ok(frame.address())
    }

    /// Returns the counts.
    pub(super) fn into_report(self) -> PageReport {
        let Pages { settings, memory: AgedMemory { map: _, set, allocator, aged }, counts, traffic, .. } = self;
        let Counts { appeared, copied, filled, freed, copies_in_part, fills_in_part, fills_of_other_values } = counts;
        PageReport {
            settings,
            utilization_before: aged.utilization,
            fragmentation_before: aged.unusable(),
            appeared,
            copied,
            filled,
            freed,
            copies_in_part,
            fills_in_part,
            fills_of_other_values,
            allocator: Report::new(&*allocator, &set, traffic, HugePages::default(), aged.free),
        }
    }

    fn frame(&self, address: PhysicalAddress) -> Option<Frame> {
        self.frames.get(&self.number(address)).copied()
    }

    /// Number of the unit that contains an address.
    fn number(&self, address: PhysicalAddress) -> u64 {
        address.0 / self.unit_bytes()
    }

    /// Frees the frames of a unit, whose contents are about to be overwritten as a whole.
    fn release(&mut self, unit: PhysicalAddress) {
        if let Some(frame) = self.frames.remove(&self.number(unit)) {
            self.memory.allocator.free(frame);
            self.counts.freed += 1;
        }
    }

    fn allocate(&mut self, address: PhysicalAddress, request: FrameRequest) -> Result<(Frame, Found), NoFrame> {
        let page = PhysicalAddress(address.0 / FRAME_BYTES * FRAME_BYTES);
        let grant = self.memory.allocator.allocate(request).ok_or(NoFrame { page })?;
        self.frames.insert(self.number(address), grant.frame);
        Ok((grant.frame, grant.found))
    }
}
