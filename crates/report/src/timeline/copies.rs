//! Copies and initialisations, from request to completion, with their segments: each in a lane of its own.

use std::collections::BTreeMap;
use std::io::Write;

use dram_spec::{BankId, Channel, Cycle, PhysicalAddress, Row};
use memctrl::{Completion, Request};
use rowclone::{Mechanism, Operation};

use super::requests::Order;
use super::writer::{Note, PacketWriter, Shows, Track, count, word};
use crate::table::bytes;

/// A bank of the whole system.
pub(super) type Place = (Channel, BankId);

/// What a command of a segment did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) mechanism: Mechanism,
    /// The row that it fills.
    pub(super) dst: (Place, Row),
    /// The command, or the ACT before it that served nothing else.
    pub(super) begin: Cycle,
    /// Bytes that have reached the destination by it.
    pub(super) bytes: u64,
    /// The banks that it used.
    pub(super) banks: [Option<Place>; 2],
}

/// A segment that has begun and not ended.
#[derive(Clone, Debug)]
struct Running {
    mechanism: Mechanism,
    begin: Cycle,
    bytes: u64,
    /// Banks that it has used and not closed.
    banks: Vec<Place>,
}

/// A copy in progress.
#[derive(Clone, Debug)]
struct Copy {
    lane: usize,
    taken: Cycle,
    begin: Cycle,
    segments: BTreeMap<(Place, Row), Running>,
}

/// A line of copies one after another, and of their segments.
#[derive(Clone, Debug)]
struct Lane {
    track: Track,
    group: Track,
    /// Where its last copy ends; nothing while it is in progress.
    free_from: Option<Cycle>,
    /// Lines of segments one after another, and where the last of each ends.
    segments: Vec<(Track, Cycle)>,
}

/// More lanes are made only for copies that are in progress at once.
const LANES_MOST: usize = 64;

/// The copies in progress.
#[derive(Debug)]
pub(super) struct Copies {
    group: Track,
    lanes: Vec<Lane>,
    running: BTreeMap<Order, Copy>,
}

impl Copies {
    pub(super) fn new(group: Track) -> Copies {
        Copies { group, lanes: Vec::new(), running: BTreeMap::new() }
    }

    /// A copy or initialisation was taken.
    pub(super) fn taken<W: Write>(
        &mut self,
        writer: &mut PacketWriter<W>,
        now: Cycle,
        order: Order,
        request: &Request,
    ) {
        let lane = self.lane(writer, request.arrival);
        let begin = self.lanes[lane].free_from.take().map_or(request.arrival, |free| free.max(request.arrival));
        self.running.insert(order, Copy { lane, taken: now, begin, segments: BTreeMap::new() });
    }

    /// A lane that is free from `arrival` on; where there are too many, the one that has been free longest.
    fn lane<W: Write>(&mut self, writer: &mut PacketWriter<W>, arrival: Cycle) -> usize {
        let free = |lane: &Lane| lane.free_from.is_some_and(|free| free <= arrival);
        if let Some(index) = self.lanes.iter().position(free) {
            return index;
        }
        let freed = (0..).zip(&self.lanes).filter_map(|(index, lane)| Some((lane.free_from?, index))).min();
        if let Some((_, index)) = freed
            && self.lanes.len() >= LANES_MOST
        {
            return index;
        }
        let rank = self.lanes.len();
        let group = writer.track(Some(self.group), rank, &format!("lane {rank}"), "", Shows::Group);
        let track = writer.track(Some(group), 0, "copy", "from request to completion", Shows::Slices);
        self.lanes.push(Lane { track, group, free_from: Some(Cycle::ZERO), segments: Vec::new() });
        rank
    }

    /// A command was issued for a copy.
    pub(super) fn step(&mut self, order: Order, step: &Step) {
        let Some(copy) = self.running.get_mut(&order) else { return };
        let begin = step.begin.max(copy.taken);
        let new = || Running { mechanism: step.mechanism, begin, bytes: 0, banks: Vec::new() };
        let segment = copy.segments.entry(step.dst).or_insert_with(new);
        segment.mechanism = step.mechanism;
        segment.bytes += step.bytes;
        for bank in step.banks.into_iter().flatten() {
            if !segment.banks.contains(&bank) {
                segment.banks.push(bank);
            }
        }
    }

