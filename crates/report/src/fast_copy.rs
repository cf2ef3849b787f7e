//! Copy loops of a core: simulated rates by size, beside FreeBSD's published ones.

use std::fmt::Write as _;

use serde::Serialize;

use crate::plot::{Chart, Condition, Kind, Request, Spacing, Table};
use crate::table::Align::{Left, Right};
use crate::table::{Column, listed, wrapped};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Sizes of copies, bytes.
pub const SIZES: [u64; 19] = {
    let mut sizes = [16; 19];
    let mut at = 1;
    while at < sizes.len() {
        sizes[at] = 2 * sizes[at - 1];
        at += 1;
    }
    sizes
};
/// The loops.
pub const LOOPS: [&str; 3] = ["libc", "integer", "floating point"];
/// The machines.
pub const MACHINES: [&str; 7] =
    ["pentium-133", "pentium-133, page mode", "pentium-100, page mode", "p6-200", "i486-100", "paper", "ddr4-desktop"];
/// Bytes of an iteration of the integer loop, whose crossing with libc is looked for.
pub const CROSSING_UNROLLS: [u64; 5] = [32, 64, 128, 256, 512];

/// MB/s of the loops on the Pentium 133 with EDO.
pub const PUBLISHED: [f64; 3] = [40.0, 60.0, 80.0];
/// Change of the Pentium 100 with page-mode memory from the Pentium 133 with EDO, percent.
pub const PUBLISHED_CHANGES: [Option<f64>; 3] = [None, Some(-15.0), Some(-30.0)];
/// Maximum of the P6 beside that of the Pentium 133.
pub const PUBLISHED_P6_SHARE: f64 = 0.5;

/// Characters of a line of text.
const WIDTH: usize = 80;
/// Copies of more bytes must keep the order of the loops.
const ORDER_FROM: u64 = 4096;
/// The gain of floating point where there is none, at most.
const NO_GAIN: f64 = 1.05;
/// Copies of fewer bytes are made by the tail of each loop.
const TAIL_BELOW: u64 = 64;
/// Why floating point gains on the P6, where it does.
const P6_CAUSE: &str = "p6-200: the loads of a block find the row of the source open, and libc and its stores change \
                        the row for each line; with closed rows (system.page_mode.read_hit=15, write_hit=7) it gains \
                        less than 1 %";

/// Rates of copies of a size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rates {
    /// Bytes of a copy.
    pub bytes: u64,
    /// 10^6 bytes per second, of each loop.
    pub mb_s: [f64; 3],
}

/// Rates of a machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineRates {
    /// Name.
    pub machine: &'static str,
    /// Names of its loops in `kernel.copy_loop`.
    pub loops: [&'static str; 3],
    /// By size.
    pub rates: Vec<Rates>,
}

/// Where the integer loop becomes faster than libc.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// Bytes of an iteration.
    pub unroll_bytes: u64,
    /// The first size from which on it is faster in all sizes; none if it is slower in the last one.
    pub bytes: Option<u64>,
}

/// A condition on the rates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Required {
    /// The condition.
    pub condition: &'static str,
    /// Comparisons.
    pub comparisons: usize,
    /// Those that fail.
    pub failed: Vec<String>,
}

/// The tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FastCopyTable {
    /// Version of the fields.
    pub schema_version: u32,
    /// Published rates of the loops on the first machine.
    pub published: [f64; 3],
    /// Each machine.
    pub machines: Vec<MachineRates>,
    /// Crossings of the integer loop with libc on the first machine.
    pub crossings: Vec<Crossing>,
    /// What must hold.
    pub required: Vec<Required>,
}

impl MachineRates {
    /// Those of the largest size.
    fn large(&self) -> [f64; 3] {
        self.rates.last().expect("there is a size").mb_s
    }

    /// The greatest rate of any loop and size.
    fn most(&self) -> f64 {
        self.rates.iter().flat_map(|rates| rates.mb_s).fold(0.0, f64::max)
    }
}

impl Crossing {
    /// The crossing of rates by size with those of libc.
    pub fn of(unroll_bytes: u64, libc: &[(u64, f64)], rates: &[(u64, f64)]) -> Crossing {
        let pairs = libc.iter().zip(rates).rev();
        let faster = pairs.take_while(|((_, libc), (_, rate))| rate > libc);
        Crossing { unroll_bytes, bytes: faster.last().map(|((bytes, _), _)| *bytes) }
    }
}

