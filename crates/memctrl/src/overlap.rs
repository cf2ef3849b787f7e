//! Requests that overlap: what waits for what, and reads that are answered from a queued write.

use dram_spec::{Cycle, Cycles, PhysicalAddress};

use crate::access::{Access, Entry, Kind};
use crate::channel::ChannelState;
use crate::done::{ALONE, Alone};
use crate::engine::Controller;
use crate::front_end::FrontEnd;
use crate::intake::Incoming;
use crate::spot::Spot;

/// An access that waits for jobs.
#[derive(Clone, Debug)]
pub(crate) struct Blocked {
    entry: Entry,
    /// The slots of the jobs that it conflicts with, and that are not delivered.
    jobs: Vec<u32>,
}

impl Controller {
    /// A job joins those in progress, if there is room.
    pub(crate) fn accept_job(&mut self, now: Cycle) -> bool {
        let front = &mut self.front;
        let slot = front.incoming.slot;
        if front.jobs.len() >= front.config.queues.copy_entries {
            return false;
        }
        let request = &mut front.outstanding[slot];
        let job = request.job.as_mut().expect("what is no read and no write of whole lines is a job");
        for entry in front.accesses.in_use() {
            let access = &mut front.accesses[entry];
            if !job.conflicts(access.kind, access.line.0) {
                continue;
            }
            job.waits_for += 1;
            if access.kind == Kind::Write && !access.blocked && !access.waited_for {
                let channel = &mut self.channels[usize::from(access.spot.channel().0)];
                channel.force();
                channel.look_at = Cycle::ZERO;
            }
            access.waited_for = true;
            front.waiters.push((entry, slot));
        }
        let blocks = front.config.planner.blocks(&request.request.operation);
        self.planning.push_back((slot, blocks));
        front.jobs.push(slot);
        front.recorder.levels.job_enters(now);
        front.may_begin = true;
        true
    }

    /// A job is delivered: what waited for nothing else is accepted again.
    pub(crate) fn release_blocked(&mut self, job: u32, now: Cycle) {
        if self.front.blocked.is_empty() {
            return;
        }
        for blocked in &mut self.front.blocked {
            blocked.jobs.retain(|&other| other != job);
        }
        let mut at = 0;
        while at < self.front.blocked.len() {
            if !self.front.blocked[at].jobs.is_empty() {
                at += 1;
                continue;
            }
            let entry = self.front.blocked.remove(at).entry;
            self.front.accesses[entry].blocked = false;
            let access = &self.front.accesses[entry];
            let &Access { kind, request, alone, line, spot, .. } = access;
            let channel = &mut self.channels[usize::from(spot.channel().0)];
            if kind == Kind::Read && self.front.forward(channel, request, alone, line, spot, now) {
                self.front.leave_unserved(entry, now);
            } else {
                if kind == Kind::Write && self.front.accesses[entry].waited_for {
                    channel.force();
                }
                self.front.queue(channel, entry, now);
            }
        }
    }

    /// A job is delivered: one without segments is done while it waits for accesses, and they need not hurry for it.
    pub(crate) fn wait_no_more(&mut self, delivered: u32, now: Cycle) {
        let waited: Vec<Entry> =
            self.front.waiters.iter().filter(|(_, job)| *job == delivered).map(|&(entry, _)| entry).collect();
        self.front.waiters.retain(|&(_, job)| job != delivered);
        for entry in waited {
            let access = &mut self.front.accesses[entry];
            access.waited_for = self.front.waiters.iter().any(|&(other, _)| other == entry);
            if !access.waited_for && access.kind == Kind::Write && !access.blocked {
                let channel = &mut self.channels[usize::from(access.spot.channel().0)];
                channel.force_no_more();
                channel.look_at = channel.look_at.min(now);
            }
        }
    }
}

