//! State queries of the device, compared with the log of its commands.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use dram_core::{Device, KeptKind, Kind, Power, Refusal};
use dram_spec::geometry::PAPER_ROW_BYTES;
use dram_spec::{
    AutoPrecharge, BankId, Column, Command, Cycle, Cycles, Density, Geometry, PrechargePowerDown, RawGeometry, Refresh,
    Row, SpeedBin, Standard, System, Width,
};
use proptest::prelude::*;
use proptest::sample::select;

const RANKS: u8 = 2;
const BANKS: u8 = 8;

/// Two ranks of eight banks at DDR3-1066 without refresh, so that REFs need not be issued.
fn system(precharge_power_down: PrechargePowerDown) -> System {
    let (density, width) = (Density::Gb1, Width::X8);
    let (row_bytes, rows_per_subarray) = (PAPER_ROW_BYTES, 512.into());
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 1,
        ranks: RANKS.into(),
        density,
        width,
        row_bytes,
        rows_per_subarray,
    };
    System {
        precharge_power_down,
        refresh: Refresh::Off,
        ..System::new(SpeedBin::named("1066G").unwrap(), Geometry::try_from(raw).unwrap())
    }
}

/// Rows of two subarrays, so that some copy activations are dropped.
fn arb_command() -> impl Strategy<Value = Command> {
    let place = (0..RANKS, select(vec![0u8, 1, 7]), select(vec![0u8, 1, 7]), select(vec![0u32, 1, 512]));
    (0u8..16, place, any::<bool>()).prop_map(|(kind, (rank, bank, other, row), close)| {
        let (bank, dst) = (BankId { rank, bank }, BankId { rank, bank: other });
        let auto_precharge = if close { AutoPrecharge::Yes } else { AutoPrecharge::No };
        let column = Column(0);
        match kind {
            0..=4 => Command::Activate { bank, row: Row(row) },
            5 => Command::Precharge { bank },
            6 => Command::PrechargeAll { rank },
            7 => Command::Read { bank, column, auto_precharge },
            8 => Command::Write { bank, column, auto_precharge },
            9 | 10 => Command::Transfer { src: bank, src_column: column, dst, dst_column: column },
            11 => Command::Refresh { rank },
            12 => Command::PowerDownEnter { rank },
            13 => Command::PowerDownExit { rank },
            14 => Command::SelfRefreshEnter { rank },
            _ => Command::SelfRefreshExit { rank },
        }
    })
}

/// Banks that a command addresses; none for a rank-wide command.
fn banks(command: &Command) -> Vec<BankId> {
    match *command {
        Command::Activate { bank, .. }
        | Command::Precharge { bank }
        | Command::Read { bank, .. }
        | Command::Write { bank, .. } => vec![bank],
        Command::Transfer { src, dst, .. } => vec![src, dst],
        _ => Vec::new(),
    }
}

fn all_banks() -> impl Iterator<Item = BankId> {
    (0..RANKS).flat_map(|rank| (0..BANKS).map(move |bank| BankId { rank, bank }))
}

type Log = Vec<(Cycle, Command)>;

/// Open row of a bank, and the cycle of its activation.
fn open_row(system: &System, log: &Log, id: BankId) -> Option<(Row, Cycle)> {
    let mut open: Option<(Row, Cycle)> = None;
    for (at, command) in log {
        match *command {
            Command::Activate { bank, row } if bank == id => {
                let drops = |(from, _)| system.geometry.subarray(from) != system.geometry.subarray(row);
                if !open.is_some_and(drops) {
                    open = Some((row, *at));
                }
            }
            Command::Read { bank, auto_precharge: AutoPrecharge::Yes, .. }
            | Command::Write { bank, auto_precharge: AutoPrecharge::Yes, .. }
            | Command::Precharge { bank }
                if bank == id =>
            {
                open = None;
            }
            Command::PrechargeAll { rank } if rank == id.rank => open = None,
            _ => {}
        }
    }
    open
}

/// Power state of a rank by its last PDE, PDX, SRE or SRX.
fn power(log: &Log, rank: u8, any_open: bool) -> Power {
    let changes = |command: &Command| {
        use Command::{PowerDownEnter, PowerDownExit, SelfRefreshEnter, SelfRefreshExit};
        matches!(
            command,
            PowerDownEnter { .. } | PowerDownExit { .. } | SelfRefreshEnter { .. } | SelfRefreshExit { .. }
        )
    };
    match log.iter().rev().find(|(_, command)| command.rank() == rank && changes(command)) {
        Some(&(since, Command::PowerDownEnter { .. })) if any_open => Power::ActivePowerDown { since },
        Some(&(since, Command::PowerDownEnter { .. })) => Power::PrechargePowerDown { since },
        Some(&(since, Command::SelfRefreshEnter { .. })) => Power::SelfRefresh { since },
        _ => Power::Awake,
    }
}

/// Whether a rank has left self-refresh, and has had no REF since.
fn owes_refresh(log: &Log, rank: u8) -> bool {
    let of_interest = |command: &Command| matches!(command, Command::SelfRefreshExit { .. } | Command::Refresh { .. });
    let last = log.iter().rev().find(|(_, command)| command.rank() == rank && of_interest(command));
    last.is_some_and(|(_, command)| matches!(command, Command::SelfRefreshExit { .. }))
}

