//! Everything that can be wrong with a system file is one message with its place, and a way out.

use dram_spec::Cycles;
use memctrl::{PowerPolicy, QueueSettings};
use rowclone_config::{Overrides, SystemConfig};

use crate::common::Directory;

/// The system with `from` replaced by `to`: the message and the help.
#[track_caller]
fn check(from: &str, to: &str, message: &str, help: &str) {
    let found = Directory::with((from, to), ("", "")).system().map(|system| system.name).unwrap_err();
    assert_eq!((found.0.as_str(), found.1.as_str()), (message, help));
}

/// The same, where the help is long.
#[track_caller]
fn check_start(from: &str, to: &str, message: &str, help: &str) {
    let found = Directory::with((from, to), ("", "")).system().map(|system| system.name).unwrap_err();
    assert_eq!(found.0, message);
    assert!(found.1.starts_with(help), "{}", found.1);
}

#[test]
fn a_sound_system_is_none_of_these() {
    let system = Directory::sound().system().unwrap();
    let controller = system.memory.controller();
    let found = (system.name.as_str(), controller.staging_lines, controller.refresh.postpone_max);
    assert_eq!(found, ("system", 64, 0));
}

#[test]
fn keys_and_types() {
    check(
        "channels = 2",
        "channels = \"two\"",
        "system.toml:9: `geometry.channels` is the string \"two\", but must be a whole number, 0 or more",
        "write for example `channels = 2`",
    );
    check(
        "channels = 2",
        "channels = -2",
        "system.toml:9: `geometry.channels` is -2, but must be a whole number, 0 or more",
        "write for example `channels = 2`",
    );
    check(
        "channels = 2",
        "channels = 2.5",
        "system.toml:9: `geometry.channels` is 2.5, but must be a whole number, 0 or more",
        "write for example `channels = 2`",
    );
    check(
        "channels = 2",
        "channels = 2026-01-01",
        "system.toml:9: `geometry.channels` is the date 2026-01-01, but must be a whole number, 0 or more",
        "write for example `channels = 2`",
    );
    check(
        "channels = 2\n",
        "",
        "system.toml:8: `geometry.channels` is missing",
        "add for example `channels = 2` to `geometry`",
    );
    check(
        "channels = 2",
        "chanels = 2",
        "system.toml:9: `geometry.chanels` is not a key",
        "did you mean `channels`? the keys of `geometry` are `channels`, `ranks`, `row_bytes`, `rows_per_subarray`",
    );
    check(
        "[refresh]",
        "[refreshing]",
        "system.toml:13: `refreshing` is not a key",
        "did you mean `refresh`? the keys are `device`, `geometry`, `refresh`, `address_map`, `page_mode`, \
            `controller`, `copy`, `faulty_rows`",
    );
    check(
        "[address_map]\npreset = \"row-interleaved\"\n",
        "",
        "system.toml: `address_map` is missing",
        "add a table `[address_map]`",
    );
    check(
        "enabled = true",
        "enabled = \"yes\"",
        "system.toml:14: `refresh.enabled` is the string \"yes\", but must be `true` or `false`",
        "write for example `enabled = true`",
    );
    check(
        "[device]",
        "[[device]]",
        "system.toml:1: `device` is a list, but must be a table",
        "write a table `[device]`",
    );
}

#[test]
fn text_that_is_not_toml() {
    check(
        "channels = 2",
        "channels = ",
        "system.toml:9: is not TOML: string values must be quoted, expected literal string",
        "https://toml.io shows how TOML is written; docs/input.md has the keys",
    );
    check(
        "ranks = 1",
        "channels = 1",
        "system.toml:10: is not TOML: duplicate key",
        "https://toml.io shows how TOML is written; docs/input.md has the keys",
    );
}

