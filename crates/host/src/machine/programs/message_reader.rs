//! A program that reads every word of the messages that a network adapter writes to its buffers.

use std::collections::VecDeque;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use trace_io::LineError;
use trace_io::program::{DeviceStep, InstructionClass, InstructionKind, Needs, Step};

use super::super::packet::{Buffer, Packet};
use super::steps::Program;

/// What the program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageReaderSettings {
    /// Buffers of packets, which lie one behind the other.
    pub buffers: u64,
    /// Bytes of a packet, which has no header in memory.
    pub packet_bytes: u64,
    /// Packets that the program awaits before it reads them: those of a message, or of its delay.
    pub packets_per_read: u64,
    /// Bytes of local data that it reads with each packet, in the order of their addresses.
    pub local_bytes: u64,
    /// Bytes of the area of local data.
    pub local_area: u64,
    /// Bytes of a working set, of which the program loads a word per line while it awaits packets.
    pub working_set: u64,
    /// Times that it does so between two reads of packets.
    pub passes: u64,
    /// Bytes of a line.
    pub line_bytes: u64,
}

/// Bytes of a word, as the Power ISA defines it.
const WORD_BYTES: u64 = 4;

/// First addresses of the program's memory.
const BUFFERS: u64 = 1 << 32;
const LOCAL: u64 = 1 << 33;
const WORKING_SET: u64 = 1 << 34;

/// A part of the program.
#[derive(Clone, Copy, Debug)]
enum Part {
    Step(Step),
    /// Loads at some distance, each added to a sum.
    Read {
        from: u64,
        to: u64,
        stride: u64,
    },
}

/// Reads messages without a copy and without the kernel.
///
/// It posts its buffers and awaits packets. While it awaits those that it reads together, it reads parts of its working
/// set. Then it reads every word of these packets, with each packet its share of the local data, and posts its buffer
/// again. Per word it executes a load, the addition to a sum, and the branch of the loop. It ends when no packet
/// follows.
#[derive(Debug)]
pub struct MessageReader {
    settings: MessageReaderSettings,
    parts: VecDeque<Part>,
    /// The rest of the instructions of a word.
    of_word: VecDeque<Step>,
    /// Packets that were not read.
    unread: VecDeque<Packet>,
    /// Packets awaited.
    awaited: u64,
    /// Bytes of local data read.
    local: u64,
}

impl MessageReader {
    /// Creates the program.
    pub fn new(settings: MessageReaderSettings) -> MessageReader {
        let (parts, of_word, unread) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let mut program = MessageReader { settings, parts, of_word, unread, awaited: 0, local: 0 };
        for (first, bytes) in [
            (BUFFERS, settings.buffers * settings.packet_bytes),
            (LOCAL, settings.local_area),
            (WORKING_SET, settings.working_set),
        ] {
            let (address, bytes) = (PhysicalAddress(first), bytes.next_multiple_of(FRAME_BYTES));
            if bytes > 0 {
                program.step(Step::Map { address, bytes });
                program.step(Step::Present { address, bytes });
            }
        }
        for number in 0..settings.buffers {
            let address = PhysicalAddress(BUFFERS + number * settings.packet_bytes);
            program.post(Buffer { header: address, payload: address });
        }
        program.step(Step::Device(DeviceStep::Await));
        program
    }

    fn step(&mut self, step: Step) {
        self.parts.push_back(Part::Step(step));
    }

    fn post(&mut self, Buffer { header, payload }: Buffer) {
        self.step(Step::Device(DeviceStep::Post { header, payload }));
    }

    fn read(&mut self, from: u64, to: u64, stride: u64) {
        self.parts.push_back(Part::Read { from, to, stride });
    }

    /// Reads local data, again from the start of its area after the end.
    fn read_local(&mut self) {
        let MessageReaderSettings { local_bytes, local_area, .. } = self.settings;
        let mut rest = local_bytes;
        while rest > 0 {
            let from = self.local % local_area;
            let bytes = rest.min(local_area - from);
            self.read(LOCAL + from, LOCAL + from + bytes, WORD_BYTES);
            self.local += bytes;
            rest -= bytes;
        }
    }

    /// Reads the part of the working set that belongs to an awaited packet.
    fn read_working_set(&mut self) {
        let MessageReaderSettings { working_set, passes, packets_per_read, line_bytes, .. } = self.settings;
        if working_set == 0 {
            return;
        }
        let lines = working_set / line_bytes;
        let number = self.awaited % packets_per_read;
        let line = |number: u64| number * passes * lines / packets_per_read;
        for at in line(number)..line(number + 1) {
            let address = PhysicalAddress(WORKING_SET + at % lines * line_bytes);
            self.step(Step::Load { address });
        }
    }

