//! Measurements of received packets and of servers: the cases of `measurements.toml`.

use std::path::Path;

use dram_spec::{Cycles, LINE_BYTES};
use host::machine::{AnswerSettings, FileSettings, NetworkSettings, Program, Receiver, ReceiverSettings, Region};
use report::ioat::{Clients, MeasuredFigures, MeasuredRow, Published};
use rowclone_config::{Failure, MachineConfig, Overrides, ReceiverConfig};
use rowclone_sim::{CopyMethod, CoreRow, CoresReport, NetworkCounts};
use serde::Deserialize;

use super::{ENGINE, Group, IoatArgs, MACHINE};
use crate::commands::core_runs::run_programs;

/// A measurement.
#[derive(Clone, Debug)]
pub(super) struct Measurement {
    group: &'static str,
    name: &'static str,
    machine: MachineConfig,
    network: NetworkSettings,
    receiver: ReceiverSettings,
    published: Option<Published>,
}

/// Minimum number of messages per connection.
const MESSAGES: u64 = 2;
/// Minimum number of requests per client.
const REQUESTS: u64 = 8;

/// `measurements.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable<'a> {
    #[serde(borrow)]
    groups: Vec<RawGroup<'a>>,
}

/// Cases that differ in one respect.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGroup<'a> {
    only: Group,
    name: &'a str,
    /// `key=value` of the machine, or after `receiver.` of the receiver.
    #[serde(default)]
    set: Vec<String>,
    /// Of servers.
    answer: Option<RawAnswer>,
    #[serde(borrow)]
    cases: Vec<RawCase<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase<'a> {
    case: &'a str,
    /// Keys that are set in this case and those after it.
    #[serde(default)]
    set: Vec<String>,
    #[serde(default)]
    split_headers: bool,
    /// Those of the answer, if they differ from those of the group.
    bytes: Option<u64>,
    #[serde(default)]
    exponent_hundredths: u64,
    published: Option<Published>,
}

/// The answer of a server to each message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAnswer {
    instructions: u64,
    bytes: u64,
    segment_bytes: u64,
    #[serde(default)]
    forwarded_bytes: u64,
    /// Files of a web server; a proxy has none.
    files: Option<RawFiles>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFiles {
    proxied: u64,
    cached: u64,
    files: u64,
    fetch_instructions: u64,
}

/// The wanted measurements.
///
/// # Errors
/// An error of a `--set`; the machine has no network adapter.
pub(super) fn measurements(args: &IoatArgs) -> Result<Vec<Measurement>, Failure> {
    let table: RawTable<'static> = toml::from_str(include_str!("measurements.toml")).map_err(Failure::new)?;
    let mut all = Vec::new();
    for group in table.groups.iter().filter(|group| args.wants(group.only)) {
        let mut set = [&args.set[..], &group.set].concat();
        for case in &group.cases {
            set.extend_from_slice(&case.set);
            all.push(Measurement::new(group, case, &set, args.packets)?);
        }
    }
    Ok(all)
}

impl Measurement {
    fn new(
        group: &RawGroup<'static>,
        case: &RawCase<'static>,
        set: &[String],
        packets: u64,
    ) -> Result<Measurement, Failure> {
        let mut overrides = Overrides::parse(set)?;
        let receiver = ReceiverConfig::shipped_with(&overrides.take_prefix("receiver"))?;
        let mut machine = MachineConfig::read(Path::new(MACHINE), &overrides)?;
        let network = machine.settings.network.as_mut();
        let network = network.ok_or_else(|| Failure::new("the machine has no network adapter"))?;
        let mut receiver = receiver.settings(network, case.split_headers);
        receiver.answer = group.answer.as_ref().map(|answer| answer.of(case));
        network.packets = match receiver.answer {
            Some(answer) => {
                network.answer_packets = answer.packets();
                (packets / 4).max(REQUESTS * network.clients) * network.burst
            }
            // Each connection receives whole messages.
            None if network.connections == 1 => {
                packets.max((MESSAGES * receiver.message_bytes).div_ceil(network.payload_bytes))
            }
            None => packets,
        };
        let network = *network;
        Ok(Measurement { group: group.name, name: case.case, machine, network, receiver, published: case.published })
    }

