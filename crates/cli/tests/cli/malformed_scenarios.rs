//! Everything that can be wrong with a scenario, and with what `--set` makes of it.

use std::fs;

use memctrl::policy::copy::FPM_ONLY;

use crate::common::Directory;

const TWO: &str = "[[operation]]\nkind = \"init\"\ndst = 0x0080_0000\nbytes = 4096\nvalue = 7\n";

/// The scenario with `from` replaced by `to`: the message and the help.
#[track_caller]
fn check(from: &str, to: &str, message: &str, help: &str) {
    let found = Directory::with(("", ""), (from, to)).scenario(&[]).map(|scenario| scenario.name).unwrap_err();
    assert_eq!((found.0.as_str(), found.1.as_str()), (message, help));
}

/// The sound scenario with one `--set`.
#[track_caller]
fn check_set(set: &str, message: &str, help: &str) {
    let found = Directory::sound().scenario(&[set]).map(|scenario| scenario.name).unwrap_err();
    assert_eq!((found.0.as_str(), found.1.as_str()), (format!("--set {set}: {message}").as_str(), help));
}

#[test]
fn keys_and_types() {
    check(
        "seed = 1",
        "sed = 1",
        "scenario.toml:3: `sed` is not a key",
        "did you mean `seed`? the keys are `system`, `machine`, `policies`, `copiers`, `seed`, `warm_up_cycles`, \
            `epoch_cycles`, `operation`, `workload`, `allocator`, `reference`",
    );
    check("seed = 1\n", "", "scenario.toml: `seed` is missing", "add for example `seed = 1`");
    check(
        "seed = 1",
        "seed = 99999999999999999999",
        "scenario.toml:3: `seed` is 99999999999999999999, but must be a whole number, 0 or more",
        "write for example `seed = 1`",
    );
    check(
        "bytes = 4096",
        "bytes = \"4k\"",
        "scenario.toml:8: `operation.0.bytes` is the string \"4k\", but must be a whole number of bytes, or a size \
            such as \"4KiB\"",
        "write for example `bytes = 4096`",
    );
    check(
        "bytes = 4096\n",
        "",
        "scenario.toml:4: `operation.0.bytes` is missing",
        "add for example `bytes = 4096` to `operation.0`",
    );
    check(
        "\"system.toml\"",
        "\"none.toml\"",
        "scenario.toml:1: `system` is \"none.toml\", but none.toml cannot be read: no such file",
        "paths are relative to the directory of the file that contains them",
    );
    check(
        "\"system.toml\"",
        "\"/dev\"",
        "scenario.toml:1: `system` is \"/dev\", but /dev cannot be read: it is a directory",
        "paths are relative to the directory of the file that contains them",
    );
}

#[test]
fn tables_and_lists() {
    let wanted = "`operation` is the string \"copy\", but must be a list";
    check_set("operation=copy", wanted, "write each of them as a table `[[operation]]`");
    check_set(
        "operation=[1]",
        "`operation.0` is 1, but must be a table",
        "write each of them as a table `[[operation]]`",
    );
    check_set(
        "policies=rowclone",
        "`policies` is the string \"rowclone\", but must be a list",
        "write for example `policies = [\"baseline\", \"rowclone\"]`",
    );
}

#[test]
fn policies() {
    check(
        "\"rowclone\"",
        "\"rowclon\"",
        "scenario.toml:2: `policies.1` is \"rowclon\", which is none of its values",
        "did you mean `rowclone`? the values are `baseline`, `fpm-only`, `psm-only`, `rowclone`, `lisa`, \
            `rowclone+lisa`, `fastest`, `least-energy`, `controller-copy`, `rowclone-zi`, `copy-engine-sync-nlb`, \
            `copy-engine-sync-wlb`, \
         `copy-engine-async`, `copy-engine-sync-nlb-rowclone`, `copy-engine-sync-wlb-rowclone`, \
         `copy-engine-async-rowclone`, `dma`, `dma-rowclone`",
    );
    check("\"rowclone\"", "\"baseline\"", "scenario.toml:2: `policies` lists \"baseline\" twice", "list each once");
    check(
        "[\"baseline\", \"rowclone\"]",
        "[]",
        "scenario.toml:2: `policies` is empty",
        "try `policies = [\"baseline\", \"rowclone\"]`",
    );
}

