//! DDR5-4800B, 16 Gb x8: tCK 5/12 ns. ACT, RD and WR take two cycles on the command bus.
//!
//! CL 40, CWL 38, BL/2 8; tRCD 39, tRP 39, tRAS 77 (32 ns); tWR 72 (30 ns), tRTP 18; tCCD_S 8, tCCD_L 12, tCCD_L_WR2
//! 24; tRRD_S 8, tRRD_L 12; tWTR_S 6, tWTR_L 24; tPPD 2; tRFC1 708 (295 ns), tRFC2 384 (160 ns), tRFCsb 312 (130 ns),
//! tREFSBRD 72 (30 ns); tXS 708; tXP and tPD 18 (7.5 ns); tCSL 24 (10 ns); tRTRS 2.

use dram_spec::{Density, ReferenceCycle, Standard, System};

use crate::table::Table;
use crate::{COMMANDS, check, system, unchanged};

/// Distances between the first cycles of two commands.
///
/// - RD to WR: CL - CWL + BL/2 + 4 = 2 + 8 + 4 = 14.
/// - WR to RD: CWL + BL/2 + tWTR = 38 + 8 + 6 = 52, in one group 38 + 8 + 24 = 70. A RDA of the same bank:
///   38 + 8 + 72 - 18 = 100, because its precharge may begin tRTP after it.
/// - WR to PRE: CWL + BL/2 + tWR = 38 + 8 + 72 = 118; WRA to ACT 118 + 39 = 157; RDA to ACT 18 + 39 = 57.
/// - PDE after RD: CL + BL/2 + 1 = 49; after WR and WRA 119; after ACT, PRE and REF 2.
/// - Another rank: 8 + 2 = 10; RD to WR 40 + 8 + 2 - 38 = 12; WR to RD 38 + 8 + 2 - 40 = 8.
/// - TRANSFER: as RD at its source and as WR at its destination, with the distances of one group.
/// - RBM over one hop: 16 ns = 38.4 clocks.
/// - tRFC is that of the refresh mode.
#[rustfmt::skip]
const TABLE: &str = "
ACT copy-ACT | ACT                              | =           | 12 | 8  | .
ACT copy-ACT | copy-ACT                         | 77          | 12 | 8  | .
ACT copy-ACT | PRE RBM                          | 77          | .  | .  | .
ACT copy-ACT | PREA                             | 77          | <  | <  | .
ACT copy-ACT | RD RDA WR WRA OUT IN             | 39          | .  | .  | .
ACT copy-ACT | REF SRE                          | banks-open  | <  | <  | .
ACT copy-ACT | PDE                              | 2           | <  | <  | .
PRE          | ACT                              | 39          | .  | .  | .
PRE          | copy-ACT                         | =           | .  | .  | .
PRE PREA     | PRE PREA                         | 2           | 2  | 2  | .
PRE          | RD RDA WR WRA OUT IN             | bank-closed | .  | .  | .
PRE          | RBM                              | bank-closed | 2  | 2  | .
PREA         | ACT                              | 39          | <  | <  | .
PREA         | copy-ACT                         | =           | <  | <  | .
PREA         | RD RDA WR WRA OUT IN RBM         | bank-closed | <  | <  | .
PRE PREA     | REF SRE                          | 39          | <  | <  | .
PRE PREA     | PDE                              | 2           | <  | <  | .
RD           | ACT                              | =           | .  | .  | .
RD           | copy-ACT                         | .           | .  | .  | .
RDA          | ACT                              | 57          | .  | .  | .
RDA          | copy-ACT                         | =           | .  | .  | .
RD RDA       | PRE                              | 18          | .  | .  | .
RD RDA       | PREA                             | 18          | <  | <  | .
RD           | RBM                              | 18          | .  | .  | .
RDA          | RBM                              | bank-closed | .  | .  | .
RD           | RD RDA                           | 12          | 12 | 8  | 10
RDA          | RD RDA                           | bank-closed | 12 | 8  | 10
RD           | WR WRA                           | 14          | 14 | 14 | 12
RDA          | WR WRA                           | bank-closed | 14 | 14 | 12
RD           | OUT IN                           | 12          | 12 | 12 | .
RDA          | OUT IN                           | bank-closed | 12 | 12 | .
RD WR        | REF SRE                          | banks-open  | <  | <  | .
RDA          | REF SRE                          | 57          | <  | <  | .
RD RDA       | PDE                              | 49          | <  | <  | .
WR           | ACT                              | =           | .  | .  | .
WR           | copy-ACT                         | 118         | .  | .  | .
WRA          | ACT                              | 157         | .  | .  | .
WRA          | copy-ACT                         | =           | .  | .  | .
WR WRA       | PRE                              | 118         | .  | .  | .
WR WRA       | PREA                             | 118         | <  | <  | .
WR           | RBM                              | 118         | .  | .  | .
WRA          | RBM                              | bank-closed | .  | .  | .
WR           | WR WRA                           | 24          | 24 | 8  | 10
WRA          | WR WRA                           | bank-closed | 24 | 8  | 10
WR           | RD                               | 70          | 70 | 52 | 8
WR           | RDA                              | 100         | 70 | 52 | 8
WRA          | RD RDA                           | bank-closed | 70 | 52 | 8
WR           | OUT IN                           | 70          | 70 | 70 | .
WRA          | OUT IN                           | bank-closed | 70 | 70 | .
WRA          | REF SRE                          | 157         | <  | <  | .
WR WRA       | PDE                              | 119         | <  | <  | .
OUT IN       | ACT                              | =           | .  | .  | .
OUT          | copy-ACT                         | .           | .  | .  | .
IN           | copy-ACT                         | 118         | .  | .  | .
OUT          | PRE RBM                          | 18          | .  | .  | .
IN           | PRE RBM                          | 118         | .  | .  | .
OUT IN       | PREA                             | 118         | <  | <  | .
OUT IN       | RD RDA                           | 70          | 70 | 70 | .
OUT IN       | WR WRA                           | 24          | 24 | 24 | .
OUT          | OUT IN                           | 24          | 24 | 24 | .
IN           | OUT                              | 70          | 24 | 24 | .
IN           | IN                               | 24          | 24 | 24 | .
OUT IN       | REF SRE                          | banks-open  | <  | <  | .
OUT IN       | PDE                              | 118         | <  | <  | .
RBM          | ACT                              | =           | .  | .  | .
RBM          | copy-ACT                         | 39          | .  | .  | .
RBM          | PRE                              | RBM-ACT     | .  | .  | .
RBM          | PREA PDE                         | RBM-ACT     | <  | <  | .
RBM          | RD RDA WR WRA OUT IN RBM         | bank-closed | .  | .  | .
RBM          | REF SRE                          | banks-open  | <  | <  | .
REF          | ACT PRE PREA REF SRE             | tRFC        | <  | <  | .
REF          | copy-ACT                         | =           | <  | <  | .
REF          | RD RDA WR WRA OUT IN RBM         | bank-closed | <  | <  | .
REF          | PDE                              | 2           | <  | <  | .
PDE SRE      | ACT copy-ACT PRE PREA RD RDA WR WRA OUT IN RBM REF PDE SRE | asleep | < | < | .
PDE          | PDX                              | 18          | <  | <  | .
PDE          | SRX                              | awake       | <  | <  | .
PDX          | ACT copy-ACT PRE PREA RD RDA WR WRA OUT IN RBM REF SRE PDE | 18 | < | < | .
SRE          | SRX                              | 24          | <  | <  | .
SRE          | PDX                              | awake       | <  | <  | .
SRX          | ACT PRE PREA REF                 | 708         | <  | <  | .
SRX          | copy-ACT                         | =           | <  | <  | .
SRX          | RD RDA WR WRA OUT IN RBM         | bank-closed | <  | <  | .
SRX          | SRE                              | SRX-REF-SRE | <  | <  | .
SRX          | PDE                              | 708         | <  | <  | .
ACT copy-ACT PRE PREA RD RDA WR WRA OUT IN RBM REF PDX SRX | PDX SRX | awake | < | < | .
";

