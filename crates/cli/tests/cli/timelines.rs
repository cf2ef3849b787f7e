//! Timelines, read back: they are well formed, and say what the command log and the results of the same run say.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::Path;

use dram_spec::{AutoPrecharge, BankId, Command, Cycle, Cycles, Issued};
use prost::Message;
use rayon::prelude::*;
use report::timeline::nanoseconds;
use report::timeline::schema::{Content, EventType, Trace, TrackDescriptor, TrackEvent, Value};
use rowclone_config::{Scenario, SystemConfig};
use serde_json::Value as Json;
use tempfile::TempDir;
use trace_io::command_log::LogReader;

use crate::common::{Directory, run, workspace};
use crate::figures;

/// A slice or an instant, by the cycles in its notes.
#[derive(Clone, Debug, PartialEq)]
struct Slice {
    name: String,
    begin: u64,
    end: u64,
    notes: BTreeMap<String, String>,
}

impl Slice {
    fn number(&self, note: &str) -> u64 {
        self.notes[note].parse().unwrap()
    }
}

/// A timeline by the names of its tracks, from the run's down: `channel 0/rank 0/bank 3`.
#[derive(Debug, Default)]
struct Tracks {
    slices: BTreeMap<String, Vec<Slice>>,
    counters: BTreeMap<String, Vec<(u64, i64)>>,
}

/// A track while it is read.
#[derive(Default)]
struct Reading {
    name: String,
    last: u64,
    open: Option<Slice>,
    slices: Vec<Slice>,
    counts: Vec<(u64, i64)>,
}

fn notes(event: &TrackEvent) -> BTreeMap<String, String> {
    let note = |note: &report::timeline::schema::DebugAnnotation| {
        let value = match note.value.clone().unwrap() {
            Value::UintValue(value) => value.to_string(),
            Value::StringValue(value) => value,
        };
        (note.name.clone().unwrap(), value)
    };
    event.debug_annotations.iter().map(note).collect()
}

/// Reads a timeline, and checks what holds for all: tracks are described before they are used, the events of each are
/// in the order of time, at the instants that the cycles in their notes have (but where the window cuts them), and
/// every slice that begins ends before the next one does.
fn read(path: &Path, system: &SystemConfig, window: (u64, u64)) -> Tracks {
    let ns = |cycle: u64| nanoseconds(system.memory.system().clock(), Cycle(cycle));
    let trace = Trace::decode(fs::read(path).unwrap().as_slice()).unwrap();
    assert_eq!(trace.packet[0].sequence_flags, Some(1));
    let mut tracks = BTreeMap::<u64, Reading>::new();
    for packet in trace.packet {
        assert_eq!(packet.trusted_packet_sequence_id, Some(1));
        match packet.content.unwrap() {
            Content::TrackDescriptor(TrackDescriptor { uuid, name, parent_uuid, .. }) => {
                let name = match parent_uuid.map(|parent| tracks[&parent].name.as_str()) {
                    None => String::new(),
                    Some("") => name.unwrap(),
                    Some(group) => format!("{group}/{}", name.unwrap()),
                };
                assert!(!tracks.values().any(|other| other.name == name), "{name} is there twice");
                assert!(tracks.insert(uuid.unwrap(), Reading { name, ..Reading::default() }).is_none());
            }
            Content::TrackEvent(event) => {
                let (at, track) = (packet.timestamp.unwrap(), tracks.get_mut(&event.track_uuid.unwrap()).unwrap());
                assert!(track.last <= at && ns(window.0) <= at && at <= ns(window.1), "{}: {at}", track.name);
                track.last = at;
                track.take(&event, at, window, ns);
            }
        }
    }
    let mut read = Tracks::default();
    for Reading { name, open, slices, counts, .. } in tracks.into_values() {
        assert_eq!(open, None, "{name}: all that began has ended");
        if !slices.is_empty() {
            read.slices.insert(name, slices);
        } else if !counts.is_empty() {
            read.counters.insert(name, counts);
        }
    }
    read
}

