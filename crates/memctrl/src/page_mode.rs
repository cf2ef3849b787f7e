//! A page-mode memory: one array of FPM or EDO chips on the bus of the cores, in the place of the controller.
//!
//! Requests are served in the order of their arrival. The memory computes all times of a request when it takes the
//! request. `docs/cores.md` has the rules.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use dram_spec::{Cycle, Cycles, EventSink, LINE_BYTES, PhysicalAddress};
use rowclone::Operation;
use rustc_hash::FxHashMap;

use crate::request::{Completion, Request, RequestSource};
use crate::stats::{Figures, PartTally, Stats};

/// Settings of a page-mode memory. Times are clocks of the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageMode {
    /// Clocks of the memory (15 ns) per clock of the bus.
    pub divider: u64,
    /// Bytes of a transfer.
    pub bus_bytes: u64,
    /// Bytes of a row.
    pub row_bytes: u64,
    /// From the start of a read of the open row to the end of its first transfer.
    pub read_hit: u64,
    /// The same of another row.
    pub read_miss: u64,
    /// Of each further transfer of a read.
    pub read_next: u64,
    /// Of the first transfer of a write over the bus into the write queue.
    pub post_first: u64,
    /// Of each further one.
    pub post_next: u64,
    /// From the queue to the open row, for the first transfer of a write.
    pub write_hit: u64,
    /// The same to another row.
    pub write_miss: u64,
    /// Of each further transfer.
    pub write_next: u64,
    /// Transfers that the write queue holds.
    pub write_queue: usize,
}

/// Bytes of a line of memory.
pub type LineBytes = [u8; LINE_BYTES as usize];

/// Memory contents at reset, by the number of a line.
type AtReset = Box<dyn Fn(u64) -> LineBytes>;

/// Why a page-mode memory ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageModeError {
    /// `stop` was set.
    Stopped,
    /// The source requests a copy or an initialization, which the memory does not execute.
    Copy,
}

/// A page-mode memory.
#[derive(derive_more::Debug)]
#[debug("PageModeMemory {{ settings: {settings:?}, now: {now} }}")]
pub struct PageModeMemory {
    settings: PageMode,
    now: Cycle,
    /// The open row.
    row: Option<u64>,
    /// When the bus takes the next request.
    bus_free: Cycle,
    /// When the array is free.
    array_free: Cycle,
    /// When each of the latest transfers of writes has left the write queue.
    written: VecDeque<Cycle>,
    /// Completions, in the order of their ends.
    ends: VecDeque<Completion>,
    /// Lines that differ from those at reset, where contents are modeled.
    lines: FxHashMap<u64, LineBytes>,
    at_reset: Option<AtReset>,
    from: Cycle,
    figures: Figures,
}

impl PageModeMemory {
    /// Creates an idle memory without an open row; with the contents at reset, reads return data. Figures count what
    /// ends at or after the warm-up.
    pub fn new(settings: PageMode, at_reset: Option<AtReset>, warm_up: Cycles) -> PageModeMemory {
        PageModeMemory {
            settings,
            now: Cycle::ZERO,
            row: None,
            bus_free: Cycle::ZERO,
            array_free: Cycle::ZERO,
            written: VecDeque::new(),
            ends: VecDeque::new(),
            lines: FxHashMap::default(),
            at_reset,
            from: Cycle::ZERO + warm_up,
            figures: Figures::default(),
        }
    }

    /// Runs a source until all requests are delivered.
    ///
    /// # Errors
    /// If `stop` was set, or the source requests a copy or an initialization.
    ///
    /// # Panics
    /// If a completion is lost, which is a defect of the memory.
    pub fn run(
        &mut self,
        source: &mut impl RequestSource,
        sink: &mut impl EventSink,
        stop: &AtomicBool,
    ) -> Result<Stats, PageModeError> {
        let mut steps = 0_u64;
        loop {
            steps += 1;
            if steps.is_multiple_of(1 << 12) && stop.load(Ordering::Relaxed) {
                return Err(PageModeError::Stopped);
            }
            let taken = source.next_arrival().map(|at| at.max(self.bus_free).max(self.place_from()).max(self.now));
            let end = self.ends.front().map(|completion| completion.done.max(self.now));
            match (end, taken) {
                (Some(end), taken) if taken.is_none_or(|at| end <= at) => {
                    self.now = end;
                    sink.reached(end);
                    let completion = self.ends.pop_front().expect("there is one");
                    self.count(&completion);
                    source.complete(completion);
                }
                (_, Some(at)) => {
                    self.now = at;
                    sink.reached(at);
                    if let Some(request) = source.take(at) {
                        self.serve(request)?;
                    }
                }
                (_, None) => break,
            }
        }
        sink.finish(self.now);
        let from = self.from.min(self.now);
        Ok(Stats { from, end: self.now, whole: std::mem::take(&mut self.figures), epochs: Vec::new() })
    }

