//! Throughput of the checker, in commands per second.

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dram_spec::{AutoPrecharge, BankId, Channel, Column, Command, CommandLog, Cycle, Dialect, Row};
use protocol_check::Checker;

/// Whole rows, read from one bank after the other: ACT, 64 RD, PRE.
fn reads(rows: u64) -> CommandLog {
    let mut log = CommandLog::default();
    let mut push = |at, command| log.push(Cycle(at), Channel(0), &command);
    for row in 0..rows {
        let (start, bank) = (row * 300, BankId { rank: (row % 2) as u8, bank: (row / 2 % 8) as u8 });
        push(start, Command::Activate { bank, row: Row(row as u32 % 65_536) });
        for line in 0..64 {
            let column = Column(line);
            push(start + 8 + 4 * u64::from(line), Command::Read { bank, column, auto_precharge: AutoPrecharge::No });
        }
        push(start + 264, Command::Precharge { bank });
    }
    log
}

/// Copies within a subarray, one after the other: ACT, copy ACT, PRE.
fn copies(count: u64) -> CommandLog {
    let mut log = CommandLog::default();
    for copy in 0..count {
        let (start, bank) = (copy * 50, BankId { rank: 0, bank: (copy % 8) as u8 });
        log.push(Cycle(start), Channel(0), &Command::Activate { bank, row: Row(1) });
        log.push(Cycle(start + 20), Channel(0), &Command::Activate { bank, row: Row(2) });
        log.push(Cycle(start + 40), Channel(0), &Command::Precharge { bank });
    }
    log
}

fn audit(criterion: &mut Criterion) {
    let system = common::planted::system();
    let mut group = criterion.benchmark_group("audit");
    for (name, log) in [("reads", reads(2_000)), ("copies", copies(40_000))] {
        group.throughput(Throughput::Elements(log.commands.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut checker = Checker::new(&system, Dialect::RowClone);
                checker.replay(black_box(&log));
                assert_eq!(checker.total(), 0, "{:?}", checker.violations());
                checker
            });
        });
    }
    group.finish();
}

criterion_group!(benches, audit);
criterion_main!(benches);