impl Reading {
    fn take(&mut self, event: &TrackEvent, at: u64, window: (u64, u64), ns: impl Fn(u64) -> u64) {
        let name = &self.name;
        match event.r#type() {
            EventType::Counter => self.counts.push((at, event.counter_value.unwrap())),
            EventType::SliceBegin | EventType::Instant => {
                let notes = notes(event);
                let begin: u64 = notes["cycle"].parse().unwrap();
                let end = begin + notes["clocks"].parse::<u64>().unwrap();
                assert_eq!(at, ns(begin.max(window.0)), "{name}");
                assert!(self.open.is_none(), "{name} at {at}");
                let slice = Slice { name: event.name.clone().unwrap(), begin, end, notes };
                if event.r#type() == EventType::SliceBegin {
                    self.open = Some(slice);
                } else {
                    self.slices.push(slice);
                }
            }
            EventType::SliceEnd => {
                let slice = self.open.take().unwrap_or_else(|| panic!("{name}: an end without a beginning at {at}"));
                assert_eq!(at, ns(slice.end.min(window.1)), "{name}: {slice:?}");
                self.slices.push(slice);
            }
            EventType::Unspecified => panic!("{name}: {event:?}"),
        }
    }
}

/// A run with its log, its timeline and its results.
struct Run {
    directory: TempDir,
    system: SystemConfig,
    results: Vec<Json>,
}

impl Run {
    fn of(scenario: &str, sets: &[&str], window: &[&str]) -> Run {
        let directory = tempfile::tempdir().unwrap();
        let path = workspace().join(scenario);
        let system = Scenario::read(&path, &sets.iter().map(|&set| set.to_owned()).collect::<Vec<_>>()).unwrap().system;
        let [log, timeline] = ["x.csv", "x.pftrace"].map(|name| directory.path().join(name).display().to_string());
        let mut arguments = vec!["run", path.to_str().unwrap(), "--format", "json"];
        arguments.extend(["--commands", &log, "--timeline", &timeline]);
        arguments.extend(sets.iter().flat_map(|set| ["--set", set]).chain(window.iter().copied()));
        let (code, stdout, stderr) = run(&arguments);
        assert_eq!(code, 0, "{stderr}");
        Run { directory, system, results: serde_json::from_str(&stdout).unwrap() }
    }

    fn file(&self, result: &Json, extension: &str) -> std::path::PathBuf {
        let label = [result["policy"].as_str(), result["placement"].as_str()];
        let label: Vec<&str> = label.into_iter().flatten().collect();
        let several = self.directory.path().join(format!("x-{}.{extension}", label.join("-")));
        if several.exists() { several } else { self.directory.path().join(format!("x.{extension}")) }
    }

    fn log(&self, result: &Json) -> Vec<Issued> {
        let reader = LogReader::new(BufReader::new(fs::File::open(self.file(result, "csv")).unwrap())).unwrap();
        reader.map(Result::unwrap).collect()
    }

    fn timeline(&self, result: &Json, window: (u64, u64)) -> Tracks {
        read(&self.file(result, "pftrace"), &self.system, window)
    }
}

/// Ranks that sleep, in a state whose current the set has.
const SLEEP: &str = "system.controller.power_down_after_cycles=50";
const SLOW_EXIT: &str = "system.device.precharge_power_down=\"slow-exit\"";

const ALL: (u64, u64) = (0, u64::MAX / 15);

/// What the commands of a log say of buses and banks.
fn drawn_by_hand(system: &SystemConfig, log: &[Issued], end: u64) -> BTreeMap<String, Vec<(u64, u64)>> {
    let mut slices = BTreeMap::<String, Vec<(u64, u64)>>::new();
    let mut opened = BTreeMap::<(u8, BankId), u64>::new();
    let (bin, geometry) = (system.memory.system().bin, system.memory.system().geometry);
    for &Issued { at: Cycle(at), channel, command } in log {
        let mut draw = |name: &str, begin: u64, end: u64| {
            slices.entry(format!("channel {}/{name}", channel.0)).or_default().push((begin, end));
        };
        let clocks = if matches!(command, Command::Transfer { .. }) { 2 } else { 1 };
        draw("command bus", at, at + clocks);
        let closed: Vec<BankId> = match command {
            Command::Activate { bank, .. } | Command::Precharge { bank } => vec![bank],
            Command::PrechargeAll { rank } => (0..8).map(|bank| BankId { rank, bank }).collect(),
            Command::Read { bank, auto_precharge, .. } => {
                draw("data bus", at + bin.cl, at + bin.cl + 4);
                (auto_precharge == AutoPrecharge::Yes).then_some(bank).into_iter().collect()
            }
            Command::Write { bank, auto_precharge, .. } => {
                draw("data bus", at + bin.cwl, at + bin.cwl + 4);
                (auto_precharge == AutoPrecharge::Yes).then_some(bank).into_iter().collect()
            }
            Command::Refresh { rank } => {
                let Cycles(clocks) = bin.clock.at_least(geometry.chip().t_rfc[0]);
                draw(&format!("rank {rank}/refresh"), at, at + clocks);
                Vec::new()
            }
            _ => Vec::new(),
        };
        for bank in closed {
            if let Some(since) = opened.remove(&(channel.0, bank)) {
                draw(&format!("rank {}/bank {}", bank.rank, bank.bank), since, at);
            }
        }
        if let Command::Activate { bank, .. } = command {
            opened.insert((channel.0, bank), at);
        }
    }
    for ((channel, bank), since) in opened {
        let name = format!("channel {channel}/rank {}/bank {}", bank.rank, bank.bank);
        slices.entry(name).or_default().push((since, end));
    }
    slices
}