#[test]
fn earlier_names_of_policies() {
    for (old, new) in [("channel", "baseline"), ("fpm", "fpm-only"), ("psm", "psm-only"), ("rule", "rowclone")] {
        check(
            "\"rowclone\"",
            &format!("\"{old}\""),
            &format!("scenario.toml:2: `policies.1` is \"{old}\", an earlier name of \"{new}\""),
            &format!("write `\"{new}\"`"),
        );
        check_set(
            &format!("policies=[\"{old}\"]"),
            &format!("`policies.0` is \"{old}\", an earlier name of \"{new}\""),
            &format!("write `\"{new}\"`"),
        );
    }
}

#[test]
fn operations() {
    check(
        "kind = \"copy\"",
        "kind = \"move\"",
        "scenario.toml:5: `operation.0.kind` is \"move\", which is none of its values",
        "the values are `copy`, `zero`, `init`, `read`, `write`",
    );
    check(
        "\"same-subarray\"",
        "\"same-subaray\"",
        "scenario.toml:6: `operation.0.src` is \"same-subaray\", which is neither an address nor a placement",
        "did you mean `same-subarray`? the placements are `same-subarray`, `other-bank`, `same-bank`, `other-rank`, \
            `other-channel`",
    );
    check(
        "dst = 0x0040_0000",
        "dst = \"same-bank\"",
        "scenario.toml:7: `operation.0.dst` is the string \"same-bank\", but must be an address (a whole number, or a \
            string such as \"0x400000\" or \"4MiB\")",
        "write for example `dst = 0x0040_0000`",
    );
    check(
        "dst = 0x0040_0000",
        "dst = true",
        "scenario.toml:7: `operation.0.dst` is true, but must be an address (a whole number, or a string such as \
            \"0x400000\" or \"4MiB\")",
        "write for example `dst = 0x0040_0000`",
    );
    check(
        "kind = \"copy\"",
        "kind = \"zero\"",
        "scenario.toml:6: `operation.0.src` is given, but a `zero` has no `src`",
        "leave `src` out, or change `kind`",
    );
    check(
        "src = \"same-subarray\"\n",
        "",
        "scenario.toml:4: `operation.0.src` is missing, and a copy needs one",
        "add `src = \"same-subarray\"`, another placement, or an address to `operation.0`",
    );
    check(
        "src = \"same-subarray\"",
        "src = \"same-subarray\"\nvalue = 0",
        "scenario.toml:7: `operation.0.value` is given, but a `copy` has no `value`",
        "leave `value` out, or change `kind`",
    );
    check(
        "value = 7\n",
        "",
        "scenario.toml:9: `operation.1.value` is missing, and an init needs one",
        "add for example `value = 255` to `operation.1`",
    );
    check(
        "value = 7",
        "value = 256",
        "scenario.toml:13: `operation.1.value` is 256, but must be from 0 to 255",
        "try `value = 255`",
    );
    check(
        "bytes = 4096",
        "bytes = 0",
        "scenario.toml:8: `operation.0.bytes` is 0, but must be at least 1",
        "try `bytes = 1`",
    );
    check(
        "value = 7",
        "value = 7\nat_cycle = 9_007_199_254_740_993",
        "scenario.toml:14: `operation.1.at_cycle` is 9007199254740993, but must be from 0 to 1099511627776",
        "try `at_cycle = 1099511627776`",
    );
    let late = "kind = \"copy\"\nat_cycle = 10";
    let directory = Directory::with(("", ""), ("kind = \"copy\"", late));
    let (message, help) = directory.scenario(&["operation.1.at_cycle=9"]).map(|scenario| scenario.name).unwrap_err();
    assert_eq!(message, "--set operation.1.at_cycle=9: `operation.1.at_cycle` is 9, before operation 0 at cycle 10");
    assert_eq!(help, "list operations in the order of their cycles");
}

