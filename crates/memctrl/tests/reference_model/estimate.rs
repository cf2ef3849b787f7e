//! The estimates of the copy policy `fastest`, from the documentation of the module `bookings`.

use dram_core::{P, Power};
use dram_spec::{BankId, Row};
use memctrl::{Config, Durations};
use rowclone::{CopyStep, CopyThread, Program};

use super::access::Kind;
use super::channel::Channel;
use super::front::FrontEnd;

/// Ends of the bookings: by channel, of each bank, and of the data bus.
pub struct Bookings {
    banks: Vec<Vec<(BankId, u64)>>,
    buses: Vec<u64>,
    durations: Durations,
}

impl Bookings {
    pub fn new(config: &Config) -> Bookings {
        let channels = usize::from(config.system.geometry.channels());
        Bookings { banks: vec![Vec::new(); channels], buses: vec![0; channels], durations: Durations::new(config) }
    }

    fn bank(&self, channel: usize, bank: BankId) -> u64 {
        let booked = self.banks[channel].iter().filter(|(booked, _)| *booked == bank);
        booked.map(|&(_, end)| end).max().unwrap_or(0)
    }
}

impl FrontEnd {
    /// Completion of a program.
    pub fn done(&self, program: &Program, now: u64, channels: &[Channel]) -> u64 {
        self.start(program, now, channels) + self.bookings.durations.of(program).0
    }

    fn start(&self, program: &Program, now: u64, channels: &[Channel]) -> u64 {
        let mut start = now;
        for thread in &program.threads {
            let channel = &channels[usize::from(thread.channel.0)];
            for (bank, row) in first_rows(thread) {
                start = start.max(self.bank_free(channel, bank, row, now));
            }
            if lines(thread) > 0 {
                let reads = channel.queued(Kind::Read).count() as u64;
                let t_ccd = channel.device.timings().get(P::Ccd).0;
                start = start.max(now + t_ccd * reads).max(self.bookings.buses[usize::from(thread.channel.0)]);
            }
        }
        start
    }

    fn bank_free(&self, channel: &Channel, bank: BankId, row: Row, now: u64) -> u64 {
        let device = &channel.device;
        let n = |parameter| device.timings().get(parameter).0;
        let awake = match device.power(bank.rank) {
            Power::Awake => now,
            Power::ActivePowerDown { .. } | Power::PrechargePowerDown { .. } => now + n(P::Xp),
            Power::SelfRefresh { .. } => now + n(P::Dllk),
        };
        let open = match device.open_row(bank) {
            Some(open) if open == row => awake,
            Some(_) => awake.max(device.closable(bank).0) + n(P::Rp),
            None => awake.max(device.ready(bank).0),
        };
        let mut free = open.max(self.bookings.bank(usize::from(channel.id.0), bank));
        let reads = channel.queued(Kind::Read).filter(|read| read.place.bank == bank).count() as u64;
        if reads > 0 {
            free += n(P::Ccd) * reads + n(P::Rc);
        }
        let ledger = device.refresh(bank.rank);
        let most = self.config.refresh.postpone_max;
        let falls_due = ledger.next_due(dram_spec::Cycle(now)).is_some_and(|due| due.0 <= free);
        if ledger.owed(dram_spec::Cycle(now)) > most || most == 0 && falls_due {
            free += n(P::Rp) + n(P::Rfc);
        }
        free
    }

    /// Books a planned program.
    pub fn book(&mut self, program: &Program, now: u64, channels: &[Channel]) {
        let timings = channels[0].device.timings();
        let start = self.start(program, now, channels);
        let end = start + self.bookings.durations.of(program).0;
        for thread in &program.threads {
            let channel = usize::from(thread.channel.0);
            self.bookings.banks[channel].extend(first_rows(thread).into_iter().map(|(bank, _)| (bank, end)));
            if lines(thread) > 0 {
                self.bookings.buses[channel] = start + timings.get(P::Ccd).0 * lines(thread);
            }
        }
    }
}

/// First row that a thread requires in each of its banks.
fn first_rows(thread: &CopyThread) -> Vec<(BankId, Row)> {
    let mut rows: Vec<(BankId, Row)> = Vec::new();
    for step in &thread.steps {
        if let CopyStep::Open { bank, row } = *step
            && rows.iter().all(|(known, _)| *known != bank)
        {
            rows.push((bank, row));
        }
    }
    rows
}

/// Lines that a thread moves over the channel.
fn lines(thread: &CopyThread) -> u64 {
    let moves = thread.steps.iter().filter(|step| matches!(step, CopyStep::Read { .. } | CopyStep::Write { .. }));
    moves.filter_map(CopyStep::lines).map(u64::from).sum()
}
