//! What the policies `fastest` and `least-energy` go by: how long each mechanism would take, and what it would cost.
//!
//! An estimate is made when a block is planned, for each of its parts by itself, from what is known then:
//!
//! - A bank is free at the latest of: now, and tXP later in a rank that sleeps (tDLLK in self-refresh); with another row open than the
//!   one that is needed there first, tRP after it can be closed; closed, when it can take an ACT; what is booked there. Each read that is queued
//!   in it adds tCCD, and all of them together tRC. If more REF are owed than may be, or one more falls due by then, it is tRP + tRFC later.
//! - A mechanism starts when all its banks are free; over the channel, not before the data bus is, either: when the reads queued on the
//!   channel have had tCCD each, and what is booked there is over.
//! - It takes what its commands take on idle banks ([`duration`]).
//!
//! Each segment that is planned is booked: its banks until it is done, the bus of each of its channels for tCCD a line.

use dram_core::{Device, P, Power, Timings};
use dram_spec::{BankId, Channel, Cycle, Cycles, Picojoule, Row};
use rowclone::{Block, Mechanism, Work};

use crate::config::Config;
use crate::policy::Policy;
use crate::prices::PriceTable;

/// What an estimate asks of the controller.
pub trait Outlook {
    /// The device of a channel.
    fn device(&self, channel: Channel) -> &Device;

    /// How many reads are queued in a bank.
    fn reads_in(&self, channel: Channel, bank: BankId) -> u64;

    /// How many reads are queued on a channel.
    fn reads_on(&self, channel: Channel) -> u64;
}

/// The rows that a segment needs first in each of its banks, in the order of the plan.
fn first_rows(work: &Work) -> Vec<(Channel, BankId, Row)> {
    let mut rows: Vec<(Channel, BankId, Row)> = Vec::new();
    let mut enter = |channel, bank, row| {
        if !rows.iter().any(|&(c, b, _)| (c, b) == (channel, bank)) {
            rows.push((channel, bank, row));
        }
    };
    match work {
        Work::Fpm { channel, bank, src, .. } => enter(*channel, *bank, *src),
        Work::Psm { channel, src, dst, .. } => {
            enter(*channel, src.0, src.1);
            enter(*channel, dst.0, dst.1);
        }
        Work::Psm2 { channel, src, temporary, .. } => {
            enter(*channel, src.0, src.1);
            enter(*channel, temporary.0, temporary.1);
        }
        Work::Channel { reads, writes } => {
            for run in reads.iter().chain(writes.iter().map(|write| &write.run)) {
                let place = run.first.location;
                enter(place.channel, place.bank, place.row);
            }
        }
    }
    rows
}

/// How long a segment takes on idle banks, from its first ACT to its last bank ready. 4 KB at DDR3-1066 8-8-8: FPM 48 cycles, PSM 290,
/// 2 x PSM 562, over the channel 558 within a bank, 546 between two, and 286 to fill.
pub fn duration(work: &Work, timings: &Timings) -> Cycles {
    let n = |parameter| timings.get(parameter).0;
    let burst = |lines: usize| (lines.max(1) as u64 - 1) * n(P::Ccd);
    let recovery = n(P::Cwl) + n(P::Burst) + n(P::Wr) + n(P::Rp);
    Cycles(match work {
        Work::Fpm { .. } => 2 * n(P::Ras) + n(P::Rp),
        Work::Psm { columns, .. } => n(P::Rrd) + n(P::Rcd) + burst(columns.len()) + recovery,
        Work::Psm2 { columns, .. } => {
            let first = (n(P::Rrd) + n(P::Rcd) + burst(columns.len()) + n(P::Rtp)).max(n(P::Ras));
            first + n(P::Rp) + n(P::Rcd) + burst(columns.len()) + recovery
        }
        Work::Channel { reads, writes } => {
            let (read, write) = work.lines();
            let (read, write) = (burst(read), burst(write));
            let arrival = (n(P::Cl) + n(P::Burst)).saturating_sub(n(P::Cwl));
            let (Some(from), Some(to)) = (reads.last(), writes.first().map(|write| &write.run)) else {
                return Cycles((n(P::Rcd) + write + recovery).max(n(P::Ras) + n(P::Rp)));
            };
            let (from, to) = (from.first.location, to.first.location);
            if from.channel != to.channel {
                n(P::Rcd) + read.max(write) + arrival + recovery
            } else if from.bank == to.bank && from.row != to.row {
                (n(P::Rcd) + read + n(P::Rtp)).max(n(P::Ras)) + n(P::Rp) + n(P::Rcd) + write + recovery
            } else {
                let turn = (n(P::Cl) + n(P::Burst) + 2 * n(P::Clock) - n(P::Cwl)).max(arrival);
                n(P::Rcd) + read + turn + write + recovery
            }
        }
    })
}

/// What a segment costs above standby.
pub fn energy(work: &Work, prices: &PriceTable) -> Picojoule {
    let times = |price: Picojoule, count: usize| price * count as f64;
    match work {
        Work::Fpm { .. } => prices.activate + prices.copy_activate,
        Work::Psm { columns, .. } => times(prices.activate, 2) + times(prices.transfer, columns.len()),
        Work::Psm2 { columns, .. } => times(prices.activate, 3) + times(prices.transfer, 2 * columns.len()),
        Work::Channel { reads, writes } => {
            let places = reads.iter().chain(writes.iter().map(|write| &write.run)).map(|run| run.first.location);
            let mut rows: Vec<_> = places.map(|place| (place.channel, place.bank, place.row)).collect();
            rows.sort_unstable();
            rows.dedup();
            let (reads, writes) = work.lines();
            times(prices.activate, rows.len()) + times(prices.read, reads) + times(prices.write, writes)
        }
    }
}