#[test]
fn places_that_the_memory_does_not_have() {
    check(
        "dst = 0x0040_0000",
        "dst = 0x1_0000_0000",
        "scenario.toml:7: `operation.0.dst`: `dst` = 0x100000000 with 4096 bytes reaches past the end of the usable \
            memory at 0xff7f0000",
        "the last address that fits is 0xff7ef000; the usable capacity is 4286513152 bytes",
    );
    check(
        "src = \"same-subarray\"",
        "src = 0xffff_ffff",
        "scenario.toml:6: `operation.0.src`: `src` = 0xffffffff with 4096 bytes reaches past the end of the usable \
            memory at 0xff7f0000",
        "the last address that fits is 0xff7ef000; the usable capacity is 4286513152 bytes",
    );
    check(
        "\"same-subarray\"",
        "\"other-rank\"",
        "scenario.toml:6: `operation.0.src`: no 4096 bytes lie `other-rank` to 0x400000",
        "give the system two ranks, or take another placement",
    );
    check(
        TWO,
        "[[operation]]\nkind = \"read\"\ndst = 0xffff_f000\nbytes = 4097\n",
        "scenario.toml:11: `operation.1.dst`: `dst` = 0xfffff000 with 4097 bytes reaches past the end of the usable \
            memory at 0xff7f0000",
        "the last address that fits is 0xff7eefff; the usable capacity is 4286513152 bytes",
    );
    // With whole rows on top, row 511 of bank 0, the zero row of subarray 0.
    let fields = "fields = [\"row\", \"rank\", \"bank\", \"channel\", \"column\", \"offset\"]";
    let directory = Directory::with(("preset = \"row-interleaved\"", fields), ("", ""));
    let (message, help) = directory.scenario(&["operation.1.dst=0x1ff0000"]).map(|it| it.name).unwrap_err();
    assert_eq!(
        message,
        "--set operation.1.dst=0x1ff0000: `operation.1.dst`: `dst` reaches 0x1ff0000, which lies in a reserved zero \
            row: channel 0 rank 0 bank 0 row 511 column 0"
    );
    assert!(
        help.starts_with("the last row of each subarray is its zero row: choose addresses in other rows"),
        "{help}"
    );
}

