//! Use of the command and data buses, computed from the command stream.

use dram_spec::{Burst, Channel, ColumnRun, CommandKind, Cycle, Cycles, PerKind, System};

/// Cycles in which buses were in use, summed over the channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, derive_more::Sub)]
pub struct BusUse {
    /// Command buses: [`System::bus_cycles`] of each command.
    pub command: Cycles,
    /// Data buses: the cycles of each burst.
    pub data: Cycles,
}

/// Maximum number of bursts of a channel that have not ended when a command is issued: RDs are at
/// least a burst apart, and their data end at most CL and a burst later: 9 bursts in DDR5.
const BURSTS_MAX: usize = 16;

/// Maximum of [`System::bus_cycles`].
const COMMAND_MAX: Cycles = Cycles(2);

/// Bus use of all channels, up to the last command.
pub struct Buses {
    /// Cycles from RD to its data.
    read_latency: Cycles,
    /// Cycles from WR to its data.
    write_latency: Cycles,
    /// Cycles of a burst on the data bus.
    burst: Cycles,
    /// Cycles of each kind of command on the command bus.
    command: PerKind<Cycles>,
    /// Total use, including cycles beyond the last command.
    total: BusUse,
    channels: Vec<ChannelBuses>,
}

#[derive(Clone, Default)]
struct ChannelBuses {
    /// End of the last command on the command bus, exclusive.
    command_end: Cycle,
    /// Ends of the latest bursts, exclusive.
    burst_ends: [Cycle; BURSTS_MAX],
    bursts: usize,
}

impl ChannelBuses {
    /// Adds a burst that ends at a cycle, exclusive.
    #[inline]
    fn add_burst(&mut self, end: Cycle) {
        self.burst_ends[self.bursts % BURSTS_MAX] = end;
        self.bursts += 1;
    }
}

impl Buses {
    /// The buses of a system at cycle 0.
    pub fn new(system: &System) -> Buses {
        Buses {
            read_latency: Cycles(system.bin.cl),
            write_latency: Cycles(system.bin.cwl),
            burst: system.burst(),
            command: PerKind::from_fn(|kind| system.bus_cycles(kind)),
            total: BusUse::default(),
            channels: vec![ChannelBuses::default(); system.geometry.channels().into()],
        }
    }

    /// Adds a command. Commands must be in order of time.
    #[inline]
    pub fn push(&mut self, at: Cycle, channel: Channel, kind: CommandKind) {
        let taken = self.command[kind];
        self.total.command += taken;
        self.channels[usize::from(channel.0)].command_end = at + taken;
        let Some(latency) = self.data_latency(kind) else { return };
        self.total.data += self.burst;
        self.channels[usize::from(channel.0)].add_burst(at + latency + self.burst);
    }

    /// Adds a run of column commands.
    pub fn run(&mut self, run: &ColumnRun) {
        let (kind, taken) = (run.first.kind(), self.command[run.first.kind()]);
        self.total.command += taken * run.lines;
        let latency = self.data_latency(kind);
        let buses = &mut self.channels[usize::from(run.first.channel.0)];
        buses.command_end = run.last() + taken;
        let Some(latency) = latency else { return };
        self.total.data += self.burst * run.lines;
        // Only the latest bursts extend beyond the last command.
        let to_end = latency + self.burst;
        for number in run.lines.saturating_sub(to_end.0.div_ceil(run.pitch.0))..run.lines {
            buses.add_burst(run.first.at + run.pitch * number + to_end);
        }
    }

    /// Cycles from a command to its data on the data bus; `None` if it transfers none.
    #[inline]
    const fn data_latency(&self, kind: CommandKind) -> Option<Cycles> {
        match kind.burst() {
            Some(Burst::Read) => Some(self.read_latency),
            Some(Burst::Write) => Some(self.write_latency),
            None => None,
        }
    }

    /// Bus use before a cycle that is not before the last command. Bursts and TRANSFERs that extend
    /// beyond the cycle are counted up to it.
    pub fn used_before(&self, cycle: Cycle) -> BusUse {
        let beyond = |end: Cycle, most: Cycles| Cycles(end.0.saturating_sub(cycle.0).min(most.0));
        let mut used = self.total;
        for buses in &self.channels {
            used.command = used.command - beyond(buses.command_end, COMMAND_MAX);
            for end in buses.burst_ends {
                used.data = used.data - beyond(end, self.burst);
            }
        }
        used
    }
}
