//! Measurements of received packets: ports, socket options and messages.

use dram_spec::{Cycles, LINE_BYTES};
use host::machine::{NetworkSettings, Program, Receiver, ReceiverSettings, Region, Spread};
use report::ioat::{Clients, MeasuredFigures, MeasuredRow, Published};
use rowclone_config::{Failure, MachineConfig, ReceiverConfig, ServersConfig};
use rowclone_sim::{CopyMethod, CoreRow, CoresReport, NetworkCounts};

use super::ENGINE;
use crate::commands::core_runs::run_programs;

/// The adapter and the programs of all measurements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) network: NetworkSettings,
    pub(super) receiver: ReceiverConfig,
    pub(super) servers: ServersConfig,
}

/// A measurement.
#[derive(Clone, Debug)]
pub(super) struct Measurement {
    pub(super) group: &'static str,
    pub(super) name: String,
    pub(super) network: NetworkSettings,
    pub(super) receiver: ReceiverSettings,
    pub(super) published: Option<Published>,
}

/// Messages that arrive at least on a connection.
const MESSAGES: u64 = 2;
/// Payload of a frame of 2,048 bytes, without header (66) and checksum (4).
const LARGE_FRAME_PAYLOAD: u64 = 2_048 - 66 - 4;

/// `1 port`, `2 ports`.
fn plural(ports: usize) -> String {
    format!("{ports} port{}", if ports == 1 { "" } else { "s" })
}

/// Published CPU utilizations, and the relative benefit.
const fn cpu(without: f64, with: f64, benefit: f64) -> Published {
    Published { without: Some(without), with: Some(with), benefit: Some(benefit), ..Published::NONE }
}

/// A published relative benefit.
const fn benefit(benefit: f64) -> Published {
    Published { benefit: Some(benefit), ..Published::NONE }
}

