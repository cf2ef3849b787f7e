//! Random controllers under load: reads, writes and copies that conflict on few rows, in bursts and
//! after pauses.

use std::collections::BTreeMap;

use dram_spec::{
    AddressMap, BankId, Channel, Column, CommandKind, Cycle, Cycles, Location, PhysicalAddress, PrechargePowerDown,
    Refresh, Row,
};
use memctrl::RefreshPolicy;
use memctrl::policy::copy::{CopyPolicy, POLICIES};
use memctrl::policy::row::RowPolicy;
use memctrl::policy::scheduler::{Bliss, Fcfs, FrFcfs, FrFcfsCap, ParBs, Scheduler};
use memctrl::{Config, PowerPolicy, QueueSettings};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rowclone::{FaultyRows, Operation};

use crate::cases::{Case, arb_map, arb_system};
use crate::common::{Outcome, config};
use crate::properties::{leaves_a_legal_stream_and_a_plain_memory, outcome, runs};

/// One of few lines of the memory, so that requests conflict.
#[derive(Clone, Copy, Debug)]
struct LineLocation {
    channel: u8,
    rank: u8,
    bank: u8,
    row: u32,
    column: u16,
}

/// Kind of a request, with sizes and offsets in bytes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Size, and offset within a line.
    Read(u64, u64),
    /// Number of lines.
    Write(u64),
    /// Size, and offset within a line.
    RaggedWrite(u64, u64),
    /// A page or a row, from the start of a row to the start of a row.
    PageCopy { row: bool },
    /// Size, and the offsets of source and destination within a line.
    Copy(u64, u64, u64),
    /// A page or a row.
    PageInit { row: bool, value: u8 },
    /// Size, and offset within a line.
    Init(u64, u64, u8),
}

