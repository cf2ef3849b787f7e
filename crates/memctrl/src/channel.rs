//! One channel: its device, and all that waits for it.

use dram_core::{Device, Effect, P};
use dram_spec::{BankId, Channel, Command, Cycle, Cycles};

use crate::access::{Accesses, Entry, Kind};
use crate::bank_queue::BankQueues;
use crate::candidate::{Candidate, KeyClock, NO_KEY};
use crate::config::{Config, PowerPolicy, RowPolicy, Scheduler};
use crate::flights::Flights;
use crate::parties::Party;
use crate::rank::Rank;
use crate::request::Counted;
use crate::scheduler::{Choice, bits};
use crate::spot::{MOST_BANKS, RowKey, index};
use crate::streak::Streak;

/// What the controller keeps of a bank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bank {
    /// The sequence number of the last time that a segment let go of it.
    pub(crate) released: u64,
    /// Accesses served from the row since it was opened.
    pub(crate) served: u32,
}

/// One channel.
pub(crate) struct ChannelState {
    pub(crate) id: Channel,
    pub(crate) device: Device,
    pub(crate) queues: BankQueues,
    pub(crate) ranks: Vec<Rank>,
    pub(crate) banks: [Bank; MOST_BANKS],
    /// What the accesses of each bank would do next.
    pub(crate) next: [Candidate; MOST_BANKS],
    /// By bank, a key of that: the true one, or a lower one, where its rank holds it back for longer.
    pub(crate) keys: [u64; MOST_BANKS],
    pub(crate) key_clock: KeyClock,
    /// Banks, as a mask, where that has been found out since anything happened to them; and those that are not there.
    pub(crate) known: u32,
    /// Banks, as a mask, that segments in flight hold.
    pub(crate) held: u32,
    /// Banks, as a mask, with a row open.
    pub(crate) open: u32,
    /// Queued writes that jobs wait for.
    forced: u32,
    /// Whether the channel may have to turn: else it need not be asked.
    pub(crate) may_turn: bool,
    /// Whose accesses get commands.
    pub(crate) mode: Kind,
    /// The segments in flight that use the channel.
    pub(crate) flights: Flights,
    /// When the channel is worth another look.
    pub(crate) look_at: Cycle,
    pub(crate) scheduler: Scheduler,
    pub(crate) row_policy: RowPolicy,
    pub(crate) power: PowerPolicy,
    /// From a RD, and from a WR, to the end of its data.
    pub(crate) read_data: Cycles,
    pub(crate) write_data: Cycles,
    /// The watermarks of writes, high and low.
    drain: (u32, u32),
    /// Until when no rank has a command of its own, and the banks, as a mask, of ranks that accesses cannot use until then.
    pub(crate) quiet: (Cycle, u32),
    /// When a rank must next be made free, at the earliest.
    pub(crate) must_from: Cycle,
    /// What goes first if nothing happens before `prepared_at`.
    pub(crate) prepared: Choice,
    /// When that goes; never, if it is not known.
    pub(crate) prepared_at: Cycle,
    /// Which bank goes on, if it does.
    pub(crate) streak: Streak,
    /// Room for a list that is made at every visit.
    pub(crate) parties: Vec<Party>,
}

/// Places, as a mask, where no rank has banks.
pub(crate) fn beyond(ranks: usize) -> u32 {
    !((1_u64 << (8 * ranks)) - 1) as u32
}

impl ChannelState {
    pub(crate) fn new(id: Channel, device: Device, config: &Config) -> ChannelState {
        let ranks = config.system.geometry.ranks();
        // No rule adds up more than twice of all parameters but tREFI, which delays only REF.
        let gaps = P::ALL.iter().filter(|&&parameter| !matches!(parameter, P::Refi | P::RefiTwice));
        let longest: u64 = gaps.map(|&parameter| device.timings().get(parameter).0).sum();
        assert!(2 * longest < KeyClock::FURTHEST / 2, "{longest} cycles do not fit a key of candidates");
        ChannelState {
            id,
            queues: BankQueues::new(),
            ranks: (0..ranks).map(|rank| Rank::new(rank, &device, config)).collect(),
            banks: Default::default(),
            next: [Candidate::NONE; MOST_BANKS],
            keys: [NO_KEY; MOST_BANKS],
            key_clock: KeyClock::new(Cycle::ZERO),
            known: beyond(usize::from(ranks)),
            held: 0,
            open: 0,
            forced: 0,
            may_turn: true,
            mode: Kind::Read,
            flights: Flights::default(),
            look_at: Cycle::ZERO,
            scheduler: config.scheduler,
            row_policy: config.row_policy,
            power: config.power,
            drain: (config.queues.drain_high as u32, config.queues.drain_low as u32),
            quiet: (Cycle::ZERO, 0),
            must_from: Cycle::ZERO,
            prepared: Choice::Access(0),
            prepared_at: Cycle::NEVER,
            streak: Streak::default(),
            parties: Vec::new(),
            read_data: device.timings().read_data(),
            write_data: device.timings().write_latency() + device.timings().get(P::Burst),
            device,
        }
    }

