//! System files and their checks.

use std::path::Path;
use std::sync::LazyLock;

use dram_spec::address::{Fields, MapPreset, RawAddressMap, RawXor};
use dram_spec::{
    AddressMap, BankId, BankSet, Channel, Contradiction, CopyActivations, Cycles, Density, Geometry, GeometryError,
    PrechargePowerDown, RawGeometry, ReferenceCycle, Refresh, RefreshMode, Row, SpeedBin, Standard,
    TimingParameter as T, Topology, Width,
};
use energy::Currents;
use memctrl::ConfigError;
use rowclone::CopySupport;
use rowclone_sim::{ControllerSettings, MemorySystem, POSTPONE_MAX, SystemBuilder, SystemError, T_REFI_PS};

use crate::controller::{self, ControllerTable};
use crate::document::Section;
use crate::key::{Holds, Key};
use crate::preset::{self, Preset};
use crate::{Document, Failure, Overrides, Source, currents, page_mode};

/// A checked memory system: device, geometry, map, prices and controller.
#[derive(Clone, Debug)]
pub struct SystemConfig {
    /// Name in reports: the name of the file without `.toml`.
    pub name: String,
    /// The system.
    pub memory: MemorySystem,
    /// Name of the address map; its fields, if it has none.
    pub address_map: String,
}

/// The preset of the `RowClone` paper's system.
const PAPER: &Preset = &preset::SYSTEMS[0];

/// Keys of a system file.
pub static KEYS: LazyLock<Vec<Key>> =
    LazyLock::new(|| [DEVICE_KEYS, page_mode::KEYS, &controller::keys(), COPY_KEYS, FAULTY_ROW_KEYS].concat());

/// A key of `device.timings`.
const fn timing(path: &'static str, parameter: T, example: &'static str, about: &'static str) -> Key {
    // Of all standards; that of the bin is checked later.
    let (mut least, mut most, mut at) = (u64::MAX, 0, 0);
    while at < Standard::ALL.len() {
        let (low, high) = parameter.range(Standard::ALL[at]);
        (least, most) = (if low < least { low } else { least }, if high > most { high } else { most });
        at += 1;
    }
    Key::new(path, Holds::Clocks(least, most), example, about).or("that of the bin")
}

/// A number that [`Geometry`] checks.
const CHECKED: Holds = Holds::Count(0, u64::MAX);

