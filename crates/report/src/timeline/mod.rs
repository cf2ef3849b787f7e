//! Timelines: traces of runs in the format of Perfetto, written during the run.
//!
//! A [`Timeline`] observes each command when it is issued, and each request when the controller accepts and completes
//! it. Its memory is proportional to what is in progress. Slices are written when they end: events of one track are in
//! the order of time, events of different tracks are not. `docs/timeline.md` describes the tracks.

mod banks;
mod copies;
pub mod schema;
mod writer;

use std::io::{self, Write};

use dram_spec::{
    AddressMap, Burst, Channel, CommandEvent, Cycle, EventSink, IssueCause, LINE_BYTES, Location, Operands, Operation,
    Queued, RequestId, System,
};
use memctrl::{Completion, Request};
use rowclone_sim::Observer;

use banks::ChannelTracks;
use copies::{Copies, CopyEffect};
use writer::{Counter, PacketWriter, Shows};

pub use writer::{Window, nanoseconds};

/// Bytes of packets that are kept before they are written.
const WRITTEN_AT_ONCE: usize = 1 << 16;

/// A trace of a run.
///
/// Observer methods cannot return an error. The first I/O error is kept, later output is dropped, and
/// [`into_result`](Self::into_result) returns the error.
#[derive(Debug)]
pub struct Timeline<W: Write> {
    /// The output, or its first error.
    output: io::Result<W>,
    writer: PacketWriter,
    map: AddressMap,
    channels: Vec<ChannelTracks>,
    copies: Copies,
    /// Requests in progress: reads, writes, copies and initializations.
    depths: [Counter; 3],
}

impl<W: Write> Timeline<W> {
    /// Creates the timeline of a run on a system, from cycle 0. `map` translates its addresses; `title` names it.
    pub fn new(output: W, title: &str, system: &System, map: &AddressMap, window: Window) -> Timeline<W> {
        let mut writer = PacketWriter::new(system.clock(), window);
        let root = writer.track(None, 0, title, "", Shows::Group);
        let requests = writer.track(Some(root), 0, "requests in progress", "accepted and not complete", Shows::Group);
        let depths = [(0, "reads"), (1, "writes"), (2, "copies")]
            .map(|(rank, name)| Counter::new(writer.track(Some(requests), rank, name, "", Shows::Counter("requests"))));
        let about = "copies and initializations, and their programs";
        let copies = Copies::new(writer.track(Some(root), 1, "copies", about, Shows::Group));
        let channels = (0..system.geometry.channels())
            .map(|channel| ChannelTracks::new(&mut writer, root, 2 + usize::from(channel), Channel(channel), system))
            .collect();
        Timeline { output: Ok(output), writer, map: map.clone(), channels, copies, depths }
    }

    /// The output, after everything was written to it.
    ///
    /// # Errors
    /// The first error of the output.
    pub fn into_result(mut self) -> io::Result<W> {
        self.write();
        self.output
    }

    /// Writes the packets to the output, or drops them after an error.
    fn write(&mut self) {
        if let Ok(output) = &mut self.output
            && let Err(error) = output.write_all(&self.writer.bytes)
        {
            self.output = Err(error);
        }
        self.writer.bytes.clear();
    }

    /// Effect of a command on the copy for which it was issued.
    fn step(&self, event: &CommandEvent) -> Option<(RequestId, CopyEffect)> {
        let IssueCause::Copy { request, mechanism, program } = event.cause else { return None };
        let open = |bank| self.channels[usize::from(event.channel.0)].open_row(bank).map(|open| open.row);
        let row_bytes = self.map.geometry().row_bytes();
        let (first, second, filled, bytes) = match event.command.operands() {
            Operands::Row(bank, row) if event.effect.copied_from().is_some() => {
                (bank, None, Some((bank, row)), row_bytes)
            }
            Operands::Line(bank, column) if event.kind().burst() == Some(Burst::Write) => {
                let row = open(bank).expect("WR is issued to an open row");
                let line = self.map.address(Location { channel: event.channel, bank, row, column, offset: 0 });
                let line = line.expect("a command names a line of the memory");
                (bank, None, Some((bank, row)), self.copies.bytes_of_line(request, line))
            }
            Operands::Row(bank, _) | Operands::Line(bank, _) => (bank, None, None, 0),
            Operands::Lines((src, _), (dst, _)) => {
                let filled = open(dst).filter(|row| *row != self.map.geometry().temporary_row());
                (src, Some(dst), filled.map(|row| (dst, row)), if filled.is_some() { LINE_BYTES } else { 0 })
            }
            Operands::Bank(_) | Operands::BankSet(_) | Operands::Rank(_) => return None,
        };
        let place = |bank| (event.channel, bank);
        let banks = [Some(first), second].map(|bank| bank.map(place));
        let filled = filled.map(|(bank, row)| (place(bank), row));
        let step = CopyEffect { program, mechanism, at: event.at, banks, filled, bytes };
        Some((request, step))
    }
}

