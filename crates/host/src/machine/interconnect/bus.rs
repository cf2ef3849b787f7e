//! A pipelined front-side bus: addresses, and data in both directions, with a fixed path to the
//! controller.

use dram_spec::{Operation, PhysicalAddress};

use super::super::clock::CoreCycle;
use super::super::settings::BusSettings;
use super::requests::{Outgoing, OutgoingRequests};

/// A bus. Its phases begin with clocks of the bus.
#[derive(Debug)]
pub(super) struct Bus {
    settings: BusSettings,
    /// Requests that have not been on the bus.
    pub(super) leaving: OutgoingRequests,
    /// Requests between the bus and the controller.
    arriving: OutgoingRequests,
    times: BusTimes,
}

/// When the parts of a bus are free, and the arrival of the last request.
#[derive(Clone, Copy, Debug, Default)]
struct BusTimes {
    address: CoreCycle,
    data: CoreCycle,
    arrival: CoreCycle,
}

/// Occupies a part of the bus for some clocks of a length from a cycle on; returns the end.
fn occupy(free: &mut CoreCycle, from: CoreCycle, clocks: u64, clock: u64) -> CoreCycle {
    let begin = from.max(*free).0.next_multiple_of(clock);
    *free = CoreCycle(begin + clocks * clock);
    *free
}

impl Bus {
    pub(super) fn new(settings: BusSettings) -> Bus {
        Bus {
            settings,
            leaving: OutgoingRequests::new(),
            arriving: OutgoingRequests::new(),
            times: BusTimes::default(),
        }
    }

