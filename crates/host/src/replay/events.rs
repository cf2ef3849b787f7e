//! The records of a trace, turned into requests.

use std::io::Read;
use std::num::NonZeroU32;

use dram_spec::address::Location;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use rowclone::{Operation, PlanError};
use trace_io::trace::{AccessKind, Event, OsEvent, in_rank};

use super::counts::RecordShape;
use super::error::{ReplayError, Unusable};
use super::pages::{NoFrame, Pages, RECORDED};
use super::pieces::{Piece, Pieces};
use super::settings::{ReplayCopier, UnusableRecords};
use super::{AccessRest, Current, Entered, LineData, Replay};
use crate::virtual_memory::ProcessEvent;

impl<R: Read> Replay<R> {
    pub(super) fn enter_event(&mut self, event: &Event) -> Result<Entered, Box<ReplayError>> {
        match *event {
            Event::Read { address, bytes, writeback } => Ok(self.access(AccessKind::Read, address, bytes, writeback)),
            Event::Write { address, bytes } => Ok(self.access(AccessKind::Write, address, bytes, None)),
            Event::Located { access, location, group } => Ok(match self.located(location, group)? {
                Some(address) => self.access(access, address, None, None),
                None => Entered::Other(false),
            }),
            Event::Copy { dst, src, bytes, instructions } => {
                self.enter_bulk(Operation::Copy { src, dst, bytes }, 0, instructions.into()).map(Entered::Other)
            }
            Event::Fill { dst, value, bytes, instructions } => {
                self.enter_bulk(Operation::Init { dst, bytes, value }, value, instructions.into()).map(Entered::Other)
            }
            Event::Os(event) => self.enter_os(event).map(Entered::Other),
        }
    }

    fn access(
        &mut self,
        access: AccessKind,
        address: PhysicalAddress,
        bytes: Option<NonZeroU32>,
        writeback: Option<PhysicalAddress>,
    ) -> Entered {
        self.counts.accesses += 1;
        let within = address.0 % LINE_BYTES;
        if self.data.is_some() || self.reader.has_data() {
            self.take_data(bytes.map_or(address.0 - within, |_| address.0));
        }
        let left = bytes.map_or(1, |bytes| (within + u64::from(bytes.get())).div_ceil(LINE_BYTES));
        Entered::Lines(AccessRest { access, next: PhysicalAddress(address.0 - within), left, writeback })
    }

    /// Takes the data of an access that begins at an address, or discards those of an earlier one.
    #[cold]
    fn take_data(&mut self, first: u64) {
        self.counts.writes_with_data += u64::from(self.reader.has_data());
        let data = self.contents.as_ref().and_then(|_| self.reader.data());
        self.data = data.map(|bytes| (PhysicalAddress(first), bytes));
    }

    /// Sets the request of the next line of an access or, after the last one, of its writeback.
    pub(super) fn enter_line(&mut self, lines: AccessRest) -> Result<bool, Box<ReplayError>> {
        let AccessRest { access, next, left, writeback } = lines;
        let (access, recorded, is_writeback) = match writeback {
            Some(victim) if left == 0 => (AccessKind::Write, PhysicalAddress(victim.0 / LINE_BYTES * LINE_BYTES), true),
            _ => (access, next, false),
        };
        self.current = Current::Nothing;
        if left > 1 || (left == 1 && writeback.is_some()) {
            let next = PhysicalAddress(next.0.wrapping_add(LINE_BYTES));
            self.current = Current::Lines(AccessRest { next, left: left - 1, ..lines });
        }
        let address = if self.pages.is_none() { recorded } else { self.placed_line(access, recorded)? };
        let operation = match access {
            AccessKind::Read => Operation::Read { address, bytes: LINE_BYTES },
            AccessKind::Write => Operation::Write { address, bytes: LINE_BYTES },
        };
        // Most lines are usable. `check` says why a line is not.
        if self.pages.is_none()
            && !self.planner.is_usable_line(address)
            && let Err(why) = self.planner.check(&operation)
        {
            return self.refuse(RecordShape::Access, why.into());
        }
        *match access {
            AccessKind::Read => &mut self.counts.reads,
            AccessKind::Write if is_writeback => &mut self.counts.writebacks,
            AccessKind::Write => &mut self.counts.writes,
        } += 1;
        if self.data.is_some() && !is_writeback {
            self.line_data = self.data_of(recorded);
        }
        self.announce(operation)
    }

    /// The bytes of the record's data in the line at a recorded address, and their offset.
    fn data_of(&self, line: PhysicalAddress) -> Option<LineData> {
        let (first, bytes) = self.data.as_ref()?;
        let from = line.0.saturating_sub(first.0) as usize;
        let offset = first.0.saturating_sub(line.0) as usize;
        let count = bytes.len().saturating_sub(from).min(LINE_BYTES as usize - offset);
        Some((offset, bytes[from..from + count].to_vec()))
    }

    /// Physical address of the line of an access at a virtual address.
    fn placed_line(
        &mut self,
        access: AccessKind,
        address: PhysicalAddress,
    ) -> Result<PhysicalAddress, Box<ReplayError>> {
        let Some(pages) = &mut self.pages else { return Ok(address) };
        let placed = pages.place(address).map_err(|no_frame| Box::new(self.out_of_frames(no_frame)))?;
        self.record(match access {
            AccessKind::Read => ProcessEvent::Load { owner: RECORDED, address: address.0 },
            AccessKind::Write => ProcessEvent::Store { owner: RECORDED, address: address.0 },
        });
        Ok(placed)
    }