#[test]
fn the_device() {
    check_start(
        "1066G",
        "1066H",
        "system.toml:2: `device.bin` is \"1066H\", which is none of its values",
        "did you mean `1066E`? the values are `800D`, `800E`, `1066E`, ",
    );
    check(
        "density_gb = 2",
        "density_gb = 3",
        "system.toml:3: `device.density_gb` is 3, but must be 0.25, 0.5, 1, 2, 4, 8, 16 or 32",
        "try `density_gb = 2`",
    );
    check("width = 8", "width = 64", "system.toml:4: `device.width` is 64, but must be 4, 8 or 16", "try `width = 8`");
    check_start(
        "2 Gb x8 -25E",
        "2 Gb x8 -25F",
        "system.toml:5: `device.currents` is \"2 Gb x8 -25F\", which is no current set",
        "did you mean `2 Gb x8 -25E`? the shipped sets are ",
    );
    check(
        "2 Gb x8 -25E",
        "1 Gb x4 -15",
        "system.toml:5: `device.currents` is \"1 Gb x4 -15\", a set of DDR3 x4 chips, but the system's are DDR3 x8",
        SETS_OF_X8,
    );
    check(
        "2 Gb x8 -25E",
        "no.toml",
        "system.toml:5: `device.currents` is \"no.toml\", but no.toml cannot be read: no such file",
        "paths are relative to the directory of the file that contains them",
    );
    check(
        "\"counted\"",
        "\"count\"",
        "system.toml:6: `device.copy_activations` is \"count\", which is none of its values",
        "did you mean `counted`? the values are `counted`, `free`",
    );
    check(
        "\"fast-exit\"",
        "\"off\"",
        "system.toml:7: `device.precharge_power_down` is \"off\", which is none of its values",
        "the values are `fast-exit`, `slow-exit`",
    );
}

const SETS_OF_X8: &str = "the shipped sets of DDR3 x8 chips are `1 Gb x8 G-die 1066`, `1 Gb x8 G-die 1600`, `1 Gb x8 \
    G-die 800`, `2 Gb x8 -15`, `2 Gb x8 -25E`, \
    `2 Gb x8 D-die 1066`, `2 Gb x8 early die 1066`, `2 Gb x8 early die 1333`, `2 Gb x8 M-die 1066`, `2 Gb x8 M-die \
    1333`, \
    `2 Gb x8 M-die 1600`, `4 Gb x8 1866`, `4 Gb x8 2133`, `4 Gb x8 E/J-die 1600`, `8 Gb x8 1600`";

#[test]
fn the_geometry() {
    check(
        "channels = 2",
        "channels = 3",
        "system.toml:9: `geometry.channels` is 3, but must be a power of two from 1 to 8",
        "try `channels = 4`",
    );
    check(
        "ranks = 1",
        "ranks = 8",
        "system.toml:10: `geometry.ranks` is 8, but must be a power of two from 1 to 4",
        "try `ranks = 4`",
    );
    check(
        "row_bytes = 4096",
        "row_bytes = 2048",
        "system.toml:11: `geometry.row_bytes` is 2048, but a rank of 2 Gb x8 chips has rows of 8192 bytes",
        "try `row_bytes = 8192`, or the RowClone paper's `row_bytes = 4096`",
    );
    check(
        "rows_per_subarray = 512",
        "rows_per_subarray = 0",
        "system.toml:12: `geometry.rows_per_subarray` is 0, but must be a whole number from 128 to 1024, or a list of \
            1 to 8 of them",
        "try `rows_per_subarray = 128`",
    );
}

#[test]
fn rows_per_subarray() {
    let check = |rows: &str, message: &str, help: &str| {
        let message = format!("system.toml:12: `geometry.rows_per_subarray{message}");
        check("rows_per_subarray = 512", &format!("rows_per_subarray = {rows}"), &message, help);
    };
    let must = "must be a whole number from 128 to 1024, or a list of 1 to 8 of them";
    check("127", &format!("` is 127, but {must}"), "try `rows_per_subarray = 128`");
    check("1025", &format!("` is 1025, but {must}"), "try `rows_per_subarray = 1024`");
    check("[]", &format!("` is [], but {must}"), "try `rows_per_subarray = 512`");
    check("[640, 127]", &format!("` is [640, 127], but {must}"), "try `rows_per_subarray = [640, 128]`");
    check(
        "[200, 200, 200, 200, 200, 200, 200, 200, 200]",
        &format!("` is [200, 200, 200, 200, 200, 200, 200, 200, ...], but {must}"),
        "list at most 8 numbers: they repeat from row 0 of each bank",
    );
    let example = "write for example `rows_per_subarray = 512`";
    check("[640, \"x\"]", ".1` is the string \"x\", but must be a whole number, 0 or more", example);
    check("[640, -1]", ".1` is -1, but must be a whole number, 0 or more", example);
    check("\"x\"", "` is the string \"x\", but must be a whole number, 0 or more, or a list of them", example);
    check(
        "257",
        "` is 257, which leaves 1 of the 65536 rows of a bank for its last subarray, but that needs 2: the zero row \
            and \
         the temporary row",
        "try `rows_per_subarray = 258`",
    );
}

