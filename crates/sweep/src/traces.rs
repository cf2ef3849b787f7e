//! Traces of a sweep: each file is read once for its digest, and kept compressed while a limit permits it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use trace_io::Compression;

use rowclone_config::library::locked;
use rowclone_config::{Failure, file};

use super::digest::Digest;

/// Traces that were read.
#[derive(Debug)]
pub struct Traces {
    limit: u64,
    cache: Mutex<Cache>,
}

/// Kept traces, the least recently used first.
#[derive(Debug, Default)]
struct Cache {
    entries: Vec<Arc<CachedTrace>>,
    used: u64,
}

#[derive(Debug)]
struct CachedTrace {
    path: PathBuf,
    /// Digest, once the file was read to its end.
    read: OnceLock<Result<(Digest, Stamp), Failure>>,
    /// Compressed bytes, if the limit permitted keeping them.
    kept: Mutex<Option<Arc<[u8]>>>,
}

/// Attributes of a file that change with its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// A trace of a run.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) digest: Digest,
    /// Compressed bytes, if they were kept; else the run reads the file.
    pub(super) kept: Option<Arc<[u8]>>,
    path: PathBuf,
    stamp: Stamp,
}

impl Trace {
    /// Checks, after a run that read the file again, that the file is the one of the digest.
    ///
    /// # Errors
    /// The file has changed.
    pub(super) fn check_unchanged(&self) -> Result<(), Failure> {
        if self.kept.is_some() || Stamp::of(&self.path).is_ok_and(|stamp| stamp == self.stamp) {
            return Ok(());
        }
        Err(Failure::at(&self.path, "has changed while the sweep ran")
            .with_help("start the sweep again: it goes on with the file as it is now"))
    }
}

impl Stamp {
    fn of(path: &Path) -> std::io::Result<Stamp> {
        let metadata = std::fs::metadata(path)?;
        Ok(Stamp { bytes: metadata.len(), modified: metadata.modified().ok() })
    }
}

impl Traces {
    /// Creates a cache of at most `limit` compressed bytes.
    pub fn new(limit: u64) -> Traces {
        Traces { limit, cache: Mutex::default() }
    }

    /// The trace of a file. The first caller reads it; concurrent callers wait.
    pub(super) fn open(&self, path: &Path, stop: &AtomicBool) -> Result<Trace, Failure> {
        let entry = self.entry(path);
        let read = entry.read.get_or_init(|| self.read(&entry, stop));
        let (digest, stamp) = read.clone()?;
        let kept = locked(&entry.kept).clone();
        Ok(Trace { digest, kept, path: path.to_owned(), stamp })
    }

    /// Entry of a path, marked as most recently used.
    fn entry(&self, path: &Path) -> Arc<CachedTrace> {
        let mut cache = locked(&self.cache);
        let entry = match cache.entries.iter().position(|entry| entry.path == path) {
            Some(index) => cache.entries.remove(index),
            None => Arc::new(CachedTrace { path: path.to_owned(), read: OnceLock::new(), kept: Mutex::new(None) }),
        };
        cache.entries.push(Arc::clone(&entry));
        entry
    }

    fn read(&self, entry: &CachedTrace, stop: &AtomicBool) -> Result<(Digest, Stamp), Failure> {
        let fault = |error: std::io::Error| Failure::reading(&entry.path, &error);
        let stamp = Stamp::of(&entry.path).map_err(fault)?;
        let mut file = file::open(&entry.path).map_err(fault)?;
        let (mut hasher, mut keeping) = (Sha256::new(), None);
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        loop {
            Failure::if_raised(stop)?;
            chunk.clear();
            if (&mut file).take(CHUNK_BYTES as u64).read_to_end(&mut chunk).map_err(fault)? == 0 {
                break;
            }
            hasher.update(&chunk);
            keeping.get_or_insert_with(|| Keeping::new(self, &chunk)).push(&chunk);
        }
        *locked(&entry.kept) = keeping.and_then(Keeping::finish);
        Ok((Digest::finish(hasher), stamp))
    }

    /// Reserves bytes; returns whether the limit permits it.
    fn reserve(&self, bytes: u64) -> bool {
        let mut cache = locked(&self.cache);
        while cache.used + bytes > self.limit {
            let Some(freed) = cache.entries.iter().find_map(|entry| entry.give_up()) else { return false };
            cache.used -= freed;
        }
        cache.used += bytes;
        true
    }
}

impl CachedTrace {
    /// Releases the kept trace, unless a run plays it; returns its size in bytes.
    fn give_up(&self) -> Option<u64> {
        let mut kept = locked(&self.kept);
        let idle = kept.take_if(|bytes| Arc::strong_count(bytes) == 1)?;
        Some(idle.len() as u64)
    }
}

/// Number of bytes of a file that are read at once.
const CHUNK_BYTES: usize = 1 << 16;

/// A trace that is being compressed into the cache. Dropping it before the end of the file releases its reserved bytes.
struct Keeping<'a> {
    traces: &'a Traces,
    /// Compressed bytes; none if the limit was exceeded.
    so_far: Option<SoFar>,
    reserved: u64,
}

enum SoFar {
    /// Whether the file is compressed.
    AsItIs(Vec<u8>),
    Compressed(GzEncoder<Vec<u8>>),
}