#[rustfmt::skip]
const DEVICE_KEYS: &[Key] = &[
    Key::new("device", Holds::Table, "", "the chips"),
    Key::new("device.bin", Holds::Name(bin_names), "\"1066G\"", "JEDEC speed bin: standard, clock and latencies; `rowclone-sim explain rules --bin 1066G` lists what follows from it; or `page-mode`, a page-mode memory (`page_mode`)"),
    Key::new("device.density_gb", Holds::Density, "2", "capacity of a chip, Gb; the standard of the bin must have it"),
    Key::new("device.width", Holds::OneOf(&[4, 8, 16]), "8", "data pins of a chip; a rank has 64 / width chips, and 32 / width in DDR5"),
    Key::new("device.currents", Holds::Text, "\"2 Gb x8 -25E\"", "supply currents, of chips of the same standard and width; with `none`, no energy is computed").values("the name of a shipped set, a path that ends in `.toml`, or `none`").or("`none`"),
    Key::new("device.background_rho", Holds::Number(0.0, 1.0), "1.0", "background model of energy: the share of IDD3N - IDD2N that does not depend on the number of open banks").or("that of the standard, which `rowclone-sim explain energy` prints"),
    Key::new("device.copy_activations", Holds::Name(|| CopyActivations::NAMES.into()), "\"counted\"", "whether a copy activation counts in tRRD and tFAW (`decisions/0004`)"),
    Key::new("device.precharge_power_down", Holds::Name(|| PrechargePowerDown::NAMES.into()), "\"fast-exit\"", "exit of the power-down that has a slow one, with the DLL off: precharge power-down in DDR3 (MR0 bit 12), active power-down in DDR2"),
    Key::new("device.reference_cycle", Holds::Name(|| ReferenceCycle::NAMES.into()), "\"second\"", "cycle of a command of two cycles from which distances count, in standards with such commands (DDR5)").or("`second`"),
    Key::new("device.timings", Holds::Table, "", "timing parameters that replace those of the bin; every output lists them").or("those of the bin"),
    Key::new("device.custom_timings", Holds::Flag, "false", "whether `timings` may contradict each other: tRC below tRAS + tRP, or tXPDLL below tXP").or("`false`"),
    timing("device.timings.CL", T::Cl, "11", "read latency"),
    timing("device.timings.CWL", T::Cwl, "8", "write latency"),
    timing("device.timings.tRCD", T::Rcd, "\"13.75ns\"", "ACT to RD or WR"),
    timing("device.timings.tRP", T::Rp, "\"13.75ns\"", "PRE to ACT"),
    timing("device.timings.tRAS", T::Ras, "\"35ns\"", "ACT to PRE"),
    timing("device.timings.tRC", T::Rc, "\"48.75ns\"", "ACT to ACT of a bank").or("tRAS + tRP where one of them is given, else that of the bin"),
    timing("device.timings.tRRD", T::Rrd, "5", "ACT to ACT of two banks"),
    timing("device.timings.tRRD_L", T::RrdL, "6", "ACT to ACT of two banks of a group, in standards with bank groups"),
    timing("device.timings.tFAW", T::Faw, "\"30ns\"", "first ACT to fifth"),
    timing("device.timings.tCCD", T::Ccd, "4", "column command to column command"),
    timing("device.timings.tCCD_L", T::CcdL, "6", "RD to RD of a bank group"),
    timing("device.timings.tCCD_L_WR", T::CcdLWr, "6", "WR to WR of a bank group"),
    timing("device.timings.tWR", T::Wr, "\"15ns\"", "end of write data to PRE"),
    timing("device.timings.tWTR", T::Wtr, "6", "end of write data to RD"),
    timing("device.timings.tWTR_L", T::WtrL, "9", "end of write data to RD of the bank group"),
    timing("device.timings.tRTP", T::Rtp, "6", "RD to PRE"),
    timing("device.timings.tWPRE", T::Wpre, "2", "write preamble, in DDR4 from 2400 on; with 2, tWR and tWTR are a clock longer and CWL two, and no two WR of a rank are five clocks apart"),
    timing("device.timings.tXP", T::Xp, "5", "power-down exit to any command"),
    timing("device.timings.tXPDLL", T::Xpdll, "\"24ns\"", "slow power-down exit to RD or WR"),
    timing("device.timings.tCKE", T::Cke, "4", "least time in power-down"),
    timing("device.timings.tRFC", T::Rfc, "\"300ns\"", "REF to the next command; tXS follows it"),
    Key::new("geometry", Holds::Table, "", "channels, ranks and rows"),
    Key::new("geometry.channels", CHECKED, "2", "channels, each with its own command bus").values("1, 2, 4, 8"),
    Key::new("geometry.ranks", CHECKED, "1", "ranks per channel").values("1, 2, 4"),
    Key::new("geometry.row_bytes", Holds::Bytes(0, u64::MAX), "4096", "size of a row of a rank").values("what the chips give (8, 16 or 32 KiB), or the RowClone paper's 4 KiB; or a size"),
    Key::new("geometry.rows_per_subarray", Holds::Counts, "512", "rows that share sense amplifiers; a list repeats from row 0 of each bank, and the last subarray is cut short (`decisions/0028`)").values("128 to 1,024, or a list of 1 to 8 such numbers"),
    Key::new("refresh", Holds::Table, "", "refresh"),
    Key::new("refresh.enabled", Holds::Flag, "true", "whether REF are due; with `false` the keys below have no effect"),
    Key::new("refresh.t_refi_ps", Holds::Picoseconds(T_REFI_PS.0, T_REFI_PS.1), "7_800_000", "tREFI at or below 85 C, ps; half of it above. The range ends at what a command log can represent").or("7,800,000; in DDR5 3,900,000"),
    Key::new("refresh.mode", Holds::Name(refresh_modes), "\"1x\"", "refresh mode: `1x` of DDR2, DDR3 and DDR4; fine granularity `2x` and `4x` of DDR4; `normal`, `fine` (REF once per tREFI / 2) and `same-bank` (REFsb) of DDR5").or("`1x` or `normal`"),
    Key::new("refresh.postpone_max", Holds::Count(0, POSTPONE_MAX), "0", "REF that a rank may owe while work is queued (`decisions/0003`)").values("0 to 8 in the modes `1x`, `fine` and `same-bank`, 16 in `2x`, 32 in `4x`, 4 in `normal`"),
    Key::new("address_map", Holds::Table, "", "physical address to coordinates; it has either `preset` or `fields`"),
    Key::new("address_map.preset", Holds::Name(|| MapPreset::NAMES.into()), "\"row-interleaved\"", "a map by name").or("`fields`"),
    Key::new("address_map.fields", Holds::List, "[\"row\", \"subarray\", \"rank\", \"bank\", \"channel\", \"column\", \"offset\"]", "the coordinates from the high to the low address bits, each `\"name\"` or `\"name:bits\"`").values("`row` `subarray` `rank` `bank` `column` `channel` `offset`; `offset` last").or("`preset`"),
    Key::new("address_map.xor", Holds::Tables, "[{ field = \"bank\", bit = 0, address_bits = [17] }]", "coordinate bits that are hashed; the map must stay one to one").or("none"),
    Key::new("address_map.xor.field", Holds::Text, "\"bank\"", "the coordinate").values("`bank`, `channel`, `rank`"),
    Key::new("address_map.xor.bit", Holds::Count(0, u32::MAX as u64), "0", "its bit, from 0").values("below its number of bits"),
    Key::new("address_map.xor.address_bits", Holds::Bits, "[17]", "bits of the physical address that are XORed into it, from 0").values("6 to the highest of the memory"),
];

