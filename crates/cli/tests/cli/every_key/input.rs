//! The files that the cases start from.

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
idd0_ma = 70.0
idd2p0_ma = 12.0
idd2p1_ma = 37.0
idd2n_ma = 43.0
idd3p_ma = 50.0
idd3n_ma = 55.0
idd4r_ma = 156.0
idd4w_ma = 145.0
idd5b_ma = 195.0
idd6_ma = 13.0
source = 'a datasheet'
note = 'at 85 C'
";

/// By name.
pub(super) fn files() -> [(&'static str, String); 7] {
    let reads = (0..200).map(|line| format!("R {:#x}", line * 64)).collect::<Vec<_>>().join("\n");
    // One record of 202 lies past the end of the memory: less than the 1 % that a run may leave out.
    let native = |src: &str| format!("{reads}\nCOPY 0x100000 {src} 4096\nR 0xffffffff000\n");
    [
        ("system.toml", SYSTEM.to_owned()),
        ("closed.toml", format!("{SYSTEM}[controller]\nrow_policy = 'closed'\n")),
        ("set.toml", CURRENTS.to_owned()),
        ("x16.toml", CURRENTS.replace("width = 8", "width = 16")),
        ("native.trace", native("0x110000")),
        ("other.trace", native("0x120000")),
        ("rc.trace", "R 0 0 12\nC 100000 110000 4096 1349\nR f0afc0 0 50\n".repeat(3)),
    ]
}
