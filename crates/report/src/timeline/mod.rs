//! Timelines: a run as a trace in Perfetto's own format, written while the run goes on.
//!
//! A [`Timeline`] hears each command as it is issued, and each request when the controller takes it and when it is done. It keeps what is
//! in progress, and nothing else. Slices are written when they end: events of one track are in the order of time, and those of different
//! tracks are not. `docs/timeline.md` says what each track shows.

mod banks;
mod copies;
mod requests;
pub mod schema;
mod writer;

use std::collections::BTreeMap;
use std::io::{self, Write};

use dram_spec::address::AddressMap;
use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandSink, Cycle, Geometry, Location, PhysicalAddress, Queued,
    Row, System,
};
use memctrl::{Completion, Request};
use rowclone::{Mechanism, Operation};

use banks::{ChannelTracks, Deed, OpenRow};
use copies::{Copies, Place, Step};
use requests::{Order, Requests};
use writer::{Counter, PacketWriter, Shows};

pub use writer::{Window, nanoseconds};

/// A trace of a run.
///
/// Nothing here can fail, so the first I/O error is kept, nothing is written after it, and [`into_result`](Self::into_result) returns it.
#[derive(Debug)]
pub struct Timeline<W: Write> {
    writer: PacketWriter<W>,
    map: AddressMap,
    channels: Vec<ChannelTracks>,
    requests: Requests,
    copies: Copies,
    /// Requests in progress: reads, writes, copies and initialisations.
    depths: [Counter; 3],
    /// Since when the temporary row of a bank has been filled.
    staged: BTreeMap<Place, Cycle>,
}

impl<W: Write> Timeline<W> {
    /// Of a run on this system, from cycle 0; `title` names it.
    pub fn new(output: W, title: &str, system: &System, map: AddressMap, window: Window) -> Timeline<W> {
        let mut writer = PacketWriter::new(output, system.clock(), window);
        let root = writer.track(None, 0, title, "", Shows::Group);
        let requests = writer.track(Some(root), 0, "requests in progress", "taken and not done", Shows::Group);
        let depths = [(0, "reads"), (1, "writes"), (2, "copies")]
            .map(|(rank, name)| Counter::new(writer.track(Some(requests), rank, name, "", Shows::Counter("requests"))));
        let about = "copies and initialisations, and their segments";
        let copies = Copies::new(writer.track(Some(root), 1, "copies", about, Shows::Group));
        let channels = (0..system.geometry.channels())
            .map(|channel| ChannelTracks::new(&mut writer, root, 2 + usize::from(channel), Channel(channel), system))
            .collect();
        let requests = Requests::default();
        Timeline { writer, map, channels, requests, copies, depths, staged: BTreeMap::new() }
    }

    /// The controller has taken a request.
    pub fn taken(&mut self, now: Cycle, request: &Request) {
        let order = self.requests.taken(request.id, request.operation);
        if let Operation::Copy { .. } | Operation::Init { .. } = request.operation {
            self.copies.taken(&mut self.writer, now, order, request);
        }
        self.count(now);
    }

    /// A request is done.
    pub fn done(&mut self, completion: &Completion) {
        let Some(order) = self.requests.done(completion.id) else { return };
        self.copies.done(&mut self.writer, order, completion);
        self.count(completion.done);
    }

    /// The output, with everything in it.
    ///
    /// # Errors
    /// The first error of the output.
    pub fn into_result(self) -> io::Result<W> {
        self.writer.into_result()
    }

    fn count(&mut self, at: Cycle) {
        let requests::Depths { reads, writes, copies } = self.requests.depths;
        for (counter, depth) in self.depths.iter_mut().zip([reads, writes, copies]) {
            counter.change(&mut self.writer, at, depth);
        }
    }

    /// The address of a line.
    fn line(&self, channel: Channel, bank: BankId, row: Row, column: Column) -> Option<PhysicalAddress> {
        self.map.address(Location { channel, bank, row, column, offset: 0 })
    }

    /// What a command does for a copy, if it serves one.
    fn step(&mut self, at: Cycle, channel: Channel, command: &Command, deed: Deed) -> Option<(Order, Step)> {
        let tracks = &self.channels[usize::from(channel.0)];
        let open = |bank| tracks.open_row(bank);
        match *command {
            Command::Activate { bank, .. } => {
                let (Deed::Copied { dst }, open) = (deed, open(bank)?) else { return None };
                self.copied(at, (channel, bank), open, dst)
            }
            Command::Read { bank, column, .. } => {
                let open = open(bank)?;
                let (order, written) = self.requests.read(self.line(channel, bank, open.row, column)?)?;
                let Location { channel: to, bank: dst, row, .. } = self.map.locate(written)?;
                let place = (channel, bank);
                let step = Step { dst: ((to, dst), row), ..over_the_channel(at, place, open, 0) };
                Some((order, step))
            }
            Command::Write { bank, column, .. } => {
                let open = open(bank)?;
                let (order, bytes) = self.requests.written(self.line(channel, bank, open.row, column)?)?;
                Some((order, over_the_channel(at, (channel, bank), open, bytes)))
            }
            Command::Transfer { src, dst, dst_column, .. } => {
                let (from, to) = (open(src)?, open(dst)?);
                self.transferred(at, channel, (src, from), (dst, to), dst_column)
            }
            Command::Precharge { .. }
            | Command::PrechargeAll { .. }
            | Command::Refresh { .. }
            | Command::PowerDownEnter { .. }
            | Command::PowerDownExit { .. }
            | Command::SelfRefreshEnter { .. }
            | Command::SelfRefreshExit { .. } => None,
        }
    }