impl FastCopyTable {
    /// The tables of some rates.
    ///
    /// # Panics
    /// If machines are missing.
    pub fn new(schema_version: u32, machines: Vec<MachineRates>, crossings: Vec<Crossing>) -> FastCopyTable {
        let mut table =
            FastCopyTable { schema_version, published: PUBLISHED, machines, crossings, required: Vec::new() };
        table.required = vec![table.order(), table.tail(), table.unrolled(), table.no_gain()];
        table
    }

    fn machine(&self, name: &str) -> &MachineRates {
        self.machines.iter().find(|machine| machine.machine == name).expect("the table has all machines")
    }

    fn order(&self) -> Required {
        let mut required = Required::new("pentium-133, above 4 KB: libc < integer < floating point");
        for rates in self.machine(MACHINES[0]).rates.iter().filter(|rates| rates.bytes > ORDER_FROM) {
            for (at, pair) in rates.mb_s.windows(2).enumerate() {
                let names =
                    format!("{} B, {} {:.1}, {} {:.1}", rates.bytes, LOOPS[at], pair[0], LOOPS[at + 1], pair[1]);
                required.compare(pair[0] < pair[1], names);
            }
        }
        required
    }

    fn tail(&self) -> Required {
        let mut required = Required::new("pentium-133, below 64 B: all loops are the tail");
        for rates in self.machine(MACHINES[0]).rates.iter().filter(|rates| rates.bytes < TAIL_BELOW) {
            for (at, rate) in rates.mb_s.iter().enumerate().skip(1) {
                let is_equal = rate.total_cmp(&rates.mb_s[0]).is_eq();
                required.compare(is_equal, format!("{} B, {} {rate:.3}", rates.bytes, LOOPS[at]));
            }
        }
        required
    }

    fn unrolled(&self) -> Required {
        let mut required =
            Required::new("the crossing of integer with libc moves right with the bytes of an iteration");
        // A loop that is not unrolled enough never crosses.
        let crossings: Vec<_> = self.crossings.iter().filter_map(|it| Some((it.unroll_bytes, it.bytes?))).collect();
        for pair in crossings.windows(2) {
            let [(before, from), (after, to)] = [pair[0], pair[1]];
            required.compare(from < to, format!("{before} and {after} B per iteration"));
        }
        required
    }

    fn no_gain(&self) -> Required {
        let mut required = Required::new("p6-200, i486-100, above 4 KB: floating point gains at most 5 %");
        for name in ["p6-200", "i486-100"] {
            for rates in self.machine(name).rates.iter().filter(|rates| rates.bytes > ORDER_FROM) {
                let gain = rates.mb_s[2] / rates.mb_s[0];
                required.compare(gain <= NO_GAIN, format!("{name}, {} B: {:+.1} %", rates.bytes, 100.0 * (gain - 1.0)));
            }
        }
        required
    }

    /// The tables for a terminal of 80 columns.
    pub fn to_text(&self) -> String {
        let mut text =
            wrapped("Copy loops (FreeBSD on P5, P6 and 486): MB/s of copies whose bytes no cache holds", WIDTH);
        for machine in &self.machines {
            let _ = write!(text, "\n{}\n{}", machine.machine, rates(machine));
        }
        let _ = write!(text, "\n{}\n{}\n{}", self.beside_published(), self.changes(), self.crossings_text());
        text += &wrapped("The energy of machines with a page-mode memory is not computed.", WIDTH);
        text + "\n" + &self.required_text()
    }

    fn beside_published(&self) -> String {
        let found = self.machine(MACHINES[0]).large();
        let columns: [Column<'_, usize>; 6] = [
            ("pentium-133,\nlargest size", Left, &|&at| LOOPS[at].to_owned()),
            ("published:\nMB/s", Right, &|&at| format!("{:.0}", PUBLISHED[at])),
            ("\nto libc", Right, &|&at| format!("{:.2}", PUBLISHED[at] / PUBLISHED[0])),
            ("simulated:\nMB/s", Right, &|&at| format!("{:.1}", found[at])),
            ("\nto libc", Right, &|&at| format!("{:.2}", found[at] / found[0])),
            ("off by", Right, &|&at| format!("{:+.0} %", 100.0 * (found[at] / PUBLISHED[at] - 1.0))),
        ];
        listed(&columns, &[0, 1, 2], WIDTH)
    }

