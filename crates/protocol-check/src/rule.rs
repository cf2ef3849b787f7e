//! The rules by name: those of DDR3 are the rows of the rule tables of `docs/rules.md`, in their order.

use std::fmt;

/// The table of `docs/rules.md` that defines a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// A minimum distance between two commands.
    Timing,
    /// A maximum duration, or a maximum number of refreshes owed.
    Maximum,
    /// A state in which a command is illegal, or an operand that does not exist.
    State,
}

macro_rules! rules {
    ($($variant:ident = $name:literal, $sort:ident, $source:literal, $what:literal;)*) => {
        /// A rule for command streams. [`Rule::is_in`] returns whether a standard has it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = concat!("`", $name, "`: ", $what, ".")] $variant,)*
        }

        impl Rule {
            /// All rules, by table; in each, those of DDR3 are in the order of `docs/rules.md`.
            pub const ALL: [Rule; [$($name),*].len()] = [$(Rule::$variant),*];

            /// The name, exactly as in `docs/rules.md`: "tRCD".
            pub const fn name(self) -> &'static str {
                match self {
                    $(Rule::$variant => $name,)*
                }
            }

            /// The table of the rule: timing rule, maximum or state rule.
            pub const fn sort(self) -> Sort {
                match self {
                    $(Rule::$variant => Sort::$sort,)*
                }
            }

            /// The source: a standard, a datasheet, a paper, another simulator, or this project. For a rule of several
            /// standards, the source in the first one of DDR3, DDR4, DDR5 and DDR2; [`Rule::source_in`] has those of
            /// the others.
            pub const fn source(self) -> &'static str {
                match self {
                    $(Rule::$variant => $source,)*
                }
            }

            /// The commands or the state that the rule binds, in a few words: "ACT to RD, WR".
            pub const fn what(self) -> &'static str {
                match self {
                    $(Rule::$variant => $what,)*
                }
            }
        }
    };
}

