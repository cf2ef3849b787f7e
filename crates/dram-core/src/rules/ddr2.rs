//! The rules of DDR2. Additive latency is 0.

#[allow(clippy::wildcard_imports, reason = "the table uses nearly all names")]
use super::*;
use Origin::Jesd79_2 as Jedec;

/// The rules of DDR2.
pub(super) const TABLE: RuleTable = RuleTable {
    rules: &with_mechanisms::<{ RULES.len() + MECHANISMS }>(RULES, 0, CCD, CCD, WRITE_TO_READ, READ_TO_PRECHARGE),
    refresh_before_power_down: false,
    row_open: (Term::Plus(1, P::RasMax), Public("Micron DDR2 HDL model: tRAS max 70 us")),
    power_down: (Term::Plus(9, P::Refi), Jedec("at most 9 tREFI between two REF: recalled")),
    refresh: (Jedec("at most 9 tREFI between two REF: recalled"), Jedec("at most eight REF postponed: recalled")),
};

/// RD to PRE: BL/2 + max(tRTP, 2) - 2.
const READ_TO_PRECHARGE: &[Term] = &[plus(P::Burst), plus(P::Rtp), Minus(P::Clock), Minus(P::Clock)];
const READ_TO_ACT: &[Term] = &[plus(P::Burst), plus(P::Rtp), plus(P::Rp), Minus(P::Clock), Minus(P::Clock)];

