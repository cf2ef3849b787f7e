//! Digests that identify runs by all inputs that decide their results.

use std::str::FromStr;

use report::{CellColumn, run_cells};
use sha2::{Digest as _, Sha256};

use rowclone_config::{ResolvedScenario, Variant};

/// Version of the model. It rises with each change after which a run may have a different result.
///
/// Results of other versions are not used again. The test that compares the results of a small sweep with a snapshot
/// shows when to raise it.
pub const MODEL_VERSION: u64 = 16;

/// The first 128 bits of a SHA-256 digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
#[display("{_0:032x}")]
pub struct Digest(u128);

impl Digest {
    /// Digest of the bytes that a hasher received.
    pub(super) fn finish(hasher: Sha256) -> Digest {
        Digest(u128::from_be_bytes(*hasher.finalize().first_chunk().expect("it has 256 bits")))
    }
}

impl FromStr for Digest {
    type Err = ();

    fn from_str(text: &str) -> Result<Digest, ()> {
        let is_digest = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u128::from_str_radix(text, 16).ok().filter(|_| is_digest).map(Digest).ok_or(())
    }
}

/// Digest of the inputs that all runs of a scenario share.
#[derive(Clone)]
pub(super) struct ScenarioDigest(Sha256);

/// Keys that the digest of a scenario omits: those that list runs, because the digest of each run has its part of them,
/// and those that name files, because the digest has the contents of the files.
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
    /// Computes the digest of a scenario and of the contents of its trace or programs, under this version of the model.
    /// `columns` lists the figures of a result.
    pub(super) fn new(resolved: &ResolvedScenario, traces: &[Digest], columns: &[CellColumn]) -> ScenarioDigest {
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

    /// Digest of a run of the scenario.
    pub(super) fn of(&self, variant: Variant) -> Digest {
        let mut hasher = self.0.clone();
        add(&mut hasher, variant.name());
        add(&mut hasher, variant.placement.name().unwrap_or_default());
        Digest::finish(hasher)
    }
}

/// Digest of a run that lists its operations, for tables of this version of the program.
pub fn of_operations(resolved: &ResolvedScenario, variant: Variant) -> Digest {
    ScenarioDigest::new(resolved, &[], &run_cells::columns()).of(variant)
}

/// Hashes a part with its length, so that different lists of parts have different digests.
fn add(hasher: &mut Sha256, part: &str) {
    hasher.update((part.len() as u64).to_le_bytes());
    hasher.update(part);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use rowclone_config::Library;

    /// A result of another version of the model, or with other columns, is not used again.
    #[test]
    fn the_version_of_the_model_and_the_columns_are_part_of_a_digest() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/one-copy.toml");
        let resolved = ResolvedScenario::read(&Library::default(), &path, &[]).unwrap();
        let variant = resolved.scenario.variants()[0];
        let of = |version, columns| ScenarioDigest::of_version(version, &resolved, &[], columns).of(variant);
        let columns = ["a", "b"].map(|name| CellColumn::new(name, report::CellKind::Count));
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
