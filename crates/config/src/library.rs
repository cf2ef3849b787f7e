//! Files that many runs read: each is read and parsed once, whatever is put in the place of its values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::key::Key;
use crate::{Document, Failure, Overrides, SystemConfig, system};

/// Systems that a library keeps: enough for runs that go through some systems in turn, and no more than that of memory.
const SYSTEMS_KEPT: usize = 64;

/// The files that were read so far, and the systems that were made of them.
///
/// What changes on the disk after the first reading is not seen.
#[derive(Debug, Default)]
pub struct Library {
    documents: Mutex<BTreeMap<PathBuf, Arc<Document>>>,
    systems: Mutex<BTreeMap<SystemKey, Arc<ResolvedSystem>>>,
}

/// A system's file, and what was put in the place of its values.
type SystemKey = (PathBuf, Vec<Arc<str>>);

/// A system, checked, and what it was made of.
#[derive(Clone, Debug)]
pub struct ResolvedSystem {
    /// The system.
    pub config: SystemConfig,
    /// Its file, with all overrides in their places.
    pub document: Document,
}

impl Library {
    /// A file, as it was when it was first asked for.
    pub(crate) fn document(&self, path: &Path, keys: &'static [Key]) -> Result<Document, Failure> {
        // No lock is held while a file is read; of two who read the same one, either may keep it.
        let known = locked(&self.documents).get(path).map(Arc::clone);
        if let Some(known) = known {
            return Ok(Document::clone(&known));
        }
        let document = Document::read(path, keys)?;
        locked(&self.documents).insert(path.to_owned(), Arc::new(document.clone()));
        Ok(document)
    }

    /// A system.
    pub(crate) fn system(&self, path: &Path, overrides: &Overrides) -> Result<Arc<ResolvedSystem>, Failure> {
        let key = (path.to_owned(), overrides.texts());
        let known = locked(&self.systems).get(&key).map(Arc::clone);
        if let Some(known) = known {
            return Ok(known);
        }
        let (config, document) = SystemConfig::check(self.document(path, system::KEYS)?, overrides)?;
        let system = Arc::new(ResolvedSystem { config, document });
        let mut systems = locked(&self.systems);
        if systems.len() >= SYSTEMS_KEPT {
            systems.clear();
        }
        systems.insert(key, Arc::clone(&system));
        Ok(system)
    }
}

/// A panic elsewhere leaves what is in a library as it was: whole.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
