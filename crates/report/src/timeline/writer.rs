//! Writer of packets: tracks, slices and counters. Times are in cycles in this module, and in ns in the file.

use std::mem;

use dram_spec::{Clock, Cycle, Cycles};
use prost::Message;

use super::schema::{
    ChildTracksOrdering, Content, CounterDescriptor, DebugAnnotation, EventType, Trace, TracePacket, TrackDescriptor,
    TrackEvent, Value,
};

/// Range of drawn cycles, without its end. Slices are cut at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first cycle.
    pub from: Cycle,
    /// The cycle after the last.
    pub to: Cycle,
}

impl Window {
    /// The range of all cycles.
    pub const ALL: Window = Window { from: Cycle::ZERO, to: Cycle::NEVER };
}

/// A track's number in the file.
pub(super) type Track = u64;

/// Attributes of a slice besides its name.
pub(super) type Note = (&'static str, Value);

/// An annotation with a count, an address or a cycle.
pub(super) fn count(name: &'static str, value: u64) -> Note {
    (name, Value::UintValue(value))
}

/// An annotation with a text.
pub(super) fn word(name: &'static str, value: impl Into<String>) -> Note {
    (name, Value::StringValue(value.into()))
}

/// Kind of a track.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shows {
    /// Other tracks, in the order of their ranks.
    Group,
    /// Slices.
    Slices,
    /// A counter, in this unit.
    Counter(&'static str),
}

/// Encodes packets.
#[derive(Debug)]
pub(super) struct PacketWriter {
    clock: Clock,
    window: Window,
    tracks: Track,
    is_first: bool,
    /// Packets that are not yet written.
    pub(super) bytes: Vec<u8>,
}

/// The number of the only writer.
const SEQUENCE: u32 = 1;

/// The reader drops its state from before the first packet.
const SEQUENCE_BEGINS: u32 = 1;

impl PacketWriter {
    pub(super) const fn new(clock: Clock, window: Window) -> PacketWriter {
        PacketWriter { clock, window, tracks: 0, is_first: true, bytes: Vec::new() }
    }

    /// Creates a track in a group.
    pub(super) fn track(&mut self, parent: Option<Track>, rank: usize, name: &str, about: &str, shows: Shows) -> Track {
        self.tracks += 1;
        let (counter, ordering) = match shows {
            Shows::Group => (None, Some(ChildTracksOrdering::Explicit)),
            Shows::Slices => (None, None),
            Shows::Counter(unit) => (Some(CounterDescriptor { unit_name: Some(unit.to_owned()) }), None),
        };
        self.packet(
            None,
            Content::TrackDescriptor(TrackDescriptor {
                uuid: Some(self.tracks),
                name: Some(name.to_owned()),
                parent_uuid: parent,
                counter,
                child_ordering: ordering.map(Into::into),
                sibling_order_rank: i32::try_from(rank).ok(),
                description: (!about.is_empty()).then(|| about.to_owned()),
            }),
        );
        self.tracks
    }

    /// Writes a slice, cut to the drawn range; a slice of no clocks is an instant. Its annotations have the whole
    /// range.
    pub(super) fn slice(&mut self, track: Track, begin: Cycle, end: Cycle, name: String, notes: Vec<Note>) {
        let Window { from, to } = self.window;
        let (first, last) = (begin.max(from), end.min(to));
        let is_instant = begin == end && from <= begin && begin < to;
        if first >= last && !is_instant {
            return;
        }
        let notes = notes.into_iter().chain([count("cycle", begin.0), count("clocks", end.since(begin).0)]);
        let slice = TrackEvent {
            debug_annotations: notes
                .map(|(name, value)| DebugAnnotation { name: Some(name.to_owned()), value: Some(value) })
                .collect(),
            name: Some(name),
            ..event(track, if is_instant { EventType::Instant } else { EventType::SliceBegin })
        };
        self.packet(Some(first), Content::TrackEvent(slice));
        if !is_instant {
            self.packet(Some(last), Content::TrackEvent(event(track, EventType::SliceEnd)));
        }
    }

    /// Sets the value of a counter from now on.
    pub(super) fn counter(&mut self, track: Track, at: Cycle, value: u64) {
        let value = i64::try_from(value).ok();
        let event = TrackEvent { counter_value: value, ..event(track, EventType::Counter) };
        self.packet(Some(at), Content::TrackEvent(event));
    }

    fn packet(&mut self, at: Option<Cycle>, content: Content) {
        let packet = TracePacket {
            timestamp: at.map(|at| nanoseconds(self.clock, at)),
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: mem::take(&mut self.is_first).then_some(SEQUENCE_BEGINS),
            content: Some(content),
        };
        // A file is the concatenation of traces of one packet.
        Trace { packet: vec![packet] }.encode_raw(&mut self.bytes);
    }
}

/// Nanoseconds of a cycle in the file, rounded: DDR3-1066, cycle 7 (13.125 ns): 13.
#[expect(clippy::cast_sign_loss, reason = "no cycle is before cycle 0")]
pub fn nanoseconds(clock: Clock, at: Cycle) -> u64 {
    clock.ns(Cycles(at.0)).round() as u64
}

fn event(track: Track, r#type: EventType) -> TrackEvent {
    TrackEvent { r#type: Some(r#type.into()), track_uuid: Some(track), ..TrackEvent::default() }
}

/// A counter that is drawn from the start of the range, with its value there.
#[derive(Debug)]
pub(super) struct Counter {
    track: Track,
    pub(super) value: u64,
    is_drawn: bool,
}

impl Counter {
    pub(super) fn new(track: Track) -> Counter {
        Counter { track, value: 0, is_drawn: false }
    }

    /// Sets the value from `at` on, if it differs from the current one.
    pub(super) fn change(&mut self, writer: &mut PacketWriter, at: Cycle, value: u64) {
        if self.value != value {
            self.set(writer, at, value);
        }
    }

    /// Sets the value from `at` on.
    pub(super) fn set(&mut self, writer: &mut PacketWriter, at: Cycle, value: u64) {
        let Window { from, to } = writer.window;
        if at > from {
            self.begin(writer);
        }
        self.value = value;
        if at > from && at < to {
            writer.counter(self.track, at, value);
        }
    }

    /// Writes the value at the start of the range, if it is not yet written.
    pub(super) fn begin(&mut self, writer: &mut PacketWriter) {
        if !mem::replace(&mut self.is_drawn, true) {
            writer.counter(self.track, writer.window.from, self.value);
        }
    }
}
