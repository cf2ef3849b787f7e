//! Each key with two values, and what follows from the second in the place of the first.

/// A scenario on which some keys have an effect.
pub(super) struct Fixture {
    pub(super) name: &'static str,
    /// What the scenario does.
    pub(super) body: &'static str,
    /// Keys that no case changes here.
    pub(super) set: &'static [(&'static str, &'static str)],
    pub(super) cases: &'static [Case<'static>],
}

/// A key and its two values.
pub(super) struct Case<'a> {
    /// As `--set` takes it.
    pub(super) key: &'static str,
    /// TOML, as is `changed`.
    pub(super) base: &'static str,
    pub(super) changed: &'a str,
    pub(super) effect: Effect,
}

/// What the second value of a key changes in the result.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// Figures.
    Figures,
    /// This field, which repeats the key, and nothing else.
    Field(&'static str),
    /// There is no result: the run is refused with this message.
    Refused(&'static str),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

use Effect::{Field, Figures, Nothing, Refused};

/// A key whose second value changes figures.
const fn figures(key: &'static str, base: &'static str, changed: &'static str) -> Case<'static> {
    Case { key, base, changed, effect: Figures }
}

/// A key whose second value does not fit the rest of the input.
const fn refused(key: &'static str, base: &'static str, changed: &'static str, message: &'static str) -> Case<'static> {
    Case { key, base, changed, effect: Refused(message) }
}

/// Of a machine of 512 MiB, whose frames are aged faster than those of the others.
const SMALL: &[(&str, &str)] =
    &[("system.device.density_gb", "1"), ("system.device.width", "16"), ("system.device.currents", "'x16.toml'")];

/// Latencies and units of three classes.
const CLASSES: &str = "[{ class = 'integer', units = 1, interval = 2 }, { class = 'load', units = 1, latency = 3 }, \
                       { class = 'store', units_of = 'integer' }]";

/// Copies on a core.
const COPIES: &str = "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['copies.program']\n";

/// DDR4-3200.
const DDR4: &[(&str, &str)] = &[
    ("system.device.bin", "'DDR4-3200AA'"),
    ("system.device.currents", "'none'"),
    ("system.device.density_gb", "8"),
    ("system.geometry.row_bytes", "8192"),
    ("system.address_map.preset", "'group-interleaved'"),
];

/// DDR5-4800.
const DDR5: &[(&str, &str)] = &[
    ("system.device.bin", "'DDR5-4800B'"),
    ("system.device.currents", "'none'"),
    ("system.device.density_gb", "8"),
    ("system.refresh.t_refi_ps", "3_900_000"),
];

/// A page-mode memory of one channel.
const PAGE_MODE: &[(&str, &str)] = &[
    ("policies", "['baseline']"),
    ("system.device.bin", "'page-mode'"),
    ("system.device.currents", "'none'"),
    ("system.geometry.channels", "1"),
    ("system.geometry.ranks", "1"),
    ("system.geometry.row_bytes", "8192"),
    ("system.refresh.enabled", "false"),
    ("system.page_mode.bus_mhz", "66"),
    ("system.page_mode.bus_bytes", "8"),
    ("system.page_mode.row_bytes", "8192"),
    ("system.page_mode.read_hit", "4"),
    ("system.page_mode.read_miss", "9"),
    ("system.page_mode.read_next", "2"),
    ("system.page_mode.post_first", "3"),
    ("system.page_mode.post_next", "1"),
    ("system.page_mode.write_miss", "7"),
    ("system.page_mode.write_next", "2"),
    ("system.page_mode.write_queue", "4"),
    ("system.page_mode.write_hit", "2"),
];

const MIXED: &str =
    "[workload]\nkind = 'mixed'\ncount = 600\nbytes = 0x0010_0000\nwrite_share = 0.4\ncopy_share = 0.05\n";

/// Long pauses between few requests.
pub(super) const SLEEPING: &str = r"
[workload]
kind = 'mixed'
count = 30
bytes = 0x0010_0000
write_share = 0.4
copy_share = 0.1
gap_cycles = 2000
";

/// A page copied in row 32 of bank 0.
const COPY: &str = "[[operation]]\nkind = 'copy'\nsrc = 'same-subarray'\ndst = 0x0040_0000\nbytes = 4096\n";

const OPERATIONS: &str = r"
[[operation]]
kind = 'copy'
[[operation]]
dst = 0x0080_0040
bytes = 128
[[operation]]
kind = 'init'
dst = 0x0080_0000
bytes = 4096
";

const MAP: &str = "{ xor = [{ field = 'bank', bit = 0, address_bits = [18] }] }";

/// A map under which consecutive rows of a bank lie in one subarray.
const ROWS_ON_TOP: &str = "{ fields = ['row', 'rank', 'bank', 'channel', 'column', 'offset'] }";

pub(super) const FIXTURES: &[Fixture] = &[
    Fixture {
        name: "load",
        body: MIXED,
        set: &[],
        cases: &[
            figures("system", "'system.toml'", "'closed.toml'"),
            figures("policies", "['rowclone']", "['baseline']"),
            figures("seed", "1", "2"),
            figures("warm_up_cycles", "0", "1000"),
            figures("epoch_cycles", "100_000", "1000"),
            figures("system.device.bin", "'1066G'", "'1600K'"),
            figures("system.device.density_gb", "2", "4"),
            figures("system.device.currents", "'set.toml'", "'2 Gb x8 -25E'"),
            figures("system.device.background_rho", "1", "0.5"),
            figures("system.geometry.channels", "2", "1"),
            figures("system.geometry.ranks", "2", "1"),
            figures("system.geometry.row_bytes", "4096", "8192"),
            figures("system.refresh.enabled", "true", "false"),
            figures("system.refresh.t_refi_ps", "1_950_000", "3_900_000"),
            figures("system.refresh.postpone_max", "0", "8"),
            figures("system.address_map.preset", "'row-interleaved'", "'line-interleaved'"),
        ],
    },
    Fixture {
        name: "timings",
        body: MIXED,
        set: &[],
        cases: &[
            figures("system.device.timings.CL", "8", "9"),
            figures("system.device.timings.CWL", "6", "7"),
            figures("system.device.timings.tRCD", "8", "'16.9ns'"),
            figures("system.device.timings.tRP", "7", "8"),
            figures("system.device.timings.tRAS", "15", "20"),
            figures("system.device.timings.tRC", "28", "60"),
            figures("system.device.timings.tRRD", "4", "30"),
            figures("system.device.timings.tFAW", "20", "90"),
            figures("system.device.timings.tCCD", "4", "6"),
            figures("system.device.timings.tWR", "8", "20"),
            figures("system.device.timings.tWTR", "4", "20"),
            figures("system.device.timings.tRTP", "4", "40"),
            figures("system.device.timings.tRFC", "86", "'300ns'"),
        ],
    },
    Fixture {
        name: "timings of bank groups",
        body: MIXED,
        set: DDR4,
        cases: &[
            figures("system.device.timings.tCCD_L", "8", "20"),
            figures("system.device.timings.tCCD_L_WR", "8", "20"),
            figures("system.device.timings.tRRD_L", "8", "40"),
            figures("system.device.timings.tWTR_L", "12", "40"),
            figures("system.device.timings.tWPRE", "1", "2"),
            figures("system.refresh.mode", "'1x'", "'4x'"),
        ],
    },
    Fixture {
        name: "commands of two cycles",
        body: MIXED,
        set: DDR5,
        cases: &[figures("system.device.reference_cycle", "'second'", "'first'")],
    },
    Fixture {
        name: "contradicting timings",
        body: MIXED,
        set: &[("system.device.timings.tRC", "27")],
        cases: &[refused("system.device.custom_timings", "true", "false", "must be at least tRAS + tRP, 28")],
    },
    Fixture {
        name: "timings of power-down",
        body: SLEEPING,
        set: &[
            ("system.device.precharge_power_down", "'slow-exit'"),
            ("system.controller.power_down_after_cycles", "20"),
        ],
        cases: &[
            figures("system.device.timings.tXP", "4", "10"),
            figures("system.device.timings.tXPDLL", "13", "40"),
            figures("system.device.timings.tCKE", "3", "200"),
        ],
    },
    Fixture {
        name: "width",
        body: MIXED,
        set: &[("system.device.currents", "'set.toml'")],
        cases: &[figures("system.device.width", "8", "16")],
    },
    Fixture {
        name: "activations",
        body: r"
[[operation]]
kind = 'init'
dst = 0x0040_0000
bytes = 0x1_0000
value = 0
[[operation]]
kind = 'copy'
src = 0x00f0_0000
dst = 0x0100_0000
bytes = 4096
",
        set: &[("system.address_map", ROWS_ON_TOP)],
        cases: &[
            figures("system.device.copy_activations", "'counted'", "'free'"),
            // The copy is from row 120 to row 128.
            figures("system.geometry.rows_per_subarray", "512", "128"),
        ],
    },
    Fixture {
        name: "map",
        body: "[workload]\nkind = 'random'\ncount = 300\nbytes = 0x0100_0000\n",
        set: &[("system.geometry.ranks", "4"), ("system.address_map", MAP)],
        cases: &[
            figures(
                "system.address_map.fields",
                "['row', 'rank', 'bank', 'column', 'channel', 'offset']",
                "['row', 'bank', 'rank', 'channel', 'column', 'offset']",
            ),
            figures("system.address_map.xor.0.field", "'bank'", "'rank'"),
            figures("system.address_map.xor.0.bit", "0", "1"),
            figures("system.address_map.xor.0.address_bits", "[18]", "[19]"),
        ],
    },
    Fixture {
        name: "faulty",
        body: COPY,
        set: &[
            ("system.faulty_rows", "[{ channel = 0, rank = 0, bank = 0, row = 32 }]"),
            ("system.address_map", ROWS_ON_TOP),
        ],
        cases: &[
            figures("system.copy.mechanisms", "['fpm', 'psm', 'zero-rows']", "['psm', 'zero-rows']"),
            figures("system.faulty_rows.0.channel", "0", "1"),
            figures("system.faulty_rows.0.rank", "0", "1"),
            figures("system.faulty_rows.0.bank", "0", "3"),
            figures("system.faulty_rows.0.row", "32", "34"),
        ],
    },
    Fixture {
        name: "psm within a bank group",
        body: "[[operation]]\nkind = 'copy'\nsrc = 0x4000\ndst = 0x0040_0000\nbytes = 8192\n",
        set: &[
            ("system.device.bin", "'DDR4-3200AA'"),
            ("system.device.currents", "'none'"),
            ("system.device.density_gb", "8"),
            ("system.geometry.row_bytes", "8192"),
        ],
        cases: &[figures("system.copy.psm_within_group", "false", "true")],
    },
    Fixture {
        name: "queues",
        body: MIXED,
        set: &[("workload.write_share", "0.8")],
        cases: &[
            figures("system.controller.staging_lines", "64", "1"),
            figures("system.controller.scheduler", "'fr-fcfs'", "'fcfs'"),
            figures("system.controller.row_policy", "'open'", "'closed'"),
            figures("system.controller.read_entries", "64", "8"),
            figures("system.controller.admission_per_cycle", "1", "4"),
            figures("system.controller.write_entries", "64", "48"),
            figures("system.controller.copy_entries", "32", "1"),
            figures("system.controller.drain_high", "48", "24"),
            figures("system.controller.drain_low", "16", "4"),
            figures("system.controller.copy_hold_max_cycles", "1000", "100"),
        ],
    },
    Fixture {
        name: "limits",
        body: "[workload]\nkind = 'random'\ncount = 600\nbytes = 0x0002_0000\n",
        set: &[
            ("system.geometry.channels", "1"),
            ("system.geometry.ranks", "1"),
            ("system.controller.scheduler", "'fr-fcfs-cap'"),
            ("system.controller.row_policy", "'timeout'"),
        ],
        cases: &[
            figures("system.controller.scheduler_cap", "4", "1"),
            figures("system.controller.row_timeout_cycles", "200", "20"),
        ],
    },
    // The requests of a workload have one source, which a blacklist does not reorder.
    Fixture {
        name: "bliss",
        body: "[workload]\nkind = 'random'\ncount = 600\nbytes = 0x0002_0000\n",
        set: &[("system.controller.scheduler", "'bliss'")],
        cases: &[
            Case { key: "system.controller.bliss_threshold", base: "4", changed: "1", effect: Field("controller") },
            Case {
                key: "system.controller.bliss_clearing_cycles",
                base: "10_000",
                changed: "10",
                effect: Field("controller"),
            },
        ],
    },
    Fixture {
        name: "par-bs",
        body: "[workload]\nkind = 'random'\ncount = 600\nbytes = 0x0002_0000\n",
        set: &[("system.controller.scheduler", "'par-bs'")],
        cases: &[figures("system.controller.par_bs_marking_cap", "5", "1")],
    },
    // The requests of a workload have one source.
    Fixture {
        name: "atlas",
        body: "[workload]\nkind = 'random'\ncount = 600\nbytes = 0x0002_0000\n",
        set: &[
            ("system.geometry.channels", "1"),
            ("system.geometry.ranks", "1"),
            ("system.controller.scheduler", "'atlas'"),
        ],
        cases: &[
            figures("system.controller.atlas_threshold_cycles", "16_667", "200"),
            Case {
                key: "system.controller.atlas_quantum_cycles",
                base: "1_666_667",
                changed: "100",
                effect: Field("controller"),
            },
            Case { key: "system.controller.atlas_bias", base: "875", changed: "0", effect: Field("controller") },
        ],
    },
    // A workload without cores has no devices, which alone have a share.
    Fixture {
        name: "cpu-first",
        body: "[workload]\nkind = 'random'\ncount = 600\nbytes = 0x0002_0000\n",
        set: &[("system.controller.scheduler", "'cpu-first'")],
        cases: &[Case {
            key: "system.controller.cpu_first_share",
            base: "25",
            changed: "50",
            effect: Field("controller"),
        }],
    },
    Fixture {
        name: "postponed refresh",
        body: SLEEPING,
        set: &[("system.refresh.postpone_max", "8")],
        cases: &[figures("system.controller.refresh_idle_cycles", "50", "5000")],
    },
    Fixture {
        name: "sleep",
        body: SLEEPING,
        set: &[],
        cases: &[
            figures("system.device.precharge_power_down", "'fast-exit'", "'slow-exit'"),
            figures("system.controller.power_down_after_cycles", "100", "200"),
            figures("system.controller.self_refresh_after_cycles", "1000", "1500"),
        ],
    },
    Fixture {
        name: "operations",
        body: OPERATIONS,
        set: &[],
        cases: &[
            figures("operation.0.src", "'same-subarray'", "'other-bank'"),
            figures("operation.0.dst", "0x0040_0000", "0x0040_0040"),
            figures("operation.0.bytes", "4096", "4095"),
            figures("operation.1.kind", "'read'", "'write'"),
            // Zeros are copied from a row that holds them; another value is written once first.
            figures("operation.2.value", "0", "255"),
            figures("operation.2.at_cycle", "1000", "1001"),
        ],
    },
    Fixture {
        name: "mixed",
        body: MIXED,
        set: &[],
        cases: &[
            figures("workload.count", "600", "601"),
            figures("workload.start", "0", "0x1000"),
            figures("workload.bytes", "0x0010_0000", "0x0020_0000"),
            figures("workload.write_share", "0.4", "0.3"),
            figures("workload.copy_share", "0.05", "0.04"),
            figures("workload.zero_share", "0.05", "0.04"),
            figures("workload.page_bytes", "4096", "2048"),
            figures("workload.pairs", "'random'", "'same-bank'"),
            figures("workload.gap_cycles", "0", "100"),
        ],
    },
    Fixture { name: "mixed in ns", body: MIXED, set: &[], cases: &[figures("workload.gap_ns", "20", "20.5")] },
    Fixture {
        name: "stream",
        body: "[workload]\nkind = 'stream'\ncount = 300\n",
        set: &[],
        cases: &[figures("workload.stride_bytes", "64", "128"), figures("workload.pattern", "'r'", "'rrw'")],
    },
    Fixture {
        name: "stream to a destination",
        body: "[workload]\nkind = 'stream'\ncount = 300\n",
        set: &[],
        cases: &[figures("workload.dst", "0x0010_0000", "0x0010_0040")],
    },
    Fixture {
        name: "page copies",
        body: "[workload]\ncount = 30\nbytes = 0x1_0000\n",
        set: &[],
        cases: &[figures("workload.kind", "'random'", "'page-copies'")],
    },
    Fixture {
        name: "copies by lines",
        body: "[workload]\nkind = 'page-copies'\ncount = 30\nbytes = 0x1_0000\n",
        set: &[],
        cases: &[figures("workload.by", "'operation'", "'lines'")],
    },
    Fixture {
        name: "fork",
        body: "[workload]\nkind = 'fork'\nbytes = 0x10_0000\n",
        set: SMALL,
        cases: &[
            figures("workload.pages", "8", "9"),
            figures("workload.fill", "'before'", "'played'"),
            figures("allocator.policies", "['buddy']", "['subarray-aware']"),
            figures("reference.allocator", "'buddy'", "'subarray-aware'"),
            figures("allocator.utilization", "0.5", "0.6"),
            figures("allocator.fragmentation", "0.5", "0.4"),
        ],
    },
    Fixture {
        name: "checkpoint",
        body: "[workload]\nkind = 'checkpoint'\nbytes = 0x1_0000\n[allocator]\npolicies = ['buddy']\n",
        set: SMALL,
        cases: &[
            figures("workload.checkpoints", "1", "2"),
            figures("workload.writes", "4", "8"),
            figures("workload.window", "1", "2"),
        ],
    },
    Fixture {
        name: "clone",
        body: "[workload]\nkind = 'clone'\nbytes = 0x1_0000\n[allocator]\npolicies = ['buddy']\n",
        set: SMALL,
        cases: &[figures("workload.clones", "1", "2")],
    },
    Fixture {
        name: "zero on free",
        body: "[workload]\nkind = 'zero-on-free'\nbytes = 0x1_0000\n[allocator]\npolicies = ['buddy']\n",
        set: SMALL,
        cases: &[figures("workload.processes", "1", "2")],
    },
    // Two frames share a row of 8 KB.
    Fixture {
        name: "fork with shared rows",
        body: "[workload]\nkind = 'fork'\nbytes = 0x10_0000\npages = 8\n[allocator]\npolicies = ['subarray-aware']\n",
        set: &[
            ("system.device.density_gb", "1"),
            ("system.device.width", "16"),
            ("system.device.currents", "'x16.toml'"),
            ("system.geometry.row_bytes", "8192"),
        ],
        cases: &[figures("allocator.copy_unit", "'page'", "'row-set'")],
    },
    Fixture {
        name: "migration",
        body: "[workload]\nkind = 'migration'\nbytes = 0x10_0000\npages = 20\n[allocator]\npolicies = \
            ['subarray-aware']\n",
        set: SMALL,
        cases: &[figures("workload.to", "'near-source'", "'anywhere'")],
    },
    Fixture {
        name: "native trace",
        body: "[workload]\nkind = 'trace'\n[allocator]\npolicies = ['buddy']\n",
        set: SMALL,
        cases: &[
            figures("workload.file", "'native.trace'", "'other.trace'"),
            figures("workload.timing", "'recorded'", "'back-to-back'"),
            refused("workload.unusable_records", "'skip'", "'refuse'", "reaches past the end of the usable memory"),
            figures("workload.placement", "['as-recorded', 'allocator']", "['allocator']"),
        ],
    },
    Fixture {
        name: "perf trace",
        body: "[workload]\nkind = 'trace'\nfile = 'faults.perf'\n[allocator]\npolicies = ['buddy']\n",
        set: &[],
        cases: &[figures("workload.fault_time", "0", "'2us'")],
    },
    Fixture {
        name: "rc trace",
        body: "[workload]\nkind = 'trace'\nfile = 'rc.trace'\n",
        set: &[],
        cases: &[
            refused("workload.format", "'rc'", "'cpu'", "this is a record of another format"),
            figures("workload.instructions_per_clock", "4.0", "2.0"),
        ],
    },
    Fixture {
        name: "rc trace in a closed loop",
        body: "[workload]\nkind = 'trace'\nfile = 'rc.trace'\ntiming = 'window'\n",
        set: &[],
        cases: &[figures("workload.window", "16", "1")],
    },
    Fixture {
        name: "cores",
        body: "[workload]\nkind = 'programs'\nwarm_up_instructions = 0\n",
        set: &[("policies", "['baseline', 'rowclone-zi']")],
        cases: &[
            figures("machine", "'machine.toml'", "'slow-machine.toml'"),
            figures("workload.files", "['cores.program', 'cores.program']", "['cores.program', 'other.program']"),
            figures("workload.warm_up_instructions", "0", "150"),
            figures("workload.region_instructions", "1300", "1200"),
            figures("machine.cores.core_clocks", "6", "4"),
            figures("machine.cores.memory_clocks", "1", "2"),
            figures("machine.cores.order", "'out-of-order'", "'in-order'"),
            figures("machine.cores.width", "3", "2"),
            figures("machine.cores.window", "128", "16"),
            figures("machine.cores.mshrs", "8", "1"),
            figures("machine.cores.store_buffer", "32", "1"),
            figures("machine.caches.sharing", "'private'", "'shared'"),
            figures("machine.caches.last_level_bytes", "65536", "131072"),
            figures("machine.caches.last_level_ways", "16", "4"),
            figures("machine.caches.last_level_latency", "15", "30"),
            figures("machine.caches.l1_bytes", "8192", "4096"),
            figures("machine.caches.l1_ways", "8", "2"),
            figures("machine.caches.l1_latency", "4", "900"),
            figures("machine.caches.write", "'write-back'", "'write-through'"),
            figures("machine.kernel.copy_loop", "'cached'", "'non-temporal'"),
            figures("machine.kernel.dirty_source", "'write-back'", "'copy-in-cache'"),
            figures("machine.kernel.coherence_cycles_per_line", "1", "10"),
            figures("machine.kernel.fault_cycles", "1300", "5000"),
            figures("machine.kernel.page_table_cycles", "80", "800"),
            figures("machine.kernel.page_table_entry_bytes", "8", "0"),
            figures("machine.kernel.page_descriptor_bytes", "64", "0"),
            figures("machine.kernel.word_bytes", "8", "64"),
            figures("machine.kernel.baseline_allocator", "'buddy'", "'random'"),
        ],
    },
    Fixture {
        name: "cores with other caches",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['cores.program', 'cores.program', \
            'cores.program']\n",
        set: &[("policies", "['baseline', 'rowclone-zi']"), ("machine.caches.sharing", "'shared'")],
        cases: &[
            figures("machine.caches.line_bytes", "64", "128"),
            figures("machine.caches.sharing_cores", "2", "3"),
            figures("machine.caches.l1_store_miss", "'allocate'", "'no-allocate'"),
            figures("machine.caches.l1_prefetcher", "'none'", "'next-line'"),
            figures("machine.caches.l2_bytes", "16384", "32768"),
            figures("machine.caches.l2_ways", "8", "2"),
            figures("machine.caches.l2_latency", "9", "900"),
            figures("machine.caches.l2_store_miss", "'allocate'", "'no-allocate'"),
            figures("machine.caches.l2_prefetcher", "'none'", "'next-line'"),
            figures("machine.caches.last_level_store_miss", "'allocate'", "'no-allocate'"),
            figures("machine.caches.last_level_prefetcher", "'next-line'", "'stride'"),
            refused("machine.caches.write", "'write-through'", "'write-back'", "no store uses it"),
            figures("machine.caches.write_buffer", "8", "1"),
            figures("machine.caches.write_merging", "'line'", "'none'"),
            figures("machine.caches.prefetch_degree", "1", "4"),
            figures("machine.caches.prefetch_distance", "1", "3"),
            figures("machine.caches.prefetch_mshrs", "4", "1"),
        ],
    },
    Fixture {
        name: "classes of instructions",
        body: "[workload]\nkind = 'programs'\nfiles = ['cores.program']\n",
        set: &[
            ("machine", "'machine.toml'"),
            ("machine.cores.order", "'in-order'"),
            ("machine.cores.classes", CLASSES),
        ],
        cases: &[
            figures("machine.cores.load_store_queue", "64", "1"),
            figures("machine.cores.pairing", "['integer', 'load', 'store']", "['integer']"),
            figures("machine.cores.classes.1.class", "'load'", "'float-load'"),
            figures("machine.cores.classes.0.units", "1", "2"),
            figures("machine.cores.classes.0.interval", "2", "3"),
            figures("machine.cores.classes.1.latency", "3", "4"),
            figures("machine.cores.classes.2.units_of", "'integer'", "'load'"),
        ],
    },
    Fixture {
        name: "copies on a core",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'memcopy'\nbytes = 16384\n",
        set: &[],
        cases: &[
            figures("workload.dirty_share", "0.0", "0.5"),
            figures("copiers", "'loop-cached'", "['loop-no-fetch']"),
            figures("workload.source", "'cold'", "'warm'"),
            figures("workload.read_share", "0.0", "0.5"),
            figures("workload.working_set_bytes", "0", "65536"),
        ],
    },
    Fixture {
        name: "copies beside a working set",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'memcopy'\nbytes = 16384\nworking_set_bytes = 65536\n",
        set: &[],
        cases: &[
            figures("workload.read_again", "'no'", "'forward'"),
            figures("workload.operation", "'copy'", "'zero'"),
        ],
    },
    Fixture {
        name: "a recording",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['calls.rct']\n",
        set: &[],
        cases: &[figures("workload.copies", "'kernel'", "'all'")],
    },
    Fixture {
        name: "string instructions",
        body: COPIES,
        set: &[("policies", "['baseline']"), ("machine.kernel.copy_loop", "'fast-string'")],
        cases: &[
            figures("machine.kernel.string_start_cycles", "12", "30"),
            figures("machine.kernel.fast_string_start_cycles", "72", "35"),
            figures("machine.kernel.fast_string_min_bytes", "128", "256"),
            figures("machine.kernel.fast_string_bytes", "8", "32"),
            figures("machine.kernel.fast_string_stores", "'no-fetch'", "'fetch'"),
        ],
    },
    Fixture {
        name: "a loop of integer registers",
        body: COPIES,
        set: &[("policies", "['baseline']"), ("machine.kernel.copy_loop", "'integer'")],
        cases: &[
            figures("machine.kernel.unroll_bytes", "64", "256"),
            figures("machine.kernel.touch_bytes", "64", "0"),
            figures("machine.kernel.loop_min_bytes", "64", "512"),
        ],
    },
    Fixture {
        name: "a loop of SIMD registers",
        body: COPIES,
        set: &[("policies", "['baseline']"), ("machine.kernel.copy_loop", "'simd-block'")],
        cases: &[
            figures("machine.kernel.block_bytes", "1792", "512"),
            figures("machine.kernel.block_step_bytes", "256", "128"),
            figures("machine.kernel.simd_bytes", "16", "32"),
        ],
    },
    Fixture {
        name: "a page-mode memory",
        body: COPIES,
        set: PAGE_MODE,
        cases: &[
            figures("system.page_mode.bus_mhz", "66", "33"),
            figures("system.page_mode.bus_bytes", "8", "4"),
            figures("system.page_mode.row_bytes", "8192", "1024"),
            figures("system.page_mode.read_hit", "4", "5"),
            figures("system.page_mode.read_miss", "9", "10"),
            figures("system.page_mode.read_next", "2", "3"),
            figures("system.page_mode.post_first", "3", "9"),
            figures("system.page_mode.post_next", "1", "9"),
            figures("system.page_mode.write_miss", "7", "9"),
            figures("system.page_mode.write_next", "2", "3"),
            figures("system.page_mode.write_queue", "4", "1"),
        ],
    },
    // Zeroes that do not enter the cache are written to one row after another.
    Fixture {
        name: "writes to a page-mode memory",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'memcopy'\noperation = 'zero'\nbytes = 16384\n",
        set: PAGE_MODE,
        cases: &[
            figures("machine.kernel.copy_loop", "'non-temporal'", "'cached'"),
            figures("system.page_mode.write_hit", "2", "5"),
        ],
    },
    Fixture {
        name: "a copy engine",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['copies.program', 'copies.program']\n",
        set: &[("policies", "['copy-engine-async']")],
        cases: &[
            figures("machine.interconnect.clock", "3", "6"),
            figures("machine.interconnect.bytes_per_clock", "16", "8"),
            figures("machine.interconnect.address_clocks", "1", "3"),
            figures("machine.interconnect.request_latency", "0", "20"),
            figures("machine.interconnect.response_latency", "0", "20"),
            figures("machine.interconnect.snoop_latency", "0", "200"),
            figures("machine.copy_engine.queue", "8", "1"),
            figures("machine.copy_engine.buffer_lines", "16", "2"),
            figures("machine.copy_engine.pending_copies", "8", "1"),
            figures("machine.copy_engine.tlb_entries", "64", "1"),
            figures("machine.copy_engine.tlb_miss_cycles", "30", "300"),
            figures("machine.copy_engine.share", "25", "100"),
            figures("machine.kernel.copier_min_bytes", "0", "1024"),
        ],
    },
    Fixture {
        name: "a DMA engine",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['begun.program', 'begun.program']\n",
        set: &[("policies", "['dma']")],
        cases: &[
            figures("machine.dma.channels", "4", "1"),
            figures("machine.dma.ring", "128", "1"),
            figures("machine.dma.buffer_lines", "16", "2"),
            figures("machine.dma.setup_cycles", "400", "300"),
            figures("machine.dma.descriptor_cycles", "60", "90"),
            figures("machine.dma.doorbell_cycles", "500", "300"),
            figures("machine.dma.doorbell_descriptors", "2", "1"),
            figures("machine.dma.completion", "'polling'", "'interrupt'"),
            figures("machine.dma.poll_cycles", "100", "190"),
            figures("machine.dma.pinned_pages", "8", "1024"),
            figures("machine.dma.pin_cycles", "200", "100"),
            figures("machine.dma.unpin_cycles", "100", "50"),
            Case {
                key: "machine.dma.timeout_cycles",
                base: "1000000",
                changed: "10",
                effect: Refused("was never completed"),
            },
        ],
    },
    Fixture {
        name: "interrupts of a DMA engine",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['begun.program']\n",
        set: &[("policies", "['dma-rowclone']"), ("machine.dma.completion", "'interrupt'")],
        cases: &[figures("machine.dma.interrupt_cycles", "2000", "3000")],
    },
    Fixture {
        name: "a network adapter",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['packets.program', \
            'packets.program']\n",
        set: &[],
        cases: &[
            figures("machine.network.ports", "1", "2"),
            figures("machine.network.cycles_per_1000_bytes", "2000", "3000"),
            figures("machine.network.frame_bytes", "24", "100"),
            figures("machine.network.header_bytes", "66", "128"),
            figures("machine.network.payload_bytes", "1448", "512"),
            figures("machine.network.packets", "60", "40"),
            figures("machine.network.connections", "4", "3"),
            figures("machine.network.burst", "8", "2"),
            Case { key: "machine.network.queues", base: "2", changed: "1", effect: Refused("the program of core 1") },
            figures("machine.network.spread", "'connections'", "'ports'"),
            Case { key: "machine.network.ring", base: "4096", changed: "4", effect: Refused("the program of core") },
            figures("machine.network.send_ring", "256", "1"),
            figures("machine.network.coalesced_packets", "6", "2"),
            figures("machine.network.coalesced_cycles", "12000", "3000"),
            figures("machine.network.interrupt_cycles", "2000", "3000"),
            Case {
                key: "machine.network.without_buffer",
                base: "'drop'",
                changed: "'wait'",
                effect: Refused("waits for packets that never arrive"),
            },
            figures("machine.network.inject", "'never'", "'always'"),
        ],
    },
    Fixture {
        name: "injected packets",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['packets.program', \
            'packets.program']\n",
        set: &[
            ("machine.network.queues", "2"),
            ("machine.network.spread", "'connections'"),
            ("machine.network.connections", "4"),
            ("machine.network.packets", "60"),
            ("machine.network.coalesced_packets", "1"),
            ("machine.network.cycles_per_1000_bytes", "20000"),
            ("machine.network.inject", "'always'"),
            ("machine.caches.sharing", "'shared'"),
        ],
        cases: &[
            figures("machine.network.inject_level", "'last-level'", "'l1'"),
            Case {
                key: "machine.network.inject_core",
                base: "0",
                changed: "2",
                effect: Refused("packets are injected into the caches of core 2"),
            },
        ],
    },
    Fixture {
        name: "packets injected by size",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['packets.program', \
            'packets.program']\n",
        set: &[
            ("machine.network.queues", "2"),
            ("machine.network.spread", "'connections'"),
            ("machine.network.connections", "4"),
            ("machine.network.packets", "60"),
            ("machine.network.coalesced_packets", "1"),
            ("machine.network.cycles_per_1000_bytes", "20000"),
            ("machine.network.inject", "'by-size'"),
        ],
        cases: &[figures("machine.network.inject_max_bytes", "4096", "0")],
    },
    Fixture {
        name: "packets injected into a share of the ways",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['packets.program', \
            'packets.program']\n",
        set: &[
            ("machine.network.queues", "2"),
            ("machine.network.spread", "'connections'"),
            ("machine.network.connections", "4"),
            ("machine.network.packets", "60"),
            ("machine.network.coalesced_packets", "1"),
            ("machine.network.cycles_per_1000_bytes", "20000"),
            ("machine.network.inject", "'bounded-ways'"),
        ],
        cases: &[figures("machine.network.inject_share", "100", "1")],
    },
    Fixture {
        name: "expected packets injected",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['packets.program', \
            'packets.program']\n",
        set: &[
            ("machine.network.queues", "2"),
            ("machine.network.spread", "'connections'"),
            ("machine.network.connections", "4"),
            ("machine.network.packets", "60"),
            ("machine.network.coalesced_packets", "1"),
            ("machine.network.cycles_per_1000_bytes", "20000"),
            ("machine.network.inject", "'when-expected'"),
        ],
        cases: &[figures("machine.network.inject_near_packets", "65536", "1")],
    },
    Fixture {
        name: "clients of a network adapter",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'programs'\nfiles = ['answers.program']\n",
        set: &[("machine.network.packets", "60"), ("machine.network.burst", "1")],
        cases: &[
            figures("machine.network.clients", "2", "4"),
            figures("machine.network.client_cycles", "10000", "20000"),
            figures("machine.network.answer_packets", "1", "2"),
        ],
    },
    // Two frames share the rows of two channels.
    Fixture {
        name: "programs with shared rows",
        body: "machine = 'machine.toml'\n[workload]\nkind = 'forkbench'\nbytes = 65536\npages = 8\n",
        set: &[("system.address_map.preset", "'line-interleaved'")],
        cases: &[figures("machine.kernel.copy_unit", "'page'", "'row-set'")],
    },
];

/// A key of a current set.
pub(super) struct Current {
    pub(super) name: &'static str,
    /// Its value in the place of that of `input::CURRENTS`, as TOML.
    pub(super) changed: &'static str,
    pub(super) effect: Effect,
    /// With which exits from precharge power-down it counts.
    pub(super) exits: &'static [&'static str],
}

const fn current(name: &'static str, changed: &'static str, effect: Effect) -> Current {
    Current { name, changed, effect, exits: &["'fast-exit'", "'slow-exit'"] }
}

pub(super) const CURRENTS: &[Current] = &[
    current("name", "'other'", Field("currents")),
    current("bin", "'1333H'", Figures),
    current("density_gb", "4", Figures),
    current("width", "16", Refused("a set of DDR3 x16 chips, but the system's are DDR3 x8")),
    current("vdd_v", "1.35", Figures),
    current("vpp_v", "2.6", Figures),
    current("idd0_ma", "71.0", Figures),
    current("ipp0_ma", "4.75", Figures),
    Current { exits: &["'slow-exit'"], ..current("idd2p0_ma", "12.5", Figures) },
    Current { exits: &["'fast-exit'"], ..current("idd2p1_ma", "37.5", Figures) },
    current("idd2n_ma", "43.5", Figures),
    current("idd3p0_ma", "9.0", Nothing("DDR3 has one exit from active power-down")),
    current("idd3p_ma", "50.5", Figures),
    current("idd3n_ma", "55.5", Figures),
    current("ipp3n_ma", "3.25", Figures),
    current("idd4r_ma", "156.5", Figures),
    current("idd4w_ma", "145.5", Figures),
    current("idd5b_ma", "195.5", Figures),
    current("idd5r_ma", "66.0", Refused("is given beside `idd5b_ma`")),
    current("idd5f_ma", "150.0", Nothing("the refresh mode is not one of fine granularity")),
    current("idd5c_ma", "100.0", Nothing("DDR3 has no REFsb")),
    current("ipp5b_ma", "28.5", Figures),
    current("ipp5r_ma", "5.0", Refused("is given beside `ipp5b_ma`")),
    current("idd6_ma", "13.5", Figures),
    current("ipp6_ma", "5.5", Figures),
    current("source", "'another datasheet'", Nothing("it says where the numbers are from")),
    current("note", "'at 95 C'", Nothing("it is a remark for the reader")),
];