/// Scenarios with every mechanism, ragged lines, queues that fill up, copies that are broken off, sleep, and several
/// channels and ranks.
fn scenarios() -> Vec<(&'static str, Vec<&'static str>)> {
    let mixed = [
        "policies=[\"baseline\", \"rowclone\"]",
        "workload.count=1500",
        "workload.bytes=0x40_0000",
        "workload.copy_share=0.1",
        "warm_up_cycles=0",
    ];
    let with = |more: &[&'static str]| mixed.iter().chain(more).copied().collect();
    vec![
        ("traces/page-copy.toml", vec![]),
        ("traces/unaligned.toml", vec!["system.device.bin=2133N"]),
        ("traces/mixed.toml", with(&[])),
        ("traces/mixed.toml", with(&["workload.gap_cycles=2", "system.controller.copy_hold_max_cycles=60"])),
        ("traces/mixed.toml", with(&["workload.gap_cycles=400", SLEEP, SLOW_EXIT])),
        ("traces/mixed.toml", with(&["system.geometry.ranks=2", "system.address_map.preset=\"line-interleaved\""])),
        ("traces/fork.toml", vec!["workload.bytes=0x40_0000", "workload.pages=64"]),
    ]
}

/// Buses and banks are drawn as by hand. The programs of a copy lie within it and make it up.
#[test]
fn a_timeline_draws_the_commands_of_its_log_and_the_programs_of_its_copies() {
    scenarios().into_par_iter().for_each(|(scenario, sets)| {
        let run = Run::of(scenario, &sets, &[]);
        for result in &run.results {
            let what = format!("{scenario} {sets:?} {}", result["policy"]);
            let (log, tracks) = (run.log(result), run.timeline(result, ALL));
            check_commands(&tracks, &log, &run.system, result["makespan_cycles"].as_u64().unwrap(), &what);
            check_copies(&tracks, result["served"].as_array().unwrap(), &what);
        }
    });
}

fn check_commands(tracks: &Tracks, log: &[Issued], system: &SystemConfig, end: u64, what: &str) {
    let of_channels = tracks.slices.iter().filter(|(name, _)| name.starts_with("channel "));
    let drawn = of_channels
        .map(|(name, slices)| (name.clone(), slices.iter().map(|slice| (slice.begin, slice.end)).collect::<Vec<_>>()));
    let drawn: BTreeMap<_, _> = drawn.collect();
    assert!(drawn == drawn_by_hand(system, log, end), "{what}");
    for channel in 0..system.memory.system().geometry.channels() {
        let commands = log.iter().filter(|issued| issued.channel.0 == channel);
        let slices = tracks.slices.get(&format!("channel {channel}/command bus"));
        for (slice, issued) in slices.into_iter().flatten().zip(commands) {
            assert!(slice.name.starts_with(&issued.command.to_string()), "{slice:?} {issued:?}");
        }
    }
}

fn check_copies(tracks: &Tracks, served: &[Json], what: &str) {
    let mut moved = BTreeMap::<String, u64>::new();
    let mut copies = 0;
    let lanes = tracks.slices.iter().filter_map(|(name, slices)| Some((name.strip_suffix("/copy")?, slices)));
    for (lane, slices) in lanes {
        let of_lane = tracks.slices.iter().filter(|(name, _)| name.starts_with(&format!("{lane}/programs")));
        let programs: Vec<&Slice> = of_lane.flat_map(|(_, slices)| slices).collect();
        let mut accounted = 0;
        for copy in slices {
            let within = |program: &&&Slice| copy.begin <= program.begin && program.end <= copy.end;
            let inside: Vec<_> = programs.iter().filter(within).collect();
            accounted += inside.len();
            let bytes: u64 = inside.iter().map(|program| program.number("bytes")).sum();
            assert_eq!(bytes, copy.number("bytes"), "{what} {copy:?}");
            assert_eq!(copy.end - copy.number("arrival_cycle"), copy.number("response_cycles"));
            for program in inside {
                assert!(copy.notes["mechanism"].contains(&program.notes["mechanism"]), "{copy:?} {program:?}");
                *moved.entry(program.notes["mechanism"].clone()).or_default() += program.number("bytes");
            }
            copies += 1;
        }
        assert_eq!(accounted, programs.len(), "{what}: a program of no copy, or of two");
    }
    let mut expected = BTreeMap::<String, u64>::new();
    for row in served {
        *expected.entry(row["mechanism"].as_str().unwrap().to_owned()).or_default() += row["bytes"].as_u64().unwrap();
    }
    assert_eq!(moved, expected, "{what}");
    assert!(copies > 0);
}

#[test]
fn counters_rise_with_each_request_and_fall_back_to_nothing() {
    let sets = ["workload.count=500", "workload.gap_cycles=400", SLEEP, SLOW_EXIT];
    let run = Run::of("traces/mixed.toml", &sets, &[]);
    for result in &run.results {
        let tracks = run.timeline(result, ALL);
        for kind in ["reads", "writes", "copies"] {
            let values = &tracks.counters[&format!("requests in progress/{kind}")];
            assert_eq!((values.first().unwrap().0, values.last().unwrap().1), (0, 0), "{kind}");
            assert!(
                values.iter().all(|&(_, value)| value >= 0) && values.iter().any(|&(_, value)| value > 0),
                "{kind}"
            );
            let steps = values.windows(2).map(|pair| (pair[1].1 - pair[0].1).abs());
            assert!(steps.into_iter().all(|step| step == 1), "{kind}");
        }
        let log = run.log(result);
        let sleeps = log.iter().filter(|issued| matches!(issued.command, Command::PowerDownEnter { .. })).count();
        let power = tracks.counters.iter().filter(|(name, _)| name.ends_with("power state"));
        let asleep = power.flat_map(|(_, values)| values).filter(|&&(_, value)| value > 0).count();
        assert!(asleep == sleeps && sleeps > 0, "{asleep} of {sleeps}");
    }
}

#[test]
fn a_rank_is_drawn_in_its_power_state_at_each_instant() {
    let directory = figures::sleeping();
    let run = Run::of(directory.path("scenario.toml").to_str().unwrap(), &[], &[]);
    let tracks = run.timeline(&run.results[0], ALL);
    let clock = run.system.memory.system().clock();
    let states = figures::sleep::POWER_STATES.map(|(cycle, state)| (nanoseconds(clock, Cycle(cycle)), state));
    let drawn = &tracks.counters["channel 0/rank 0/power state"];
    assert_eq!(drawn.iter().filter(|&&(at, _)| at > 0).copied().collect::<Vec<_>>(), states);
    assert!(drawn.iter().all(|&(at, state)| at > 0 || state == 0), "awake at first");
}

/// The statistics of the controller have the maximum over all channels. The last access may leave
/// the queue at the command after which it is counted.
#[test]
fn queues_are_as_full_as_the_statistics_say() {
    for sets in [&["workload.count=2000", "workload.gap_cycles=2"][..], &["workload.count=500"]] {
        let sets = [sets, &["warm_up_cycles=0"]].concat();
        let run = Run::of("traces/mixed.toml", &sets, &[]);
        for result in &run.results {
            let tracks = run.timeline(result, ALL);
            for queue in ["read_queue", "write_queue"] {
                let ending = format!("/{}", queue.replace('_', " "));
                let counters: Vec<_> = tracks.counters.iter().filter(|(name, _)| name.ends_with(&ending)).collect();
                assert_eq!(counters.len(), 2, "a channel each");
                let most = counters.iter().flat_map(|(_, values)| *values).map(|&(_, value)| value).max().unwrap();
                let said = result[queue]["max_entries"].as_i64().unwrap();
                assert!(said > 0 && (said - 1..=said).contains(&most), "{queue}: {most}, and {said}");
                for (name, values) in counters {
                    assert!(values.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 != pair[1].1), "{name}");
                    assert_eq!((values[0].0, values[values.len() - 1].1), (0, 0), "{name}");
                }
            }
        }
    }
}