#[test]
fn workloads() {
    let all = crate::common::SCENARIO.split_once("[[operation]]").unwrap().1;
    let operations = format!("[[operation]]{all}");
    check(
        &operations,
        "",
        "scenario.toml: has neither `[[operation]]` nor `[workload]`",
        "add an `[[operation]]`, or a `[workload]`",
    );
    check(
        "seed = 1",
        "seed = 1\noperation = []",
        "scenario.toml:5: is not TOML: duplicate key",
        "https://toml.io shows how TOML is written; docs/input.md has the keys",
    );
    check(&operations, "operation = []", "scenario.toml:4: `operation` is empty", "add an `[[operation]]`");
    check(
        "value = 7",
        "value = 7\n[workload]\nkind = \"clone\"",
        "scenario.toml:14: has both `[workload]` and `[[operation]]`",
        "leave one of them out: a scenario has a workload, or a list of operations",
    );
    check(
        &operations,
        "[workload]\nfile = \"system.toml\"",
        "scenario.toml:4: `workload.kind` is missing",
        "add for example `kind = \"fork\"` to `workload`",
    );
    check_workload(
        "kind = \"forks\"",
        "scenario.toml:5: `workload.kind` is \"forks\", which is none of its values",
        "did you mean `fork`? the values are `trace`, `stream`, `random`, `mixed`, `page-copies`, `fork`, \
            `checkpoint`, `clone`, `migration`, `dedup`, `zero-on-free`, `programs`, `forkbench`, `memcopy`",
    );
    check_workload(
        "kind = \"stream\"\ncount = 10\npages = 3",
        "scenario.toml:7: `workload.pages` is given, but `kind = \"stream\"` has no `pages`",
        "the keys of `stream` are `count`, `start`, `stride_bytes`, `pattern`, `dst`, `gap_cycles`, `gap_ns`",
    );
    check_workload(
        "kind = \"fork\"\npages = 3",
        "scenario.toml:5: `workload.bytes` is missing, and `kind = \"fork\"` needs it",
        "add for example `bytes = 0x0100_0000` to `workload`",
    );
    check_workload(
        "kind = \"random\"\ncount = 10\nbytes = 4096\nwrite_share = 30",
        "scenario.toml:8: `workload.write_share` is 30, but must be from 0 to 1",
        "try `write_share = 0.3`",
    );
    check_workload(
        "kind = \"random\"\ncount = 10\nbytes = 4096\nwrite_share = nan",
        "scenario.toml:8: `workload.write_share` is NaN, but must be from 0 to 1",
        "try `write_share = 0`",
    );
    check_workload(
        "kind = \"random\"\ncount = 10\nbytes = 4095",
        "scenario.toml:7: `workload.bytes`: `bytes` is 4095, but must be a multiple of 64",
        "try `bytes = 4096`",
    );
    check_workload(
        "kind = \"stream\"\ncount = 10\nstride_bytes = 65",
        "scenario.toml:7: `workload.stride_bytes`: `stride_bytes` is 65, but must be a multiple of 64",
        "try `stride_bytes = 128`",
    );
    check_workload(
        "kind = \"stream\"\ncount = 100_000_000",
        "scenario.toml:6: `workload.count`: `count` leads past the end of the usable memory at 0xff7f0000",
        "lower `count`, or begin at a lower address: the usable capacity is 4286513152 bytes",
    );
    check_workload(
        "kind = \"stream\"\ncount = 10\npattern = \"rx\"",
        "scenario.toml:7: `workload.pattern` is \"rx\", but must be 1 to 64 letters `r` and `w`",
        "try `pattern = \"rrw\"`: two lines read, one written",
    );
    check_workload(
        "kind = \"stream\"\ncount = 10\npattern = \"r\"\ndst = 4096",
        "scenario.toml:8: `workload` has both `pattern` and `dst`",
        "leave one of them out: a stream reads and writes by a pattern, or copies line by line to `dst`",
    );
    check_workload(
        "kind = \"stream\"\ncount = 10\nstart = \"same-bank\"",
        "scenario.toml:7: `workload.start` is the string \"same-bank\", but must be an address (a whole number, or a \
            string such as \"0x400000\" or \"4MiB\")",
        "write for example `start = 0x0040_0000`",
    );
    check_workload(
        "kind = \"mixed\"\ncount = 10\nbytes = 8192\npairs = \"neighbours\"",
        "scenario.toml:8: `workload.pairs` is \"neighbours\", an earlier name of \"neighbors\"",
        "write `\"neighbors\"`",
    );
}

/// The scenario with a workload instead of its operations, whose first key is in line 5: the message and the help.
#[track_caller]
fn check_workload(workload: &str, message: &str, help: &str) {
    let all = crate::common::SCENARIO.split_once("[[operation]]").unwrap().1;
    check(&format!("[[operation]]{all}"), &format!("[workload]\n{workload}\n"), message, help);
}

/// A trace of the format `rc`.
fn recorded() -> std::path::PathBuf {
    crate::common::workspace().join("traces/samples/shell-rc.gz")
}

