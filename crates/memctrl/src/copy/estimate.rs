//! What the copy policies `fastest` and `least-energy` go by: how long a program would take, and what it would cost.
//!
//! An estimate is made when a block is planned, for each of its parts by itself, from the state of that cycle:
//!
//! - A bank is free at the latest of: now, and tXP later in power-down (tDLLK in self-refresh); with another row open than the one that the
//!   program needs first, tRP after it can be closed; closed, when it can take an ACT; and the end of what is booked there. Each read that
//!   is queued in it adds tCCD, and all of them together tRC. If the rank owes more REF than it may, or one more falls due by then and none may be
//!   postponed, tRP + tRFC are added.
//! - A program starts when all its banks are free; one that uses the channel not before the data bus is: when the reads queued on the
//!   channel have had tCCD each, and at the end of what is booked there.
//! - It takes what its steps take on idle banks ([`duration`]).
//!
//! Each program that is planned under `fastest` is booked: its banks until its end, the bus of each of its channels for tCCD per line.

use dram_core::{P, Power, Timings};
use dram_spec::{BankId, Cycle, Cycles, Picojoule, Row};
use rowclone::{Program, Step, Thread};

use crate::channel::{AccessKind, Channel};
use crate::config::RefreshPolicy;

/// The energy above standby of each command that a copy may need, all chips of the rank together, with what its burst costs on the
/// channel. The controller is given it; it knows no currents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceTable {
    /// An ACT of a closed bank, with the PRE that ends it.
    pub activate: Picojoule,
    /// A copy activation.
    pub copy_activate: Picojoule,
    /// A RD, with I/O and termination.
    pub read: Picojoule,
    /// A WR, with I/O and termination.
    pub write: Picojoule,
    /// A TRANSFER.
    pub transfer: Picojoule,
}

/// What a program costs above standby: the sum over its steps.
pub fn energy(program: &Program, prices: &PriceTable) -> Picojoule {
    let price = |step: &Step| match step {
        Step::Open { .. } => prices.activate,
        Step::CopyOpen { .. } => prices.copy_activate,
        Step::Close { .. } => Picojoule(0.0),
        Step::Transfer { count, .. } => prices.transfer * f64::from(*count),
        Step::Read { run, .. } => prices.read * f64::from(run.count),
        Step::Write { write, .. } => prices.write * f64::from(write.run.count),
    };
    program.threads.iter().flat_map(|thread| &thread.steps).map(price).sum()
}

/// A bank on its way through a program.
#[derive(Clone, Copy, Debug)]
struct IdleBank {
    bank: BankId,
    /// When the next ACT can be issued.
    ready: u64,
    /// The last ACT.
    opened: u64,
    /// When the bank can be closed.
    closable: u64,
    /// When a line that was transferred into the bank can be transferred out again.
    readable: u64,
}

/// How long a program takes on idle banks, from its first ACT to its last bank ready. 4 KB at DDR3-1066 8-8-8: FPM 48 cycles, PSM 290,
/// 2 x PSM 562, over the channel 558 within a bank, 546 between two, and 286 to fill.
pub fn duration(program: &Program, timings: &Timings) -> Cycles {
    let mut clock = IdleClock { timings, data: 0, data_first: 0, is_pipelined: program.is_pipelined(), end: 0 };
    // Threads that read come first: those that write wait for their data.
    let reads = |thread: &&Thread| thread.steps.iter().any(|step| matches!(step, Step::Read { .. }));
    program.threads.iter().filter(reads).for_each(|thread| clock.run(thread));
    program.threads.iter().filter(|thread| !reads(thread)).for_each(|thread| clock.run(thread));
    Cycles(clock.end)
}

/// Times the steps of a program on idle banks.
struct IdleClock<'a> {
    timings: &'a Timings,
    /// When the data of the last line read has arrived, and of the first.
    data: u64,
    data_first: u64,
    is_pipelined: bool,
    /// When all banks so far are ready.
    end: u64,
}

impl IdleClock<'_> {
    fn run(&mut self, thread: &Thread) {
        let n = |parameter| self.timings.get(parameter).0;
        let (t_ccd, recovery) = (n(P::Ccd), n(P::Cwl) + n(P::Burst) + n(P::Wr));
        let mut banks: Vec<IdleBank> = Vec::with_capacity(3);
        // The next ACT by tRRD, and the next column step of each sort.
        let (mut act, mut transfer, mut read, mut write) = (0, 0, 0, 0);
        for step in &thread.steps {
            let (first, second) = step.banks();
            let at = position(&mut banks, first);
            match *step {
                Step::Open { .. } => {
                    let opened = banks[at].ready.max(act);
                    act = opened + n(P::Rrd);
                    (banks[at].opened, banks[at].closable) = (opened, opened + n(P::Ras));
                }
                Step::CopyOpen { .. } => {
                    let opened = (banks[at].opened + n(P::Ras)).max(act);
                    act = opened + n(P::Rrd);
                    (banks[at].opened, banks[at].closable) = (opened, opened + n(P::Ras));
                }
                Step::Close { .. } => {
                    banks[at].ready = banks[at].closable + n(P::Rp);
                    self.end = self.end.max(banks[at].ready);
                }
                Step::Transfer { count, .. } => {
                    let to = position(&mut banks, second.expect("a TRANSFER has two banks"));
                    let opened = banks[at].opened.max(banks[to].opened) + n(P::Rcd);
                    let first = opened.max(transfer).max(banks[at].readable);
                    let last = first + (u64::from(count) - 1) * t_ccd;
                    transfer = last + t_ccd;
                    banks[at].closable = banks[at].closable.max(last + n(P::Rtp));
                    banks[to].closable = banks[to].closable.max(last + recovery);
                    banks[to].readable = last + n(P::Cwl) + n(P::Burst) + n(P::Wtr);
                }
                Step::Read { run, .. } => {
                    let first = (banks[at].opened + n(P::Rcd)).max(read);
                    let last = first + (u64::from(run.count) - 1) * t_ccd;
                    let latency = n(P::Cl) + n(P::Burst);
                    if read == 0 {
                        self.data_first = first + latency;
                    }
                    self.data = self.data.max(last + latency);
                    read = last + t_ccd;
                    write = write.max(last + n(P::Cl) + n(P::Burst) + 2 * n(P::Clock) - n(P::Cwl));
                    banks[at].closable = banks[at].closable.max(last + n(P::Rtp));
                }
                Step::Write { write: lines, .. } => {
                    let data = if self.is_pipelined { self.data_first } else { self.data };
                    let opened = banks[at].opened + n(P::Rcd);
                    let first = opened.max(write).max(data.saturating_sub(n(P::Cwl)));
                    let burst = (u64::from(lines.run.count) - 1) * t_ccd;
                    let last = (first + burst).max(self.data.saturating_sub(n(P::Cwl)));
                    write = last + t_ccd;
                    banks[at].closable = banks[at].closable.max(last + recovery);
                }
            }
        }
    }
}

