//! Device and checker on random command streams: they agree to the clock and on the rule.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use dram_core::Device;
use dram_spec::datasheet::BINS;
use dram_spec::geometry::{PAPER_ROW_BYTES, native_row_bytes};
use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandLog, CopyActivations, Cycle, Cycles, Density, Dialect,
    Geometry, PrechargePowerDown, RawGeometry, Refresh, Row, Standard, System, Width,
};
use proptest::prelude::*;
use proptest::sample::select;

fn arb_system() -> impl Strategy<Value = System> {
    let copies = select(vec![CopyActivations::Counted, CopyActivations::Free]);
    let exit = select(vec![PrechargePowerDown::FastExit, PrechargePowerDown::SlowExit]);
    let refresh = select(vec![Refresh::NORMAL, Refresh::Off]);
    let chips = (select(&Density::ALL[..]), select(&Width::ALL[..]), any::<bool>());
    (0..BINS.len(), chips, copies, exit, refresh).prop_map(
        |(bin, (density, width, paper), copy_activations, precharge_power_down, refresh)| {
            let row_bytes = if paper { PAPER_ROW_BYTES } else { native_row_bytes(Standard::Ddr3, density, width) };
            let raw = RawGeometry {
                standard: Standard::Ddr3,
                channels: 1,
                ranks: 4,
                density,
                width,
                row_bytes,
                rows_per_subarray: 512,
            };
            let geometry = Geometry::try_from(raw).unwrap();
            System { copy_activations, precharge_power_down, refresh, ..System::new(&BINS[bin], geometry) }
        },
    )
}

/// Any command, with rows of two subarrays, so that some copy activations are dropped.
fn arb_command() -> impl Strategy<Value = Command> {
    let place = (0u8..4, 0u8..6, 0u8..6, prop_oneof![0u32..4, 600u32..602]);
    (0u8..17, place).prop_map(|(kind, (rank, bank, other, row))| {
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
            _ => Command::SelfRefreshExit { rank },
        }
    })
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
            let hold = match device.earliest(&command) {
                Ok(hold) => hold,
                Err(refusal) => {
                    let names = found(&system, &log, log.end + Cycles(2000), &command);
                    let name = refusal.to_string();
                    prop_assert!(names.contains(&name.as_str()), "{command} is refused by {name}, and by {names:?} in {log:?}");
                    continue;
                }
            };
            if hold.until() > log.end {
                let names = found(&system, &log, Cycle(hold.until().0 - 1), &command);
                let rule = hold.rule().expect("something holds it back");
                prop_assert!(names.contains(&rule), "{command} is delayed by {rule}, but breaks {names:?} in {log:?}");
            }
            let at = hold.until().max(log.end) + Cycles(slack);
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
