//! A program that receives packets of a network adapter, and copies them to the buffers of an application.

use std::collections::BTreeMap;

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use trace_io::LineError;
use trace_io::program::{DeviceStep, Step};

use super::super::packet::{Buffer, Packet};
use super::answers::{AnswerSettings, Answers};
use super::steps::Program;
use super::work_steps::WorkSteps;

/// The work of a receiver, in instructions and lines. `configs/programs/ioat-2006.toml` has the source of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverSettings {
    /// Receive buffers: those of the queue of its core.
    pub buffers: u64,
    /// Whether headers and payloads have buffers of their own, those of payloads at page boundaries.
    pub has_split_headers: bool,
    /// Bytes of the header of a packet.
    pub header_bytes: u64,
    /// Bytes of the payload of a packet.
    pub payload_bytes: u64,
    /// Instructions of the driver per interrupt, or per poll of the queue that finds packets.
    pub interrupt_instructions: u64,
    /// Instructions per packet, in driver and protocol.
    pub packet_instructions: u64,
    /// Lines of a socket buffer, which each packet loads and stores. Socket buffers are used again in a ring as
    /// long as the receive queue.
    pub socket_buffer_lines: u64,
    /// Lines of the state of a connection, which each of its packets loads and stores.
    pub connection_lines: u64,
    /// Instructions to wake the application, once per connection with packets in a batch.
    pub wakeup_instructions: u64,
    /// Bytes that the application receives with one call.
    pub message_bytes: u64,
    /// Whether a page of a message gets a frame near the payload whose copy begins there, as a kernel places copies
    /// that are executed in DRAM.
    pub renews_pages: bool,
    /// Buffers of messages per connection, used in turn.
    pub message_buffers: u64,
    /// Instructions of the call, per message.
    pub message_instructions: u64,
    /// Distance of the loads with which the application reads a message, in bytes; 0 if it does not read it.
    pub read_stride: u64,
    /// Packets after which an acknowledgment is sent; 0 for none.
    pub packets_per_acknowledgment: u64,
    /// Packets sent per 100 received ones, of the length of those received.
    pub sent_per_100: u64,
    /// Instructions per acknowledgment.
    pub acknowledgment_instructions: u64,
    /// Instructions per other packet sent.
    pub send_instructions: u64,
    /// Connections of each port of the network adapter.
    pub connections: u64,
    /// How messages are answered; none if they are not.
    pub answer: Option<AnswerSettings>,
}

/// A receiver of the packets of a core.
///
/// It posts its buffers, and awaits packets. Of each packet it reads header, socket buffer and state of the
/// connection, and begins the copy of the payload to the message buffer. When all packets of the batch have been
/// handled it wakes the application per connection, which waits for the copies if messages are complete, and reads
/// these. The buffers are posted again at the start of the next batch, after the end of their copies. It ends when no
/// packet follows. Complete messages may be requests, which it then answers.
#[derive(Debug)]
pub struct Receiver {
    settings: ReceiverSettings,
    steps: WorkSteps,
    /// Bytes received, by connection.
    received: BTreeMap<u64, u64>,
    /// Packets received.
    packets: u64,
    /// Packets sent, without acknowledgments.
    sent: u64,
    /// Buffers of the latest batch, to be posted again.
    used: Vec<Buffer>,
    answers: Option<Answers>,
    /// Messages that have become complete and are not answered: their addresses and connections.
    complete: Vec<(u64, u64)>,
}

/// First addresses of the parts of the program's memory.
const BUFFERS: u64 = 1 << 32;
const HEADERS: u64 = 1 << 33;
const SOCKET_BUFFERS: u64 = 1 << 34;
const CONNECTIONS: u64 = 1 << 35;
const MESSAGES: u64 = 1 << 36;
const SENT: u64 = 1 << 37;

/// Bytes of an acknowledgment, and of the payload buffers of packets that are sent.
const ACKNOWLEDGMENT_BYTES: u64 = 66;
const SENT_BUFFERS: u64 = 64;