/// The counter of requests in progress for an operation.
const fn kind(operation: &Operation) -> usize {
    match operation {
        Operation::Read { .. } => 0,
        Operation::Write { .. } => 1,
        Operation::Copy { .. } | Operation::Init { .. } => 2,
    }
}

impl<W: Write> EventSink for Timeline<W> {
    fn command(&mut self, event: &CommandEvent) {
        let CommandEvent { at, channel, .. } = *event;
        let step = self.step(event);
        let closed = self.channels[usize::from(channel.0)].push(&mut self.writer, event);
        if let Some((request, step)) = step {
            self.copies.step(request, &step);
        }
        for bank in closed {
            self.copies.closed(&mut self.writer, at, (channel, bank));
        }
        if self.writer.bytes.len() >= WRITTEN_AT_ONCE {
            self.write();
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

impl<W: Write> Observer for Timeline<W> {
    fn taken(&mut self, now: Cycle, request: &Request) {
        if request.operation.is_copy() {
            self.copies.taken(&mut self.writer, now, request);
        }
        let depth = &mut self.depths[kind(&request.operation)];
        depth.change(&mut self.writer, now, depth.value + 1);
    }

    fn done(&mut self, completion: &Completion) {
        self.copies.done(&mut self.writer, completion);
        let depth = &mut self.depths[kind(&completion.operation)];
        depth.change(&mut self.writer, completion.done, depth.value - 1);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use dram_spec::address::MapPreset;
    use dram_spec::{BankId, Command, CommandKind, Density, Effect, Row, Width};

    use super::*;

    /// A writer that accepts `room` bytes, and then fails.
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
    fn commands_of_every_kind_are_on_the_command_bus() {
        let system = System::paper(1, Density::Gb2, Width::X8);
        let map = AddressMap::preset(system.geometry, MapPreset::RowInterleaved);
        for kind in CommandKind::ALL {
            for (command, effect) in kind.examples() {
                let mut timeline = Timeline::new(Vec::new(), "one command", &system, &map, Window::ALL);
                timeline.command(&CommandEvent::new(Cycle(7), Channel(0), command, effect));
                timeline.finish(Cycle(100));
                let trace = timeline.into_result().expect("a vector takes all");
                let remark = match kind {
                    CommandKind::CopyActivate => " (copy)",
                    CommandKind::DroppedActivate => " (dropped)",
                    _ => "",
                };
                let name = format!("{command}{remark}");
                let is_drawn = trace.windows(name.len()).any(|bytes| bytes == name.as_bytes());
                assert!(is_drawn, "{name}");
            }
        }
    }

    #[test]
    fn the_first_error_ends_the_writing_and_is_returned() {
        let refused = Cell::new(0);
        let system = System::paper(1, Density::Gb2, Width::X8);
        let map = AddressMap::preset(system.geometry, MapPreset::RowInterleaved);
        let output = Full { room: 20_000, refused: &refused };
        let mut timeline = Timeline::new(output, "full", &system, &map, Window::ALL);
        let bank = BankId { rank: 0, bank: 3 };
        for at in 0..1000 {
            for (at, command) in
                [(100 * at, Command::Activate { bank, row: Row(7) }), (100 * at + 50, Command::Precharge { bank })]
            {
                timeline.command(&CommandEvent::new(Cycle(at), Channel(0), command, Effect::Plain));
            }
        }
        timeline.finish(Cycle(100_000));
        let error = timeline.into_result().err().map(|error| error.kind());
        assert_eq!((error, refused.get()), (Some(io::ErrorKind::StorageFull), 1));
    }
}
