//! Receive processing of TCP/IP as a program: the instructions of each packet, and the copy of its payload.

use std::ops::Range;

use dram_spec::{LINE_BYTES, PhysicalAddress};
use trace_io::program::{InstructionClass, InstructionKind, Needs, Step};

use super::super::settings::Region;
use super::steps::{Program, Steps};

/// Bytes that a load or store accesses.
const WORD_BYTES: u64 = 8;

/// Buffers of packets.
const PACKETS: u64 = 1 << 32;
/// Descriptors of packets.
const DESCRIPTORS: u64 = 1 << 33;
/// Buffers of the application.
const APPLICATION: u64 = 1 << 34;
/// Data structures of the steps.
const STRUCTURES: u64 = 1 << 35;

/// Buffers that are used in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRing {
    /// Their number.
    pub buffers: u64,
    /// Size of a buffer.
    pub buffer_bytes: u64,
}

impl BufferRing {
    const fn bytes(self) -> u64 {
        self.buffers * self.buffer_bytes
    }

    /// Offset of the buffer of a packet.
    const fn offset(self, packet: u64) -> u64 {
        packet % self.buffers * self.buffer_bytes
    }
}

/// An instruction of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupInstruction {
    /// Its class: `integer`, `load` or `store`.
    pub class: InstructionClass,
    /// Distance of the instruction whose result it needs; 0 for none.
    pub after: u16,
}

/// Instructions of the protocol stack, the driver and the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiveWork {
    /// Their number.
    pub instructions: u64,
    /// Packets per execution: the step executes for the last one of this number.
    pub every: u64,
    /// Whether its first load reads the descriptor of the packet.
    pub reads_descriptor: bool,
    /// Bytes of the packet whose words its next loads read.
    pub headers: Range<u64>,
    /// Bytes of data structures whose words the further loads read in turn, by line.
    pub read_bytes: u64,
    /// Bytes of data structures whose words its stores write in turn, by line.
    pub written_bytes: u64,
    /// Whether it then reads the payload, with an addition per word.
    pub sums_payload: bool,
}

/// A step of the processing of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiveStep {
    /// Instructions.
    Work(ReceiveWork),
    /// The copy of the payload to the application's buffer.
    Copy,
    /// The application reads the words of an earlier packet.
    Touch {
        /// Packets between; 0 for the same packet.
        packets_before: u64,
        /// Bytes of the payload, from its beginning.
        bytes: u64,
    },
}

/// Receive processing of TCP/IP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpReceive {
    /// Bytes before the payload, in the buffer of a packet.
    pub header_bytes: u64,
    /// Buffers of packets. No line of them is in a cache before the run.
    pub packet_buffers: BufferRing,
    /// Bytes of a descriptor of a packet.
    pub descriptor_bytes: u64,
    /// Buffers of the application.
    pub application_buffers: BufferRing,
    /// Instructions that the steps of the kind [`ReceiveStep::Work`] repeat.
    pub group: Vec<GroupInstruction>,
    /// Steps of a packet.
    pub steps: Vec<ReceiveStep>,
}

/// Packets of a program, and how they are processed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceivedPackets {
    /// Bytes of payload of each packet.
    pub payload_bytes: u64,
    /// Packets before the measured region.
    pub warm_up: u64,
    /// Packets of the measured region.
    pub measured: u64,
    /// Factor of the instructions of all steps of work.
    pub work_scale: f64,
    /// Whether payloads are copied.
    pub is_copied: bool,
}

impl TcpReceive {
    /// The program. It processes a period of its steps more than the packets that are measured, so that a region
    /// ends before the program does.
    pub fn program(&self, packets: ReceivedPackets) -> Box<dyn Program> {
        let areas = [
            (PACKETS, self.packet_buffers.bytes()),
            (DESCRIPTORS, self.packet_buffers.buffers * self.descriptor_bytes),
            (APPLICATION, self.application_buffers.bytes()),
            (STRUCTURES, self.work().map(ReceiveWork::structure_bytes).sum::<u64>().max(1)),
        ];
        let begin = areas.into_iter().flat_map(|(start, bytes)| {
            let address = PhysicalAddress(start);
            [Step::Map { address, bytes }, Step::Present { address, bytes }]
        });
        let (receive, count) = (self.clone(), packets.warm_up + packets.measured + self.period());
        let all = (0..count).flat_map(move |packet| receive.packet(packet, packets));
        Box::new(Steps(begin.chain(all)))
    }

