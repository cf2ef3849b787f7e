//! How accesses are served, a command at a time; and the commands that are most frequent, each without asking what others need.

use dram_core::Kind as DeviceKind;
use dram_spec::{Channel, Command, CommandSink, Cycle, Cycles};

use crate::access::{Accesses, Entry, Kind};
use crate::candidate::Candidate;
use crate::channel::ChannelState;
use crate::config::{RowPolicy, Scheduler};
use crate::front_end::FrontEnd;
use crate::intake::{Left, Queue};
use crate::request::RequestSource;
use crate::spot::{MOST_BANKS, Spot, bank_at};

impl FrontEnd {
    /// Issues what the accesses of a bank would do next; and while nothing else can happen, what accesses of the channel do after it, where
    /// the others are not due before `others`. Says to which instant it has come; and where it has taken in there what comes in, what is left.
    #[inline(never)]
    pub(crate) fn go_on(
        &mut self,
        channel: &mut ChannelState,
        others: Cycle,
        (mut now, mut bank): (Cycle, usize),
        source: &mut impl RequestSource,
        sink: &mut impl CommandSink,
    ) -> (Cycle, Option<Left>) {
        // Before when nothing else happens, zero where that is not known; and where what comes in waits for room.
        let (mut before, mut wants_room_in) = (Cycle::ZERO, None);
        // The access that goes, where it is RD or WR; and whether it follows another in a row.
        let mut next = (channel.column_access(bank), false);
        let mut left;
        channel.forget_prepared();
        let (at, bank) = loop {
            let (entry, follows) = next;
            if entry.is_some() {
                left = Some(Left::Waits);
                // Where there are jobs, all that was done before this instant has been delivered.
                while self.outstanding.done_at() <= now && self.jobs.is_empty() {
                    let job = self.deliver(source, now);
                    debug_assert!(job.is_none(), "without jobs none is done");
                }
                if follows {
                    self.serve::<true, false>(channel, now, entry, sink);
                } else if channel.closes(bank) {
                    self.serve_and_close(channel, now, entry, sink);
                } else {
                    self.serve::<false, false>(channel, now, entry, sink);
                }
                if before == Cycle::ZERO && others <= now {
                    self.leave(entry, channel.id, channel.mode, now);
                    return (now, None);
                }
                if wants_room_in.is_none() {
                    wants_room_in = self.wants_room_in(channel);
                }
                wants_room_in = self.give_place(channel, entry, wants_room_in, source, now);
                if wants_room_in.is_none() {
                    if self.take_lines(channel, source, now).0 == Left::GoesElsewhere {
                        return (now, Some(Left::GoesElsewhere));
                    }
                    before = Cycle::ZERO;
                }
                // Where somebody waits for a rank, or nobody does any more, it is asked again.
                if channel.quiet.0 <= now {
                    return (now, left);
                }
            } else {
                left = None;
                self.issue_row_command(channel, now, bank, sink);
            }
            if before == Cycle::ZERO {
                before = self.accesses_go_on_before(channel, others);
                if before > now {
                    // Up to then, levels only fall.
                    self.recorder.end_instant();
                }
            }
            if before <= now {
                return (now, left);
            }
            if let Some((at, bank_on, entry)) = channel.next_hit(now + Cycles(1), &self.accesses) {
                if at >= before {
                    channel.pass_on(bank_on, entry, &self.accesses);
                    break (at, bank_on);
                }
                // The bank is the same. Told again, it leaves its register to hits, which need none of it.
                (now, next, bank) = (at, (entry, true), bank_on);
            } else {
                let (at, first) = channel.first_access_of_all(now + Cycles(1), &self.accesses);
                if at >= before {
                    break (at, first);
                }
                (now, next, bank) = (at, (channel.column_access(first), false), first);
            }
        };
        channel.prepare_access_before_upkeep(at, bank);
        (now, left)
    }