/// Pairs with REFsb. The first column is also that of the bank with the same number in another group.
#[rustfmt::skip]
const SAME_BANK: &str = "
ACT copy-ACT | REFsb                            | banks-open  | 12 | 12 | .
PRE          | REFsb                            | 39          | .  | .  | .
PREA         | REFsb                            | 39          | <  | <  | .
RD WR OUT IN RBM | REFsb                        | banks-open  | .  | .  | .
RDA          | REFsb                            | 57          | .  | .  | .
WRA          | REFsb                            | 157         | .  | .  | .
REF          | REFsb                            | 384         | <  | <  | .
PDE SRE      | REFsb                            | asleep      | <  | <  | .
PDX          | REFsb                            | 18          | <  | <  | .
SRX          | REFsb                            | 708         | <  | <  | .
REFsb        | ACT                              | 312         | 72 | 72 | .
REFsb        | copy-ACT                         | =           | 72 | 72 | .
REFsb        | PRE PREA                         | .           | .  | .  | .
REFsb        | RD RDA WR WRA OUT IN RBM         | bank-closed | .  | .  | .
REFsb        | REFsb                            | REFsb-round | 72 | 72 | .
REFsb        | REF SRE                          | 312         | <  | <  | .
REFsb        | PDE                              | 2           | <  | <  | .
REFsb        | PDX SRX                          | awake       | <  | <  | .
";

/// The commands whose first cycle is a clock before the one that distances count from, if that is the second.
fn lead(name: &str) -> u64 {
    u64::from(["ACT", "copy-ACT", "RD", "RDA", "WR", "WRA", "OUT", "IN"].contains(&name))
}

fn check_both_references(mode: &str, table: &Table) {
    let refresh_mode = Standard::Ddr5.refresh_mode(mode).expect("a mode");
    let system = |reference_cycle| System { refresh_mode, reference_cycle, ..system("DDR5-4800B", Density::Gb16) };
    check(&system(ReferenceCycle::First), table, unchanged);
    let from_second = |clocks: u64, from: &str, to: &str| (clocks + lead(from)).saturating_sub(lead(to));
    check(&system(ReferenceCycle::Second), table, from_second);
}

#[test]
fn distances_of_ddr5_are_those_of_the_standard() {
    for (mode, t_rfc) in [("normal", 708), ("fine", 384), ("same-bank", 384)] {
        let table = Table::parse(TABLE, &[("tRFC", t_rfc)]);
        table.assert_complete(&COMMANDS);
        check_both_references(mode, &table);
    }
}

#[test]
fn distances_of_same_bank_refresh_are_those_of_the_standard() {
    let table = Table::parse(SAME_BANK, &[]);
    assert_eq!(table.pairs.len(), 2 * COMMANDS.len() + 1);
    check_both_references("same-bank", &table);
}
