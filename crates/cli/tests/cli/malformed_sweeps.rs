//! Sweep files that are wrong: each is refused with its line, its key, and what would work.

use std::fs;

use rowclone_config::Failure;
use rowclone_config::error::FailureCause;
use rowclone_sweep::SweepFile;

use crate::common::Directory;

/// The message and the help about a sweep file, without the directory's name.
fn explain(sweep: &str) -> (String, String) {
    let directory = Directory::sound();
    let path = directory.path("sweep.toml");
    fs::write(&path, format!("scenario = \"scenario.toml\"\n{sweep}")).unwrap();
    let Err(Failure { cause: FailureCause::Refused, message, help }) = SweepFile::read(&path) else {
        panic!("{sweep} is not refused")
    };
    let place = format!("{}", directory.path("").display());
    (message.replace(&place, ""), help.unwrap_or_default().replace(&place, ""))
}

/// A file, and how its message and its help begin.
type Case = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("seed = 5", "sweep.toml:2: `seed` is not a key", "did you mean `seeds`?"),
    ("plot = 5", "sweep.toml:2: `plot` is 5, but must be a list", ""),
    ("seeds = 0", "sweep.toml:2: `seeds` is 0, but must be how many, up to 1000000, or a list of them", "write for example `seeds = 5`"),
    ("seeds = [1, -1]", "sweep.toml:2: `seeds` is [1, -1], but must be", ""),
    ("seeds = [1, 2, 1]", "sweep.toml:2: `seeds` has 1 twice", "list each once"),
    ("set = { \"operation.0.byte\" = 1 }", "sweep.toml:2: `set` sets `operation.0.byte`, which is no key of a scenario", "did you mean `operation.0.bytes`?"),
    ("set = 1", "sweep.toml:2: `set` is 1, but must be a table", "write for example"),
    ("[[axis]]", "sweep.toml:2: `axis.0` has neither `key` nor `zip`", "add for example `key = "),
    ("[[axis]]\nkey = \"seed\"", "sweep.toml:2: `axis.0` needs one of `values`, `range` and `log`", "add for example `values = "),
    ("[[axis]]\nkey = \"seed\"\nvalues = []", "sweep.toml:2: `axis.0` has no values", "give it at least one"),
    ("[[axis]]\nkey = \"seed\"\nvalues = [1, 2, 0x1]", "sweep.toml:2: `axis.0` has seed=1 twice", "list each once"),
    ("[[axis]]\nkey = \"seed\"\nvalues = [1]\nrange = { from = 1, to = 2, step = 1 }", "sweep.toml:2: `axis.0` needs one of", ""),
    ("[[axis]]\nkey = \"seed\"\nrange = { from = 1, to = 2 }", "sweep.toml:4: `axis.0.range.step` is missing", "add for example `step = 64` to `axis.0.range`"),
    ("[[axis]]\nkey = \"seed\"\nrange = { from = 1, to = 2, step = -1 }", "sweep.toml:4: `axis.0.range`: a `step` of -1 never leads from 1 to 2", "write for example"),
    ("[[axis]]\nkey = \"seed\"\nlog = { from = 1, to = 2 }", "sweep.toml:4: `axis.0.log`: needs either `factor` or `points`", "write for example"),
    ("[[axis]]\nkey = \"seed\"\nlog = { from = 0, to = 2, factor = 2 }", "sweep.toml:4: `axis.0.log`: a `factor` of 2 never leads from 0 to 2", ""),
    ("[[axis]]\nkey = \"seed\"\nvalue = [1]", "sweep.toml:4: `axis.0.value` is not a key", "did you mean `values`?"),
    ("[[axis]]\nkey = \"seed\"\nvalues = [1]\nnames = { seed = \"a\" }", "sweep.toml:2: `axis.0.names` is given, and `axis.0.zip` is not", "name the column with `name`"),
    ("[[axis]]\nname = \"x\"\nkey = \"seed\"\nvalues = [1]", "sweep.toml:2: `seed` cannot be called `x`", "the table of results has"),
    ("[[axis]]\nname = \"policy\"\nkey = \"policies\"\nvalues = [[\"rowclone\"]]", "sweep.toml:2: `policies` cannot be called `policy`", "the table of results has"),
    ("[[axis]]\nname = \"a\"\nkey = \"warm_up_cycles\"\nvalues = [1]\n[[axis]]\nname = \"a\"\nkey = \"epoch_cycles\"\nvalues = [100]", "sweep.toml:6: two columns are called `a`", "give them different names"),
    ("seeds = 2\n[[axis]]\nkey = \"seed\"\nvalues = [7]", "sweep.toml:3: `seed` is set twice", "let one axis"),
    ("[[axis]]\nzip = { seed = [1, 2], \"operation.0.bytes\" = [1] }", "sweep.toml:3: `axis.0.zip` has 2 values of `seed`, and 1 of `operation.0.bytes`", "give as many of each"),
    ("[[axis]]\nzip = { seed = [1] }\nkey = \"seed\"", "sweep.toml:4: `axis.0` has both `zip` and `key`", "leave one of them out"),
    ("[[axis]]\nzip = { seed = [1] }\nnames = { see = \"x\" }", "sweep.toml:4: `axis.0.names` names `see`, which `axis.0.zip` does not have", "name keys of `zip`"),
    ("[[exclude]]\nwhen = 1", "sweep.toml:3: `exclude.0.when` is 1, but must be a condition, or a list of them", "write for example"),
    ("seeds = 5\n[[exclude]]\nwhen = \"seeds < 3\"", "sweep.toml:4: `exclude.0.when`: \"seeds < 3\" names `seeds`, which is no axis", "the columns are `seed`"),
    ("seeds = 5\n[[exclude]]\nwhen = \"seed = 6\"", "sweep.toml:4: `exclude.0.when`: \"seed = 6\" compares with a value that the axis never has", "`seed` has the values 1, 2, 3, 4, 5"),
    ("[[plot]]\nfile = \"a.svg\"\nx = \"sed\"\ny = \"makespan_ns\"", "sweep.toml:4: `plot.0.x` names `sed`, which is no column", "did you mean `seed`?"),
    ("[[plot]]\nfile = \"a.svg\"\nx = \"seed\"\ny = \"policy\"", "sweep.toml:5: `plot.0.y` names `policy`, whose cells are words", "name a column of numbers"),
    ("[[plot]]\nfile = \"a.svg\"\nx = \"seed\"\ny = [\"makespan_ns\", \"energy_nj\"]", "sweep.toml:2: `plot.0`: ", ""),
    ("[[axis]]\nname = \"\"\nkey = \"operation.0.bytes\"\nvalues = [64]", "sweep.toml:2: the column of `operation.0.bytes` has no name", "give it one"),
];

#[test]
fn every_fault_names_its_line_its_key_and_a_way_out() {
    for (sweep, message, help) in CASES {
        let (found_message, found_help) = explain(sweep);
        assert!(found_message.starts_with(message), "{sweep}\n{found_message}\n{message}");
        assert!(found_help.starts_with(help) && !found_help.is_empty(), "{sweep}\n{found_help}\n{help}");
    }
}

#[test]
fn a_scenario_that_is_not_there_is_said_so() {
    let directory = Directory::sound();
    let path = directory.path("sweep.toml");
    fs::write(&path, "scenario = \"missing.toml\"\n").unwrap();
    let error = SweepFile::read(&path).unwrap_err().to_string();
    assert!(error.contains("sweep.toml:1: `scenario` is \"missing.toml\", but "), "{error}");
}
