//! The commands of accesses compared with a choice over all candidates in every cycle (rules 12 to
//! 14 and 25 to 27 of `docs/controller.md`).

use std::sync::Arc;

use dram_core::Device;
use dram_spec::address::{AddressMap, Preset};
use dram_spec::{Standard, 
    AutoPrecharge, BankId, BankIndex, Column, Command, CommandLog, Cycle, Cycles, Density, Geometry, PhysicalAddress,
    RawGeometry,
    Refresh, RequestId, Row, SourceId, System, Width,
};
use proptest::prelude::*;
use rowclone::{FaultyRows, Planner};

use crate::access::{Access, AccessKind};
use crate::channel::Channel;
use crate::config::{Config, Queues};
use crate::policy::copy::BASELINE;
use crate::policy::row::RowPolicy;
use crate::policy::scheduler::{Fcfs, Fifo, FrFcfs, FrFcfsCap, Scheduler};

const DRAIN_HIGH: usize = 4;
const DRAIN_LOW: usize = 1;
const CAP: u32 = 2;
const TIMEOUT: u64 = 30;
const ROWS: [RowPolicy; 3] = [RowPolicy::Open, RowPolicy::Closed, RowPolicy::Timeout { after: Cycles(TIMEOUT) }];

fn system() -> System {
    let (density, width) = (Density::Gb2, Width::X8);
    let rows_per_subarray = 512.into();
    let (standard, row_bytes) = (Standard::Ddr3, 4096);
    let raw = RawGeometry { standard, channels: 1, ranks: 2, density, width, row_bytes, rows_per_subarray };
    let paper = System::paper(1, density, width);
    System { geometry: Geometry::try_from(raw).unwrap(), refresh: Refresh::Off, ..paper }
}

fn config(scheduler: &'static str, row_policy: RowPolicy) -> Config {
    let map = AddressMap::preset(system().geometry, Preset::RowInterleaved);
    let planner = Arc::new(Planner::new(map, FaultyRows::default()));
    let scheduler: Box<dyn Scheduler> = match scheduler {
        "fcfs" => Box::new(Fcfs),
        "fifo" => Box::new(Fifo),
        "fr-fcfs" => Box::new(FrFcfs),
        _ => Box::new(FrFcfsCap { cap: CAP }),
    };
    let queues = Queues { drain_high: DRAIN_HIGH, drain_low: DRAIN_LOW, ..Queues::default() };
    Config { queues, scheduler, row_policy, ..Config::new(system(), planner, BASELINE) }
}

/// An access of the model, in queueing order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Queued {
    kind: AccessKind,
    bank: BankId,
    row: Row,
    column: Column,
}

/// State of a bank that is not part of the device.
#[derive(Clone, Copy, Debug, Default)]
struct RowUse {
    opened_for: Option<AccessKind>,
    served: u32,
}

/// A channel without threads and refresh that examines every candidate in every cycle.
struct Naive {
    scheduler: &'static str,
    rows: RowPolicy,
    device: Device,
    list: Vec<Queued>,
    banks: Vec<RowUse>,
    mode: AccessKind,
    log: CommandLog,
}

/// A command for the access at an index of the list.
type Candidate = (Command, usize);

impl Naive {
    fn new(scheduler: &'static str, rows: RowPolicy) -> Naive {
        let device = Device::new(&system(), None);
        let banks = vec![RowUse::default(); device.topology().banks()];
        let (list, mode, log) = (Vec::new(), AccessKind::Read, CommandLog::default());
        Naive { scheduler, rows, device, list, banks, mode, log }
    }

    fn row_use(&mut self, bank: BankId) -> &mut RowUse {
        let index = self.device.topology().index(bank);
        &mut self.banks[index.get()]
    }

    /// Priority of an access; the least is first.
    fn priority(&self, at: usize) -> (bool, usize) {
        let Queued { bank, row, .. } = self.list[at];
        let is_hit = self.device.open_row(bank) == Some(row);
        let served = self.banks[self.device.topology().index(bank).get()].served;
        let has_precedence = match self.scheduler {
            "fcfs" | "fifo" => false,
            "fr-fcfs" => is_hit,
            _ => is_hit && served < CAP,
        };
        (!has_precedence, at)
    }

    fn update_mode(&mut self) {
        if self.scheduler == "fifo" {
            self.mode = self.list.first().map_or(self.mode, |oldest| oldest.kind);
            return;
        }
        let count = |kind| self.list.iter().filter(|access| access.kind == kind).count();
        let (reads, writes) = (count(AccessKind::Read), count(AccessKind::Write));
        self.mode = match self.mode {
            AccessKind::Read if writes > 0 && (writes >= DRAIN_HIGH || reads == 0) => AccessKind::Write,
            AccessKind::Write if writes == 0 || (writes <= DRAIN_LOW && reads > 0) => AccessKind::Read,
            mode => mode,
        };
    }

    fn candidate(&self, index: BankIndex) -> Option<Candidate> {
        let (bank, open) = (self.device.topology().bank(index), self.device.row_in(index));
        let unused = self.banks[index.get()].opened_for.filter(|&kind| kind != self.mode);
        let may = |access: &Queued| match unused {
            Some(kind) => access.kind == kind && Some(access.row) == open,
            None => access.kind == self.mode,
        };
        let in_bank = (0..self.list.len()).filter(|&at| self.list[at].bank == bank && may(&self.list[at]));
        let best = in_bank.min_by_key(|&at| self.priority(at))?;
        let Queued { kind, row, column, .. } = self.list[best];
        let others = self.list.iter().filter(|other| (other.bank, other.row) == (bank, row)).count() - 1;
        let closes = self.rows == RowPolicy::Closed && others == 0;
        let auto_precharge = if closes { AutoPrecharge::Yes } else { AutoPrecharge::No };
        let command = match (open, kind) {
            (None, _) => Command::Activate { bank, row },
            (Some(open), _) if open != row => Command::Precharge { bank },
            (_, AccessKind::Read) => Command::Read { bank, column, auto_precharge },
            (_, AccessKind::Write) => Command::Write { bank, column, auto_precharge },
        };
        Some((command, best))
    }

