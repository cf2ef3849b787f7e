//! Sizes and times with units, and single timings that replace those of a speed bin.

use std::fs;

use serde_json::Value;

use crate::common::{Directory, run};

/// `run --format json` of a scenario with these `--set`, without the command line that it repeats.
fn results(directory: &Directory, sets: &[&str]) -> Value {
    let path = directory.path("scenario.toml");
    let mut arguments = vec!["run", path.to_str().unwrap(), "--format", "json"];
    arguments.extend(sets.iter().flat_map(|set| ["--set", set]));
    let (code, stdout, stderr) = run(&arguments);
    assert_eq!(code, 0, "{stderr}");
    let mut results: Value = serde_json::from_str(&stdout).unwrap();
    for result in results.as_array_mut().unwrap() {
        result.as_object_mut().unwrap().remove("rerun").unwrap();
    }
    results
}

#[test]
fn a_size_or_time_with_a_unit_is_its_plain_number() {
    let directory = Directory::sound();
    // 12 ns are 6.4 clocks of 1.875 ns, and a clock that has begun counts.
    for (with_unit, plain) in [
        ("operation.0.bytes=4KiB", "operation.0.bytes=4096"),
        ("operation.0.bytes=\"0.5 KiB\"", "operation.0.bytes=512"),
        ("operation.0.dst=8MiB", "operation.0.dst=0x80_0000"),
        ("operation.1.at_cycle=1us", "operation.1.at_cycle=534"),
        ("warm_up_cycles=12ns", "warm_up_cycles=7"),
        ("system.refresh.t_refi_ps=7.8us", "system.refresh.t_refi_ps=7_800_000"),
        ("system.geometry.row_bytes=8KiB", "system.geometry.row_bytes=8192"),
        ("system.controller.refresh_idle_cycles=30ns", "system.controller.refresh_idle_cycles=16"),
        ("system.device.density_gb=4Gb", "system.device.density_gb=4"),
        ("system.device.density_gb='1 Gbit'", "system.device.density_gb=1"),
    ] {
        assert_eq!(results(&directory, &[with_unit]), results(&directory, &[plain]), "{with_unit}");
        assert_ne!(plain, with_unit);
    }
}

#[test]
fn a_unit_that_does_not_exist_is_refused() {
    let directory = Directory::sound();
    let message = |set: &str| directory.scenario(&[set]).unwrap_err().0;
    let expected = "--set operation.0.bytes=4kB: `operation.0.bytes` is the string \"4kB\", but must be a whole number \
        of bytes, \
                    or a size such as \"4KiB\"";
    assert_eq!(message("operation.0.bytes=4kB"), expected);
    let expected = "--set warm_up_cycles=5 days: `warm_up_cycles` is the string \"5 days\", but must be a whole number \
        of clocks, \
                    or a time such as \"50ns\"";
    assert_eq!(message("warm_up_cycles=5 days"), expected);
    let expected = "--set system.device.density_gb=4GB: `device.density_gb` is the string \"4GB\", but must be a \
        number of Gb, \
                    or a capacity such as \"4Gb\"";
    assert_eq!(message("system.device.density_gb=4GB"), expected);
    assert!(
        message("system.device.density_gb=3Gb")
            .ends_with("`device.density_gb` is 3, but must be 0.25, 0.5, 1, 2, 4, 8, 16 or 32")
    );
    // 2^64 picoseconds are too many for a conversion to clocks.
    let long = message("warm_up_cycles=9_000_000s");
    assert!(long.ends_with("but must be from 0 to 1099511627776"), "{long}");
    let expected = "--set epoch_cycles=10ns: `epoch_cycles` is 6, but must be from 100 to 1099511627776";
    assert_eq!(message("epoch_cycles=10ns"), expected);
}