    /// Physical address of coordinates; `None` if they are skipped.
    fn located(&mut self, location: Location, group: Option<u8>) -> Result<Option<PhysicalAddress>, Box<ReplayError>> {
        if self.pages.is_some() {
            return Err(Box::new(ReplayError::PlacedCoordinates { line: self.reader.line() }));
        }
        let map = self.planner.map();
        let geometry = map.geometry();
        let of_rank = in_rank(location, group, geometry.topology());
        if let Some((location, address)) = of_rank.and_then(|location| Some((location, map.address(location)?))) {
            // Under every map, reserved rows lie between usable ones by their row numbers.
            let Some(reserved) = geometry.reserved(location.row) else { return Ok(Some(address)) };
            self.counts.accesses += 1;
            let why = PlanError::Reserved { operand: "address", address, location, reserved };
            return self.refuse(RecordShape::Access, why.into()).map(|_| None);
        }
        let groups = match group {
            Some(_) => format!("bank groups {}, ", geometry.topology().groups_per_rank()),
            None => String::new(),
        };
        let memory = format!(
            "channels {}, ranks {}, {groups}banks {}, rows {}, columns {} (of a line each)",
            geometry.channels(),
            geometry.ranks(),
            geometry.banks(),
            geometry.rows_per_bank(),
            geometry.columns()
        );
        let why = Unusable::Location { location, memory };
        self.counts.accesses += 1;
        self.refuse(RecordShape::Access, why).map(|_| None)
    }

    /// Plays an event on the simulated kernel.
    fn enter_os(&mut self, event: OsEvent) -> Result<bool, Box<ReplayError>> {
        let line = self.reader.line();
        let Some(processes) = &mut self.processes else { return Err(Box::new(ReplayError::NoKernel { line })) };
        self.counts.os_events += 1;
        if let OsEvent::Fault { .. } = event {
            self.counts.page_faults += 1;
            self.arrivals.fault(self.fault);
        }
        let operations = processes.play(event).map_err(|NoFrame { page }| {
            let (frames, held) = processes.frames();
            Box::new(ReplayError::OutOfFrames { line, page, frames, held })
        })?;
        for operation in &operations {
            match operation {
                Operation::Copy { .. } => self.counts.copies += 1,
                _ => self.counts.fills += 1,
            }
        }
        self.instructions_after = 0;
        (self.current, self.operations) = (Current::Kernel, operations.into_iter());
        Ok(false)
    }

    #[inline(never)]
    fn enter_bulk(&mut self, operation: Operation, value: u8, instructions: u64) -> Result<bool, Box<ReplayError>> {
        if self.pages.is_none()
            && let Err(why) = self.planner.check(&operation)
        {
            return self.refuse(RecordShape::Bulk, why.into());
        }
        match operation {
            Operation::Copy { .. } => self.counts.copies += 1,
            _ => self.counts.fills += 1,
        }
        self.instructions_after = match self.copier {
            ReplayCopier::Cpu => instructions,
            ReplayCopier::Controller => 0,
        };
        let Some(pages) = &self.pages else { return self.announce(operation) };
        self.current = Current::Placed { pieces: Pieces::new(&operation, pages.unit_bytes()), value };
        Ok(false)
    }

    /// Starts the next piece of a copy or fill, or the next operation of the kernel, if any.
    #[inline(never)]
    pub(super) fn enter_piece(&mut self) -> Result<bool, Box<ReplayError>> {
        let (piece, value) = match &mut self.current {
            Current::Kernel => match self.operations.next() {
                Some(operation) => return self.announce(operation),
                None => (None, 0),
            },
            Current::Placed { pieces, value } => (pieces.next(), *value),
            Current::Lines(_) | Current::Nothing => (None, 0),
        };
        let (Some(piece), Some(pages)) = (piece, &mut self.pages) else {
            self.current = Current::Nothing;
            return Ok(false);
        };
        let Piece { src, dst, bytes, .. } = piece;
        let placed = match src {
            Some(src) => pages.place_copy(src, &piece).map(|(src, dst)| Operation::Copy { src, dst, bytes }),
            None => pages.place_fill(value, &piece).map(|dst| Operation::Init { dst, bytes, value }),
        };
        let operation = placed.map_err(|no_frame| Box::new(self.out_of_frames(no_frame)))?;
        self.record(match src {
            Some(src) => ProcessEvent::Copy { owner: RECORDED, dst: dst.0, src: src.0 },
            None => ProcessEvent::Store { owner: RECORDED, address: dst.0 },
        });
        self.announce(operation)
    }

    /// Skips and counts a part of the record, or returns the error.
    #[cold]
    fn refuse(&mut self, shape: RecordShape, why: Unusable) -> Result<bool, Box<ReplayError>> {
        let line = self.reader.line();
        let skips = match self.unusable {
            UnusableRecords::Refuse => false,
            UnusableRecords::SkipReserved => why.is_reserved(),
            UnusableRecords::Skip => true,
        };
        if !skips {
            return Err(Box::new(ReplayError::Record { line, source: why }));
        }
        self.counts.skip(line, shape, why);
        self.counts.skipped_records += u64::from(!std::mem::replace(&mut self.is_skipped, true));
        Ok(false)
    }

    /// Records what the program does, if its addresses are virtual.
    fn record(&mut self, event: ProcessEvent) {
        if let Some(pages) = &mut self.pages {
            pages.log.push(event);
        }
    }

    fn out_of_frames(&self, NoFrame { page }: NoFrame) -> ReplayError {
        let (frames, held) = self.pages.as_ref().map_or((0, 0), Pages::frames);
        ReplayError::OutOfFrames { line: self.reader.line(), page, frames, held }
    }
}
