//! Command lines that repeat one run of a sweep.

use std::path::Path;

use rowclone_config::{Placement, Variant, overrides::quoted};
use rowclone_sim::compare::NamedCopier;

/// `rowclone-sim run SCENARIO --set … --set …`, quoted for a shell. For a point without runs, it is the command of the
/// point.
///
/// If one run of a trace uses recorded addresses and another one an allocator, the command of the first also executes
/// the second, because a scenario with an `[allocator]` must use it. `key` is the key that lists the policies.
pub fn command(scenario: &Path, words: &[String], runs: &[Variant], run: Option<(&str, Variant)>) -> String {
    let mut all: Vec<String> = words.to_vec();
    if let Some((key, Variant { policy, copy_loop, placement })) = run {
        all.push(format!("{key}=[\"{}\"]", NamedCopier { policy, copy_loop }.name()));
        if let Placement::Allocator(allocator) = placement {
            if runs.iter().any(|other| other.placement == Placement::AsRecorded) {
                all.push("workload.placement=allocator".to_owned());
            }
            all.push(format!("allocator.policies=[\"{}\"]", allocator.name()));
        }
    }
    let sets = all.iter().map(|word| format!(" --set {}", quoted(word))).collect::<Vec<_>>().concat();
    format!("rowclone-sim run {}{sets}", quoted(&scenario.display().to_string()))
}

#[cfg(test)]
mod tests {
    use memctrl::policy::copy::ROWCLONE;

    use super::*;

    #[test]
    fn a_shell_splits_the_command_into_its_words() {
        let sets = ["seed=7", "", "a b", "it's=[\"x\\y\"]", "'"].map(str::to_owned);
        let line = command(Path::new("a 'b'.toml"), &sets, &[], None);
        let mut expected = vec!["rowclone-sim".to_owned(), "run".to_owned(), "a 'b'.toml".to_owned()];
        expected.extend(sets.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
        assert_eq!(shlex::split(&line), Some(expected));
        assert_eq!(shlex::split("run 'a"), None);
    }

    #[test]
    fn each_run_of_a_point_has_its_own_command() {
        let words = ["seed=7".to_owned(), "operation.0.src=[\"it's\"]".to_owned()];
        let placements = [Placement::AsRecorded, Placement::Allocator(os_alloc_sim::Policy::Buddy)];
        let runs = placements.map(|placement| Variant::of_policy(ROWCLONE, placement));
        let start = "rowclone-sim run 'a b.toml' --set seed=7 --set 'operation.0.src=[\"it'\\''s\"]'";
        let of = |run: Option<Variant>| command(Path::new("a b.toml"), &words, &runs, run.map(|run| ("policies", run)));
        assert_eq!(of(None), start);
        assert_eq!(of(Some(runs[0])), format!("{start} --set 'policies=[\"rowclone\"]'"));
        let copiers = command(Path::new("x.toml"), &[], &runs, Some(("copiers", runs[0])));
        assert_eq!(copiers, "rowclone-sim run x.toml --set 'copiers=[\"rowclone\"]'");
        let placed = "--set workload.placement=allocator --set 'allocator.policies=[\"buddy\"]'";
        assert_eq!(of(Some(runs[1])), format!("{start} --set 'policies=[\"rowclone\"]' {placed}"));
    }
}