/// The columns of axes are numbers, so that they can be drawn and compared.
#[test]
fn an_axis_takes_sizes_and_times() {
    let directory = Directory::sound();
    let sweep = "scenario = 'scenario.toml'\n[[axis]]\nkey = 'operation.0.bytes'\nname = 'bytes'\n\
                 log = { from = '64B', to = '4KiB', factor = 8 }\n\
                 [[axis]]\nkey = 'system.refresh.t_refi_ps'\nname = 'refi'\nvalues = ['7.8us', 3_900_000]\n\
                 [[exclude]]\nwhen = 'bytes > 0.5KiB'\n";
    fs::write(directory.path("sweep.toml"), sweep).unwrap();
    let (file, out) = (directory.path("sweep.toml"), directory.path("out"));
    let (code, _, stderr) = run(&["sweep", file.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(code, 0, "{stderr}");
    let mut points = Vec::new();
    for row in csv::Reader::from_path(out.join("results.csv")).unwrap().deserialize() {
        let row: std::collections::BTreeMap<String, String> = row.unwrap();
        points.push((row["bytes"].clone(), row["refi"].clone()));
    }
    points.dedup();
    let expected = [("64", "7800000"), ("64", "3900000"), ("512", "7800000"), ("512", "3900000")];
    assert_eq!(points, expected.map(|(bytes, refi)| (bytes.to_owned(), refi.to_owned())));
}

/// FPM takes tRAS + tRAS + tRP.
#[test]
fn a_replaced_timing_holds_and_every_output_lists_it() {
    let directory = Directory::sound();
    let sets = ["system.device.timings.tRAS=25", "system.device.timings.tRP='17ns'", "policies=['rowclone']"];
    let results = results(&directory, &sets);
    let operation = &results[0]["operations"][0];
    assert_eq!(operation["latency_cycles"], 25 + 25 + 10);
    let warning = "`device.timings` replaces timings of the speed bin, in clocks: tRP=10,tRAS=25";
    assert_eq!(results[0]["warnings"][0], warning);

    let (path, log) = (directory.path("scenario.toml"), directory.path("log.csv"));
    let mut arguments = vec!["run", path.to_str().unwrap(), "--check", "--commands", log.to_str().unwrap()];
    arguments.extend(sets.iter().flat_map(|set| ["--set", set]));
    let (code, stdout, stderr) = run(&arguments);
    assert_eq!(code, 0, "{stderr}");
    let output = format!("{stdout}{stderr}").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(output.contains(warning), "{output}");
    // The log names the bin with its timings, and is checked with them.
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("# bin = 1066G[tRP=10,tRAS=25]\n"), "{text}");
    let (code, _, _) = run(&["check", log.to_str().unwrap()]);
    assert_eq!(code, 0);
    fs::write(&log, text.replace("tRAS=25]", "tRAS=26]")).unwrap();
    let (code, stdout, _) = run(&["check", log.to_str().unwrap()]);
    assert_eq!(code, 1, "{stdout}");
}

#[test]
fn a_timing_out_of_range_is_refused() {
    let directory = Directory::sound();
    let message = |set: &str| directory.scenario(&[set]).unwrap_err();
    let (found, help) = message("system.device.timings.CL=17");
    assert_eq!(found, "--set system.device.timings.CL=17: `device.timings.CL` is 17, but must be from 5 to 16");
    assert_eq!(help, "try `CL = 16`");
    let (found, help) = message("system.device.timings.tRC=27");
    let rule = "`device.timings.tRC` is 27, but must be at least tRAS + tRP, 28";
    assert_eq!(found, format!("--set system.device.timings.tRC=27: {rule}"));
    assert_eq!(help, "leave `tRC` out, write `tRC = 28`, or `custom_timings = true` in `[device]`");
    let (found, _) = message("system.device.timings.tXP=14");
    assert_eq!(
        found,
        "--set system.device.timings.tXP=14: `device.timings.tXPDLL` is 13, but must be at least tXP, 14"
    );
    let (found, help) = message("system.device.timings.tRAZ=8");
    assert_eq!(found, "--set system.device.timings.tRAZ=8: `device.timings.tRAZ` is not a key");
    assert!(help.starts_with("did you mean `tRAS`? the keys of `device.timings` are `CL`, `CWL`, `tRCD`, "), "{help}");
}

#[test]
fn another_kind_of_file_names_the_command_that_reads_it() {
    let directory = Directory::sound();
    fs::write(directory.path("sweep.toml"), "scenario = 'scenario.toml'\n").unwrap();
    let outcome = |command: &[&str], file: &str| {
        let path = directory.path(file);
        let (code, _, stderr) = run(&[command, &[path.to_str().unwrap()]].concat());
        (code, stderr.replace(&format!("{}/", path.parent().unwrap().display()), ""))
    };
    let run_system = "error: system.toml: is a system file\nhelp: a scenario names it: `system = \"system.toml\"`; \
                      `rowclone-sim explain rules --system system.toml` shows its timings\n";
    assert_eq!(outcome(&["run"], "system.toml"), (2, run_system.to_owned()));
    let run_sweep = "error: sweep.toml: is a sweep\nhelp: `rowclone-sim sweep sweep.toml --out DIRECTORY` runs it\n";
    assert_eq!(outcome(&["run"], "sweep.toml"), (2, run_sweep.to_owned()));
    let sweep_scenario = "error: scenario.toml: is a scenario\nhelp: `rowclone-sim run scenario.toml` runs it\n";
    assert_eq!(outcome(&["sweep", "--out", "never"], "scenario.toml"), (2, sweep_scenario.to_owned()));
}
