//! DDR2-800D, 2 Gb x8 with eight banks and slow exit of active power-down: tCK 2.5 ns. There are no bank groups.
//!
//! CL 5, CWL 4, BL/2 4; tRCD 5, tRP 5, tRPA 6, tRAS 18; tWR 6, tRTP 3; tCCD 2; tRRD 3; tWTR 3; tRFC 78 (195 ns),
//! tXSNR 82 (205 ns), tXSRD 200; tXP 2, tXARDS 8, tCKE 3; tRTRS 2.

use dram_spec::{Density, PrechargePowerDown, System};

use crate::table::Table;
use crate::{COMMANDS, check, system, unchanged};

/// - RD to RD and WR to WR: max(tCCD, BL/2) = 4.
/// - RD to WR: BL/2 + 2 = 6. WR to RD: CL - 1 + BL/2 + tWTR = 4 + 4 + 3 = 11.
/// - RD to PRE: BL/2 + max(tRTP, 2) - 2 = 4 + 3 - 2 = 5; RDA to ACT 5 + 5 = 10.
/// - WR to PRE: CWL + BL/2 + tWR = 4 + 4 + 6 = 14; WRA to ACT 14 + 5 = 19.
/// - PDE after RD: CL + BL/2 + 1 = 10; after WR 14; after WRA 15; after ACT, PRE and REF 1.
/// - Another rank: 4 + 2 = 6; RD to WR 5 + 4 + 2 - 4 = 7; WR to RD 4 + 4 + 2 - 5 = 5.
/// - RBM over one hop: 16 ns = 6.4 clocks.
#[rustfmt::skip]
const TABLE: &str = "
ACT copy-ACT | ACT                              | =           | 3  | 3  | .
ACT copy-ACT | copy-ACT                         | 18          | 3  | 3  | .
ACT copy-ACT | PRE RBM                          | 18          | .  | .  | .
ACT copy-ACT | PREA                             | 18          | <  | <  | .
ACT copy-ACT | RD RDA WR WRA OUT IN             | 5           | .  | .  | .
ACT copy-ACT | REF SRE                          | banks-open  | <  | <  | .
ACT copy-ACT | PDE                              | 1           | <  | <  | .
PRE          | ACT                              | 5           | .  | .  | .
PRE          | copy-ACT                         | =           | .  | .  | .
PRE PREA     | PRE PREA                         | .           | .  | .  | .
PRE          | RD RDA WR WRA OUT IN RBM         | bank-closed | .  | .  | .
PREA         | ACT                              | 6           | <  | <  | .
PREA         | copy-ACT                         | =           | <  | <  | .
PREA         | RD RDA WR WRA OUT IN RBM         | bank-closed | <  | <  | .
PRE          | REF SRE                          | 5           | <  | <  | .
PREA         | REF SRE                          | 5           | <  | <  | .
PRE PREA     | PDE                              | 1           | <  | <  | .
RD           | ACT                              | =           | .  | .  | .
RD           | copy-ACT                         | .           | .  | .  | .
RDA          | ACT                              | 10          | .  | .  | .
RDA          | copy-ACT                         | =           | .  | .  | .
RD RDA       | PRE                              | 5           | .  | .  | .
RD RDA       | PREA                             | 5           | <  | <  | .
RD           | RBM                              | 5           | .  | .  | .
RDA          | RBM                              | bank-closed | .  | .  | .
RD           | RD RDA                           | 4           | 4  | 4  | 6
RDA          | RD RDA                           | bank-closed | 4  | 4  | 6
RD           | WR WRA                           | 6           | 6  | 6  | 7
RDA          | WR WRA                           | bank-closed | 6  | 6  | 7
RD           | OUT IN                           | 4           | 4  | 4  | .
RDA          | OUT IN                           | bank-closed | 4  | 4  | .
RD WR        | REF SRE                          | banks-open  | <  | <  | .
RDA          | REF SRE                          | 10          | <  | <  | .
RD RDA       | PDE                              | 10          | <  | <  | .
WR           | ACT                              | =           | .  | .  | .
WR           | copy-ACT                         | 14          | .  | .  | .
WRA          | ACT                              | 19          | .  | .  | .
WRA          | copy-ACT                         | =           | .  | .  | .
WR WRA       | PRE                              | 14          | .  | .  | .
WR WRA       | PREA                             | 14          | <  | <  | .
WR           | RBM                              | 14          | .  | .  | .
WRA          | RBM                              | bank-closed | .  | .  | .
WR           | WR WRA                           | 4           | 4  | 4  | 6
WRA          | WR WRA                           | bank-closed | 4  | 4  | 6
WR           | RD RDA                           | 11          | 11 | 11 | 5
WRA          | RD RDA                           | bank-closed | 11 | 11 | 5
WR           | OUT IN                           | 11          | 11 | 11 | .
WRA          | OUT IN                           | bank-closed | 11 | 11 | .
WRA          | REF SRE                          | 19          | <  | <  | .
WR           | PDE                              | 14          | <  | <  | .
WRA          | PDE                              | 15          | <  | <  | .
OUT IN       | ACT                              | =           | .  | .  | .
OUT          | copy-ACT                         | .           | .  | .  | .
IN           | copy-ACT                         | 14          | .  | .  | .
OUT          | PRE RBM                          | 5           | .  | .  | .
IN           | PRE RBM                          | 14          | .  | .  | .
OUT IN       | PREA                             | 14          | <  | <  | .
OUT IN       | RD RDA                           | 11          | 11 | 11 | .
OUT IN       | WR WRA                           | 4           | 4  | 4  | .
OUT          | OUT IN                           | 4           | 4  | 4  | .
IN           | OUT                              | 11          | 4  | 4  | .
IN           | IN                               | 4           | 4  | 4  | .
OUT IN       | REF SRE                          | banks-open  | <  | <  | .
OUT IN       | PDE                              | 14          | <  | <  | .
RBM          | ACT                              | =           | .  | .  | .
RBM          | copy-ACT                         | 7           | .  | .  | .
RBM          | PRE                              | RBM-ACT     | .  | .  | .
RBM          | PREA PDE                         | RBM-ACT     | <  | <  | .
RBM          | RD RDA WR WRA OUT IN RBM         | bank-closed | .  | .  | .
RBM          | REF SRE                          | banks-open  | <  | <  | .
REF          | ACT PRE PREA REF SRE             | 78          | <  | <  | .
REF          | copy-ACT                         | =           | <  | <  | .
REF          | RD RDA WR WRA OUT IN RBM         | bank-closed | <  | <  | .
REF          | PDE                              | 1           | <  | <  | .
PDE SRE      | ACT copy-ACT PRE PREA RD RDA WR WRA OUT IN RBM REF PDE SRE | asleep | < | < | .
PDE          | PDX                              | 3           | <  | <  | .
PDE          | SRX                              | awake       | <  | <  | .
PDX          | RD RDA WR WRA                    | 8           | <  | <  | .
PDX          | ACT copy-ACT PRE PREA OUT IN RBM REF SRE | 2   | <  | <  | .
PDX          | PDE                              | 3           | <  | <  | .
SRE          | SRX                              | 3           | <  | <  | .
SRE          | PDX                              | awake       | <  | <  | .
SRX          | ACT PRE PREA REF                 | 82          | <  | <  | .
SRX          | copy-ACT                         | =           | <  | <  | .
SRX          | RD RDA WR WRA OUT IN RBM         | bank-closed | <  | <  | .
SRX          | SRE                              | SRX-REF-SRE | <  | <  | .
SRX          | PDE                              | 82          | <  | <  | .
ACT copy-ACT PRE PREA RD RDA WR WRA OUT IN RBM REF PDX SRX | PDX SRX | awake | < | < | .
";

#[test]
fn distances_of_ddr2_are_those_of_the_datasheet() {
    let table = Table::parse(TABLE, &[]);
    table.assert_complete(&COMMANDS);
    let system = system("DDR2-800D", Density::Gb2);
    check(&System { precharge_power_down: PrechargePowerDown::SlowExit, ..system }, &table, unchanged);
}
