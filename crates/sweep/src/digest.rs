//! What identifies a run: a digest of all that decides its result.

use std::fmt;
use std::str::FromStr;

use report::{Column, run_cells};
use sha2::{Digest as _, Sha256};

use rowclone_config::{ResolvedScenario, Variant};

/// The version of the model: raised with each change after which some run may have another result.
///
/// Results that were kept under another version are not taken again. A test that pins the results of a small sweep tells when
/// to raise it.
pub const MODEL_VERSION: u64 = 14;

/// A digest: the first 128 bits of a SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(u128);

impl Digest {
    /// Of what a hasher was given.
    pub(super) fn finish(hasher: Sha256) -> Digest {
        Digest(u128::from_be_bytes(*hasher.finalize().first_chunk().expect("it has 256 bits")))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Digest {
    type Err = ();

    fn from_str(text: &str) -> Result<Digest, ()> {
        let is_digest = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u128::from_str_radix(text, 16).ok().filter(|_| is_digest).map(Digest).ok_or(())
    }
}

/// What all runs of a scenario share.
#[derive(Clone)]
pub(super) struct ScenarioDigest(Sha256);

/// What says which runs there are, and where files lie: a run's own part of it goes in by itself, and files by their contents.
const NOT_OF_A_RUN: &[&str] = &[
    "system",
    "machine",
    "policies",
    "copiers",
    "workload.file",
    "workload.files",
    "workload.placement",
    "allocator.policies",
];

impl ScenarioDigest {
    /// Of a scenario and the contents of its trace or its programs, under this version of the model. `columns` says which figures a
    /// result has.
    pub(super) fn new(resolved: &ResolvedScenario, traces: &[Digest], columns: &[Column]) -> ScenarioDigest {
        let columns: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        ScenarioDigest::of_version(MODEL_VERSION, resolved, traces, &columns.join(","))
    }

    /// [`ScenarioDigest::new`] under any version of the model.
    fn of_version(version: u64, resolved: &ResolvedScenario, traces: &[Digest], columns: &str) -> ScenarioDigest {
        let mut hasher = Sha256::new();
        let traces: String = traces.iter().map(Digest::to_string).collect();
        let machine = resolved.machine.as_ref().map_or(String::new(), |document| document.canonical(&["system"]));
        let system = &resolved.system;
        for part in [
            &version.to_string(),
            columns,
            &resolved.document.canonical(NOT_OF_A_RUN),
            &system.document.canonical(&["device.currents"]),
            &format!("{:?}", system.config.memory.currents()),
            &machine,
            &traces,
        ] {
            add(&mut hasher, part);
        }
        ScenarioDigest(hasher)
    }

    /// Of one of its runs.
    pub(super) fn of(&self, variant: Variant) -> Digest {
        let mut hasher = self.0.clone();
        add(&mut hasher, variant.name());
        add(&mut hasher, variant.placement.name().unwrap_or_default());
        Digest::finish(hasher)
    }
}

/// Of a run of a scenario that lists its operations, as a table of this version of the program gives it.
pub fn of_operations(resolved: &ResolvedScenario, variant: Variant) -> Digest {
    ScenarioDigest::new(resolved, &[], &run_cells::columns()).of(variant)
}

/// With its length, so that no two lists of parts look the same.
fn add(hasher: &mut Sha256, part: &str) {
    hasher.update((part.len() as u64).to_le_bytes());
    hasher.update(part);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use rowclone_config::Library;

    /// A result of another version, and one with other figures, is not taken again.
    #[test]
    fn the_version_of_the_model_and_the_columns_are_part_of_a_digest() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/one-copy.toml");
        let resolved = ResolvedScenario::read(&Library::default(), &path, &[]).unwrap();
        let variant = resolved.scenario.variants()[0];
        let of = |version, columns| ScenarioDigest::of_version(version, &resolved, &[], columns).of(variant);
        let columns = ["a", "b"].map(|name| Column::new(name, report::Kind::Count));
        assert_eq!(of(MODEL_VERSION, "a,b"), ScenarioDigest::new(&resolved, &[], &columns).of(variant));
        assert_ne!(of(MODEL_VERSION - 1, "a,b"), of(MODEL_VERSION, "a,b"));
        assert_ne!(of(MODEL_VERSION, "a"), of(MODEL_VERSION, "a,b"));
    }

    #[test]
    fn a_digest_reads_back() {
        let digest = Digest::finish(Sha256::new_with_prefix("x"));
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!("0123".parse::<Digest>(), Err(()));
        assert_eq!("g".repeat(32).parse::<Digest>(), Err(()));
    }
}