    fn changes(&self) -> String {
        let [edo, fpm, slow] = [0, 1, 2].map(|at| self.machine(MACHINES[at]).large());
        let percent = |from: f64, to: f64| format!("{:+.0} %", 100.0 * (to / from - 1.0));
        let columns: [Column<'_, usize>; 5] = [
            ("page-mode memory against\nEDO, largest size", Left, &|&at| LOOPS[at].to_owned()),
            ("100 MHz:\npublished", Right, &|&at| {
                PUBLISHED_CHANGES[at].map_or_else(|| "-".to_owned(), |change| format!("{change:+.0} %"))
            }),
            ("\nsimulated", Right, &|&at| percent(edo[at], slow[at])),
            ("133 MHz: memory\nalone", Right, &|&at| percent(edo[at], fpm[at])),
            ("clock\nalone", Right, &|&at| percent(fpm[at], slow[at])),
        ];
        let mut text = listed(&columns, &[0, 1, 2], WIDTH);
        let most = |name: &str| self.machine(name).most();
        let (p6, pentium) = (most("p6-200"), most(MACHINES[0]));
        let large = |name: &str| self.machine(name).large().into_iter().fold(0.0, f64::max);
        text += &wrapped(
            &format!(
                "maximum of p6-200 beside that of pentium-133: {:.2} of all sizes ({p6:.1} and {pentium:.1} MB/s), \
                    {:.2} \
                 of the largest; published {PUBLISHED_P6_SHARE}",
                p6 / pentium,
                large("p6-200") / large(MACHINES[0]),
            ),
            WIDTH,
        );
        text
    }

    fn crossings_text(&self) -> String {
        let columns: [Column<'_, Crossing>; 2] = [
            ("pentium-133, integer:\nbytes per iteration", Left, &|it| it.unroll_bytes.to_string()),
            ("faster than libc\nfrom, B", Right, &|it| {
                it.bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string())
            }),
        ];
        listed(&columns, &self.crossings, WIDTH)
    }

    fn required_text(&self) -> String {
        let held = |it: &Required| format!("{} of {}", it.comparisons - it.failed.len(), it.comparisons);
        let columns: [Column<'_, Required>; 2] =
            [("required", Left, &|it| it.condition.to_owned()), ("holds", Right, &held)];
        let mut text = listed(&columns, &self.required, WIDTH);
        for failed in self.required.iter().flat_map(|required| &required.failed) {
            text += &wrapped(&format!("fails: {failed}"), WIDTH);
        }
        if self.required.iter().any(|required| required.failed.iter().any(|failed| failed.starts_with("p6-200"))) {
            text += &wrapped(P6_CAUSE, WIDTH);
        }
        text
    }

    /// The rates of a machine over the size; none if there is no such machine.
    ///
    /// # Panics
    /// If the table cannot be drawn, which is an error of this crate.
    pub fn chart(&self, machine: &str) -> Option<Chart> {
        let machine = self.machines.iter().find(|it| it.machine == machine)?;
        let mut csv = "loop,bytes,rate_mb_s\n".to_owned();
        for rates in &machine.rates {
            for (name, rate) in LOOPS.iter().zip(rates.mb_s) {
                let _ = writeln!(csv, "{name},{},{rate}", rates.bytes);
            }
        }
        let table = Table::read(csv.as_bytes()).expect("the table was just written");
        let request = Request {
            kind: Kind::Lines,
            x: "bytes".to_owned(),
            y: vec!["rate_mb_s".to_owned()],
            by: vec!["loop".to_owned()],
            conditions: Vec::<Condition>::new(),
            x_spacing: Spacing::Log,
            y_spacing: Spacing::Linear,
            title: Some(format!("Copy loops on {}", machine.machine)),
            x_label: Some("Bytes of a copy".to_owned()),
            y_label: Some("MB/s".to_owned()),
            crossovers: false,
        };
        Some(request.draw(&table).expect("the columns are those of the table").chart)
    }
}

