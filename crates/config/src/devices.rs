//! The tables `interconnect`, `copy_engine`, `dma` and `network` of a machine file.

use host::machine::{
    BusSettings, DmaSettings, InjectionLevel, InjectionPolicy, InjectionSettings, NetworkSettings, Sharing,
};
use rowclone_sim::DeviceSettings;

use crate::Failure;
use crate::document::Section;

/// The front-side bus, whose times are core cycles; none without the table.
pub(crate) fn bus(root: &Section<'_>) -> Option<BusSettings> {
    let table = root.table("interconnect")?;
    Some(table.over(BusSettings { address_clocks: 1, ..BusSettings::default() }))
}

/// The network adapter; none without the table. `link_cycles` is the default of the core cycles of 1,000 bytes. Packets
/// may be injected into an L1 or an L2 if there is one.
///
/// # Errors
/// A key is given that the adapter does not use.
pub(crate) fn network(
    root: &Section<'_>,
    link_cycles: u64,
    has_upper: [bool; 2],
    sharing: Sharing,
) -> Result<Option<NetworkSettings>, Failure> {
    let Some(table) = root.table("network") else { return Ok(None) };
    let count = |key: &str| table.get(key).unwrap_or(1);
    let cycles = table.get("cycles_per_1000_bytes").unwrap_or(link_cycles);
    let mut settings = table.over(NetworkSettings::gigabit(count("ports"), count("queues"), cycles));
    if settings.clients == 0 {
        let why = ", and the adapter has no `clients`";
        table.without(&["client_cycles", "answer_packets"], why, "add `clients`, or leave the key out")?;
    }
    settings.injection = injection(&table, settings.queues, has_upper, sharing)?;
    Ok(Some(settings))
}

/// The keys of injection, each with the policy that uses it; `None`: all policies but `never`.
const INJECTION: [(&str, Option<InjectionPolicy>); 5] = [
    ("inject_level", None),
    ("inject_core", None),
    ("inject_max_bytes", Some(InjectionPolicy::BySize)),
    ("inject_share", Some(InjectionPolicy::BoundedWays)),
    ("inject_near_packets", Some(InjectionPolicy::WhenExpected)),
];

/// Which packets are injected into a cache.
fn injection(
    table: &Section<'_>,
    queues: usize,
    has_upper: [bool; 2],
    sharing: Sharing,
) -> Result<InjectionSettings, Failure> {
    let settings = table.over(InjectionSettings::NEVER);
    let InjectionSettings { policy, level, core, .. } = settings;
    let is_used = |by: Option<InjectionPolicy>| by.map_or(policy != InjectionPolicy::Never, |by| by == policy);
    let why = format!(", and `network.inject` is `{}`", policy.name());
    for (key, by) in INJECTION.into_iter().filter(|&(_, by)| !is_used(by)) {
        let by = by.unwrap_or(InjectionPolicy::Always).name();
        table.without(&[key], &why, &format!("try `inject = \"{by}\"`, or leave `{key}` out"))?;
    }
    let (name, is_there) = match level {
        InjectionLevel::L1 => ("an L1", has_upper[0]),
        InjectionLevel::L2 => ("an L2", has_upper[1]),
        InjectionLevel::LastLevel => ("a last-level cache", true),
    };
    if !is_there {
        let message = format!("`network.inject_level` names {name}, and `caches` has none");
        return Err(table.fault("inject_level", message).with_help("try `inject_level = \"last-level\"`"));
    }
    let reads_elsewhere = |core: usize| (0..queues).find(|&queue| sharing.cache_of(queue) != sharing.cache_of(core));
    if let Some(core) = core
        && let Some(queue) = reads_elsewhere(core)
    {
        let message = format!(
            "`network.inject_core` is {core}, whose last-level cache is not that of core {queue} with queue {queue}"
        );
        return Err(table
            .fault("inject_core", message)
            .with_help("leave it out, or try `caches.sharing = \"shared\"`"));
    }
    Ok(settings)
}

/// The DMA engine. It pins the pages of a copy unit of the source and of the destination at a time.
fn dma(root: &Section<'_>, of: &DmaSettings, copy_unit_pages: u64) -> Result<DmaSettings, Failure> {
    let table = root.table_or_empty("dma");
    let settings = table.over(*of);
    table.within("pinned_pages", settings.pinned_pages as u64, 2 * copy_unit_pages, 1 << 20)?;
    Ok(settings)
}

/// The devices that copy under some policies, in units of some pages. A share needs a scheduler that these policies
/// set: `is_given` says whether the system file names one.
pub(crate) fn devices(root: &Section<'_>, is_given: bool, copy_unit_pages: u64) -> Result<DeviceSettings, Failure> {
    let defaults = DeviceSettings::default();
    let table = root.table_or_empty("copy_engine");
    if is_given {
        let why = ", but `controller.scheduler` of the system names the scheduler of all policies";
        let help = "leave `controller.scheduler` out, or `share`; `scheduler = \"cpu-first\"` has `cpu_first_share`";
        table.without(&["share"], why, help)?;
    }
    Ok(DeviceSettings {
        copy_engine: table.over(defaults.copy_engine),
        dma: dma(root, &defaults.dma, copy_unit_pages)?,
        ..table.over(defaults)
    })
}