impl Receiver {
    /// Creates a receiver.
    pub fn new(settings: ReceiverSettings) -> Receiver {
        let mut receiver = Receiver {
            settings,
            steps: WorkSteps::default(),
            received: BTreeMap::new(),
            packets: 0,
            sent: 0,
            used: Vec::new(),
            answers: None,
            complete: Vec::new(),
        };
        let ReceiverSettings { buffers, socket_buffer_lines, .. } = settings;
        receiver.steps.present(BUFFERS, buffers * receiver.buffer_bytes());
        if settings.has_split_headers {
            receiver.steps.present(HEADERS, buffers * receiver.split_header_bytes());
        }
        receiver.steps.present(SOCKET_BUFFERS, buffers * socket_buffer_lines * LINE_BYTES);
        receiver.steps.present(SENT, SENT_BUFFERS * FRAME_BYTES);
        let of_packets = (settings.header_bytes, settings.send_instructions);
        receiver.answers = settings.answer.map(|answer| Answers::new(answer, of_packets, &mut receiver.steps));
        for number in 0..buffers {
            let Buffer { header, payload } = receiver.buffer(number);
            receiver.steps.device(DeviceStep::Post { header, payload });
        }
        receiver.steps.device(DeviceStep::Await);
        receiver
    }

    /// Bytes from one receive buffer to the next.
    const fn buffer_bytes(&self) -> u64 {
        let ReceiverSettings { header_bytes, payload_bytes, has_split_headers, .. } = self.settings;
        if has_split_headers { FRAME_BYTES } else { (header_bytes + payload_bytes).next_power_of_two() }
    }

    /// Bytes from one header buffer to the next: whole lines, of which no page boundary cuts one.
    const fn split_header_bytes(&self) -> u64 {
        let bytes = self.settings.header_bytes.next_power_of_two();
        if bytes > LINE_BYTES { bytes } else { LINE_BYTES }
    }

    fn buffer(&self, number: u64) -> Buffer {
        let start = PhysicalAddress(BUFFERS + number * self.buffer_bytes());
        if self.settings.has_split_headers {
            let header = PhysicalAddress(HEADERS + number * self.split_header_bytes());
            return Buffer { header, payload: start };
        }
        Buffer { header: start, payload: PhysicalAddress(start.0 + self.settings.header_bytes) }
    }

    /// The address of a byte of a connection's messages, and the bytes up to the end of its buffer.
    const fn message(&self, connection: u64, byte: u64) -> (u64, u64) {
        let ReceiverSettings { message_bytes, message_buffers, .. } = self.settings;
        let buffer_bytes = message_bytes.next_multiple_of(FRAME_BYTES);
        let (message, within) = (byte / message_bytes, byte % message_bytes);
        let number = connection * message_buffers + message % message_buffers;
        (MESSAGES + number * buffer_bytes + within, message_bytes - within)
    }

    /// Handles the header of a packet, and begins the copy of its payload.
    fn handle(&mut self, packet: &Packet) {
        let settings = self.settings;
        let state_bytes = settings.connection_lines * LINE_BYTES;
        let per_connection = state_bytes.max(1).next_multiple_of(FRAME_BYTES);
        let from = self.received.get(&packet.connection).copied().unwrap_or_else(|| {
            let bytes = settings.message_buffers * settings.message_bytes.next_multiple_of(FRAME_BYTES);
            let (address, _) = self.message(packet.connection, 0);
            self.steps.present(CONNECTIONS + packet.connection * per_connection, state_bytes);
            self.steps.present(address, bytes);
            0
        });
        for line in 0..settings.header_bytes.div_ceil(LINE_BYTES) {
            self.steps.add(Step::Load { address: PhysicalAddress(packet.buffer.header.0 + line * LINE_BYTES) });
        }
        let slot = self.packets % settings.buffers;
        self.steps
            .touch(SOCKET_BUFFERS + slot * settings.socket_buffer_lines * LINE_BYTES, settings.socket_buffer_lines);
        self.steps.touch(CONNECTIONS + packet.connection * per_connection, settings.connection_lines);
        self.steps.work(settings.packet_instructions);
        self.packets += 1;
        let mut copied = 0;
        while copied < packet.bytes {
            let (dst, room) = self.message(packet.connection, from + copied);
            let bytes = room.min(packet.bytes - copied);
            let (dst, src) = (PhysicalAddress(dst), PhysicalAddress(packet.buffer.payload.0 + copied));
            if settings.renews_pages && dst.0.is_multiple_of(FRAME_BYTES) && src.0.is_multiple_of(FRAME_BYTES) {
                self.steps.add(Step::Renew { page: dst, source: src, bytes: FRAME_BYTES });
            }
            self.steps.device(DeviceStep::Begin { dst, src, bytes });
            copied += bytes;
        }
        self.received.insert(packet.connection, from + packet.bytes);
        self.send_after(packet);
    }

