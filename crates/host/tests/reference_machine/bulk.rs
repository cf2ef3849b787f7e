//! Copies and zeroings: the loops, and the steps of coherence before and after those of the
//! controller.

use dram_spec::{Operation, PhysicalAddress};
use host::machine::{CopyLoop, DirtySource, PageCopier, Purpose};

use crate::cache::Line;
use crate::core::{Address, Piece, Stall, Work};
use crate::dispatch::parts;
use crate::dma::DmaWork;
use crate::machine::{LINE, ReferenceMachine};
use crate::traffic::Sender;

/// Numbers of the lines that contain a range.
fn lines_of(line_bytes: u64, from: u64, bytes: u64) -> std::ops::Range<u64> {
    from / line_bytes..(from + bytes).div_ceil(line_bytes)
}

/// Whether a range covers a line as a whole.
fn covers(line_bytes: u64, line: u64, from: u64, bytes: u64) -> bool {
    line * line_bytes >= from && (line + 1) * line_bytes <= from + bytes
}

/// Bytes of physical memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub from: u64,
    pub bytes: u64,
}

impl Range {
    /// Numbers of the lines of 64 bytes that contain it.
    pub fn lines(self) -> std::ops::Range<u64> {
        lines_of(LINE, self.from, self.bytes)
    }
}

impl ReferenceMachine {
    /// Numbers of the lines that contain a range.
    pub fn lines(&self, from: u64, bytes: u64) -> std::ops::Range<u64> {
        lines_of(self.settings.lines.bytes, from, bytes)
    }

    pub fn is_whole(&self, line: u64, from: u64, bytes: u64) -> bool {
        covers(self.settings.lines.bytes, line, from, bytes)
    }

    /// Whether a piece is copied by the engine.
    pub fn is_by_engine(&self, piece: &Piece) -> bool {
        matches!(self.copier(), PageCopier::Engine(_))
            && piece.src.is_some()
            && piece.bytes >= self.settings.kernel.copier_min_bytes.unwrap_or(0)
    }

