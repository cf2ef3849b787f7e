//! The shipped recordings of programs.

use std::fs::File;
use std::path::{Path, PathBuf};

use rowclone_config::Failure;

/// Directory of the shipped recordings, in a checkout of the repository.
const DIRECTORY: &str = "traces/recorded";

/// Recordings of programs whose kernel copies and zeroes much.
const COPY_INTENSIVE: [&str; 8] =
    ["compiler", "file-copy", "mariadb", "memcached", "redis", "shell", "sqlite", "start-up"];
/// Recordings of programs that access much memory.
const MEMORY_INTENSIVE: [&str; 4] = ["random-updates", "sort", "triad", "xz"];

/// The shipped recordings, in the order of their names.
///
/// # Errors
/// There are none in the current directory.
pub fn shipped() -> Result<Vec<PathBuf>, Failure> {
    let directory = Path::new(DIRECTORY);
    let read = || -> std::io::Result<Vec<PathBuf>> {
        std::fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect()
    };
    let mut paths = read().map_err(|source| Failure::reading(directory, &source).with_help(HELP))?;
    paths.retain(|path| path.to_string_lossy().contains(".rct"));
    paths.sort();
    if paths.is_empty() {
        return Err(Failure::new(format!("{DIRECTORY} has no recordings")).with_help(HELP));
    }
    Ok(paths)
}

/// Checks that the recordings of mixes are there.
///
/// # Errors
/// One of them cannot be read.
pub fn require_mixes() -> Result<(), Failure> {
    for path in COPY_INTENSIVE.iter().chain(&MEMORY_INTENSIVE).map(|name| path(name)) {
        File::open(&path).map_err(|source| {
            let other = "or give `--programs generated` for programs that need no recordings";
            Failure::reading(&path, &source).with_help(format!("{HELP}; {other}"))
        })?;
    }
    Ok(())
}

const HELP: &str = "run this in a checkout of the repository; the scripts of traces/record make the recordings";

/// Name of a recording: that of its file, without what follows the first dot.
pub fn name(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    file.split('.').next().unwrap_or_default().to_owned()
}

/// The shipped recording with a name.
pub fn path(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(format!("{name}.rct.zst"))
}

/// The names of the recordings of a mix by core: copy-intensive ones on even cores, memory-intensive ones on odd cores.
pub fn mix(number: usize, cores: usize) -> Vec<&'static str> {
    let of = |core: usize| {
        let first = number + core / 2;
        match core % 2 {
            0 => COPY_INTENSIVE[first % COPY_INTENSIVE.len()],
            _ => MEMORY_INTENSIVE[(first + number / MEMORY_INTENSIVE.len()) % MEMORY_INTENSIVE.len()],
        }
    };
    (0..cores).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_have_both_kinds_and_the_first_eight_each_copying_program_once() {
        let firsts: Vec<_> = (0..8).map(|number| mix(number, 2)[0]).collect();
        assert_eq!(firsts, COPY_INTENSIVE);
        let is_copying: Vec<_> = mix(3, 8).iter().map(|name| COPY_INTENSIVE.contains(name)).collect();
        assert_eq!(is_copying, [true, false, true, false, true, false, true, false]);
        let pairs: std::collections::BTreeSet<_> = (0..8).map(|number| mix(number, 2)).collect();
        assert_eq!(pairs.len(), 8);
    }

    #[test]
    fn names_end_at_the_first_dot() {
        assert_eq!(name(Path::new("traces/recorded/fork-benchmark.rct.zst")), "fork-benchmark");
    }
}
