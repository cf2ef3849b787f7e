//! `systems`: the presets of `--system`.

use std::path::Path;

use dram_spec::RawGeometry;
use report::table::Align::{Left, Right};
use report::table::{TextColumn, listed, wrapped};
use rowclone_config::preset::{MACHINES, SYSTEMS, names};
use rowclone_config::{Failure, Overrides, SystemConfig};
use rowclone_sim::quantity::bytes;
use serde_json::{Value, json};

use crate::args::SystemsArgs;
use crate::output;

/// Lists the presets.
///
/// # Errors
/// A file in the working directory has the name of a preset and an error: files take precedence over presets.
pub fn run(args: &SystemsArgs) -> Result<String, Failure> {
    let read = |name: &str| SystemConfig::read(Path::new(name), &Overrides::default());
    let systems = names(SYSTEMS).into_iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let values: Vec<Value> = systems.iter().map(json).collect();
    args.format.render(|| table(&systems, output::width()), &values)
}

fn table(systems: &[SystemConfig], width: usize) -> String {
    let raw = |system: &SystemConfig| system.memory.system().geometry.raw();
    let columns: [TextColumn<'_, SystemConfig>; 10] = [
        ("name", Left, &|system| system.name.clone()),
        ("channels", Right, &|system| raw(system).channels.to_string()),
        ("ranks", Right, &|system| raw(system).ranks.to_string()),
        ("capacity", Right, &|system| bytes(system.memory.system().geometry.bytes())),
        ("row", Right, &|system| bytes(raw(system).row_bytes)),
        ("bin", Left, &|system| system.memory.system().bin.full_name()),
        ("CL-RCD-RP", Left, &|system| system.memory.system().bin.latencies()),
        ("chips", Left, &|system| format!("{} {}", raw(system).density, raw(system).width)),
        ("address map", Left, &|system| system.address_map.clone()),
        ("currents", Left, &|system| system.memory.currents().map_or("none", |set| set.name()).to_owned()),
    ];
    let machines = names(MACHINES).iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let note = format!("`--system` takes a name or a path. The machines of `--machine` are {machines}.");
    format!("{}{}\n", listed(&columns, systems, width), wrapped(&note, width))
}

fn json(config: &SystemConfig) -> Value {
    let system = config.memory.system();
    let RawGeometry { standard, channels, ranks, density, width, row_bytes, rows_per_subarray } = system.geometry.raw();
    json!({
        "name": config.name,
        "standard": standard.name(),
        "bin": system.bin.name,
        "latencies": system.bin.latencies(),
        "channels": channels,
        "ranks": ranks,
        "capacity_bytes": system.geometry.bytes(),
        "density_gb": output::number(density.gigabits()),
        "width": width.pins(),
        "chips_per_rank": system.geometry.chips(),
        "bank_groups": system.geometry.topology().groups_per_rank(),
        "banks": system.geometry.banks(),
        "row_bytes": row_bytes,
        "rows_per_subarray": match rows_per_subarray.numbers() {
            [rows] => json!(rows),
            numbers => json!(numbers),
        },
        "address_map": config.address_map,
        "currents": config.memory.currents().map(energy::Currents::name),
    })
}