#[test]
fn recorded_traces() {
    let trace = |more: &str| format!("kind = \"trace\"\nfile = {:?}\n{more}", recorded());
    check_workload(
        &trace("timing = \"recorded\""),
        "scenario.toml:7: `workload.timing` is \"recorded\", but a trace of the format `rc` has no times",
        "leave it out for `instructions`, or write `timing = \"back-to-back\"` or `\"window\"`",
    );
    check_workload(
        &trace("window = 0\ntiming = \"window\""),
        "scenario.toml:7: `workload.window` is 0, but must be from 1 to 4294967295",
        "try `window = 1`",
    );
    check_workload(
        &trace("window = 4"),
        "scenario.toml:7: `workload.window` is given, but the timing of this trace is `instructions`",
        "leave it out, or write `timing = \"window\"`",
    );
    check_workload(
        &trace("instructions_per_clock = 4\nformat = \"native\""),
        "scenario.toml:7: `workload.instructions_per_clock` is given, but the timing of this trace is `recorded`",
        "leave it out, or write `timing = \"instructions\"`",
    );
    check_workload(
        &trace("instructions_per_clock = 0"),
        "scenario.toml:7: `workload.instructions_per_clock` is 0, but must be from 0.001 to 1000",
        "try `instructions_per_clock = 0.001`",
    );
    check_workload(
        &trace("instructions_per_clock = 4\nformat = \"csv\""),
        "scenario.toml:8: `workload.format` is \"csv\", which is none of its values",
        "the values are `native`, `rc`, `cpu`, `simpleo3`, `ramulator-dram`, `ramulator2-ls`, `ramulator2-rw`, \
            `dramsim3`, `stl`, `rstl`, `lackey`, `perf`",
    );
    check_workload(
        &trace("instructions_per_clock = 4\nunusable_records = \"skp\""),
        "scenario.toml:8: `workload.unusable_records` is \"skp\", which is none of its values",
        "did you mean `skip`? the values are `skip-reserved`, `skip`, `refuse`",
    );
    check_workload(
        &trace("instructions_per_clock = 4\nplacement = \"recorded\""),
        "scenario.toml:8: `workload.placement` is \"recorded\", which is none of its values",
        "did you mean `as-recorded`? the values are `as-recorded`, `allocator`",
    );
    check_workload(
        &trace("instructions_per_clock = 4\nplacement = 7"),
        "scenario.toml:8: `workload.placement` is 7, but must be a string, or a list of strings",
        "write for example `placement = \"as-recorded\"`",
    );
    check_workload(
        "kind = \"trace\"\nfile = \"none.gz\"\ninstructions_per_clock = 4",
        "scenario.toml:6: `workload.file` is \"none.gz\", but none.gz cannot be read: no such file",
        "paths are relative to the directory of the file that contains them",
    );
    check_workload(
        "kind = \"trace\"\nfile = \"system.toml\"\ninstructions_per_clock = 4",
        "scenario.toml:6: `workload.file`: system.toml:1: `[device]` is a record of no trace format",
        "give a trace in one of the formats `native`, `rc`, `cpu`, `ramulator-dram`, `ramulator2-ls`, `ramulator2-rw`, \
         `dramsim3`, `stl`, `rstl`, `lackey`, `perf`, plain, gzip or zstd; docs/formats.md shows each",
    );
    check_workload(
        "kind = \"trace\"\nfile = \"/dev/null\"\ninstructions_per_clock = 4",
        "scenario.toml:6: `workload.file` is \"/dev/null\", but /dev/null cannot be read: it is not a regular file",
        "paths are relative to the directory of the file that contains them",
    );
}