    /// A copy activation filled a row.
    fn copied(&mut self, at: Cycle, (channel, bank): Place, src: OpenRow, dst: Row) -> Option<(Order, Step)> {
        let (columns, bytes) = (self.map.geometry().columns(), self.map.geometry().row_bytes());
        let (order, _) = self.requests.written(self.line(channel, bank, dst, Column(0))?)?;
        for column in 1..columns {
            let line = self.line(channel, bank, dst, Column(column))?;
            self.requests.written_for(order, line);
        }
        let place = (channel, bank);
        let step = Step {
            mechanism: Mechanism::Fpm,
            dst: (place, dst),
            begin: begin(at, src),
            bytes,
            banks: [Some(place), None],
        };
        Some((order, step))
    }

    /// A TRANSFER moved a line.
    fn transferred(
        &mut self,
        at: Cycle,
        channel: Channel,
        (src, from): (BankId, OpenRow),
        (dst, to): (BankId, OpenRow),
        column: Column,
    ) -> Option<(Order, Step)> {
        let temporary = self.map.geometry().temporary_row();
        let begin = begin(at, from).min(begin(at, to));
        if to.row == temporary {
            self.staged.entry((channel, dst)).or_insert(begin);
            return None;
        }
        let staged = if from.row == temporary { self.staged.remove(&(channel, src)) } else { None };
        let (order, bytes) = self.requests.written(self.line(channel, dst, to.row, column)?)?;
        let step = Step {
            mechanism: if from.row == temporary { Mechanism::Psm2 } else { Mechanism::Psm },
            dst: ((channel, dst), to.row),
            begin: staged.unwrap_or(begin),
            bytes,
            banks: [Some((channel, src)), Some((channel, dst))],
        };
        Some((order, step))
    }
}

/// A line of the open row, over the channel.
fn over_the_channel(at: Cycle, place: Place, open: OpenRow, bytes: u64) -> Step {
    let banks = [Some(place), None];
    Step { mechanism: Mechanism::Channel, dst: (place, open.row), begin: begin(at, open), bytes, banks }
}

/// Where a segment begins whose first access is this one: with the ACT before it, if that has served nothing else.
fn begin(at: Cycle, open: OpenRow) -> Cycle {
    if open.is_used { at } else { open.since }
}

/// The banks that a command closes.
fn closed(geometry: &Geometry, command: &Command) -> Vec<BankId> {
    match *command {
        Command::Precharge { bank }
        | Command::Read { bank, auto_precharge: AutoPrecharge::Yes, .. }
        | Command::Write { bank, auto_precharge: AutoPrecharge::Yes, .. } => vec![bank],
        Command::PrechargeAll { rank } => (0..geometry.banks()).map(|bank| BankId { rank, bank }).collect(),
        Command::Activate { .. }
        | Command::Read { .. }
        | Command::Write { .. }
        | Command::Transfer { .. }
        | Command::Refresh { .. }
        | Command::PowerDownEnter { .. }
        | Command::PowerDownExit { .. }
        | Command::SelfRefreshEnter { .. }
        | Command::SelfRefreshExit { .. } => Vec::new(),
    }
}

impl<W: Write> CommandSink for Timeline<W> {
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        let deed = self.channels[usize::from(channel.0)].deed(command);
        let step = self.step(at, channel, command, deed);
        self.channels[usize::from(channel.0)].push(&mut self.writer, at, command, deed);
        if let Some((order, step)) = step {
            self.copies.step(order, &step);
        }
        for bank in closed(self.map.geometry(), command) {
            self.copies.closed(&mut self.writer, at, (channel, bank));
        }
    }

    fn wants_queues(&self) -> bool {
        true
    }

    fn queued(&mut self, at: Cycle, channel: Channel, queued: Queued) {
        self.channels[usize::from(channel.0)].queued(&mut self.writer, at, queued);
    }

    fn finish(&mut self, end: Cycle) {
        for channel in &mut self.channels {
            channel.finish(&mut self.writer, end);
        }
        for counter in &mut self.depths {
            counter.begin(&mut self.writer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use dram_spec::address::Preset;
    use dram_spec::datasheet::{Density, Width};

    use super::*;

    /// Takes so many bytes, and then no more.
    struct Full<'a> {
        room: usize,
        refused: &'a Cell<u32>,
    }

    impl Write for Full<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if bytes.len() > self.room {
                self.refused.set(self.refused.get() + 1);
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room -= bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_first_error_ends_the_writing_and_is_told() {
        let refused = Cell::new(0);
        let system = System::paper(1, Density::Gb2, Width::X8);
        let map = AddressMap::preset(system.geometry, Preset::RowInterleaved);
        let output = Full { room: 20_000, refused: &refused };
        let mut timeline = Timeline::new(output, "full", &system, map, Window::ALL);
        let bank = BankId { rank: 0, bank: 3 };
        for at in 0..1000 {
            timeline.push(Cycle(100 * at), Channel(0), &Command::Activate { bank, row: Row(7) });
            timeline.push(Cycle(100 * at + 50), Channel(0), &Command::Precharge { bank });
        }
        timeline.finish(Cycle(100_000));
        let error = timeline.into_result().err().map(|error| error.kind());
        assert_eq!((error, refused.get()), (Some(io::ErrorKind::StorageFull), 1));
    }
}
