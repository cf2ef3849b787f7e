//! The DMA engine of the I/OAT measurements of 2006: published figures beside simulated ones.

mod measured;
mod rules;

pub use measured::{Clients, MeasuredFigures, MeasuredRow, Published};
use rowclone_sim::quantity::bytes;
use serde::{Deserialize, Serialize};

use crate::published::published;
use crate::required;
use crate::table::Align::{Left, Right};
use crate::table::{TextColumn, listed, percent, whole, wrapped};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 2;

/// Copies of a size, in core cycles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyCost {
    /// Bytes.
    pub bytes: u64,
    /// By the loop, nothing cached.
    pub cold_cycles: u64,
    /// By the loop, source and destination cached.
    pub warm_cycles: u64,
    /// By the engine, from its start to the end of the wait for it, without pinning.
    pub dma_cycles: u64,
    /// Until the core can go on after the start.
    pub start_up_cycles: u64,
    /// Time by which the copy prolongs other work that is longer than the copy: start-up and completion.
    pub cpu_cycles: u64,
    /// Time by which pinning prolongs the copy.
    pub pinning_cycles: u64,
}

impl CopyCost {
    /// Share of the copy's time that other work can hide; may be below 0.
    pub fn overlappable(&self) -> f64 {
        1.0 - self.cpu_cycles as f64 / self.dma_cycles as f64
    }
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IoatTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine file.
    pub machine: String,
    /// Packets per port, at least.
    pub packets: u64,
    /// Copies by size.
    pub copies: Vec<CopyCost>,
    /// Received packets, and servers.
    pub measurements: Vec<MeasuredRow>,
}

/// Published figures without a simulated counterpart, and the history of the comparison.
#[derive(Deserialize)]
struct Remarks {
    only_published: String,
    corrected: String,
}

/// Width of texts.
const WIDTH: usize = 100;

impl IoatTable {
    /// The table for a terminal.
    pub fn to_text(&self) -> String {
        let mut parts = vec![format!(
            "I/OAT (2006): copies by a DMA engine, and receiving packets with it\nmachine {}, {} packets per port\n",
            self.machine, self.packets
        )];
        if !self.copies.is_empty() {
            let title = "Copies alone, in core cycles; DMA without pinning, which is a column of its own";
            parts.push(format!("{title}\n{}{}", self.copies(), self.pinning()));
        }
        parts.push(self.required());
        let (servers, packets): (Vec<&MeasuredRow>, Vec<&MeasuredRow>) =
            self.measurements.iter().partition(|row| row.clients.is_some());
        if !packets.is_empty() {
            let title = "CPU utilization of all cores without and with the engine; published figures in parentheses";
            parts.push(format!("{title}\n{}", utilization(&packets)));
            let title = "Throughput, with the loads of busiest core, channel and link in percent";
            parts.push(format!("{title}\n{}", throughput(&packets, false)));
        }
        if !servers.is_empty() {
            let title = "Servers: transactions per second; answer: mean time from request to answer";
            parts.push(format!("{title}\n{}", throughput(&servers, true)));
        }
        parts.push(self.causes());
        let Remarks { only_published, corrected } = published("ioat");
        parts.push(format!("{}{}{only_published}", self.near(), wrapped(&corrected, WIDTH)));
        parts.join("\n")
    }

    fn copies(&self) -> String {
        let columns: [TextColumn<'_, CopyCost>; 7] = [
            ("size", Right, &|row| bytes(row.bytes)),
            ("CPU:\ncold", Right, &|row| row.cold_cycles.to_string()),
            ("\nwarm", Right, &|row| row.warm_cycles.to_string()),
            ("DMA:\ntotal", Right, &|row| row.dma_cycles.to_string()),
            ("\nstart-up", Right, &|row| row.start_up_cycles.to_string()),
            ("\noverlappable", Right, &|row| percent(row.overlappable())),
            ("\npinning", Right, &|row| row.pinning_cycles.to_string()),
        ];
        listed(&columns, &self.copies, usize::MAX)
    }