impl FrontEnd {
    /// A line of a read or of a write is accepted, if it can be, where another access may go to it, or a job.
    #[inline(never)]
    pub(crate) fn accept_among_others(
        &mut self,
        channel: &mut ChannelState,
        incoming: &Incoming,
        full: bool,
        now: Cycle,
    ) -> bool {
        let (kind, line, spot) = (incoming.kind, PhysicalAddress(incoming.line), incoming.spot);
        let jobs = self.conflicting_jobs(kind, line);
        if kind == Kind::Read
            && jobs.is_empty()
            && self.forward(channel, incoming.slot, incoming.alone, line, spot, now)
        {
            return true;
        }
        if full || (kind == Kind::Write && self.newest(channel, Kind::Read, line, spot).is_some()) {
            return false;
        }
        self.recorder.levels.enter(spot.channel(), kind, now);
        let entry = self.accesses.insert(|| incoming.access());
        if jobs.is_empty() {
            self.queue(channel, entry, now);
        } else {
            self.accesses[entry].blocked = true;
            self.blocked.push(Blocked { entry, jobs });
        }
        true
    }

    fn conflicting_jobs(&self, kind: Kind, line: PhysicalAddress) -> Vec<u32> {
        let conflicts =
            |slot: &u32| self.outstanding[*slot].job.as_ref().is_some_and(|job| job.conflicts(kind, line.0));
        self.jobs.iter().copied().filter(conflicts).collect()
    }

    /// The newest access of that kind to a line.
    fn newest(&self, channel: &ChannelState, kind: Kind, line: PhysicalAddress, spot: Spot) -> Option<Entry> {
        if self.blocked.is_empty() {
            return channel.queues.youngest_to(&self.accesses, kind, spot, line.0);
        }
        // Whatever came after one that is blocked, and goes to the same line, is blocked too.
        let same = |blocked: &&Blocked| {
            let access = &self.accesses[blocked.entry];
            access.kind == kind && access.line == line
        };
        let blocked = self.blocked.iter().rev().find(same).map(|blocked| blocked.entry);
        blocked.or_else(|| channel.queues.youngest_to(&self.accesses, kind, spot, line.0))
    }

    /// Answers a read from the newest queued write of its line, if there is one.
    fn forward(
        &mut self,
        channel: &ChannelState,
        slot: u32,
        alone: Alone,
        line: PhysicalAddress,
        spot: Spot,
        now: Cycle,
    ) -> bool {
        let Some(write) = self.newest(channel, Kind::Write, line, spot) else { return false };
        self.recorder.figures.forwarded += 1;
        if slot == ALONE {
            self.outstanding.forwarded(alone, now + Cycles(1));
            return true;
        }
        if self.config.contents.is_some() {
            let bytes = self.outstanding[self.accesses[write].request].payload(line);
            self.outstanding[slot].receive(line, &bytes);
        }
        let request = &mut self.outstanding[slot];
        request.lasts_until(now + Cycles(1));
        request.lines_left -= 1;
        self.outstanding.settle(slot);
        true
    }

    /// An access takes its place in its bank.
    #[inline]
    fn queue(&mut self, channel: &mut ChannelState, entry: Entry, now: Cycle) {
        let number = self.number();
        let access = &mut self.accesses[entry];
        access.number = number;
        access.queued = now;
        let (kind, spot) = (access.kind, access.spot);
        channel.queue(&mut self.accesses, entry, kind, spot, now);
    }

    /// An access was served that jobs may have waited for.
    #[inline(never)]
    pub(crate) fn tell_jobs(&mut self, channel: &mut ChannelState, entry: Entry) {
        let Access { kind, waited_for, spot, .. } = self.accesses[entry];
        if waited_for {
            self.tell_waiters(entry);
            if kind == Kind::Write {
                channel.force_no_more();
            }
        }
        self.may_begin |= kind == Kind::Read && self.is_waited_for(spot);
    }

    /// An access that needed no command gives its entry back; who waited for it, goes on.
    pub(crate) fn leave_unserved(&mut self, entry: Entry, now: Cycle) {
        if self.accesses[entry].waited_for {
            self.tell_waiters(entry);
        }
        let &Access { kind, spot, .. } = &self.accesses[entry];
        self.leave(entry, spot.channel(), kind, now);
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
