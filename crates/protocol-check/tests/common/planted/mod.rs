//! For every rule, a pair of logs: a small legal log, and a log with one change that breaks this rule and no other.
//!
//! For a timing rule or a maximum, the change moves the last command by one cycle. For a state rule, it removes,
//! replaces or changes one command. The match in [`pair`] is exhaustive, so every rule has a pair:
//!
//! [`pairs`] has those of a standard: for each rule that DDR3 does not have, or that has another limit.

mod ddr2;
mod ddr4;
mod ddr5;

use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandLog, Cycle, Density, Dialect, EventSink, Geometry,
    PrechargePowerDown, RawGeometry, Refresh, Row, SpeedBin, Standard, System, Width,
};

use protocol_check::Rule;

use super::{PDE, PDX, PREA, REF, SRE, SRX, pre};

/// A legal and an illegal log of one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The system of both logs.
    pub system: System,
    /// The dialect of both logs.
    pub dialect: Dialect,
    /// Complies with every rule.
    pub legal: CommandLog,
    /// Breaks the rule once, and no other rule but `also`.
    pub illegal: CommandLog,
    /// A rule that can only be broken together with this one.
    pub also: Option<Rule>,
}

/// The system of most pairs: one channel with two ranks at DDR3-1066G, 2 Gb x8 chips, rows of 4 KB, refresh off.
///
/// Clocks: CL 8, CWL 6, tRCD 8, tRP 8, tRAS 20, tRC 28, tRRD 4, tFAW 20, tCCD 4, tRTP 4, tWR 8, tWTR 4, tXP 4,
/// tXPDLL 13, tCKE 3, tRFC 86, tXS 91, tREFI 4160.
pub fn system() -> System {
    System { refresh: Refresh::Off, ..System::new(bin("1066G"), geometry(2)) }
}

fn bin(name: &str) -> &'static SpeedBin {
    SpeedBin::named(name).expect("the datasheet has the bins of the pairs")
}

fn geometry(ranks: u64) -> Geometry {
    geometry_of(Standard::Ddr3, ranks, Density::Gb2, Width::X8, 4096)
}

fn geometry_of(standard: Standard, ranks: u64, density: Density, width: Width, row_bytes: u64) -> Geometry {
    let raw = RawGeometry { standard, channels: 1, ranks, density, width, row_bytes, rows_per_subarray: 512.into() };
    Geometry::try_from(raw).expect("the standard has the chips, and they have the rows")
}

const fn in_rank(rank: u8, bank: u8) -> BankId {
    BankId { rank, bank }
}

const fn act_row(bank: u8, row: u32) -> Command {
    Command::Activate { bank: in_rank(0, bank), row: Row(row) }
}

const fn act(bank: u8) -> Command {
    act_row(bank, 0)
}

const fn read(rank: u8, auto_precharge: AutoPrecharge) -> Command {
    Command::Read { bank: in_rank(rank, 0), column: Column(0), auto_precharge }
}

const fn write(rank: u8, auto_precharge: AutoPrecharge) -> Command {
    Command::Write { bank: in_rank(rank, 0), column: Column(0), auto_precharge }
}

const fn rd(bank: u8) -> Command {
    Command::Read { bank: in_rank(0, bank), column: Column(0), auto_precharge: AutoPrecharge::No }
}

const fn wr(bank: u8) -> Command {
    Command::Write { bank: in_rank(0, bank), column: Column(0), auto_precharge: AutoPrecharge::No }
}

const fn transfer(src: u8, dst: u8) -> Command {
    Command::Transfer { src: in_rank(0, src), src_column: Column(0), dst: in_rank(0, dst), dst_column: Column(0) }
}

const fn rbm(bank: u8, row: u32) -> Command {
    Command::MoveRowBuffer { bank: in_rank(0, bank), row: Row(row) }
}

const ACT_RANK_1: Command = Command::Activate { bank: in_rank(1, 0), row: Row(0) };
const RD: Command = read(0, AutoPrecharge::No);
const RDA: Command = read(0, AutoPrecharge::Yes);
const WR: Command = write(0, AutoPrecharge::No);
const WRA: Command = write(0, AutoPrecharge::Yes);

type Listing = [(u64, Command)];

fn log(listing: &Listing) -> CommandLog {
    let mut log = CommandLog::default();
    for (at, command) in listing {
        log.push(Cycle(*at), Channel(0), command);
    }
    log.finish(log.commands.last().map_or(Cycle::ZERO, |issued| issued.at));
    log
}

fn differing(legal: &Listing, illegal: &Listing) -> Pair {
    let dialect = Dialect::RowClone;
    Pair { system: system(), dialect, legal: log(legal), illegal: log(illegal), also: None }
}