    /// The largest size of these at which pinning costs more than the cold copy.
    fn pinning(&self) -> String {
        let dear = self.copies.iter().filter(|row| row.pinning_cycles > row.cold_cycles).map(|row| row.bytes).max();
        let pinning = dear.map_or_else(
            || "pinning costs less than the cold copy at all sizes".to_owned(),
            |dear| format!("pinning costs more than the cold copy up to {}", bytes(dear)),
        );
        format!("{pinning}; published: DMA faster than the cold copy above 8 KB\n")
    }

    /// What must hold, and whether it does.
    fn required(&self) -> String {
        let rules = rules::of_copies(&self.copies).into_iter().chain(rules::of_measurements(self));
        format!("Required\n{}", required::lines(rules))
    }

    /// Gains of throughput that no resource limits, with their causes.
    fn causes(&self) -> String {
        let rows: Vec<&MeasuredRow> = self.measurements.iter().filter(|row| row.needs_cause()).collect();
        let title = "Runs that differ by more than 2 % with core, channel and link below 90 %";
        if rows.is_empty() {
            return format!("{title}: none\n");
        }
        let line = |row: &&MeasuredRow| {
            let cause = row.answer_us().map_or_else(
                || "the two runs end at different packets: use more packets".to_owned(),
                |[without, with]| {
                    format!(
                        "clients wait: an answer takes {without:.0} us without the engine, and {with:.0} us with it"
                    )
                },
            );
            wrapped(&format!("{}, {}: {:+.1} %: {cause}", row.group, row.case, row.gain() * 100.0), WIDTH)
        };
        format!("{title}\n{}", rows.iter().map(line).collect::<String>())
    }

    /// The cells near the published ones.
    fn near(&self) -> String {
        required::near(self.measurements.iter().flat_map(MeasuredRow::distances))
    }
}

/// A figure in percent, with the published one in parentheses.
fn cell(ours: f64, theirs: Option<f64>) -> String {
    let published = theirs.map_or_else(String::new, |value| format!(" ({:.0})", value * 100.0));
    format!("{:.1}{published}", ours * 100.0)
}

fn of(row: &MeasuredRow, part: fn(&Published) -> Option<f64>) -> Option<f64> {
    row.published.as_ref().and_then(part)
}

fn utilization(rows: &[&MeasuredRow]) -> String {
    let columns: [TextColumn<'_, &MeasuredRow>; 7] = [
        ("measurement", Left, &|row| row.group.to_owned()),
        ("case", Left, &|row| row.case.to_owned()),
        ("without %", Right, &|row| cell(row.without.cpu_utilization, of(row, |pair| pair.without))),
        ("with %", Right, &|row| cell(row.with.cpu_utilization, of(row, |pair| pair.with))),
        ("points", Right, &|row| format!("{:.1}", row.points() * 100.0)),
        ("waits, with %", Right, &|row| format!("{:.1}", row.with.waiting * 100.0)),
        ("benefit %", Right, &|row| cell(row.benefit(), of(row, |pair| pair.benefit))),
    ];
    listed(&columns, rows, usize::MAX)
}

fn loads(figures: &MeasuredFigures) -> String {
    let loads = [figures.busiest_core, figures.channel_load, figures.link_load];
    loads.map(|load| format!("{:.0}", load * 100.0)).join("/")
}

/// The resources that limit a measurement.
fn limits(row: &MeasuredRow) -> String {
    let limits = row.limits();
    if limits.is_empty() { "-".to_owned() } else { limits.join(", ") }
}

