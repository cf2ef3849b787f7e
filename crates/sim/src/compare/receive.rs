//! Receiving a message from the network.

use dram_spec::address::FRAME_BYTES;
use host::machine::{InjectionPolicy, MachineSettings, NetworkSettings, Receiver, ReceiverSettings, Spread};

dram_spec::named! {
    /// How a network adapter delivers packets.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Delivery {
        /// Packets are written to memory, and no cache keeps a line of them.
        Memory = "memory",
        /// Packets are injected into the last level of the core's caches, or the level of `network.inject_level`.
        Cache = "cache",
    }
}

/// Time of 1,000 bytes on a link of 10 Gb/s, for machines without an adapter: on slower links, all copiers wait for
/// packets.
const NS_PER_1000_BYTES: f64 = 800.0;

/// A machine that receives one message, and the program that receives it. `work` has the instructions of the program,
/// `core_ns` is a core cycle.
///
/// One port and one connection. Headers have buffers of their own, and a payload is up to a page that begins at a page
/// boundary, and its copy gets a new frame, so that copies in DRAM are possible.
pub(super) fn of_message(
    settings: &MachineSettings,
    work: &ReceiverSettings,
    delivery: Delivery,
    bytes: u64,
    read_percent: u64,
    core_ns: f64,
) -> (MachineSettings, Receiver) {
    #[expect(clippy::cast_sign_loss, reason = "a cycle takes time")]
    let cycles = (NS_PER_1000_BYTES / core_ns).ceil() as u64;
    let adapter = settings.network.unwrap_or_else(|| NetworkSettings::gigabit(1, 1, cycles));
    let packets = bytes.div_ceil(FRAME_BYTES);
    let mut network = NetworkSettings {
        ports: 1,
        connections: 1,
        queues: 1,
        spread: Spread::Ports,
        payload_bytes: bytes.div_ceil(packets),
        packets,
        ..adapter
    };
    network.injection.policy = match delivery {
        Delivery::Memory => InjectionPolicy::Never,
        Delivery::Cache => InjectionPolicy::Always,
    };
    let receiver = ReceiverSettings {
        buffers: network.ring as u64,
        has_split_headers: true,
        header_bytes: network.header_bytes,
        payload_bytes: network.payload_bytes,
        message_bytes: bytes,
        message_buffers: 1,
        renews_pages: true,
        read_stride: 6_400_u64.checked_div(read_percent).unwrap_or(0),
        connections: 1,
        ..*work
    };
    let mut machine = *settings;
    machine.network = Some(network);
    (machine, Receiver::new(receiver))
}
