//! Programs that are installed or not.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rowclone_config::Failure;

/// The failure to find the program of a recorder.
pub fn install(program: &str, package: &str) -> Failure {
    let help = format!("install it: `apt-get install {package}` on Debian and Ubuntu");
    Failure::new(format!("{program} is not installed")).with_help(help)
}

/// The failure to find the program to record.
pub fn no_program(name: &OsStr) -> Failure {
    let message = format!("{} cannot be executed: there is no such program", name.display());
    Failure::new(message).with_help("give the path of a program, or a name that the shell finds")
}

/// The program of a path, or of a name in the folders of `PATH`.
pub fn found_in_path(name: &OsStr) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| is_program(path));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