    /// Sends what a received packet causes.
    fn send_after(&mut self, packet: &Packet) {
        let settings = self.settings;
        let port = (packet.connection / settings.connections) as u32;
        let per_acknowledgment = settings.packets_per_acknowledgment;
        if per_acknowledgment > 0 && self.packets.is_multiple_of(per_acknowledgment) {
            self.steps.work(settings.acknowledgment_instructions);
            let address = PhysicalAddress(SENT);
            self.steps.touch(address.0, ACKNOWLEDGMENT_BYTES.div_ceil(LINE_BYTES));
            self.steps.device(DeviceStep::Send { port, address, bytes: ACKNOWLEDGMENT_BYTES });
        }
        while self.sent * 100 < self.packets * settings.sent_per_100 {
            self.steps.work(settings.send_instructions);
            let address = PhysicalAddress(SENT + (1 + self.sent % (SENT_BUFFERS - 1)) * FRAME_BYTES);
            let bytes = settings.header_bytes + settings.payload_bytes;
            self.steps.touch(address.0, settings.header_bytes.div_ceil(LINE_BYTES));
            self.steps.device(DeviceStep::Send { port, address, bytes });
            self.sent += 1;
        }
    }

    /// Wakes the application of a connection, which reads the messages that have become complete.
    fn wake(&mut self, connection: u64, before: u64) {
        let settings = self.settings;
        self.steps.work(settings.wakeup_instructions);
        let complete = self.received[&connection] / settings.message_bytes;
        if before / settings.message_bytes < complete {
            self.steps.device(DeviceStep::Wait);
        }
        for message in before / settings.message_bytes..complete {
            self.steps.work(settings.message_instructions);
            let (address, bytes) = self.message(connection, message * settings.message_bytes);
            if self.answers.is_some() {
                self.complete.push((address, connection));
            }
            let loads = bytes.checked_div(settings.read_stride).map_or(0, |loads| loads.max(1));
            for load in 0..loads {
                self.steps.add(Step::Load { address: PhysicalAddress(address + load * settings.read_stride) });
            }
        }
    }
}

impl Program for Receiver {
    fn next_step(&mut self) -> Result<Option<Step>, LineError> {
        Ok(self.steps.next())
    }

    fn receive(&mut self, packets: &[Packet]) {
        self.steps.device(DeviceStep::Wait);
        for Buffer { header, payload } in std::mem::take(&mut self.used) {
            self.steps.device(DeviceStep::Post { header, payload });
        }
        if packets.is_empty() {
            return;
        }
        self.steps.work(self.settings.interrupt_instructions);
        let mut before = BTreeMap::new();
        for packet in packets {
            let received = self.received.get(&packet.connection).copied().unwrap_or(0);
            before.entry(packet.connection).or_insert(received);
            self.handle(packet);
        }
        self.steps.device(DeviceStep::Issue);
        self.used = packets.iter().map(|packet| packet.buffer).collect();
        for (connection, before) in before {
            self.wake(connection, before);
        }
        if let Some(answers) = &mut self.answers {
            for (message, connection) in self.complete.drain(..) {
                answers.begin(message, (connection / self.settings.connections) as u32, &mut self.steps);
            }
            answers.send_all(&mut self.steps);
        }
        self.steps.device(DeviceStep::Await);
    }
}