    /// Before when nothing happens but what accesses of a channel do, where the others are not due before `others`; at once, where that is
    /// not sure.
    #[inline]
    fn accesses_go_on_before(&self, channel: &mut ChannelState, others: Cycle) -> Cycle {
        // Rows that time out are not known ahead; nor do all banks count, where the oldest access alone may have a command.
        let asks_more = matches!(channel.row_policy, RowPolicy::Timeout(_)) || channel.scheduler == Scheduler::Fcfs;
        if asks_more || channel.quiet.1 != 0 || !channel.flights.is_empty() || channel.should_turn() {
            return Cycle::ZERO;
        }
        self.alone_before(channel, others).min(channel.quiet.0).min(channel.key_clock.until())
    }

    /// An access was served; what comes in takes its place. Says in which queue what comes in waits for room as it did before, where this
    /// left all as it was, but for what waits in banks; else more may come in.
    #[inline]
    fn give_place(
        &mut self,
        channel: &mut ChannelState,
        served: Entry,
        wants_room_in: Option<Queue>,
        source: &mut impl RequestSource,
        now: Cycle,
    ) -> Option<Queue> {
        if wants_room_in == Some(Queue::Same) {
            let is_whole = self.replace(channel, served, now);
            return self.take_next(channel, is_whole, source, now);
        }
        // Where another channel has made room at this instant, it is not held up.
        let was_held_up = self.is_held_up;
        self.leave(served, channel.id, channel.mode, now);
        self.made_room = false;
        if wants_room_in == Some(Queue::Other) && was_held_up && self.jobs.is_empty() {
            self.is_held_up = true;
            return (!channel.should_turn()).then_some(Queue::Other);
        }
        None
    }

    /// ACT or PRE for an access.
    #[inline]
    fn issue_row_command(&mut self, channel: &mut ChannelState, now: Cycle, bank: usize, sink: &mut impl CommandSink) {
        if channel.next[bank % MOST_BANKS].is_activate() {
            self.activate(channel, now, bank, sink);
        } else {
            self.precharge(channel, now, bank, sink);
        }
    }

    /// ACT for an access.
    #[inline]
    fn activate(&mut self, channel: &mut ChannelState, now: Cycle, bank: usize, sink: &mut impl CommandSink) {
        let access = &mut self.accesses[channel.next[bank % MOST_BANKS].entry()];
        access.row_commands.activated();
        access.first_command = access.first_command.min(now);
        let spot = access.spot;
        let command = Command::Activate { bank: bank_at(bank), row: spot.row() };
        channel.issue_activate(now, &command, bank, spot, &mut self.accesses);
        channel.goes_on_to_column(bank, &self.accesses);
        sink.push(now, channel.id, &command);
        self.recorder.figures.commands.activates += 1;
        self.tell_queues(channel.id, now, None, sink);
    }

    /// PRE for an access.
    #[inline]
    fn precharge(&mut self, channel: &mut ChannelState, now: Cycle, bank: usize, sink: &mut impl CommandSink) {
        let access = &mut self.accesses[channel.next[bank % MOST_BANKS].entry()];
        access.row_commands.precharged();
        access.first_command = access.first_command.min(now);
        let command = Command::Precharge { bank: bank_at(bank) };
        channel.issue_precharge(now, &command, bank, &mut self.accesses);
        channel.goes_on_to_activate(bank);
        sink.push(now, channel.id, &command);
        self.recorder.figures.commands.precharges += 1;
        self.tell_queues(channel.id, now, None, sink);
    }

    /// RDA or WRA of an access.
    #[inline(never)]
    fn serve_and_close(&mut self, channel: &mut ChannelState, now: Cycle, entry: Entry, sink: &mut impl CommandSink) {
        self.serve::<false, true>(channel, now, entry, sink);
    }

