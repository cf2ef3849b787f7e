//! HDL lists of DDR3: the values of the mode registers.

use std::ops::RangeInclusive;

use dram_spec::{PrechargePowerDown, Standard, System};

use crate::LineError;

/// The standard whose mode registers and pins an HDL list has.
pub(super) const STANDARD: Standard = Standard::Ddr3;

/// The mode registers that a chip is programmed with before the commands of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeRegisters {
    /// MR0 to MR3.
    pub values: [u16; 4],
    /// Write recovery for auto-precharge in clocks, as MR0 holds it: tWR, or the next value that can
    /// be programmed.
    pub write_recovery: u64,
}

/// MR0, A8: DLL reset.
const DLL_RESET: u16 = 1 << 8;
/// MR0, A12: the DLL stays on in precharge power-down.
const FAST_EXIT: u16 = 1 << 12;

/// Write recovery by the code in MR0, A11 to A9. Source: JESD79-3F, section 3.4.2, figure "MR0
/// definition".
const WRITE_RECOVERY: [u64; 8] = [16, 5, 6, 7, 8, 10, 12, 14];

impl ModeRegisters {
    /// The registers of a system: burst length 8, sequential bursts, additive latency 0, DLL on,
    /// on-die termination off, driver RZQ/6. Source: JESD79-3F, section 3.4.
    ///
    /// # Errors
    /// CL, CWL or tWR is not among the values that the registers hold.
    pub fn of(system: &System) -> Result<ModeRegisters, LineError> {
        let bin = system.bin;
        let t_wr = system.clock().at_least(bin.t_wr).0;
        let cl = within("CL", bin.cl, "MR0", 5..=16)?;
        let cwl = within("CWL", bin.cwl, "MR2", 5..=12)?;
        // A shorter tWR than 5 clocks is covered by 5.
        let t_wr = within("tWR", t_wr.max(5), "MR0", 5..=16)?;
        let (code, write_recovery) = write_recovery(t_wr);
        let exit = match system.precharge_power_down {
            PrechargePowerDown::FastExit => FAST_EXIT,
            PrechargePowerDown::SlowExit => 0,
        };
        let mr0 = cas_latency(cl) | DLL_RESET | code << 9 | exit;
        // MR2, A5 to A3: CWL 5 is 0, CWL 12 is 7. MR1: DLL enabled (A0 = 0), additive latency 0 (A4, A3 = 0).
        let mr2 = (cwl - 5) << 3;
        Ok(ModeRegisters { values: [mr0, 0, mr2, 0], write_recovery })
    }
}

/// A timing parameter in clocks, if a mode register can hold it.
fn within(name: &str, found: u64, register: &str, held: RangeInclusive<u64>) -> Result<u16, LineError> {
    if held.contains(&found) {
        return Ok(found as u16);
    }
    let what = format!("{name} is {found} clocks, but {register} holds {} to {}", held.start(), held.end());
    Err(LineError::new(what, "give a system with parameters that the mode registers can hold"))
}

/// MR0, A6 to A4 and A2: the codes count up from CL 4, with A2 as their highest bit.
///
/// Source: JESD79-3F, section 3.4.2: CL 5 is 0010, CL 11 is 1110, CL 12 is 0001, CL 16 is 1001 in
/// the order A6, A5, A4, A2.
const fn cas_latency(cl: u16) -> u16 {
    let code = cl - 4;
    (code & 7) << 4 | (code >> 3) << 2
}

/// The code of the least write recovery that covers tWR, and its clocks.
fn write_recovery(t_wr: u16) -> (u16, u64) {
    let covering = (0..).zip(WRITE_RECOVERY).filter(|&(_, clocks)| clocks >= u64::from(t_wr));
    covering.min_by_key(|&(_, clocks)| clocks).expect("tWR is at most 16")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dram_spec::{Cycles, Density, SpeedBin, System, TimingParameter, Width};

    use super::*;

    fn system(bin: &str) -> System {
        System { bin: SpeedBin::named(bin).unwrap(), ..System::paper(1, Density::Gb2, Width::X8) }
    }

    fn with(parameter: TimingParameter, clocks: u64) -> Result<ModeRegisters, LineError> {
        let bin = SpeedBin::named("1066G").unwrap().with_timings(&BTreeMap::from([(parameter, Cycles(clocks))]));
        ModeRegisters::of(&System { bin, ..system("1066G") })
    }

    #[test]
    fn registers_of_speed_bins_are_those_of_the_standard() {
        // 1066G: CL 8 (A6..A4 = 100, A2 = 0), WR 8 (100), CWL 6 (001). 1600K: CL 11 (111, 0), WR 12 (110), CWL 8 (011).
        // 2133N: CL 14 (010, 1), WR 16 (000), CWL 10 (101). 800D: CL 5 (001, 0), WR 6 (010), CWL 5 (000).
        for (bin, mr0, mr2) in [
            ("1066G", 0b1_1001_0100_0000, 0b00_1000),
            ("1600K", 0b1_1101_0111_0000, 0b01_1000),
            ("2133N", 0b1_0001_0010_0100, 0b10_1000),
            ("800D", 0b1_0101_0001_0000, 0),
        ] {
            let registers = ModeRegisters::of(&system(bin)).unwrap();
            assert_eq!(registers.values, [mr0, 0, mr2, 0], "{bin}: MR0 {:#b}", registers.values[0]);
            let slow = System { precharge_power_down: PrechargePowerDown::SlowExit, ..system(bin) };
            assert_eq!(ModeRegisters::of(&slow).unwrap().values, [mr0 & !(1 << 12), 0, mr2, 0], "{bin}");
        }
    }

    /// A6, A5, A4, A2 of each CL, as the standard lists them.
    #[test]
    fn each_cas_latency_has_the_code_of_the_standard() {
        let codes = [
            (5, 0b0010),
            (6, 0b0100),
            (7, 0b0110),
            (8, 0b1000),
            (9, 0b1010),
            (10, 0b1100),
            (11, 0b1110),
            (12, 0b0001),
            (13, 0b0011),
            (14, 0b0101),
            (15, 0b0111),
            (16, 0b1001),
        ];
        for (cl, code) in codes {
            let mr0 = with(TimingParameter::Cl, cl).unwrap().values[0];
            assert_eq!((mr0 >> 4 & 7) << 1 | mr0 >> 2 & 1, code, "CL {cl}");
        }
        for (cwl, code) in (5..=12).zip(0..) {
            assert_eq!(with(TimingParameter::Cwl, cwl).unwrap().values[2], code << 3, "CWL {cwl}");
        }
    }

    #[test]
    fn write_recovery_is_rounded_up_to_what_can_be_programmed() {
        for (t_wr, clocks, code) in [
            (1, 5, 1),
            (5, 5, 1),
            (6, 6, 2),
            (7, 7, 3),
            (8, 8, 4),
            (9, 10, 5),
            (11, 12, 6),
            (13, 14, 7),
            (15, 16, 0),
            (16, 16, 0),
        ] {
            let registers = with(TimingParameter::Wr, t_wr).unwrap();
            assert_eq!((registers.write_recovery, registers.values[0] >> 9 & 7), (clocks, code), "tWR {t_wr}");
        }
        let error = with(TimingParameter::Wr, 17).unwrap_err();
        assert_eq!(error.to_string(), "tWR is 17 clocks, but MR0 holds 5 to 16");
    }
}
