//! Packets that are sent, and the clients that they answer.

use dram_spec::{Operation, PhysicalAddress};
use host::machine::{NetworkSettings, Purpose};

use super::{Event, Network};
use crate::devices::Snooper;
use crate::machine::ReferenceMachine;
use crate::traffic::Sender;
use crate::transfer::{Read, receive};

impl ReferenceMachine {
    /// Reads the first packet of a port, or lets it leave.
    pub fn advance_port(&mut self, now: u64, at: usize) {
        let line_bytes = self.settings.lines.bytes;
        let network = self.network();
        let device = network.device;
        let port = &mut network.ports[at];
        let leaves = port.leaves;
        let Some(first) = port.sends.front() else { return };
        let (core, range) = (first.core, first.range);
        if first.reads.is_empty() {
            if now < leaves {
                return;
            }
            let snooper = Snooper { core, purpose: Purpose::KernelData, device };
            // The lookups of a packet that is sent are not counted.
            let before = self.cores[core].counters.coherence;
            let mut reads = Vec::new();
            let mut ready = now;
            for line in self.lines(range.from, range.bytes) {
                let operation = Operation::Read { address: PhysicalAddress(line * line_bytes), bytes: line_bytes };
                self.send(Sender::PacketRead { port: at }, now, operation);
                let answers = self.bus.snoop(now);
                let snooped = self.snoop_for_reading(now, answers, snooper, line);
                ready = ready.max(snooped);
                reads.push(Read::new(line, snooped));
            }
            self.cores[core].counters.coherence = before;
            self.network().ports[at].sends.front_mut().expect("it waits").reads = reads;
            return self.plan(ready, Event::Port { port: at });
        }
        if !first.reads.iter().all(|read| read.is_there(now)) {
            return;
        }
        port.sends.pop_front();
        let begin = now.max(port.is_free);
        let end = begin + network.link_cycles(1, range.bytes);
        let port = &mut self.network().ports[at];
        (port.leaves, port.is_free) = (begin, end);
        self.answer_client(at, end);
        self.plan(end, Event::Left { port: at, core });
        self.plan(begin, Event::Port { port: at });
    }

    /// The data of a line of a packet to be sent are there.
    pub fn packet_reads(&mut self, now: u64, port: usize, line: u64) {
        receive(&mut self.network().ports[port].sends.front_mut().expect("it is read").reads, line);
        self.advance_port(now, port);
    }

    /// A packet leaves at a cycle. The last one of an answer lets a client send its next request, a time after it has
    /// left.
    fn answer_client(&mut self, at: usize, end: u64) {
        let Network { settings, has_begun, ports, .. } = self.network();
        let NetworkSettings { clients, client_cycles, answer_packets, .. } = *settings;
        if *has_begun && clients > 0 {
            ports[at].answered += 1;
            if ports[at].answered.is_multiple_of(answer_packets) {
                self.plan(end + client_cycles, Event::Request { port: at });
            }
        }
    }

    /// A client requests packets, the first of which is on its way at once if no other one is.
    pub fn request_packets(&mut self, now: u64, at: usize) {
        let Network { settings: NetworkSettings { packets, burst, .. }, ports, .. } = self.network();
        let port = &mut ports[at];
        let is_idle = port.arrived == port.requested;
        port.requested = (*packets).min(port.requested + *burst);
        if is_idle {
            port.from = (now, port.arrived);
            self.expect_packet(at);
        }
    }
}