/// The rates of a machine by size.
fn rates(machine: &MachineRates) -> String {
    let [libc, integer, float] = machine.loops.map(|name| format!("\n{name}"));
    let rate = |at: usize| move |rates: &Rates| format!("{:.1}", rates.mb_s[at]);
    let (first, second, third) = (rate(0), rate(1), rate(2));
    let [libc, integer, float] = [(0, libc), (1, integer), (2, float)].map(|(at, name)| format!("{}{name}", LOOPS[at]));
    let columns: [Column<'_, Rates>; 4] = [
        ("\nB", Right, &|rates| rates.bytes.to_string()),
        (&libc, Right, &first),
        (&integer, Right, &second),
        (&float, Right, &third),
    ];
    listed(&columns, &machine.rates, WIDTH)
}

impl Required {
    const fn new(condition: &'static str) -> Required {
        Required { condition, comparisons: 0, failed: Vec::new() }
    }

    fn compare(&mut self, holds: bool, names: String) {
        self.comparisons += 1;
        if !holds {
            self.failed.push(names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machine `n` copies at 10 + n, 20 + n and 30 + n MB/s, below 64 bytes at 5; the P6 and the 486 at 10 by all
    /// loops.
    fn table() -> FastCopyTable {
        let rates = |machine: usize| {
            let of = |bytes: u64| match bytes {
                ..64 => [5.0; 3],
                _ if (3..5).contains(&machine) => [10.0; 3],
                _ => [10.0, 20.0, 30.0].map(|rate| rate + machine as f64),
            };
            SIZES.map(|bytes| Rates { bytes, mb_s: of(bytes) }).to_vec()
        };
        let loops = ["string", "integer", "float-block"];
        let machine = |number: usize| MachineRates { machine: MACHINES[number], loops, rates: rates(number) };
        let crossing = |unroll_bytes, bytes| Crossing { unroll_bytes, bytes };
        let crossings = vec![crossing(32, None), crossing(64, Some(64)), crossing(128, Some(144))];
        FastCopyTable::new(SCHEMA_VERSION, (0..MACHINES.len()).map(machine).collect(), crossings)
    }

    #[test]
    fn conditions_are_compared_for_each_size() {
        let counts: Vec<_> = table().required.iter().map(|it| (it.comparisons, it.failed.len())).collect();
        assert_eq!(counts, [(20, 0), (4, 0), (1, 0), (20, 0)]);
        let mut other = table();
        // The last size of the first machine, and of the P6.
        other.machines[0].rates.last_mut().unwrap().mb_s = [10.0, 30.0, 29.0];
        other.machines[3].rates.last_mut().unwrap().mb_s[2] = 10.6;
        other.machines[0].rates[0].mb_s[1] = 5.1;
        other.crossings[2].bytes = Some(64);
        let other = FastCopyTable::new(1, other.machines, other.crossings);
        let failed: Vec<_> = other.required.iter().map(|it| it.failed.join("; ")).collect();
        assert_eq!(failed[0], "4194304 B, integer 30.0, floating point 29.0");
        assert_eq!(failed[1], "16 B, integer 5.100");
        assert_eq!(failed[2], "64 and 128 B per iteration");
        assert_eq!(failed[3], "p6-200, 4194304 B: +6.0 %");
        assert!(other.to_text().contains("p6-200: the loads of a block"), "the cause is printed");
        assert!(!table().to_text().contains("p6-200: the loads of a block"));
    }

    /// Faster from 48 bytes on, although it was faster at 16, too.
    #[test]
    fn a_crossing_is_the_size_from_which_on_a_loop_stays_faster() {
        let libc = [(16, 1.0), (32, 2.0), (48, 3.0), (64, 3.0)];
        let loops = [(16, 2.0), (32, 2.0), (48, 4.0), (64, 4.0)];
        assert_eq!(Crossing::of(64, &libc, &loops).bytes, Some(48));
        assert_eq!(Crossing::of(64, &loops, &libc).bytes, None);
    }

    #[test]
    fn the_tables_fit_80_columns_and_have_a_picture() {
        let text = table().to_text();
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.contains("energy of machines with a page-mode memory is not computed"));
        assert_eq!(table().chart("p6-200").unwrap().marks(), 3 * SIZES.len());
        assert_eq!(table().chart("p6"), None);
    }
}
