//! Receiving a message from the network.

use dram_spec::address::FRAME_BYTES;
use host::machine::{InjectionPolicy, MachineSettings, NetworkSettings, Receiver, ReceiverSettings, Spread};

/// How a network adapter delivers packets: a name, and the setting of the adapter.
///
/// Another kind of delivery is a further entry of [`Delivery::ALL`].
#[derive(Clone, Copy)]
pub struct Delivery {
    /// Name in reports.
    pub name: &'static str,
    /// Sets the adapter.
    set: fn(&mut NetworkSettings),
}

impl Delivery {
    /// All ways.
    pub const ALL: &[Delivery] = &[
        // Packets are written to memory, and no cache keeps a line of them.
        Delivery { name: "memory", set: |network| network.injection.policy = InjectionPolicy::Never },
        // Packets are injected into the last level of the core's caches, or the level of `network.inject_level`.
        Delivery { name: "cache", set: |network| network.injection.policy = InjectionPolicy::Always },
    ];
}

impl PartialEq for Delivery {
    fn eq(&self, other: &Delivery) -> bool {
        self.name == other.name
    }
}

impl Eq for Delivery {}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
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
    delivery: &Delivery,
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
    (delivery.set)(&mut network);
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