#[rustfmt::skip]
const COPY_KEYS: &[Key] = &[
    Key::new("copy", Holds::Table, "", "copies inside the DRAM").or("all mechanisms"),
    Key::new("copy.mechanisms", Holds::Names(CopySupport::names), "[\"fpm\", \"psm\", \"zero-rows\"]", "what the chips offer; `psm` includes 2 x PSM, and without `zero-rows` zeros are copied from a row that was written").or("`fpm`, `psm` and `zero-rows`"),
    Key::new("copy.psm_within_group", Holds::Flag, "true", "whether PSM is possible between banks of one bank group, in standards with bank groups (`decisions/0027`)").or("`false`"),
];

#[rustfmt::skip]
const FAULTY_ROW_KEYS: &[Key] = &[
    Key::new("faulty_rows", Holds::Tables, "[{ channel = 0, rank = 0, bank = 3, row = 17 }]", "rows that the chip replaced by spares; FPM cannot use them").values("a list of tables, each row once").or("none"),
    Key::new("faulty_rows.channel", CHECKED, "0", "its channel").values("from 0"),
    Key::new("faulty_rows.rank", CHECKED, "0", "its rank").values("from 0"),
    Key::new("faulty_rows.bank", CHECKED, "3", "its bank").values("from 0, below the number of banks of a rank"),
    Key::new("faulty_rows.row", CHECKED, "17", "its row").values("from 0"),
];

/// The bins of all standards, and the name that stands for a page-mode memory.
fn bin_names() -> Vec<&'static str> {
    Standard::all_bins().chain([SpeedBin::page_mode()]).map(|bin| bin.name).collect()
}

/// The refresh modes of all standards.
fn refresh_modes() -> Vec<&'static str> {
    let modes = Standard::ALL.iter().flat_map(|standard| standard.definition().refresh_modes);
    let mut names: Vec<_> = modes.map(|mode| mode.name).collect();
    names.dedup();
    names
}

/// The faulty rows, in the form of [`SystemBuilder::faulty_rows`].
type FaultyRowList = Vec<(Channel, BankId, Row)>;

impl SystemConfig {
    /// Reads and checks a system file, or if there is no such file, the preset of this name.
    ///
    /// # Errors
    /// There is neither; the file cannot be read, or has an error.
    pub fn read(argument: &Path, overrides: &Overrides) -> Result<SystemConfig, Failure> {
        SystemConfig::of(&Source::of_argument(argument, preset::SYSTEMS)?, overrides)
    }

    /// Reads and checks a system file or a preset.
    ///
    /// # Errors
    /// The file cannot be read, or has an error.
    pub fn of(source: &Source, overrides: &Overrides) -> Result<SystemConfig, Failure> {
        Ok(SystemConfig::check(Document::of_source(source, &KEYS)?, overrides)?.0)
    }

    /// The `RowClone` paper's system.
    ///
    /// # Errors
    /// An override is not possible.
    pub fn paper(overrides: &Overrides) -> Result<SystemConfig, Failure> {
        SystemConfig::of(&Source::Preset(PAPER), overrides)
    }

