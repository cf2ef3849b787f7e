//! DDR4-3200AA, 8 Gb x8: tCK 0.625 ns.
//!
//! CL 22, CWL 16, BL/2 4; tRCD 22, tRP 22, tRAS 52; tWR 24, tRTP 12; tCCD_S 4, tCCD_L 8; tRRD_S 4, tRRD_L 8; tWTR_S 4,
//! tWTR_L 12; tRFC1 560 (350 ns), tXS 576 (360 ns); tXP 10, tCKE 8, tCKESR 9; tRTRS 2.

use dram_spec::Density;

use crate::table::Table;
use crate::{COMMANDS, check, system, unchanged};

/// - RD to WR: CL + BL/2 + 2 - CWL = 22 + 4 + 2 - 16 = 12.
/// - WR to RD: CWL + BL/2 + tWTR = 16 + 4 + 4 = 24, in one group 16 + 4 + 12 = 32. A RDA of the same bank:
///   max(32, 44 - 12), because its precharge may begin tRTP after it.
/// - WR to PRE: CWL + BL/2 + tWR = 16 + 4 + 24 = 44; WRA to ACT 44 + 22 = 66; RDA to ACT 12 + 22 = 34.
/// - PDE after RD: CL + BL/2 + 1 = 27; after WR 44; after WRA 45; after ACT, PRE and REF 2.
/// - Another rank: 4 + 2 = 6; RD to WR 22 + 4 + 2 - 16 = 12; WR to RD 16 + 4 + 2 - 22 = 0.
/// - TRANSFER: as RD at its source and as WR at its destination, with the distances of one group.
/// - RBM over one hop: 16 ns = 25.6 clocks.
#[rustfmt::skip]
const TABLE: &str = "
ACT copy-ACT | ACT                              | =           | 8  | 4  | .
ACT copy-ACT | copy-ACT                         | 52          | 8  | 4  | .
ACT copy-ACT | PRE RBM                          | 52          | .  | .  | .
ACT copy-ACT | PREA                             | 52          | <  | <  | .
ACT copy-ACT | RD RDA WR WRA OUT IN             | 22          | .  | .  | .
ACT copy-ACT | REF SRE                          | banks-open  | <  | <  | .
ACT copy-ACT | PDE                              | 2           | <  | <  | .
PRE          | ACT                              | 22          | .  | .  | .
PRE          | copy-ACT                         | =           | .  | .  | .
PRE PREA     | PRE PREA                         | .           | .  | .  | .
PRE          | RD RDA WR WRA OUT IN RBM         | bank-closed | .  | .  | .
PREA         | ACT                              | 22          | <  | <  | .
PREA         | copy-ACT                         | =           | <  | <  | .
PREA         | RD RDA WR WRA OUT IN RBM         | bank-closed | <  | <  | .
PRE PREA     | REF SRE                          | 22          | <  | <  | .
PRE PREA     | PDE                              | 2           | <  | <  | .
RD           | ACT                              | =           | .  | .  | .
RD           | copy-ACT                         | .           | .  | .  | .
RDA          | ACT                              | 34          | .  | .  | .
RDA          | copy-ACT                         | =           | .  | .  | .
RD RDA       | PRE                              | 12          | .  | .  | .
RD RDA       | PREA                             | 12          | <  | <  | .
RD           | RBM                              | 12          | .  | .  | .
RDA          | RBM                              | bank-closed | .  | .  | .
RD           | RD RDA                           | 8           | 8  | 4  | 6
RDA          | RD RDA                           | bank-closed | 8  | 4  | 6
RD           | WR WRA                           | 12          | 12 | 12 | 12
RDA          | WR WRA                           | bank-closed | 12 | 12 | 12
RD           | OUT IN                           | 8           | 8  | 8  | .
RDA          | OUT IN                           | bank-closed | 8  | 8  | .
RD WR        | REF SRE                          | banks-open  | <  | <  | .
RDA          | REF SRE                          | 34          | <  | <  | .
RD RDA       | PDE                              | 27          | <  | <  | .
WR           | ACT                              | =           | .  | .  | .
WR           | copy-ACT                         | 44          | .  | .  | .
WRA          | ACT                              | 66          | .  | .  | .
WRA          | copy-ACT                         | =           | .  | .  | .
WR WRA       | PRE                              | 44          | .  | .  | .
WR WRA       | PREA                             | 44          | <  | <  | .
WR           | RBM                              | 44          | .  | .  | .
WRA          | RBM                              | bank-closed | .  | .  | .
WR           | WR WRA                           | 8           | 8  | 4  | 6
WRA          | WR WRA                           | bank-closed | 8  | 4  | 6
WR           | RD RDA                           | 32          | 32 | 24 | .
WRA          | RD RDA                           | bank-closed | 32 | 24 | .
WR           | OUT IN                           | 32          | 32 | 32 | .
WRA          | OUT IN                           | bank-closed | 32 | 32 | .
WRA          | REF SRE                          | 66          | <  | <  | .
WR           | PDE                              | 44          | <  | <  | .
WRA          | PDE                              | 45          | <  | <  | .
OUT IN       | ACT                              | =           | .  | .  | .
OUT          | copy-ACT                         | .           | .  | .  | .
IN           | copy-ACT                         | 44          | .  | .  | .
OUT          | PRE RBM                          | 12          | .  | .  | .
IN           | PRE RBM                          | 44          | .  | .  | .
OUT IN       | PREA                             | 44          | <  | <  | .
OUT IN       | RD RDA                           | 32          | 32 | 32 | .
OUT IN       | WR WRA                           | 8           | 8  | 8  | .
OUT          | OUT IN                           | 8           | 8  | 8  | .
IN           | OUT                              | 32          | 8  | 8  | .
IN           | IN                               | 8           | 8  | 8  | .
OUT IN       | REF SRE                          | banks-open  | <  | <  | .
OUT IN       | PDE                              | 44          | <  | <  | .
RBM          | ACT                              | =           | .  | .  | .
RBM          | copy-ACT                         | 26          | .  | .  | .
RBM          | PRE                              | RBM-ACT     | .  | .  | .
RBM          | PREA PDE                         | RBM-ACT     | <  | <  | .
RBM          | RD RDA WR WRA OUT IN RBM         | bank-closed | .  | .  | .
RBM          | REF SRE                          | banks-open  | <  | <  | .
REF          | ACT PRE PREA REF SRE             | 560         | <  | <  | .
REF          | copy-ACT                         | =           | <  | <  | .
REF          | RD RDA WR WRA OUT IN RBM         | bank-closed | <  | <  | .
REF          | PDE                              | 2           | <  | <  | .
PDE SRE      | ACT copy-ACT PRE PREA RD RDA WR WRA OUT IN RBM REF PDE SRE | asleep | < | < | .
PDE          | PDX                              | 8           | <  | <  | .
PDE          | SRX                              | awake       | <  | <  | .
PDX          | ACT copy-ACT PRE PREA RD RDA WR WRA OUT IN RBM REF SRE | 10 | < | < | .
PDX          | PDE                              | 8           | <  | <  | .
SRE          | SRX                              | 9           | <  | <  | .
SRE          | PDX                              | awake       | <  | <  | .
SRX          | ACT PRE PREA REF                 | 576         | <  | <  | .
SRX          | copy-ACT                         | =           | <  | <  | .
SRX          | RD RDA WR WRA OUT IN RBM         | bank-closed | <  | <  | .
SRX          | SRE                              | SRX-REF-SRE | <  | <  | .
SRX          | PDE                              | SRX-REF-PDE | <  | <  | .
ACT copy-ACT PRE PREA RD RDA WR WRA OUT IN RBM REF PDX SRX | PDX SRX | awake | < | < | .
";

#[test]
fn distances_of_ddr4_are_those_of_the_datasheet() {
    let table = Table::parse(TABLE, &[]);
    table.assert_complete(&COMMANDS);
    check(&system("DDR4-3200AA", Density::Gb8), &table, unchanged);
}
