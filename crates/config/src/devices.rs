//! The tables `interconnect`, `copy_engine`, `dma` and `network` of a machine file.

use host::machine::{
    BusSettings, DmaSettings, EngineSettings, InjectionLevel, InjectionPolicy, InjectionSettings, NetworkSettings,
    Sharing,
};
use memctrl::policy::scheduler::CpuFirst;
use rowclone_sim::DeviceSettings;

use crate::Failure;
use crate::section::Section;

/// The front-side bus, whose times are core cycles; none without the table.
pub(crate) fn bus(root: &Section<'_>) -> Option<BusSettings> {
    let table = root.table("interconnect")?;
    let cycles = |key: &str| table.get(key).unwrap_or(0);
    Some(BusSettings {
        clock: table.of("clock"),
        bytes_per_clock: table.of("bytes_per_clock"),
        address_clocks: table.get("address_clocks").unwrap_or(1),
        request_latency: cycles("request_latency"),
        response_latency: cycles("response_latency"),
        snoop_latency: cycles("snoop_latency"),
    })
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
    let of = NetworkSettings::gigabit(
        entries(&table, "ports", 1),
        entries(&table, "queues", 1),
        table.get("cycles_per_1000_bytes").unwrap_or(link_cycles),
    );
    let count = |key: &str, default: u64| table.get(key).unwrap_or(default);
    let clients = count("clients", of.clients);
    let of_clients = ["client_cycles", "answer_packets"].into_iter().find(|key| table.has(key));
    if let Some(key) = of_clients.filter(|_| clients == 0) {
        let message = format!("`network.{key}` is given, and the adapter has no `clients`");
        return Err(table.fault(key, message).with_help("add `clients`, or leave the key out"));
    }
    Ok(Some(NetworkSettings {
        ports: of.ports,
        cycles_per_1000_bytes: of.cycles_per_1000_bytes,
        frame_bytes: count("frame_bytes", of.frame_bytes),
        header_bytes: count("header_bytes", of.header_bytes),
        payload_bytes: count("payload_bytes", of.payload_bytes),
        packets: count("packets", of.packets),
        connections: count("connections", of.connections),
        burst: count("burst", of.burst),
        queues: of.queues,
        spread: table.get("spread").unwrap_or(of.spread),
        ring: entries(&table, "ring", of.ring),
        send_ring: entries(&table, "send_ring", of.send_ring),
        coalesced_packets: entries(&table, "coalesced_packets", of.coalesced_packets),
        coalesced_cycles: count("coalesced_cycles", of.coalesced_cycles),
        interrupt_cycles: count("interrupt_cycles", of.interrupt_cycles),
        clients,
        client_cycles: count("client_cycles", of.client_cycles),
        answer_packets: count("answer_packets", of.answer_packets),
        without_buffer: table.get("without_buffer").unwrap_or(of.without_buffer),
        injection: injection(&table, of.queues, has_upper, sharing)?,
    }))
}

/// The keys of injection, and the policies that use them; none is all but `never`.
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
    let of = InjectionSettings::NEVER;
    let policy = table.get("inject").unwrap_or(of.policy);
    let is_used = |by: Option<InjectionPolicy>| by.map_or(policy != InjectionPolicy::Never, |by| by == policy);
    if let Some((key, by)) = INJECTION.into_iter().find(|&(key, by)| table.has(key) && !is_used(by)) {
        let [own, by] = [policy, by.unwrap_or(InjectionPolicy::Always)].map(InjectionPolicy::name);
        let message = format!("`network.{key}` is given, and `network.inject` is `{own}`");
        return Err(table.fault(key, message).with_help(format!("try `inject = \"{by}\"`, or leave `{key}` out")));
    }
    let level = table.get("inject_level").unwrap_or(of.level);
    let (name, is_there) = match level {
        InjectionLevel::L1 => ("an L1", has_upper[0]),
        InjectionLevel::L2 => ("an L2", has_upper[1]),
        InjectionLevel::LastLevel => ("a last-level cache", true),
    };
    if !is_there {
        let message = format!("`network.inject_level` names {name}, and `caches` has none");
        return Err(table.fault("inject_level", message).with_help("try `inject_level = \"last-level\"`"));
    }
    let core = table.get::<u64>("inject_core").map(|core| core as usize);
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
    Ok(InjectionSettings {
        policy,
        level,
        core,
        max_bytes: table.get("inject_max_bytes").unwrap_or(of.max_bytes),
        share: table.get("inject_share").unwrap_or(of.share),
        near_packets: entries(table, "inject_near_packets", of.near_packets),
    })
}

