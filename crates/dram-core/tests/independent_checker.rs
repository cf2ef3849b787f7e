//! Device and checker on random command streams: they agree to the clock and on the rule.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use dram_core::Device;
use dram_spec::geometry::{PAPER_ROW_BYTES, native_row_bytes};
use dram_spec::standard::Definition;
use dram_spec::{
    AutoPrecharge, BankId, Channel, Chip, Column, Command, CommandLog, CopyActivations, Cycle, Cycles, Dialect,
    Geometry, PrechargePowerDown, RawGeometry, ReferenceCycle, Refresh, Row, RowsPerSubarray, SpeedBin, Standard,
    System,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Chips, bins, rows and options of all standards.
fn arb_system() -> impl Strategy<Value = System> {
    let copies = select(vec![CopyActivations::Counted, CopyActivations::Free]);
    let exit = select(vec![PrechargePowerDown::FastExit, PrechargePowerDown::SlowExit]);
    let reference = select(vec![ReferenceCycle::First, ReferenceCycle::Second]);
    let of_standard = select(Standard::ALL.to_vec()).prop_flat_map(|standard| {
        let Definition { bins, chips, refresh_modes, .. } = standard.definition();
        // In some of these, tCCD_L is a distance that the preamble forbids.
        let long_preamble = ["DDR4-2400R[tWPRE=2]", "DDR4-3200AA[tCCD_L=5,tCCD_L_WR=5,tWPRE=2]"].map(SpeedBin::named);
        let long_preamble = long_preamble.into_iter().flatten().filter(|bin| bin.standard == standard);
        let long_preamble = long_preamble.flat_map(|bin| std::iter::repeat_n(bin, 5));
        let bins: Vec<_> = bins.iter().filter(|bin| bin.cl > 0).chain(long_preamble).collect();
        (select(bins), select(*chips), 0..refresh_modes.len())
    });
    // Commands have rows 0 to 3 and 600 to 601.
    let patterns: [RowsPerSubarray; 4] = [[601, 640].into(), [128, 472, 129].into(), [600, 1000].into(), 576.into()];
    let rows = prop_oneof![
        3 => Just(RowsPerSubarray::from(512)),
        1 => select(patterns.to_vec()),
    ];
    (of_standard, (any::<bool>(), rows), copies, exit, (any::<bool>(), reference)).prop_map(
        |(
            (bin, chip, mode),
            (paper, rows_per_subarray),
            copy_activations,
            precharge_power_down,
            (is_refreshed, reference_cycle),
        )| {
            let (standard, Chip { density, width, .. }) = (bin.standard, chip);
            let definition = standard.definition();
            let row_bytes = if paper { PAPER_ROW_BYTES } else { native_row_bytes(standard, density, width) };
            let ranks = 64 / u64::from(definition.rank_banks_max).max(16);
            let raw = RawGeometry { standard, channels: 1, ranks, density, width, row_bytes, rows_per_subarray };
            let geometry = Geometry::try_from(raw).unwrap();
            let usual = System::new(bin, geometry);
            let refresh = if is_refreshed { usual.refresh } else { Refresh::Off };
            let refresh_mode = &definition.refresh_modes[mode];
            System { copy_activations, precharge_power_down, refresh, refresh_mode, reference_cycle, ..usual }
        },
    )
}

/// Any command, with rows of two subarrays, so that some copy activations are dropped. Ranks and
/// banks are those of the system by their remainders.
fn arb_command() -> impl Strategy<Value = Command> {
    let place = (0u8..4, 0u8..64, 0u8..64, prop_oneof![0u32..4, 600u32..602]);
    (0u8..20, place).prop_map(|(kind, (rank, bank, other, row))| {
        let (bank, dst) = (BankId { rank, bank }, BankId { rank, bank: other });
        let (column, src_column, dst_column) = (Column(0), Column(0), Column(0));
        match kind {
            0..=3 => Command::Activate { bank, row: Row(row) },
            4 => Command::Precharge { bank },
            5 => Command::PrechargeAll { rank },
            6 => Command::Read { bank, column, auto_precharge: AutoPrecharge::No },
            7 => Command::Read { bank, column, auto_precharge: AutoPrecharge::Yes },
            8 => Command::Write { bank, column, auto_precharge: AutoPrecharge::No },
            9 => Command::Write { bank, column, auto_precharge: AutoPrecharge::Yes },
            10 | 11 => Command::Transfer { src: bank, src_column, dst, dst_column },
            12 => Command::Refresh { rank },
            13 => Command::PowerDownEnter { rank },
            14 => Command::PowerDownExit { rank },
            15 => Command::SelfRefreshEnter { rank },
            16 => Command::RefreshSameBank { bank },
            17 | 18 => Command::MoveRowBuffer { bank, row: Row(row) },
            _ => Command::SelfRefreshExit { rank },
        }
    })
}

/// The command in a rank and in banks of the system: six banks, in two bank groups where there are groups.
fn placed(command: Command, system: &System) -> Command {
    let geometry = &system.geometry;
    let topology = geometry.topology();
    let rank_of = |rank: u8| rank % geometry.ranks();
    let bank_of = |id: BankId| {
        let number = id.bank % 6;
        let is_grouped = topology.banks_per_group < topology.banks_per_rank;
        let bank = if is_grouped { number % 2 + number / 2 % 2 * topology.banks_per_group } else { number % 4 };
        BankId { rank: rank_of(id.rank), bank: bank % geometry.banks() }
    };
    match command {
        Command::Activate { bank, row } => Command::Activate { bank: bank_of(bank), row },
        Command::MoveRowBuffer { bank, row } => Command::MoveRowBuffer { bank: bank_of(bank), row },
        Command::Precharge { bank } => Command::Precharge { bank: bank_of(bank) },
        Command::Read { bank, column, auto_precharge } => Command::Read { bank: bank_of(bank), column, auto_precharge },
        Command::Write { bank, column, auto_precharge } => {
            Command::Write { bank: bank_of(bank), column, auto_precharge }
        }
        Command::Transfer { src, src_column, dst, dst_column } => {
            Command::Transfer { src: bank_of(src), src_column, dst: bank_of(dst), dst_column }
        }
        Command::RefreshSameBank { bank } => Command::RefreshSameBank { bank: bank_of(bank) },
        Command::PrechargeAll { rank } => Command::PrechargeAll { rank: rank_of(rank) },
        Command::Refresh { rank } => Command::Refresh { rank: rank_of(rank) },
        Command::PowerDownEnter { rank } => Command::PowerDownEnter { rank: rank_of(rank) },
        Command::PowerDownExit { rank } => Command::PowerDownExit { rank: rank_of(rank) },
        Command::SelfRefreshEnter { rank } => Command::SelfRefreshEnter { rank: rank_of(rank) },
        Command::SelfRefreshExit { rank } => Command::SelfRefreshExit { rank: rank_of(rank) },
    }
}

/// The rules that the checker reports when the log continues with `command` at `at`.
fn found(system: &System, log: &CommandLog, at: Cycle, command: &Command) -> Vec<&'static str> {
    let mut log = log.clone();
    log.push(at, Channel(0), command);
    log.end = at.max(log.end);
    protocol_check::audit(system, Dialect::RowClone, &log).iter().map(|violation| violation.rule.name()).collect()
}