    /// The system of a document, and the document with the overrides applied.
    pub(crate) fn check(mut document: Document, overrides: &Overrides) -> Result<(SystemConfig, Document), Failure> {
        document.apply(overrides)?;
        document.check()?;
        let device = document.root().table("device").expect("it is required");
        let bin = SpeedBin::named(device.of("bin")).expect("it was checked");
        document.resolve_clocks(bin.clock)?;
        let replaced = |table: Section<'_>| {
            let clocks = |parameter: T| Some((parameter, Cycles(table.get(parameter.name())?)));
            T::ALL.into_iter().filter_map(clocks).collect()
        };
        let device = document.root().table("device").expect("it is required");
        if let Some(timings) = device.table("timings") {
            timings_of_bin(&timings, bin)?;
        }
        let bin = bin.with_timings(&device.table("timings").map(replaced).unwrap_or_default());
        if !bin.has_latencies() {
            let message = format!("`device.bin` is \"{}\", a data rate without latencies of its own", bin.name);
            let help = "give `CL`, `tRCD` and `tRP` in `[device.timings]`";
            return Err(device.fault("bin", message).with_help(help));
        }
        if !device.get("custom_timings").unwrap_or(false) {
            no_contradiction(&device, bin)?;
        }
        let memory = memory(&document.root(), bin)?;
        let map = required(&document.root(), "address_map");
        let fields = || map.get::<Vec<&str>>("fields").unwrap_or_default().join(" ");
        let address_map = map.text("preset").map_or_else(fields, str::to_owned);
        let config = SystemConfig { name: document.name(), memory, address_map };
        Ok((config, document))
    }
}

/// The memory of a document with checked keys and values, which are compared with each other here.
fn memory(root: &Section<'_>, bin: &'static SpeedBin) -> Result<MemorySystem, Failure> {
    let device = required(root, "device");
    let density = Density::from_gigabits(device.of("density_gb")).expect("it was checked");
    let width = Width::from_pins(device.of("width")).expect("it was checked");
    let copy_activations = device.of("copy_activations");
    let precharge_power_down = precharge_power_down(&device, bin.standard)?;
    let reference_cycle = reference_cycle(&device, bin.standard)?;
    let geometry = geometry(root, bin.standard, density, width)?;
    let currents = currents(&device, bin.standard, width)?;
    let background_rho = background_rho(&device, bin.standard, currents.as_ref())?;
    let refresh = required(root, "refresh");
    let mode = refresh_mode(&refresh, bin.standard)?;
    let postpone_max = postpone_max(&refresh, mode, bin.standard)?;
    let t_refi_ps = refresh.get("t_refi_ps").unwrap_or(bin.standard.definition().t_refi_ps);
    let refresh = if refresh.of("enabled") { Refresh::Every { t_refi_ps } } else { Refresh::Off };
    let address_map = map(root, geometry)?;
    let faulty_rows = faulty_rows(root, &geometry)?;
    let copy = root.table_or_empty("copy");
    let mechanisms: Option<Vec<&str>> = copy.get("mechanisms");
    let support = mechanisms.map_or(CopySupport::ROWCLONE, CopySupport::offering);
    let support = support.with_psm_within_group(copy.get("psm_within_group").unwrap_or(false));
    let settings = root.table_or_empty("controller");
    let controller = ControllerTable {
        table: settings.clone(),
        defaults: ControllerSettings::new(&geometry),
        refresh,
        postpone_max,
        precharge_power_down,
        currents: currents.as_ref(),
    };
    let controller = controller.check()?;
    let builder = SystemBuilder::default()
        .bin(bin)
        .geometry(geometry.raw())
        .copy_activations(copy_activations)
        .precharge_power_down(precharge_power_down)
        .refresh(refresh)
        .refresh_mode(mode)
        .reference_cycle(reference_cycle)
        .address_map(address_map)
        .faulty_rows(faulty_rows)
        .copy_support(support)
        .controller(controller)
        .background_rho(background_rho);
    let builder = match (currents, page_mode::check(root, bin)?) {
        (_, Some(page_mode)) => builder.page_mode(page_mode),
        (Some(currents), None) => builder.currents(currents),
        (None, None) => builder.no_currents(),
    };
    // Errors with another key of the file were reported above.
    builder.build().map_err(|error| {
        let (table, key) = match error {
            SystemError::Controller(ConfigError::LongHold { .. }) => (&copy, "mechanisms"),
            SystemError::Controller(ConfigError::ShortQuantum { .. }) => (&settings, "scheduler"),
            _ => (root, "device"),
        };
        table.fault(key, &error).with_help(error.help())
    })
}

