"""Reads timelines with the trace definitions that Perfetto publishes, and compares them with the command logs of the same runs.

Usage: timelines.py LOG.csv TIMELINE.pftrace [LOG.csv TIMELINE.pftrace ...]
"""

import csv
import sys
from collections import defaultdict

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def expect_known(message):
    """Every field is one that the definitions know."""
    assert not len(UnknownFieldSet(message)), f"unknown fields in {message}"
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if hasattr(value, "__len__") else [value]:
                expect_known(part)


def read(path):
    """The slices of each track, as (begin, end, name, notes), and the values of each counter."""
    trace = Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    tracks, slices, counters = {}, defaultdict(list), defaultdict(list)
    last, stack = defaultdict(int), defaultdict(list)

    def name(uuid):
        track = tracks[uuid]
        return (f"{name(track.parent_uuid)}/" if track.parent_uuid else "") + track.name

    for packet in trace.packet:
        expect_known(packet)
        assert packet.trusted_packet_sequence_id, "a packet without a sequence is dropped by the viewer"
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            continue
        event = packet.track_event
        uuid, at = event.track_uuid, packet.timestamp
        assert uuid in tracks, f"an event on track {uuid}, which is not described"
        assert at >= last[uuid], f"{name(uuid)}: {at} after {last[uuid]}"
        last[uuid] = at
        is_counter = tracks[uuid].HasField("counter")
        assert is_counter == (event.type == TrackEvent.TYPE_COUNTER), name(uuid)
        if is_counter:
            assert event.counter_value >= 0, name(uuid)
            counters[name(uuid)].append((at, event.counter_value))
        elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
            notes = {note.name: getattr(note, note.WhichOneof("value")) for note in event.debug_annotations}
            stack[uuid].append((at, event.name, notes))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            begin, called, notes = stack[uuid].pop()
            slices[name(uuid)].append((begin, at, called, notes))
        else:
            assert event.type == TrackEvent.TYPE_INSTANT, event
    assert not any(stack.values()), "a slice that does not end"
    return slices, counters


def compare(log, timeline):
    slices, counters = read(timeline)
    by_channel = defaultdict(list)
    with open(log, newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            by_channel[row["channel"]].append((int(row["cycle"]), row["command"]))
    drawn = {track.rsplit("channel ", 1)[1].split("/")[0]: track for track in slices if track.endswith("/command bus")}
    assert drawn.keys() == by_channel.keys(), f"{timeline}: channels {drawn.keys()}, in the log {by_channel.keys()}"
    for channel, commands in by_channel.items():
        found = [(notes["cycle"], called.split()[0]) for _, _, called, notes in slices[drawn[channel]]]
        assert found == commands, f"{timeline}: channel {channel} differs from {log}"
    copies = sum(len(found) for track, found in slices.items() if track.endswith("/copy"))
    programs = sum(len(found) for track, found in slices.items() if "/programs " in track)
    assert copies and programs, f"{timeline}: no copy is drawn"
    assert all(values[-1][1] == 0 for track, values in counters.items() if "in progress" in track), timeline
    commands = sum(map(len, by_channel.values()))
    print(f"{timeline}: {commands} commands, {copies} copies, {programs} programs, {len(counters)} counters: as in {log}")


files = sys.argv[1:]
for pair in zip(files[::2], files[1::2]):
    compare(*pair)