    /// Command of this cycle.
    fn choose(&self, now: Cycle) -> Option<(Command, Option<usize>)> {
        let other = self.mode.other();
        let direction = if self.banks.iter().any(|bank| bank.opened_for == Some(other)) { other } else { self.mode };
        let may_go = |&(command, at): &Candidate| match command {
            Command::Read { .. } | Command::Write { .. } => self.list[at].kind == direction,
            _ => true,
        };
        let is_allowed = |command: &Command| self.device.earliest(command).is_ok_and(|hold| hold.until() <= now);
        let indices = || self.device.topology().indices();
        let mut candidates: Vec<Candidate> = indices().filter_map(|bank| self.candidate(bank)).filter(may_go).collect();
        candidates.sort_by_key(|&(_, at)| self.priority(at));
        if ["fcfs", "fifo"].contains(&self.scheduler) {
            candidates.truncate(1);
        }
        let of_accesses = candidates.into_iter().find(|(command, _)| is_allowed(command));
        if let Some((command, at)) = of_accesses {
            return Some((command, Some(at)));
        }
        let times_out = |bank: &BankId| {
            let is_idle = self.device.last_in_bank(*bank).is_some_and(|last| last + Cycles(TIMEOUT) <= now);
            let row = self.device.open_row(*bank);
            let is_needed = self.list.iter().any(|access| access.bank == *bank && Some(access.row) == row);
            is_idle && row.is_some() && !is_needed && is_allowed(&Command::Precharge { bank: *bank })
        };
        let bank = indices().map(|bank| self.device.topology().bank(bank)).find(times_out);
        bank.filter(|_| matches!(self.rows, RowPolicy::Timeout { .. })).map(|bank| (Command::Precharge { bank }, None))
    }

    fn cycle(&mut self, now: Cycle) {
        self.update_mode();
        let Some((command, access)) = self.choose(now) else { return };
        self.device.issue(now, &command);
        self.log.push(now, dram_spec::Channel(0), &command);
        match command {
            Command::Activate { bank, .. } => {
                let kind = access.map(|at| self.list[at].kind);
                *self.row_use(bank) = RowUse { opened_for: kind, served: 0 };
            }
            Command::Precharge { bank } => *self.row_use(bank) = RowUse::default(),
            Command::Read { bank, .. } | Command::Write { bank, .. } => {
                self.list.remove(access.expect("a column command serves an access"));
                let row = self.row_use(bank);
                (row.opened_for, row.served) = (None, row.served + 1);
            }
            _ => unreachable!("accesses need no other command"),
        }
    }
}

/// Issues the commands of all cycles before `until`.
fn advance(channel: &mut Channel, until: Cycle, log: &mut CommandLog) {
    let mut accesses = Accesses::new(Cycle::NEVER);
    while channel.advance(&Limits::until(until), &mut accesses, log).is_some() {}
}

fn arb_accesses() -> impl Strategy<Value = Vec<(u64, Queued)>> {
    let kind = prop::sample::select(vec![AccessKind::Read, AccessKind::Read, AccessKind::Write]);
    let bank = (0..2_u8, 0..3_u8).prop_map(|(rank, bank)| BankId { rank, bank });
    let gap = prop_oneof![3 => Just(0), 4 => 1..12_u64, 1 => 40..90_u64];
    let access = (kind, bank, 0..3_u32, 0..64_u16).prop_map(|(kind, bank, row, column)| Queued {
        kind,
        bank,
        row: Row(row),
        column: Column(column),
    });
    prop::collection::vec((gap, access), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_command_is_the_one_that_the_rules_choose_among_all_candidates(
        accesses in arb_accesses(),
        scheduler in prop::sample::select(vec!["fcfs", "fifo", "fr-fcfs", "fr-fcfs-cap"]),
        rows in prop::sample::select(ROWS.to_vec()),
    ) {
        let config = config(scheduler, rows);
        let mut channel = Channel::new(dram_spec::Channel(0), Device::new(&system(), None), &config);
        let (mut log, mut naive, mut now) = (CommandLog::default(), Naive::new(scheduler, rows), Cycle(0));
        let topology = channel.topology();
        for (id, (gap, queued)) in (0..).zip(accesses) {
            for _ in 0..gap {
                naive.cycle(now);
                now += Cycles(1);
            }
            advance(&mut channel, now, &mut log);
            let Queued { kind, bank, row, column } = queued;
            let (bank, source) = (topology.index(bank), SourceId(0));
            channel.queues().take_entry(kind, now);
            let (id, filter) = (RequestId(id), crate::queues::line_hash(bank, row, column));
            let (arrival, address, slot) = (now, PhysicalAddress(0), 0);
            let access = Access { id, arrival, address, slot, kind, source, bank, row, column, filter };
            channel.queue(&access, now);
            naive.list.push(queued);
        }
        for _ in 0..2000 {
            naive.cycle(now);
            now += Cycles(1);
        }
        advance(&mut channel, now, &mut log);
        prop_assert!(naive.list.is_empty(), "all accesses are served");
        prop_assert_eq!(log.commands, naive.log.commands);
    }
}