    /// Begins a piece of a copy or a zeroing, after the page faults of its pages.
    ///
    /// Returns whether it dispatched an instruction. `end` follows the descriptor of a DMA engine.
    pub fn begin_piece(&mut self, at: usize, slot: u64, piece: Piece, end: Option<DmaWork>) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        let by_engine = self.is_by_engine(&piece);
        if !by_engine {
            self.wait_until_drained(at, now)?;
        }
        let mut src = None;
        if let Some(address) = piece.src {
            let Some(physical) = self.physical(at, now, address, false)? else { return Ok(false) };
            src = Some(physical);
        }
        let Some(dst) = self.physical(at, now, piece.dst, true)? else { return Ok(false) };
        if let Some(src) = src.filter(|_| by_engine) {
            self.dispatch_copy(at, slot, src, dst, piece.bytes)?;
            self.cores[at].work.pop_front();
            return Ok(true);
        }
        if let Some(src) = src.filter(|_| self.is_by_dma(&piece)) {
            let [src, dst] = [src, dst].map(|from| Range { from, bytes: piece.bytes });
            self.set_up(at, now, src, dst, end)?;
            return Ok(false);
        }
        let is_large = piece.src.is_none() || piece.bytes >= self.settings.kernel.copier_min_bytes.unwrap_or(0);
        if self.copier() == PageCopier::Controller && is_large {
            self.cores[at].work.pop_front();
            self.copy_by_controller(at, now, src, dst, piece.bytes);
        } else {
            self.forget_elsewhere(at, now, dst, piece.bytes);
            self.cores[at].work.pop_front();
            let work = self.unroll(src, dst, piece);
            self.cores[at].push_front(work);
        }
        Ok(false)
    }

    /// Instructions of the loop. A step of it covers bytes of one line of each range.
    fn unroll(&self, src: Option<u64>, dst: u64, piece: Piece) -> Vec<Work> {
        let (purpose, mut work) = (piece.purpose(), Vec::new());
        for (first, bytes) in parts(dst, src, piece.bytes, self.settings.lines.bytes, true) {
            let (dst, src) = (dst + first, src.map(|src| src + first));
            let further = bytes.div_ceil(self.settings.kernel.word_bytes) - 1;
            let rest = (further > 0).then_some(Work::Compute(further, purpose));
            if let Some(src) = src {
                work.push(Work::Load(Address::Physical(src), purpose));
                work.extend(rest);
            }
            let address = Address::Physical(dst);
            work.push(match self.settings.kernel.copy_loop {
                CopyLoop::NonTemporal if bytes == self.settings.lines.bytes => Work::Bypass(address, purpose),
                CopyLoop::NoFetch if bytes == self.settings.lines.bytes => Work::StoreLine(address, purpose),
                _ => Work::Store(address, bytes, purpose),
            });
            work.extend(rest);
        }
        work
    }

    /// Removes lines from the other private caches, which hold lines of the former user of a frame.
    pub fn forget_elsewhere(&mut self, at: usize, now: u64, from: u64, bytes: u64) {
        let own = self.cache_of(at);
        for line in self.lines(from, bytes) {
            self.empty_entries(now, line);
            self.drop_prefetches(line, Some(own));
        }
        for other in (0..self.caches.len()).filter(|other| *other != own) {
            for line in self.lines(from, bytes) {
                let Some(found) = self.caches[other].remove(line) else { continue };
                self.leave_l1s(other, line);
                self.cores[at].counters.coherence.invalidated += 1;
                // What an earlier user of the frame left there, until the copy that gives the frame is over.
                if let Some(purpose) = found.dirty.filter(|_| !self.is_whole(line, from, bytes)) {
                    self.write_for_coherence(at, now + self.settings.last_level.latency, line, purpose);
                }
            }
        }
    }

    /// Looks up the lines of the source: dirty lines are written back, or copied in the cache.
    /// Returns the lines that took a step, and the copies.
    fn clean_source(&mut self, at: usize, now: u64, src: u64, dst: u64, bytes: u64) -> (u64, Vec<u64>) {
        let shared = self.cache_of(at);
        let leaves = now + self.settings.last_level.latency;
        let (mut steps, mut copied) = (0, Vec::new());
        for line in self.lines(src, bytes) {
            self.empty_entries(now, line);
        }
        for line in self.lines(src, bytes) {
            steps += 1;
            if self.caches[shared].get(line).is_none_or(|found| found.dirty.is_none()) {
                continue;
            }
            steps += 1;
            let in_cache = self.settings.kernel.dirty_source == DirtySource::CopyInCache;
            let has_whole_target =
                self.is_whole(line, src, bytes) && src % self.settings.lines.bytes == dst % self.settings.lines.bytes;
            let target = (line * self.settings.lines.bytes + dst).saturating_sub(src) / self.settings.lines.bytes;
            let set = |line: u64| self.caches[shared].set_of(line);
            let used = copied.iter().filter(|other| set(**other) == set(target)).count();
            if in_cache && has_whole_target && used < self.caches[shared].places(target) {
                copied.push(target);
            } else {
                self.caches[shared].get(line).expect("it was found").dirty = None;
                self.write_for_coherence(at, leaves, line, Purpose::KernelCopy);
            }
        }
        (steps, copied)
    }

    fn write_for_coherence(&mut self, at: usize, leaves: u64, line: u64, purpose: Purpose) {
        self.write(at, leaves, line);
        let counters = &mut self.cores[at].counters;
        counters.coherence.written_back += 1;
        counters.of(purpose).write_backs += 1;
    }

    /// Invalidates the lines of the destination; returns the lines that took a step.
    fn invalidate(&mut self, at: usize, now: u64, piece: Range, purpose: Purpose) -> u64 {
        let shared = self.cache_of(at);
        let leaves = now + self.settings.last_level.latency;
        let mut steps = 0;
        for line in self.lines(piece.from, piece.bytes) {
            self.empty_entries(now, line);
        }
        for line in self.lines(piece.from, piece.bytes) {
            steps += 1;
            self.drop_prefetches(line, None);
            let Some(found) = self.caches[shared].remove(line) else { continue };
            self.leave_l1s(shared, line);
            self.cores[at].counters.coherence.invalidated += 1;
            if found.dirty.is_some() && !self.is_whole(line, piece.from, piece.bytes) {
                steps += 1;
                self.write_for_coherence(at, leaves, line, purpose);
            }
        }
        self.forget_elsewhere(at, now, piece.from, piece.bytes);
        steps
    }

    /// The steps of coherence, then the request.
    fn copy_by_controller(&mut self, at: usize, now: u64, src: Option<u64>, dst: u64, bytes: u64) {
        let kernel = self.settings.kernel;
        let purpose = if src.is_some() { Purpose::KernelCopy } else { Purpose::KernelZero };
        let leaves = now + self.settings.last_level.latency;
        let (mut steps, mut copied) = (0, Vec::new());
        if let Some(src) = src {
            (steps, copied) = self.clean_source(at, now, src, dst, bytes);
        }
        steps += self.invalidate(at, now, Range { from: dst, bytes }, purpose);
        steps += copied.len() as u64;
        let cycles = steps * kernel.coherence_cycles_per_line;
        let lookups =
            [src, Some(dst)].into_iter().flatten().map(|from| self.lines(from, bytes).count() as u64).sum::<u64>();
        let counts = &mut self.cores[at].counters.coherence;
        counts.lookups += lookups;
        counts.copied_in_cache += copied.len() as u64;
        *if src.is_some() { &mut counts.copies } else { &mut counts.zeroings } += 1;
        let address = PhysicalAddress(dst);
        let operation = match src {
            Some(src) => Operation::Copy { src: PhysicalAddress(src), dst: address, bytes },
            None => Operation::Init { dst: address, bytes, value: 0 },
        };
        self.send(Sender::Core(at), leaves + cycles, operation);
        // They keep their places until the copy is done.
        for &number in &copied {
            self.insert(at, leaves, Line { is_in_flight: true, dirty: Some(purpose), ..Line::clean(number) });
        }
        self.cores[at].copied = copied;
        let core = &mut self.cores[at];
        core.busy = (now + cycles, Stall::Coherence);
        core.waits_for_copy = true;
        if src.is_none() && kernel.inserts_zero_lines {
            let first = dst.div_ceil(self.settings.lines.bytes);
            let lines = ((dst + bytes) / self.settings.lines.bytes).saturating_sub(first);
            core.push_front([Work::InsertZeros { first, lines }]);
        }
    }

    /// Inserts clean zero lines after a zeroing.
    pub fn insert_zeros(&mut self, at: usize, now: u64, first: u64, lines: u64) {
        let (shared, leaves) = (self.cache_of(at), now + self.settings.last_level.latency);
        let mut inserted = 0;
        for number in first..first + lines {
            if self.caches[shared].has_place(number) {
                self.insert(at, leaves, Line::clean(number));
                inserted += 1;
            }
        }
        let core = &mut self.cores[at];
        core.counters.coherence.zero_lines += inserted;
        core.busy = (now + inserted * self.settings.kernel.coherence_cycles_per_line, Stall::Coherence);
    }
}
