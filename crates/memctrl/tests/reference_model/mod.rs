//! A controller that visits every cycle, stores all state in vectors and recomputes every value in
//! each cycle.
//!
//! The model implements `docs/controller.md` and the section "Programs" of `docs/planner.md`;
//! numbers in brackets are rules of `docs/controller.md`. It shares no scheduling code with the
//! engine, only the device, the planner, `yield_from`, and the idle times and energies of the
//! estimates.

mod access;
mod apply;
mod arbiter;
mod blocking;
mod channel;
mod copies;
mod estimate;
mod figures;
mod front;
mod maintenance;
mod programs;
mod rows;
mod scheduler;
mod thread;

use dram_core::Device;
use dram_spec::{CommandEvent, Cycle};
use memctrl::stats::Stats;
use memctrl::{Config, RequestSource};

use channel::Channel;
use figures::Recorder;
use front::FrontEnd;

pub use rows::Rows;
pub use scheduler::Scheduler;

/// A longer run is considered deadlocked.
const CYCLES_MOST: u64 = 20_000_000;

/// The reference model.
pub struct ReferenceModel {
    front: FrontEnd,
    channels: Vec<Channel>,
    recorder: Recorder,
}

impl ReferenceModel {
    /// Creates a controller at cycle 0: all banks closed, no request in progress. Scheduler and row
    /// policy replace those of `config`.
    pub fn new(config: &Config, scheduler: &Scheduler, rows: Rows) -> ReferenceModel {
        let channels = 0..config.system.geometry.channels();
        let channels = channels.map(|id| Channel::new(id, config, scheduler, rows)).collect();
        ReferenceModel { front: FrontEnd::new(config), channels, recorder: Recorder::new(config) }
    }

    /// Runs `source` until all requests are delivered (1).
    pub fn run(&mut self, source: &mut impl RequestSource) -> (Vec<CommandEvent>, Stats) {
        let mut events = Vec::new();
        for now in 0..CYCLES_MOST {
            self.recorder.begin_cycle(now);
            let mut schedulers: Vec<_> = self.channels.iter_mut().map(|channel| &mut channel.scheduler).collect();
            scheduler::end_quanta(now, &mut schedulers);
            self.front.deliver(now, source, &mut self.recorder);
            self.front.admit(now, source, &mut self.channels, &mut self.recorder);
            self.front.dispatch(now, &mut self.channels);
            self.recorder.sample(&self.channels, self.front.undelivered_copies());
            for channel in &mut self.channels {
                channel.ask_threads(now, &mut self.front, &mut self.recorder);
                channel.choose_mode(&self.front, &mut self.recorder);
                events.extend(channel.issue(now, &mut self.front, &mut self.recorder));
            }
            if self.front.is_idle() && source.next_arrival().is_none() {
                self.channels.iter().for_each(|channel| channel.device.finish(Cycle(now)));
                return (events, self.recorder.finish(now));
            }
        }
        panic!("no end within {CYCLES_MOST} cycles: {}", self.front.describe());
    }

    /// Device of a channel, to read its cells after a run.
    pub fn device(&self, channel: dram_spec::Channel) -> &Device {
        &self.channels[usize::from(channel.0)].device
    }
}
