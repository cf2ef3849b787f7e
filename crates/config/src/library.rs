//! Cache of input files: each file is read and parsed once, for any overrides.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::key::Key;
use crate::{Document, Failure, MachineConfig, Overrides, Source, SystemConfig, machine, system};

/// Maximum number of cached systems: enough for runs that alternate between some systems, with a bound on memory.
const SYSTEMS_KEPT: usize = 64;

/// Cache of files and of the systems built from them.
///
/// A change on disk after the first reading has no effect.
#[derive(Debug, Default)]
pub struct Library {
    documents: Mutex<BTreeMap<Source, Arc<Document>>>,
    systems: Mutex<BTreeMap<SystemKey, Arc<ResolvedSystem>>>,
}

/// Key of a cached system: its file or preset, and its overrides.
type SystemKey = (Source, Vec<Arc<str>>);

/// A checked file with its document.
#[derive(Clone, Debug)]
pub struct Resolved<T> {
    /// The content of the file.
    pub config: T,
    /// Document of the file, with all overrides applied.
    pub document: Document,
}

/// A checked system with its document.
pub type ResolvedSystem = Resolved<SystemConfig>;

impl Library {
    /// A file, with the content of its first reading.
    pub(crate) fn document(&self, source: &Source, keys: &'static [Key]) -> Result<Document, Failure> {
        // No lock is held while a file is read. Where two threads read a file, either result is kept.
        let known = locked(&self.documents).get(source).map(Arc::clone);
        if let Some(known) = known {
            return Ok(Document::clone(&known));
        }
        let document = Document::of_source(source, keys)?;
        locked(&self.documents).insert(source.clone(), Arc::new(document.clone()));
        Ok(document)
    }

    /// A machine and its document. Overrides of the machine file and of its system file are separate.
    pub(crate) fn machine(
        &self,
        source: &Source,
        overrides: &Overrides,
        of_system: &Overrides,
    ) -> Result<(Resolved<MachineConfig>, Arc<ResolvedSystem>), Failure> {
        let mut document = self.document(source, machine::KEYS)?;
        document.apply(overrides)?;
        document.check()?;
        let system = self.system(&machine::system_of(&document, source)?, of_system)?;
        let config = MachineConfig::check(&mut document, system.config.clone())?;
        Ok((Resolved { config, document }, system))
    }

    /// A system.
    pub(crate) fn system(&self, source: &Source, overrides: &Overrides) -> Result<Arc<ResolvedSystem>, Failure> {
        let key = (source.clone(), overrides.texts());
        let known = locked(&self.systems).get(&key).map(Arc::clone);
        if let Some(known) = known {
            return Ok(known);
        }
        let (config, document) = SystemConfig::check(self.document(source, &system::KEYS)?, overrides)?;
        let system = Arc::new(Resolved { config, document });
        let mut systems = locked(&self.systems);
        if systems.len() >= SYSTEMS_KEPT {
            systems.clear();
        }
        systems.insert(key, Arc::clone(&system));
        Ok(system)
    }
}

/// Locks a mutex. A panic of a thread that held it is ignored: the value is used as that thread left it.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
