//! Copy loops of a core: simulated rates by size, beside FreeBSD's published ones.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::plot::{Chart, Point, Series, Spacing, Unit};
use crate::published::{axis, known, line_chart, published};
use crate::required::Comparisons;
use crate::table::Align::{Left, Right};
use crate::table::{COLUMNS_MAX, TextColumn, fitted, headers, listed, or_dash, wrapped};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
const SCHEMA_VERSION: u32 = 1;

/// The loops.
pub const LOOPS: [&str; 3] = ["libc", "integer", "floating point"];
/// The machines.
pub const MACHINES: [&str; 7] =
    ["pentium-133", "pentium-133, page mode", "pentium-100, page mode", "p6-200", "i486-100", "paper", "ddr4-desktop"];
/// Bytes of an iteration of the integer loop, whose crossing with libc is looked for.
pub const CROSSING_UNROLLS: [u64; 5] = [32, 64, 128, 256, 512];

/// FreeBSD's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedRates {
    /// Published rates of the loops on the first machine, the Pentium 133 with EDO, MB/s.
    pub published: [f64; 3],
    /// Change of the Pentium 100 with page-mode memory from the Pentium 133 with EDO, percent.
    #[serde(skip_serializing)]
    changes: [f64; 3],
    /// Maximum of the P6 beside that of the Pentium 133.
    #[serde(skip_serializing)]
    p6_share: f64,
    /// Why the P6 is faster, and floating point slower, than published.
    #[serde(skip_serializing)]
    p6_cause: String,
}

/// Copies of more bytes must keep the order of the loops.
const ORDER_FROM: u64 = 4096;
/// Maximum ratio of the rates of floating point and libc that counts as no gain.
const NO_GAIN: f64 = 1.05;
/// Copies of fewer bytes are made by the tail of each loop.
const TAIL_BELOW: u64 = 64;
type Compare = fn(&FastCopyTable, &mut Comparisons);

/// The conditions, and what compares the figures of each.
const REQUIRED: [(&str, Compare); 4] = [
    ("pentium-133, above 4 KB: libc < integer < floating point", FastCopyTable::order),
    ("pentium-133, below 64 B: all loops are the tail", FastCopyTable::tail),
    ("the crossing of integer with libc moves to larger sizes with the bytes of an iteration", FastCopyTable::unrolled),
    ("p6-200, i486-100, above 4 KB: floating point gains at most 5 %", FastCopyTable::no_gain),
];

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
    /// Its comparisons.
    #[serde(flatten)]
    pub result: Comparisons,
}