    /// A bank was closed: segments that have moved something, and have no other bank open, end.
    pub(super) fn closed<W: Write>(&mut self, writer: &mut PacketWriter<W>, at: Cycle, bank: Place) {
        for copy in self.running.values_mut() {
            let mut ended = Vec::new();
            for (&dst, segment) in &mut copy.segments {
                let open = segment.banks.len();
                segment.banks.retain(|&other| other != bank);
                if segment.banks.is_empty() && open > 0 && segment.bytes > 0 {
                    ended.push(dst);
                }
            }
            for dst in ended {
                if let Some(segment) = copy.segments.remove(&dst) {
                    self.lanes[copy.lane].segment(writer, dst, &segment, at);
                }
            }
        }
    }

    /// A copy is done.
    pub(super) fn done<W: Write>(&mut self, writer: &mut PacketWriter<W>, order: Order, completion: &Completion) {
        let Some(copy) = self.running.remove(&order) else { return };
        let lane = &mut self.lanes[copy.lane];
        for (dst, segment) in copy.segments {
            lane.segment(writer, dst, &segment, completion.done);
        }
        let end = completion.done.max(copy.begin);
        writer.slice(lane.track, copy.begin, end, name(completion), notes(completion));
        lane.free_from = Some(end);
    }
}

impl Lane {
    fn segment<W: Write>(
        &mut self,
        writer: &mut PacketWriter<W>,
        ((channel, bank), row): (Place, Row),
        segment: &Running,
        end: Cycle,
    ) {
        // They come in the order of their ends: the fullest line that has room leaves the others free for longer ones.
        let free = self.segments.iter_mut().filter(|(_, free_from)| *free_from <= segment.begin);
        let track = if let Some((track, free_from)) = free.max_by_key(|(_, free_from)| *free_from) {
            *free_from = end;
            *track
        } else {
            let rank = 1 + self.segments.len();
            let name = format!("segments {}", rank - 1);
            let about = "what one destination row receives, from its first activation to its last precharge";
            let track = writer.track(Some(self.group), rank, &name, about, Shows::Slices);
            self.segments.push((track, end));
            track
        };
        let mechanism = segment.mechanism.name();
        let place = format!("channel {} r{} b{} row {}", channel.0, bank.rank, bank.bank, row.0);
        let notes = vec![word("mechanism", mechanism), count("bytes", segment.bytes)];
        writer.slice(track, segment.begin, end, format!("{mechanism} to {place}"), notes);
    }
}

/// The mechanisms that served it, each once.
fn mechanisms(completion: &Completion) -> String {
    let mut names: Vec<_> = completion.segments().0.keys().map(|(mechanism, _)| mechanism.name()).collect();
    names.dedup();
    names.join("+")
}

/// `copy 4 KiB (fpm)`.
fn name(completion: &Completion) -> String {
    let what = match completion.operation {
        Operation::Copy { .. } => "copy",
        Operation::Init { .. } | Operation::Read { .. } | Operation::Write { .. } => "init",
    };
    let mechanisms = mechanisms(completion);
    let by = if mechanisms.is_empty() { "nothing to do".to_owned() } else { mechanisms };
    format!("{what} {} ({by})", bytes(completion.operation.bytes()))
}

fn notes(completion: &Completion) -> Vec<Note> {
    let address = |name, PhysicalAddress(address): PhysicalAddress| word(name, format!("{address:#x}"));
    let operation = &completion.operation;
    let mut notes = vec![
        count("request", completion.id.0),
        word("mechanism", mechanisms(completion)),
        count("bytes", operation.bytes()),
        address("dst", operation.target()),
        count("arrival_cycle", completion.arrival.0),
        count("latency_cycles", completion.latency().0),
        count("response_cycles", completion.done.since(completion.arrival).0),
    ];
    notes.extend(operation.src().map(|src| address("src", src)));
    notes.extend(completion.first_command.map(|first| count("first_command_cycle", first.0)));
    notes
}