    /// When the write queue has a place for the next transfer.
    fn place_from(&self) -> Cycle {
        if self.written.len() < self.settings.write_queue {
            return Cycle::ZERO;
        }
        self.written[self.written.len() - self.settings.write_queue]
    }

    fn clocks(&self, clocks: u64) -> Cycles {
        Cycles(clocks * self.settings.divider)
    }

    /// The begin of a clock of the bus at or after a cycle.
    fn edge(&self, at: Cycle) -> Cycle {
        Cycle(at.0.next_multiple_of(self.settings.divider))
    }

    /// Transfers of a range.
    fn transfers(&self, address: PhysicalAddress, bytes: u64) -> u64 {
        let bus = self.settings.bus_bytes;
        (address.0 % bus + bytes).div_ceil(bus)
    }

    /// Opens the row of an address; returns whether it was open.
    fn open(&mut self, address: PhysicalAddress) -> bool {
        let row = address.0 / self.settings.row_bytes;
        self.row.replace(row) == Some(row)
    }

    /// Serves a request that is taken now.
    fn serve(&mut self, request: Request) -> Result<(), PageModeError> {
        let Request { id, source, arrival, operation, payload } = request;
        let (done, data) = match operation {
            Operation::Read { address, bytes } => {
                let done = self.read(address, bytes);
                (done, self.at_reset.is_some().then(|| self.bytes(address, bytes)))
            }
            Operation::Write { address, bytes } => {
                if let Some(payload) = payload {
                    self.store(address, &payload);
                }
                (self.write(address, bytes), None)
            }
            Operation::Copy { .. } | Operation::Init { .. } => return Err(PageModeError::Copy),
        };
        let (arrival, first_command) = (arrival.unwrap_or(self.now), Some(self.now));
        let served = PartTally::default();
        let place = self.ends.partition_point(|completion| completion.done <= done);
        self.ends.insert(place, Completion { id, source, operation, arrival, first_command, done, served, data });
        Ok(())
    }

    /// The end of a read that the bus takes now: it follows all writes.
    fn read(&mut self, address: PhysicalAddress, bytes: u64) -> Cycle {
        let begin = self.edge(self.now).max(self.array_free);
        let first = if self.open(address) { self.settings.read_hit } else { self.settings.read_miss };
        let further = self.transfers(address, bytes) - 1;
        let done = begin + self.clocks(first + further * self.settings.read_next);
        (self.bus_free, self.array_free) = (done, done);
        done
    }

    /// The end of a write that the bus takes now. Its transfers enter the write queue, and leave it for the array.
    fn write(&mut self, address: PhysicalAddress, bytes: u64) -> Cycle {
        let mut posted = self.edge(self.now);
        for number in 0..self.transfers(address, bytes) {
            let is_first = number == 0;
            let post = if is_first { self.settings.post_first } else { self.settings.post_next };
            posted = posted.max(self.place_from()) + self.clocks(post);
            let array = match (is_first, is_first && self.open(address)) {
                (true, true) => self.settings.write_hit,
                (true, false) => self.settings.write_miss,
                (false, _) => self.settings.write_next,
            };
            self.array_free = posted.max(self.array_free) + self.clocks(array);
            self.written.push_back(self.array_free);
            if self.written.len() > self.settings.write_queue {
                self.written.pop_front();
            }
        }
        self.bus_free = posted;
        self.array_free
    }

    fn count(&mut self, completion: &Completion) {
        if completion.done < self.from {
            return;
        }
        let (address, bytes) = match completion.operation {
            Operation::Read { address, bytes } => {
                self.figures.read_latency.record(completion.latency());
                (address, bytes)
            }
            Operation::Write { address, bytes } => {
                self.figures.write_latency.record(completion.latency());
                (address, bytes)
            }
            Operation::Copy { .. } | Operation::Init { .. } => return,
        };
        self.figures.requests += 1;
        self.figures.channel_bytes += self.transfers(address, bytes) * self.settings.bus_bytes;
    }

    /// The bytes of a range.
    fn bytes(&self, address: PhysicalAddress, bytes: u64) -> Vec<u8> {
        (address.0..address.0 + bytes).map(|at| self.line(at / LINE_BYTES)[(at % LINE_BYTES) as usize]).collect()
    }

    fn store(&mut self, address: PhysicalAddress, data: &[u8]) {
        for (at, byte) in (address.0..).zip(data) {
            let number = at / LINE_BYTES;
            let line = self.line(number);
            self.lines.entry(number).or_insert(line)[(at % LINE_BYTES) as usize] = *byte;
        }
    }

