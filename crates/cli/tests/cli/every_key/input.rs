//! The files that the cases start from.

use trace_io::recording::{
    Detail, Event, MapFlags, MemoryAccess, Metadata, ObjectAddress, RecordingWriter, Routine, Word,
};

/// A small memory. What a case needs beside it, its fixture sets.
const SYSTEM: &str = r"[device]
bin = '1066G'
density_gb = 2
width = 8
currents = 'set.toml'
copy_activations = 'counted'
precharge_power_down = 'fast-exit'
[geometry]
channels = 2
ranks = 2
row_bytes = 4096
rows_per_subarray = 128
[refresh]
enabled = true
t_refi_ps = 7_800_000
postpone_max = 0
[address_map]
preset = 'row-interleaved'
";

/// A scenario without anything to do.
pub(super) const SCENARIO: &str = r"system = 'system.toml'
policies = ['rowclone']
seed = 1
";

/// A current set. No two of its currents are equal.
pub(super) const CURRENTS: &str = r"name = 'set'
bin = '1600K'
density_gb = 2
width = 8
vdd_v = 1.5
vpp_v = 2.5
idd0_ma = 70.0
ipp0_ma = 4.5
idd2p0_ma = 12.0
idd2p1_ma = 37.0
idd2n_ma = 43.0
idd3p_ma = 50.0
idd3n_ma = 55.0
ipp3n_ma = 3.0
idd4r_ma = 156.0
idd4w_ma = 145.0
idd5b_ma = 195.0
ipp5b_ma = 28.0
idd6_ma = 13.0
ipp6_ma = 5.0
source = 'a datasheet'
note = 'at 85 C'
";

/// A machine with small caches, on a system of 1 GiB, whose frames are aged faster than those of the others.
const MACHINE: &str = r"system = 'small.toml'
[cores]
core_clocks = 6
memory_clocks = 1
order = 'out-of-order'
width = 3
window = 128
mshrs = 8
store_buffer = 32
[caches]
sharing = 'private'
last_level_bytes = '64KiB'
last_level_ways = 16
last_level_latency = 15
l1_bytes = '8KiB'
l1_ways = 8
l1_latency = 4
[kernel]
copy_loop = 'cached'
dirty_source = 'write-back'
coherence_cycles_per_line = 1
fault_cycles = 1_300
page_table_cycles = 80
word_bytes = 8
baseline_allocator = 'buddy'
";

/// A program with loads, stores, a fork, page faults, copies and zeroings.
fn program(compute: u64) -> String {
    let lines = |step: &str, stride: usize| {
        let steps = (0x10000..0x20000).step_by(stride).map(|address| format!("{step} {address:#x}"));
        steps.collect::<Vec<_>>().join("\n") + "\n"
    };
    let (loads, stores) = (lines("load", 192), lines("store", 448));
    let child = "store 0x12080\nstore 0x140c0\ncopy 0x22000 0x10000 8192\nzero 0x24000 4096\nload 0x24000\n";
    format!(
        "map 0x10000 131072\nfilled 0x10000 65536\nfork 2\nrun 2\ncompute {compute}\n{child}{loads}exit\nrun \
            1\n{loads}{stores}\
         copy 0x26000 0x10000 16384\n{loads}"
    )
}

/// A program with copies of several sizes from 16 pages to 16 others, with stores to them between, and loads of other
/// lines.
fn copies() -> String {
    let round = |round: u64| {
        let (page, other) = ((round * 7 % 16) * 4096, (round * 5 % 16) * 4096);
        let bytes = [4096, 1000, 200][round as usize % 3];
        let loads = (0..24).map(|line| format!("load {:#x}", 0x40000 + round * 4096 + line * 128));
        let loads = loads.collect::<Vec<_>>().join("\n");
        format!(
            "store {:#x}\ncopy {:#x} {:#x} {bytes}\n{loads}\nload {:#x}",
            0x10000 + page,
            0x20000 + other,
            0x10000 + page,
            0x20000 + other
        )
    };
    let rounds = (0..48).map(round).collect::<Vec<_>>().join("\n");
    format!("map 0x10000 131072\npresent 0x10000 131072\nmap 0x40000 262144\npresent 0x40000 262144\n{rounds}\n")
}

/// A program that begins two copies at a time, loads other lines, and waits.
fn begun() -> String {
    let round = |round: u64| {
        let [first, second] = [round * 7 % 16, (round * 7 + 5) % 16].map(|page| page * 4096);
        let loads = (0..8).map(|line| format!("load {:#x}", 0x40000 + round * 4096 + line * 128));
        let loads = loads.collect::<Vec<_>>().join("\n");
        format!(
            "store {:#x}\nbegin {:#x} {:#x} 4096\nbegin {:#x} {:#x} 1000\nissue\n{loads}\nwait\nload {:#x}",
            0x10000 + first,
            0x20000 + first,
            0x10000 + first,
            0x20000 + second,
            0x10000 + second,
            0x20000 + second,
        )
    };
    let rounds = (0..24).map(round).collect::<Vec<_>>().join("\n");
    format!("map 0x10000 131072\npresent 0x10000 131072\nmap 0x40000 131072\npresent 0x40000 131072\n{rounds}\n")
}