fn last_moved(legal: &Listing, shift: i64) -> Pair {
    let mut illegal = legal.to_vec();
    if let Some((at, _)) = illegal.last_mut() {
        *at = at.saturating_add_signed(shift);
    }
    differing(legal, &illegal)
}

/// The last command at its earliest legal cycle, and one cycle earlier.
fn early(legal: &Listing) -> Pair {
    last_moved(legal, -1)
}

/// The last command at its latest legal cycle, and one cycle later.
fn late(legal: &Listing) -> Pair {
    last_moved(legal, 1)
}

/// As many REFs as a window may have, `distance` apart, and the next one where the window of the first ends.
fn refreshes_in_window(count: u64, distance: u64, window: u64) -> Vec<(u64, Command)> {
    (0..count).map(|i| (distance * i, REF)).chain([(window, REF)]).collect()
}

impl Pair {
    fn map_system(self, change: impl FnOnce(System) -> System) -> Pair {
        Pair { system: change(self.system), ..self }
    }

    /// At DDR3-2133N, where tACTPDEN, tPRPDEN and tREFPDEN are two clocks: more than the command bus requires.
    fn at_2133(self) -> Pair {
        self.map_system(|system| System { bin: bin("2133N"), ..system })
    }

    fn slow_exit(self) -> Pair {
        self.map_system(|system| System { precharge_power_down: PrechargePowerDown::SlowExit, ..system })
    }

    /// With refresh on, in a single rank.
    fn refreshed(self) -> Pair {
        self.map_system(|system| System { refresh: Refresh::NORMAL, geometry: geometry(1), ..system })
    }

    fn on(self, system: &System) -> Pair {
        self.map_system(|_| system.clone())
    }

    /// With a refresh mode of the standard, refresh on.
    fn in_mode(self, mode: &str) -> Pair {
        self.map_system(|system| System {
            refresh_mode: system.bin.standard.refresh_mode(mode).expect("the standard has the mode"),
            refresh: Refresh::Every { t_refi_ps: system.t_refi_ps() },
            ..system
        })
    }

    /// With some parameters of the bin replaced, as its name lists them.
    fn with(self, replaced: &str) -> Pair {
        self.map_system(|system| System { bin: bin(&format!("{}[{replaced}]", system.bin.name)), ..system })
    }

    fn also(self, rule: Rule) -> Pair {
        Pair { also: Some(rule), ..self }
    }

    fn jedec(self) -> Pair {
        Pair { dialect: Dialect::Jedec, ..self }
    }
}

/// The pairs of a standard: for DDR3 of all its rules, else of those that DDR3 does not have, or that have another
/// limit. A rule can have several.
pub fn pairs(standard: Standard) -> Vec<(Rule, Pair)> {
    match standard {
        Standard::Ddr2 => ddr2::pairs(),
        Standard::Ddr3 => {
            Rule::ALL.into_iter().filter(|rule| rule.is_in(standard)).map(|rule| (rule, pair(rule))).collect()
        }
        Standard::Ddr4 => ddr4::pairs(),
        Standard::Ddr5 => ddr5::pairs(),
    }
}

/// The first pair of a rule in the standards other than DDR3.
fn of_another_standard(rule: Rule) -> Pair {
    let others = [Standard::Ddr4, Standard::Ddr5, Standard::Ddr2].into_iter().flat_map(pairs);
    others.into_iter().find(|(of, _)| *of == rule).expect("every rule has a pair").1
}