    /// RD or WR of an access, or RDA or WRA. One that follows another in a row leaves its bank as it was.
    #[inline]
    fn serve<const FOLLOWS: bool, const CLOSES: bool>(
        &mut self,
        channel: &mut ChannelState,
        now: Cycle,
        entry: Entry,
        sink: &mut impl CommandSink,
    ) {
        let FrontEnd { accesses, recorder, outstanding, .. } = self;
        let (access, figures) = (&accesses[entry], &mut recorder.figures);
        let (kind, spot) = (channel.mode, access.spot);
        let is_last = channel.queues.remove(entry, access, kind);
        let command_kind = match (kind, CLOSES) {
            (Kind::Read, false) => DeviceKind::Rd,
            (Kind::Read, true) => DeviceKind::Rda,
            (Kind::Write, false) => DeviceKind::Wr,
            (Kind::Write, true) => DeviceKind::Wra,
        };
        let command = Candidate::command(command_kind, spot);
        channel.device.issue_column_access(now, &command, spot.bank(), command_kind);
        if !FOLLOWS && !CLOSES {
            channel.column_accessed(spot, accesses);
        }
        sink.push(now, channel.id, &command);
        let (outcomes, done) = match kind {
            Kind::Read => {
                figures.commands.reads += 1;
                (&mut figures.reads, now + channel.read_data)
            }
            Kind::Write => {
                figures.commands.writes += 1;
                (&mut figures.writes, now + channel.write_data)
            }
        };
        outcomes.count(access.row_commands);
        outstanding.line_served(access, kind, now, done);
        if CLOSES {
            channel.row_may_have_changed(accesses, spot.bank());
        }
        if is_last {
            channel.vacate(spot.bank().rank, now);
        }
        self.tell_queues(channel.id, now, Some(kind), sink);
        if self.config.contents.is_some() {
            self.move_data(channel, entry);
        }
        if !self.jobs.is_empty() {
            self.tell_jobs(channel, entry);
        }
    }

    /// The data of an access crosses the channel.
    #[inline(never)]
    fn move_data(&mut self, channel: &mut ChannelState, entry: Entry) {
        let access = &self.accesses[entry];
        let request = &mut self.outstanding[access.request];
        let device = &mut channel.device;
        let (bank, row, column) = (access.spot.bank(), access.spot.row(), access.spot.column());
        match access.kind {
            Kind::Read => {
                if let Some(bytes) = device.read_line(bank, row, column) {
                    request.receive(access.line, &bytes);
                }
            }
            Kind::Write => device.write_line(bank, row, column, &request.payload(access.line)),
        }
    }

    /// An access gives its entry of a queue back.
    #[inline]
    pub(crate) fn leave(&mut self, entry: Entry, channel: Channel, kind: Kind, now: Cycle) {
        self.accesses.remove(entry);
        self.recorder.levels.leave(channel, kind, now);
        self.made_room();
    }
}

impl ChannelState {
    /// Whether the access of a bank that goes next closes its row.
    #[inline]
    fn closes(&self, bank: usize) -> bool {
        self.row_policy == RowPolicy::Closed
            && matches!(self.next[bank % MOST_BANKS].kind(), DeviceKind::Rda | DeviceKind::Wra)
    }

    /// The access of a bank that goes next, where it needs but a RD or WR.
    #[inline]
    fn column_access(&self, bank: usize) -> Entry {
        let candidate = &self.next[bank % MOST_BANKS];
        if candidate.is_row() { Entry::NONE } else { candidate.entry() }
    }

    /// An access that waited in a bank, and has left it, was served by a RD or WR, and its row is open.
    #[inline]
    fn column_accessed(&mut self, spot: Spot, accesses: &Accesses) {
        if self.queues.oldest_hit(spot.bank_index(), self.mode).is_some() {
            self.commanded(spot.bank());
        } else {
            self.goes_on_to_precharge(spot.bank_index(), accesses);
        }
        self.streak.served(spot.bank_index());
        self.banks[spot.bank_index()].served += 1;
    }

    /// [`Self::issue`] of the ACT that an access needs.
    #[inline]
    fn issue_activate(&mut self, now: Cycle, command: &Command, bank: usize, spot: Spot, accesses: &mut Accesses) {
        self.device.issue_activate(now, command, bank_at(bank), spot.row());
        self.banks[bank % MOST_BANKS].served = 0;
        self.open |= 1 << bank;
        self.queues.row_opened(accesses, bank, spot.row_key());
    }

    /// The same of a PRE.
    #[inline]
    fn issue_precharge(&mut self, now: Cycle, command: &Command, bank: usize, accesses: &mut Accesses) {
        self.device.issue_precharge(now, command, bank_at(bank));
        self.open &= !(1 << bank);
        self.queues.row_closed(accesses, bank);
    }
}