#[test]
fn a_window_shows_what_the_whole_shows_there() {
    let sets = ["workload.count=1000", "policies=[\"rowclone\"]"];
    let whole = Run::of("traces/mixed.toml", &sets, &[]);
    // 5 us are 2,666 2/3 clocks.
    let part = Run::of("traces/mixed.toml", &sets, &["--from", "5us", "--to", "4_000"]);
    let (whole, part) = (whole.timeline(&whole.results[0], ALL), part.timeline(&part.results[0], (2667, 4000)));
    let visible = |slice: &&Slice| slice.begin < 4000 && slice.end > 2667;
    let mut shown = 0;
    for (name, slices) in whole.slices.iter().filter(|(name, _)| name.starts_with("channel ")) {
        let expected: Vec<&Slice> = slices.iter().filter(visible).collect();
        let found: Vec<&Slice> = part.slices.get(name).into_iter().flatten().collect();
        assert_eq!(found, expected, "{name}");
        shown += found.len();
    }
    assert!(shown > 100);
    for (name, values) in &whole.counters {
        let at = |values: &[(u64, i64)]| values.iter().rev().find(|&&(at, _)| at <= 6000).map(|&(_, value)| value);
        assert_eq!(at(&part.counters[name]), at(values), "{name}");
    }
}