impl Plan {
    fn measurement(
        &self,
        (group, name): (&'static str, String),
        network: NetworkSettings,
        change: &dyn Fn(&mut ReceiverSettings),
        published: Option<Published>,
    ) -> Measurement {
        let mut receiver = self.receiver.settings(&network, false);
        change(&mut receiver);
        // Each connection receives whole messages.
        let packets = (MESSAGES * receiver.message_bytes).div_ceil(network.payload_bytes);
        let needed = if network.connections == 1 && receiver.answer.is_none() { packets } else { 0 };
        let network = NetworkSettings { packets: network.packets.max(needed), ..network };
        Measurement { group, name, network, receiver, published }
    }

    /// Packets received on 1 to 6 ports, and received and sent; many connections.
    pub(super) fn receive(&self) -> Vec<Measurement> {
        let mut all = Vec::new();
        for (group, sent_per_100, published) in
            [("receive", 0, cpu(0.37, 0.29, 0.21)), ("receive and send", 100, cpu(0.9, 0.7, 0.22))]
        {
            for ports in 1..=6 {
                let published = (ports == 6).then_some(published);
                let network = NetworkSettings { ports, ..self.network };
                let change = |receiver: &mut ReceiverSettings| receiver.sent_per_100 = sent_per_100;
                all.push(self.measurement((group, plural(ports)), network, &change, published));
            }
        }
        let many = NetworkSettings { connections: 20, spread: Spread::Connections, ..self.network };
        let name = ("receive", "120 connections".to_owned());
        all.push(self.measurement(name, many, &|_| (), Some(cpu(0.76, 0.52, 0.32))));
        all
    }

    /// Socket options, each on top of those before.
    pub(super) fn options(&self) -> Vec<Measurement> {
        let ServersConfig { call_bytes, offloaded_send_instructions, coalesced_cycles, .. } = self.servers;
        let names = ["1 default", "2 socket buffers", "3 offload", "4 frames of 2048 B", "5 coalescing"];
        let mut all = Vec::new();
        for (group, sent_per_100, of_4) in
            [("options, receive", 0, benefit(0.3)), ("options, both", 100, benefit(0.38))]
        {
            for (option, name) in (1..).zip(names) {
                let mut network = self.network;
                if option >= 4 {
                    network.payload_bytes = LARGE_FRAME_PAYLOAD;
                }
                if option >= 5 {
                    network.coalesced_cycles = coalesced_cycles;
                }
                let change = |receiver: &mut ReceiverSettings| {
                    receiver.sent_per_100 = sent_per_100;
                    if option >= 2 {
                        receiver.message_bytes = call_bytes;
                    }
                    if option >= 3 {
                        receiver.send_instructions = offloaded_send_instructions;
                    }
                };
                let published = (option == 4).then_some(of_4);
                all.push(self.measurement((group, name.to_owned()), network, &change, published));
            }
        }
        all
    }

    /// Messages of 16 KiB to 8 MiB on four ports, one per port in flight.
    pub(super) fn messages(&self) -> Vec<Measurement> {
        let network = NetworkSettings { ports: 4, ..self.network };
        let small = [16_u64, 32, 64, 128].map(|kib| (kib << 10, format!("{kib} KiB")));
        let large = [1_u64, 2, 4, 8].map(|mib| (mib << 20, format!("{mib} MiB")));
        let mut all = Vec::new();
        for (message_bytes, size) in small.into_iter().chain(large) {
            for (has_split_headers, suffix) in [(false, ""), (true, ", split headers")] {
                let gain = Published { throughput_gain: Some(0.26), ..Published::NONE };
                let published = match (message_bytes, has_split_headers) {
                    (0x1_0000, false) => Some(benefit(0.16)),
                    (0x10_0000, true) => Some(gain),
                    _ => None,
                };
                let change = |receiver: &mut ReceiverSettings| {
                    (receiver.message_bytes, receiver.has_split_headers) = (message_bytes, has_split_headers);
                };
                let name = ("messages, 4 ports", format!("{size}{suffix}"));
                all.push(self.measurement(name, network, &change, published));
            }
        }
        all
    }
}

impl Measurement {
    /// Runs without and with the engine.
    ///
    /// # Errors
    /// An error of the machine; a signal; a failed check.
    pub(super) fn row(&self, machine: &MachineConfig, is_checked: bool) -> Result<MeasuredRow, Failure> {
        let mut machine = machine.clone();
        machine.settings.network = Some(self.network);
        let figures = |method: CopyMethod| {
            let programs = (0..self.network.queues).map(|_| Box::new(Receiver::new(self.receiver)) as Box<dyn Program>);
            let (_, report) = run_programs(&machine, method, programs.collect(), Region::default(), is_checked)?;
            Ok::<_, Failure>(self.figures(&machine, &report))
        };
        let NetworkSettings { clients, ports, client_cycles, .. } = self.network;
        let of_clients = (clients > 0).then(|| Clients {
            threads: clients * ports as u64,
            client_us: client_cycles as f64 * core_ns(&machine) / 1000.0,
        });
        Ok(MeasuredRow {
            group: self.group,
            case: self.name.clone(),
            without: figures(CopyMethod::BASELINE)?,
            with: figures(ENGINE)?,
            published: self.published,
            clients: of_clients,
        })
    }

    fn figures(&self, machine: &MachineConfig, report: &CoresReport) -> MeasuredFigures {
        let idle = |core: &CoreRow| core.stall_cycles.idle;
        let busy = report.cores.iter().map(|core| 1.0 - idle(core) / core.cycles as f64);
        let cycles: f64 = report.cores.iter().map(|core| core.cycles as f64).sum();
        let count = |of: fn(&NetworkCounts) -> u64| -> u64 {
            report.cores.iter().filter_map(|core| core.network.as_ref()).map(of).sum()
        };
        let (packets, arrived) = (count(|row| row.packets), count(|row| row.packets + row.dropped));
        let answers = self.receiver.answer.map(|answer| count(|row| row.sent) as f64 / answer.packets() as f64);
        let system = machine.system.memory.system();
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

/// Nanoseconds of a core cycle.
fn core_ns(machine: &MachineConfig) -> f64 {
    machine.system.memory.system().clock().ns(Cycles(1)) / machine.settings.clock.per_clock()
}