/// 3000 cases, or the number in `PROPTEST_CASES`.
fn runs() -> ProptestConfig {
    let asked = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { asked } else { ProptestConfig { cases: 3000, ..asked } }
}

proptest! {
    #![proptest_config(runs())]

    /// A command that the device refuses breaks a rule of that name in the checker. A command that
    /// it delays breaks the named rule one clock earlier, and is legal on time.
    #[test]
    fn the_device_and_the_checker_agree_to_the_clock(
        system in arb_system(),
        wishes in proptest::collection::vec((arb_command(), prop_oneof![6 => Just(0u64), 1 => 0u64..30]), 1..40),
    ) {
        let mut device = Device::new(&system, None);
        let mut log = CommandLog::default();
        for (command, slack) in wishes {
            let command = placed(command, &system);
            // Standards with one refresh command have no REFsb.
            if matches!(command, Command::RefreshSameBank { .. }) && !system.refresh_mode.same_bank {
                continue;
            }
            let hold = match device.earliest(&command) {
                Ok(hold) => hold,
                Err(refusal) => {
                    let names = found(&system, &log, log.end + Cycles(2000), &command);
                    let name = refusal.to_string();
                    prop_assert!(names.contains(&name.as_str()), "{command} is refused by {name}, and by {names:?} in \
                        {log:?}");
                    continue;
                }
            };
            if hold.until() > log.end {
                let names = found(&system, &log, Cycle(hold.until().0 - 1), &command);
                let rule = hold.rule().expect("something holds it back");
                prop_assert!(names.contains(&rule), "{command} is delayed by {rule}, but breaks {names:?} in {log:?}");
            }
            let mut at = hold.until().max(log.end) + Cycles(slack);
            device.advance_to(at);
            let delayed = device.earliest(&command).expect("time alone forbids no command");
            if delayed.until() > at {
                prop_assert!(matches!(command, Command::Write { .. }), "{command} is delayed by time alone");
                prop_assert_eq!(found(&system, &log, at, &command), ["WR-WR-tWPRE"]);
                at = delayed.until();
            }
            let mut names = found(&system, &log, at, &command);
            // Dropped activations are legal for the device, and reported by both.
            names.retain(|name| *name != "FPM-subarray");
            prop_assert!(names.is_empty(), "{command} at {at}: {names:?} in {log:?}");
            device.issue(at, &command);
            log.push(at, Channel(0), &command);
            log.end = at;
        }
    }
}
