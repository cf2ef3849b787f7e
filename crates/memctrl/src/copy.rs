//! Segments: waiting in line, and in flight, with the data on its way over the channel.

use std::collections::VecDeque;

use dram_core::Line as Bytes;
use dram_spec::{BankId, Channel, Column, Cycle, Cycles, LINE_BYTES, PhysicalAddress, Row};
use rowclone::{Line, LineWrite, Operation, Segment};
use rustc_hash::FxHashMap;

use crate::request::Request;
use crate::scheduler::bits;
use crate::segment::{Kind, Stream, streams};

/// A set of banks of the whole system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BankSet([u32; 8]);

impl BankSet {
    pub(crate) fn insert(&mut self, channel: Channel, bank: BankId) {
        self.0[usize::from(channel.0)] |= 1 << crate::spot::index(bank);
    }

    fn remove(&mut self, channel: Channel, bank: BankId) {
        self.remove_banks(channel, 1 << crate::spot::index(bank));
    }

    /// Without the banks of a channel in a mask.
    pub(crate) fn remove_banks(&mut self, channel: Channel, mask: u32) {
        self.0[usize::from(channel.0)] &= !mask;
    }

    pub(crate) fn remove_all(&mut self, other: &BankSet) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= !b);
    }

    /// The banks, whatever their channels, as a mask.
    pub(crate) fn mask(&self) -> u32 {
        self.0.iter().fold(0, |mask, banks| mask | banks)
    }

    /// The banks of a channel, as a mask.
    pub(crate) fn of(&self, channel: Channel) -> u32 {
        self.0[usize::from(channel.0)]
    }

    /// Whether all banks of the other set are in this one.
    pub(crate) fn holds(&self, other: &BankSet) -> bool {
        self.0.iter().zip(other.0).fold(0, |left, (a, b)| left | (b & !a)) == 0
    }

    pub(crate) fn insert_all(&mut self, other: &BankSet) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = (Channel, BankId)> {
        (0..)
            .zip(self.0)
            .flat_map(move |(channel, mask)| bits(mask).map(move |bit| (Channel(channel), crate::spot::bank_at(bit))))
    }
}

/// A planned segment, from when it waits to when it is done.
#[derive(Debug)]
pub(crate) struct Copying {
    /// The slot of its job.
    pub(crate) job: u32,
    /// The sequence number that it got when it was planned.
    pub(crate) place: u64,
    /// The sequence number that it got when it began, or when its last term did.
    age: u64,
    /// When it began.
    pub(crate) began: Cycle,
    /// When it may next be asked to give way to a read.
    pub(crate) term_end: Cycle,
    /// Whether it has made a column access since it began.
    pub(crate) moved: bool,
    pub(crate) giving_way: bool,
    pub(crate) streams: Vec<Stream>,
    /// The banks that it is not done with.
    banks: BankSet,
    /// Whether a line may be written while others are still to be read: reads and writes go over different channels, line by line.
    crosses: bool,
    /// Lines still to be read.
    reads_left: usize,
    /// When the lines that are read and not written have arrived, or will have: of a crossing segment.
    arrivals: VecDeque<Cycle>,
    /// When the last of the lines read so far has arrived.
    data_arrived: Cycle,
    /// When the last of the banks that it is done with could take an ACT again.
    ready: Cycle,
    /// The staging buffer, by line address; empty where contents are not modelled.
    staged: FxHashMap<PhysicalAddress, Bytes>,
}

/// How old a party is: the smaller, the older.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Age(u64);

impl Age {
    /// Above every sequence number.
    const LATER: u64 = 1 << 55;
    /// Younger than all.
    pub(crate) const NONE: Age = Age(Age::LATER << 1);

    /// Of an access by its sequence number; of a segment that has made a column access since it began.
    pub(crate) fn of(number: u64) -> Age {
        Age(Age::LATER | number)
    }

    /// Of a segment that has made none: it is older than all that have, and than every access.
    fn first(place: u64) -> Age {
        Age(place)
    }

    /// In one word with the order of what is equally old.
    pub(crate) fn then(self, order: usize) -> u64 {
        self.0 << 8 | order as u64
    }
}

impl Copying {
    pub(crate) fn new(job: u32, place: u64, segment: &Segment) -> Copying {
        let streams = streams(&segment.work);
        let (reads_left, writes) = segment.work.lines();
        let mut copying = Copying {
            job,
            place,
            age: place,
            began: Cycle::ZERO,
            term_end: Cycle::NEVER,
            moved: false,
            giving_way: false,
            crosses: streams.len() == 2 && reads_left == writes && streams.iter().all(Stream::is_one_way),
            streams,
            reads_left,
            arrivals: VecDeque::new(),
            data_arrived: Cycle::ZERO,
            ready: Cycle::ZERO,
            staged: FxHashMap::default(),
            banks: BankSet::default(),
        };
        copying.banks = copying.banks_of(Stream::banks);
        copying
    }

    /// The banks that it is not done with.
    pub(crate) fn banks(&self) -> &BankSet {
        &self.banks
    }

    fn banks_of<'a, I: Iterator<Item = BankId>>(&'a self, banks: impl Fn(&'a Stream) -> I) -> BankSet {
        let mut set = BankSet::default();
        for stream in &self.streams {
            banks(stream).for_each(|bank| set.insert(stream.channel, bank));
        }
        set
    }

    /// The banks that it holds.
    pub(crate) fn held(&self) -> BankSet {
        self.banks_of(Stream::held_banks)
    }

