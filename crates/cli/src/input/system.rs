//! A memory system: its file, its checks.

use std::path::{Path, PathBuf};

use dram_spec::address::{Preset, RawAddressMap, RawXor};
use dram_spec::datasheet::BINS;
use dram_spec::{
    AddressMap, BankId, Channel, CopyActivations, Density, Geometry, PrechargePowerDown, RawGeometry, Refresh, Row,
    SpeedBin, Width,
};
use energy::Currents;
use rowclone_sim::{MemorySystem, SystemBuilder};
use serde::Deserialize;

use crate::CliError;

use super::controller::{RawController, Surroundings};
use super::document::{Document, Example};
use super::{Overrides, currents, suggestion};

/// A memory system, checked: device, geometry, map, prices and controller.
#[derive(Clone, Debug)]
pub struct SystemConfig {
    /// What reports call it: the file's name without `.toml`.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The system.
    pub memory: MemorySystem,
}

/// The system of the `RowClone` paper, as it is shipped.
pub const PAPER: (&str, &str) =
    ("configs/ddr3-1066-paper.toml", include_str!("../../../../configs/ddr3-1066-paper.toml"));

/// Every key of a system file, with a value that it may have; tables have none.
pub const EXAMPLES: &[Example] = &[
    ("device", ""),
    ("device.bin", "\"1066G\""),
    ("device.density_gb", "2"),
    ("device.width", "8"),
    ("device.currents", "\"2 Gb x8 -25E\""),
    ("device.copy_activations", "\"counted\""),
    ("device.precharge_power_down", "\"fast-exit\""),
    ("geometry", ""),
    ("geometry.channels", "2"),
    ("geometry.ranks", "1"),
    ("geometry.row_bytes", "4096"),
    ("geometry.rows_per_subarray", "512"),
    ("refresh", ""),
    ("refresh.enabled", "true"),
    ("refresh.t_refi_ps", "7_800_000"),
    ("refresh.postpone_max", "0"),
    ("address_map", ""),
    ("address_map.preset", "\"row-interleaved\""),
    ("address_map.fields", "[\"row\", \"rank\", \"bank\", \"channel\", \"column\", \"offset\"]"),
    ("address_map.xor", "[{ field = \"bank\", bit = 0, address_bits = [17] }]"),
    ("address_map.xor.field", "\"bank\""),
    ("address_map.xor.bit", "0"),
    ("address_map.xor.address_bits", "[17]"),
    ("controller", ""),
    ("controller.staging_lines", "64"),
    ("controller.scheduler", "\"fr-fcfs\""),
    ("controller.scheduler_cap", "4"),
    ("controller.bliss_threshold", "4"),
    ("controller.bliss_clearing_cycles", "10_000"),
    ("controller.par_bs_marking_cap", "5"),
    ("controller.row_policy", "\"open\""),
    ("controller.row_timeout_cycles", "200"),
    ("controller.read_entries", "64"),
    ("controller.write_entries", "64"),
    ("controller.copy_entries", "32"),
    ("controller.admission_per_cycle", "1"),
    ("controller.drain_high", "48"),
    ("controller.drain_low", "16"),
    ("controller.copy_hold_max_cycles", "200"),
    ("controller.refresh_idle_cycles", "50"),
    ("controller.power_down_after_cycles", "100"),
    ("controller.self_refresh_after_cycles", "10_000"),
    ("faulty_rows", "[{ channel = 0, rank = 0, bank = 3, row = 17 }]"),
    ("faulty_rows.channel", "0"),
    ("faulty_rows.rank", "0"),
    ("faulty_rows.bank", "3"),
    ("faulty_rows.row", "17"),
];

const COPY_ACTIVATIONS: [(&str, CopyActivations); 2] =
    [("counted", CopyActivations::Counted), ("free", CopyActivations::Free)];
const PRECHARGE_POWER_DOWN: [(&str, PrechargePowerDown); 2] =
    [("fast-exit", PrechargePowerDown::FastExit), ("slow-exit", PrechargePowerDown::SlowExit)];