/// What is booked, and what is chosen.
#[derive(Clone, Debug)]
pub struct Estimator {
    banks: Vec<[Cycle; 32]>,
    buses: Vec<Cycle>,
}

impl Estimator {
    /// Nothing is booked.
    pub fn new(config: &Config) -> Estimator {
        let channels = usize::from(config.system.geometry.channels());
        Estimator { banks: vec![[Cycle::ZERO; 32]; channels], buses: vec![Cycle::ZERO; channels] }
    }

    /// A mechanism for each part of a block.
    ///
    /// # Panics
    /// If the policy is `least-energy` and the controller has no prices.
    pub fn choose(&self, config: &Config, outlook: &impl Outlook, block: &Block, now: Cycle) -> Vec<Mechanism> {
        let policy = config.policy;
        (0..block.parts().len())
            .map(|part| match policy {
                Policy::Channel | Policy::Fpm | Policy::Psm | Policy::Rule => policy.choose(&block.parts()[part]),
                Policy::Fastest => {
                    let done = |work: &Work| self.done(config, outlook, work, now);
                    best(config, block, part, |works| works.iter().map(done).max())
                }
                Policy::LeastEnergy => {
                    let prices = config.prices.as_ref().expect("`least-energy` is given prices");
                    best(config, block, part, |works| works.iter().map(|work| energy(work, prices).0).sum::<f64>())
                }
            })
            .collect()
    }

    /// When a segment would be done.
    fn done(&self, config: &Config, outlook: &impl Outlook, work: &Work, now: Cycle) -> Cycle {
        self.start(config, outlook, work, now) + duration(work, outlook.device(first_rows(work)[0].0).timings())
    }

    fn start(&self, config: &Config, outlook: &impl Outlook, work: &Work, now: Cycle) -> Cycle {
        let mut start = now;
        for (channel, bank, row) in first_rows(work) {
            start = start.max(self.bank_free(config, outlook, (channel, bank, row), now));
            if let Work::Channel { .. } = work {
                start = start.max(self.bus_free(outlook, channel, now));
            }
        }
        start
    }

    fn bus_free(&self, outlook: &impl Outlook, channel: Channel, now: Cycle) -> Cycle {
        let n = outlook.device(channel).timings().get(P::Ccd).0;
        self.buses[usize::from(channel.0)].max(Cycle(now.0 + outlook.reads_on(channel) * n))
    }

    fn bank_free(
        &self,
        config: &Config,
        outlook: &impl Outlook,
        (channel, bank, row): (Channel, BankId, Row),
        now: Cycle,
    ) -> Cycle {
        let device = outlook.device(channel);
        let n = |parameter| device.timings().get(parameter);
        let awake = now
            + match device.power(bank.rank) {
                Power::Awake => Cycles(0),
                Power::ActivePowerDown { .. } | Power::PrechargePowerDown { .. } => n(P::Xp),
                Power::SelfRefresh { .. } => n(P::Dllk),
            };
        let own = match device.open_row(bank) {
            Some(open) if open == row => awake,
            Some(_) => device.closable(bank).max(awake) + n(P::Rp),
            None => device.ready(bank).max(awake),
        };
        let mut free = own.max(self.banks[usize::from(channel.0)][crate::spot::index(bank)]);
        let reads = outlook.reads_in(channel, bank);
        if reads > 0 {
            free += Cycles(reads * n(P::Ccd).0) + n(P::Rc);
        }
        let ledger = device.refresh(bank.rank);
        let falls_due = || ledger.next_due(now).is_some_and(|due| due <= free) && config.refresh.postpone_max == 0;
        if ledger.owed(now) > config.refresh.postpone_max || falls_due() {
            free += n(P::Rp) + n(P::Rfc);
        }
        free
    }

    /// A segment is planned.
    pub fn book(&mut self, config: &Config, outlook: &impl Outlook, work: &Work, now: Cycle) {
        if config.policy != Policy::Fastest {
            return;
        }
        let start = self.start(config, outlook, work, now);
        let rows = first_rows(work);
        let timings = outlook.device(rows[0].0).timings();
        let (end, line) = (start + duration(work, timings), timings.get(P::Ccd).0);
        for &(channel, bank, _) in &rows {
            self.banks[usize::from(channel.0)][crate::spot::index(bank)] = end;
        }
        if let Work::Channel { reads, writes } = work {
            for (channel, bus) in (0..).map(Channel).zip(&mut self.buses) {
                let runs = reads.iter().chain(writes.iter().map(|write| &write.run));
                let on_it = runs.filter(|run| run.first.location.channel == channel);
                let lines: u64 = on_it.map(|run| u64::from(run.count)).sum();
                if lines > 0 {
                    *bus = Cycle(start.0 + lines * line);
                }
            }
        }
    }
}

/// The mechanism whose segments have the least of something; of equals, the first in the order of the paper's rule.
fn best<T: PartialOrd>(config: &Config, block: &Block, part: usize, price: impl Fn(&[Work]) -> T) -> Mechanism {
    let mut best: Option<(T, Mechanism)> = None;
    for &mechanism in config.policy.admits() {
        if block.parts()[part].allows(mechanism).is_err() {
            continue;
        }
        let segments = block.segments_of(part, mechanism, config.staging_lines);
        let works: Vec<_> = segments.into_iter().map(|segment| segment.work).collect();
        let price = price(&works);
        if best.as_ref().is_none_or(|(least, _)| price < *least) {
            best = Some((price, mechanism));
        }
    }
    best.map_or(Mechanism::Channel, |(_, mechanism)| mechanism)
}
