//! How a source hears of what is done.

use dram_spec::Cycle;
use rowclone::Operation;

use crate::access::Kind;
use crate::done::ALONE;
use crate::engine::Controller;
use crate::front_end::FrontEnd;
use crate::request::RequestSource;

impl Controller {
    /// Tells the source of the first that is done.
    pub(crate) fn deliver(&mut self, source: &mut impl RequestSource, now: Cycle) {
        if let Some(slot) = self.front.deliver(source, now) {
            self.deliver_job(slot, source, now);
        }
    }

    /// Tells the source of a job; what waited for it goes on.
    #[inline(never)]
    fn deliver_job(&mut self, slot: u32, source: &mut impl RequestSource, now: Cycle) {
        self.front.recorder.advance_to(now, now);
        if let Some(place) = self.front.jobs.iter().position(|&job| job == slot) {
            self.front.jobs.remove(place);
        }
        self.wait_no_more(slot, now);
        self.front.recorder.levels.job_leaves(now);
        self.front.is_held_up = false;
        self.release_blocked(slot, now);
        let figures = &mut self.front.recorder.figures;
        let request = &mut self.front.outstanding[slot];
        let (response, completion) = (request.response(), request.complete_job());
        if let Operation::Copy { .. } | Operation::Init { .. } = completion.operation {
            figures.copy_response.record(response);
            figures.copy_latency.record(completion.latency());
            figures.segments += completion.segments();
        } else {
            figures.write_latency.record(response);
        }
        source.complete(completion);
    }
}

impl FrontEnd {
    /// Tells the source of the first that is done; of a job, it only says its slot.
    #[must_use]
    #[expect(clippy::inline_always, reason = "what a source does not look at, is then not made")]
    #[inline(always)]
    pub(crate) fn deliver(&mut self, source: &mut impl RequestSource, now: Cycle) -> Option<u32> {
        // Of accesses the source may hear late, while it is not asked for more; they count where they were done.
        let done = self.outstanding.take_done();
        self.recorder.advance_to(done.at, now);
        if done.slot != ALONE {
            return self.deliver_slot(done.slot, source);
        }
        self.recorder.figures.latency_of(done.kind).record(done.response());
        source.complete(done.complete());
        None
    }

    /// The same of one that has a slot.
    #[inline(never)]
    fn deliver_slot(&mut self, slot: u32, source: &mut impl RequestSource) -> Option<u32> {
        self.outstanding.free_slot(slot);
        let request = &mut self.outstanding[slot];
        if request.job.is_some() {
            return Some(slot);
        }
        // A write of parts of lines is a job.
        let is_read = matches!(request.request.operation, Operation::Read { .. });
        let kind = if is_read { Kind::Read } else { Kind::Write };
        self.recorder.figures.latency_of(kind).record(request.response());
        source.complete(request.complete());
        None
    }
}