/// tREFI in ps: from a quarter of JEDEC's, for hot or dense parts, to the 1 s that a command log can say.
const T_REFI_PS: (u64, u64) = (1_950_000, 1_000_000_000_000);
/// JEDEC lets at most eight REF be postponed.
const POSTPONE_MAX: u64 = 8;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSystem {
    device: RawDevice,
    geometry: RawShape,
    refresh: RawRefresh,
    address_map: RawMap,
    controller: Option<RawController>,
    faulty_rows: Option<Vec<RawFaultyRow>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDevice {
    bin: String,
    density_gb: u64,
    width: u64,
    currents: String,
    copy_activations: String,
    precharge_power_down: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawShape {
    channels: u64,
    ranks: u64,
    row_bytes: u64,
    rows_per_subarray: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRefresh {
    enabled: bool,
    t_refi_ps: u64,
    postpone_max: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMap {
    preset: Option<String>,
    fields: Option<Vec<String>>,
    #[serde(default)]
    xor: Vec<RawHash>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHash {
    field: String,
    bit: u32,
    address_bits: Vec<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFaultyRow {
    channel: u64,
    rank: u64,
    bank: u64,
    row: u64,
}

/// The faulty rows, as [`SystemBuilder::faulty_rows`] takes them.
type FaultyRowList = Vec<(Channel, BankId, Row)>;

impl SystemConfig {
    /// Reads and checks a system file.
    ///
    /// # Errors
    /// It cannot be read, or something in it is wrong.
    pub fn read(path: &Path, overrides: &Overrides) -> Result<SystemConfig, CliError> {
        Ok(SystemConfig::check(Document::read(path, EXAMPLES)?, overrides)?.0)
    }

    /// The `RowClone` paper's system.
    ///
    /// # Errors
    /// What the overrides break.
    pub fn paper(overrides: &Overrides) -> Result<SystemConfig, CliError> {
        let (path, text) = PAPER;
        Ok(SystemConfig::check(Document::parse(Path::new(path), text, EXAMPLES)?, overrides)?.0)
    }

    /// The system that a document describes, and the document with the overrides in their places.
    pub(super) fn check(mut document: Document, overrides: &Overrides) -> Result<(SystemConfig, Document), CliError> {
        document.apply(overrides)?;
        let RawSystem { device, geometry, refresh, address_map, controller, faulty_rows } = document.decode()?;
        let file = Checked { document: &document };
        let RawDevice { bin, density_gb, width, currents, copy_activations, precharge_power_down } = device;
        let bin = file.bin(&bin)?;
        let (density, width) = (file.density(density_gb)?, file.width(width)?);
        let copy_activations = document.choice("device.copy_activations", &copy_activations, &COPY_ACTIVATIONS)?;
        let precharge_power_down =
            document.choice("device.precharge_power_down", &precharge_power_down, &PRECHARGE_POWER_DOWN)?;
        let geometry = file.geometry(&geometry, density, width)?;
        let currents = file.currents(&currents, width)?;
        let (refresh, postpone_max) = file.refresh(&refresh)?;
        let address_map = file.map(address_map, geometry)?;
        let faulty_rows = file.faulty_rows(&faulty_rows.unwrap_or_default(), &geometry)?;
        let surroundings = Surroundings {
            document: &document,
            geometry: &geometry,
            refresh,
            postpone_max,
            precharge_power_down,
            currents: &currents,
        };
        let controller = surroundings.check(&controller.unwrap_or_default())?;
        let builder = SystemBuilder::default()
            .bin(bin)
            .geometry(geometry.raw())
            .copy_activations(copy_activations)
            .precharge_power_down(precharge_power_down)
            .refresh(refresh)
            .address_map(address_map)
            .faulty_rows(faulty_rows)
            .currents(currents)
            .controller(controller);
        // What has a key of the file was checked above, and named by it.
        let memory = builder.build().map_err(|error| document.fault("device", &error).with_help(error.help()))?;
        let name = document.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let config = SystemConfig { name, path: document.path().to_owned(), memory };
        Ok((config, document))
    }
}

/// The speed bin of that name.
///
/// # Errors
/// What to say after "is … ", and what would help.
pub fn bin_named(found: &str) -> Result<&'static SpeedBin, (String, String)> {
    SpeedBin::named(found).ok_or_else(|| {
        let names: Vec<&str> = BINS.iter().map(|bin| bin.name).collect();
        (format!("\"{found}\", which is no speed bin"), suggestion::choices(found, "bins", &names))
    })
}

/// A document whose keys and types are right, while its values are being checked.
struct Checked<'a> {
    document: &'a Document,
}

impl Checked<'_> {
    fn bin(&self, found: &str) -> Result<&'static SpeedBin, CliError> {
        bin_named(found).map_err(|(what, help)| {
            self.document.fault("device.bin", format!("`device.bin` is {what}")).with_help(help)
        })
    }

    fn density(&self, found: u64) -> Result<Density, CliError> {
        Density::from_gigabits(found).ok_or_else(|| {
            let message = format!("`device.density_gb` is {found}, but must be 1, 2, 4 or 8");
            self.document.fault("device.density_gb", message).with_help("try `density_gb = 2`")
        })
    }

    fn width(&self, found: u64) -> Result<Width, CliError> {
        Width::from_pins(found).ok_or_else(|| {
            let message = format!("`device.width` is {found}, but must be 4, 8 or 16");
            self.document.fault("device.width", message).with_help("try `width = 8`")
        })
    }

    fn geometry(&self, raw: &RawShape, density: Density, width: Width) -> Result<Geometry, CliError> {
        let RawShape { channels, ranks, row_bytes, rows_per_subarray } = *raw;
        let raw = RawGeometry { channels, ranks, density, width, row_bytes, rows_per_subarray };
        Geometry::try_from(raw).map_err(|error| self.of_table("geometry", error.key(), &error, &error.help()))
    }

    fn currents(&self, found: &str, width: Width) -> Result<Currents, CliError> {
        const KEY: &str = "device.currents";
        let set = if currents::is_file_name(found) {
            currents::read(&self.document.linked(KEY, found)?)?
        } else {
            let unknown = |help: String| {
                let message = format!("`{KEY}` is \"{found}\", which is no current set");
                self.document.fault(KEY, message).with_help(help)
            };
            currents::named(found, unknown)?
        };
        if set.width() != width {
            let fitting = energy::shipped().filter(|set| set.width() == width);
            let names: Vec<String> = fitting.map(|set| format!("`{}`", set.name())).collect();
            let message =
                format!("`{KEY}` is \"{found}\", a set of {} chips, but the system's are {width}", set.width());
            let help = format!("the shipped sets of {width} chips are {}", names.join(", "));
            return Err(self.document.fault(KEY, message).with_help(help));
        }
        Ok(set)
    }

    fn refresh(&self, raw: &RawRefresh) -> Result<(Refresh, u64), CliError> {
        let RawRefresh { enabled, t_refi_ps, postpone_max } = *raw;
        self.document.within("refresh.t_refi_ps", t_refi_ps, T_REFI_PS.0, T_REFI_PS.1)?;
        self.document.within("refresh.postpone_max", postpone_max, 0, POSTPONE_MAX)?;
        let refresh = if enabled { Refresh::Every { t_refi_ps } } else { Refresh::Off };
        Ok((refresh, postpone_max))
    }

    fn map(&self, raw: RawMap, geometry: Geometry) -> Result<RawAddressMap, CliError> {
        let RawMap { preset, fields, xor } = raw;
        let fields = match (preset, fields) {
            (Some(_), Some(_)) => {
                let message = "`address_map` has both `preset` and `fields`";
                return Err(self.document.fault("address_map.fields", message).with_help("leave one of them out"));
            }
            (None, None) => {
                let message = "`address_map` has neither `preset` nor `fields`";
                let help = "add for example `preset = \"row-interleaved\"` to `address_map`";
                return Err(self.document.fault("address_map", message).with_help(help));
            }
            (Some(found), None) => {
                let known = Preset::ALL.map(|preset| (preset.name(), preset));
                self.document.choice("address_map.preset", &found, &known)?.raw().fields
            }
            (None, Some(fields)) => fields,
        };
        let xor = xor.into_iter().map(|RawHash { field, bit, address_bits }| RawXor { field, bit, address_bits });
        let raw = RawAddressMap { fields, xor: xor.collect() };
        AddressMap::new(geometry, &raw)
            .map_err(|error| self.of_table("address_map", error.key(), &error, &error.help()))?;
        Ok(raw)
    }

    fn faulty_rows(&self, raw: &[RawFaultyRow], geometry: &Geometry) -> Result<FaultyRowList, CliError> {
        let mut rows: FaultyRowList = Vec::with_capacity(raw.len());
        for (index, RawFaultyRow { channel, rank, bank, row }) in raw.iter().enumerate() {
            for (key, found, count) in [
                ("channel", *channel, u64::from(geometry.channels())),
                ("rank", *rank, u64::from(geometry.ranks())),
                ("bank", *bank, u64::from(geometry.banks())),
                ("row", *row, u64::from(geometry.rows_per_bank())),
            ] {
                self.document.within(&format!("faulty_rows.{index}.{key}"), found, 0, count - 1)?;
            }
            let bank = BankId { rank: *rank as u8, bank: *bank as u8 };
            let row = (Channel(*channel as u8), bank, Row(*row as u32));
            if let Some(first) = rows.iter().position(|other| *other == row) {
                let key = format!("faulty_rows.{index}");
                let message = format!("`{key}` is the same row as `faulty_rows.{first}`");
                return Err(self.document.fault(&key, message).with_help("leave one of them out"));
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// An error of a crate that knows the keys of one table, but not where the table stands.
    fn of_table(&self, table: &str, key: &str, error: &dyn std::error::Error, help: &str) -> CliError {
        let message = error.to_string().replacen(&format!("`{key}`"), &format!("`{table}.{key}`"), 1);
        self.document.fault(&format!("{table}.{key}"), message).with_help(help)
    }
}
