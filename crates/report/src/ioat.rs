//! The DMA engine of the I/OAT measurements of 2006: published figures beside simulated ones.

use rowclone_sim::quantity::bytes;
use serde::Serialize;

use crate::table::Align::{Left, Right};
use crate::table::{Column, listed, percent, whole};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Copies of a size, in core cycles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyCost {
    /// Bytes.
    pub bytes: u64,
    /// By the loop, nothing cached.
    pub cold_cycles: u64,
    /// By the loop, source and destination cached.
    pub warm_cycles: u64,
    /// By the engine, from its begin to the end of the wait for it, without pinning.
    pub dma_cycles: u64,
    /// Until the core can go on after the begin.
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

/// Figures of a run of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReceiveFigures {
    /// Busy share of all cores, 0 to 1.
    pub cpu_utilization: f64,
    /// Share of all cores' time in which they wait for copies, part of the busy share, 0 to 1.
    pub waiting: f64,
    /// Payload received, Mb/s.
    pub mbit_s: f64,
    /// Busy share of the busiest core, 0 to 1.
    pub busiest_core: f64,
    /// Share of the memory channels' peak bandwidth that cores and devices use, 0 to 1.
    pub channel_load: f64,
    /// Share of the links' time that packets take, 0 to 1.
    pub link_load: f64,
    /// Packets that found no buffer.
    pub dropped: u64,
}

/// A published pair of CPU utilizations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedPair {
    /// Without the engine, 0 to 1; none if not published.
    pub without: Option<f64>,
    /// With it.
    pub with: Option<f64>,
    /// Relative benefit.
    pub benefit: Option<f64>,
}

/// A measurement, without and with the engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReceiveRow {
    /// Group of measurements.
    pub group: &'static str,
    /// What was varied.
    pub case: String,
    /// The copy by the core.
    pub without: ReceiveFigures,
    /// The copy by the engine.
    pub with: ReceiveFigures,
    /// The published figures; none if there are none.
    pub published: Option<PublishedPair>,
}

impl ReceiveRow {
    /// Difference of CPU utilization, 0 to 1.
    pub fn points(&self) -> f64 {
        self.without.cpu_utilization - self.with.cpu_utilization
    }

    /// The relative benefit: (b - a) / b.
    pub fn benefit(&self) -> f64 {
        self.points() / self.without.cpu_utilization
    }

    /// Distances of our cells from the published ones.
    fn distances(&self) -> Vec<f64> {
        let Some(published) = self.published else { return Vec::new() };
        let ours = [self.without.cpu_utilization, self.with.cpu_utilization, self.benefit()];
        let theirs = [published.without, published.with, published.benefit];
        ours.iter().zip(theirs).filter_map(|(ours, theirs)| theirs.map(|theirs| (ours - theirs).abs())).collect()
    }
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IoatTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine file.
    pub machine: String,
    /// Packets per port.
    pub packets: u64,
    /// Copies by size.
    pub copies: Vec<CopyCost>,
    /// Received packets.
    pub receive: Vec<ReceiveRow>,
}

const PVFS: &str =
    "PVFS on a RAM file system, six servers (published only): read 649 MB/s without, 731 with; write 697 and 750";

impl IoatTable {
    /// The table for a terminal.
    pub fn to_text(&self) -> String {
        format!(
            "I/OAT (2006): copies by a DMA engine, and receiving packets with it\nmachine {}, {} packets per port\n\n\
             Copies alone, in core cycles; DMA without pinning, which is a column of its own\n{}{}\n\
             CPU utilization of all cores without and with the engine; published figures in parentheses\n{}\n\
             Throughput, with the loads of busiest core, channel and link in percent\n{}\n{}\n\n{PVFS}\n",
            self.machine,
            self.packets,
            self.copies(),
            self.pinning(),
            self.utilization(),
            self.throughput(),
            self.near()
        )
    }