fn position(banks: &mut Vec<IdleBank>, bank: BankId) -> usize {
    banks.iter().position(|known| known.bank == bank).unwrap_or_else(|| {
        banks.push(IdleBank { bank, ready: 0, opened: 0, closable: 0, readable: 0 });
        banks.len() - 1
    })
}

/// What programs have booked, and the state that an estimate is made from.
#[derive(Clone, Debug)]
pub(crate) struct Estimator {
    refresh: RefreshPolicy,
    /// By channel and bank, when what is booked ends.
    banks: Vec<Vec<Cycle>>,
    /// By channel, the same of the data bus.
    buses: Vec<Cycle>,
}

impl Estimator {
    /// Nothing is booked.
    pub(crate) fn new(refresh: RefreshPolicy, channels: &[Channel]) -> Estimator {
        let banks = channels.iter().map(|channel| vec![Cycle::ZERO; channel.topology().banks()]).collect();
        Estimator { refresh, banks, buses: vec![Cycle::ZERO; channels.len()] }
    }

    /// When a program would be done.
    pub(crate) fn done(&self, program: &Program, channels: &[Channel], now: Cycle) -> Cycle {
        self.start(program, channels, now) + duration(program, timings(program, channels))
    }

    fn start(&self, program: &Program, channels: &[Channel], now: Cycle) -> Cycle {
        let mut start = now;
        for thread in &program.threads {
            let channel = &channels[usize::from(thread.channel.0)];
            for (bank, row) in first_rows(thread) {
                start = start.max(self.bank_free(channel, bank, row, now));
            }
            if lines(thread) > 0 {
                start = start.max(self.bus_free(channel, now));
            }
        }
        start
    }

    fn bus_free(&self, channel: &Channel, now: Cycle) -> Cycle {
        let reads = channel.queued().queued(AccessKind::Read) as u64;
        let t_ccd = channel.device.timings().get(P::Ccd);
        self.buses[usize::from(channel.id.0)].max(now + t_ccd * reads)
    }

    fn bank_free(&self, channel: &Channel, bank: BankId, row: Row, now: Cycle) -> Cycle {
        let (device, index) = (&channel.device, channel.topology().index(bank));
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
        let mut free = own.max(self.banks[usize::from(channel.id.0)][index.get()]);
        let reads = channel.queued().queued_in(AccessKind::Read, index) as u64;
        if reads > 0 {
            free += n(P::Ccd) * reads + n(P::Rc);
        }
        let ledger = device.refresh(bank.rank);
        let falls_due = || ledger.next_due(now).is_some_and(|due| due <= free) && self.refresh.postpone_max == 0;
        if ledger.owed(now) > self.refresh.postpone_max || falls_due() {
            free += n(P::Rp) + n(P::Rfc);
        }
        free
    }

    /// Books a program that is planned.
    pub(crate) fn book(&mut self, program: &Program, channels: &[Channel], now: Cycle) {
        let start = self.start(program, channels, now);
        let timings = timings(program, channels);
        let end = start + duration(program, timings);
        for thread in &program.threads {
            let channel = usize::from(thread.channel.0);
            for (bank, _) in first_rows(thread) {
                self.banks[channel][channels[channel].topology().index(bank).get()] = end;
            }
            let lines = lines(thread);
            if lines > 0 {
                self.buses[channel] = start + timings.get(P::Ccd) * lines;
            }
        }
    }
}

fn timings<'a>(program: &Program, channels: &'a [Channel]) -> &'a Timings {
    channels[usize::from(program.threads[0].channel.0)].device.timings()
}

/// The row that a thread needs first in each of its banks.
fn first_rows(thread: &Thread) -> Vec<(BankId, Row)> {
    let mut rows: Vec<(BankId, Row)> = Vec::with_capacity(3);
    for step in &thread.steps {
        if let Step::Open { bank, row } = *step
            && !rows.iter().any(|(known, _)| *known == bank)
        {
            rows.push((bank, row));
        }
    }
    rows
}

/// Lines that a thread moves over the channel.
fn lines(thread: &Thread) -> u64 {
    let lines = |step: &Step| match step {
        Step::Read { run, .. } => u64::from(run.count),
        Step::Write { write, .. } => u64::from(write.run.count),
        _ => 0,
    };
    thread.steps.iter().map(lines).sum()
}

#[cfg(test)]
mod tests;
