//! Measurements without and with the DMA engine, and what limits their throughput.

use serde::{Deserialize, Serialize};

/// Load from which a resource limits the throughput.
const LIMITING: f64 = 0.9;
/// Gain of throughput, 0 to 1, that needs no cause.
const EQUAL: f64 = 0.02;

/// Figures of a run of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeasuredFigures {
    /// Busy share of all cores, 0 to 1.
    pub cpu_utilization: f64,
    /// Share of all cores' time in which they wait for copies, part of the busy share, 0 to 1.
    pub waiting: f64,
    /// Payload received, Mb/s.
    pub mbit_s: f64,
    /// Answered requests per second of a server.
    pub transactions_s: Option<f64>,
    /// Busy share of the busiest core, 0 to 1.
    pub busiest_core: f64,
    /// Share of the memory channels' peak bandwidth that cores and devices use, 0 to 1.
    pub channel_load: f64,
    /// Share of the links' time that packets take, in the busier direction, 0 to 1.
    pub link_load: f64,
    /// Packets that found no buffer.
    pub dropped: u64,
}

impl MeasuredFigures {
    /// Transactions of a server, or payload.
    pub fn throughput(&self) -> f64 {
        self.transactions_s.unwrap_or(self.mbit_s)
    }
}

/// Published figures of a measurement; none where not published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// CPU utilization without the engine, 0 to 1.
    pub without: Option<f64>,
    /// With it.
    pub with: Option<f64>,
    /// Relative benefit.
    pub benefit: Option<f64>,
    /// Gain of throughput, 0 to 1.
    pub throughput_gain: Option<f64>,
    /// Transactions per second, without and with the engine.
    pub transactions_s: Option<[f64; 2]>,
}

/// Clients that await answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Clients {
    /// Their number.
    pub threads: u64,
    /// Time of each from an answer to the next request, us.
    pub client_us: f64,
}

/// A measurement, without and with the engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredRow {
    /// Group of measurements.
    pub group: &'static str,
    /// What was varied.
    pub case: &'static str,
    /// The copy by the core.
    pub without: MeasuredFigures,
    /// The copy by the engine.
    pub with: MeasuredFigures,
    /// The published figures; none if there are none.
    pub published: Option<Published>,
    /// The clients of a server.
    pub clients: Option<Clients>,
}

impl MeasuredRow {
    /// Difference of CPU utilization, 0 to 1.
    pub fn points(&self) -> f64 {
        self.without.cpu_utilization - self.with.cpu_utilization
    }

    /// The relative benefit: (b - a) / b.
    pub fn benefit(&self) -> f64 {
        self.points() / self.without.cpu_utilization
    }

    /// Gain of throughput, 0 to 1.
    pub fn gain(&self) -> f64 {
        self.with.throughput() / self.without.throughput() - 1.0
    }

    /// The resources of which a run uses at least 90 %.
    pub fn limits(&self) -> Vec<&'static str> {
        let loads = |run: &MeasuredFigures| [run.busiest_core, run.channel_load, run.link_load];
        let greatest = loads(&self.without).into_iter().zip(loads(&self.with)).map(|(without, with)| without.max(with));
        let named = ["core", "channel", "link"].into_iter().zip(greatest);
        named.filter(|(_, load)| *load >= LIMITING).map(|(name, _)| name).collect()
    }

    /// Whether the runs differ by more than 2 % though no resource limits them.
    pub fn needs_cause(&self) -> bool {
        self.limits().is_empty() && self.gain().abs() > EQUAL
    }

    /// Mean time from a request to the end of its answer without and with the engine, us: that of a client per
    /// transaction, less the client's own (Little's law).
    pub fn answer_us(&self) -> Option<[f64; 2]> {
        let Clients { threads, client_us } = self.clients?;
        let of = |run: &MeasuredFigures| threads as f64 * 1e6 / run.throughput() - client_us;
        Some([of(&self.without), of(&self.with)])
    }

    /// Distances of our cells from the published ones.
    pub fn distances(&self) -> Vec<f64> {
        let Some(published) = self.published else { return Vec::new() };
        let ours = [self.without.cpu_utilization, self.with.cpu_utilization, self.benefit(), self.gain()];
        let theirs = [published.without, published.with, published.benefit, published.throughput_gain];
        ours.iter().zip(theirs).filter_map(|(ours, theirs)| theirs.map(|theirs| ours - theirs)).collect()
    }
}
