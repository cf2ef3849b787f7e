//! Random machines with a network adapter, and programs that use it; properties of their runs.

use std::collections::VecDeque;

use dram_spec::PhysicalAddress;
use host::machine::{
    InjectionLevel, InjectionPolicy, InjectionSettings, NetworkSettings, Sharing, Spread, WithoutBuffer,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use trace_io::program::{DeviceStep, Step};

use crate::cases::{Case, arb_case};
use crate::network::queue_of;
use crate::processes::PAGE;
use crate::properties::determined;
use crate::runs::{checked, engine, reference, same, tick_by_tick};
use crate::sequence::runs;

/// First bytes of the buffers, and of what is sent.
const BUFFERS: u64 = 0x4000_0000;
const SENT: u64 = 0x5000_0000;

/// Buffers of a core: more than a program posts before it awaits packets.
const BUFFERS_PER_CORE: u64 = 4;

/// Packets of a port where packets wait for buffers, and further buffers of a core for those of two ports.
const WAITING_PACKETS: u64 = 4;
const FURTHER_BUFFERS: u64 = 2 * WAITING_PACKETS;

/// Bytes between the headers of buffers that lie in pages of their own.
const HEADER_STRIDE: u64 = 256;

/// Bytes between what is sent.
const SENT_STRIDE: u64 = 1024;

fn arb_injection() -> impl Strategy<Value = InjectionSettings> {
    let policy = select(vec![
        InjectionPolicy::Never,
        InjectionPolicy::Always,
        InjectionPolicy::BySize,
        InjectionPolicy::BoundedWays,
        InjectionPolicy::WhenExpected,
    ]);
    let level = select(vec![InjectionLevel::L1, InjectionLevel::L2, InjectionLevel::LastLevel]);
    (policy, level, prop::option::of(0_usize..3), select(vec![64_u64, 256]), 1_u64..101, 1_usize..4).prop_map(
        |(policy, level, core, max_bytes, share, near_packets)| InjectionSettings {
            policy,
            level,
            core,
            max_bytes,
            share,
            near_packets,
        },
    )
}

fn arb_network() -> impl Strategy<Value = NetworkSettings> {
    let bytes = (select(vec![0_u64, 24]), select(vec![0_u64, 40, 66, 128]), select(vec![1_u64, 64, 200, 1448]));
    let packets = (1_usize..3, 0_u64..8, 1_u64..3, 1_u64..4, select(vec![100_u64, 1_000, 8_000]));
    let interrupts = (1_usize..4, select(vec![0_u64, 500, 20_000]), select(vec![0_u64, 30, 2_000]));
    let spread = select(vec![Spread::Ports, Spread::Connections]);
    let without_buffer = select(vec![WithoutBuffer::Drop, WithoutBuffer::Drop, WithoutBuffer::Wait]);
    let clients = (select(vec![0_u64, 0, 0, 1, 2]), select(vec![0_u64, 40, 3_000]), 1_u64..3);
    (bytes, packets, interrupts, spread, without_buffer, 1_usize..4, 1_usize..3, arb_injection(), clients).prop_map(
        |(bytes, packets, interrupts, spread, without_buffer, queues, send_ring, injection, clients)| {
            let (frame_bytes, header_bytes, payload_bytes) = bytes;
            let (ports, packets, connections, burst, cycles_per_1000_bytes) = packets;
            let (coalesced_packets, coalesced_cycles, interrupt_cycles) = interrupts;
            let (clients, client_cycles, answer_packets) = clients;
            NetworkSettings {
                frame_bytes,
                header_bytes,
                payload_bytes,
                packets,
                connections,
                burst,
                spread,
                ring: 256,
                send_ring,
                coalesced_packets,
                coalesced_cycles,
                interrupt_cycles,
                without_buffer,
                injection,
                clients,
                client_cycles,
                answer_packets,
                ..NetworkSettings::gigabit(ports, queues, cycles_per_1000_bytes)
            }
        },
    )
}

/// The steps of a core that uses the adapter, between steps of another program; numbers choose them.
///
/// A program accesses no buffer from its post on until it has awaited packets as often as buffers were posted up to
/// it: then the buffer is taken, or no further packet arrives.
///
/// Where packets wait for buffers, a core that receives has a buffer without a packet whenever it awaits packets, and
/// has posted a buffer for each packet of its queue at its end: no packet in front of another one waits forever. Where
/// clients await answers, it has sent an answer through each port for each packet that it may have taken, and for all
/// packets at its end: no client waits forever.
struct Writer {
    network: NetworkSettings,
    core: usize,
    /// Whether headers lie in a page of their own.
    is_split: bool,
    steps: Vec<Step>,
    free: VecDeque<u64>,
    posted: VecDeque<u64>,
    /// Buffers posted so far, and before it last awaited packets.
    posts: u64,
    posts_before: u64,
    /// Packets sent so far, and through each port since it has first awaited packets.
    sent: u64,
    answered: u64,
    has_awaited: bool,
}

impl Writer {
    fn new(network: NetworkSettings, core: usize, is_split: bool) -> Writer {
        Writer {
            network,
            core,
            is_split,
            steps: Vec::new(),
            free: (0..BUFFERS_PER_CORE).collect(),
            posted: VecDeque::new(),
            posts: 0,
            posts_before: 0,
            sent: 0,
            answered: 0,
            has_awaited: false,
        }
    }

    fn receives(&self) -> bool {
        self.core < self.network.queues
    }

    /// First bytes of header and payload of a buffer.
    fn addresses(&self, buffer: u64) -> (u64, u64) {
        let page = BUFFERS + (1 + buffer) * PAGE;
        if self.is_split {
            (BUFFERS + buffer * HEADER_STRIDE, page)
        } else {
            let header = page + buffer * 24;
            (header, header + self.network.header_bytes)
        }
    }

    fn access(&mut self, number: u64) {
        let Some(&buffer) = self.free.get(number as usize % self.free.len().max(1)) else { return };
        let (header, payload) = self.addresses(buffer);
        let (start, bytes) = if number.is_multiple_of(3) {
            (header, self.network.header_bytes)
        } else {
            (payload, self.network.payload_bytes)
        };
        let address = PhysicalAddress((start + number / 8 % bytes.max(1)) / 8 * 8);
        self.steps.push(if (number / 4).is_multiple_of(2) { Step::Load { address } } else { Step::Store { address } });
    }

    fn post(&mut self) {
        let Some(buffer) = self.free.pop_front().filter(|_| self.receives()) else { return };
        self.posted.push_back(buffer);
        self.posts += 1;
        let (header, payload) = self.addresses(buffer);
        let [header, payload] = [header, payload].map(PhysicalAddress);
        self.steps.push(Step::Device(DeviceStep::Post { header, payload }));
    }

    fn await_packets(&mut self) {
        if self.receives() && packets_wait(&self.network) {
            if self.free.is_empty() {
                return;
            }
            self.post();
        }
        if self.has_awaited {
            self.answer(self.posts_before);
        }
        (self.has_awaited, self.posts_before) = (true, self.posts);
        self.steps.push(Step::Device(DeviceStep::Await));
        self.free.extend(self.posted.pop_front());
    }

    /// Sends answers through each port, up to a number.
    fn answer(&mut self, answers: u64) {
        if self.network.clients == 0 || !self.receives() {
            return;
        }
        while self.answered < answers * self.network.answer_packets {
            self.answered += 1;
            for port in 0..self.network.ports as u32 {
                let place = self.sent % (4 * PAGE / SENT_STRIDE);
                self.sent += 1;
                let (address, bytes) = (PhysicalAddress(SENT + place * SENT_STRIDE), 1 + self.sent * 97 % 500);
                self.steps.push(Step::Device(DeviceStep::Send { port, address, bytes }));
            }
        }
    }

    fn send(&mut self, number: u64) {
        let address = PhysicalAddress(SENT + self.sent * SENT_STRIDE);
        if self.sent >= 4 * PAGE / SENT_STRIDE {
            return;
        }
        self.sent += 1;
        if number.is_multiple_of(2) {
            self.steps.push(Step::Store { address });
        }
        let port = (number % self.network.ports as u64) as u32;
        self.steps.push(Step::Device(DeviceStep::Send { port, address, bytes: 1 + number % (SENT_STRIDE - 1) }));
    }

    /// Posts buffers and sends answers for all packets.
    fn end(&mut self) {
        if !self.receives() || !packets_wait(&self.network) {
            return;
        }
        let NetworkSettings { ports, packets, .. } = self.network;
        let all = (0..ports).flat_map(|port| (0..packets).map(move |packet| (port, packet)));
        let own = all.filter(|&(port, packet)| queue_of(&self.network, port, packet) == self.core).count() as u64;
        self.free = (BUFFERS_PER_CORE..BUFFERS_PER_CORE + own.saturating_sub(self.posts)).collect();
        while !self.free.is_empty() {
            self.post();
        }
        self.answer(packets);
    }

    fn write(mut self, others: Vec<Step>, numbers: &[u16], has_frames: bool) -> Vec<Step> {
        let mut others =
            others.into_iter().take_while(|step| !matches!(step, Step::Fork { .. } | Step::Run { .. } | Step::Exit));
        // All ranges are filled before.
        self.steps.extend(others.by_ref().take(3));
        let further = if packets_wait(&self.network) { FURTHER_BUFFERS } else { 0 };
        let buffers = (PhysicalAddress(BUFFERS), (1 + BUFFERS_PER_CORE + further) * PAGE);
        for (address, bytes) in [buffers, (PhysicalAddress(SENT), 4 * PAGE)] {
            self.steps.push(Step::Map { address, bytes });
            self.steps.extend(has_frames.then_some(Step::Present { address, bytes }));
        }
        for number in numbers.iter().copied().map(u64::from) {
            match number % 8 {
                0..3 => self.access(number / 8),
                3..5 => self.post(),
                5 => self.await_packets(),
                6 => self.send(number / 8),
                _ => self.steps.extend(others.by_ref().take(3)),
            }
        }
        if !self.has_awaited && self.receives() {
            self.free.extend(self.free.is_empty().then(|| self.posted.pop_back()).flatten());
            self.await_packets();
        }
        self.end();
        self.steps
    }
}

/// Whether packets wait for buffers.
fn packets_wait(network: &NetworkSettings) -> bool {
    network.clients > 0 || network.without_buffer == WithoutBuffer::Wait
}

/// Cases with a network adapter.
pub fn arb_case_with_network() -> impl Strategy<Value = Case> {
    let programs = vec(vec(any::<u16>(), 1..50), 3);
    (arb_case(), arb_network(), programs, any::<[bool; 2]>()).prop_map(
        |(mut case, mut network, numbers, [is_split, has_frames])| {
            let cores = case.programs.len();
            network.queues = 1 + network.queues % cores;
            if packets_wait(&network) {
                network.packets = network.packets.min(WAITING_PACKETS);
            }
            // The cores that read packets have the cache of this core.
            let core = network.injection.core.filter(|_| case.settings.sharing == Sharing::Shared);
            network.injection.core = core.map(|core| core % cores);
            case.settings.network = Some(network);
            for ((core, program), numbers) in case.programs.iter_mut().enumerate().zip(&numbers) {
                let writer = Writer::new(network, core, is_split);
                program.steps = writer.write(std::mem::take(&mut program.steps), numbers, has_frames);
            }
            case
        },
    )
}

proptest! {
    #![proptest_config(runs(250, 9))]

    /// Requests, commands, counters and cycles of the machine and the reference model are equal, with a network
    /// adapter.
    #[test]
    fn machine_and_reference_model_agree_with_a_network_adapter(case in arb_case_with_network()) {
        let outcomes = [engine(&case), reference(&case)].map(|outcome| determined(&case, outcome));
        same(["engine", "reference model"], [&outcomes[0], &outcomes[1]])?;
    }
}

proptest! {
    #![proptest_config(runs(100, 10))]

    /// With a network adapter, each load returns what a flat memory returns, and a controller that visits every clock
    /// changes nothing.
    #[test]
    fn loads_are_right_with_a_network_adapter(case in arb_case_with_network(), seed: u64) {
        let (_, outcome) = checked(&case, seed);
        prop_assert_eq!(outcome.check.expect("contents are modeled").1, None);
        same(["controller", "tick by tick"], [&engine(&case), &tick_by_tick(&case)])?;
    }
}
