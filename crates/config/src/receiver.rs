//! Program files of receivers of packets.

use std::path::Path;

use host::machine::{NetworkSettings, ReceiverSettings};

use crate::key::{Holds, Key};
use crate::{Document, Failure, Overrides};

/// The receiver of the server of 2006, `configs/programs/ioat-2006.toml`.
const SHIPPED: &str = include_str!("../../../configs/programs/ioat-2006.toml");
/// Path of the shipped receiver in the repository.
const SHIPPED_PATH: &str = "configs/programs/ioat-2006.toml";

const INSTRUCTIONS_MAX: u64 = 1 << 30;

/// Keys of a receiver.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    Key::new("interrupt_instructions", Holds::Count(0, INSTRUCTIONS_MAX), "600", "instructions per interrupt, or per look at the queue that finds packets"),
    Key::new("packet_instructions", Holds::Count(0, INSTRUCTIONS_MAX), "2_500", "instructions per packet, in driver and protocol"),
    Key::new("socket_buffer_lines", Holds::Count(0, 64), "5", "lines of a socket buffer that each packet loads and stores"),
    Key::new("connection_lines", Holds::Count(0, 64), "12", "lines of the state of a connection that each of its packets loads and stores"),
    Key::new("wakeup_instructions", Holds::Count(0, INSTRUCTIONS_MAX), "2_500", "instructions to wake the application, once per connection and batch of packets"),
    Key::new("message_bytes", Holds::Bytes(1, 1 << 30), "65_536", "bytes that the application receives with one call"),
    Key::new("message_buffers", Holds::Count(1, 1 << 16), "1", "buffers of messages per connection, used in turn"),
    Key::new("message_instructions", Holds::Count(0, INSTRUCTIONS_MAX), "1_000", "instructions of the call, per message"),
    Key::new("read_stride", Holds::Count(0, 1 << 30), "64", "distance in bytes of the loads with which the application reads a message; 0 if it does not read it"),
    Key::new("packets_per_acknowledgment", Holds::Count(0, 1 << 16), "2", "packets after which an acknowledgment is sent; 0 for none"),
    Key::new("sent_per_100", Holds::Count(0, 10_000), "100", "packets sent per 100 received ones"),
    Key::new("acknowledgment_instructions", Holds::Count(0, INSTRUCTIONS_MAX), "1_000", "instructions per acknowledgment"),
    Key::new("send_instructions", Holds::Count(0, INSTRUCTIONS_MAX), "1_000", "instructions per other packet sent"),
];

/// The work of a receiver; its buffers and packets are those of a network adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig(ReceiverSettings);

impl ReceiverConfig {
    /// The receiver of the server of the I/OAT measurements, which is part of the program.
    ///
    /// # Errors
    /// Never: the file is tested.
    pub fn shipped() -> Result<ReceiverConfig, Failure> {
        ReceiverConfig::shipped_with(&Overrides::default())
    }

    /// The shipped receiver with other values of keys.
    ///
    /// # Errors
    /// There is no such key, or a value is not possible.
    pub fn shipped_with(overrides: &Overrides) -> Result<ReceiverConfig, Failure> {
        let mut document = Document::parse(Path::new(SHIPPED_PATH), SHIPPED, KEYS)?;
        document.apply(overrides)?;
        ReceiverConfig::of(document)
    }

    /// Reads and checks a program file.
    ///
    /// # Errors
    /// It cannot be read, or has an error.
    pub fn read(path: &Path) -> Result<ReceiverConfig, Failure> {
        ReceiverConfig::of(Document::read(path, KEYS)?)
    }

    /// Checks the document of a program file.
    ///
    /// # Errors
    /// It has an error.
    pub fn of(mut document: Document) -> Result<ReceiverConfig, Failure> {
        document.check()?;
        let root = document.root();
        Ok(ReceiverConfig(ReceiverSettings {
            buffers: 0,
            has_split_headers: false,
            header_bytes: 0,
            payload_bytes: 0,
            connections: 0,
            answer: None,
            renews_pages: false,
            interrupt_instructions: root.of("interrupt_instructions"),
            packet_instructions: root.of("packet_instructions"),
            socket_buffer_lines: root.of("socket_buffer_lines"),
            connection_lines: root.of("connection_lines"),
            wakeup_instructions: root.of("wakeup_instructions"),
            message_bytes: root.of("message_bytes"),
            message_buffers: root.of("message_buffers"),
            message_instructions: root.of("message_instructions"),
            read_stride: root.of("read_stride"),
            packets_per_acknowledgment: root.of("packets_per_acknowledgment"),
            sent_per_100: root.of("sent_per_100"),
            acknowledgment_instructions: root.of("acknowledgment_instructions"),
            send_instructions: root.of("send_instructions"),
        }))
    }

    /// The receiver of a queue of a network adapter.
    pub const fn settings(&self, network: &NetworkSettings, has_split_headers: bool) -> ReceiverSettings {
        ReceiverSettings {
            buffers: network.ring as u64,
            has_split_headers,
            header_bytes: network.header_bytes,
            payload_bytes: network.payload_bytes,
            connections: network.connections,
            ..self.0
        }
    }
}
