//! The rules of DDR5. Distances hold from the first to the first cycle of commands of two cycles, or
//! from the second to the second: [`Rule::distance`].

#[allow(clippy::wildcard_imports, reason = "the table uses nearly all names")]
use super::*;
use Origin::Jesd79_5 as Jedec;

/// The rules of DDR5.
pub(super) const TABLE: RuleTable = RuleTable {
    rules: &with_mechanisms::<{ RULES.len() + MECHANISMS }>(RULES, 2, CCD_L, CCD_L_WR, WRITE_TO_READ_L, RTP),
    refresh_before_power_down: false,
    row_open: (Term::Plus(5, P::Refi), Jedec("a REFab needs closed banks, and its gap is at most 5 tREFI1: derived")),
    power_down: (Term::Plus(5, P::Refi), Jedec("tPD max")),
    refresh: (
        Jedec("at most 5 tREFI1 or 9 tREFI2 between two REFab; REFsb: chosen"),
        Jedec("at most four REFab postponed; eight in fine granularity: recalled"),
    ),
};

/// The commands of two cycles.
const TWO_CYCLES: &[Kind] = &[Act, ActCopy, ActDropped, Rd, Rda, Wr, Wra];

#[rustfmt::skip] // One rule per line: read it beside the datasheet.
const RULES: &[Rule] = &[
    rule("tRCD",     Bank, ACTS, &[Rd, Rda, Wr, Wra], RCD,                             1, Jedec("ACT to RD or WR")),
    rule("tRAS",     Bank, ACTS,   TO_PRES, &[plus(P::Ras)],                            1, Jedec("ACT to PRE")),
    rule("tRC",      Bank, ACTS,   &[Act], &[plus(P::Rc)],                             1, Jedec("ACT to ACT of a bank")),
    rule("tRP",      Bank, PRES,   &[Act], &[plus(P::Rp)],                             1, Jedec("PRE to ACT")),
    rule("tRTP",     Bank, READS,  TO_PRES, RTP,                                       1, Jedec("RD to PRE")),
    rule("tWR",      Bank, WRITES, TO_PRES, WRITE_RECOVERY,                             1, Jedec("write recovery")),
    rule("RDA-ACT",  Bank, &[Rda], &[Act], READ_RECOVERY,                              1, Jedec("auto-precharge after a read")),
    rule("WRA-ACT",  Bank, &[Wra], &[Act], WRITE_RECOVERY_AND_RP,                      1, Jedec("auto-precharge after a write")),
    rule("tPPD",     Rank, PRES,   TO_PRES, &[plus(P::Ppd)],                            1, Jedec("PRE to PRE")),
    when(&[When::CopiesCounted], rule("tRRD_S", Rank, ACTS, ACTS, &[plus(P::Rrd)],        1, Jedec("ACT to ACT of two banks"))),
    when(&[When::CopiesFree], rule("tRRD_S", Rank, &[Act], &[Act], &[plus(P::Rrd)],       1, Jedec("ACT to ACT of two banks"))),
    when(&[When::CopiesCounted], rule("tRRD_L", Group, ACTS, ACTS, &[plus(P::RrdL)],      1, Jedec("ACT to ACT of two banks of a group"))),
    when(&[When::CopiesFree], rule("tRRD_L", Group, &[Act], &[Act], &[plus(P::RrdL)],     1, Jedec("ACT to ACT of two banks of a group"))),
    when(&[When::CopiesCounted], rule("tFAW", Rank, ACTS, ACTS, &[plus(P::Faw)],          4, Jedec("four-activate window"))),
    when(&[When::CopiesFree], rule("tFAW", Rank, &[Act], &[Act], &[plus(P::Faw)],         4, Jedec("four-activate window"))),
    rule("tCCD_S-RD", Rank, READS,  READS,  CCD,                                       1, Jedec("RD to RD")),
    rule("tCCD_S-WR", Rank, WRITES, WRITES, CCD,                                       1, Jedec("WR to WR")),
    rule("tCCD_L-RD", Group, READS,  READS,  CCD_L,                                     1, Jedec("RD to RD of a bank group")),
    when(&[When::ReadModifyWrite], rule("tCCD_L_WR", Group, WRITES, WRITES, &[plus(P::CcdLRmw)], 1, Jedec("WR to WR of a bank group, with a read of the rest of the codeword"))),
    when(&[When::WholeWrites], rule("tCCD_L_WR2", Group, WRITES, WRITES, CCD_L_WR, 1, Jedec("WR to WR of a bank group; that full bursts of x8 and x16 need no read: recalled"))),
    rule("RD-WR",    Rank, READS,  WRITES, &[plus(P::Cl), plus(P::Burst), Term::Plus(2, P::Clock), plus(P::Wpre), Minus(P::Cwl)], 1, Public("Ramulator 2: 14 clocks; JESD79-5B: 13 to 15")),
    rule("tWTR_S",   Rank, WRITES, READS,  WRITE_TO_READ,                              1, Jedec("WR to RD")),
    rule("tWTR_L",   Group, WRITES, READS, WRITE_TO_READ_L,                            1, Jedec("WR to RD of a bank group")),
    rule("tWTRA",    Bank, &[Wr],  &[Rda], &[plus(P::Cwl), plus(P::Burst), plus(P::Wr), Minus(P::Rtp)], 1, Jedec("WR to RDA: write recovery before auto-precharge")),
    rule("RD-RD-rank", OtherRanks, READS,  READS,  &[plus(P::Burst), plus(P::Rtrs)],   1, Public("Ramulator 2: rank switch")),
    rule("WR-WR-rank", OtherRanks, WRITES, WRITES, &[plus(P::Burst), plus(P::Rtrs)],   1, Public("Ramulator 2: rank switch")),
    rule("RD-WR-rank", OtherRanks, READS,  WRITES, &[plus(P::Cl), plus(P::Burst), plus(P::Rtrs), Minus(P::Cwl)], 1, Public("DRAMSys: rank switch")),
    rule("WR-RD-rank", OtherRanks, WRITES, READS,  &[plus(P::Cwl), plus(P::Burst), plus(P::Rtrs), Minus(P::Cl)], 1, Public("DRAMSys: rank switch")),
    rule("tRP-REF",  Rank, PRES,   REFS,   &[plus(P::Rp)],                             1, Jedec("PRE to REF or SRE")),
    rule("tRC-REF",  Rank, ACTS,   REFS,   &[plus(P::Rc)],                             1, Jedec("ACT to REF or SRE")),
    rule("RDA-REF",  Rank, &[Rda], REFS,   READ_RECOVERY,                              1, Jedec("RDA to REF or SRE")),
    rule("WRA-REF",  Rank, &[Wra], REFS,   WRITE_RECOVERY_AND_RP,                      1, Jedec("WRA to REF or SRE")),
    rule("tRFC",     Rank, &[Ref], CKE_HIGH, &[plus(P::Rfc)],                          1, Jedec("no other command until tRFC after a REF")),
    rule("REF-window", Rank, &[Ref], &[Ref], &[plus(P::RefiOnce)],                WINDOW, Jedec("at most five REFab within tREFI1; ten in fine granularity: chosen")),
    rule("tRP-REFsb", Bank, PRES,  &[RefSb], &[plus(P::Rp)],                           1, Jedec("PRE to REFsb")),
    rule("tRC-REFsb", Bank, ACTS,  &[RefSb], &[plus(P::Rc)],                           1, Jedec("ACT to REFsb of its bank")),
    rule("RDA-REFsb", Bank, &[Rda], &[RefSb], READ_RECOVERY,                           1, Jedec("RDA to REFsb")),
    rule("WRA-REFsb", Bank, &[Wra], &[RefSb], WRITE_RECOVERY_AND_RP,                   1, Jedec("WRA to REFsb")),
    rule("ACT-REFsb", Rank, ACTS,  &[RefSb], &[plus(P::RrdL)],                         1, Jedec("ACT to REFsb of another bank")),
    rule("tRFCsb",   Bank, &[RefSb], &[Act, RefSb], &[plus(P::RfcSb)],                 1, Jedec("REFsb to ACT or REFsb of its banks")),
    rule("tRFCsb-REF", Rank, &[RefSb], REFS, &[plus(P::RfcSb)],                        1, Jedec("REFsb to REFab or SRE")),
    rule("tREFSBRD", Rank, &[RefSb], ACTS,   &[plus(P::RefSbRd)],                      1, Jedec("REFsb to ACT of another bank number")),
    rule("REFsb-REFsb", Rank, &[RefSb], &[RefSb], &[plus(P::RefSbRd)],                 1, Project("REFsb to REFsb of another bank number, as to ACT")),
    rule("tRDPDEN",  Rank, READS,  &[Pde, Sre], &[plus(P::Cl), plus(P::Burst), plus(P::Clock)], 1, Jedec("RD to PDE; no data burst in progress at SRE")),
    rule("tWRPDEN",  Rank, &[Wr],  &[Pde], &[plus(P::Cwl), plus(P::Burst), plus(P::Wr), plus(P::Clock)], 1, Jedec("WR to PDE")),
    rule("tWRAPDEN", Rank, &[Wra], &[Pde], &[plus(P::Cwl), plus(P::Burst), plus(P::Wr), plus(P::Clock)], 1, Jedec("WRA to PDE")),
    rule("tACTPDEN", Rank, ACTS,   &[Pde], &[plus(P::ActPden)],                        1, Jedec("ACT to PDE")),
    rule("tPRPDEN",  Rank, PRES,   &[Pde], &[plus(P::PrPden)],                         1, Jedec("PRE to PDE")),
    rule("tREFPDEN", Rank, &[Ref, RefSb], &[Pde], &[plus(P::RefPden)],                         1, Jedec("REF to PDE")),
    rule("tPD",      Rank, &[Pde], PDXS,   &[plus(P::Cke)],                            1, Jedec("PDE to PDX")),
    rule("tCKE",     Rank, PDXS,   &[Pde], &[plus(P::Cke)],                            1, Jedec("PDX to PDE")),
    rule("tXP",      Rank, PDXS,   CKE_HIGH, &[plus(P::Xp)],                           1, Jedec("PDX to any command")),
    rule("tCSL",     Rank, &[Sre], &[Srx], &[plus(P::Ckesr)],                          1, Jedec("SRE to SRX")),
    rule("tXS",      Rank, &[Srx], NO_DLL_OR_REFSB, &[plus(P::Xs)], 1, Jedec("SRX to a command that needs no DLL")),
    rule("tXSDLL",   Rank, &[Srx], &[Rd, Rda, Wr, Wra], &[plus(P::Dllk)],              1, Jedec("SRX to RD or WR")),
    rule("bus",      Channel, ANY, ANY,    &[plus(P::Clock)],                          1, Jedec("one command a clock")),
    rule("bus-two-cycles", Channel, TWO_CYCLES, ANY, &[Term::Plus(2, P::Clock)],       1, Jedec("ACT and column commands take two cycles")),
    when(&[When::ReadModifyWrite], rule("TRANSFER-tCCD-WR", Rank, &[Transfer], &[Transfer], &[plus(P::CcdLRmw)], 1, Project("TRANSFER to TRANSFER, by the destination"))),
    when(&[When::WholeWrites], rule("TRANSFER-tCCD-WR", Rank, &[Transfer], &[Transfer], CCD_L_WR, 1, Project("TRANSFER to TRANSFER, by the destination"))),
];