fn check_state(system: &System, device: &Device, log: &Log) -> Result<(), TestCaseError> {
    let last = |found: &dyn Fn(BankId) -> bool| {
        log.iter().rev().find(|(_, command)| banks(command).into_iter().any(found)).map(|&(at, _)| at)
    };
    for id in all_banks() {
        let open = open_row(system, log, id);
        let index = device.topology().index(id);
        prop_assert_eq!(device.open_row(id), open.map(|(row, _)| row), "{} in {:?}", id, log);
        prop_assert_eq!(device.row_in(index), open.map(|(row, _)| row), "{} in {:?}", id, log);
        prop_assert_eq!(device.open_banks().contains(index), open.is_some(), "{} in {:?}", id, log);
        prop_assert_eq!(device.close_by(id), open.map(|(_, at)| at + Cycles(9 * 4160)), "{}", id);
        prop_assert_eq!(device.last_in_bank(id), last(&|bank| bank == id), "{} in {:?}", id, log);
        prop_assert_eq!(device.closable(id), device.bank_hold(index, Kind::Pre).until());
        prop_assert_eq!(device.ready(id), device.bank_hold(index, Kind::Act).until());
    }
    for rank in 0..RANKS {
        let any_open = (0..BANKS).any(|bank| device.open_row(BankId { rank, bank }).is_some());
        prop_assert_eq!(device.any_open(rank), any_open);
        prop_assert_eq!(device.power(rank), power(log, rank, any_open));
        prop_assert_eq!(device.last_in_rank(rank), last(&|bank| bank.rank == rank), "{:?}", log);
        prop_assert_eq!(device.owes_refresh_before_self_refresh(rank), owes_refresh(log, rank), "{:?}", log);
    }
    Ok(())
}

/// The delays of banks and their rank together equal [`Device::earliest`].
fn check_holds(device: &Device, command: &Command) -> Result<(), TestCaseError> {
    let Ok(earliest) = device.earliest(command) else { return Ok(()) };
    let topology = device.topology();
    let held = |bank: BankId, kind: KeptKind| device.kept_bank_hold(topology.index(bank), kind);
    let (kind, in_banks) = match *command {
        Command::Activate { bank, row } => match device.open_row(bank) {
            None => (KeptKind::Act, held(bank, KeptKind::Act)),
            Some(open) if open.0 / 512 == row.0 / 512 => (KeptKind::ActCopy, held(bank, KeptKind::ActCopy)),
            // A dropped ACT is of no stored kind.
            Some(_) => return Ok(()),
        },
        Command::Precharge { bank } => (KeptKind::Pre, held(bank, KeptKind::Pre)),
        Command::Read { bank, .. } => (KeptKind::Rd, held(bank, KeptKind::Rd)),
        Command::Write { bank, .. } => (KeptKind::Wr, held(bank, KeptKind::Wr)),
        Command::Transfer { src, dst, .. } => {
            (KeptKind::Transfer, held(src, KeptKind::TransferSrc).max(held(dst, KeptKind::TransferDst)))
        }
        _ => return Ok(()),
    };
    let in_rank = device.floor(device.floor_of(topology.index(BankId { rank: command.rank(), bank: 0 }), kind));
    let together = in_banks.until().max(in_rank).max(device.bus_free());
    prop_assert_eq!(together, earliest.until(), "{}", command);
    Ok(())
}

proptest! {
    #[test]
    fn the_state_is_that_of_the_log(
        commands in proptest::collection::vec((arb_command(), 0u64..3), 1..60),
        precharge_power_down in select(vec![PrechargePowerDown::FastExit, PrechargePowerDown::SlowExit]),
    ) {
        let system = system(precharge_power_down);
        let mut device = Device::new(&system, None);
        let (mut log, mut now) = (Log::new(), Cycle(0));
        for (command, slack) in commands {
            check_holds(&device, &command)?;
            let Ok(hold) = device.earliest(&command) else { continue };
            let ready = hold.until().max(now);
            now = ready + Cycles(slack);
            prop_assert_eq!(hold.binding(now), hold.rule().filter(|_| now == hold.until()), "{}", command);
            device.issue(now, &command);
            prop_assert_eq!(device.last_hold(), hold, "{}", command);
            log.push((now, command));
            check_state(&system, &device, &log)?;
        }
    }
}

#[test]
fn a_refusal_is_printed_as_the_rule_that_it_is() {
    let refusals = [
        Refusal::BankClosed,
        Refusal::BanksOpen,
        Refusal::Asleep,
        Refusal::Awake,
        Refusal::SelfRefreshUnrefreshed,
        Refusal::TransferBanks,
    ];
    let names = ["bank-closed", "banks-open", "asleep", "awake", "SRX-REF-SRE", "TRANSFER-banks"];
    assert_eq!(refusals.map(|refusal| refusal.to_string()), names);
}

/// DDR3-1066G: CL 8, CWL 6, BL/2 4.
#[test]
fn the_latencies_of_data_are_those_of_the_bin() {
    let device = Device::new(&system(PrechargePowerDown::FastExit), None);
    assert_eq!((device.timings().read_data(), device.timings().write_latency()), (Cycles(12), Cycles(6)));
}