/// Payload in Mb/s, or of servers transactions per second with times of answers.
fn throughput(rows: &[&MeasuredRow], is_server: bool) -> String {
    let rate = |run: &MeasuredFigures, published: Option<[f64; 2]>, at: usize| {
        whole(run.throughput()) + &published.map_or_else(String::new, |found| format!(" ({})", whole(found[at])))
    };
    let answer = |row: &MeasuredRow, run: usize| row.answer_us().map_or(0.0, |times| times[run]);
    let transactions = |row: &MeasuredRow| row.published.and_then(|published| published.transactions_s);
    let [noun, unit] = if is_server { ["server", "TPS:\nwithout"] } else { ["measurement", "Mb/s:\nwithout"] };
    let columns: [TextColumn<'_, &MeasuredRow>; 12] = [
        (noun, Left, &|row| row.group.to_owned()),
        ("case", Left, &|row| row.case.to_owned()),
        (unit, Right, &|row| rate(&row.without, transactions(row), 0)),
        ("\nwith", Right, &|row| rate(&row.with, transactions(row), 1)),
        ("\ngain %", Right, &|row| cell(row.gain(), of(row, |pair| pair.throughput_gain))),
        ("CPU %:\nwithout", Right, &|row| format!("{:.1}", row.without.cpu_utilization * 100.0)),
        ("\nwith", Right, &|row| format!("{:.1}", row.with.cpu_utilization * 100.0)),
        ("answer, us:\nwithout/with", Right, &|row| format!("{:.0}/{:.0}", answer(row, 0), answer(row, 1))),
        ("loads:\nwithout", Right, &|row| loads(&row.without)),
        ("\nwith", Right, &|row| loads(&row.with)),
        ("\nlimit", Left, &|row| limits(row)),
        ("\ndropped", Right, &|row| format!("{}/{}", row.without.dropped, row.with.dropped)),
    ];
    let columns = if is_server { columns[..11].to_vec() } else { [&columns[..5], &columns[8..]].concat() };
    listed(&columns, rows, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: MeasuredFigures = MeasuredFigures {
        cpu_utilization: 0.5,
        waiting: 0.0,
        mbit_s: 1_000.0,
        transactions_s: None,
        busiest_core: 0.6,
        channel_load: 0.1,
        link_load: 0.5,
        dropped: 0,
    };

    fn row(group: &'static str, case: &'static str, with: MeasuredFigures) -> MeasuredRow {
        MeasuredRow { group, case, without: RUN, with, published: None, clients: None }
    }

    fn table(measurements: Vec<MeasuredRow>) -> IoatTable {
        IoatTable { schema_version: SCHEMA_VERSION, machine: "m".to_owned(), packets: 1, copies: vec![], measurements }
    }

    /// 2 % and less need no cause; more needs one unless a resource is used to 90 %.
    #[test]
    fn a_gain_that_no_resource_limits_needs_a_cause() {
        let case = |mbit_s, link_load| row("receive", "1 port", MeasuredFigures { mbit_s, link_load, ..RUN });
        let found = [(1_019.0, 0.5), (1_021.0, 0.5), (979.0, 0.89), (1_021.0, 0.9)]
            .map(|(mbit_s, link_load)| case(mbit_s, link_load).needs_cause());
        assert_eq!(found, [false, true, true, false]);
        assert_eq!(case(1_000.0, 0.95).limits(), ["link"]);
        let core = row("receive", "1 port", MeasuredFigures { busiest_core: 1.0, channel_load: 0.9, ..RUN });
        assert_eq!(core.limits(), ["core", "channel"]);
    }

    /// 10 threads and 2,000 and 2,500 transactions per second: 5 and 4 ms per transaction, 1 ms of which is the
    /// client's.
    #[test]
    fn the_cause_is_the_time_of_an_answer() {
        let run = |transactions| MeasuredFigures { transactions_s: Some(transactions), ..RUN };
        let clients = Some(Clients { threads: 10, client_us: 1_000.0 });
        let row = MeasuredRow { without: run(2_000.0), clients, ..row("proxy", "10 threads", run(2_500.0)) };
        assert_eq!(row.answer_us(), Some([4_000.0, 3_000.0]));
        let text = table(vec![row]).to_text();
        assert!(text.contains("proxy, 10 threads: +25.0 %: clients wait: an answer takes 4000 us"), "{text}");
    }

    fn with_cpu(group: &'static str, case: &'static str, cpu_utilization: f64) -> MeasuredRow {
        row(group, case, MeasuredFigures { cpu_utilization, ..RUN })
    }

    /// Benefits of 10, 10, 20 and 30 % rise; a fall within, or none at the end, does not.
    #[test]
    fn rules_compare_ports_options_and_connections() {
        let options = |cpu: [f64; 5]| {
            let rows = cpu.map(|cpu| with_cpu("options, both", "option", cpu));
            rules::of_measurements(&table(rows.into()))
        };
        let rule = "options, both: the benefit rises from 1 to 4, and falls with no option".to_owned();
        assert_eq!(options([0.45, 0.45, 0.4, 0.35, 0.5]), [(rule.clone(), true)], "option 5 is not compared");
        assert_eq!(options([0.45, 0.46, 0.4, 0.35, 0.3]), [(rule.clone(), false)]);
        assert_eq!(options([0.45, 0.45, 0.45, 0.45, 0.3]), [(rule, false)]);
        let receive = |cpu: [f64; 3]| {
            let cases = ["1 port", "2 ports", "120 connections"];
            let rows = std::iter::zip(cases, cpu).map(|(case, cpu)| with_cpu("receive", case, cpu)).collect();
            rules::of_measurements(&table(rows)).into_iter().map(|(_, holds)| holds).collect::<Vec<_>>()
        };
        assert_eq!(receive([0.49, 0.45, 0.45]), [true, true]);
        assert_eq!(receive([0.45, 0.45, 0.46]), [false, false]);
    }

    #[test]
    fn rules_of_copies_fail_where_a_size_does() {
        let copy = |bytes, [cold_cycles, warm_cycles, dma_cycles, start_up_cycles, cpu_cycles]: [u64; 5]| CopyCost {
            bytes,
            cold_cycles,
            warm_cycles,
            dma_cycles,
            start_up_cycles,
            cpu_cycles,
            pinning_cycles: 0,
        };
        let right = [
            copy(1 << 10, [1_000, 100, 2_000, 900, 1_000]),
            copy(16 << 10, [16_000, 1_600, 10_000, 900, 2_000]),
            copy(64 << 10, [64_000, 6_400, 40_000, 900, 4_000]),
        ];
        let holds = |copies: &[CopyCost]| rules::of_copies(copies).iter().map(|(_, holds)| *holds).collect::<Vec<_>>();
        assert_eq!(holds(&right), [true; 4]);
        let changed = |place: usize, values| {
            let mut copies = right.clone();
            copies[place] = copy(copies[place].bytes, values);
            holds(&copies)
        };
        assert_eq!(changed(0, [1_000, 100, 900, 900, 450]), [false, true, true, true]);
        assert_eq!(changed(1, [16_000, 1_600, 17_000, 900, 2_000]), [false, true, true, true]);
        assert_eq!(changed(1, [16_000, 11_000, 10_000, 900, 2_000]), [true, false, true, true]);
        assert_eq!(changed(2, [64_000, 6_400, 40_000, 900, 6_000]), [true, true, false, true]);
        assert_eq!(changed(2, [64_000, 6_400, 40_000, 6_400, 4_000]), [true, true, true, false]);
        assert_eq!(changed(1, [16_000, 1_600, 10_000, 16_000, 2_000]), [true, true, true, false]);
    }

    /// Of five cells, one is 10.5 points away, and one 8.
    #[test]
    fn cells_near_the_published_ones_are_counted() {
        let published = Published {
            without: Some(0.395),
            with: Some(0.42),
            benefit: Some(0.05),
            throughput_gain: Some(0.0),
            ..Published::default()
        };
        let rows = vec![
            MeasuredRow { published: Some(published), ..with_cpu("receive", "1 port", 0.5) },
            MeasuredRow {
                published: Some(Published { benefit: Some(0.0), ..Published::default() }),
                ..with_cpu("receive", "2 ports", 0.5)
            },
        ];
        assert_eq!(table(rows).near(), "of 5 published cells, 3 within 6 points, 4 within 10\n");
    }
}