#[test]
fn allocators() {
    let fork = |more: &str| format!("kind = \"fork\"\npages = 8\nbytes = 65536\n[allocator]\n{more}");
    check_workload(
        "kind = \"fork\"\npages = 8\nbytes = 65536",
        "scenario.toml:4: `allocator` is missing, and pages of this workload are placed by one",
        "add a table `[allocator]` with for example `policies = [\"buddy\", \"subarray-aware\"]`",
    );
    check_workload(
        "kind = \"stream\"\ncount = 10\n[allocator]\npolicies = [\"buddy\"]",
        "scenario.toml:7: `allocator` is given, but no page of this scenario is placed by an allocator",
        "leave it out",
    );
    check_workload(
        &format!(
            "kind = \"trace\"\nfile = {:?}\ninstructions_per_clock = 4\n[allocator]\npolicies = [\"buddy\"]",
            recorded()
        ),
        "scenario.toml:8: `allocator` is given, but no page of this scenario is placed by an allocator",
        "leave it out, or write `placement = \"allocator\"` in `workload`",
    );
    check_workload(
        "kind = \"stream\"\ncount = 10\n[reference]\nallocator = \"buddy\"",
        "scenario.toml:7: `reference` is given, but no page of this scenario is placed by an allocator",
        "leave it out",
    );
    check_workload(
        &fork("policies = [\"buddy\"]\n[reference]\nallocator = \"linux\""),
        "scenario.toml:11: `reference.allocator` is \"linux\", which is none of its values",
        "the values are `sequential`, `random`, `buddy`, `subarray-aware`, `bank-aware`",
    );
    check_workload(
        &fork("policies = []"),
        "scenario.toml:9: `allocator.policies` is empty",
        "try `policies = [\"buddy\", \"subarray-aware\"]`",
    );
    check_workload(
        &fork("policies = [\"budy\"]"),
        "scenario.toml:9: `allocator.policies.0` is \"budy\", which is none of its values",
        "did you mean `buddy`? the values are `sequential`, `random`, `buddy`, `subarray-aware`, `bank-aware`",
    );
    check_workload(
        &fork("policies = [\"buddy\"]\nutilization = 50\nfragmentation = 0.5"),
        "scenario.toml:10: `allocator.utilization` is 50, but must be from 0 to 1",
        "try `utilization = 0.5`",
    );
    check_workload(
        &fork("policies = [\"buddy\"]\nutilization = 1.5\nfragmentation = 0.5"),
        "scenario.toml:10: `allocator.utilization` is 1.5, but must be from 0 to 1",
        "try `utilization = 1`",
    );
    check_workload(
        &fork("policies = [\"buddy\"]\nutilisation = 0.5\nfragmentation = 0.5"),
        "scenario.toml:10: `allocator.utilisation` is not a key",
        "did you mean `utilization`? the keys of `allocator` are `policies`, `utilization`, `fragmentation`, \
            `copy_unit`",
    );
    check_workload(
        &fork("policies = [\"buddy\"]\nutilization = 0.5"),
        "scenario.toml:10: `allocator.utilization` is given, and `allocator.fragmentation` is not",
        "add for example `fragmentation = 0.5`: an aged memory has both, a fresh one neither",
    );
    check_workload(
        &fork("policies = [\"buddy\"]\ncopy_unit = \"pages\""),
        "scenario.toml:10: `allocator.copy_unit` is \"pages\", which is none of its values",
        "did you mean `page`? the values are `page`, `row-set`",
    );
}

#[test]
fn stretches_of_a_run() {
    check_set(
        "warm_up_cycles=-1",
        "`warm_up_cycles` is -1, but must be a whole number of clocks, or a time such as \"50ns\"",
        "write for example `warm_up_cycles = 100_000`",
    );
    check_set(
        "epoch_cycles=99",
        "`epoch_cycles` is 99, but must be from 100 to 1099511627776",
        "try `epoch_cycles = 100`",
    );
    let scenario = Directory::sound().scenario(&["warm_up_cycles=500", "epoch_cycles=1_000"]).unwrap();
    assert_eq!((scenario.warm_up.0, scenario.epoch.map(|epoch| epoch.0)), (500, Some(1000)));
}

/// Each policy with each placement, in the order of their lists.
#[test]
fn a_scenario_runs_once_for_each_policy_and_placement() {
    let labels = |workload: &str| {
        let all = crate::common::SCENARIO.split_once("[[operation]]").unwrap().1;
        let (operations, workload) = (format!("[[operation]]{all}"), format!("[workload]\n{workload}\n"));
        let scenario = Directory::with(("", ""), (&operations, &workload)).scenario(&[]).unwrap();
        scenario.variants().iter().map(|variant| variant.label("/")).collect::<Vec<_>>()
    };
    let allocators = "[allocator]\npolicies = [\"subarray-aware\", \"buddy\"]";
    assert_eq!(labels("kind = \"stream\"\ncount = 1"), ["baseline", "rowclone"]);
    assert_eq!(
        labels(&format!("kind = \"migration\"\nbytes = 4096\npages = 1\nto = \"anywhere\"\n{allocators}")),
        ["baseline/subarray-aware", "baseline/buddy", "rowclone/subarray-aware", "rowclone/buddy"]
    );
    let trace = format!("kind = \"trace\"\nfile = {:?}\ninstructions_per_clock = 4", recorded());
    assert_eq!(labels(&trace), ["baseline/as-recorded", "rowclone/as-recorded"]);
    let both = format!("{trace}\nplacement = [\"as-recorded\", \"allocator\"]\n{allocators}");
    assert_eq!(labels(&both)[3..], ["rowclone/as-recorded", "rowclone/subarray-aware", "rowclone/buddy"]);
}