/// A number of entries.
fn entries(table: &Section<'_>, key: &str, default: usize) -> usize {
    table.get::<u64>(key).map_or(default, |entries| entries as usize)
}

/// The DMA engine. It pins the pages of a copy unit of the source and of the destination at a time.
fn dma(root: &Section<'_>, of: &DmaSettings, copy_unit_pages: u64) -> Result<DmaSettings, Failure> {
    let table = root.table_or_empty("dma");
    let cycles = |key: &str, default: u64| table.get(key).unwrap_or(default);
    let pinned_pages = entries(&table, "pinned_pages", of.pinned_pages);
    table.within("pinned_pages", pinned_pages as u64, 2 * copy_unit_pages, 1 << 20)?;
    Ok(DmaSettings {
        is_in_dram: of.is_in_dram,
        channels: entries(&table, "channels", of.channels),
        ring: entries(&table, "ring", of.ring),
        buffer_lines: entries(&table, "buffer_lines", of.buffer_lines),
        setup_cycles: cycles("setup_cycles", of.setup_cycles),
        descriptor_cycles: cycles("descriptor_cycles", of.descriptor_cycles),
        doorbell_cycles: cycles("doorbell_cycles", of.doorbell_cycles),
        doorbell_descriptors: entries(&table, "doorbell_descriptors", of.doorbell_descriptors),
        completion: table.get("completion").unwrap_or(of.completion),
        poll_cycles: cycles("poll_cycles", of.poll_cycles),
        interrupt_cycles: cycles("interrupt_cycles", of.interrupt_cycles),
        pinned_pages,
        pin_cycles: cycles("pin_cycles", of.pin_cycles),
        unpin_cycles: cycles("unpin_cycles", of.unpin_cycles),
        timeout_cycles: cycles("timeout_cycles", of.timeout_cycles),
    })
}

/// The devices that copy under some policies, in units of some pages. A share needs a scheduler that these policies
/// set: `is_given` says whether the system file names one.
pub(crate) fn devices(root: &Section<'_>, is_given: bool, copy_unit_pages: u64) -> Result<DeviceSettings, Failure> {
    let defaults = DeviceSettings::default();
    let table = root.table_or_empty("copy_engine");
    if is_given && table.has("share") {
        let message = "`copy_engine.share` is given, but `controller.scheduler` of the system names the scheduler of \
            all policies";
        let help = format!(
            "leave `controller.scheduler` out, or `share`; `scheduler = \"{}\"` has `cpu_first_share`",
            CpuFirst::NAME
        );
        return Err(table.fault("share", message).with_help(help));
    }
    let of = &defaults.copy_engine;
    Ok(DeviceSettings {
        copy_engine: EngineSettings {
            queue: entries(&table, "queue", of.queue),
            buffer_lines: entries(&table, "buffer_lines", of.buffer_lines),
            pending_copies: entries(&table, "pending_copies", of.pending_copies),
            tlb_entries: entries(&table, "tlb_entries", of.tlb_entries),
            tlb_miss_cycles: table.get("tlb_miss_cycles").unwrap_or(of.tlb_miss_cycles),
            ..*of
        },
        dma: dma(root, &defaults.dma, copy_unit_pages)?,
        share: table.get("share").unwrap_or(defaults.share),
    })
}
