//! Tracks of a channel from its command stream: buses, ranks, and the open row of each bank.

use std::fmt::Write as _;

use dram_spec::{
    BankId, Burst, Channel, Command, CommandEvent, Cycle, Cycles, Effect, Geometry, Operands, PerKind, Queued, Row,
    RowChange, System,
};

use super::writer::{Counter, PacketWriter, Shows, Track, count, word};

/// The row that a bank holds open.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRow {
    pub(super) row: Row,
    /// The ACT that opened it.
    pub(super) since: Cycle,
    /// The row that it was copied from, if by a copy activation.
    copied_from: Option<Row>,
}

#[derive(Debug)]
struct RankTracks {
    refresh: Track,
    power: Counter,
    banks: Vec<(Track, Option<OpenRow>)>,
}

/// The tracks of one channel.
#[derive(Debug)]
pub(super) struct ChannelTracks {
    geometry: Geometry,
    command_bus: Track,
    data_bus: Track,
    read_latency: Cycles,
    write_latency: Cycles,
    refresh_time: Cycles,
    same_bank_refresh_time: Cycles,
    bus_cycles: PerKind<Cycles>,
    burst: Cycles,
    ranks: Vec<RankTracks>,
    /// Counters of reads and of writes.
    queues: [Counter; 2],
}

/// Values of the power counter.
const AWAKE: u64 = 0;
const ACTIVE_POWER_DOWN: u64 = 1;
const PRECHARGE_POWER_DOWN: u64 = 2;
const SELF_REFRESH: u64 = 3;
const POWER_STATES: &str = "0 awake, 1 active power-down, 2 precharge power-down, 3 self-refresh";

impl ChannelTracks {
    /// Draws its tracks into a group.
    pub(super) fn new(
        writer: &mut PacketWriter,
        root: Track,
        rank: usize,
        channel: Channel,
        system: &System,
    ) -> ChannelTracks {
        let (bin, geometry) = (system.bin, system.geometry);
        let group = writer.track(Some(root), rank, &format!("channel {}", channel.0), "", Shows::Group);
        let command_bus = writer.track(Some(group), 0, "command bus", "each command", Shows::Slices);
        let data_bus = writer.track(Some(group), 1, "data bus", "the burst of each RD and WR", Shows::Slices);
        let about = "entries left after each command";
        let queues = [(2, "read queue"), (3, "write queue")]
            .map(|(rank, name)| Counter::new(writer.track(Some(group), rank, name, about, Shows::Counter("entries"))));
        let ranks = (0..usize::from(geometry.ranks())).map(|index| {
            let group = writer.track(Some(group), 4 + index, &format!("rank {index}"), "", Shows::Group);
            let power = writer.track(Some(group), 0, "power state", POWER_STATES, Shows::Counter("state"));
            let refresh = writer.track(Some(group), 1, "refresh", "tRFC from each REF", Shows::Slices);
            let mut bank = |bank: usize| {
                let about = "the open row, from ACT to PRE";
                (writer.track(Some(group), 2 + bank, &format!("bank {bank}"), about, Shows::Slices), None)
            };
            let banks = (0..usize::from(geometry.banks())).map(&mut bank).collect();
            RankTracks { refresh, power: Counter::new(power), banks }
        });
        ChannelTracks {
            geometry,
            command_bus,
            data_bus,
            read_latency: Cycles(bin.cl),
            write_latency: Cycles(bin.cwl),
            refresh_time: bin.clock.at_least(system.t_rfc()),
            same_bank_refresh_time: bin.clock.at_least(geometry.chip().t_rfc_sb),
            bus_cycles: PerKind::from_fn(|kind| system.bus_cycles(kind)),
            burst: system.burst(),
            ranks: ranks.collect(),
            queues,
        }
    }

    /// Records the number of accesses in the queues.
    pub(super) fn queued(&mut self, writer: &mut PacketWriter, at: Cycle, queued: Queued) {
        for (counter, entries) in self.queues.iter_mut().zip([queued.reads, queued.writes]) {
            counter.change(writer, at, entries);
        }
    }

    /// The row that a bank holds open.
    pub(super) fn open_row(&self, bank: BankId) -> Option<OpenRow> {
        self.ranks[usize::from(bank.rank)].banks[usize::from(bank.bank)].1
    }