#[test]
fn set_changes_the_scenario_and_its_system() {
    let sets = [
        "seed=0x10",
        "policies=[\"fpm-only\"]",
        "operation.0.bytes=8192",
        "system.device.bin=1600K",
        "system.geometry.ranks=2",
    ];
    let scenario = Directory::sound().scenario(&sets).unwrap();
    assert_eq!(scenario.seed, 16);
    assert_eq!(scenario.policies, [FPM_ONLY]);
    assert_eq!(scenario.system.memory.system().bin.name, "1600K");
    assert_eq!(scenario.system.memory.system().geometry.ranks(), 2);
    let rowclone_config::Workload::Operations(operations) = &scenario.workload else { panic!("it lists operations") };
    assert_eq!(operations[0].operation().bytes(), 8192);
}

#[test]
fn set_is_checked_like_the_file_and_named() {
    check_set(
        "sed=7",
        "`sed` is not a key",
        "did you mean `seed`? the keys are `system`, `machine`, `policies`, `copiers`, `seed`, `warm_up_cycles`, \
            `epoch_cycles`, `operation`, `workload`, `allocator`, `reference`",
    );
    check_set(
        "seed=seven",
        "`seed` is the string \"seven\", but must be a whole number, 0 or more",
        "write for example `seed = 1`",
    );
    check_set(
        "system.geometry.channels=3",
        "`geometry.channels` is 3, but must be a power of two from 1 to 8",
        "try `channels = 4`",
    );
    check_set(
        "system.geometry.chanels=2",
        "`geometry.chanels` is not a key",
        "did you mean `channels`? the keys of `geometry` are `channels`, `ranks`, `row_bytes`, `rows_per_subarray`",
    );
    check_set(
        "system.device.bin=1066g",
        "`device.bin` is \"1066g\", which is none of its values",
        "did you mean `1066G`? the values are `800D`, `800E`, `1066E`, `1066F`, `1066G`, `1333G`, `1333H`, `1600H`, \
            `1600J`, `1600K`, `1866K`, `1866L`, `1866M`, `2133L`, `2133M`, `2133N`",
    );
    check_set("operation.2.bytes=1", "`operation` has no item `2`", "its items are 0 to 1");
    check_set(
        "system=none.toml",
        "`system` is \"none.toml\", but none.toml cannot be read: no such file",
        "paths are relative to the directory of the file that contains them",
    );
}

/// What would never end, or block, is refused before it is opened.
#[test]
fn only_regular_files_of_at_most_16_mib_are_read_as_toml() {
    let directory = Directory::sound();
    let refused = |name: &str| {
        let (code, _, message) = crate::common::run(&["run", directory.path(name).to_str().unwrap()]);
        (code, message.replace(&directory.path("").display().to_string(), ""))
    };
    fs::write(directory.path("large.toml"), "#".repeat((16 << 20) + 1)).unwrap();
    assert_eq!(
        refused("large.toml"),
        (
            2,
            "error: large.toml: cannot be read: it is larger than 16 MiB, the most that a TOML file may be\n\
             help: this looks like another kind of file: give a TOML file\n"
                .to_owned()
        )
    );
    fs::write(directory.path("just.toml"), "#".repeat(16 << 20)).unwrap();
    assert!(refused("just.toml").1.contains("`seed` is missing"));
    let pipe = directory.path("pipe.toml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let no_file = "cannot be read: it is not a regular file\nhelp: write its output to a file, and give that file\n";
    assert_eq!(refused("pipe.toml"), (2, format!("error: pipe.toml: {no_file}")));
    assert_eq!(refused("/dev/zero"), (2, format!("error: /dev/zero: {no_file}")));
    check_set(
        &format!("system={}", pipe.display()),
        &format!("`system` is \"{0}\", but {0} cannot be read: it is not a regular file", pipe.display()),
        "paths are relative to the directory of the file that contains them",
    );
}
