//! Copies and initializations from request to completion, with their programs, on tracks that have no overlapping
//! slices.

use std::collections::BTreeMap;

use dram_spec::{BankId, Channel, Cycle, LINE_BYTES, Mechanism, Operation, PhysicalAddress, RequestId, Row};
use memctrl::{Completion, Request};
use rowclone_sim::mechanisms;
use rowclone_sim::quantity::bytes;

use super::writer::{Note, PacketWriter, Shows, Track, count, word};

/// A bank of the whole system.
pub(super) type ChannelBank = (Channel, BankId);

/// Effect of a command of a copy program.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyEffect {
    /// The number of the program.
    pub(super) program: u64,
    pub(super) mechanism: Mechanism,
    /// The command.
    pub(super) at: Cycle,
    /// The banks that it used.
    pub(super) banks: [Option<ChannelBank>; 2],
    /// The destination row that it filled, in whole or in part.
    pub(super) filled: Option<(ChannelBank, Row)>,
    /// Bytes of the destination that were written.
    pub(super) bytes: u64,
}

/// A program from its first command to the PRE of its last bank.
#[derive(Clone, Debug)]
struct Running {
    mechanism: Mechanism,
    begin: Cycle,
    bytes: u64,
    filled: Option<(ChannelBank, Row)>,
    /// Banks that it has used and not closed.
    banks: Vec<ChannelBank>,
}

/// A copy in progress.
#[derive(Clone, Debug)]
struct TimelineCopy {
    operation: Operation,
    lane: usize,
    begin: Cycle,
    /// Copies by the number of their program.
    programs: BTreeMap<u64, Running>,
}

/// A track of copies that do not overlap, with tracks of their programs.
#[derive(Clone, Debug)]
struct Lane {
    track: Track,
    group: Track,
    /// End of the last copy of the track; none while it is in progress.
    free_from: Option<Cycle>,
    /// Tracks of programs that do not overlap, with the end of the last program of each.
    programs: Vec<(Track, Cycle)>,
}

/// Maximum number of tracks, except that copies in progress at once each have a track.
const LANES_MOST: usize = 64;

/// The copies in progress.
#[derive(Debug)]
pub(super) struct Copies {
    group: Track,
    lanes: Vec<Lane>,
    running: BTreeMap<RequestId, TimelineCopy>,
}

impl Copies {
    pub(super) fn new(group: Track) -> Copies {
        Copies { group, lanes: Vec::new(), running: BTreeMap::new() }
    }

    /// The controller accepted a copy or initialization.
    pub(super) fn taken(&mut self, writer: &mut PacketWriter, now: Cycle, request: &Request) {
        let arrival = request.arrival.unwrap_or(now);
        let lane = self.lane(writer, arrival);
        let begin = self.lanes[lane].free_from.take().map_or(arrival, |free| free.max(arrival));
        self.running
            .insert(request.id, TimelineCopy { operation: request.operation, lane, begin, programs: BTreeMap::new() });
    }

    /// A track that is free from `arrival` on; beyond the maximum number, the one that has been free longest.
    fn lane(&mut self, writer: &mut PacketWriter, arrival: Cycle) -> usize {
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
        let group = writer.track(Some(self.group), rank, &format!("track {rank}"), "", Shows::Group);
        let track = writer.track(Some(group), 0, "copy", "from request to completion", Shows::Slices);
        self.lanes.push(Lane { track, group, free_from: Some(Cycle::ZERO), programs: Vec::new() });
        rank
    }

    /// Bytes of the line at an address that a copy in progress writes.
    pub(super) fn bytes_of_line(&self, request: RequestId, line: PhysicalAddress) -> u64 {
        let target = self.running.get(&request).map_or(0..0, |copy| {
            let first = copy.operation.target().0;
            first..first + copy.operation.bytes()
        });
        target.end.min(line.0 + LINE_BYTES).saturating_sub(target.start.max(line.0))
    }

    /// A command was issued for a copy.
    pub(super) fn step(&mut self, request: RequestId, step: &CopyEffect) {
        let Some(copy) = self.running.get_mut(&request) else { return };
        let CopyEffect { mechanism, at: begin, .. } = *step;
        let new = || Running { mechanism, begin, bytes: 0, filled: None, banks: Vec::new() };
        let program = copy.programs.entry(step.program).or_insert_with(new);
        program.bytes += step.bytes;
        program.filled = step.filled.or(program.filled);
        for bank in step.banks.into_iter().flatten() {
            if !program.banks.contains(&bank) {
                program.banks.push(bank);
            }
        }
    }

    /// A bank was closed: programs that wrote data, and have no other bank open, end.
    pub(super) fn closed(&mut self, writer: &mut PacketWriter, at: Cycle, bank: ChannelBank) {
        for copy in self.running.values_mut() {
            let lane = &mut self.lanes[copy.lane];
            copy.programs.retain(|_, program| {
                let open = program.banks.len();
                program.banks.retain(|&other| other != bank);
                let has_ended = program.banks.is_empty() && open > 0 && program.bytes > 0;
                if has_ended {
                    lane.program(writer, program, at);
                }
                !has_ended
            });
        }
    }

    /// A request is complete; requests that are not copies have no effect.
    pub(super) fn done(&mut self, writer: &mut PacketWriter, completion: &Completion) {
        let Some(copy) = self.running.remove(&completion.id) else { return };
        let lane = &mut self.lanes[copy.lane];
        for program in copy.programs.values() {
            lane.program(writer, program, completion.done);
        }
        let end = completion.done.max(copy.begin);
        writer.slice(lane.track, copy.begin, end, name(completion), notes(completion));
        lane.free_from = Some(end);
    }
}

impl Lane {
    fn program(&mut self, writer: &mut PacketWriter, program: &Running, end: Cycle) {
        // Programs come in the order of their ends. The track with the latest end that is free leaves the others for
        // longer programs.
        let free = self.programs.iter_mut().filter(|(_, free_from)| *free_from <= program.begin);
        let track = if let Some((track, free_from)) = free.max_by_key(|(_, free_from)| *free_from) {
            *free_from = end;
            *track
        } else {
            let rank = 1 + self.programs.len();
            let name = format!("programs {}", rank - 1);
            let about = "what one destination row receives, from its first activation to its last precharge";
            let track = writer.track(Some(self.group), rank, &name, about, Shows::Slices);
            self.programs.push((track, end));
            track
        };
        let mechanism = program.mechanism.name();
        let place = program.filled.map_or(String::new(), |((channel, bank), row)| {
            format!(" to channel {} r{} b{} row {}", channel.0, bank.rank, bank.bank, row.0)
        });
        let notes = vec![word("mechanism", mechanism), count("bytes", program.bytes)];
        writer.slice(track, program.begin, end, format!("{mechanism}{place}"), notes);
    }
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