#[test]
fn refresh_and_controller() {
    check(
        "7_800_000",
        "7_800",
        "system.toml:15: `refresh.t_refi_ps` is 7800, but must be from 1950000 to 1000000000000",
        "try `t_refi_ps = 1950000`",
    );
    check(
        "postpone_max = 0",
        "postpone_max = 9",
        "system.toml:16: `refresh.postpone_max` is 9, but the refresh mode `1x` of DDR3 allows at most 8",
        "try `postpone_max = 8`",
    );
    check(
        "[address_map]",
        "[controller]\nstaging_lines = 0\n[address_map]",
        "system.toml:18: `controller.staging_lines` is 0, but must be from 1 to 65536",
        "try `staging_lines = 1`",
    );
}

/// What the table `[controller]` with these lines, of which the first is line 18, is refused with.
#[track_caller]
fn check_controller(lines: &str, message: &str, help: &str) {
    check("[address_map]", &format!("[controller]\n{lines}\n[address_map]"), message, help);
}

#[test]
fn the_controller() {
    check_controller(
        "scheduler = \"frfcfs\"",
        "system.toml:18: `controller.scheduler` is \"frfcfs\", which is none of its values",
        "did you mean `fr-fcfs`? the values are `fcfs`, `fifo`, `fr-fcfs`, `fr-fcfs-cap`, `bliss`, `par-bs`, `atlas`, \
         `cpu-first`",
    );
    check_controller(
        "scheduler_cap = 4",
        "system.toml:18: `controller.scheduler_cap` is given, but `scheduler` is not \"fr-fcfs-cap\"",
        "leave `scheduler_cap` out, or write `scheduler = \"fr-fcfs-cap\"`",
    );
    check_controller(
        "scheduler = \"fr-fcfs-cap\"",
        "system.toml:18: `controller.scheduler_cap` is missing, and `scheduler = \"fr-fcfs-cap\"` needs it",
        "add for example `scheduler_cap = 4` to `controller`",
    );
    check_controller(
        "scheduler = \"fr-fcfs-cap\"\nscheduler_cap = 0",
        "system.toml:19: `controller.scheduler_cap` is 0, but must be from 1 to 1073741824",
        "try `scheduler_cap = 1`",
    );
    check_controller(
        "scheduler = \"cpu-first\"\ncpu_first_share = 101",
        "system.toml:19: `controller.cpu_first_share` is 101, but must be from 0 to 100",
        "try `cpu_first_share = 100`",
    );
    check_controller(
        "scheduler = \"fifo\"\ndrain_low = 4",
        "system.toml:19: `controller.drain_low` is given, but `scheduler = \"fifo\"` has no write drain",
        "leave `drain_low` out, or choose another scheduler: `fcfs` serves the oldest of a kind",
    );
    check_controller(
        "row_policy = \"closed\"\nrow_timeout_cycles = 100",
        "system.toml:19: `controller.row_timeout_cycles` is given, but `row_policy` is not \"timeout\"",
        "leave `row_timeout_cycles` out, or write `row_policy = \"timeout\"`",
    );
    check_controller(
        "row_policy = \"timeout\"",
        "system.toml:18: `controller.row_timeout_cycles` is missing, and `row_policy = \"timeout\"` needs it",
        "add for example `row_timeout_cycles = 200` to `controller`",
    );
    check_controller(
        "copy_hold_max_cycles = 0",
        "system.toml:18: `controller.copy_hold_max_cycles` is 0, but must be from 1 to 1099511627776",
        "try `copy_hold_max_cycles = 1`",
    );
}