/// Checks that the bin has the timing parameters that replace its own, in the range of its standard.
fn timings_of_bin(timings: &Section<'_>, bin: &SpeedBin) -> Result<(), Failure> {
    for parameter in T::ALL {
        let name = parameter.name();
        let Some(found) = timings.get::<u64>(name) else { continue };
        if !parameter.is_in(bin) {
            let has: Vec<_> = T::ALL.into_iter().filter(|one| one.is_in(bin)).map(T::name).collect();
            let message = format!("`device.timings.{name}` is no parameter of {}", bin.name);
            return Err(timings.fault(name, message).with_help(format!("its parameters are {}", has.join(", "))));
        }
        let (least, most) = parameter.range(bin.standard);
        timings.within(name, found, least, most)?;
    }
    Ok(())
}

/// The refresh mode, which must be one of the standard's.
fn refresh_mode(refresh: &Section<'_>, standard: Standard) -> Result<&'static RefreshMode, Failure> {
    let modes = standard.definition().refresh_modes;
    let Some(found) = refresh.get::<&str>("mode") else { return Ok(&modes[0]) };
    standard.refresh_mode(found).ok_or_else(|| {
        let names: Vec<_> = modes.iter().map(|mode| format!("`{}`", mode.name)).collect();
        let message = format!("`refresh.mode` is \"{found}\", which {} does not have", standard.name());
        refresh.fault("mode", message).with_help(format!("its modes are {}", names.join(", ")))
    })
}

/// The most REF that a rank may owe, within what the refresh mode allows.
fn postpone_max(refresh: &Section<'_>, mode: &RefreshMode, standard: Standard) -> Result<u64, Failure> {
    let (found, most): (u64, u64) = (refresh.of("postpone_max"), mode.postponed_most);
    if found <= most {
        return Ok(found);
    }
    let name = standard.name();
    let message = format!(
        "`refresh.postpone_max` is {found}, but the refresh mode `{}` of {name} allows at most {most}",
        mode.name
    );
    Err(refresh.fault("postpone_max", message).with_help(format!("try `postpone_max = {most}`")))
}

/// The exit of power-down. A standard without a slow exit has the fast one only.
fn precharge_power_down(device: &Section<'_>, standard: Standard) -> Result<PrechargePowerDown, Failure> {
    let found = device.of("precharge_power_down");
    if found == PrechargePowerDown::SlowExit && standard.definition().slow_exit.is_none() {
        let message =
            format!("`device.precharge_power_down` is \"slow-exit\", but {} has no slow exit", standard.name());
        let help = "write `precharge_power_down = \"fast-exit\"`";
        return Err(device.fault("precharge_power_down", message).with_help(help));
    }
    Ok(found)
}

/// The reference of commands of two cycles, in a standard that has them.
fn reference_cycle(device: &Section<'_>, standard: Standard) -> Result<ReferenceCycle, Failure> {
    if !standard.definition().two_cycle_commands {
        let why = format!(", but {} has no commands of two cycles", standard.name());
        device.without(&["reference_cycle"], &why, "leave it out")?;
    }
    Ok(device.get("reference_cycle").unwrap_or_default())
}

/// Checks that no timing parameter is less than its parts.
fn no_contradiction(device: &Section<'_>, bin: &SpeedBin) -> Result<(), Failure> {
    let Some(Contradiction { parameter, found, parts, least }) = bin.contradiction() else { return Ok(()) };
    let name = parameter.name();
    // Where the parameter is that of the bin, its parts were replaced.
    let timings = device.table("timings").expect("a bin has no contradiction");
    let key = if timings.has(name) { name } else { parts };
    let message = format!("`device.timings.{name}` is {}, but must be at least {parts}, {}", found.0, least.0);
    let help = format!("leave `{name}` out, write `{name} = {}`, or `custom_timings = true` in `[device]`", least.0);
    Err(timings.fault(key, message).with_help(help))
}

/// A required table.
fn required<'a>(root: &Section<'a>, name: &str) -> Section<'a> {
    root.table(name).expect("it is required")
}

fn geometry(root: &Section<'_>, standard: Standard, density: Density, width: Width) -> Result<Geometry, Failure> {
    let table = required(root, "geometry");
    let raw = RawGeometry {
        standard,
        channels: table.of("channels"),
        ranks: table.of("ranks"),
        density,
        width,
        row_bytes: table.of("row_bytes"),
        rows_per_subarray: table.of::<Vec<u64>>("rows_per_subarray").into_iter().collect(),
    };
    Geometry::try_from(raw).map_err(|error| match error {
        GeometryError::Chip { .. } => {
            required(root, "device").fault("density_gb", error.to_string()).with_help(error.help())
        }
        GeometryError::Count { key: "ranks", most, .. } if most < Topology::RANKS_MAX as u64 && raw.ranks > most => {
            let message = format!(
                "`geometry.ranks` is {}, but a channel has at most {} banks, and a rank of {} up to {}",
                raw.ranks,
                BankSet::CAPACITY,
                standard.name(),
                standard.definition().rank_banks_max,
            );
            table.fault("ranks", message).with_help(format!("try `ranks = {most}`"))
        }
        _ => of_table(&table, error.key(), &error, &error.help()),
    })
}

