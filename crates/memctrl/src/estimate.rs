//! Estimates of the duration and the energy of programs, for the copy policies `fastest` and
//! `least-energy`.
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
//! - The program takes as long as its steps take on idle banks ([`duration`]).
//!
//! Each program planned under `fastest` is booked: its banks until its end, and the bus of each of
//! its channels for tCCD per line.

use dram_core::{P, Timings};
use dram_spec::{BankId, CommandKind, Cycles, PerKind, Picojoule};
use rowclone::{Program, Step, Thread};

/// Dynamic energy of one command of each kind, for all chips of the rank together, including I/O on
/// the channel. The price of an ACT includes the PRE that follows, so that of a PRE is 0. The
/// caller provides the prices, as the controller has no currents.
pub type PriceTable = PerKind<Picojoule>;

/// Dynamic energy of a program: the sum over its steps.
pub fn energy(program: &Program, prices: &PriceTable) -> Picojoule {
    let price = |step: &Step| match step {
        Step::Open { .. } => prices[CommandKind::Activate],
        Step::CopyOpen { .. } => prices[CommandKind::CopyActivate],
        Step::Close { .. } => prices[CommandKind::Precharge],
        Step::Transfer { count, .. } => prices[CommandKind::Transfer] * f64::from(*count),
        Step::Read { run, .. } => prices[CommandKind::Read] * f64::from(run.count),
        Step::Write { write, .. } => prices[CommandKind::Write] * f64::from(write.run.count),
    };
    program.threads.iter().flat_map(|thread| &thread.steps).map(price).sum()
}

/// State of a bank during a program.
#[derive(Clone, Copy, Debug)]
struct IdleBank {
    bank: BankId,
    /// Earliest cycle of the next ACT.
    ready: u64,
    /// Cycle of the last ACT.
    opened: u64,
    /// Earliest cycle at which the bank can be closed.
    closable: u64,
    /// Earliest cycle at which a line transferred to the bank can be transferred out.
    readable: u64,
}

/// Duration of a program on idle banks, from its first ACT until its last bank is ready. 4 KB at
/// DDR3-1066 8-8-8: FPM 48 cycles, PSM 290, 2 x PSM 562, over the channel 558 within a bank, 546
/// between two, and 286 to fill.
pub fn duration(program: &Program, timings: &Timings) -> Cycles {
    let mut clock = IdleClock { timings, data: 0, data_first: 0, is_pipelined: program.is_pipelined(), end: 0 };
    // Threads that read precede threads that write, as these wait for the data.
    let reads = |thread: &&Thread| thread.steps.iter().any(|step| matches!(step, Step::Read { .. }));
    program.threads.iter().filter(reads).for_each(|thread| clock.run(thread));
    program.threads.iter().filter(|thread| !reads(thread)).for_each(|thread| clock.run(thread));
    Cycles(clock.end)
}

/// Timing of a program's steps on idle banks.
struct IdleClock<'a> {
    timings: &'a Timings,
    /// Arrival of the last line read, and of the first.
    data: u64,
    data_first: u64,
    is_pipelined: bool,
    /// Cycle at which all banks so far are ready.
    end: u64,
}

impl IdleClock<'_> {
    fn run(&mut self, thread: &Thread) {
        let n = |parameter| self.timings.get(parameter).0;
        let (t_ccd, recovery) = (n(P::Ccd), n(P::Cwl) + n(P::Burst) + n(P::Wr));
        let mut banks: Vec<IdleBank> = Vec::with_capacity(3);
        // Earliest next ACT by tRRD, and next column step of each kind.
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