    pub(crate) fn rank_of(&mut self, bank: BankId) -> &mut Rank {
        &mut self.ranks[usize::from(bank.rank)]
    }

    /// What a rank needs on its own account may be another now.
    #[inline(never)]
    pub(crate) fn wake(&mut self, rank: u8) {
        self.ranks[usize::from(rank)].look_at = Cycle::ZERO;
        self.quiet.0 = Cycle::ZERO;
        self.streak.forget();
        self.forget_prepared();
        self.flights.run = None;
    }

    /// Asks each rank again whether it must be made free, where that may have changed. Says whether it has, of any.
    #[inline]
    pub(crate) fn ask_must(&mut self, now: Cycle) -> bool {
        now >= self.must_from && self.ask_each_must(now)
    }

    #[inline(never)]
    fn ask_each_must(&mut self, now: Cycle) -> bool {
        let mut changed = false;
        self.must_from = Cycle::NEVER;
        for rank in 0..self.ranks.len() {
            let state = &mut self.ranks[rank];
            let before = state.must;
            let flips = state.must_by(&self.device, now) != before;
            self.must_from = self.must_from.min(state.must_from());
            if flips {
                self.wake(rank as u8);
                changed = true;
            }
        }
        changed
    }

    /// Who goes first must be found out again.
    #[inline]
    pub(crate) fn forget_prepared(&mut self) {
        self.prepared_at = Cycle::NEVER;
    }

    /// Somebody more waits for a rank.
    #[inline]
    pub(crate) fn occupy(&mut self, rank: u8, now: Cycle) {
        let state = &mut self.ranks[usize::from(rank)];
        state.busy += 1;
        if state.busy == 1 {
            self.wake(rank);
            self.look_at = self.look_at.min(now);
        }
    }

    /// Somebody waits for it no more.
    #[inline]
    pub(crate) fn vacate(&mut self, rank: u8, now: Cycle) {
        let state = &mut self.ranks[usize::from(rank)];
        state.busy -= 1;
        if state.busy == 0 {
            self.deserted(rank, now);
        }
    }

    /// Nobody waits for a rank any more.
    #[inline(never)]
    pub(crate) fn deserted(&mut self, rank: u8, now: Cycle) {
        self.wake(rank);
        self.look_at = self.look_at.min(now);
    }

    /// A segment holds a bank from now on.
    pub(crate) fn hold(&mut self, bank: BankId) {
        self.held |= 1 << index(bank);
        self.may_turn = true;
        self.rank_of(bank).held += 1;
        self.streak.forget();
        self.forget_prepared();
        self.look_at = Cycle::ZERO;
    }

    /// And lets go of it.
    pub(crate) fn release(&mut self, bank: BankId, number: u64) {
        self.held &= !(1 << index(bank));
        self.may_turn = true;
        self.banks[index(bank)].released = number;
        self.known &= !(1 << index(bank));
        self.streak.forget();
        self.forget_prepared();
        let rank = self.rank_of(bank);
        rank.held -= 1;
        if rank.held == 0 {
            self.wake(bank.rank);
        }
        self.look_at = Cycle::ZERO;
    }

    /// One more queued write that a job waits for.
    pub(crate) fn force(&mut self) {
        self.forced += 1;
        self.may_turn = true;
    }

    /// One less.
    pub(crate) fn force_no_more(&mut self) {
        self.forced -= 1;
        self.may_turn = true;
    }

    /// Whether the channel should be in another mode.
    #[inline]
    pub(crate) fn should_turn(&mut self) -> bool {
        self.may_turn = self.turns_to().is_some();
        self.may_turn
    }

    /// The mode that the channel should be in, where it is another.
    #[inline]
    fn turns_to(&self) -> Option<Kind> {
        let (all, reads) = (self.queues.count(Kind::Write), self.queues.count(Kind::Read));
        let writes = if all == 0 || self.held == 0 { all } else { all - self.held_writes() };
        let (high, low) = self.drain;
        let forced = self.forced > 0;
        match self.mode {
            Kind::Read => (writes > 0 && (all >= high || reads == 0 || forced)).then_some(Kind::Write),
            Kind::Write => (writes == 0 || (all <= low && reads > 0 && !forced)).then_some(Kind::Read),
        }
    }

    /// Queued writes in banks that segments hold.
    #[inline(never)]
    fn held_writes(&self) -> u32 {
        bits(self.held).map(|bank| self.queues.count_in(bank, Kind::Write)).sum()
    }