impl<'a> Keeping<'a> {
    /// Starts with the beginning of a file.
    fn new(traces: &'a Traces, chunk: &[u8]) -> Keeping<'a> {
        let so_far = match Compression::of(chunk) {
            Compression::Gzip | Compression::Zstd => SoFar::AsItIs(Vec::new()),
            Compression::None => SoFar::Compressed(GzEncoder::new(Vec::new(), flate2::Compression::fast())),
        };
        Keeping { traces, so_far: Some(so_far).filter(|_| traces.limit > 0), reserved: 0 }
    }

    fn push(&mut self, chunk: &[u8]) {
        let bytes = match &mut self.so_far {
            None => return,
            Some(SoFar::AsItIs(bytes)) => {
                bytes.extend_from_slice(chunk);
                bytes.len()
            }
            Some(SoFar::Compressed(encoder)) => {
                // Writing to memory cannot fail.
                let _ = encoder.write_all(chunk);
                encoder.get_ref().len()
            }
        };
        if !self.reserve(bytes) {
            self.so_far = None;
        }
    }

    /// Reserves bytes; returns whether the limit permits it.
    fn reserve(&mut self, bytes: usize) -> bool {
        let has_room = self.traces.reserve(bytes as u64 - self.reserved);
        if has_room {
            self.reserved = bytes as u64;
        }
        has_room
    }

    fn finish(mut self) -> Option<Arc<[u8]>> {
        let bytes = match self.so_far.take()? {
            SoFar::AsItIs(bytes) => bytes,
            SoFar::Compressed(encoder) => encoder.finish().ok()?,
        };
        // The cache counts the bytes from here on.
        self.reserve(bytes.len()).then(|| {
            self.reserved = 0;
            bytes.into()
        })
    }
}

impl Drop for Keeping<'_> {
    fn drop(&mut self) {
        locked(&self.traces.cache).used -= self.reserved;
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use flate2::read::GzDecoder;

    use super::*;

    /// A text that compresses to more than a few bytes.
    fn text(seed: u64, lines: u64) -> String {
        let mix = |line: u64| (line + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let lines = (0..lines).map(|line| format!("R {:x}00 0 {}", mix(line), mix(line) % 7));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    fn open(traces: &Traces, path: &Path) -> Trace {
        traces.open(path, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn what_is_kept_is_what_the_file_holds_and_is_compressed_once() {
        let directory = tempfile::tempdir().unwrap();
        let (plain, gzip) = (directory.path().join("plain"), directory.path().join("gzip"));
        let text = text(1, 20_000);
        std::fs::write(&plain, &text).unwrap();
        let mut encoder = GzEncoder::new(File::create(&gzip).unwrap(), flate2::Compression::best());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap();
        let traces = Traces::new(1 << 30);
        for path in [&plain, &gzip] {
            let kept = open(&traces, path).kept.unwrap();
            assert!(kept.len() < text.len());
            let mut found = String::new();
            GzDecoder::new(&kept[..]).read_to_string(&mut found).unwrap();
            assert_eq!(found, text);
        }
        assert_eq!(open(&traces, &gzip).kept.unwrap()[..], std::fs::read(&gzip).unwrap()[..]);
        let used = locked(&traces.cache).used;
        let kept = [&plain, &gzip].map(|path| open(&traces, path).kept.unwrap().len() as u64);
        assert_eq!(used, kept.iter().sum::<u64>(), "each byte is counted once");
    }

    #[test]
    fn what_was_used_least_recently_makes_room_unless_it_is_played() {
        let directory = tempfile::tempdir().unwrap();
        let paths = ["a", "b", "c"].map(|name| directory.path().join(name));
        for (seed, path) in paths.iter().enumerate() {
            std::fs::write(path, text(seed as u64, 10_000)).unwrap();
        }
        let one = open(&Traces::new(1 << 30), &paths[0]).kept.unwrap().len() as u64;
        let traces = Traces::new(one * 5 / 2);
        let digests = [0, 1].map(|index| open(&traces, &paths[index]).digest);
        let played = open(&traces, &paths[0]);
        assert!(open(&traces, &paths[2]).kept.is_some());
        assert!(played.kept.is_some() && open(&traces, &paths[0]).kept.is_some());
        let streamed = open(&traces, &paths[1]);
        assert!(streamed.kept.is_none() && streamed.digest == digests[1]);
        assert!(locked(&traces.cache).used <= traces.limit);
    }

    #[test]
    fn what_does_not_fit_is_read_again_and_must_be_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, text(1, 10_000)).unwrap();
        let kept = open(&Traces::new(1 << 30), &path);
        for limit in [0, 1000] {
            let traces = Traces::new(limit);
            let streamed = open(&traces, &path);
            assert!(streamed.kept.is_none() && streamed.digest == kept.digest);
            assert_eq!((streamed.check_unchanged(), locked(&traces.cache).used), (Ok(()), 0));
        }
        let streamed = open(&Traces::new(0), &path);
        std::fs::write(&path, "R 0 0 1\n").unwrap();
        assert!(streamed.check_unchanged().unwrap_err().to_string().ends_with("has changed while the sweep ran"));
        assert_eq!(kept.check_unchanged(), Ok(()), "what is kept stays what it was");
    }
}