    /// The measured region of a program, in instructions.
    pub fn region(&self, packets: ReceivedPackets) -> Region {
        let instructions = |range: Range<u64>| range.map(|packet| self.instructions(packet, packets)).sum();
        let measured = packets.warm_up..packets.warm_up + packets.measured;
        Region { warm_up: instructions(0..packets.warm_up), instructions: Some(instructions(measured)) }
    }

    /// Packets after which the steps repeat.
    pub fn period(&self) -> u64 {
        self.work().map(|work| work.every).fold(1, least_common_multiple)
    }

    fn work(&self) -> impl Iterator<Item = &ReceiveWork> {
        self.steps.iter().filter_map(|step| if let ReceiveStep::Work(work) = step { Some(work) } else { None })
    }

    /// Instructions of a packet.
    fn instructions(&self, packet: u64, packets: ReceivedPackets) -> u64 {
        let of = |step: &ReceiveStep| match step {
            ReceiveStep::Work(work) if !work.executes(packet) => 0,
            ReceiveStep::Work(work) if work.sums_payload => {
                work.scaled(packets.work_scale) + 2 * words(self.header_bytes, packets.payload_bytes).count() as u64
            }
            ReceiveStep::Work(work) => work.scaled(packets.work_scale),
            ReceiveStep::Copy => u64::from(packets.is_copied),
            ReceiveStep::Touch { packets_before, bytes } if *packets_before <= packet => {
                words(0, *bytes).count() as u64
            }
            ReceiveStep::Touch { .. } => 0,
        };
        self.steps.iter().map(of).sum()
    }

    /// The steps of a packet.
    fn packet(&self, packet: u64, packets: ReceivedPackets) -> Vec<Step> {
        let buffer = PACKETS + self.packet_buffers.offset(packet);
        let payload = buffer + self.header_bytes;
        let own = |packet: u64| APPLICATION + self.application_buffers.offset(packet);
        let (mut steps, mut structures) = (Vec::new(), STRUCTURES);
        for step in &self.steps {
            match step {
                ReceiveStep::Work(work) => {
                    if work.executes(packet) {
                        self.add_work(&mut steps, work, packet, structures, packets.work_scale);
                        if work.sums_payload {
                            add_sum(&mut steps, payload, packets.payload_bytes);
                        }
                    }
                    structures += work.structure_bytes();
                }
                ReceiveStep::Copy if packets.is_copied => {
                    let (dst, src) = (PhysicalAddress(own(packet)), PhysicalAddress(payload));
                    steps.push(Step::Copy { dst, src, bytes: packets.payload_bytes });
                }
                ReceiveStep::Copy => {}
                ReceiveStep::Touch { packets_before, bytes } => {
                    let earlier = packet.checked_sub(*packets_before);
                    let words = earlier.into_iter().flat_map(|packet| words(own(packet), *bytes));
                    steps.extend(words.map(|address| Step::Load { address: PhysicalAddress(address) }));
                }
            }
        }
        steps
    }

    /// Adds the instructions of a step: the group again and again.
    fn add_work(&self, steps: &mut Vec<Step>, work: &ReceiveWork, packet: u64, structures: u64, scale: f64) {
        let descriptor = DESCRIPTORS + packet % self.packet_buffers.buffers * self.descriptor_bytes;
        let buffer = PACKETS + self.packet_buffers.offset(packet);
        let headers = words(buffer + work.headers.start, work.headers.end - work.headers.start);
        let once = work.reads_descriptor.then_some(descriptor).into_iter().chain(headers);
        let mut loads = once.chain(fields(structures, work.read_bytes));
        let mut stores = fields(structures + work.read_bytes, work.written_bytes);
        for (instruction, _) in self.group.iter().cycle().zip(0..work.scaled(scale)) {
            let next = |from: &mut dyn Iterator<Item = u64>| from.next().map(PhysicalAddress);
            let kind = match instruction.class {
                InstructionClass::Load => next(&mut loads).map(|address| InstructionKind::Load { address }),
                InstructionClass::Store => next(&mut stores).map(|address| InstructionKind::Store { address }),
                _ => None,
            };
            let (kind, class) = match kind {
                Some(kind) => (kind, instruction.class),
                None => (InstructionKind::Compute { instructions: 1 }, InstructionClass::Integer),
            };
            steps.push(Step::Instruction { kind, needs: Needs { class, after: [instruction.after, 0] } });
        }
    }
}