#[test]
fn each_policy_has_its_timeline_and_none_is_overwritten() {
    let directory = Directory::sound();
    let (scenario, file) = (directory.path("scenario.toml"), directory.path("t.pftrace"));
    let arguments = ["run", scenario.to_str().unwrap(), "--timeline", file.to_str().unwrap()];
    let (code, _, stderr) = run(&arguments);
    assert_eq!(code, 0, "{stderr}");
    let [channel, rule] = ["t-baseline.pftrace", "t-rowclone.pftrace"].map(|name| directory.path(name));
    assert!(channel.exists() && rule.exists() && !file.exists());
    let before = fs::read(&rule).unwrap();
    fs::write(&rule, "precious").unwrap();
    let (code, _, stderr) = run(&arguments);
    assert_eq!(code, 2);
    assert!(stderr.contains("t-baseline.pftrace: exists already"), "{stderr}");
    assert_eq!(fs::read(&rule).unwrap(), b"precious");
    assert_eq!(run(&[&arguments[..], &["--force"]].concat()).0, 0);
    assert_eq!(fs::read(&rule).unwrap(), before, "the same run gives the same bytes");
}

#[test]
fn what_no_timeline_can_be_drawn_from_is_refused() {
    let directory = Directory::sound();
    let (scenario, file) = (directory.path("scenario.toml"), directory.path("t.pftrace"));
    let (scenario, file) = (scenario.to_str().unwrap(), file.to_str().unwrap());
    for (arguments, expected) in [
        (vec!["--from", "7"], "--timeline <FILE>"),
        (vec!["--timeline", file, "--from", "soon"], "must be a cycle, such as 5000, or a time, such as 90ns"),
        (vec!["--timeline", file, "--from", "9", "--to", "9"], "`--from 9` to `--to 9`: no cycle lies between them"),
        (vec!["--timeline", "-"], "`--timeline -`: a timeline needs a file"),
        (vec!["--timeline", file, "--commands", file], "is given to both `--commands` and `--timeline`"),
    ] {
        let (code, _, stderr) = run(&[&["run", scenario], &arguments[..]].concat());
        assert_eq!(code, 2, "{arguments:?}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    assert!(!Path::new(file).exists());
}

#[test]
fn a_stretch_after_the_end_is_empty_and_said_to_be() {
    let directory = Directory::sound();
    let (scenario, file) = (directory.path("scenario.toml"), directory.path("t.pftrace"));
    let words = ["run", scenario.to_str().unwrap(), "--timeline", file.to_str().unwrap(), "--from", "99ms"];
    let (code, _, stderr) = run(&words);
    assert!(
        code == 0 && stderr.contains("rowclone: ends at cycle ") && stderr.contains("`--from` on is empty"),
        "{stderr}"
    );
}
