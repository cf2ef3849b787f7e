//! Messages and fields of Perfetto's trace format that a timeline uses, with their published numbers
//! (`protos/perfetto/trace/trace_packet.proto`, `track_event/track_event.proto`, `track_event/track_descriptor.proto`,
//! `track_event/counter_descriptor.proto` and `track_event/debug_annotation.proto` of Perfetto).

use prost::{Enumeration, Message, Oneof};

/// A trace file: a sequence of packets. A file is written packet by packet, each as one field of this message.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    /// The packets.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// One packet: the description of a track, or an event on one.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// Time of an event, ns.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Number of the writer; a file has one writer.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// 1 in the first packet: the reader drops its state from before.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// Content of the packet.
    #[prost(oneof = "Content", tags = "11, 60")]
    pub content: Option<Content>,
}

/// Content of a packet.
#[derive(Clone, PartialEq, Oneof)]
pub enum Content {
    /// An event.
    #[prost(message, tag = "11")]
    TrackEvent(TrackEvent),
    /// A track.
    #[prost(message, tag = "60")]
    TrackDescriptor(TrackDescriptor),
}

/// A track: a line of slices, a counter, or a group of other tracks.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// Number of the track, by which events and other tracks refer to it.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Name of the track.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The group that contains the track.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// Present if the track is a counter.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    /// Order of the tracks of the group.
    #[prost(enumeration = "ChildTracksOrdering", optional, tag = "11")]
    pub child_ordering: Option<i32>,
    /// Position among the tracks of its group.
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
    /// Description of the track.
    #[prost(string, optional, tag = "14")]
    pub description: Option<String>,
}

/// Marks a track as a counter, with its unit.
#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    /// The unit, as text.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// Order of the tracks of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum ChildTracksOrdering {
    /// Chosen by the viewer.
    Unknown = 0,
    /// By `sibling_order_rank`.
    Explicit = 3,
}

/// An event.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// Attributes of the event besides its name.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// Kind of the event.
    #[prost(enumeration = "EventType", optional, tag = "9")]
    pub r#type: Option<i32>,
    /// Track of the event.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// Name of the slice or instant.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// Value of a counter from the time of the event on.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum EventType {
    /// None.
    Unspecified = 0,
    /// A slice begins.
    SliceBegin = 1,
    /// The slice that began last on the track ends.
    SliceEnd = 2,
    /// An event without duration.
    Instant = 3,
    /// A new value of a counter.
    Counter = 4,
}

/// A name and a value.
#[derive(Clone, PartialEq, Message)]
pub struct DebugAnnotation {
    /// The name.
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
    /// The value.
    #[prost(oneof = "Value", tags = "3, 6")]
    pub value: Option<Value>,
}

/// A value of an annotation.
#[derive(Clone, PartialEq, Oneof)]
pub enum Value {
    /// A count, an address or a cycle.
    #[prost(uint64, tag = "3")]
    UintValue(u64),
    /// A text.
    #[prost(string, tag = "6")]
    StringValue(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three packets as the Python package `perfetto` 0.59.1 writes them.
    const PUBLISHED: &str = "0a2950016801e203220807120572656164732803420a3208726571756573747358036002720574616b656e\
        0a2a40ac0250015a23220a18a00152056379636c65220b320430783430520364737448015808ba0103414354\
        0a0e40ad0250015a0748045807f00105";

    #[test]
    fn fields_have_their_published_numbers() {
        let bytes: Vec<u8> =
            (0..PUBLISHED.len()).step_by(2).map(|at| u8::from_str_radix(&PUBLISHED[at..at + 2], 16).unwrap()).collect();
        let packet = |timestamp, sequence_flags, content| TracePacket {
            timestamp,
            trusted_packet_sequence_id: Some(1),
            sequence_flags,
            content: Some(content),
        };
        let note = |name: &str, value| DebugAnnotation { name: Some(name.to_owned()), value: Some(value) };
        let trace = Trace {
            packet: vec![
                packet(
                    None,
                    Some(1),
                    Content::TrackDescriptor(TrackDescriptor {
                        uuid: Some(7),
                        name: Some("reads".to_owned()),
                        parent_uuid: Some(3),
                        counter: Some(CounterDescriptor { unit_name: Some("requests".to_owned()) }),
                        child_ordering: Some(ChildTracksOrdering::Explicit.into()),
                        sibling_order_rank: Some(2),
                        description: Some("taken".to_owned()),
                    }),
                ),
                packet(
                    Some(300),
                    None,
                    Content::TrackEvent(TrackEvent {
                        debug_annotations: vec![
                            note("cycle", Value::UintValue(160)),
                            note("dst", Value::StringValue("0x40".to_owned())),
                        ],
                        r#type: Some(EventType::SliceBegin.into()),
                        track_uuid: Some(8),
                        name: Some("ACT".to_owned()),
                        counter_value: None,
                    }),
                ),
                packet(
                    Some(301),
                    None,
                    Content::TrackEvent(TrackEvent {
                        r#type: Some(EventType::Counter.into()),
                        track_uuid: Some(7),
                        counter_value: Some(5),
                        ..TrackEvent::default()
                    }),
                ),
            ],
        };
        assert_eq!(Trace::decode(bytes.as_slice()), Ok(trace.clone()));
        assert_eq!(trace.encoded_len(), bytes.len(), "no field is left out");
    }
}
