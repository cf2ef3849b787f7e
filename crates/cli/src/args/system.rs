//! The memory system of a trace that does not name it.

use std::path::{Path, PathBuf};

use clap::Args;
use dram_spec::Standard;
use rowclone_config::preset::{SYSTEMS, names};
use rowclone_config::{Failure, Overrides, SystemConfig};

use super::one_of;
use crate::output;

/// A system, or its standard.
#[derive(Clone, Debug, Args)]
pub struct TraceSystemArgs {
    /// The memory system of a trace that does not name it, or for its addresses and times: a TOML file, or a name of
    /// `rowclone-sim systems`
    #[arg(long, value_name = "SYSTEM")]
    pub system: Option<PathBuf>,
    /// The standard of a trace that does not name it, which has to be that of the system. Without `--system`, the
    /// system is the first of this standard in `rowclone-sim systems` [default: that of the system]
    #[arg(long, value_name = "NAME", value_parser = one_of(Standard::ALL.map(|standard| (standard.name(), standard))))]
    pub standard: Option<Standard>,
}

impl TraceSystemArgs {
    /// The option that is given, as the command line has it; `None` if there is none.
    pub fn given(&self) -> Option<String> {
        let system = self.system.as_ref().map(|system| format!("--system {}", system.display()));
        system.or_else(|| self.standard.map(|standard| format!("--standard {}", standard.name())))
    }

    /// The system, if it is given.
    ///
    /// # Errors
    /// The file has an error, or the system is of another standard.
    ///
    /// # Panics
    /// A standard has no preset, which a test of the presets excludes.
    pub fn read(&self) -> Result<Option<SystemConfig>, Failure> {
        let read = |system: &Path| SystemConfig::read(system, &Overrides::default());
        match (&self.system, self.standard) {
            (None, None) => Ok(None),
            (Some(system), None) => read(system).map(Some),
            (Some(path), Some(standard)) => {
                let system = read(path)?;
                let found = system.memory.system().bin;
                if found.standard == standard {
                    return Ok(Some(system));
                }
                let (of, path) = (found.full_name(), path.display());
                let message = format!("`--standard {}`, but the system {path} is {of}", standard.name());
                Err(Failure::new(message).with_help("leave one of them out, or give the system that the trace is of"))
            }
            (None, Some(standard)) => {
                let of_standard = |name: &&str| {
                    let system = read(Path::new(name));
                    system.is_ok_and(|system| system.memory.system().standard() == standard)
                };
                let name = names(SYSTEMS).into_iter().find(of_standard).expect("each standard has a preset");
                output::message(&format!("note: the system is `{name}`; `--system` names another"));
                read(Path::new(name)).map(Some)
            }
        }
    }
}