#[rustfmt::skip] // One rule per line: read it beside docs/rules.md.
rules! {
    TRcd               = "tRCD",                Timing,  "JESD79-3", "ACT to RD, WR";
    TRas               = "tRAS",                Timing,  "JESD79-3", "ACT to PRE";
    TRc                = "tRC",                 Timing,  "JESD79-3", "ACT to ordinary ACT";
    TRp                = "tRP",                 Timing,  "JESD79-3", "PRE to ACT";
    TRtp               = "tRTP",                Timing,  "JESD79-3", "RD to PRE";
    TWr                = "tWR",                 Timing,  "JESD79-3", "WR to PRE";
    RdaAct             = "RDA-ACT",             Timing,  "JESD79-3", "RDA to ACT";
    WraAct             = "WRA-ACT",             Timing,  "JESD79-3", "WRA to ACT";
    TRrd               = "tRRD",                Timing,  "JESD79-3", "ACT to ACT in the rank";
    TFaw               = "tFAW",                Timing,  "JESD79-3", "ACT to the fourth ACT after it in the rank";
    TCcdRd             = "tCCD-RD",             Timing,  "JESD79-3", "RD to RD";
    TCcdWr             = "tCCD-WR",             Timing,  "JESD79-3", "WR to WR";
    RdWr               = "RD-WR",               Timing,  "JESD79-3", "RD to WR";
    TWtr               = "tWTR",                Timing,  "JESD79-3", "WR to RD";
    RdRdRank           = "RD-RD-rank",          Timing,  "Ramulator 1, tRTRS = 2", "RD to RD of another rank";
    WrWrRank           = "WR-WR-rank",          Timing,  "Ramulator 1", "WR to WR of another rank";
    RdWrRank           = "RD-WR-rank",          Timing,  "Ramulator 1", "RD to WR of another rank";
    WrRdRank           = "WR-RD-rank",          Timing,  "Ramulator 1", "WR to RD of another rank";
    TRpRef             = "tRP-REF",             Timing,  "JESD79-3", "PRE to REF, SRE";
    TRcRef             = "tRC-REF",             Timing,  "JESD79-3", "ACT to REF, SRE";
    RdaRef             = "RDA-REF",             Timing,  "JESD79-3", "RDA to REF, SRE";
    WraRef             = "WRA-REF",             Timing,  "JESD79-3", "WRA to REF, SRE";
    TRfc               = "tRFC",                Timing,  "JESD79-3, refresh command: only DES and NOP until tRFC", "REF to any command except PDE, PDX, SRX";
    RefWindow          = "REF-window",          Timing,  "JESD79-3: at most 16 REF within 2 tREFI", "REF to the sixteenth REF after it";
    TRdpden            = "tRDPDEN",             Timing,  "JESD79-3; SRE: no data burst in progress, distance as in DRAMSys", "RD to PDE, SRE";
    TWrpden            = "tWRPDEN",             Timing,  "JESD79-3", "WR without auto-precharge to PDE";
    TWrapden           = "tWRAPDEN",            Timing,  "JESD79-3", "WRA to PDE";
    TActpden           = "tACTPDEN",            Timing,  "JESD79-3", "ACT to PDE";
    TPrpden            = "tPRPDEN",             Timing,  "JESD79-3", "PRE to PDE";
    TRefpden           = "tREFPDEN",            Timing,  "JESD79-3", "REF to PDE";
    TPd                = "tPD",                 Timing,  "JESD79-3", "PDE to PDX";
    TCke               = "tCKE",                Timing,  "JESD79-3: CKE high for tCKE", "PDX to PDE";
    TXp                = "tXP",                 Timing,  "JESD79-3", "PDX to any command except PDE, PDX, SRX";
    TXpdll             = "tXPDLL",              Timing,  "JESD79-3; WR: chosen", "PDX of a precharge power-down with slow exit to RD, WR";
    PdxRefPde          = "PDX-REF-PDE",         Timing,  "JESD79-3, power-down clarification, case 2", "PDX to PDE, with a REF between";
    RefPdxPde          = "REF-PDX-PDE",         Timing,  "JESD79-3, power-down clarification, case 3", "REF to PDE, with a PDX between";
    TCkesr             = "tCKESR",              Timing,  "JESD79-3", "SRE to SRX";
    TXs                = "tXS",                 Timing,  "JESD79-3", "SRX to ACT, PRE, REF, SRE, TRANSFER";
    TXsdll             = "tXSDLL",              Timing,  "JESD79-3; PDE: CKE stays high for tXSDLL except for self-refresh re-entry; WR: chosen", "SRX to RD, WR, PDE";
    Bus                = "bus",                 Timing,  "command bus", "one command per cycle";
    BusTransfer        = "bus-TRANSFER",        Timing,  "RowClone: two command-bus cycles", "TRANSFER to any";
    Fpm                = "FPM",                 Timing,  "RowClone: the source row is restored first", "ACT to copy activation";
    FpmTWr             = "FPM-tWR",             Timing,  "chosen: written data is in the source row before the row is copied, as before PRE", "WR, or TRANSFER into the bank, to copy activation";
    TransferTRcd       = "TRANSFER-tRCD",       Timing,  "project definition", "ACT to TRANSFER, source and destination";
    TransferTCcd       = "TRANSFER-tCCD",       Timing,  "project definition", "TRANSFER to TRANSFER";
    TransferTurnaround = "TRANSFER-turnaround", Timing,  "project definition", "TRANSFER into a bank to TRANSFER out of it";
    RdTransfer         = "RD-TRANSFER",         Timing,  "project definition", "RD to TRANSFER";
    TransferWr         = "TRANSFER-WR",         Timing,  "project definition", "TRANSFER to WR";
    WrTransfer         = "WR-TRANSFER",         Timing,  "project definition", "WR to TRANSFER";
    TransferRd         = "TRANSFER-RD",         Timing,  "project definition", "TRANSFER to RD";
    TransferTRtp       = "TRANSFER-tRTP",       Timing,  "project definition", "TRANSFER to PRE of its source bank";
    TransferTWr        = "TRANSFER-tWR",        Timing,  "project definition", "TRANSFER to PRE of its destination bank";
    TransferPde        = "TRANSFER-PDE",        Timing,  "chosen: the internal write ends first, as after WR", "TRANSFER to PDE";
    TRrdS              = "tRRD_S",              Timing,  "JESD79-4", "ACT to ACT in the rank";
    TRrdL              = "tRRD_L",              Timing,  "JESD79-4", "ACT to ACT in the bank group";
    TCcdSRd            = "tCCD_S-RD",           Timing,  "JESD79-4", "RD to RD in the rank";
    TCcdSWr            = "tCCD_S-WR",           Timing,  "JESD79-4", "WR to WR in the rank";
    WrWrTWpre          = "WR-WR-tWPRE",         Timing,  "JESD79-4, write preamble", "WR to WR in the rank, unless exactly BL/2 after it";
    TCcdLRd            = "tCCD_L-RD",           Timing,  "JESD79-4", "RD to RD in the bank group";
    TCcdLWrite         = "tCCD_L-WR",           Timing,  "JESD79-4", "WR to WR in the bank group";
    TCcdLWr            = "tCCD_L_WR",           Timing,  "JESD79-5", "WR to WR in the bank group, x4 chips";
    TCcdLWr2           = "tCCD_L_WR2",          Timing,  "JESD79-5", "WR to WR in the bank group, x8 and x16 chips";
    TWtrS              = "tWTR_S",              Timing,  "JESD79-4", "WR to RD in the rank";
    TWtrL              = "tWTR_L",              Timing,  "JESD79-4", "WR to RD in the bank group";
    WrRda              = "WR-RDA",              Timing,  "DRAMSys", "WR to RDA in the bank";
    WrRdaTWr           = "WR-RDA-tWR",          Timing,  "DRAMSys", "WR to RDA in the bank: the internal precharge waits for tWR";
    TWtra              = "tWTRA",               Timing,  "JESD79-5", "WR to RDA in the bank: the internal precharge waits for tWR";
    TPpd               = "tPPD",                Timing,  "JESD79-5", "PRE to PRE in the rank";
    TRpa               = "tRPA",                Timing,  "JESD79-2", "PREA to ACT, chips with eight banks";
    TRfcsb             = "tRFCsb",              Timing,  "JESD79-5", "REFsb to ACT, REFsb of its banks";
    TRfcsbRef          = "tRFCsb-REF",          Timing,  "JESD79-5", "REFsb to REF, SRE";
    TRefsbrd           = "tREFSBRD",            Timing,  "JESD79-5", "REFsb to ACT of another bank number";
    RefsbRefsb         = "REFsb-REFsb",         Timing,  "chosen: as before an ACT of another bank number", "REFsb to REFsb of another bank number";
    TRpRefsb           = "tRP-REFsb",           Timing,  "JESD79-5", "PRE to REFsb of the bank";
    TRcRefsb           = "tRC-REFsb",           Timing,  "JESD79-5", "ACT to REFsb of the bank";
    RdaRefsb           = "RDA-REFsb",           Timing,  "JESD79-5", "RDA to REFsb of the bank";
    WraRefsb           = "WRA-REFsb",           Timing,  "JESD79-5", "WRA to REFsb of the bank";
    ActRefsb           = "ACT-REFsb",           Timing,  "JESD79-5", "ACT to REFsb in the rank";
    TXards             = "tXARDS",              Timing,  "JESD79-2; WR: chosen", "PDX of an active power-down with slow exit to RD, WR";
    TCkeSr             = "tCKE-SR",             Timing,  "JESD79-2", "SRE to SRX";
    TXsnr              = "tXSNR",               Timing,  "JESD79-2", "SRX to ACT, PRE, REF, SRE, PDE, TRANSFER";
    TXsrd              = "tXSRD",               Timing,  "JESD79-2; WR: chosen", "SRX to RD, WR";
    TCsl               = "tCSL",                Timing,  "JESD79-5", "SRE to SRX";
    BusTwoCycles       = "bus-two-cycles",      Timing,  "JESD79-5: two command-bus cycles", "ACT, RD, WR to any";
    TransferTCcdWr     = "TRANSFER-tCCD-WR",    Timing,  "project definition", "TRANSFER to TRANSFER: the write of the one to the write of the other";
    Rbm                = "RBM",                 Timing,  "LISA: 8 ns per hop, and once more", "RBM to the ACT after it in its bank";
    TRasMax            = "tRAS-max",            Maximum, "Samsung M378B5673EH1", "a bank open since its last ACT";
    TPdMax             = "tPD-max",             Maximum, "Samsung K4B2G0446D", "a rank in power-down";
    RefGap             = "REF-gap",             Maximum, "JESD79-3", "time without a REF, self-refresh left out";
    RefPostponed       = "REF-postponed",       Maximum, "JESD79-3", "a REF more than eight intervals late, self-refresh left out";
    BankClosed         = "bank-closed",         State,   "JESD79-3", "RD, WR or TRANSFER to a bank without an open row";
    BankOpen           = "bank-open",           State,   "JESD79-3", "ACT to an open bank";
    FpmSubarray        = "FPM-subarray",        State,   "RowClone", "a copy activation of a row of another subarray, which the device drops";
    BanksOpen          = "banks-open",          State,   "JESD79-3", "REF or SRE while a bank of the rank is open";
    Asleep             = "asleep",              State,   "JESD79-3", "a command to a rank in power-down or self-refresh";
    Awake              = "awake",               State,   "JESD79-3", "PDX outside power-down, or SRX outside self-refresh";
    SrxRefSre          = "SRX-REF-SRE",         State,   "JESD79-3, self-refresh operation", "SRE without a REF since the last SRX";
    SrxRefPde          = "SRX-REF-PDE",         State,   "JESD79-4, self-refresh operation", "PDE without a REF since the last SRX";
    RefsbRound         = "REFsb-round",         State,   "JESD79-5", "a second REFsb of a bank number before all bank numbers had one";
    TransferJedec      = "TRANSFER-jedec",      State,   "project definition", "a TRANSFER in dialect jedec";
    TransferBanks      = "TRANSFER-banks",      State,   "project definition", "a TRANSFER within one bank, or between ranks";
    RbmJedec           = "RBM-jedec",           State,   "project definition", "an RBM in dialect jedec";
    RbmSubarray        = "RBM-subarray",        State,   "LISA", "an RBM within a subarray, or the ACT after it in another subarray than its destination";
    RbmAct             = "RBM-ACT",             State,   "project definition", "PRE, PREA or PDE between an RBM and the ACT after it";
    Address            = "address",             State,   "the geometry", "a channel, rank, bank, row or column that does not exist";
    Order              = "order",               State,   "the log", "a command earlier than the one before it on its channel";
}

impl Rule {
    /// The rule with a name as in `docs/rules.md`, if there is one.
    pub fn named(name: &str) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