    /// Reads the packets that have arrived.
    fn read_packets(&mut self) {
        while let Some(packet) = self.unread.pop_front() {
            let PhysicalAddress(from) = packet.buffer.payload;
            self.read(from, from + packet.bytes, WORD_BYTES);
            self.read_local();
            self.post(packet.buffer);
        }
    }

    /// The instructions of a word.
    fn word(address: u64) -> [Step; 3] {
        let sum = Needs { class: InstructionClass::Integer, after: [1, 3] };
        [
            Step::Load { address: PhysicalAddress(address) },
            Step::Instruction { kind: InstructionKind::Compute { instructions: 1 }, needs: sum },
            Step::Compute { instructions: 1 },
        ]
    }
}

impl Program for MessageReader {
    fn next_step(&mut self) -> Result<Option<Step>, LineError> {
        loop {
            if let Some(step) = self.of_word.pop_front() {
                return Ok(Some(step));
            }
            match self.parts.front_mut() {
                None => return Ok(None),
                Some(Part::Step(step)) => {
                    let step = *step;
                    self.parts.pop_front();
                    return Ok(Some(step));
                }
                Some(Part::Read { from, to, stride }) if *from < *to => {
                    let address = *from;
                    *from += *stride;
                    self.of_word.extend(MessageReader::word(address));
                }
                Some(Part::Read { .. }) => {
                    self.parts.pop_front();
                }
            }
        }
    }

    fn receive(&mut self, packets: &[Packet]) {
        if packets.is_empty() {
            return self.read_packets();
        }
        for packet in packets {
            self.read_working_set();
            self.awaited += 1;
            self.unread.push_back(*packet);
            if self.awaited.is_multiple_of(self.settings.packets_per_read) {
                self.read_packets();
            }
        }
        self.step(Step::Device(DeviceStep::Await));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: MessageReaderSettings = MessageReaderSettings {
        buffers: 4,
        packet_bytes: 128,
        packets_per_read: 2,
        local_bytes: 8,
        local_area: 12,
        working_set: 256,
        passes: 2,
        line_bytes: 128,
    };

    fn rest(program: &mut MessageReader) -> Vec<Step> {
        std::iter::from_fn(|| program.next_step().unwrap()).collect()
    }

    fn loads(steps: &[Step]) -> Vec<u64> {
        let loads = steps.iter().filter_map(|step| match step {
            Step::Load { address } => Some(address.0),
            _ => None,
        });
        loads.collect()
    }

    /// Two lines of the working set, twice, then two packets of 32 words with two words of local data each,
    /// of an area of three.
    #[test]
    fn packets_are_read_together_after_the_working_set() {
        let mut program = MessageReader::new(SETTINGS);
        let steps = rest(&mut program);
        let posts = steps.iter().filter(|step| matches!(step, Step::Device(DeviceStep::Post { .. }))).count();
        assert_eq!((posts, steps.last()), (4, Some(&Step::Device(DeviceStep::Await))));
        let packet = |number: u64| {
            let payload = PhysicalAddress(BUFFERS + 128 * number);
            Packet { connection: 0, buffer: Buffer { header: payload, payload }, bytes: 128 }
        };
        program.receive(&[packet(0)]);
        let steps = rest(&mut program);
        assert_eq!((loads(&steps), steps.len()), (vec![WORKING_SET, WORKING_SET + 128], 3));
        program.receive(&[packet(1)]);
        let steps = rest(&mut program);
        let of_packet = |number: u64| (0..32).map(move |word| BUFFERS + 128 * number + 4 * word);
        let expected: Vec<u64> = [WORKING_SET, WORKING_SET + 128]
            .into_iter()
            .chain(of_packet(0))
            .chain([LOCAL, LOCAL + 4])
            .chain(of_packet(1))
            .chain([LOCAL + 8, LOCAL])
            .collect();
        assert_eq!(loads(&steps), expected);
        // Three instructions per word, a load per line of the working set, two posts and an await.
        assert_eq!(steps.len(), 2 + 3 * (64 + 4) + 2 + 1);
        // What is left is read at the end.
        program.receive(&[packet(2)]);
        rest(&mut program);
        program.receive(&[]);
        assert_eq!(loads(&rest(&mut program)).len(), 34);
        assert_eq!(program.next_step().unwrap(), None);
    }
}
