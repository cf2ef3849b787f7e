//! Segments go on, a command at a time, or by a run of lines at once.

use dram_core::Kind;
use dram_spec::{Command, CommandSink, Cycle, Cycles};

use crate::config::RowPolicy;
use crate::engine::Controller;
use crate::flights::{Column, Flight, Next, Row, Run};
use crate::request::Counted;
use crate::segment::Moved;

impl Controller {
    /// Issues the row command that a segment needs in a bank; what it is done with, is free again.
    pub(crate) fn issue_segment_row(&mut self, index: usize, now: Cycle, bank: usize, sink: &mut impl CommandSink) {
        let &Row { next: Next { command, .. }, place, lane, .. } = self.channels[index].flights.row_in(bank);
        let counted = self.issue(index, now, &command, sink);
        let channel = &mut self.channels[index];
        let &Flight { slot, stream, .. } = channel.flights.at(place);
        channel.flights.touch(place);
        let segment = &mut self.segments[slot];
        self.front.outstanding[segment.job].issued(now, counted);
        if let Some(bank) = segment.streams[stream].row_command_issued(lane, segment.giving_way) {
            let ready = channel.device.ready(bank);
            if segment.bank_closed(stream, bank, ready) {
                channel.vacate(bank.rank, now);
            }
            if segment.streams[stream].holds_nothing() {
                channel.flights.leave(slot);
            }
            let id = channel.id;
            self.release(slot, id, bank, ready, now);
            self.finish_segment(slot);
        }
    }

    /// Issues the next column access of a segment; and while nothing else happens, those that follow in the same row. Says which instant
    /// it has come to.
    pub(crate) fn issue_segment_access(
        &mut self,
        index: usize,
        now: Cycle,
        place: usize,
        others: Cycle,
        sink: &mut impl CommandSink,
    ) -> Cycle {
        let &Flight { slot, stream, access, .. } = self.channels[index].flights.at(place);
        let Column { next, .. } = access.expect("it goes first");
        let segment = &self.segments[slot];
        // With its first access it gets younger.
        let before = if segment.moved { self.run_before(index, place, others) } else { Cycle::ZERO };
        let most = if before > now { segment.alike(stream) } else { 1 };
        let (counted, count, last) = if next.kind == Kind::Transfer {
            (self.issue(index, now, &next.command, sink), 1, now)
        } else {
            self.issue_run(index, now, next, (most, before), sink)
        };
        if self.front.config.contents.is_some() {
            self.move_lines(index, slot, stream, count);
        }
        let channel = &mut self.channels[index];
        let segment = &mut self.segments[slot];
        self.front.outstanding[segment.job].issued_often(now, counted, count);
        let mut wakes_others = segment.accessed(stream, count, last + channel.read_data);
        let mut goes_on = segment.next_alike(stream);
        if !segment.moved {
            // With its first access it gets younger, on its other channels too.
            segment.moved = true;
            (wakes_others, goes_on) = (true, None);
            self.terms_end = self.terms_end.min(segment.term_end.max(now + Cycles(1)));
            self.front.gives_way_at = self.front.gives_way_at.min(self.terms_end);
        }
        match goes_on {
            Some(column) => channel.goes_on(place, column),
            None => channel.flights.touch(place),
        }
        if wakes_others && segment.streams.len() > 1 {
            for stream in &segment.streams {
                self.channels[usize::from(stream.channel.0)].touch(slot);
            }
        }
        last
    }

    /// Before which instant nothing happens but column accesses of the segment at a place, where it goes on as it did before.
    fn run_before(&self, index: usize, place: usize, others: Cycle) -> Cycle {
        let channel = &self.channels[index];
        match channel.flights.run {
            // Rows that time out are not known ahead.
            Some(Run { place: goes_on, until, .. })
                if goes_on == place && !matches!(channel.row_policy, RowPolicy::Timeout(_)) =>
            {
                self.front.alone_before(channel, others).min(channel.quiet.0).min(Cycle(until.0.saturating_add(1)))
            }
            _ => Cycle::ZERO,
        }
    }

    /// Issues RD or WR of one line, and of up to so many that follow it, as soon as each can go, before an instant. Says how many, and
    /// when the last.
    #[inline]
    fn issue_run(
        &mut self,
        index: usize,
        mut now: Cycle,
        mut next: Next,
        (most, before): (u16, Cycle),
        sink: &mut impl CommandSink,
    ) -> (Counted, u16, Cycle) {
        let mut count = 0;
        loop {
            let channel = &mut self.channels[index];
            let (Command::Read { bank, .. } | Command::Write { bank, .. }) = next.command else {
                unreachable!("lines are read or written")
            };
            channel.device.issue_column_access(now, &next.command, bank, next.kind);
            channel.commanded(bank);
            sink.push(now, channel.id, &next.command);
            self.front.tell_queues(channel.id, now, None, sink);
            count += 1;
            if count == most {
                break;
            }
            let channel = &self.channels[index];
            next.further(&channel.device);
            let at = channel.earliest_next(&next);
            if at >= before {
                break;
            }
            now = at;
            self.front.recorder.end_instant();
        }
        self.channels[index].forget_prepared();
        let commands = &mut self.front.recorder.figures.commands;
        if next.kind == Kind::Rd {
            commands.reads += u64::from(count);
            (Counted::Read, count, now)
        } else {
            commands.writes += u64::from(count);
            (Counted::Write, count, now)
        }
    }

    /// The lines of a segment's next column accesses cross the channel.
    #[inline(never)]
    fn move_lines(&mut self, index: usize, slot: u32, stream: usize, count: u16) {
        let device = &mut self.channels[index].device;
        let segment = &mut self.segments[slot];
        for further in 0..count {
            match segment.streams[stream].line(further) {
                Some(Moved::Read(line)) => {
                    let at = line.location;
                    if let Some(bytes) = device.read_line(at.bank, at.row, at.column) {
                        segment.stage(&line, bytes);
                    }
                }
                Some(Moved::Write(write)) => {
                    let at = write.line.location;
                    let bytes = segment.compose(&self.front.outstanding[segment.job].request, &write);
                    device.write_line(at.bank, at.row, at.column, &bytes);
                }
                None => {}
            }
        }
    }

    /// A bank of a segment was released: perhaps it is done, or has given way.
    fn finish_segment(&mut self, slot: u32) {
        let segment = &self.segments[slot];
        let job = segment.job;
        if let Some(ready) = segment.ready() {
            self.leave_flight(slot);
            self.segments.remove(slot);
            let request = &mut self.front.outstanding[job];
            request.lasts_until(ready);
            request.job_mut().segments_left -= 1;
            self.front.outstanding.settle(job);
        } else if segment.giving_way {
            self.return_to_line(slot);
        }
    }
}
