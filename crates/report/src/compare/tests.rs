//! Tables of a comparison, by hand.

use rowclone_sim::compare::{CaseOperation, Delivery};
use rowclone_sim::host::machine::SourceState;

use super::*;

fn copier(name: &str) -> NamedCopier {
    NamedCopier::named(name).unwrap()
}

fn figures(time_ns: f64, lines_lost: u64) -> CopierResult {
    CopierResult {
        figures: Ok(CopierFigures {
            time_ns,
            cpu_ns: Some(time_ns / 2.0),
            energy_nj: Some(time_ns * 10.0),
            channel_bytes: 128,
            lines_lost: Some(lines_lost),
            extra_misses: Some(lines_lost),
            in_dram_share: 0.0,
        }),
        passed_checks: true,
    }
}

/// Copies of 64 B and 4 KiB, a zeroing and a message.
fn table() -> CompareTable {
    let copiers: Vec<NamedCopier> = ["loop-cached", "fpm-only", "dma"].map(copier).into();
    let refused = |why| CopierResult { figures: Err(why), passed_checks: true };
    let case = |operation, bytes, results: [CopierResult; 3]| {
        let results = copiers.iter().copied().zip(results).collect();
        ComparedCase::new(Case { operation, bytes, read_percent: 0 }, results)
    };
    let cold = CaseOperation::Copy(SourceState::Cold);
    let cases = vec![
        case(
            cold,
            64,
            [figures(100.0, 2), refused(Unable::OverChannel("partial-row")), refused(Unable::TooSmall(1024))],
        ),
        case(cold, 4096, [figures(1000.0, 128), figures(90.0, 0), figures(1500.0, 0)]),
        case(CaseOperation::Zero, 4096, [figures(500.0, 64), figures(90.0, 0), refused(Unable::DoesNotZero)]),
        case(CaseOperation::Receive(Delivery::ALL[0]), 4096, [figures(7.0, 9), figures(7.0, 9), figures(8.0, 9)]),
    ];
    CompareTable {
        machine: "paper".to_owned(),
        working_set_bytes: Some(524_288),
        assumptions: Vec::new(),
        copiers,
        cases,
    }
}

const TEXT: &str = "\
3 copiers on paper: 2 cases of copies, 1 of zeroings, 1 of messages
beside a working set of 512 KiB. Energy is the dynamic energy of the DRAM; lines that stay dirty in a
cache are written later; no figure includes these writes.

Which is fastest? copies: loop-cached in 1, fpm-only in 1 of 2; zeroings: fpm-only in 1 of 1; messages:
  loop-cached in 1 of 1
Which costs the program least CPU time? copies: loop-cached in 1, fpm-only in 1 of 2; zeroings: fpm-only in 1
  of 1; messages: loop-cached in 1 of 1
Which costs least energy? copies: loop-cached in 1, fpm-only in 1 of 2; zeroings: fpm-only in 1 of 1;
  messages: loop-cached in 1 of 1
Which displaces least? copies: loop-cached in 1, fpm-only in 1 of 2; zeroings: fpm-only in 1 of 1; messages:
  all alike in 1 of 1

Copy of a cold source, nothing read afterwards: time, ns
copier       64 B  4 KiB
loop-cached   100  1,000
fpm-only        -   90.0
dma             -  1,500

Zeroing, nothing read afterwards: time, ns
copier       4 KiB
loop-cached    500
fpm-only      90.0
dma              -

Message to memory, nothing read afterwards: time, ns
copier       4 KiB
loop-cached   7.00
fpm-only      7.00
dma           8.00

Which is fastest?
operation  state   read  best copier
copy       cold     0 %  64 B: loop-cached; 4 KiB: fpm-only
zero                0 %  4 KiB: fpm-only
receive    memory   0 %  4 KiB: loop-cached and fpm-only
";

#[test]
fn the_first_screen_has_answers_tables_and_reasons() {
    let text = table().to_text(false, 110);
    assert_eq!(text[..TEXT.len().min(text.len())], *TEXT);
    let displaced = "Which displaces least?\noperation  state   read  best copier\n\
                     copy       cold     0 %  64 B: loop-cached; 4 KiB: fpm-only and dma\n";
    assert!(text.contains(displaced), "{text}");
    let reasons = "Copiers that cannot do an operation themselves\n\
                   copy 64 B: would copy over the channel: the operation covers only a part of the row: fpm-only\n\
                   copy 64 B: the kernel's loop copies less than 1 KiB (`kernel.copier_min_bytes`): dma\n\
                   zero 4 KiB: the device does not zero; the kernel's loop zeroes: dma\n";
    assert!(text.contains(reasons), "{text}");
    let details = table().to_text(true, 110);
    assert!(details.contains("Copy of a cold source, nothing read afterwards: dynamic energy, nJ\n"), "{details}");
}

