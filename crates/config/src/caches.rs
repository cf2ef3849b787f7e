//! The table `caches` of a machine file.

use std::num::NonZeroUsize;

use dram_spec::LINE_BYTES;
use host::machine::{CacheShape, LineSettings, PrefetcherKind, Sharing, StoreMiss, WritePolicy};

use crate::Failure;
use crate::document::Section;

/// What the table `caches` of a machine sets.
pub(crate) struct CacheTable {
    pub(crate) l1: Option<CacheShape>,
    pub(crate) l2: Option<CacheShape>,
    pub(crate) last_level: CacheShape,
    pub(crate) sharing: Sharing,
    pub(crate) lines: LineSettings,
}

impl CacheTable {
    /// Checks the table, whose times are core cycles.
    pub(crate) fn check(table: &Section<'_>) -> Result<CacheTable, Failure> {
        let line_bytes = table.get("line_bytes").unwrap_or(LINE_BYTES);
        let (l1, l2) = (private(table, "l1", "an L1", line_bytes)?, private(table, "l2", "an L2", line_bytes)?);
        let last_level = shape(table, "last_level", line_bytes)?;
        let sharing = sharing(table)?;
        let lines = lines(table, &last_level)?;
        let has_prefetcher =
            [l1, l2, Some(last_level)].into_iter().flatten().any(|shape| shape.prefetcher != PrefetcherKind::None);
        if !has_prefetcher {
            let keys = ["prefetch_degree", "prefetch_distance", "prefetch_mshrs"];
            let help = "add for example `last_level_prefetcher = \"stride\"`, or leave the key out";
            table.without(&keys, ", and no cache has a prefetcher", help)?;
        }
        Ok(CacheTable { l1, l2, last_level, sharing, lines })
    }
}

/// Who shares the last-level cache: each core has its own, all share one, or a number of cores.
fn sharing(table: &Section<'_>) -> Result<Sharing, Failure> {
    let sharing = table.choice("sharing", &Sharing::NAMES).expect("it is required");
    let Some(cores) = table.get::<u64>("sharing_cores") else { return Ok(sharing) };
    if sharing == Sharing::Private {
        let help = "try `sharing = \"shared\"`, or leave `sharing_cores` out";
        table.without(&["sharing_cores"], ", and `caches.sharing` is `private`", help)?;
    }
    Ok(Sharing::Group(NonZeroUsize::new(cores as usize).expect("it is at least 2")))
}

/// Settings of lines: write policy, write buffer, and prefetching.
fn lines(table: &Section<'_>, last_level: &CacheShape) -> Result<LineSettings, Failure> {
    let mut lines = table.over(LineSettings::default());
    lines.prefetch = table.over(lines.prefetch);
    if lines.write != WritePolicy::WriteThrough && last_level.store_miss != StoreMiss::NoAllocate {
        let help = "add `write = \"write-through\"` or `last_level_store_miss = \"no-allocate\"`, or leave the key out";
        table.without(&["write_buffer", "write_merging"], ", and no store uses it", help)?;
    }
    Ok(lines)
}

/// Shape of an L1 or L2; none if it has no keys. `name` is its name with an article, for messages.
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