    /// Draws a command and its effects on rows and ranks; returns the banks that it closes.
    pub(super) fn push(&mut self, writer: &mut PacketWriter, event: &CommandEvent) -> Vec<BankId> {
        let CommandEvent { at, ref command, effect, .. } = *event;
        let end = at + self.bus_cycles[event.kind()];
        writer.slice(self.command_bus, at, end, format!("{command}{}", effect.remark()), Vec::new());
        if let Some(burst) = event.kind().burst() {
            let begin = at + if burst == Burst::Read { self.read_latency } else { self.write_latency };
            writer.slice(self.data_bus, begin, begin + self.burst, command.to_string(), Vec::new());
        }
        match *command {
            Command::Refresh { rank } => {
                let track = self.ranks[usize::from(rank)].refresh;
                writer.slice(track, at, at + self.refresh_time, "REF".to_owned(), Vec::new());
            }
            Command::RefreshSameBank { bank } => {
                let track = self.ranks[usize::from(bank.rank)].refresh;
                writer.slice(track, at, at + self.same_bank_refresh_time, command.to_string(), Vec::new());
            }
            Command::PowerDownEnter { rank } => {
                let is_open = self.ranks[usize::from(rank)].banks.iter().any(|(_, open)| open.is_some());
                self.power(writer, at, rank, if is_open { ACTIVE_POWER_DOWN } else { PRECHARGE_POWER_DOWN });
            }
            Command::SelfRefreshEnter { rank } => self.power(writer, at, rank, SELF_REFRESH),
            Command::PowerDownExit { rank } | Command::SelfRefreshExit { rank } => self.power(writer, at, rank, AWAKE),
            // Other commands have a slice on the command bus, and column commands one on the data bus.
            _ => {}
        }
        self.change_rows(writer, event)
    }

    /// Draws the rows that a command closes, and records the row that it opens; returns the banks that it closes.
    fn change_rows(&mut self, writer: &mut PacketWriter, event: &CommandEvent) -> Vec<BankId> {
        let CommandEvent { at, ref command, effect, .. } = *event;
        let opened = match command.row_change() {
            RowChange::Opens(_) if matches!(effect, Effect::Dropped { .. }) => return Vec::new(),
            RowChange::None => return Vec::new(),
            RowChange::Opens(row) => Some(OpenRow { row, since: at, copied_from: effect.copied_from() }),
            RowChange::Closes | RowChange::Leaves => None,
        };
        let banks: Vec<BankId> = match command.operands() {
            Operands::Rank(rank) => (0..self.geometry.banks()).map(|bank| BankId { rank, bank }).collect(),
            _ => command.bank().into_iter().collect(),
        };
        for &bank in &banks {
            self.close(writer, at, bank);
            self.bank(bank).1 = opened;
        }
        // A bank whose contents have left the open row remains in use.
        if command.row_change() == RowChange::Closes { banks } else { Vec::new() }
    }

    /// Draws the rows and states that last to the end of the run.
    pub(super) fn finish(&mut self, writer: &mut PacketWriter, end: Cycle) {
        for rank in 0..self.geometry.ranks() {
            (0..self.geometry.banks()).for_each(|bank| self.close(writer, end, BankId { rank, bank }));
            self.ranks[usize::from(rank)].power.begin(writer);
        }
        // A run ends when all requests are complete.
        self.queued(writer, end, Queued::default());
        self.queues.iter_mut().for_each(|counter| counter.begin(writer));
    }

    fn bank(&mut self, bank: BankId) -> &mut (Track, Option<OpenRow>) {
        &mut self.ranks[usize::from(bank.rank)].banks[usize::from(bank.bank)]
    }

    fn power(&mut self, writer: &mut PacketWriter, at: Cycle, rank: u8, state: u64) {
        self.ranks[usize::from(rank)].power.set(writer, at, state);
    }

    fn close(&mut self, writer: &mut PacketWriter, at: Cycle, bank: BankId) {
        let subarray = |row| self.geometry.subarray(row);
        let Some(open) = self.open_row(bank) else { return };
        let mut name = format!("row {} (subarray {})", open.row.0, subarray(open.row));
        let mut notes = vec![count("row", open.row.0.into()), count("subarray", subarray(open.row).into())];
        if let Some(src) = open.copied_from {
            let _ = write!(name, ", copied from row {}", src.0);
            notes.push(word("opened_by", "copy activation"));
            notes.push(count("src_row", src.0.into()));
        }
        let track = self.bank(bank).0;
        writer.slice(track, open.since, at, name, notes);
        self.bank(bank).1 = None;
    }
}