#[rustfmt::skip] // One rule per line: read it beside the datasheet.
const RULES: &[Rule] = &[
    rule("tRCD",     Bank, ACTS, &[Rd, Rda, Wr, Wra], RCD,                             1, Jedec("ACT to RD or WR")),
    rule("tRAS",     Bank, ACTS,   TO_PRES, &[plus(P::Ras)],                            1, Jedec("ACT to PRE")),
    rule("tRC",      Bank, ACTS,   &[Act], &[plus(P::Rc)],                             1, Jedec("ACT to ACT of a bank")),
    rule("tRP",      Bank, PRES,   &[Act], &[plus(P::Rp)],                             1, Jedec("PRE to ACT")),
    rule("tRTP",     Bank, READS,  TO_PRES, READ_TO_PRECHARGE,                          1, Jedec("RD to PRE")),
    rule("tWR",      Bank, WRITES, TO_PRES, WRITE_RECOVERY,                             1, Jedec("write recovery")),
    rule("RDA-ACT",  Bank, &[Rda], &[Act], READ_TO_ACT,                                1, Jedec("auto-precharge after a read")),
    rule("WRA-ACT",  Bank, &[Wra], &[Act], WRITE_RECOVERY_AND_RP,                      1, Jedec("auto-precharge after a write")),
    when(&[When::ManyBanks], rule("tRPA", Rank, &[PreA], &[Act], &[plus(P::Rpa)],      1, Public("Micron DDR2 HDL model: PREA to ACT, chips with eight banks"))),
    when(&[When::CopiesCounted], rule("tRRD", Rank, ACTS, ACTS, &[plus(P::Rrd)],          1, Jedec("ACT to ACT of two banks"))),
    when(&[When::CopiesFree], rule("tRRD", Rank, &[Act], &[Act], &[plus(P::Rrd)],         1, Jedec("ACT to ACT of two banks"))),
    when(&[When::ManyBanks, When::CopiesCounted], rule("tFAW", Rank, ACTS, ACTS, &[plus(P::Faw)], 4, Jedec("four-activate window of chips with eight banks"))),
    when(&[When::ManyBanks, When::CopiesFree], rule("tFAW", Rank, &[Act], &[Act], &[plus(P::Faw)], 4, Jedec("four-activate window of chips with eight banks"))),
    rule("tCCD-RD",  Rank, READS,  READS,  CCD,                                        1, Jedec("RD to RD")),
    rule("tCCD-WR",  Rank, WRITES, WRITES, CCD,                                        1, Jedec("WR to WR")),
    rule("RD-WR",    Rank, READS,  WRITES, &[plus(P::Burst), Term::Plus(2, P::Clock)], 1, Jedec("RD to WR")),
    rule("tWTR",     Rank, WRITES, READS,  WRITE_TO_READ,                              1, Jedec("WR to RD")),
    rule("RD-RD-rank", OtherRanks, READS,  READS,  &[plus(P::Burst), plus(P::Rtrs)],   1, Public("DRAMSim2: rank switch")),
    rule("WR-WR-rank", OtherRanks, WRITES, WRITES, &[plus(P::Burst), plus(P::Rtrs)],   1, Public("DRAMSim2: rank switch")),
    rule("RD-WR-rank", OtherRanks, READS,  WRITES, &[plus(P::Cl), plus(P::Burst), plus(P::Rtrs), Minus(P::Cwl)], 1, Public("DRAMSim2: rank switch")),
    rule("WR-RD-rank", OtherRanks, WRITES, READS,  &[plus(P::Cwl), plus(P::Burst), plus(P::Rtrs), Minus(P::Cl)], 1, Public("DRAMSim2: rank switch")),
    rule("tRP-REF",  Rank, PRES,   REFS,   &[plus(P::Rp)],                             1, Jedec("PRE to REF or SRE")),
    rule("tRC-REF",  Rank, ACTS,   REFS,   &[plus(P::Rc)],                             1, Jedec("ACT to REF or SRE")),
    rule("RDA-REF",  Rank, &[Rda], REFS,   READ_TO_ACT,                                1, Jedec("RDA to REF or SRE")),
    rule("WRA-REF",  Rank, &[Wra], REFS,   WRITE_RECOVERY_AND_RP,                      1, Jedec("WRA to REF or SRE")),
    rule("tRFC",     Rank, &[Ref], CKE_HIGH, &[plus(P::Rfc)],                          1, Jedec("no other command until tRFC after a REF")),
    rule("tRDPDEN",  Rank, READS,  &[Pde, Sre], &[plus(P::Cl), plus(P::Burst), plus(P::Clock)], 1, Jedec("RD to PDE; no data burst in progress at SRE")),
    rule("tWRPDEN",  Rank, &[Wr],  &[Pde], WRITE_RECOVERY, 1, Jedec("WR to PDE")),
    rule("tWRAPDEN", Rank, &[Wra], &[Pde], &[plus(P::Cwl), plus(P::Burst), plus(P::Wr), plus(P::Clock)], 1, Jedec("WRA to PDE")),
    rule("tACTPDEN", Rank, ACTS,   &[Pde], &[plus(P::ActPden)],                        1, Jedec("ACT to PDE")),
    rule("tPRPDEN",  Rank, PRES,   &[Pde], &[plus(P::PrPden)],                         1, Jedec("PRE to PDE")),
    rule("tREFPDEN", Rank, &[Ref], &[Pde], &[plus(P::RefPden)],                         1, Jedec("REF to PDE")),
    rule("tPD",      Rank, &[Pde], PDXS,   &[plus(P::Cke)],                            1, Jedec("PDE to PDX")),
    rule("tCKE",     Rank, PDXS,   &[Pde], &[plus(P::Cke)],                            1, Jedec("PDX to PDE")),
    rule("tXP",      Rank, PDXS,   CKE_HIGH, &[plus(P::Xp)],                           1, Jedec("PDX to any command")),
    rule("tXARDS",   Rank, &[PdxSlow], &[Rd, Rda, Wr, Wra], &[plus(P::Xpdll)],         1, Jedec("slow exit of active power-down to RD; to WR: chosen")),
    rule("tCKE-SR",  Rank, &[Sre], &[Srx], &[plus(P::Ckesr)],                          1, Jedec("SRE to SRX")),
    rule("tXSNR",    Rank, &[Srx], NO_DLL_OR_PDE, &[plus(P::Xs)], 1, Jedec("SRX to a command that needs no DLL")),
    rule("tXSRD",    Rank, &[Srx], &[Rd, Rda, Wr, Wra], &[plus(P::Dllk)],              1, Jedec("SRX to RD; to WR: chosen")),
    rule("bus",      Channel, ANY, ANY,    &[plus(P::Clock)],                          1, Jedec("one command a clock")),
];