    /// Runs without and with the engine.
    ///
    /// # Errors
    /// An error of the machine; a signal; a failed check.
    pub(super) fn row(&self, is_checked: bool) -> Result<MeasuredRow, Failure> {
        let figures = |method: CopyMethod| {
            let programs = (0..self.network.queues).map(|_| Box::new(Receiver::new(self.receiver)) as Box<dyn Program>);
            let (_, report) = run_programs(&self.machine, method, programs.collect(), Region::default(), is_checked)?;
            Ok::<_, Failure>(self.figures(&report))
        };
        let NetworkSettings { clients, ports, client_cycles, .. } = self.network;
        let of_clients = (clients > 0).then(|| Clients {
            threads: clients * ports as u64,
            client_us: client_cycles as f64 * core_ns(&self.machine) / 1000.0,
        });
        Ok(MeasuredRow {
            group: self.group,
            case: self.name,
            without: figures(CopyMethod::BASELINE)?,
            with: figures(ENGINE)?,
            published: self.published,
            clients: of_clients,
        })
    }

    fn figures(&self, report: &CoresReport) -> MeasuredFigures {
        let idle = |core: &CoreRow| core.stall_cycles.idle;
        let busy = report.cores.iter().map(|core| 1.0 - idle(core) / core.cycles as f64);
        let cycles: f64 = report.cores.iter().map(|core| core.cycles as f64).sum();
        let count = |of: fn(&NetworkCounts) -> u64| -> u64 {
            report.cores.iter().filter_map(|core| core.network.as_ref()).map(of).sum()
        };
        let (packets, arrived) = (count(|row| row.packets), count(|row| row.packets + row.dropped));
        let answers = self.receiver.answer.map(|answer| count(|row| row.sent) as f64 / answer.packets() as f64);
        let system = self.machine.system.memory.system();
        // A line takes four clocks of a channel, two transfers of 8 bytes each.
        let line_ns = system.clock().ns(Cycles(4));
        let peak = f64::from(system.geometry.channels()) * LINE_BYTES as f64 / line_ns;
        let NetworkSettings { ports, payload_bytes, .. } = self.network;
        let longest = report.cores.iter().map(|core| core.cycles).max().unwrap_or(1);
        let link = self.link_cycles(arrived, answers.unwrap_or(0.0));
        let per_second = |count: f64| count * 1e9 / report.interval_ns;
        MeasuredFigures {
            cpu_utilization: 1.0 - report.cores.iter().map(idle).sum::<f64>() / cycles,
            waiting: report.cores.iter().map(|core| core.stall_cycles.controller_copy).sum::<f64>() / cycles,
            mbit_s: per_second((packets * payload_bytes * 8) as f64) / 1e6,
            transactions_s: answers.map(per_second),
            busiest_core: busy.fold(0.0, f64::max),
            channel_load: report.bandwidth_gb_s.unwrap_or(0.0) / peak,
            link_load: link / (longest as f64 * ports as f64),
            dropped: count(|row| row.dropped),
        }
    }

    /// Cycles of all links in their busier direction: that of packets received, or of answers.
    fn link_cycles(&self, arrived: u64, answers: f64) -> f64 {
        let NetworkSettings { header_bytes, payload_bytes, .. } = self.network;
        let received = self.network.link_cycles(arrived, header_bytes + payload_bytes) as f64;
        let Some(answer) = self.receiver.answer else { return received };
        let bytes = answer.packets() * header_bytes + answer.bytes + answer.forwarded_bytes;
        // Each packet has preamble, checksum and gap.
        let frames = self.network.link_cycles(answer.packets() - 1, 0);
        received.max(answers * (self.network.link_cycles(1, bytes) + frames) as f64)
    }
}

impl RawAnswer {
    fn of(&self, case: &RawCase<'_>) -> AnswerSettings {
        let RawAnswer { instructions, segment_bytes, forwarded_bytes, .. } = *self;
        let files = self.files.map(|RawFiles { proxied, cached, files, fetch_instructions }| FileSettings {
            proxied,
            cached,
            files,
            exponent_hundredths: case.exponent_hundredths,
            fetch_instructions,
        });
        let bytes = case.bytes.unwrap_or(self.bytes);
        AnswerSettings { instructions, bytes, segment_bytes, forwarded_bytes, files }
    }
}

/// Nanoseconds of a core cycle.
fn core_ns(machine: &MachineConfig) -> f64 {
    machine.system.memory.system().clock().ns(Cycles(1)) / machine.settings.clock.per_clock()
}