/// A program that awaits packets and sends some.
fn packets() -> String {
    let post = |page: u64| format!("post {:#x} {:#x}\n", 0x10000 + page * 4096, 0x10000 + page * 4096 + 128);
    let posted: String = (0..8).map(post).collect();
    // After the await of a round, the buffers with lower numbers hold packets.
    let rounds = (8..28).map(|page| {
        let received = 0x10000 + (page - 8) * 4096 + 128;
        format!("await\nload {received:#x}\n{}{}compute 300\n", post(page), "send 0 0x30000 1514\n".repeat(3))
    });
    let rounds: String = rounds.collect();
    format!(
        "map 0x10000 131072\npresent 0x10000 131072\nmap 0x30000 4096\npresent 0x30000 4096\n{posted}compute \
            1\n{rounds}"
    )
}

/// A program that sends two packets for each time that it finds packets.
fn answers() -> String {
    let post = |page: u64| format!("post {:#x} {:#x}\n", 0x10000 + page * 4096, 0x10000 + page * 4096 + 128);
    let posted: String = (0..64).map(post).collect();
    let rounds = "await\nsend 0 0x90000 300\nsend 0 0x90000 300\ncompute 300\n".repeat(64);
    format!(
        "map 0x10000 262144\npresent 0x10000 262144\nmap 0x90000 4096\npresent 0x90000 4096\n{posted}compute \
            1\n{rounds}"
    )
}

/// A recording of a program that calls `memcpy` for pages.
pub(super) fn calls() -> Vec<u8> {
    let anonymous = ObjectAddress { object: ObjectAddress::PROCESS, address: 0 };
    let flags = MapFlags { is_writable: true, is_shared: false };
    let map = Event::Map { flags, address: 0x10000, bytes: 0x20000, of: anonymous };
    let mut words = [Event::Create { process: 1 }.words(), map.words()].concat();
    for page in 0..8 {
        let (src, dst) = (0x10000 + page * 4096, 0x20000 + page * 4096);
        words.extend(Event::Call { routine: Routine::Copy { src }, dst, bytes: 4096 }.words());
        for offset in (0..4096).step_by(64) {
            let access = |is_store, address| MemoryAccess { is_store, address, log2_bytes: 6, instructions: 1 };
            let accesses = [access(false, src + offset), access(true, dst + offset)];
            words.extend(accesses.map(|access| Word::Access(access).bits()));
        }
        words.extend(Event::Return.words());
    }
    let metadata = Metadata { detail: Detail::Accesses, page_bytes: 4096, ..Metadata::default() };
    let mut writer = RecordingWriter::new(tempfile::tempfile().unwrap(), metadata, 0).unwrap();
    writer.block(1, 1, &words).unwrap();
    let mut recording = Vec::new();
    writer.finish(&mut recording).unwrap();
    recording
}

/// By name.
pub(super) fn files() -> [(&'static str, String); 18] {
    let reads = (0..200).map(|line| format!("R {:#x}", line * 64)).collect::<Vec<_>>().join("\n");
    // One record of 202 lies past the end of the memory: less than the 5 % that a run may leave out.
    let native = |src: &str| format!("{reads}\nCOPY 0x100000 {src} 4096\nR 0xffffffff000\n");
    let fault = |address: u64| {
        format!("sh 7 [000] 10.000000: exceptions:page_fault_user: address={address:#x} ip=0x1 error_code=0x6\n")
    };
    let small = SYSTEM.replace("density_gb = 2", "density_gb = 1").replace("width = 8", "width = 16");
    let small = small.replace("set.toml", "x16.toml").replace("ranks = 2", "ranks = 1");
    [
        ("system.toml", SYSTEM.to_owned()),
        ("small.toml", small.clone()),
        ("machine.toml", MACHINE.to_owned()),
        ("slow-machine.toml", MACHINE.replace("small.toml", "slow.toml")),
        ("slow.toml", small.replace("1066G", "800D")),
        ("cores.program", program(100)),
        ("other.program", program(200)),
        ("copies.program", copies()),
        ("begun.program", begun()),
        ("packets.program", packets()),
        ("answers.program", answers()),
        ("closed.toml", format!("{SYSTEM}[controller]\nrow_policy = 'closed'\n")),
        ("set.toml", CURRENTS.to_owned()),
        ("x16.toml", CURRENTS.replace("width = 8", "width = 16")),
        ("native.trace", native("0x110000")),
        ("other.trace", native("0x120000")),
        ("faults.perf", [0x1000, 0x2000].map(fault).concat()),
        ("rc.trace", "R 0 0 12\nC 100000 110000 4096 1349\nR f0afc0 0 50\n".repeat(3)),
    ]
}
