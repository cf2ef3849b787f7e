//! `explain address`: the location of an address, or the address of a location.

use std::fmt::Write;

use dram_spec::address::FRAME_BYTES;
use dram_spec::geometry::ReservedRow;
use dram_spec::{AddressMap, BankId, Channel, Column, LINE_BYTES, Location, PhysicalAddress, Row, SubarrayId};

use report::table::wrapped;

use crate::args::ExplainAddressArgs;
use crate::output::width;
use rowclone_config::{Failure, Overrides, SystemConfig, quantity};
use rowclone_sim::quantity::grouped;

/// Explains an address or a location.
///
/// # Errors
/// The text is neither an address nor a location, or the system has no such address.
pub fn run(args: &ExplainAddressArgs) -> Result<String, Failure> {
    let ExplainAddressArgs { place, system } = args;
    let system = SystemConfig::read(system, &Overrides::default())?;
    let (address, location) = find(place, system.memory.map())?;
    Ok(explanation(&system, address, location))
}

/// Address and location of a text: `0x400000`, `4194304`, or `channel=0,rank=0,bank=3,row=17,column=5` with or without
/// `offset=0`.
///
/// # Errors
/// The text is neither an address nor a location, or the system has no such address.
pub fn find(place: &str, map: &AddressMap) -> Result<(PhysicalAddress, Location), Failure> {
    if place.contains('=') {
        let location = read_location(place, map)?;
        let address =
            map.address(location).ok_or_else(|| Failure::new(format!("{place}: the system does not have it")))?;
        return Ok((address, location));
    }
    let address = quantity::address(place).map(PhysicalAddress).ok_or_else(|| {
        Failure::new(format!("`{place}` is neither an address nor coordinates"))
            .with_help("write an address such as 0x400000, or channel=0,rank=0,bank=3,row=17,column=5")
    })?;
    let location = map.locate(address).ok_or_else(|| {
        let end = PhysicalAddress(map.geometry().bytes());
        Failure::new(format!("{address} lies past the end of the memory at {end}"))
            .with_help(format!("the usable capacity is {}", usable(map)))
    })?;
    Ok((address, location))
}

/// The coordinates of a location, each with the number of its values.
fn read_location(text: &str, map: &AddressMap) -> Result<Location, Failure> {
    let geometry = map.geometry();
    let known: [(&str, u64); 6] = [
        ("channel", geometry.channels().into()),
        ("rank", geometry.ranks().into()),
        ("bank", geometry.banks().into()),
        ("row", geometry.rows_per_bank().into()),
        ("column", geometry.columns().into()),
        ("offset", LINE_BYTES),
    ];
    let mut found = [None; 6];
    for part in text.split(',') {
        let help = || "write channel=0,rank=0,bank=3,row=17,column=5 and, if you like, offset=0".to_owned();
        let fault = |message: String| Failure::new(message).with_help(help());
        let (name, value) = part.split_once('=').ok_or_else(|| fault(format!("`{}` has no `=`", part.trim())))?;
        let (name, value) = (name.trim(), value.trim());
        let index = known.iter().position(|(known, _)| *known == name);
        let index = index.ok_or_else(|| fault(format!("`{name}` is no coordinate")))?;
        let (name, count) = known[index];
        let number = quantity::number(value).filter(|&number| number < count).ok_or_else(|| {
            Failure::new(format!("`{name}` is {value}, but must be a whole number from 0 to {}", count - 1))
                .with_help(format!("try {name}=0"))
        })?;
        if found[index].replace(number).is_some() {
            return Err(fault(format!("`{name}` is given twice")));
        }
    }
    let get = |index: usize| {
        let (name, _) = known[index];
        found[index].ok_or_else(|| Failure::new(format!("`{name}` is missing")).with_help(format!("add {name}=0")))
    };
    Ok(Location {
        channel: Channel(get(0)? as u8),
        bank: BankId { rank: get(1)? as u8, bank: get(2)? as u8 },
        row: Row(get(3)? as u32),
        column: Column(get(4)? as u16),
        offset: found[5].unwrap_or(0) as u16,
    })
}

/// The usable capacity, and the range of the reserved rows.
pub fn usable(map: &AddressMap) -> String {
    let bytes = grouped(map.geometry().usable_bytes());
    if map.scatters_reserved_rows() {
        format!("{bytes} bytes, with reserved rows between them")
    } else {
        format!("{bytes} bytes, the addresses below {}", map.usable_end())
    }
}

/// Maximum number of subarrays that are listed; the others are counted.
const LISTED: usize = 16;

/// Columns of the names of the listing.
const NAMES: usize = 24;

fn explanation(system: &SystemConfig, address: PhysicalAddress, location: Location) -> String {
    let SystemConfig { name, memory, .. } = system;
    let map = memory.map();
    let geometry = map.geometry();
    let Location { channel, bank, row, column, offset } = location;
    let subarray = geometry.subarray(row);
    let reserved = match geometry.reserved(row) {
        None => "no".to_owned(),
        Some(ReservedRow::Zero) => "yes: the zero row of its subarray".to_owned(),
        Some(ReservedRow::Temporary) => "yes: the temporary row of its bank".to_owned(),
    };
    let frame = address.0 / FRAME_BYTES;
    let subarrays = map.frame_subarrays(frame);
    let mut text = String::new();
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        let value = wrapped(&value.to_string(), width().saturating_sub(NAMES));
        for (number, part) in value.lines().enumerate() {
            let _ = writeln!(text, "{:<NAMES$}{part}", if number == 0 { name } else { "" });
        }
    };
    line("system", name);
    line("address", &format_args!("{address} ({})", address.0));
    line("channel", &channel.0);
    line("rank", &bank.rank);
    line("bank", &bank.bank);
    line("subarray", &subarray);
    let rows = geometry.rows_of_subarray(subarray);
    let (within, count) = (row.0 - rows.start, rows.len());
    // The number of rows is known where all subarrays have it.
    let of = if geometry.subarray_row_bits().is_some() { String::new() } else { format!(", which has {count} rows") };
    line("row", &format_args!("{} (row {within} of its subarray{of})", row.0));
    line("column", &format_args!("{} (a line of {LINE_BYTES} bytes)", column.0));
    line("offset", &format_args!("{offset} (bytes)"));
    line("reserved", &reserved);
    line("frame", &format_args!("{frame} ({FRAME_BYTES} bytes from {})", PhysicalAddress(frame * FRAME_BYTES)));
    for (index, SubarrayId { channel, bank, subarray }) in subarrays.iter().take(LISTED).enumerate() {
        let name = if index == 0 { "the frame lies in" } else { "" };
        line(name, &format_args!("channel {} {bank} subarray {subarray}", channel.0));
    }
    if subarrays.len() > LISTED {
        line("", &format_args!("and {} more", subarrays.len() - LISTED));
    }
    line("frames sharing its rows", &format_args!("{} (itself included)", map.frames_sharing_rows(frame).len()));
    line("usable capacity", &usable(map));
    line("copy granularity", &format_args!("{} bytes", map.granularity()));
    text
}