    const fn data_clocks(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.settings.bytes_per_clock)
    }

    /// The arrival of a request at the controller, and the state of the bus after it. Data of a write
    /// follow its address; requests arrive in the order of their addresses.
    fn arrival(&self, outgoing: &Outgoing) -> (CoreCycle, BusTimes) {
        let mut times = self.times;
        let BusSettings { clock, address_clocks, request_latency, .. } = self.settings;
        let mut end = occupy(&mut times.address, outgoing.at, address_clocks, clock);
        if let Operation::Write { bytes, .. } = outgoing.operation {
            end = occupy(&mut times.data, end, self.data_clocks(bytes), clock);
        }
        times.arrival = times.arrival.max(CoreCycle(end.0 + request_latency));
        (times.arrival, times)
    }

    /// Arrival of the first request at the controller.
    pub(super) fn first_arrival(&self) -> CoreCycle {
        match (self.arriving.front(), self.leaving.front()) {
            (Some(first), _) => first.at,
            (None, Some(first)) => self.arrival(first).0,
            (None, None) => CoreCycle::NEVER,
        }
    }

    /// Lets requests that leave up to a cycle onto the bus.
    fn advance(&mut self, until: CoreCycle) {
        while let Some(outgoing) = self.leaving.take(until) {
            let (at, times) = self.arrival(&outgoing);
            self.times = times;
            self.arriving.add(Outgoing { at, ..outgoing });
        }
    }

    /// The requests behind the bus, among them all that have arrived by `now`.
    pub(super) fn arrived(&mut self, now: CoreCycle) -> &mut OutgoingRequests {
        if self.arriving.front().is_none() && self.first_arrival() <= now {
            self.advance(self.leaving.first());
        }
        &mut self.arriving
    }

    /// Takes the write-back of a line that has not arrived at a cycle.
    pub(super) fn take_write_back(&mut self, address: PhysicalAddress, bytes: u64, at: CoreCycle) -> Option<Outgoing> {
        self.advance(at);
        let leaving = self.leaving.take_write_back(address, bytes, None);
        leaving.or_else(|| self.arriving.take_write_back(address, bytes, Some(at)))
    }

    /// Puts addresses on the bus at a cycle, behind requests that leave up to it; returns their arrival on
    /// the other side, behind these requests.
    pub(super) fn address(&mut self, at: CoreCycle, addresses: u64) -> CoreCycle {
        self.advance(at);
        let BusSettings { clock, address_clocks, request_latency, .. } = self.settings;
        let end = occupy(&mut self.times.address, at, addresses * address_clocks, clock);
        self.times.arrival = self.times.arrival.max(CoreCycle(end.0 + request_latency));
        self.times.arrival
    }

    /// The arrival of data, or of the end, of a request whose controller has done it at a cycle.
    pub(super) fn answer(&mut self, operation: &Operation, at: CoreCycle) -> CoreCycle {
        match *operation {
            Operation::Read { bytes, .. } => {
                self.advance(at);
                self.data(bytes, CoreCycle(at.0 + self.settings.response_latency))
            }
            _ => CoreCycle(at.0 + self.settings.response_latency),
        }
    }

    /// Puts data on the bus from a cycle on; returns the end.
    pub(super) fn data(&mut self, bytes: u64, from: CoreCycle) -> CoreCycle {
        let clocks = self.data_clocks(bytes);
        occupy(&mut self.times.data, from, clocks, self.settings.clock)
    }

    /// The cycle in which all caches have answered a snoop of a device.
    pub(super) fn snoop(&mut self, at: CoreCycle) -> CoreCycle {
        self.advance(at);
        let BusSettings { clock, address_clocks, snoop_latency, .. } = self.settings;
        CoreCycle(occupy(&mut self.times.address, at, address_clocks, clock).0 + snoop_latency)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::requests::HeldEntry;
    use super::*;

    /// A bus of 32 bytes per clock of 15 core cycles; 20 cycles to the controller, 30 back, 60 for a snoop.
    fn bus() -> Bus {
        Bus::new(BusSettings {
            clock: 15,
            bytes_per_clock: 32,
            address_clocks: 1,
            request_latency: 20,
            response_latency: 30,
            snoop_latency: 60,
        })
    }

    fn outgoing(number: u64, at: u64, is_write: bool) -> Outgoing {
        let (address, bytes) = (PhysicalAddress(64 * number), 64);
        let operation = if is_write { Operation::Write { address, bytes } } else { Operation::Read { address, bytes } };
        let payload: Option<Arc<[u8]>> = None;
        Outgoing { at: CoreCycle(at), number, operation, payload, core: 0, device: None, holds: HeldEntry::Nothing }
    }

    /// The read leaves at 1: address 15 to 30. The write leaves at 2: address 30 to 45, data 45 to 75. The
    /// second read has its address from 45 to 60, and arrives behind the write.
    #[test]
    fn addresses_and_data_overlap_and_requests_arrive_in_order() {
        let mut bus = bus();
        for outgoing in [outgoing(0, 1, false), outgoing(1, 2, true), outgoing(2, 3, false)] {
            bus.leaving.add(outgoing);
        }
        let arrivals: Vec<(u64, u64)> = std::iter::from_fn(|| bus.arrived(CoreCycle(1_000)).take(CoreCycle(1_000)))
            .map(|taken| (taken.number, taken.at.0))
            .collect();
        assert_eq!(arrivals, [(0, 50), (1, 95), (2, 95)]);
    }

    #[test]
    fn nothing_arrives_before_its_time() {
        let mut bus = bus();
        bus.leaving.add(outgoing(0, 0, false));
        assert_eq!(bus.first_arrival(), CoreCycle(35));
        assert!(bus.arrived(CoreCycle(34)).take(CoreCycle(34)).is_none());
        assert_eq!(bus.arrived(CoreCycle(35)).take(CoreCycle(35)).map(|taken| taken.at), Some(CoreCycle(35)));
        assert_eq!(bus.first_arrival(), CoreCycle::NEVER);
    }

    /// Data of two reads done at 100 follow each other: 135 to 165, and to 195. An end needs no data.
    #[test]
    fn data_occupy_the_bus() {
        let mut bus = bus();
        let read = Operation::Read { address: PhysicalAddress(0), bytes: 64 };
        let ends = [(); 2].map(|()| bus.answer(&read, CoreCycle(100)).0);
        assert_eq!(ends, [165, 195]);
        let copy = Operation::Init { dst: PhysicalAddress(0), bytes: 64, value: 0 };
        assert_eq!(bus.answer(&copy, CoreCycle(100)), CoreCycle(130));
    }

    /// A command with two addresses follows a read that left before it; the snoop has its address after it.
    #[test]
    fn messages_and_snoops_take_addresses() {
        let mut bus = bus();
        bus.leaving.add(outgoing(0, 1, false));
        assert_eq!(bus.address(CoreCycle(4), 2), CoreCycle(60 + 20));
        assert_eq!(bus.snoop(CoreCycle(5)), CoreCycle(75 + 60));
        assert_eq!(bus.arrived(CoreCycle(100)).take(CoreCycle(100)).map(|taken| taken.at), Some(CoreCycle(50)));
    }
}
