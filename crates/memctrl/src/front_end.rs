//! What all channels share: what comes in, what holds an entry of a queue, what is done, and what is counted.

use dram_spec::address::Locator;
use dram_spec::{Channel, CommandSink, Cycle, Queued};

use crate::access::{Accesses, Entry, Kind};
use crate::channel::ChannelState;
use crate::config::Config;
use crate::copy::BankSet;
use crate::intake::{Incoming, State};
use crate::outstanding::Requests;
use crate::overlap::Blocked;
use crate::recorder::Recorder;
use crate::spot::Spot;

/// All that accesses need beside their channel.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a reason to look at something, raised in one place and taken in another"
)]
pub(crate) struct FrontEnd {
    pub(crate) config: Config,
    /// How many entries a channel has for reads and for writes.
    pub(crate) entries: [u64; 2],
    /// The next sequence number.
    pub(crate) counter: u64,
    /// Requests taken so far.
    pub(crate) taken: u64,
    pub(crate) outstanding: Requests,
    pub(crate) accesses: Accesses,
    /// Accesses that wait for jobs, in the order in which they were accepted.
    pub(crate) blocked: Vec<Blocked>,
    /// The request that is being accepted, and whether there is one.
    pub(crate) incoming: Incoming,
    pub(crate) state: State,
    /// Whether it could not be accepted, and nothing has happened since that would change that.
    pub(crate) is_held_up: bool,
    /// Where what comes in lies.
    pub(crate) locator: Locator<Spot>,
    /// Whether a command has made room for what comes in.
    pub(crate) made_room: bool,
    /// Jobs that wait for accesses.
    pub(crate) waiters: Vec<(Entry, u32)>,
    /// Jobs in progress, in the order in which they were accepted.
    pub(crate) jobs: Vec<u32>,
    /// The banks that segments use which have not begun, or have given way.
    pub(crate) waiting_banks: BankSet,
    /// Whether a segment may be able to begin that was not before.
    pub(crate) may_begin: bool,
    /// When a segment's next term ends, or a rank must next be made free; not later than either.
    pub(crate) gives_way_at: Cycle,
    pub(crate) recorder: Recorder,
    pub(crate) every_cycle: bool,
}

impl FrontEnd {
    pub(crate) fn new(config: Config) -> FrontEnd {
        FrontEnd {
            entries: [config.queues.read_entries as u64, config.queues.write_entries as u64],
            counter: 0,
            taken: 0,
            outstanding: Requests::default(),
            accesses: Accesses::default(),
            blocked: Vec::new(),
            incoming: Incoming::default(),
            state: State::Idle,
            locator: Locator::default(),
            is_held_up: false,
            made_room: false,
            waiters: Vec::new(),
            jobs: Vec::new(),
            waiting_banks: BankSet::default(),
            may_begin: false,
            gives_way_at: Cycle::ZERO,
            recorder: Recorder::new(&config),
            every_cycle: false,
            config,
        }
    }

    /// The next sequence number.
    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        self.counter += 1;
        self.counter - 1
    }

    /// There is room for what comes in.
    #[inline]
    pub(crate) fn made_room(&mut self) {
        self.made_room = true;
        self.is_held_up = false;
    }

    /// Whether a segment that waits may have waited for a read of this bank.
    pub(crate) fn is_waited_for(&self, spot: Spot) -> bool {
        self.waiting_banks.of(spot.channel()) & (1 << spot.bank_index()) != 0
    }

    /// What is left in the queues of a channel after a command, and after an access that it served.
    #[inline]
    pub(crate) fn tell_queues(&self, channel: Channel, now: Cycle, served: Option<Kind>, sink: &mut impl CommandSink) {
        if sink.wants_queues() {
            let levels = &self.recorder.levels;
            let [reads, writes] =
                [Kind::Read, Kind::Write].map(|kind| levels.of(channel, kind) - u64::from(served == Some(kind)));
            sink.queued(now, channel, Queued { reads, writes });
        }
    }

    /// Before which instant nothing happens but on a channel, where the others are not due before `others`.
    #[inline]
    pub(crate) fn alone_before(&self, channel: &ChannelState, others: Cycle) -> Cycle {
        // Its source is not asked while intake is held up, and hears late of accesses that are done.
        if self.made_room || !self.is_held_up || self.may_begin || self.every_cycle {
            return Cycle::ZERO;
        }
        let before = others.min(self.gives_way_at).min(channel.must_from).min(self.recorder.until());
        if self.jobs.is_empty() { before } else { before.min(self.outstanding.done_at()) }
    }
}
