//! The table `caches` of a machine file.

use std::num::NonZeroUsize;

use dram_spec::LINE_BYTES;
use host::machine::{CacheShape, LineSettings, PrefetchSettings, PrefetcherKind, Sharing, StoreMiss, WritePolicy};

use crate::Failure;
use crate::section::Section;

/// The caches of a machine.
pub(crate) struct Caches {
    pub(crate) l1: Option<CacheShape>,
    pub(crate) l2: Option<CacheShape>,
    pub(crate) last_level: CacheShape,
    pub(crate) sharing: Sharing,
    pub(crate) lines: LineSettings,
}

/// Keys of the write buffer.
const WRITE_BUFFER: [&str; 2] = ["write_buffer", "write_merging"];
/// Keys of the prefetchers of all levels.
const PREFETCH: [&str; 3] = ["prefetch_degree", "prefetch_distance", "prefetch_mshrs"];

impl Caches {
    /// Checks the table, whose times are core cycles.
    pub(crate) fn check(table: &Section<'_>) -> Result<Caches, Failure> {
        let line_bytes = table.get("line_bytes").unwrap_or(LINE_BYTES);
        let (l1, l2) = (private(table, "l1", "an L1", line_bytes)?, private(table, "l2", "an L2", line_bytes)?);
        let last_level = shape(table, "last_level", line_bytes)?;
        let sharing = sharing(table)?;
        let lines = lines(table, line_bytes, &last_level)?;
        let has_prefetcher =
            [l1, l2, Some(last_level)].into_iter().flatten().any(|shape| shape.prefetcher != PrefetcherKind::None);
        if let Some(key) = PREFETCH.into_iter().find(|key| !has_prefetcher && table.has(key)) {
            let message = format!("`caches.{key}` is given, and no cache has a prefetcher");
            let help = "add for example `last_level_prefetcher = \"stride\"`, or leave the key out";
            return Err(table.fault(key, message).with_help(help));
        }
        Ok(Caches { l1, l2, last_level, sharing, lines })
    }
}

/// Who shares the last-level cache: each core has its own, all share one, or a number of cores.
fn sharing(table: &Section<'_>) -> Result<Sharing, Failure> {
    let sharing = table.choice("sharing", &Sharing::NAMES).expect("it is required");
    let Some(cores) = table.get::<u64>("sharing_cores") else { return Ok(sharing) };
    if sharing == Sharing::Private {
        let message = "`caches.sharing_cores` is given, and `caches.sharing` is `private`";
        let help = "try `sharing = \"shared\"`, or leave `sharing_cores` out";
        return Err(table.fault("sharing_cores", message).with_help(help));
    }
    Ok(Sharing::Group(NonZeroUsize::new(cores as usize).expect("it is at least 2")))
}

/// Lines, and how they go to memory and come from there.
fn lines(table: &Section<'_>, bytes: u64, last_level: &CacheShape) -> Result<LineSettings, Failure> {
    let defaults = LineSettings::default();
    let write = table.get("write").unwrap_or(defaults.write);
    let is_used = write == WritePolicy::WriteThrough || last_level.store_miss == StoreMiss::NoAllocate;
    if let Some(key) = WRITE_BUFFER.into_iter().find(|key| !is_used && table.has(key)) {
        let message = format!("`caches.{key}` is given, and no store uses it");
        let help = "add `write = \"write-through\"` or `last_level_store_miss = \"no-allocate\"`, or leave the key out";
        return Err(table.fault(key, message).with_help(help));
    }
    let entries = |key: &str, default: usize| table.get::<u64>(key).map_or(default, |entries| entries as usize);
    Ok(LineSettings {
        bytes,
        write,
        write_buffer: entries(WRITE_BUFFER[0], defaults.write_buffer),
        merging: table.get(WRITE_BUFFER[1]).unwrap_or(defaults.merging),
        prefetch: PrefetchSettings {
            degree: table.get(PREFETCH[0]).unwrap_or(defaults.prefetch.degree),
            distance: table.get(PREFETCH[1]).unwrap_or(defaults.prefetch.distance),
            mshrs: entries(PREFETCH[2], defaults.prefetch.mshrs),
        },
    })
}

/// An L1 or L2, `name` with its article: three keys or none, and two more.
fn private(table: &Section<'_>, level: &str, name: &str, line_bytes: u64) -> Result<Option<CacheShape>, Failure> {
    let keys = ["bytes", "ways", "latency"].map(|key| format!("{level}_{key}"));
    let further = ["store_miss", "prefetcher"].map(|key| format!("{level}_{key}"));
    let given = || keys.iter().chain(&further).find(|key| table.has(key));
    let (Some(there), missing) = (given(), keys.iter().find(|key| !table.has(key))) else { return Ok(None) };
    if let Some(missing) = missing {
        let message = format!("`caches.{there}` is given, and `caches.{missing}` is not");
        let help = format!("{name} has `{}`, `{}` and `{}`", keys[0], keys[1], keys[2]);
        return Err(table.fault(there, message).with_help(help));
    }
    shape(table, level, line_bytes).map(Some)
}

/// A cache of a number of sets.
fn shape(table: &Section<'_>, level: &str, line_bytes: u64) -> Result<CacheShape, Failure> {
    let key = |name: &str| format!("{level}_{name}");
    let (bytes, ways): (u64, u64) = (table.of(&key("bytes")), table.of(&key("ways")));
    let set = line_bytes * ways;
    if !bytes.is_multiple_of(set) {
        let key = key("bytes");
        let message = format!("`caches.{key}` is {bytes}, which is not {line_bytes} x {ways} x a number of sets");
        let fitting = bytes.next_multiple_of(set);
        return Err(table.fault(&key, message).with_help(format!("try `{key} = {fitting}`")));
    }
    Ok(CacheShape {
        store_miss: table.get(&key("store_miss")).unwrap_or(StoreMiss::Allocate),
        prefetcher: table.get(&key("prefetcher")).unwrap_or(PrefetcherKind::None),
        ..CacheShape::new(bytes, ways as usize, table.of(&key("latency")))
    })
}
