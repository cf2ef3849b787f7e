//! The rules of DDR4.

#[allow(clippy::wildcard_imports, reason = "the table uses nearly all names")]
use super::*;
use Origin::Jesd79_4 as Jedec;

/// The rules of DDR4.
pub(super) const TABLE: RuleTable = RuleTable {
    rules: &with_mechanisms::<{ RULES.len() + MECHANISMS }>(RULES, 1, CCD_L, CCD_L_WR, WRITE_TO_READ_L, RTP),
    refresh_before_power_down: true,
    row_open: (Term::Plus(9, P::Refi), Jedec("tRAS max")),
    power_down: (Term::Plus(9, P::Refi), Jedec("tPD max")),
    refresh: (
        Jedec("at most 9 tREFI, 17 tREFI2 or 33 tREFI4 between two REF"),
        Jedec("at most 8, 16 or 32 REF postponed, by mode"),
    ),
};

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
    when(&[When::CopiesCounted], rule("tRRD_S", Rank, ACTS, ACTS, &[plus(P::Rrd)],        1, Jedec("ACT to ACT of two banks"))),
    when(&[When::CopiesFree], rule("tRRD_S", Rank, &[Act], &[Act], &[plus(P::Rrd)],       1, Jedec("ACT to ACT of two banks"))),
    when(&[When::CopiesCounted], rule("tRRD_L", Group, ACTS, ACTS, &[plus(P::RrdL)],      1, Jedec("ACT to ACT of two banks of a group"))),
    when(&[When::CopiesFree], rule("tRRD_L", Group, &[Act], &[Act], &[plus(P::RrdL)],     1, Jedec("ACT to ACT of two banks of a group"))),
    when(&[When::CopiesCounted], rule("tFAW", Rank, ACTS, ACTS, &[plus(P::Faw)],          4, Jedec("four-activate window"))),
    when(&[When::CopiesFree], rule("tFAW", Rank, &[Act], &[Act], &[plus(P::Faw)],         4, Jedec("four-activate window"))),
    rule("tCCD_S-RD", Rank, READS,  READS,  CCD,                                       1, Jedec("RD to RD")),
    rule("tCCD_S-WR", Rank, WRITES, WRITES, CCD,                                       1, Jedec("WR to WR")),
    rule("tCCD_L-RD", Group, READS,  READS,  CCD_L,                                     1, Jedec("RD to RD of a bank group")),
    rule("tCCD_L-WR", Group, WRITES, WRITES, CCD_L_WR,                                 1, Jedec("WR to WR of a bank group")),
    when(&[When::LongWritePreamble], or_exactly(&[plus(P::Burst)], rule("WR-WR-tWPRE", Rank, WRITES, WRITES, &[plus(P::Burst), plus(P::Wpre)], 1, Jedec("data without a gap, or a gap of the preamble")))),
    rule("RD-WR",    Rank, READS,  WRITES, &[plus(P::Cl), plus(P::Burst), plus(P::Clock), plus(P::Wpre), Minus(P::Cwl)], 1, Jedec("RD to WR")),
    rule("tWTR_S",   Rank, WRITES, READS,  WRITE_TO_READ,                              1, Jedec("WR to RD")),
    rule("tWTR_L",   Group, WRITES, READS, WRITE_TO_READ_L,                            1, Jedec("WR to RD of a bank group")),
    rule("WR-RDA",   Bank, &[Wr],  &[Rda], WRITE_TO_READ_L,                            1, Public("DRAMSys: write recovery before auto-precharge")),
    rule("WR-RDA-tWR", Bank, &[Wr], &[Rda], &[plus(P::Cwl), plus(P::Burst), plus(P::Wr), Minus(P::Rtp)], 1, Public("DRAMSys: write recovery before auto-precharge")),
    rule("RD-RD-rank", OtherRanks, READS,  READS,  &[plus(P::Burst), plus(P::Rtrs)],   1, Public("Ramulator 2: rank switch")),
    rule("WR-WR-rank", OtherRanks, WRITES, WRITES, &[plus(P::Burst), plus(P::Rtrs)],   1, Public("Ramulator 2: rank switch")),
    rule("RD-WR-rank", OtherRanks, READS,  WRITES, &[plus(P::Cl), plus(P::Burst), plus(P::Rtrs), Minus(P::Cwl)], 1, Public("DRAMSys: rank switch")),
    rule("WR-RD-rank", OtherRanks, WRITES, READS,  &[plus(P::Cwl), plus(P::Burst), plus(P::Rtrs), Minus(P::Cl)], 1, Public("DRAMSys: rank switch")),
    rule("tRP-REF",  Rank, PRES,   REFS,   &[plus(P::Rp)],                             1, Jedec("PRE to REF or SRE")),
    rule("tRC-REF",  Rank, ACTS,   REFS,   &[plus(P::Rc)],                             1, Jedec("ACT to REF or SRE")),
    rule("RDA-REF",  Rank, &[Rda], REFS,   READ_RECOVERY,                              1, Jedec("RDA to REF or SRE")),
    rule("WRA-REF",  Rank, &[Wra], REFS,   WRITE_RECOVERY_AND_RP,                      1, Jedec("WRA to REF or SRE")),
    rule("tRFC",     Rank, &[Ref], CKE_HIGH, &[plus(P::Rfc)],                          1, Jedec("no other command until tRFC after a REF")),
    rule("REF-window", Rank, &[Ref], &[Ref], &[plus(P::RefiTwice)],               WINDOW, Jedec("at most 16, 32 or 64 REF within 2 tREFI, by mode")),
    rule("tRDPDEN",  Rank, READS,  &[Pde, Sre], &[plus(P::Cl), plus(P::Burst), plus(P::Clock)], 1, Jedec("RD to PDE; no data burst in progress at SRE")),
    rule("tWRPDEN",  Rank, &[Wr],  &[Pde], WRITE_RECOVERY, 1, Jedec("WR to PDE")),
    rule("tWRAPDEN", Rank, &[Wra], &[Pde], &[plus(P::Cwl), plus(P::Burst), plus(P::Wr), plus(P::Clock)], 1, Jedec("WRA to PDE")),
    rule("tACTPDEN", Rank, ACTS,   &[Pde], &[plus(P::ActPden)],                        1, Jedec("ACT to PDE")),
    rule("tPRPDEN",  Rank, PRES,   &[Pde], &[plus(P::PrPden)],                         1, Jedec("PRE to PDE")),
    rule("tREFPDEN", Rank, &[Ref], &[Pde], &[plus(P::RefPden)],                         1, Jedec("REF to PDE")),
    rule("tPD",      Rank, &[Pde], PDXS,   &[plus(P::Cke)],                            1, Jedec("PDE to PDX")),
    rule("tCKE",     Rank, PDXS,   &[Pde], &[plus(P::Cke)],                            1, Jedec("PDX to PDE")),
    rule("tXP",      Rank, PDXS,   CKE_HIGH, &[plus(P::Xp)],                           1, Jedec("PDX to any command")),
    rule("tCKESR",   Rank, &[Sre], &[Srx], &[plus(P::Ckesr)],                          1, Jedec("SRE to SRX")),
    rule("tXS",      Rank, &[Srx], NO_DLL_OR_PDE, &[plus(P::Xs)], 1, Jedec("SRX to a command that needs no DLL")),
    rule("tXSDLL",   Rank, &[Srx], &[Rd, Rda, Wr, Wra], &[plus(P::Dllk)],              1, Jedec("SRX to RD; to WR: DRAMSys")),
    rule("bus",      Channel, ANY, ANY,    &[plus(P::Clock)],                          1, Jedec("one command a clock")),
    rule("TRANSFER-tCCD-WR", Rank, &[Transfer], &[Transfer], CCD_L_WR,                 1, Project("TRANSFER to TRANSFER, by the destination")),
];
