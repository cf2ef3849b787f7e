#![allow(missing_docs, clippy::all, clippy::pedantic, clippy::print_stdout, clippy::unwrap_used)]
use rowclone_sim::dram_spec::address::Preset;
use rowclone_sim::dram_spec::*;
use rowclone_sim::host::Place;
use rowclone_sim::host::workload::{Access, CopyBy, Gap, PageCopies, Pairs, Pattern, Random, Settings, Stream};
use rowclone_sim::memctrl::policy::copy;
use rowclone_sim::{Experiment, SystemBuilder, Workload};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (case, channels, count) = (args[1].as_str(), args[2].parse::<u64>().unwrap(), args[3].parse::<u64>().unwrap());
    let zero = PhysicalAddress(0);
    let paper = matches!(case, "psm" | "psm2" | "fpm");
    let builder = SystemBuilder::default()
        .channels(channels)
        .ranks(1)
        .copy_activations(CopyActivations::Counted)
        .precharge_power_down(PrechargePowerDown::FastExit);
    let mut builder = if paper {
        builder
            .bin(SpeedBin::named("1066G").unwrap())
            .chips(Density::Gb2, Width::X8)
            .row_bytes(4096)
            .rows_per_subarray(512)
            .current_set("2 Gb x8 -25E")
            .address_map(Preset::RowInterleaved.raw())
    } else {
        builder
            .bin(SpeedBin::named("1600K").unwrap())
            .chips(Density::Gb4, Width::X8)
            .row_bytes(8192)
            .rows_per_subarray(1024)
            .current_set("4 Gb x8 E/J-die 1600")
            .address_map(Preset::LineInterleaved.raw())
    };
    if let Ok(q) = std::env::var("QUEUE") {
        let q: usize = q.parse().unwrap();
        let mut queues = rowclone_sim::memctrl::Queues::default();
        queues.read_entries = q;
        queues.write_entries = q;
        queues.drain_high = (q * 3 / 4).max(2);
        queues.drain_low = q / 4;
        builder = builder.queues(queues);
    }
    if let Ok(r) = std::env::var("RANKS") {
        builder = builder.ranks(r.parse().unwrap());
    }
    let system = builder.build().unwrap();
    let gap = Gap::ZERO;
    let random = |gap| Settings::Random(Random { count, start: zero, bytes: 0x4000_0000, writes: 0.3, gap });
    let pages = |by, pairs, bytes| {
        Settings::PageCopies(PageCopies { count, start: zero, bytes, page_bytes: 4096, pairs, by, gap })
    };
    let (settings, policy) = match case {
        "seq" => (
            Settings::Stream(Stream { start: zero, count, stride: 64, access: Access::Pattern(Pattern::READS), gap }),
            copy::BASELINE,
        ),
        "64r64w" => (pages(CopyBy::Lines, Pairs::Neighbors, 65_536_000), copy::BASELINE),
        "random" => (random(gap), copy::BASELINE),
        "sparse" => (random(Gap::from(Cycles(50))), copy::BASELINE),
        "pages" => (pages(CopyBy::Operation, Pairs::Neighbors, 65_536_000), copy::BASELINE),
        "psm" => (pages(CopyBy::Operation, Pairs::Placed(Place::OtherBank), 0x4000_0000), copy::PSM_ONLY),
        "psm2" => (pages(CopyBy::Operation, Pairs::Placed(Place::SameBank), 0x4000_0000), copy::PSM_ONLY),
        "fpm" => (pages(CopyBy::Operation, Pairs::Placed(Place::SameSubarray), 0x4000_0000), copy::FPM_ONLY),
        other => panic!("{other}"),
    };
    let is_checked = std::env::var("CHECK").is_ok();
    let outcome = Experiment {
        system: &system,
        policy,
        workload: Workload::Made { settings, allocator: None },
        seed: 1,
        warm_up: Cycles(0),
        epoch: None,
        is_checked,
    }
    .run()
    .unwrap();
    std::hint::black_box(&outcome);
    if args.len() > 4 {
        println!("{outcome:?}");
    }
}