impl ReceiveWork {
    /// Whether the step executes for a packet.
    const fn executes(&self, packet: u64) -> bool {
        packet % self.every == self.every - 1
    }

    /// Its instructions times a factor, rounded to a whole number.
    #[expect(clippy::cast_sign_loss, reason = "factors are not negative")]
    fn scaled(&self, scale: f64) -> u64 {
        (self.instructions as f64 * scale).round() as u64
    }

    /// Bytes of its data structures.
    const fn structure_bytes(&self) -> u64 {
        self.read_bytes + self.written_bytes
    }
}

/// The aligned words of a range.
fn words(start: u64, bytes: u64) -> impl Iterator<Item = u64> {
    (start / WORD_BYTES..(start + bytes).div_ceil(WORD_BYTES)).map(|word| word * WORD_BYTES)
}

/// The words of data structures, again and again: the first word of each line, the second word of each line, and so on.
fn fields(start: u64, bytes: u64) -> impl Iterator<Item = u64> {
    let lines = (0..LINE_BYTES / WORD_BYTES)
        .flat_map(move |word| (0..bytes / LINE_BYTES).map(move |line| start + line * LINE_BYTES + word * WORD_BYTES));
    lines.cycle()
}

/// Adds the instructions of a checksum: per word a load, and an addition to the sum.
fn add_sum(steps: &mut Vec<Step>, start: u64, bytes: u64) {
    for (number, address) in words(start, bytes).map(PhysicalAddress).enumerate() {
        let add = Needs { class: InstructionClass::Integer, after: [1, if number == 0 { 0 } else { 2 }] };
        steps.extend([
            Step::Load { address },
            Step::Instruction { kind: InstructionKind::Compute { instructions: 1 }, needs: add },
        ]);
    }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut greatest, mut rest) = (a, b);
    while rest > 0 {
        (greatest, rest) = (rest, greatest % rest);
    }
    a / greatest * b
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn instruction(class: InstructionClass, after: u16) -> GroupInstruction {
        GroupInstruction { class, after }
    }

    /// A group of a load, an integer instruction that needs it, and a store.
    fn receive(steps: Vec<ReceiveStep>) -> TcpReceive {
        use InstructionClass::{Integer, Load, Store};
        TcpReceive {
            header_bytes: 68,
            packet_buffers: BufferRing { buffers: 2, buffer_bytes: 2048 },
            descriptor_bytes: 16,
            application_buffers: BufferRing { buffers: 3, buffer_bytes: 1024 },
            group: vec![instruction(Load, 2), instruction(Integer, 1), instruction(Store, 0)],
            steps,
        }
    }

    const WORK: ReceiveWork = ReceiveWork {
        instructions: 8,
        every: 1,
        reads_descriptor: true,
        headers: 60..68,
        read_bytes: 128,
        written_bytes: 64,
        sums_payload: false,
    };

    const PACKETS_OF_TEST: ReceivedPackets =
        ReceivedPackets { payload_bytes: 100, warm_up: 1, measured: 2, work_scale: 1.0, is_copied: true };

    /// Steps of all packets, without those that map memory.
    fn steps(receive: &TcpReceive, packets: ReceivedPackets) -> Vec<Step> {
        let mut program = receive.program(packets);
        let all = std::iter::from_fn(|| program.next_step().unwrap());
        all.filter(|step| !matches!(step, Step::Map { .. } | Step::Present { .. })).collect()
    }

    fn needs(kind: InstructionKind, class: InstructionClass, after: u16) -> Step {
        Step::Instruction { kind, needs: Needs { class, after: [after, 0] } }
    }

    fn load(address: u64) -> Step {
        needs(InstructionKind::Load { address: PhysicalAddress(address) }, InstructionClass::Load, 2)
    }

    fn store(address: u64) -> Step {
        needs(InstructionKind::Store { address: PhysicalAddress(address) }, InstructionClass::Store, 0)
    }

    fn integer() -> Step {
        needs(InstructionKind::Compute { instructions: 1 }, InstructionClass::Integer, 1)
    }

    /// Eight instructions of two and two thirds groups: loads of the descriptor, of the words at 56 and 64, which
    /// contain the bytes from 60 to 68, in the second of two buffers.
    #[test]
    fn loads_read_the_descriptor_and_the_headers_and_then_the_structures() {
        let all = steps(&receive(vec![ReceiveStep::Work(WORK)]), PACKETS_OF_TEST);
        let (buffer, written) = (PACKETS + 2048, STRUCTURES + 128);
        let expected = [
            load(DESCRIPTORS + 16),
            integer(),
            store(written),
            load(buffer + 56),
            integer(),
            store(written + 8),
            load(buffer + 64),
            integer(),
        ];
        assert_eq!((all.len(), &all[8..16]), (8 * 4, &expected[..]));
        let again = Step::Instruction {
            kind: InstructionKind::Load { address: PhysicalAddress(DESCRIPTORS) },
            needs: Needs { class: InstructionClass::Load, after: [2, 0] },
        };
        assert_eq!(all[16], again, "packet 2 uses the buffers of packet 0");
        let plain = ReceiveWork { reads_descriptor: false, headers: 0..0, ..WORK };
        let all = steps(&receive(vec![ReceiveStep::Work(plain.clone()), ReceiveStep::Work(plain)]), PACKETS_OF_TEST);
        let loads: Vec<Step> = all[..16].iter().copied().step_by(3).collect();
        let of_first = [0, 64, 8].map(|field| load(STRUCTURES + field));
        assert_eq!(loads[..3], of_first, "the first words of both lines, then the second ones");
        assert_eq!(all[8..11], [load(STRUCTURES + 192), integer(), store(STRUCTURES + 192 + 128)]);
    }

    /// Packet 3 of the application's three buffers uses the first one again.
    #[test]
    fn a_payload_is_copied_and_an_earlier_one_read() {
        let touch = ReceiveStep::Touch { packets_before: 1, bytes: 12 };
        let receive = receive(vec![ReceiveStep::Copy, touch]);
        let copy = |packet: u64| Step::Copy {
            dst: PhysicalAddress(APPLICATION + packet % 3 * 1024),
            src: PhysicalAddress(PACKETS + packet % 2 * 2048 + 68),
            bytes: 100,
        };
        let read = |packet: u64| {
            [0, 8].map(|word| Step::Load { address: PhysicalAddress(APPLICATION + packet % 3 * 1024 + word) })
        };
        let mut expected = vec![copy(0)];
        for packet in 1..4 {
            expected.push(copy(packet));
            expected.extend(read(packet - 1));
        }
        assert_eq!(steps(&receive, PACKETS_OF_TEST), expected);
        assert_eq!(receive.region(PACKETS_OF_TEST), Region { warm_up: 1, instructions: Some(6) });
        expected.retain(|step| !matches!(step, Step::Copy { .. }));
        let without = ReceivedPackets { is_copied: false, ..PACKETS_OF_TEST };
        assert_eq!(steps(&receive, without), expected);
        assert_eq!(receive.region(without), Region { warm_up: 0, instructions: Some(4) });
    }

    /// The payload of 100 bytes from byte 68 on lies in 13 words, from 64 to 168.
    #[test]
    fn a_checksum_is_a_chain_of_additions() {
        let receive = receive(vec![ReceiveStep::Work(ReceiveWork { sums_payload: true, ..WORK })]);
        let all = steps(&receive, PACKETS_OF_TEST);
        assert_eq!(all.len(), 4 * (8 + 2 * 13));
        let add = |before: u16| Step::Instruction {
            kind: InstructionKind::Compute { instructions: 1 },
            needs: Needs { class: InstructionClass::Integer, after: [1, before] },
        };
        let word = |offset: u64| Step::Load { address: PhysicalAddress(PACKETS + offset) };
        assert_eq!(all[8..12], [word(64), add(0), word(72), add(2)]);
        assert_eq!(all[8 + 24], word(160));
    }

    #[test]
    fn a_step_executes_for_each_nth_packet_and_its_instructions_are_scaled() {
        let rare = ReceiveWork { every: 2, ..WORK };
        let other = ReceiveWork { every: 3, instructions: 5, ..WORK };
        let receive = receive(vec![ReceiveStep::Work(rare), ReceiveStep::Work(other)]);
        assert_eq!(receive.period(), 6);
        let half = ReceivedPackets { work_scale: 0.5, warm_up: 2, measured: 4, ..PACKETS_OF_TEST };
        // 4 instructions for packets 1, 3 and 5, and 3 (2.5 rounded) for packets 2 and 5.
        assert_eq!(receive.region(half), Region { warm_up: 4, instructions: Some(3 + 4 + 4 + 3) });
        assert_eq!(steps(&receive, half).len(), 2 * (3 * 4 + 2 * 3), "a period more than measured");
    }
}
