//! Program files of receivers of packets.

use std::path::Path;

use host::machine::{NetworkSettings, ReceiverSettings};

use crate::key::{Holds, Key, key};
use crate::{Document, Failure, Overrides};

/// The receiver of the server of 2006, `configs/programs/ioat-2006.toml`.
const SHIPPED: &str = include_str!("../../../configs/programs/ioat-2006.toml");
/// Path of the shipped receiver in the repository.
const SHIPPED_PATH: &str = "configs/programs/ioat-2006.toml";

const INSTRUCTIONS_MAX: u64 = 1 << 30;

/// Keys of a receiver.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    key!(ReceiverSettings, interrupt_instructions, Holds::Count(0, INSTRUCTIONS_MAX), "600", "instructions per interrupt, or per poll of the queue that finds packets"),
    key!(ReceiverSettings, packet_instructions, Holds::Count(0, INSTRUCTIONS_MAX), "2_500", "instructions per packet, in driver and protocol"),
    key!(ReceiverSettings, socket_buffer_lines, Holds::Count(0, 64), "5", "lines of a socket buffer that each packet loads and stores"),
    key!(ReceiverSettings, connection_lines, Holds::Count(0, 64), "12", "lines of the state of a connection that each of its packets loads and stores"),
    key!(ReceiverSettings, wakeup_instructions, Holds::Count(0, INSTRUCTIONS_MAX), "2_500", "instructions to wake the application, once per connection and batch of packets"),
    key!(ReceiverSettings, message_bytes, Holds::Bytes(1, 1 << 30), "65_536", "bytes that the application receives with one call"),
    key!(ReceiverSettings, message_buffers, Holds::Count(1, 1 << 16), "1", "buffers of messages per connection, used in turn"),
    key!(ReceiverSettings, message_instructions, Holds::Count(0, INSTRUCTIONS_MAX), "1_000", "instructions of the call, per message"),
    key!(ReceiverSettings, read_stride, Holds::Count(0, 1 << 30), "64", "distance in bytes of the loads with which the application reads a message; 0 if it does not read it"),
    key!(ReceiverSettings, packets_per_acknowledgment, Holds::Count(0, 1 << 16), "2", "packets after which an acknowledgment is sent; 0 for none"),
    key!(ReceiverSettings, sent_per_100, Holds::Count(0, 10_000), "100", "packets sent per 100 received ones"),
    key!(ReceiverSettings, acknowledgment_instructions, Holds::Count(0, INSTRUCTIONS_MAX), "1_000", "instructions per acknowledgment"),
    key!(ReceiverSettings, send_instructions, Holds::Count(0, INSTRUCTIONS_MAX), "1_000", "instructions per other packet sent"),
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
        Ok(ReceiverConfig(document.root().over(ReceiverSettings::default())))
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