/// The pair of a rule: of DDR3, if DDR3 has the rule.
#[rustfmt::skip] // One log per line: read it beside docs/rules.md.
#[expect(clippy::too_many_lines, reason = "a listing with a row per rule")]
pub fn pair(rule: Rule) -> Pair {
    match rule {
        Rule::TRcd => early(&[(0, act(0)), (8, RD)]),
        Rule::TRas => early(&[(0, act(0)), (20, pre(0))]),
        // With RDA, because a PRE after tRAS would put tRP and tRC at the same instant. RDA-ACT ends at 20.
        Rule::TRc => early(&[(0, act(0)), (8, RDA), (28, act(0))]),
        Rule::TRp => early(&[(0, pre(0)), (8, act(0))]),
        // tRAS ends at 20.
        Rule::TRtp => early(&[(0, act(0)), (17, RD), (21, pre(0))]),
        // 6 + 4 + 8 = 18.
        Rule::TWr => early(&[(0, act(0)), (8, WR), (26, pre(0))]),
        // 4 + 8 = 12; tRC ends at 28.
        Rule::RdaAct => early(&[(0, act(0)), (17, RDA), (29, act(0))]),
        // 18 + 8 = 26.
        Rule::WraAct => early(&[(0, act(0)), (8, WRA), (34, act(0))]),
        Rule::TRrd => early(&[(0, act(0)), (4, act(1))]),
        Rule::TFaw => early(&[(0, act(0)), (4, act(1)), (8, act(2)), (12, act(3)), (20, act(4))]),
        Rule::TCcdRd => early(&[(0, act(0)), (8, RD), (12, RD)]),
        Rule::TCcdWr => early(&[(0, act(0)), (8, WR), (12, WR)]),
        // 8 + 4 + 2 - 6 = 8.
        Rule::RdWr => early(&[(0, act(0)), (8, RD), (16, WR)]),
        // 6 + 4 + 4 = 14.
        Rule::TWtr => early(&[(0, act(0)), (8, WR), (22, RD)]),
        // 4 + 2 = 6.
        Rule::RdRdRank => early(&[(0, act(0)), (1, ACT_RANK_1), (8, RD), (14, read(1, AutoPrecharge::No))]),
        Rule::WrWrRank => early(&[(0, act(0)), (1, ACT_RANK_1), (8, WR), (14, write(1, AutoPrecharge::No))]),
        // 8 + 4 + 2 - 6 = 8.
        Rule::RdWrRank => early(&[(0, act(0)), (1, ACT_RANK_1), (8, RD), (16, write(1, AutoPrecharge::No))]),
        // 6 + 4 + 2 - 8 = 4.
        Rule::WrRdRank => early(&[(0, act(0)), (1, ACT_RANK_1), (8, WR), (12, read(1, AutoPrecharge::No))]),
        Rule::TRpRef => early(&[(0, pre(0)), (8, REF)]),
        Rule::TRcRef => early(&[(0, act(0)), (8, RDA), (28, REF)]),
        Rule::RdaRef => early(&[(0, act(0)), (17, RDA), (29, REF)]),
        Rule::WraRef => early(&[(0, act(0)), (8, WRA), (34, REF)]),
        // 160 ns.
        Rule::TRfc => early(&[(0, REF), (86, act(0))]),
        // 2 x 4160 = 8320.
        Rule::RefWindow => early(&refreshes_in_window(16, 86, 8320)),
        // 8 + 4 + 1 = 13.
        Rule::TRdpden => early(&[(0, act(0)), (8, RD), (21, PDE)]),
        Rule::TWrpden => early(&[(0, act(0)), (8, WR), (26, PDE)]),
        Rule::TWrapden => early(&[(0, act(0)), (8, WRA), (27, PDE)]),
        Rule::TActpden => early(&[(0, act(0)), (2, PDE)]).at_2133(),
        Rule::TPrpden => early(&[(0, pre(0)), (2, PDE)]).at_2133(),
        Rule::TRefpden => early(&[(0, REF), (2, PDE)]).at_2133(),
        Rule::TPd => early(&[(0, PDE), (3, PDX)]),
        Rule::TCke => early(&[(0, PDE), (3, PDX), (6, PDE)]),
        Rule::TXp => early(&[(0, PDE), (3, PDX), (7, act(0))]),
        // tXP and tRCD together take 12 from PDX, one less than tXPDLL.
        Rule::TXpdll => early(&[(0, PDE), (3, PDX), (7, act(0)), (16, RD)]).slow_exit(),
        Rule::PdxRefPde => early(&[(0, PDE), (3, PDX), (7, REF), (16, PDE)]),
        Rule::RefPdxPde => early(&[(0, REF), (1, PDE), (4, PDX), (86, PDE)]),
        Rule::TCkesr => early(&[(0, SRE), (4, SRX)]),
        // 170 ns.
        Rule::TXs => early(&[(0, SRE), (4, SRX), (95, act(0))]),
        Rule::TXsdll => early(&[(0, SRE), (4, SRX), (95, act(0)), (516, RD)]),
        Rule::Bus => early(&[(0, pre(0)), (1, pre(1))]),
        Rule::BusTransfer => early(&[(0, act(0)), (4, act(1)), (12, transfer(0, 1)), (14, pre(2))]),
        Rule::Fpm => early(&[(0, act_row(0, 0)), (20, act_row(0, 1))]),
        Rule::FpmTWr => early(&[(0, act(0)), (8, WR), (26, act_row(0, 1))]),
        Rule::TransferTRcd => early(&[(0, act(0)), (4, act(1)), (12, transfer(0, 1))]),
        Rule::TransferTCcd => early(&[(0, act(0)), (4, act(1)), (12, transfer(0, 1)), (16, transfer(0, 1))]),
        Rule::TransferTurnaround => early(&[(0, act(0)), (4, act(1)), (12, transfer(0, 1)), (26, transfer(1, 0))]),
        Rule::RdTransfer => early(&[(0, act(0)), (4, act(1)), (12, RD), (16, transfer(0, 1))]),
        Rule::TransferWr => early(&[(0, act(0)), (4, act(1)), (12, transfer(0, 1)), (16, WR)]),
        Rule::WrTransfer => early(&[(0, act(0)), (4, act(1)), (12, WR), (26, transfer(0, 1))]),
        Rule::TransferRd => early(&[(0, act(0)), (4, act(1)), (12, transfer(0, 1)), (26, RD)]),
        // tRAS of the source ends at 20.
        Rule::TransferTRtp => early(&[(0, act(0)), (4, act(1)), (17, transfer(0, 1)), (21, pre(0))]),
        Rule::TransferTWr => early(&[(0, act(0)), (4, act(1)), (12, transfer(0, 1)), (30, pre(1))]),
        Rule::TransferPde => early(&[(0, act(0)), (4, act(1)), (12, transfer(0, 1)), (30, PDE)]),
        // 8 ns x (1 + 1) = 16 ns.
        Rule::Rbm => early(&[(0, act(0)), (20, rbm(0, 512)), (29, act_row(0, 513))]),
        Rule::TRrdS | Rule::TRrdL | Rule::TCcdSRd | Rule::TCcdSWr | Rule::TCcdLRd | Rule::WrWrTWpre | Rule::TCcdLWrite | Rule::TCcdLWr
        | Rule::TCcdLWr2 | Rule::TWtrS | Rule::TWtrL | Rule::WrRda | Rule::WrRdaTWr | Rule::TWtra | Rule::TPpd
        | Rule::TRpa | Rule::TRfcsb | Rule::TRfcsbRef | Rule::TRefsbrd | Rule::RefsbRefsb | Rule::TRpRefsb
        | Rule::TRcRefsb | Rule::RdaRefsb | Rule::WraRefsb | Rule::ActRefsb | Rule::TXards | Rule::TCkeSr | Rule::TXsnr
        | Rule::TXsrd | Rule::TCsl | Rule::BusTwoCycles | Rule::TransferTCcdWr
        | Rule::SrxRefPde | Rule::RefsbRound => of_another_standard(rule),
        // 9 x 4160 = 37,440.
        Rule::TRasMax => late(&[(0, act(0)), (37_440, pre(0))]),
        Rule::TPdMax => late(&[(0, PDE), (37_440, PDX)]),
        // The REF at 0 counts in advance: the next may come until 10 x 4160.
        Rule::RefGap => late(&[(0, REF), (37_440, REF)]).refreshed(),
        // The first REF, due at 4160, is eight intervals late; the second, due at 2 x 4160, may be eight late as well.
        Rule::RefPostponed => late(&[(37_440, REF), (41_600, REF)]).refreshed(),
        Rule::BankClosed => differing(&[(0, act(0)), (8, RD)], &[(8, RD)]),
        Rule::BankOpen => differing(
            &[(0, act(0)), (20, pre(0)), (28, act(0))],
            &[(0, act(0)), (28, act(0))],
        ).jedec(),
        Rule::FpmSubarray => differing(
            &[(0, act_row(0, 0)), (20, act_row(0, 511))],
            &[(0, act_row(0, 0)), (20, act_row(0, 512))],
        ),
        Rule::BanksOpen => differing(
            &[(0, act(0)), (20, pre(0)), (28, REF)],
            &[(0, act(0)), (28, REF)],
        ),
        Rule::Asleep => differing(&[(0, PDE), (3, PDX), (7, act(0))], &[(0, PDE), (7, act(0))]),
        Rule::Awake => differing(&[(0, PDE), (3, PDX)], &[(3, PDX)]),
        Rule::SrxRefSre => differing(
            &[(0, SRE), (4, SRX), (95, REF), (181, SRE)],
            &[(0, SRE), (4, SRX), (181, SRE)],
        ),
        Rule::TransferJedec => differing(
            &[(0, act(0)), (4, act(1)), (12, RD)],
            &[(0, act(0)), (4, act(1)), (12, transfer(0, 1))],
        ).jedec(),
        Rule::TransferBanks => differing(
            &[(0, act(0)), (4, act(1)), (12, transfer(0, 1))],
            &[(0, act(0)), (4, act(1)), (12, transfer(0, 0))],
        ),
        Rule::RbmJedec => differing(&[(0, act(0)), (20, pre(0))], &[(0, act(0)), (20, rbm(0, 512))]).jedec(),
        Rule::RbmSubarray => differing(
            &[(0, act(0)), (20, rbm(0, 512)), (29, act_row(0, 1023))],
            &[(0, act(0)), (20, rbm(0, 512)), (29, act_row(0, 1024))],
        ),
        Rule::RbmAct => differing(
            &[(0, act(0)), (20, rbm(0, 512)), (29, act_row(0, 512))],
            &[(0, act(0)), (20, rbm(0, 512)), (29, pre(0))],
        ),
        Rule::Address => differing(&[(0, act_row(0, 65_535))], &[(0, act_row(0, 65_536))]),
        Rule::Order => differing(&[(10, pre(0)), (11, pre(1))], &[(10, pre(0)), (9, pre(1))]),
    }
}
