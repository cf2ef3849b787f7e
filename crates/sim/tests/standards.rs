//! Copies and streams in each standard, against sums of datasheet counts.

use std::collections::BTreeMap;

use dram_spec::address::{Fields, MapPreset, RawAddressMap};
use dram_spec::{Command, CommandLog, Density, Issued, PhysicalAddress, ReferenceCycle, Refresh, SpeedBin, Width};
use host::workload::{Gap, Pattern, Random, Settings, Stream, StreamAccess};
use host::{OperationKind, OperationSpec, Place};
use memctrl::policy::copy::{BASELINE, CopyPolicy, PSM_ONLY, ROWCLONE};
use rowclone_sim::{Attachments, Experiment, MemorySystem, Requests, SystemBuilder};

/// One rank on one channel, of chips with pages of 1 KB, without refresh.
fn system(bin: &str, density: Density, row_bytes: u64) -> SystemBuilder {
    SystemBuilder::default()
        .bin(SpeedBin::named(bin).expect("a bin"))
        .chips(density, Width::X8)
        .channels(1)
        .row_bytes(row_bytes)
        .no_currents()
        .refresh(Refresh::Off)
        .address_map(MapPreset::RowInterleaved.raw())
}

/// Clocks of a copy of one row on an idle memory. The checker accepts its commands, and the memory is right.
fn clocks(system: &MemorySystem, policy: &'static dyn CopyPolicy, src: Place) -> u64 {
    let bytes = system.system().geometry.row_bytes();
    let dst = PhysicalAddress(0x40_0000);
    let copy = OperationSpec { kind: OperationKind::Copy, src: Some(src), dst, bytes, value: 0, at: None };
    let outcome =
        Experiment::operations(system, [copy]).expect("a copy").policy(policy).checked().run().expect("a run");
    assert!(outcome.check.expect("a check").passed());
    outcome.operations[0].latency_cycles
}

/// Counts of a bin in clocks, with one row of `lines`.
struct Counts {
    rcd: u64,
    rp: u64,
    ras: u64,
    cwl: u64,
    burst: u64,
    wr: u64,
    /// RD to PRE.
    rtp: u64,
    /// RD to RD and WR to WR of one bank.
    ccd: u64,
    ccd_wr: u64,
    lines: u64,
}

impl Counts {
    /// ACT, the reads of the row, PRE, and the same with writes. A row lies in one bank, so that its lines are tCCD_L
    /// apart.
    fn over_the_channel(&self) -> u64 {
        self.read() + self.write()
    }

    fn read(&self) -> u64 {
        self.rcd + (self.lines - 1) * self.ccd + self.rtp + self.rp
    }

    fn write(&self) -> u64 {
        self.rcd + (self.lines - 1) * self.ccd_wr + self.cwl + self.burst + self.wr + self.rp
    }

    /// ACT of the source, ACT of the destination, PRE.
    fn fpm(&self) -> u64 {
        2 * self.ras + self.rp
    }

    /// The ACT of the second bank is tRRD_S after that of the first; the trains end as writes do.
    fn psm(&self, rrd: u64) -> u64 {
        rrd + self.write()
    }
}

/// JESD79-4: 16-16-16 and 22-22-22; tCCD_L 6 and 8, tRRD_S 4 of pages of 1 KB.
#[test]
fn copies_of_a_row_in_ddr4_take_the_sums_of_the_datasheet_counts() {
    let of_2400 = Counts { rcd: 16, rp: 16, ras: 39, cwl: 12, burst: 4, wr: 18, rtp: 9, ccd: 6, ccd_wr: 6, lines: 128 };
    let of_3200 =
        Counts { rcd: 22, rp: 22, ras: 52, cwl: 16, burst: 4, wr: 24, rtp: 12, ccd: 8, ccd_wr: 8, lines: 128 };
    for (bin, counts, published) in
        [("DDR4-2400R", of_2400, [1631, 94, 832]), ("DDR4-3200AA", of_3200, [2176, 126, 1108])]
    {
        assert_eq!([counts.over_the_channel(), counts.fpm(), counts.psm(4)], published, "{bin}");
        let system = system(bin, Density::Gb8, 8192).build().unwrap();
        let measured = [
            clocks(&system, BASELINE, Place::SameSubarray),
            clocks(&system, ROWCLONE, Place::SameSubarray),
            clocks(&system, PSM_ONLY, Place::OtherBank),
        ];
        assert_eq!(measured, published, "{bin}");
    }
}

/// 40-39-39, tRAS 32 ns, tWR 30 ns, WR to WR of x8 chips max(16, 10 ns). With the second cycle of commands of two
/// cycles as the reference, a PRE comes a clock later after an ACT, RD or WR, and the ACT after a PRE a clock earlier:
/// a copy ends with a PRE and is one clock longer.
#[test]
fn copies_of_a_row_in_ddr5_depend_on_the_reference_cycle() {
    let counts =
        Counts { rcd: 39, rp: 39, ras: 77, cwl: 38, burst: 8, wr: 72, rtp: 18, ccd: 12, ccd_wr: 24, lines: 64 };
    assert_eq!([counts.over_the_channel(), counts.fpm()], [2560, 193]);
    for (reference, longer) in [(ReferenceCycle::First, 0), (ReferenceCycle::Second, 1)] {
        let builder = system("DDR5-4800B", Density::Gb16, 4096).reference_cycle(reference);
        let system = builder.refresh(Refresh::Off).build().unwrap();
        let measured = [BASELINE, ROWCLONE].map(|policy| clocks(&system, policy, Place::SameSubarray));
        assert_eq!(measured, [2560 + longer, 193 + longer], "{reference:?}");
    }
}

