//! No input makes the program panic: whatever is done to a sound file, it is read, or refused with a message.

use std::fs;

use proptest::prelude::*;
use rowclone_config::error::FailureCause;
use rowclone_config::{Failure, Overrides, Scenario};

use crate::common::{Directory, SCENARIO, SYSTEM};

/// A sound text with some bytes of it replaced by what means something in TOML, and some lines gone.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let bytes = prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]{}=\"#.0-9a-f_\\-\n ]{0,3}"), 0..3);
    let gone = prop::collection::vec(any::<prop::sample::Index>(), 0..2);
    (bytes, gone).prop_map(move |(bytes, gone)| {
        let mut lines: Vec<&str> = text.lines().collect();
        for index in gone {
            lines.remove(index.index(lines.len()));
        }
        let mut text = lines.join("\n");
        for (index, with) in bytes {
            let at = index.index(text.len());
            text.replace_range(at..=at, &with);
        }
        text
    })
}

/// A sound scenario with each table that the plain one lacks.
const FORK: &str = r#"system = "system.toml"
policies = ["fastest", "least-energy"]
seed = 1
warm_up_cycles = 10
epoch_cycles = 100
[workload]
kind = "fork"
bytes = 65536
pages = 8
[allocator]
policies = ["buddy", "subarray-aware"]
utilization = 0.0
fragmentation = 0.0
"#;

#[test]
fn the_undamaged_files_are_sound() {
    let directory = Directory::sound();
    for text in [SCENARIO, FORK] {
        fs::write(directory.path("scenario.toml"), text).unwrap();
        directory.scenario(&[]).unwrap();
    }
}

proptest! {
    #[test]
    fn every_damaged_file_is_read_or_refused_with_its_place(
        system in damaged(SYSTEM),
        scenario in prop_oneof![damaged(SCENARIO), damaged(FORK)],
        set in "(system\\.)?[a-z.0-9\"]{0,9}=?[\\[\\]{}\"0-9a-z]{0,4}",
    ) {
        let directory = Directory::sound();
        fs::write(directory.path("system.toml"), system).unwrap();
        fs::write(directory.path("scenario.toml"), scenario).unwrap();
        let path = directory.path("scenario.toml");
        for sets in [&[][..], &[set]] {
            if let Err(error) = Scenario::read(&path, sets) {
                let Failure { cause: FailureCause::Refused, message, .. } = error else { panic!("nothing is printed") };
                let place = [".toml:", "--set "].iter().any(|place| message.contains(place));
                prop_assert!(place, "{message}");
            }
        }
    }

    #[test]
    fn no_assignment_makes_a_panic(text in ".{0,20}") {
        let _ = Overrides::parse(&[text]);
    }
}
