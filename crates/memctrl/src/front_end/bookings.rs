//! Bookings of the programs planned under `fastest`, and estimates of their completion.
//!
//! An estimate is made when a block is planned, for each of its parts separately, from the state of
//! that cycle:
//!
//! - A bank is free at the latest of the following: the present cycle, plus tXP in power-down (tDLLK
//!   in self-refresh); if another row is open than the first one that the program requires, tRP
//!   after the bank can be closed; if the bank is closed, the earliest cycle of an ACT; the end of
//!   its bookings. Each read queued for the bank adds tCCD, and all of them together tRC. If the
//!   rank owes more REFs than it may, or another one becomes due by then and may not be postponed,
//!   tRP + tRFC are added.
//! - A program starts when all its banks are free. If it uses the channel, it starts no earlier than
//!   the data bus is free: after tCCD for each read queued on the channel, and after the bookings of
//!   the bus.
//! - The program takes as long as it takes on an idle memory ([`Durations`]).
//!
//! Each program planned under `fastest` is booked: its banks until its end, and the bus of each of
//! its channels for tCCD per line.

use dram_core::{P, Power};
use dram_spec::{BankId, Cycle, Cycles, Row};
use rowclone::{CopyStep, CopyThread, Program};

use super::durations::Durations;
use crate::access::AccessKind;
use crate::channel::Channel;
use crate::config::{Config, RefreshPolicy};
use crate::policy::copy::Forecast;

/// Bookings of programs, and the state for estimates.
#[derive(Clone, Debug)]
pub(crate) struct Estimator {
    refresh: RefreshPolicy,
    durations: Durations,
    /// End of the bookings of each bank, by channel and bank.
    banks: Vec<Vec<Cycle>>,
    /// End of the bookings of each channel's data bus.
    buses: Vec<Cycle>,
}

impl Estimator {
    /// Starts without bookings.
    pub(crate) fn new(config: &Config, channels: &[Channel]) -> Estimator {
        let banks = channels.iter().map(|channel| vec![Cycle::ZERO; channel.topology().banks()]).collect();
        Estimator {
            refresh: config.refresh,
            durations: Durations::new(config),
            banks,
            buses: vec![Cycle::ZERO; channels.len()],
        }
    }

    /// Completion of a program.
    pub(crate) fn done(&self, program: &Program, channels: &[Channel], now: Cycle) -> Cycle {
        self.start(program, channels, now) + self.durations.of(program)
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

    /// Books a planned program.
    pub(crate) fn book(&mut self, program: &Program, channels: &[Channel], now: Cycle) {
        let start = self.start(program, channels, now);
        let end = start + self.durations.of(program);
        for thread in &program.threads {
            let channel = usize::from(thread.channel.0);
            for (bank, _) in first_rows(thread) {
                self.banks[channel][channels[channel].topology().index(bank).get()] = end;
            }
            let lines = lines(thread);
            if lines > 0 {
                self.buses[channel] = start + channels[channel].device.timings().get(P::Ccd) * lines;
            }
        }
    }
}

/// First row that a thread requires in each of its banks.
fn first_rows(thread: &CopyThread) -> Vec<(BankId, Row)> {
    let mut rows: Vec<(BankId, Row)> = Vec::with_capacity(3);
    for step in &thread.steps {
        if let CopyStep::Open { bank, row } = *step
            && !rows.iter().any(|(known, _)| *known == bank)
        {
            rows.push((bank, row));
        }
    }
    rows
}

/// Lines that a thread moves over the channel.
fn lines(thread: &CopyThread) -> u64 {
    let lines = |step: &CopyStep| match step {
        CopyStep::Read { run, .. } => u64::from(run.count),
        CopyStep::Write { write, .. } => u64::from(write.run.count),
        _ => 0,
    };
    thread.steps.iter().map(lines).sum()
}

/// The estimates of a cycle.
pub(crate) struct Present<'a> {
    pub(crate) estimator: &'a Estimator,
    pub(crate) channels: &'a [Channel],
    pub(crate) now: Cycle,
}

impl Forecast for Present<'_> {
    fn done(&self, program: &Program) -> Cycle {
        self.estimator.done(program, self.channels, self.now)
    }
}

#[cfg(test)]
mod tests;
