//! The engine and its plain twin do the same.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{BankId, Channel, Column, CommandLog, Row};
use host::{Contents, Sequence};
use memctrl::{Completion, Config, Controller, Stats};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::cases::{Case, arb_case, arb_heavy_case};
use crate::laws::runs;
use crate::load::arb_load;
use crate::twin::Plain;

type Changed = Vec<(BankId, Row, Vec<u8>)>;

/// What a run did, in all that can be seen of it.
struct Told {
    log: CommandLog,
    stats: Stats,
    completions: Vec<Completion>,
    /// Every row that was changed, with its bytes, by channel.
    rows: Vec<Changed>,
}

fn rows(device: &dram_core::Device, columns: u16) -> Changed {
    let cells = device.cells().unwrap();
    let bytes = |bank, row| (0..columns).flat_map(|column| cells.line(bank, row, Column(column))).collect();
    let mut rows: Changed = cells.changed().map(|(bank, row, _)| (bank, row, bytes(bank, row))).collect();
    rows.sort_unstable();
    rows
}

fn told(case: &Case, run: impl FnOnce(Config, &mut Sequence, &mut CommandLog) -> (Stats, Vec<Changed>)) -> Told {
    told_with(case, Some(Contents::new(case.seed, case.config.planner.map().clone())), run)
}

fn told_with(
    case: &Case,
    contents: Option<Contents>,
    run: impl FnOnce(Config, &mut Sequence, &mut CommandLog) -> (Stats, Vec<Changed>),
) -> Told {
    let background = contents.clone().map(|contents| Arc::new(contents) as _);
    let config = Config { contents: background, ..case.config.clone() };
    let mut source = Sequence::new(case.operations.iter().copied(), contents);
    let mut log = CommandLog::default();
    let (stats, rows) = run(config, &mut source, &mut log);
    Told { log, stats, completions: source.into_completions(), rows }
}

/// A dozen commands before the first that differs, and a few after it.
fn near(log: &CommandLog, at: usize) -> String {
    let end = (at + 3).min(log.commands.len());
    let mut text = String::new();
    for issued in &log.commands[at.saturating_sub(12).min(end)..end] {
        writeln!(text, "{} c{} {}", issued.at, issued.channel.0, issued.command).unwrap();
    }
    text
}

/// The first few lines in which two listings differ, with those that they stand under.
fn differences<T: std::fmt::Debug>(name: &str, engine: &T, twin: &T) -> String {
    let [engine, twin] = [engine, twin].map(|one| format!("{one:#?}"));
    let (mut text, mut above) = (String::new(), Vec::new());
    for (engine, twin) in engine.lines().zip(twin.lines()) {
        let indent = engine.len() - engine.trim_start().len();
        above.retain(|(deep, _)| *deep < indent);
        above.push((indent, engine.trim()));
        if engine != twin && text.lines().count() < 12 {
            let path: Vec<_> = above.iter().map(|(_, line)| *line).collect();
            writeln!(text, "{name}: {} -- {}", path.join(" "), twin.trim()).unwrap();
        }
    }
    text
}

/// The same for statistics.
fn assert_same(engine: &Stats, twin: &Stats) -> Result<(), TestCaseError> {
    let whole = |stats: &Stats| (stats.from, stats.end);
    prop_assert_eq!(whole(engine), whole(twin), "engine, twin: from, end");
    prop_assert!(engine.whole == twin.whole, "{}", differences("whole", &engine.whole, &twin.whole));
    let spans = |stats: &Stats| stats.epochs.iter().map(|epoch| (epoch.from, epoch.to)).collect::<Vec<_>>();
    let [spans, others] = [engine, twin].map(spans);
    prop_assert!(
        spans == others,
        "epochs: {} and {}, to {:?} and {:?}",
        spans.len(),
        others.len(),
        spans.last(),
        others.last()
    );
    for (engine, twin) in engine.epochs.iter().zip(&twin.epochs) {
        prop_assert!(engine == twin, "{}", differences(&format!("from {}", engine.from), engine, twin));
    }
    Ok(())
}

/// The same for what the source hears, but for the bytes.
fn assert_same_answers(engine: &[Completion], twin: &[Completion]) -> Result<(), TestCaseError> {
    prop_assert_eq!(engine.len(), twin.len());
    for (engine, twin) in engine.iter().zip(twin) {
        let of = |one: &Completion| {
            let instants = (one.arrival, one.first_command, one.done);
            (one.id, one.operation, instants, one.commands, one.segments().clone())
        };
        prop_assert_eq!(of(engine), of(twin), "engine, twin: {}", engine.operation);
    }
    Ok(())
}

/// Whether engine and twin do the same with a case.
pub fn compare(case: &Case) -> Result<(), TestCaseError> {
    let geometry = case.config.system.geometry;
    let (channels, columns) = (geometry.channels(), geometry.columns());
    let engine = told(case, |config, source, log| {
        let mut controller = Controller::new(config);
        let stats = controller.run(source, log, &AtomicBool::new(false)).unwrap();
        (stats, (0..channels).map(|channel| rows(controller.device(Channel(channel)), columns)).collect())
    });
    let twin = told(case, |config, source, log| {
        let mut plain = Plain::new(config);
        let stats = plain.run(source, log);
        (stats, plain.devices.iter().map(|device| rows(device, columns)).collect())
    });
    let longer = engine.log.commands.len().max(twin.log.commands.len());
    let first = (0..longer).find(|&at| engine.log.commands.get(at) != twin.log.commands.get(at));
    if let Some(at) = first {
        prop_assert!(false, "command {at}; engine:\n{}twin:\n{}", near(&engine.log, at), near(&twin.log, at));
    }
    assert_same_answers(&engine.completions, &twin.completions)?;
    for (engine, twin) in engine.completions.iter().zip(&twin.completions) {
        prop_assert!(engine.data == twin.data, "the data of {} differs", engine.operation);
    }
    prop_assert!(engine.rows == twin.rows, "the cells differ");
    assert_same(&engine.stats, &twin.stats)?;
    prop_assert_eq!(engine.log.end, twin.log.end);
    // Without contents, what is kept of requests is kept elsewhere.
    let bare = told_with(case, None, |config, source, log| {
        (Controller::new(config).run(source, log, &AtomicBool::new(false)).unwrap(), Vec::new())
    });
    prop_assert!(bare.log == engine.log, "without contents, the commands are others");
    assert_same(&bare.stats, &twin.stats)?;
    assert_same_answers(&bare.completions, &twin.completions)
}

proptest! {
    #![proptest_config(runs(20))]

    /// Whoever builds a controller from `docs/controller.md` gets the same commands at the same cycles, the same answers, the same
    /// memory and the same figures.
    #[test]
    fn the_engine_does_what_its_page_says(case in prop_oneof![arb_case(), arb_heavy_case()]) {
        compare(&case)?;
    }

    /// The same under load.
    #[test]
    fn the_engine_does_what_its_page_says_under_load(case in arb_load()) {
        compare(&case)?;
    }
}
