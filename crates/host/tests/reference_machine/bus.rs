//! The front-side bus: when what passes it arrives.

use host::machine::BusSettings;

/// A bus, or the connections that take no time.
pub struct Bus {
    settings: Option<BusSettings>,
    /// Cycles from which the addresses and the data of the bus are free.
    addresses_free: u64,
    data_free: u64,
    /// Arrival at the controller of the latest request or message of a core.
    arrival: u64,
}

/// Occupies a part of the bus for some of its clocks; returns their end.
fn occupy(free: &mut u64, from: u64, clock: u64, clocks: u64) -> u64 {
    *free = from.max(*free).next_multiple_of(clock) + clocks * clock;
    *free
}

impl Bus {
    pub fn new(settings: Option<BusSettings>) -> Bus {
        Bus { settings, addresses_free: 0, data_free: 0, arrival: 0 }
    }

    pub fn exists(&self) -> bool {
        self.settings.is_some()
    }

    /// Cycles from the end of a request in the controller to the bus.
    pub fn response_latency(&self) -> u64 {
        self.settings.map_or(0, |settings| settings.response_latency)
    }

    /// Sends addresses from a cycle on; returns their end.
    pub fn addresses(&mut self, from: u64, count: u64) -> u64 {
        let Some(BusSettings { clock, address_clocks, .. }) = self.settings else { return from };
        occupy(&mut self.addresses_free, from, clock, count * address_clocks)
    }

    /// Snoops all caches from a cycle on; returns the cycle of their answers.
    pub fn snoop(&mut self, from: u64) -> u64 {
        self.addresses(from, 1) + self.settings.map_or(0, |settings| settings.snoop_latency)
    }

    /// Sends data from a cycle on; returns their end.
    pub fn data(&mut self, from: u64, bytes: u64) -> u64 {
        let Some(BusSettings { clock, bytes_per_clock, .. }) = self.settings else { return from };
        occupy(&mut self.data_free, from, clock, bytes.div_ceil(bytes_per_clock))
    }

    /// Sends a request or a message of a core with the bytes that it writes; returns its arrival.
    pub fn send(&mut self, leaves: u64, addresses: u64, bytes: u64) -> u64 {
        let Some(BusSettings { request_latency, .. }) = self.settings else { return leaves };
        let mut end = self.addresses(leaves, addresses);
        if bytes > 0 {
            end = self.data(end, bytes);
        }
        self.arrival = self.arrival.max(end + request_latency);
        self.arrival
    }
}