#[test]
fn rows_have_all_figures_or_the_reason() {
    let table = table();
    let csv = table.to_csv().unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 4 * 3);
    assert_eq!(lines[1], "copy,cold,64,0,loop-cached,CPU loop,100.0,50.0,1000.0,128,2,2,0.0,");
    assert!(lines[2].starts_with("copy,cold,64,0,fpm-only,in DRAM,,,,,,,,would copy over the channel"), "{}", lines[2]);
    let answer = &table.json().answers[0];
    assert_eq!((answer.copiers.clone(), answer.value), (vec!["loop-cached"], 100.0));
    let last = &table.answers(Question::Time)[3];
    assert_eq!((last.copiers.clone(), last.operation), (vec!["loop-cached", "fpm-only"], "receive"));
}

/// Pictures are of cases of several sizes: here only the copies. A kind is drawn where one of its copiers has a figure.
#[test]
fn pictures_have_a_line_per_kind() {
    let pictures = table().pictures();
    let names: Vec<&str> = pictures.iter().map(|picture| picture.name.as_str()).collect();
    let expected = ["time", "cpu-time", "energy", "displacement"].map(|name| format!("compare-copy-cold-0-{name}"));
    assert_eq!(names, expected);
    let series: Vec<(&str, usize)> =
        pictures[0].chart.series.iter().map(|series| (series.name.as_str(), series.points.len())).collect();
    assert_eq!(series, [("CPU loop", 2), ("in DRAM", 1), ("DMA engine", 1)]);
    let html = table().to_html();
    assert!(html.starts_with("<!DOCTYPE html>") && html.matches("<figure>").count() == 4, "{html}");
}

/// A program whose copies take a half of its time under each copier, beside that of `rowclone` in DRAM.
#[test]
fn a_program_has_a_verdict() {
    let case = |times: [f64; 3], misses: [u64; 3]| {
        let names = ["baseline", "rowclone", "copy-engine-async"];
        let results = std::array::from_fn::<_, 3, _>(|index| {
            let mut result = figures(times[index], misses[index]);
            result.figures.as_mut().unwrap().in_dram_share = if index == 1 { 0.75 } else { 0.0 };
            (copier(names[index]), result)
        });
        let (operation, state) = ("scenario", "sort".to_owned());
        ComparedCase { operation, state, bytes: None, read_percent: None, results: results.into() }
    };
    let verdict = |times, misses| case(times, misses).verdict().unwrap();
    let [help, why, more] = verdict([100.0, 80.0, 75.0], [10, 8, 10]);
    let fastest = "rowclone, the fastest copier in DRAM, takes";
    assert_eq!(help, format!("Would in-DRAM copy help? yes: {fastest} 20.0 % less time than baseline"));
    let copied = "copies take 50.0 % of the time under baseline; rowclone executes 75.0 % of their bytes in DRAM";
    let moved = "it moves 0.0 % more bytes over the channels";
    assert_eq!(why, format!("Why? {copied}; {moved}; the program has 20.0 % fewer misses"));
    assert_eq!(more, "What would help more? copy-engine-async takes 25.0 % less time");
    let [help, why, more] = verdict([100.0, 110.0, 120.0], [10, 15, 10]);
    assert_eq!(help, format!("Would in-DRAM copy help? no: {fastest} 10.0 % more time than baseline"));
    assert!(why.ends_with("the program has 50.0 % more misses, as its copies leave no lines in the caches"), "{why}");
    assert_eq!(more, "What would help more? no copier that was compared is faster than baseline");
    let [help, _, more] = verdict([100.0, 99.8, 120.0], [10, 10, 10]);
    assert_eq!(help, format!("Would in-DRAM copy help? hardly: {fastest} 0.2 % less time than baseline"));
    assert_eq!(more, "What would help more? no other copier that was compared");
    let mut without = case([1.0; 3], [1; 3]);
    without.results.remove(1);
    assert_eq!(without.verdict(), None);
}
