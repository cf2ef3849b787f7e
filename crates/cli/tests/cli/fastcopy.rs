//! `reproduce fastcopy`: what holds of copy loops on historical machines, and what is refused with a page-mode memory.

use serde_json::Value;

use crate::common::run;

/// The rates of a machine by size.
fn rates<'a>(table: &'a Value, machine: &str) -> impl Iterator<Item = (u64, [f64; 3])> + 'a {
    let machines = table["machines"].as_array().unwrap();
    let machine = machines.iter().find(|it| it["machine"] == machine).unwrap();
    machine["rates"].as_array().unwrap().iter().map(|rates| {
        let of = |at: usize| rates["mb_s"][at].as_f64().unwrap();
        (rates["bytes"].as_u64().unwrap(), [of(0), of(1), of(2)])
    })
}

#[test]
#[ignore = "seconds of CPU: `cargo xtask full` runs it"]
fn loops_have_the_published_order() {
    let few = ["reproduce", "fastcopy", "--bytes", "4096", "--largest", "16384", "--check", "--format", "json"];
    let (code, text, error) = run(&few);
    assert_eq!(code, 0, "{error}");
    let table: Value = serde_json::from_str(&text).unwrap();
    for (bytes, [libc, integer, float]) in rates(&table, "pentium-133") {
        if bytes > 4096 {
            assert!(libc < integer && integer < float, "{bytes}: {libc} {integer} {float}");
        }
        if bytes < 64 {
            assert!(libc.total_cmp(&integer).is_eq() && libc.total_cmp(&float).is_eq(), "{bytes}");
        }
    }
    for (bytes, [libc, _, float]) in rates(&table, "i486-100").filter(|(bytes, _)| *bytes > 4096) {
        assert!(float <= 1.05 * libc, "{bytes}: {libc} {float}");
    }
    let crossings: Vec<u64> =
        table["crossings"].as_array().unwrap().iter().filter_map(|it| it["bytes"].as_u64()).collect();
    assert!(crossings.len() == 4 && crossings.is_sorted_by(|left, right| left < right), "{crossings:?}");
}

#[test]
fn a_page_mode_memory_executes_no_copies_and_has_no_controller() {
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("copy.program");
    std::fs::write(&program, "map 0x10000 8192\npresent 0x10000 8192\ncopy 0x11000 0x10000 4096\n").unwrap();
    let program = program.to_str().unwrap();
    let with = |further: &[&str]| run(&[&["programs", program, "--machine", "pentium-133"], further].concat());
    let (code, _, error) = with(&["--policies", "rowclone"]);
    assert!(code != 0 && error.contains("the memory is a page-mode memory"), "{error}");
    assert!(error.contains("help: choose the policy `baseline` or `dma`"), "{error}");
    let file = |name: &str| format!("{}/../../traces/{name}", env!("CARGO_MANIFEST_DIR"));
    for name in ["page-copy.toml", "fork.toml"] {
        let sets = ["--system", "edo-60ns-430fx", "--set", "policies=['baseline']"];
        let (code, _, error) = run(&[&["run", &file(name)], &sets[..]].concat());
        assert!(code == 2 && error.contains("copies or zeroes in the memory controller"), "{error}");
    }
    let sets = ["--set", "machine='pentium-133'", "--set", "policies=['baseline', 'rowclone']"];
    let (code, _, error) = run(&[&["run", &file("memcopy-on-cores.toml")], &sets[..]].concat());
    assert!(code == 2 && error.contains("`policies.1`: the policy `rowclone` needs a memory controller"), "{error}");
    let (code, _, error) = run(&["explain", "rules", "--system", "edo-60ns-430fx"]);
    assert!(code == 2 && error.contains("a page-mode memory has no commands"), "{error}");
    let (code, text, error) = with(&["--policies", "baseline,dma", "--check"]);
    assert_eq!(code, 0, "{error}");
    assert!(text.contains("dma"), "{text}");
    for (set, message) in [
        ("system.controller.row_policy='closed'", "`controller` is given, but a page-mode memory has no controller"),
        ("system.copy.mechanisms=['fpm']", "`copy` is given"),
        ("system.device.currents='2 Gb x8 DDR2-400'", "`device.currents` is given"),
        ("system.refresh.enabled=true", "the refresh of a page-mode memory is not modeled"),
        ("system.geometry.ranks=2", "`geometry.ranks` is 2, but a page-mode memory has one array"),
        ("system.device.bin='DDR2-400B'", "`page_mode` is given, but `device.bin` is \"DDR2-400B\""),
        ("system.page_mode.read_miss=3", "`page_mode.read_miss` is 3"),
    ] {
        let (code, _, error) = with(&["--policies", "baseline", "--set", set]);
        assert!(code != 0 && error.contains(message), "{set}: {error}");
    }
    let sets = ["--set", "kernel.copy_loop=float-block", "--set", "kernel.block_bytes=100"];
    let (code, _, error) = with(&[&["--policies", "baseline"], &sets[..]].concat());
    assert!(code != 0 && error.contains("must be a multiple of 64") && error.contains("help: try `block_bytes = 128`"));
}
