//! How accesses are served, a command at a time.

use dram_spec::{AutoPrecharge, Command, CommandSink, Cycle};

use crate::access::{Entry, Kind};
use crate::engine::Controller;
use crate::request::Counted;
use crate::spot::MOST_BANKS;

impl Controller {
    /// Issues what the accesses of a bank would do next.
    #[inline]
    pub(crate) fn issue_for_access(&mut self, index: usize, now: Cycle, bank: usize, sink: &mut impl CommandSink) {
        let channel = &self.channels[index];
        let candidate = channel.next[bank % MOST_BANKS];
        let entry = candidate.entry();
        if candidate.is_row() {
            self.issue_row_command(index, now, entry, candidate.is_activate(), sink);
        } else if channel.mode == Kind::Read {
            self.serve(index, now, entry, Kind::Read, candidate.auto_precharge(), sink);
        } else {
            self.serve(index, now, entry, Kind::Write, candidate.auto_precharge(), sink);
        }
    }

    /// ACT or PRE for an access.
    #[inline]
    fn issue_row_command(
        &mut self,
        index: usize,
        now: Cycle,
        entry: Entry,
        activates: bool,
        sink: &mut impl CommandSink,
    ) {
        let channel = &mut self.channels[index];
        let commands = &mut self.recorder.figures.commands;
        let access = &mut self.accesses[entry];
        let (spot, request) = (access.spot, access.request);
        let (command, counted) = if activates {
            access.opened = true;
            commands.activates += 1;
            (Command::Activate { bank: spot.bank(), row: spot.row() }, Counted::Activate)
        } else {
            access.closed = true;
            commands.precharges += 1;
            (Command::Precharge { bank: spot.bank() }, Counted::Precharge)
        };
        channel.issue_row_command(now, &command, spot, activates, &mut self.accesses);
        sink.push(now, channel.id, &command);
        self.outstanding[request].issued(now, counted);
    }

    /// RD or WR of an access.
    #[inline]
    fn serve(
        &mut self,
        index: usize,
        now: Cycle,
        entry: Entry,
        kind: Kind,
        auto_precharge: AutoPrecharge,
        sink: &mut impl CommandSink,
    ) {
        let Controller { channels, accesses, recorder, .. } = self;
        let (channel, access) = (&mut channels[index], accesses[entry]);
        channel.queues.remove(accesses, entry, &access, kind);
        let (spot, figures) = (access.spot, &mut recorder.figures);
        let (bank, column) = (spot.bank(), spot.column());
        let (command, counted, outcomes, done) = match kind {
            Kind::Read => {
                figures.commands.reads += 1;
                let command = Command::Read { bank, column, auto_precharge };
                (command, Counted::Read, &mut figures.reads, now + channel.read_data)
            }
            Kind::Write => {
                figures.commands.writes += 1;
                let command = Command::Write { bank, column, auto_precharge };
                (command, Counted::Write, &mut figures.writes, now + channel.write_data)
            }
        };
        outcomes.count(access.closed, access.opened);
        channel.issue_column_access(now, &command, spot, accesses);
        sink.push(now, channel.id, &command);
        if access.waited_for && kind == Kind::Write {
            channel.forced -= 1;
        }
        recorder.levels.leave(channel.id, kind, now);
        accesses.remove(entry);
        if self.config.contents.is_some() {
            self.move_data(index, entry);
        }
        self.outstanding.line_served(access.request, now, counted, done);
        self.made_room();
        if access.waited_for {
            self.tell_waiters(entry);
        }
        if kind == Kind::Read && !self.waiting.is_empty() && self.is_waited_for(spot) {
            self.may_begin = true;
        }
    }

    /// The data of an access crosses the channel.
    #[inline(never)]
    fn move_data(&mut self, index: usize, entry: Entry) {
        let access = &self.accesses[entry];
        let request = &mut self.outstanding[access.request];
        let device = &mut self.channels[index].device;
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

    /// An access that needed no command gives its entry back; who waited for it, goes on.
    pub(crate) fn leave(&mut self, entry: Entry, now: Cycle) {
        self.accesses.remove(entry);
        let access = &self.accesses[entry];
        self.recorder.levels.leave(access.spot.channel(), access.kind, now);
        let waited_for = access.waited_for;
        self.made_room();
        if waited_for {
            self.tell_waiters(entry);
        }
    }

    /// Jobs that waited for an access do so no more.
    fn tell_waiters(&mut self, left: Entry) {
        let outstanding = &mut self.outstanding;
        let may_begin = &mut self.may_begin;
        self.waiters.retain(|&(entry, job)| {
            if entry == left {
                let job = outstanding[job].job_mut();
                job.waits_for -= 1;
                *may_begin |= job.waits_for == 0;
            }
            entry != left
        });
    }
}