    /// The line with a number.
    ///
    /// # Panics
    /// If contents are not modeled.
    pub fn line(&self, number: u64) -> LineBytes {
        let at_reset = || self.at_reset.as_ref().expect("contents are modeled")(number);
        self.lines.get(&number).copied().unwrap_or_else(at_reset)
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::{RequestId, SourceId};

    use super::*;

    /// Requests with arrivals, which must be answered; the cycles in which they were taken, and their ends.
    struct List {
        left: VecDeque<(u64, Operation)>,
        times: Vec<(u64, u64)>,
    }

    impl RequestSource for List {
        fn next_arrival(&self) -> Option<Cycle> {
            self.left.front().map(|(at, _)| Cycle(*at))
        }

        fn take(&mut self, now: Cycle) -> Option<Request> {
            let (at, operation) = self.left.pop_front()?;
            let id = RequestId(self.times.len() as u64);
            self.times.push((now.0, 0));
            Some(Request { id, source: SourceId(0), arrival: Some(Cycle(at)), operation, payload: None })
        }

        fn complete(&mut self, completion: Completion) {
            self.times[completion.id.0 as usize].1 = completion.done.0;
        }
    }

    const EDO: PageMode = PageMode {
        divider: 1,
        bus_bytes: 8,
        row_bytes: 2048,
        read_hit: 5,
        read_miss: 9,
        read_next: 2,
        post_first: 3,
        post_next: 1,
        write_hit: 2,
        write_miss: 6,
        write_next: 2,
        write_queue: 4,
    };

    fn times(settings: PageMode, requests: &[(u64, Operation)]) -> Vec<(u64, u64)> {
        let mut list = List { left: requests.iter().copied().collect(), times: Vec::new() };
        let stats = PageModeMemory::new(settings, None, Cycles(0))
            .run(&mut list, &mut (), &AtomicBool::new(false))
            .expect("nothing stops it");
        assert_eq!(stats.whole.requests, requests.len() as u64);
        list.times
    }

    const fn read(address: u64) -> Operation {
        Operation::Read { address: PhysicalAddress(address), bytes: 32 }
    }

    const fn write(address: u64, bytes: u64) -> Operation {
        Operation::Write { address: PhysicalAddress(address), bytes }
    }

    /// The first read opens its row: 9 + 3 x 2 clocks; the next one finds it open, 5 + 3 x 2; the third one does not.
    #[test]
    fn a_read_takes_the_time_of_its_row_and_of_its_transfers() {
        let requests = [(10, read(0)), (12, read(32)), (100, read(2048))];
        assert_eq!(times(EDO, &requests), [(10, 25), (25, 36), (100, 115)]);
    }

    /// A write of 4 bytes takes the bus for 3 clocks, and the array for 6 and then for 2. The read follows both.
    #[test]
    fn a_read_follows_the_writes_before_it() {
        let requests = [(0, write(0, 4)), (0, write(4, 4)), (1, read(64)), (2, write(64, 8))];
        // Posted at 3 and 6; written at 9 and 11; read from 11 to 22; posted at 25, written at 27.
        assert_eq!(times(EDO, &requests), [(0, 9), (3, 11), (6, 22), (22, 27)]);
    }

    /// Writes of one row leave at the rate of the bus; those of changing rows at that of the array, once the queue is
    /// full.
    #[test]
    fn a_full_queue_holds_the_bus() {
        let requests: Vec<_> = (0..7).map(|number| (0, write(number * 4096, 8))).collect();
        // Posted at 3, 6, 9, 12, 15; written at 9, 15, 21, 27, 33: the sixth transfer waits for the second.
        let ends = [(0, 9), (3, 15), (6, 21), (9, 27), (12, 33), (15, 39), (21, 45)];
        assert_eq!(times(EDO, &requests), ends);
        let line = [(0, write(0, 32)), (0, write(32, 8))];
        // Transfers posted at 3, 4, 5, 6; written at 9, 11, 13, 15. The next one finds the row open, and waits until 9.
        assert_eq!(times(EDO, &line), [(0, 15), (9, 17)]);
    }

    /// A bus of 33 MHz: each time is twice as long, and begins at an even cycle.
    #[test]
    fn times_are_clocks_of_the_bus() {
        let slow = PageMode { divider: 2, bus_bytes: 4, ..EDO };
        assert_eq!(times(slow, &[(3, Operation::Read { address: PhysicalAddress(0), bytes: 16 })]), [(3, 4 + 30)]);
    }

    #[test]
    fn reads_return_what_was_written() {
        let mut memory = PageModeMemory::new(EDO, Some(Box::new(|number| [number as u8; 64])), Cycles(0));
        memory.store(PhysicalAddress(62), &[9, 8, 7]);
        assert_eq!(memory.bytes(PhysicalAddress(60), 8), [0, 0, 9, 8, 7, 1, 1, 1]);
    }
}