/// 3-3-3, tRAS 40 ns. A burst takes 4 clocks, more than tCCD; RD to PRE is BL/2 + max(tRTP, 2) - 2.
#[test]
fn copies_of_a_row_in_ddr2_take_the_sums_of_the_datasheet_counts() {
    let rtp = 4 + 2 - 2;
    let counts = Counts { rcd: 3, rp: 3, ras: 8, cwl: 2, burst: 4, wr: 3, rtp, ccd: 4, ccd_wr: 4, lines: 128 };
    assert_eq!([counts.over_the_channel(), counts.fpm()], [1041, 19]);
    let system = system("DDR2-400B", Density::Gb2, 8192).build().unwrap();
    let measured = [BASELINE, ROWCLONE].map(|policy| clocks(&system, policy, Place::SameSubarray));
    assert_eq!(measured, [1041, 19]);
}

/// Sequential reads of DDR4-2400R with 8 Gb x8 chips: clocks per line without refresh, for an order of the address
/// fields.
fn check_stream(fields: [&str; 7], clocks_per_line: u64) {
    const LINES: u64 = 100_000;
    let map = RawAddressMap { fields: Fields::List(fields.map(str::to_owned).to_vec()), xor: Vec::new() };
    let system =
        system("DDR4-2400R", Density::Gb8, 8192).refresh(Refresh::NORMAL).address_map(map).build().expect("a system");
    let access = StreamAccess::Pattern(Pattern::READS);
    let stream = Stream { start: PhysicalAddress(0), count: LINES, stride_bytes: 64, access, gap: Gap::ZERO };
    let requests = Requests::Made { settings: Settings::new(stream), allocator: None };
    let outcome = Experiment::new(&system, requests).policy(BASELINE).run().expect("a run");
    // A refresh separates two reads by tRTP + tRP + tRFC1 + tRCD.
    let apart = 9 + 16 + 420 + 16;
    let refreshes = outcome.figures.commands["REF"];
    let expected = LINES * clocks_per_line + refreshes * (apart - clocks_per_line);
    // tREFI is 9360 clocks.
    assert_eq!(refreshes, outcome.makespan_cycles / 9360);
    let difference = outcome.makespan_cycles.abs_diff(expected) as f64 / expected as f64;
    assert!(difference < 0.002, "{} clocks, expected {expected}", outcome.makespan_cycles);
}

/// Consecutive lines lie in different groups, so that a read follows tCCD_S, 4 clocks, after another: 457 clocks are
/// lost per refresh.
#[test]
fn reads_of_alternating_bank_groups_use_the_whole_data_bus() {
    check_stream(["row", "rank", "bank", "column", "bank_group", "channel", "offset"], 4);
}

/// All lines of the stream lie in one group, in which reads are tCCD_L, 6 clocks, apart.
#[test]
fn reads_of_one_bank_group_are_limited_by_its_distance() {
    check_stream(["bank_group", "row", "rank", "bank", "column", "channel", "offset"], 6);
}

/// Distances of successive WRs in clocks, each with its number, and the clocks of the run, for DDR4-3200AA with a write
/// preamble of two clocks.
fn write_distances(settings: Settings) -> (BTreeMap<u64, u64>, u64) {
    let fields = ["row", "rank", "bank", "column", "bank_group", "channel", "offset"];
    let map = RawAddressMap { fields: Fields::List(fields.map(str::to_owned).to_vec()), xor: Vec::new() };
    let builder = system("DDR4-3200AA[tWPRE=2]", Density::Gb8, 8192).refresh(Refresh::NORMAL).address_map(map);
    let system = builder.build().expect("a system");
    let mut log = CommandLog::default();
    let attachments = Attachments { commands: Some(&mut log), ..Attachments::default() };
    let requests = Requests::Made { settings, allocator: None };
    let outcome = Experiment::new(&system, requests).policy(BASELINE).run_with(attachments).expect("a run");
    let is_write = |issued: &&Issued| matches!(issued.command, Command::Write { .. });
    let writes: Vec<_> = log.commands.iter().filter(is_write).map(|issued| issued.at).collect();
    let mut distances = BTreeMap::new();
    for pair in writes.windows(2) {
        *distances.entry(pair[1].since(pair[0]).0).or_default() += 1;
    }
    (distances, outcome.makespan_cycles)
}

/// JESD79-4 forbids a distance of exactly five clocks between two WRs with a preamble of two clocks. Without that rule,
/// 10 % of the distances in random traffic were five clocks.
#[test]
fn no_two_writes_are_at_the_forbidden_distance() {
    let access = StreamAccess::Pattern(Pattern::WRITES);
    let (start, gap) = (PhysicalAddress(0), Gap::ZERO);
    let stream = Stream { start, count: 20_000, stride_bytes: 64, access, gap };
    let (distances, _) = write_distances(Settings::new(stream));
    assert!(distances[&4] > 19_900 && !distances.contains_key(&5), "{distances:?}");
    for writes in [1.0, 0.5, 0.2] {
        let random = Random { count: 20_000, start, bytes: 1 << 28, write_share: writes, gap };
        let (distances, _) = write_distances(Settings::new(random));
        assert!(distances[&4] > 0 && distances[&6] > 0 && !distances.contains_key(&5), "{distances:?}");
    }
}