    fn copies(&self) -> String {
        let columns: [Column<'_, CopyCost>; 7] = [
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
        format!("{pinning}; published: DMA faster than the cold copy above 8 KB\n\n{}", self.required())
    }

    /// What must hold, and whether it does.
    fn required(&self) -> String {
        let all = |holds: fn(&CopyCost) -> bool| self.copies.iter().all(holds);
        let of = |group: &str| self.receive.iter().filter(|row| row.group == group).map(ReceiveRow::points).collect();
        let [receive, both]: [Vec<f64>; 2] = [of("receive"), of("receive and send")];
        let grow = |points: &[f64]| points.is_sorted_by(|a, b| a < b);
        let benefit = |case: &str| self.receive.iter().find(|row| row.case == case).map(ReceiveRow::benefit);
        let rules = [
            (
                "DMA is slower than the cold copy below 4 KiB, and faster from 16 KiB on",
                all(|row| {
                    let is_faster = row.dma_cycles < row.cold_cycles;
                    (row.bytes >= 4096 || !is_faster) && (row.bytes < 16_384 || is_faster)
                }),
            ),
            ("DMA is slower than the warm copy at all sizes", all(|row| row.dma_cycles > row.warm_cycles)),
            (
                "the overlappable share rises with size, to more than 85 % at 64 KiB",
                self.copies.is_sorted_by(|a, b| a.overlappable() < b.overlappable())
                    && all(|row| row.bytes != 65_536 || row.overlappable() > 0.85),
            ),
            (
                "start-up is below the cold copy from 4 KiB on, and below the warm one at 64 KiB",
                all(|row| {
                    let is_below_warm = row.bytes != 65_536 || row.start_up_cycles < row.warm_cycles;
                    (row.bytes < 4096 || row.start_up_cycles < row.cold_cycles) && is_below_warm
                }),
            ),
            ("receive: the difference in points grows with the ports", grow(receive.get(..6).unwrap_or(&receive))),
            ("receive and send: the difference in points grows with the ports", grow(&both)),
            (
                "the benefit with 120 connections is at least that with one per port",
                self.receive
                    .iter()
                    .find(|row| row.group == "receive" && row.case == "6 ports")
                    .map(ReceiveRow::benefit)
                    <= benefit("120 connections"),
            ),
        ];
        let lines =
            rules.map(|(rule, holds)| format!("{} {rule}\n", if holds { "holds:   " } else { "does not hold:" }));
        format!("Required\n{}", lines.concat())
    }

    fn utilization(&self) -> String {
        let published = |value: Option<f64>| value.map_or_else(String::new, |value| format!(" ({:.0})", value * 100.0));
        let cell = |ours: f64, theirs: Option<f64>| format!("{:.1}{}", ours * 100.0, published(theirs));
        let of = |row: &ReceiveRow, part: fn(&PublishedPair) -> Option<f64>| row.published.as_ref().and_then(part);
        let columns: [Column<'_, ReceiveRow>; 7] = [
            ("measurement", Left, &|row| row.group.to_owned()),
            ("case", Left, &|row| row.case.clone()),
            ("without %", Right, &|row| cell(row.without.cpu_utilization, of(row, |pair| pair.without))),
            ("with %", Right, &|row| cell(row.with.cpu_utilization, of(row, |pair| pair.with))),
            ("points", Right, &|row| format!("{:.1}", row.points() * 100.0)),
            ("waits, with %", Right, &|row| format!("{:.1}", row.with.waiting * 100.0)),
            ("benefit %", Right, &|row| cell(row.benefit(), of(row, |pair| pair.benefit))),
        ];
        listed(&columns, &self.receive, usize::MAX)
    }

    fn throughput(&self) -> String {
        let loads = |figures: &ReceiveFigures| {
            let loads = [figures.busiest_core, figures.channel_load, figures.link_load];
            loads.map(|load| format!("{:.0}", load * 100.0)).join("/")
        };
        let columns: [Column<'_, ReceiveRow>; 7] = [
            ("measurement", Left, &|row| row.group.to_owned()),
            ("case", Left, &|row| row.case.clone()),
            ("Mb/s:\nwithout", Right, &|row| whole(row.without.mbit_s)),
            ("\nwith", Right, &|row| whole(row.with.mbit_s)),
            ("loads:\nwithout", Right, &|row| loads(&row.without)),
            ("\nwith", Right, &|row| loads(&row.with)),
            ("\ndropped", Right, &|row| format!("{}/{}", row.without.dropped, row.with.dropped)),
        ];
        listed(&columns, &self.receive, usize::MAX)
    }

    /// The cells near the published ones.
    fn near(&self) -> String {
        let distances: Vec<f64> = self.receive.iter().flat_map(ReceiveRow::distances).collect();
        let within = |points: f64| distances.iter().filter(|&&distance| distance <= points / 100.0).count();
        format!("of {} published cells, {} within 6 points, {} within 10", distances.len(), within(6.0), within(10.0))
    }
}