    /// Turns, if it should.
    pub(crate) fn turn(&mut self) -> bool {
        self.may_turn = false;
        let Some(mode) = self.turns_to() else { return false };
        self.mode = mode;
        self.forget_prepared();
        self.known = beyond(self.ranks.len());
        self.streak.forget();
        true
    }

    /// Puts a command on the bus that is no RD or WR: the device, the banks and the ranks after it.
    pub(crate) fn issue(&mut self, now: Cycle, command: &Command, config: &Config, accesses: &mut Accesses) -> Counted {
        let effect = self.device.issue(now, command);
        self.forget_prepared();
        let counted = match (command, effect) {
            (Command::Activate { .. }, Effect::Plain) => Counted::Activate,
            (Command::Activate { .. }, Effect::Copied { .. }) => Counted::CopyActivate,
            (Command::Activate { .. }, Effect::Dropped { .. }) => Counted::DroppedActivate,
            (Command::Precharge { .. } | Command::PrechargeAll { .. }, _) => Counted::Precharge,
            (Command::Read { .. } | Command::Write { .. }, _) => unreachable!("they have their own ways"),
            (Command::Transfer { .. }, _) => Counted::Transfer,
            (Command::Refresh { .. }, _) => Counted::Refresh,
            (Command::PowerDownEnter { .. }, _) => Counted::PowerDown,
            (Command::SelfRefreshEnter { .. }, _) => Counted::SelfRefresh,
            (Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. }, _) => Counted::WakeUp,
        };
        match *command {
            Command::Activate { bank, .. } => {
                self.row_may_have_changed(accesses, bank);
                self.banks[index(bank)].served = 0;
            }
            Command::Precharge { bank } => self.row_may_have_changed(accesses, bank),
            Command::Read { .. } | Command::Write { .. } => {}
            Command::Transfer { src, dst, .. } => {
                self.commanded(src);
                self.commanded(dst);
            }
            Command::PrechargeAll { rank } => {
                (0..8).for_each(|bank| self.row_may_have_changed(accesses, BankId { rank, bank }));
                self.flights.touch_all();
                self.wake(rank);
            }
            Command::Refresh { rank }
            | Command::PowerDownEnter { rank }
            | Command::PowerDownExit { rank }
            | Command::SelfRefreshEnter { rank }
            | Command::SelfRefreshExit { rank } => {
                let busy = match command {
                    Command::Refresh { .. } => self.device.timings().get(P::Rfc),
                    Command::PowerDownExit { .. } => self.device.timings().get(P::Xp),
                    Command::SelfRefreshExit { .. } => self.device.timings().get(P::Dllk),
                    _ => Cycles(0),
                };
                let state = &mut self.ranks[usize::from(rank)];
                state.usable_from = state.usable_from.max(now + busy);
                self.ranks[usize::from(rank)].ledger_changed(&self.device, config, now);
                self.must_from = Cycle::ZERO;
                self.wake(rank);
                self.known &= !(0xFF << (8 * rank));
                self.flights.touch_all();
            }
        }
        counted
    }

    /// A command went to a bank: what its accesses would do next may be something else.
    #[inline]
    pub(crate) fn commanded(&mut self, bank: BankId) {
        self.known &= !(1 << index(bank));
    }

    pub(crate) fn row_may_have_changed(&mut self, accesses: &mut Accesses, bank: BankId) {
        let (place, row) = (index(bank), self.device.open_row(bank));
        self.known &= !(1 << place);
        self.streak.forget();
        let key = row.map_or(RowKey::NONE, |row| RowKey::new(self.id, place, row));
        self.queues.row_changed(accesses, place, key);
        if row.is_some() {
            self.open |= 1 << place;
        } else {
            self.open &= !(1 << place);
        }
    }

    /// The oldest access of the mode's kind, of all banks.
    pub(crate) fn oldest(&self, accesses: &Accesses) -> Option<usize> {
        let banks = bits(self.queues.pending(self.mode));
        banks.min_by_key(|&bank| accesses[self.queues.oldest(accesses, bank, self.mode)].number)
    }

    /// The oldest read that waits in a bank.
    pub(crate) fn oldest_read(&self, accesses: &Accesses, bank: BankId) -> Option<Entry> {
        Some(self.queues.oldest(accesses, index(bank), Kind::Read)).filter(|entry| entry.is_some())
    }
}

impl crate::estimate::Outlook for Vec<ChannelState> {
    fn device(&self, channel: Channel) -> &Device {
        &self[usize::from(channel.0)].device
    }

    fn reads_in(&self, channel: Channel, bank: BankId) -> u64 {
        u64::from(self[usize::from(channel.0)].queues.count_in(index(bank), Kind::Read))
    }

    fn reads_on(&self, channel: Channel) -> u64 {
        u64::from(self[usize::from(channel.0)].queues.count(Kind::Read))
    }
}