/// The tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FastCopyTable {
    /// Version of the fields.
    pub schema_version: u32,
    /// Published figures.
    #[serde(flatten)]
    pub published: PublishedRates,
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
    pub fn new(machines: Vec<MachineRates>, crossings: Vec<Crossing>) -> FastCopyTable {
        let (schema_version, published, required) = (SCHEMA_VERSION, published("fastcopy"), Vec::new());
        let mut table = FastCopyTable { schema_version, published, machines, crossings, required };
        table.required = REQUIRED
            .map(|(condition, compare)| {
                let mut result = Comparisons::default();
                compare(&table, &mut result);
                Required { condition, result }
            })
            .into();
        table
    }

    fn machine(&self, name: &str) -> &MachineRates {
        self.machines.iter().find(|machine| machine.machine == name).expect("the table has all machines")
    }

    /// The rates of a machine of copies of more than 4 KB.
    fn large_copies(&self, name: &str) -> impl Iterator<Item = &Rates> {
        self.machine(name).rates.iter().filter(|rates| rates.bytes > ORDER_FROM)
    }

    fn order(&self, order: &mut Comparisons) {
        for Rates { bytes, mb_s } in self.large_copies(MACHINES[0]) {
            for at in 1..LOOPS.len() {
                let [less, more] = [at - 1, at].map(|at| format!("{} {:.1}", LOOPS[at], mb_s[at]));
                order.add(mb_s[at - 1] < mb_s[at], || format!("{bytes} B, {less}, {more}"));
            }
        }
    }

    fn tail(&self, tail: &mut Comparisons) {
        for Rates { bytes, mb_s } in self.machine(MACHINES[0]).rates.iter().filter(|rates| rates.bytes < TAIL_BELOW) {
            for (name, rate) in LOOPS.iter().zip(mb_s).skip(1) {
                tail.add(rate.total_cmp(&mb_s[0]).is_eq(), || format!("{bytes} B, {name} {rate:.3}"));
            }
        }
    }

    fn unrolled(&self, unrolled: &mut Comparisons) {
        // A loop that is not unrolled enough never crosses.
        let crossings: Vec<_> = self.crossings.iter().filter(|it| it.bytes.is_some()).collect();
        for pair in crossings.windows(2) {
            let [before, after] = [pair[0].unroll_bytes, pair[1].unroll_bytes];
            unrolled.add(pair[0].bytes < pair[1].bytes, || format!("{before} and {after} B per iteration"));
        }
    }

    fn no_gain(&self, no_gain: &mut Comparisons) {
        for name in ["p6-200", "i486-100"] {
            for Rates { bytes, mb_s } in self.large_copies(name) {
                let gain = mb_s[2] / mb_s[0];
                no_gain.add(gain <= NO_GAIN, || format!("{name}, {bytes} B: {:+.1} %", 100.0 * (gain - 1.0)));
            }
        }
    }

    /// The tables for a terminal of 80 columns.
    pub fn to_text(&self) -> String {
        let mut text =
            wrapped("Copy loops (FreeBSD on P5, P6 and 486): MB/s of copies whose bytes no cache holds", COLUMNS_MAX);
        for machine in &self.machines {
            let _ = write!(text, "\n{}\n{}", machine.machine, rates(machine));
        }
        let _ = write!(text, "\n{}\n{}\n{}", self.beside_published(), self.changes(), self.crossings_text());
        text += &wrapped("The energy of machines with a page-mode memory is not computed.", COLUMNS_MAX);
        text + "\n" + &self.required_text()
    }

    fn beside_published(&self) -> String {
        let (found, rates) = (self.machine(MACHINES[0]).large(), self.published.published);
        let columns: [TextColumn<'_, usize>; 6] = [
            ("pentium-133,\nlargest size", Left, &|&at| LOOPS[at].to_owned()),
            ("published:\nMB/s", Right, &|&at| format!("{:.0}", rates[at])),
            ("\nto libc", Right, &|&at| format!("{:.2}", rates[at] / rates[0])),
            ("simulated:\nMB/s", Right, &|&at| format!("{:.1}", found[at])),
            ("\nto libc", Right, &|&at| format!("{:.2}", found[at] / found[0])),
            ("off by", Right, &|&at| percent(rates[at], found[at])),
        ];
        listed(&columns, &[0, 1, 2], COLUMNS_MAX)
    }

    fn changes(&self) -> String {
        let (changes, p6_share) = (self.published.changes, self.published.p6_share);
        let [edo, fpm, slow] = [0, 1, 2].map(|at| self.machine(MACHINES[at]).large());
        let columns: [TextColumn<'_, usize>; 5] = [
            ("page-mode memory against\nEDO, largest size", Left, &|&at| LOOPS[at].to_owned()),
            ("100 MHz:\npublished", Right, &|&at| or_dash(known(changes[at]), |change| format!("{change:+.0} %"))),
            ("\nsimulated", Right, &|&at| percent(edo[at], slow[at])),
            ("133 MHz: memory\nalone", Right, &|&at| percent(edo[at], fpm[at])),
            ("clock\nalone", Right, &|&at| percent(fpm[at], slow[at])),
        ];
        let mut text = listed(&columns, &[0, 1, 2], COLUMNS_MAX);
        let most = |name: &str| self.machine(name).most();
        let (p6, pentium) = (most("p6-200"), most(MACHINES[0]));
        let large = |name: &str| self.machine(name).large().into_iter().fold(0.0, f64::max);
        text += &wrapped(
            &format!(
                "maximum of p6-200 / that of pentium-133: {:.2} of all sizes ({p6:.1} and {pentium:.1} MB/s), \
                    {:.2} \
                 of the largest; published {p6_share}",
                p6 / pentium,
                large("p6-200") / large(MACHINES[0]),
            ),
            COLUMNS_MAX,
        );
        text + &wrapped(&self.published.p6_cause, COLUMNS_MAX)
    }

    fn crossings_text(&self) -> String {
        let columns: [TextColumn<'_, Crossing>; 2] = [
            ("pentium-133, integer:\nbytes per iteration", Left, &|it| it.unroll_bytes.to_string()),
            ("faster than libc\nfrom, B", Right, &|it| or_dash(it.bytes, |bytes| bytes.to_string())),
        ];
        listed(&columns, &self.crossings, COLUMNS_MAX)
    }

    fn required_text(&self) -> String {
        let columns: [TextColumn<'_, Required>; 2] =
            [("required", Left, &|it| it.condition.to_owned()), ("holds", Right, &|it| it.result.held())];
        let mut text = listed(&columns, &self.required, COLUMNS_MAX);
        let failed = self.required.iter().flat_map(|it| &it.result.failed);
        text.extend(failed.map(|failed| wrapped(&format!("fails: {failed}"), COLUMNS_MAX)));
        text
    }

    /// The rates of a machine over the size; none if there is no such machine.
    pub fn chart(&self, machine: &str) -> Option<Chart> {
        let machine = self.machines.iter().find(|it| it.machine == machine)?;
        let series = LOOPS.iter().enumerate().map(|(at, name)| {
            let point = |rates: &Rates| Point { x: rates.bytes as f64, values: vec![rates.mb_s[at]] };
            Series { name: (*name).to_owned(), points: machine.rates.iter().map(point).collect() }
        });
        let x = axis("Bytes of a copy", Unit::Bytes { exponent: 0 }, Spacing::Log);
        let y = axis("MB/s", Unit::Prefixed { symbol: "B/s", exponent: 6 }, Spacing::Linear);
        Some(line_chart(format!("Copy loops on {}", machine.machine), x, y, series.collect()))
    }
}