#[test]
fn queues_and_watermarks() {
    for queue in ["read_entries", "write_entries", "copy_entries"] {
        check_controller(
            &format!("{queue} = 0"),
            &format!("system.toml:18: `controller.{queue}` is 0, but must be from 1 to 4096"),
            &format!("try `{queue} = 1`"),
        );
    }
    check_controller(
        "write_entries = 8\ndrain_high = 9",
        "system.toml:19: `controller.drain_high` is 9, but must be from 1 to 8",
        "try `drain_high = 8`",
    );
    check_controller(
        "drain_high = 12\ndrain_low = 12",
        "system.toml:19: `controller.drain_low` is 12, but must be less than `drain_high`, 12",
        "try `drain_low = 4`",
    );
}

#[test]
fn ranks_that_sleep() {
    check_controller(
        "power_down_after_cycles = 100",
        "system.toml:18: `controller.power_down_after_cycles` puts ranks into a state that draws IDD2P1, \
        which the current set \"2 Gb x8 -25E\" does not have",
        "set `device.precharge_power_down = \"slow-exit\"`, whose current it has, or take a set of x8 chips that has \
            them all: \
        `1 Gb x8 G-die 1066`, `1 Gb x8 G-die 1600`, `1 Gb x8 G-die 800`, `2 Gb x8 D-die 1066`, `2 Gb x8 early die \
        1066`, \
        `2 Gb x8 early die 1333`, `2 Gb x8 M-die 1066`, `2 Gb x8 M-die 1333`, `2 Gb x8 M-die 1600`, `4 Gb x8 2133`, \
        `4 Gb x8 E/J-die 1600`",
    );
    let with = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let read = SystemConfig::read(&Directory::sound().path("system.toml"), &Overrides::parse(&sets).unwrap());
        read.map(|system| system.memory.controller().power).map_err(|error| error.to_string())
    };
    let (sleep, deep) = ("controller.power_down_after_cycles=100", "controller.self_refresh_after_cycles=5_000");
    let slow = "device.precharge_power_down=slow-exit";
    let power = PowerPolicy { power_down_after: Some(Cycles(100)), self_refresh_after: Some(Cycles(5_000)) };
    assert_eq!(with(&[slow, sleep, deep]), Ok(power));
    for key in ["power_down_after_cycles", "self_refresh_after_cycles"] {
        let set = format!("controller.{key}=100");
        assert_eq!(
            with(&["refresh.enabled=false", &set]),
            Err(format!("--set {set}: `controller.{key}` is given, but `refresh.enabled` is false"))
        );
    }
    let early = "controller.self_refresh_after_cycles=100";
    assert_eq!(
        with(&[slow, sleep, early]),
        Err(format!(
            "--set {early}: `controller.self_refresh_after_cycles` is 100, but must be more than \
                `power_down_after_cycles`, 100"
        ))
    );
}

/// The watermarks that are left out follow the queue; all that is left out is the controller's own default.
#[test]
fn what_is_left_out_of_the_controller_has_the_documented_default() {
    let controller = |set: &str| {
        let overrides = Overrides::parse(&[set.to_owned()]).unwrap();
        SystemConfig::read(&Directory::sound().path("system.toml"), &overrides).unwrap().memory.controller().clone()
    };
    let plain = controller("controller.staging_lines=64");
    assert_eq!(plain.queues, QueueSettings::default());
    assert_eq!((plain.scheduler_or_default().name(), plain.row_policy.name()), ("fr-fcfs", "open"));
    assert_eq!((plain.copy_hold_max, plain.power), (None, PowerPolicy::default()));
    for (entries, high, low) in [(1, 1, 0), (2, 1, 0), (64, 48, 16), (128, 96, 32)] {
        let queues = controller(&format!("controller.write_entries={entries}")).queues;
        assert_eq!((queues.drain_high, queues.drain_low), (high, low), "{entries}");
    }
}