    pub(crate) fn begin(&mut self, now: Cycle, age: u64, open: impl Fn(Channel, BankId) -> Option<Row>) {
        (self.began, self.age, self.moved, self.giving_way) = (now, age, false, false);
        for stream in &mut self.streams {
            let channel = stream.channel;
            stream.begin(|bank| open(channel, bank));
        }
    }

    /// A new term.
    pub(crate) fn renew(&mut self, age: u64) {
        self.age = age;
    }

    pub(crate) fn age(&self) -> Age {
        if self.moved { Age::of(self.age) } else { Age::first(self.place) }
    }

    /// Whether it makes column accesses, and can be broken off at a line.
    pub(crate) fn goes_by_lines(&self) -> bool {
        self.streams.iter().any(Stream::has_accesses)
    }

    /// Whether a copy activation is under way, which nothing may break off.
    pub(crate) fn is_copying_rows(&self) -> bool {
        self.streams.iter().any(Stream::is_copying_rows)
    }

    /// A bank of a stream is closed, and can take an ACT again at `ready`. Says whether the segment is done with it.
    pub(crate) fn bank_closed(&mut self, stream: usize, bank: BankId, ready: Cycle) -> bool {
        self.ready = self.ready.max(ready);
        let stream = &self.streams[stream];
        let is_done = !stream.banks().any(|other| other == bank);
        if is_done {
            self.banks.remove(stream.channel, bank);
        }
        is_done
    }

    /// When the last bank that it used can take an ACT again, once it is done.
    pub(crate) fn ready(&self) -> Option<Cycle> {
        self.streams.iter().all(Stream::is_done).then_some(self.ready)
    }

    /// From when on the next access of a kind may be made, as far as its data goes; nothing while that is not known.
    pub(crate) fn from(&self, kind: Kind, write_latency: Cycles, staging_lines: usize) -> Option<Cycle> {
        let written_at = |arrives: Cycle| Cycle(arrives.0.saturating_sub(write_latency.0));
        match (kind, self.crosses) {
            (Kind::Transfer, _) | (Kind::Read, false) => Some(Cycle::ZERO),
            (Kind::Read, true) => (self.arrivals.len() < staging_lines).then_some(Cycle::ZERO),
            (Kind::Write, false) => (self.reads_left == 0).then(|| written_at(self.data_arrived)),
            (Kind::Write, true) => self.arrivals.front().map(|&arrives| written_at(arrives)),
        }
    }

    /// The column of a stream's next access, where it may be made like the one before, and no other of its accesses waits for that.
    #[inline]
    pub(crate) fn next_alike(&self, stream: usize) -> Option<Column> {
        if self.crosses { None } else { self.streams[stream].next_alike() }
    }

    /// How many accesses of a stream come next that are alike, and of which no other waits for the first.
    pub(crate) fn alike(&self, stream: usize) -> u16 {
        if self.crosses { 1 } else { self.streams[stream].alike() }
    }

    /// The next accesses of a stream are made, so many that are alike; of reads, the last data has arrived at `arrives`. Says whether
    /// another stream may have waited for them.
    pub(crate) fn accessed(&mut self, stream: usize, count: u16, arrives: Cycle) -> bool {
        match self.streams[stream].accesses_issued(count) {
            Kind::Read => {
                self.reads_left -= usize::from(count);
                self.data_arrived = self.data_arrived.max(arrives);
                if self.crosses {
                    self.arrivals.push_back(arrives);
                }
                self.crosses || self.reads_left == 0
            }
            Kind::Write => self.crosses && self.arrivals.pop_front().is_some(),
            Kind::Transfer => false,
        }
    }

    /// A line that was read waits to be written.
    pub(crate) fn stage(&mut self, line: &Line, bytes: Bytes) {
        if self.staged.is_empty() {
            self.staged.reserve(self.reads_left);
        }
        self.staged.insert(line.address, bytes);
    }

    /// The line that a WR puts on the bus: the operation's bytes, merged into what was read of a partial line.
    pub(crate) fn compose(&self, request: &Request, write: &LineWrite) -> Bytes {
        let base = write.line.address;
        let is_partial = u64::from(write.to - write.from) < LINE_BYTES;
        let from = base.0 + u64::from(write.from);
        if let Operation::Copy { src, dst, .. } = &request.operation
            && !is_partial
            && (src.0 ^ dst.0).is_multiple_of(LINE_BYTES)
        {
            return self.staged[&PhysicalAddress(src.0 + (from - dst.0))];
        }
        let mut line = if is_partial { self.staged[&base] } else { [0; LINE_BYTES as usize] };
        let part = &mut line[usize::from(write.from)..usize::from(write.to)];
        match &request.operation {
            Operation::Copy { src, dst, .. } => self.copy_staged(src.0 + (from - dst.0), part),
            Operation::Init { value, .. } => part.fill(*value),
            Operation::Write { address, .. } => match &request.payload {
                Some(payload) => part.copy_from_slice(&payload[(from - address.0) as usize..][..part.len()]),
                None => part.fill(0),
            },
            Operation::Read { .. } => unreachable!("a read writes no line"),
        }
        line
    }

    /// Fills `part` with the staged bytes from address `at` on.
    fn copy_staged(&self, mut at: u64, mut part: &mut [u8]) {
        while !part.is_empty() {
            let offset = at % LINE_BYTES;
            let staged = &self.staged[&PhysicalAddress(at - offset)][offset as usize..];
            let (filled, rest) = part.split_at_mut(staged.len().min(part.len()));
            filled.copy_from_slice(&staged[..filled.len()]);
            at += filled.len() as u64;
            part = rest;
        }
    }
}