fn map(root: &Section<'_>, geometry: Geometry) -> Result<RawAddressMap, Failure> {
    let table = required(root, "address_map");
    let preset = table.get("preset");
    let fields: Option<Vec<&str>> = table.get("fields");
    table.not_both("preset", "fields", "")?;
    let fields = match (preset, fields) {
        (Some(preset), _) => Fields::Preset(preset),
        (None, Some(fields)) => Fields::List(fields.into_iter().map(str::to_owned).collect()),
        (None, None) => {
            let message = "`address_map` has neither `preset` nor `fields`";
            let help = "add for example `preset = \"row-interleaved\"` to `address_map`";
            return Err(table.fault("", message).with_help(help));
        }
    };
    let xor = table.tables("xor").into_iter().map(|hash| RawXor {
        field: hash.of::<&str>("field").to_owned(),
        bit: hash.of::<u64>("bit") as u32,
        address_bits: hash.of::<Vec<u64>>("address_bits").into_iter().map(|bit| bit as u32).collect(),
    });
    let raw = RawAddressMap { fields, xor: xor.collect() };
    AddressMap::new(geometry, &raw).map_err(|error| of_table(&table, error.key(), &error, &error.help()))?;
    Ok(raw)
}

fn faulty_rows(root: &Section<'_>, geometry: &Geometry) -> Result<FaultyRowList, Failure> {
    let mut rows: FaultyRowList = Vec::new();
    for (index, table) in root.tables("faulty_rows").iter().enumerate() {
        let number = |name, count: u64| {
            let found = table.of(name);
            table.within(name, found, 0, count - 1).map(|()| found)
        };
        let channel = Channel(number("channel", geometry.channels().into())? as u8);
        let rank = number("rank", geometry.ranks().into())? as u8;
        let bank = BankId { rank, bank: number("bank", geometry.banks().into())? as u8 };
        let row = (channel, bank, Row(number("row", geometry.rows_per_bank().into())? as u32));
        if let Some(first) = rows.iter().position(|other| *other == row) {
            let message = format!("`faulty_rows.{index}` is the same row as `faulty_rows.{first}`");
            return Err(table.fault("", message).with_help("leave one of them out"));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The current set; none without the key.
fn currents(device: &Section<'_>, standard: Standard, width: Width) -> Result<Option<Currents>, Failure> {
    let Some(found) = device.get::<&str>("currents").filter(|found| *found != NO_CURRENTS) else { return Ok(None) };
    let set = if currents::is_file_name(found) {
        currents::read(&device.linked("currents")?)?
    } else {
        let unknown = |help: String| {
            let message = format!("`device.currents` is \"{found}\", which is no current set");
            device.fault("currents", message).with_help(help)
        };
        currents::named(found, unknown)?
    };
    if !set.fits(standard, width) {
        let message = format!(
            "`device.currents` is \"{found}\", a set of {} {} chips, but the system's are {} {width}",
            set.standard().name(),
            set.width(),
            standard.name()
        );
        return Err(device.fault("currents", message).with_help(energy::fitting(standard, width)));
    }
    Ok(Some(set))
}

/// The value of `device.currents` of a system without a current set.
const NO_CURRENTS: &str = "none";

/// The background model, which belongs to a current set.
fn background_rho(device: &Section<'_>, standard: Standard, currents: Option<&Currents>) -> Result<f64, Failure> {
    if currents.is_none() {
        let help = "leave it out, or give `device.currents`";
        device.without(&["background_rho"], ", but the system has no current set", help)?;
    }
    Ok(device.get("background_rho").unwrap_or(standard.definition().background_rho))
}

/// Converts an error of another crate, which names a key within one table, to one with the full key.
fn of_table(table: &Section<'_>, key: &str, error: &dyn std::error::Error, help: &str) -> Failure {
    let message = error.to_string().replacen(&format!("`{key}`"), &format!("`{}`", table.key(key)), 1);
    table.fault(key, message).with_help(help)
}