#[test]
fn the_address_map() {
    let preset = "preset = \"row-interleaved\"";
    let fields = "fields = [\"row\", \"rank\", \"bank\", \"channel\", \"column\", \"offset\"]";
    check(
        "row-interleaved",
        "rows",
        "system.toml:18: `address_map.preset` is \"rows\", which is none of its values",
        "the values are `row-interleaved`, `bank-interleaved`, `line-interleaved`, `group-interleaved`",
    );
    check(
        preset,
        "",
        "system.toml:17: `address_map` has neither `preset` nor `fields`",
        "add for example `preset = \"row-interleaved\"` to `address_map`",
    );
    check(
        preset,
        &format!("{preset}\n{fields}"),
        "system.toml:19: `address_map` has both `preset` and `fields`",
        "leave one of them out",
    );
    check(
        preset,
        "fields = [\"row\", \"rank\", \"bank\", \"column\", \"offset\"]",
        "system.toml:18: `address_map.fields` does not list `channel`, which needs 1 address bits in this geometry",
        "add `\"channel\"` to `fields`",
    );
    check(
        preset,
        &format!("{fields}\nxor = [{{ field = \"bank\", bit = 0, address_bits = [13] }}]"),
        "system.toml:19: `address_map.xor` at bit 0 of `bank` makes the map send different addresses to the same place",
        "hash with address bits that feed the row: try `address_bits = [16]`",
    );
    check(
        preset,
        &format!("{preset}\nxor = [{{ field = \"bank\", bit = 0, address_bits = [9_999_999_999] }}]"),
        "system.toml:19: `address_map.xor.0.address_bits.0` is 9999999999, but must be a whole number from 0 to \
            4294967295",
        "write for example `address_bits = [17]`",
    );
}

#[test]
fn faulty_rows() {
    let with = |rows: &str| format!("\n[[faulty_rows]]\nchannel = 0\nrank = 0\nbank = 0\nrow = 7\n{rows}");
    let preset = "preset = \"row-interleaved\"";
    check(
        preset,
        &(preset.to_owned() + &with("[[faulty_rows]]\nchannel = 0\nrank = 1\nbank = 0\nrow = 0\n")),
        "system.toml:26: `faulty_rows.1.rank` is 1, but must be 0",
        "try `rank = 0`",
    );
    check(
        preset,
        &(preset.to_owned() + &with("[[faulty_rows]]\nchannel = 0\nrank = 0\nbank = 0\nrow = 7\n")),
        "system.toml:24: `faulty_rows.1` is the same row as `faulty_rows.0`",
        "leave one of them out",
    );
}

#[test]
fn current_sets_in_files_of_their_own() {
    let shipped = std::fs::read_to_string(crate::common::workspace().join("configs/currents/2gb-x8-25e.toml")).unwrap();
    let with = |from: &str, to: &str| {
        let directory = Directory::with(("2 Gb x8 -25E", "mine.toml"), ("", ""));
        std::fs::write(directory.path("mine.toml"), shipped.replacen(from, to, 1)).unwrap();
        directory.system().map(|system| system.memory.currents().unwrap().name().to_owned())
    };
    assert_eq!(with("2 Gb x8 -25E", "mine").unwrap(), "mine");
    let (message, help) = with("idd4r_ma = 195.0", "idd4r_ma = 20").unwrap_err();
    assert_eq!(
        message,
        "mine.toml:13: `idd4r_ma` is 20, but must be more than 65.00: else a read would take no dynamic energy"
    );
    assert_eq!(
        help,
        "check `idd4r_ma` against `idd2n_ma` and `idd3n_ma`: all must be of the same part, and of one chip"
    );
    let (message, help) = with("idd3n_ma", "idd3nma").unwrap_err();
    assert_eq!(message, "mine.toml:12: `idd3nma` is not a key");
    assert!(help.starts_with("did you mean `idd3n_ma`? the keys are "), "{help}");
}

#[test]
fn a_map_names_no_subarray_that_no_bits_select() {
    let list = "fields = [\"row\", \"subarray\", \"bank\", \"channel\", \"column\", \"offset\"]";
    let directory = Directory::with(("preset = \"row-interleaved\"", list), ("", ""));
    let read = |rows: &str| {
        let rows = Overrides::parse(&[format!("geometry.rows_per_subarray={rows}")]).unwrap();
        SystemConfig::read(&directory.path("system.toml"), &rows).map(|system| system.name)
    };
    assert!(read("256").is_ok() && read("[256, 256]").is_ok());
    let error = read("[640, 640, 768]").unwrap_err().to_string();
    let message = "system.toml:18: `address_map.fields` lists `subarray`, but with `rows_per_subarray = [640, 640, \
        768]` no \
                   address bits select the subarray";
    assert!(error.contains(message), "{error}");
}