/// Arrival of a request.
#[derive(Clone, Copy, Debug)]
enum When {
    /// Cycles after the arrival of its predecessor.
    Later(u64),
    /// When all its predecessors have completed.
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Draft {
    kind: Kind,
    to: LineLocation,
    from: LineLocation,
    when: When,
}

fn arb_line() -> impl Strategy<Value = LineLocation> {
    let place = (
        prop_oneof![3 => Just(0u8), 1 => 0u8..4],
        prop_oneof![3 => Just(0u8), 1 => 0u8..4],
        prop_oneof![3 => 0u8..2, 1 => 0u8..8],
    );
    (place, select(vec![0u32, 0, 1, 2, 130, 300]), prop_oneof![3 => 0u16..4, 1 => 0u16..64])
        .prop_map(|((channel, rank, bank), row, column)| LineLocation { channel, rank, bank, row, column })
}

fn arb_kind() -> impl Strategy<Value = Kind> {
    let lines = || prop_oneof![6 => Just(1u64), 2 => 1u64..5, 1 => 1u64..70];
    prop_oneof![
        8 => lines().prop_map(|lines| Kind::Read(lines * 64, 0)),
        2 => (1u64..300, 0u64..64).prop_map(|(bytes, offset)| Kind::Read(bytes, offset)),
        7 => lines().prop_map(Kind::Write),
        1 => (1u64..300, 0u64..64).prop_map(|(bytes, offset)| Kind::RaggedWrite(bytes, offset)),
        2 => any::<bool>().prop_map(|row| Kind::PageCopy { row }),
        1 => (1u64..40, 0u64..4).prop_map(|(lines, offset)| Kind::Copy(lines * 64, offset * 64, 0)),
        1 => (1u64..3000, 0u64..64, 0u64..64).prop_map(|(bytes, from, to)| Kind::Copy(bytes, from, to)),
        1 => (any::<bool>(), select(vec![0u8, 0, 7])).prop_map(|(row, value)| Kind::PageInit { row, value }),
        1 => (1u64..3000, 0u64..64, select(vec![0u8, 7]))
            .prop_map(|(bytes, offset, value)| Kind::Init(bytes, offset, value)),
    ]
}

fn arb_draft() -> impl Strategy<Value = Draft> {
    let when = prop_oneof![
        12 => Just(When::Later(0)),
        8 => (0u64..60).prop_map(When::Later),
        1 => (0u64..5000).prop_map(When::Later),
        1 => Just(When::Done),
    ];
    (arb_kind(), arb_line(), arb_line(), when).prop_map(|(kind, to, from, when)| Draft { kind, to, from, when })
}

/// No copies, or enough concurrent copies of rows that refreshes, which may be postponed for long,
/// must preempt them.
fn arb_copy_burst() -> impl Strategy<Value = Vec<Draft>> {
    let copy = (any::<bool>(), arb_line(), arb_line()).prop_map(|(row, to, from)| Draft {
        kind: Kind::PageCopy { row },
        to,
        from,
        when: When::Later(0),
    });
    prop_oneof![4 => Just(Vec::new()), 1 => proptest::collection::vec(copy, 20..40)]
}

impl LineLocation {
    fn address(self, config: &Config, column: u16) -> Option<u64> {
        let geometry = &config.system.geometry;
        let channel = Channel(self.channel % geometry.channels());
        let bank = BankId { rank: self.rank % geometry.ranks(), bank: self.bank };
        let location = Location { channel, bank, row: Row(self.row), column: Column(column), offset: 0 };
        config.planner.map().address(location).map(|address| address.0)
    }
}

impl Draft {
    fn resolve(self, config: &Config) -> Option<Operation> {
        let at =
            |line: LineLocation, offset| line.address(config, line.column).map(|base| PhysicalAddress(base + offset));
        let start = |line: LineLocation| line.address(config, 0).map(PhysicalAddress);
        let size = |row| if row { config.system.geometry.row_bytes() } else { 4096 };
        let operation = match self.kind {
            Kind::Read(bytes, offset) => Operation::Read { address: at(self.to, offset)?, bytes },
            Kind::Write(lines) => Operation::Write { address: at(self.to, 0)?, bytes: lines * 64 },
            Kind::RaggedWrite(bytes, offset) => Operation::Write { address: at(self.to, offset)?, bytes },
            Kind::PageCopy { row } => {
                Operation::Copy { src: start(self.from)?, dst: start(self.to)?, bytes: size(row) }
            }
            Kind::Copy(bytes, from, to) => Operation::Copy { src: at(self.from, from)?, dst: at(self.to, to)?, bytes },
            Kind::PageInit { row, value } => Operation::Init { dst: start(self.to)?, bytes: size(row), value },
            Kind::Init(bytes, offset, value) => Operation::Init { dst: at(self.to, offset)?, bytes, value },
        };
        config.planner.check(&operation).ok()?;
        Some(operation)
    }
}

fn arb_queues() -> impl Strategy<Value = QueueSettings> {
    let entries = || prop_oneof![2 => 1usize..9, 1 => 1usize..65, 1 => Just(64usize)];
    (entries(), entries(), 1usize..33, 1usize..4, any::<u16>(), any::<u16>()).prop_map(
        |(read_entries, write_entries, copy_entries, admission_per_cycle, high, low)| {
            let drain_high = 1 + usize::from(high) % write_entries;
            let drain_low = usize::from(low) % drain_high;
            QueueSettings { read_entries, write_entries, copy_entries, admission_per_cycle, drain_high, drain_low }
        },
    )
}

/// Settings of a controller other than its memory.
#[derive(Clone, Debug)]
struct ControllerSettings {
    policy: &'static dyn CopyPolicy,
    scheduler: Box<dyn Scheduler>,
    row_policy: RowPolicy,
    queues: QueueSettings,
    copy_hold_max: Option<u64>,
    postpone_max: u64,
    power: [Option<u64>; 2],
    slow_exit: bool,
    warm_up: u64,
    epoch: Option<u64>,
    staging_lines: usize,
}

fn arb_controller_settings() -> impl Strategy<Value = ControllerSettings> {
    let scheduler = prop_oneof![
        1 => Just(Box::new(Fcfs) as Box<dyn Scheduler>),
        2 => Just(Box::new(FrFcfs) as _),
        1 => (1u32..9).prop_map(|cap| Box::new(FrFcfsCap { cap }) as _),
        1 => (1u32..6, 1u64..3000).prop_map(|(threshold, every)| Box::new(Bliss::new(threshold, Cycles(every))) as _),
        1 => (1usize..6).prop_map(|cap| Box::new(ParBs::new(cap)) as _),
    ];
    let rows = prop_oneof![
        2 => Just(RowPolicy::Open),
        2 => Just(RowPolicy::Closed),
        1 => (0u64..500).prop_map(|after| RowPolicy::Timeout { after: Cycles(after) }),
    ];
    let hold = prop_oneof![1 => Just(None), 2 => (1u64..1000).prop_map(Some), 1 => (1u64..60).prop_map(Some)];
    let idle = || prop_oneof![2 => Just(None), 1 => (0u64..100).prop_map(Some), 1 => (0u64..3000).prop_map(Some)];
    let counted = (
        prop_oneof![1 => Just(0u64), 1 => 0u64..5000],
        prop_oneof![1 => Just(None), 3 => (50u64..5000).prop_map(Some), 1 => (1u64..50).prop_map(Some)],
    );
    let choices = (select(&POLICIES[..]), scheduler, rows, arb_queues(), hold);
    let rest = (0u64..=8, [idle(), idle()], any::<bool>(), counted, prop_oneof![1usize..20, 1usize..513]);
    (choices, rest).prop_map(
        |(
            (policy, scheduler, row_policy, queues, copy_hold_max),
            (postpone_max, power, slow_exit, (warm_up, epoch), staging_lines),
        )| ControllerSettings {
            policy,
            scheduler,
            row_policy,
            queues,
            copy_hold_max,
            postpone_max,
            power,
            slow_exit,
            warm_up,
            epoch,
            staging_lines,
        },
    )
}

/// Up to 150 requests on a random system with a random controller.
pub fn arb_load() -> impl Strategy<Value = Case> {
    let faulty = proptest::collection::vec((0u8..8, select(vec![0u32, 1, 2, 127])), 0..2);
    let drafts =
        prop_oneof![proptest::collection::vec(arb_draft(), 1..20), proptest::collection::vec(arb_draft(), 1..150)];
    (arb_system(), arb_map(), arb_controller_settings(), faulty, (arb_copy_burst(), drafts), any::<u64>())
        .prop_filter_map(
            "a request that fits the memory",
            |(mut system, map, mut settings, faulty, (burst, drafts), seed)| {
                if !burst.is_empty() {
                    system.refresh = Refresh::Every { t_refi_ps: 1_950_000 };
                    settings.postpone_max = 8;
                }
                if settings.slow_exit {
                    system.precharge_power_down = PrechargePowerDown::SlowExit;
                }
                let map = AddressMap::new(system.geometry, &map).ok()?;
                let faulty: FaultyRows =
                    faulty.into_iter().map(|(bank, row)| (Channel(0), BankId { rank: 0, bank }, Row(row))).collect();
                // Without refresh no event would wake a rank in time.
                let [power_down_after, self_refresh_after] =
                    settings.power.map(|after| after.filter(|_| system.refresh != Refresh::Off).map(Cycles));
                let config = Config {
                    staging_lines: settings.staging_lines,
                    copy_hold_max: settings.copy_hold_max.map(Cycles),
                    queues: settings.queues,
                    scheduler: settings.scheduler,
                    row_policy: settings.row_policy,
                    refresh: RefreshPolicy { postpone_max: settings.postpone_max, ..RefreshPolicy::default() },
                    power: PowerPolicy { power_down_after, self_refresh_after },
                    warm_up: Cycles(settings.warm_up),
                    epoch: settings.epoch.map(Cycles),
                    ..config(system, map, faulty, settings.policy)
                };
                let mut now = 0;
                let mut operations = Vec::new();
                for draft in burst.iter().chain(&drafts) {
                    let at = match draft.when {
                        When::Later(gap) => {
                            now += gap;
                            Some(Cycle(now))
                        }
                        When::Done => None,
                    };
                    operations.extend(draft.resolve(&config).map(|operation| (operation, at)));
                }
                (!operations.is_empty()).then_some(Case { config, seed, operations })
            },
        )
}

proptest! {
    #![proptest_config(runs(60))]

    /// Under load, every stream is legal (`run` asserts it), memory equals a flat array, reads
    /// return its data, and every request completes.
    #[test]
    fn a_loaded_controller_leaves_a_legal_stream_and_a_plain_memory(case in arb_load()) {
        leaves_a_legal_stream_and_a_plain_memory(&case)?;
    }
}

/// Events that occurred in a run under load.
fn reached(case: &Case, outcome: &Outcome) -> Vec<String> {
    let figures = &outcome.stats.whole;
    let outcomes = |of: &memctrl::stats::Outcomes| [of.hits, of.misses, of.conflicts];
    let ([read_hits, read_misses, read_conflicts], [write_hits, write_misses, write_conflicts]) =
        (outcomes(&figures.reads), outcomes(&figures.writes));
    let counts = [
        ("read hits", read_hits),
        ("read misses", read_misses),
        ("read conflicts", read_conflicts),
        ("write hits", write_hits),
        ("write misses", write_misses),
        ("write conflicts", write_conflicts),
        ("forwarding", figures.forwarded),
        ("drains", figures.write_drains),
        ("waits for a thread's banks", figures.blocked_by_copies.count()),
        ("preempted for reads", figures.preempted_for_reads),
        ("preempted for refresh", figures.preempted_for_refresh),
        ("REF", figures.commands[CommandKind::Refresh]),
        ("power-down", figures.commands[CommandKind::PowerDownEnter]),
        ("self-refresh", figures.commands[CommandKind::SelfRefreshEnter]),
        ("epochs", u64::from(outcome.stats.epochs.len() > 1)),
    ];
    let mut names: Vec<String> =
        counts.iter().filter(|(_, count)| *count > 0).map(|(name, _)| (*name).to_string()).collect();
    names.extend(figures.parts.iter().map(|(mechanism, ..)| mechanism.name().to_string()));
    names.extend(outcome.log.commands.iter().map(|issued| issued.command.mnemonic().to_string()));
    let used = |channel| outcome.log.commands.iter().any(|issued| issued.channel == Channel(channel));
    names.extend([1, 3].into_iter().filter(|&channel| used(channel)).map(|channel| format!("channel {channel}")));
    if full_queue(case, outcome) {
        names.push("full read queue".into());
    }
    if waits_for_a_copy(outcome) {
        names.push("blocked access".into());
    }
    names
}

fn full_queue(case: &Case, outcome: &Outcome) -> bool {
    outcome.stats.whole.read_queue.most == case.config.queues.read_entries as u64
}

/// Whether a read that arrived during a copy to some of its bytes started after the copy.
fn waits_for_a_copy(outcome: &Outcome) -> bool {
    let bytes = |operation: &Operation| operation.target().0..operation.target().0 + operation.bytes();
    outcome.completions.iter().enumerate().any(|(index, read)| {
        matches!(read.operation, Operation::Read { .. })
            && outcome.completions[..index].iter().any(|copy| {
                let (of_read, of_copy) = (bytes(&read.operation), bytes(&copy.operation));
                let overlap = of_read.start < of_copy.end && of_copy.start < of_read.end;
                copy.operation.is_copy()
                    && overlap
                    && read.arrival < copy.done
                    && read.first_command.is_some_and(|first| first >= copy.done)
            })
    })
}

/// The loads cover all events of a controller.
#[test]
fn the_loads_cover_all_events_of_a_controller() {
    let mut runner = TestRunner::deterministic();
    let strategy = arb_load();
    let mut runs_with: BTreeMap<String, usize> = BTreeMap::new();
    let cases = 150;
    for _ in 0..cases {
        let case = strategy.new_tree(&mut runner).expect("cases can be drawn").current();
        let mut names = reached(&case, &outcome(&case));
        names.sort_unstable();
        names.dedup();
        for name in names {
            *runs_with.entry(name).or_default() += 1;
        }
    }
    let wanted = [
        "read hits",
        "read misses",
        "read conflicts",
        "write hits",
        "write misses",
        "write conflicts",
        "forwarding",
        "drains",
        "waits for a thread's banks",
        "preempted for reads",
        "preempted for refresh",
        "REF",
        "power-down",
        "self-refresh",
        "epochs",
        "fpm",
        "psm",
        "psm2",
        "channel",
        "ACT",
        "PRE",
        "PREA",
        "RD",
        "RDA",
        "WR",
        "WRA",
        "TRANSFER",
        "PDX",
        "SRX",
        "channel 1",
        "channel 3",
        "full read queue",
        "blocked access",
    ];
    let seldom: Vec<_> = wanted.iter().filter(|name| runs_with.get(**name).is_none_or(|&runs| runs < 5)).collect();
    assert!(seldom.is_empty(), "in fewer than 5 runs of {cases}: {seldom:?}, of {runs_with:?}");
}