/// The change from a rate to another one.
fn percent(from: f64, to: f64) -> String {
    format!("{:+.0} %", 100.0 * (to / from - 1.0))
}

/// The rates of a machine by size.
fn rates(machine: &MachineRates) -> String {
    let names: Vec<String> = LOOPS.iter().zip(machine.loops).map(|(name, own)| format!("{name}\n{own}")).collect();
    let line = |rates: &Rates| {
        let of_loops = rates.mb_s.iter().map(|rate| format!("{rate:.1}"));
        std::iter::once(rates.bytes.to_string()).chain(of_loops).collect()
    };
    fitted(
        &headers(&format!("\nB|{}", names.join("|"))),
        &machine.rates.iter().map(line).collect::<Vec<_>>(),
        COLUMNS_MAX,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16 B to 4 MiB.
    fn sizes() -> impl Iterator<Item = u64> {
        (4..=22).map(|power| 1 << power)
    }

    /// Machine `n` copies at 10 + n, 20 + n and 30 + n MB/s, below 64 bytes at 5; the P6 and the 486 at 10 by all
    /// loops.
    fn table() -> FastCopyTable {
        let rates = |machine: usize| {
            let of = |bytes: u64| match bytes {
                ..64 => [5.0; 3],
                _ if (3..5).contains(&machine) => [10.0; 3],
                _ => [10.0, 20.0, 30.0].map(|rate| rate + machine as f64),
            };
            sizes().map(|bytes| Rates { bytes, mb_s: of(bytes) }).collect()
        };
        let loops = ["string", "integer", "float-block"];
        let machine = |number: usize| MachineRates { machine: MACHINES[number], loops, rates: rates(number) };
        let crossing = |unroll_bytes, bytes| Crossing { unroll_bytes, bytes };
        let crossings = vec![crossing(32, None), crossing(64, Some(64)), crossing(128, Some(144))];
        FastCopyTable::new((0..MACHINES.len()).map(machine).collect(), crossings)
    }

    #[test]
    fn conditions_are_compared_for_each_size() {
        let counts: Vec<_> =
            table().required.iter().map(|it| (it.result.comparisons, it.result.failed.len())).collect();
        assert_eq!(counts, [(20, 0), (4, 0), (1, 0), (20, 0)]);
        let mut other = table();
        // The last size of the first machine, and of the P6.
        other.machines[0].rates.last_mut().unwrap().mb_s = [10.0, 30.0, 29.0];
        other.machines[3].rates.last_mut().unwrap().mb_s[2] = 10.6;
        other.machines[0].rates[0].mb_s[1] = 5.1;
        other.crossings[2].bytes = Some(64);
        let other = FastCopyTable::new(other.machines, other.crossings);
        let failed: Vec<_> = other.required.iter().map(|it| it.result.failed.join("; ")).collect();
        assert_eq!(failed[0], "4194304 B, integer 30.0, floating point 29.0");
        assert_eq!(failed[1], "16 B, integer 5.100");
        assert_eq!(failed[2], "64 and 128 B per iteration");
        assert_eq!(failed[3], "p6-200, 4194304 B: +6.0 %");
        assert!(other.to_text().contains("p6-200: fast strings invalidate"), "the cause is printed");
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
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS_MAX), "{text}");
        assert!(text.contains("energy of machines with a page-mode memory is not computed"));
        assert_eq!(table().chart("p6-200").unwrap().marks(), 3 * sizes().count());
        assert_eq!(table().chart("p6"), None);
    }
}
