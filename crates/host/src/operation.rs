//! Operations as a user lists them, and the place of a copy's source by its relation to the destination.

use dram_spec::{AddressMap, Cycle, Location, PhysicalAddress, Row};
use rowclone::{Operation, PlanError, Planner};

dram_spec::named! {
    /// Kind of an operation of a scenario.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OperationKind {
        /// Copies `bytes` from `src` to `dst`.
        Copy = "copy",
        /// Fills `bytes` from `dst` with zeros.
        Zero = "zero",
        /// Fills `bytes` from `dst` with `value`.
        Init = "init",
        /// Reads `bytes` from `dst`.
        Read = "read",
        /// Writes `bytes` from `dst`, with data made from the seed.
        Write = "write",
    }
}

/// An operation as specified in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationSpec {
    /// Kind of operation.
    pub kind: OperationKind,
    /// Source of a copy.
    pub src: Option<Place>,
    /// Destination; the address of a read.
    pub dst: PhysicalAddress,
    /// Size in bytes.
    pub bytes: u64,
    /// Fill value of an init.
    pub value: u8,
    /// Arrival; without it, the operation arrives when its predecessor completes.
    pub at: Option<Cycle>,
}

/// Reason why an operation is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No source has the required relation.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The planner rejects the operation for this memory.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The operation belongs to another memory.
    #[error("the operation was resolved for another memory")]
    OtherMemory,
}

impl SpecError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            SpecError::Placement(error) => error.help().to_string(),
            SpecError::Plan(error) => error.help(),
            SpecError::OtherMemory => "resolve it for the memory of the run".to_owned(),
        }
    }
}

/// An operation of a list that is possible on a memory.
#[derive(Clone, Debug)]
pub struct ListedOperation {
    /// As specified.
    spec: OperationSpec,
    /// With the address of its source.
    operation: Operation,
    /// The memory.
    planner: Planner,
}

impl ListedOperation {
    /// The operation as specified.
    pub const fn spec(&self) -> &OperationSpec {
        &self.spec
    }

    /// The operation with the address of its source.
    pub const fn operation(&self) -> Operation {
        self.operation
    }

    /// The operation, if it was resolved for this memory.
    ///
    /// # Errors
    /// It was resolved for another memory.
    pub fn on(&self, planner: &Planner) -> Result<Operation, SpecError> {
        if self.planner.is_of_memory(planner) { Ok(self.operation) } else { Err(SpecError::OtherMemory) }
    }
}

impl OperationSpec {
    /// Finds the address of the source, and checks the operation against the memory.
    ///
    /// # Errors
    /// If no source has the required relation, or the operation reaches past the end of memory or
    /// covers a reserved row.
    pub fn resolve(&self, planner: &Planner) -> Result<ListedOperation, SpecError> {
        let OperationSpec { kind, src, dst, bytes, value, at: _ } = *self;
        // Errors of the destination are reported before those of the source.
        planner.check(&Operation::Init { dst, bytes, value })?;
        let operation = match kind {
            OperationKind::Copy => {
                let src = place(planner, src.unwrap_or(Place::SameSubarray), dst, bytes)?;
                Operation::Copy { src, dst, bytes }
            }
            OperationKind::Zero => Operation::Init { dst, bytes, value: 0 },
            OperationKind::Init => Operation::Init { dst, bytes, value },
            OperationKind::Read => Operation::Read { address: dst, bytes },
            OperationKind::Write => Operation::Write { address: dst, bytes },
        };
        planner.check(&operation)?;
        Ok(ListedOperation { spec: *self, operation, planner: planner.clone() })
    }
}

/// Place of an operand: an address, or a relation to the destination that every row of the
/// operation satisfies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At this physical address.
    Address(PhysicalAddress),
    /// In other rows of the destination's subarrays.
    SameSubarray,
    /// In other banks of the destination's rank.
    OtherBank,
    /// In other subarrays of the destination's banks.
    SameBank,
    /// In another rank of the destination's channel.
    OtherRank,
    /// In another channel.
    OtherChannel,
}

impl Place {
    /// The relations and their names in scenarios.
    pub const RELATIONS: [(&'static str, Place); 5] = [
        ("same-subarray", Place::SameSubarray),
        ("other-bank", Place::OtherBank),
        ("same-bank", Place::SameBank),
        ("other-rank", Place::OtherRank),
        ("other-channel", Place::OtherChannel),
    ];

    /// The relation with this name.
    pub fn named(name: &str) -> Option<Place> {
        Self::RELATIONS.into_iter().find(|(known, _)| *known == name).map(|(_, place)| place)
    }

    /// Name in scenarios.
    pub fn name(self) -> String {
        match (self, Self::RELATIONS.into_iter().find(|(_, place)| *place == self)) {
            (Place::Address(address), _) => address.to_string(),
            (_, Some((name, _))) => name.to_string(),
            (_, None) => unreachable!("every relation has its name"),
        }
    }
}

/// No source has the required relation to the destination.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {bytes} bytes lie `{place}` to {dst}")]
pub struct PlacementError {
    place: String,
    dst: PhysicalAddress,
    bytes: u64,
    help: &'static str,
}

impl PlacementError {
    /// Suggested change.
    pub fn help(&self) -> &'static str {
        self.help
    }
}

/// Returns the address of the source of a copy of `bytes` to `dst`: the nearest for which every row
/// has the relation, and which covers no reserved row.
///
/// # Errors
/// If the memory has no such place.
pub fn place(
    planner: &Planner,
    place: Place,
    dst: PhysicalAddress,
    bytes: u64,
) -> Result<PhysicalAddress, PlacementError> {
    if let Place::Address(address) = place {
        return Ok(address);
    }
    let map = planner.map();
    let found = map.locate(dst).and_then(|location| {
        (1..)
            .map_while(|step| candidate(map, place, location, step))
            .filter_map(|candidate| map.address(candidate))
            .find(|&src| has_relation(planner, place, src, dst, bytes))
    });
    found.ok_or_else(|| PlacementError {
        place: place.name(),
        dst,
        bytes,
        help: match (place, map.geometry()) {
            (Place::OtherRank, geometry) if geometry.ranks() == 1 => {
                "give the system two ranks, or take another placement"
            }
            (Place::OtherChannel, geometry) if geometry.channels() == 1 => {
                "give the system two channels, or take another placement"
            }
            (_, geometry) if map.granularity() > geometry.row_bytes() => {
                "the address map spreads each row's addresses over channels or banks: use row interleaving, or give \
                 the source's address"
            }
            _ => "copy fewer bytes, take another placement, or give the source's address",
        },
    })
}

/// A location with the relation to the destination's first byte, by its number from 1 on, the
/// nearest first; `None` after the last.
fn candidate(map: &AddressMap, place: Place, dst: Location, step: u32) -> Option<Location> {
    let geometry = map.geometry();
    // The value `step` after another one, cyclically, of a number of values.
    let after = |value: u8, values: u8| (step < u32::from(values)).then(|| (value + step as u8) % values);
    let mut location = dst;
    match place {
        Place::SameSubarray => {
            let own = geometry.rows_of_subarray(geometry.subarray(dst.row));
            let rows = own.end - own.start;
            let number = (step < rows).then(|| (dst.row.0 - own.start + step) % rows)?;
            location.row = Row(own.start + number);
        }
        // The row at the same place of another subarray, counted from the first row of a smaller one again.
        Place::SameBank => {
            let (own, subarrays) = (geometry.subarray(dst.row), geometry.subarrays_per_bank());
            let other = (step < subarrays).then(|| geometry.rows_of_subarray((own + step) % subarrays))?;
            let number = dst.row.0 - geometry.rows_of_subarray(own).start;
            location.row = Row(other.start + number % (other.end - other.start));
        }
        Place::Address(_) => return None,
        // The banks of the other groups first: a TRANSFER within a group may not be possible.
        Place::OtherBank => {
            let topology = geometry.topology();
            let further = after(0, geometry.banks())?;
            let jump =
                further * topology.banks_per_group % topology.banks_per_rank + further / topology.groups_per_rank();
            location.bank.bank = (dst.bank.bank + jump) % topology.banks_per_rank;
        }
        Place::OtherRank => location.bank.rank = after(dst.bank.rank, geometry.ranks())?,
        Place::OtherChannel => location.channel.0 = after(dst.channel.0, geometry.channels())?,
    }
    Some(location)
}

fn has_relation(planner: &Planner, place: Place, src: PhysicalAddress, dst: PhysicalAddress, bytes: u64) -> bool {
    let (low, high) = (src.0.min(dst.0), src.0.max(dst.0));
    if high - low < bytes || planner.check(&Operation::Copy { src, dst, bytes }).is_err() {
        return false;
    }
    let map = planner.map();
    let geometry = map.geometry();
    let step = map.run_bytes().min(bytes.max(1));
    // Operands that begin within a run may end in another one.
    let is_aligned = (src.0 | dst.0).is_multiple_of(map.run_bytes());
    let offsets = (0..bytes).step_by(step as usize).chain((!is_aligned).then_some(bytes - 1));
    offsets.into_iter().all(|offset| {
        let at = |base: PhysicalAddress| map.locate(PhysicalAddress(base.0 + offset));
        let (Some(src), Some(dst)) = (at(src), at(dst)) else { return false };
        let same_bank = src.channel == dst.channel && src.bank == dst.bank;
        let is_same_subarray = || geometry.is_same_subarray(src.row, dst.row);
        match place {
            Place::Address(_) => true,
            Place::SameSubarray => same_bank && src.row != dst.row && src.column == dst.column && is_same_subarray(),
            Place::SameBank => same_bank && !is_same_subarray(),
            Place::OtherBank => src.channel == dst.channel && src.bank.rank == dst.bank.rank && !same_bank,
            Place::OtherRank => src.channel == dst.channel && src.bank.rank != dst.bank.rank,
            Place::OtherChannel => src.channel != dst.channel,
        }
    })
}

#[cfg(test)]
mod tests {
    use dram_spec::address::MapPreset;
    use dram_spec::{Density, Geometry, RawGeometry, RowsPerSubarray, Standard, Width};
    use rowclone::FaultyRows;

    use super::*;

    /// DDR4 with one rank of 16 banks of 65,536 rows of 8 KB.
    fn planner(rows: impl Into<RowsPerSubarray>) -> Planner {
        let raw = RawGeometry {
            standard: Standard::Ddr4,
            channels: 1,
            ranks: 1,
            density: Density::Gb8,
            width: Width::X8,
            row_bytes: 8192,
            rows_per_subarray: rows.into(),
        };
        let map = AddressMap::preset(Geometry::try_from(raw).unwrap(), MapPreset::RowInterleaved);
        Planner::new(map, FaultyRows::default())
    }

    /// The row of bank 0 that is placed for a copy to another one.
    fn placed(planner: &Planner, relation: Place, dst: u32) -> Row {
        let map = planner.map();
        let dst = map.address(Location { row: Row(dst), ..Location::default() }).unwrap();
        let src = map.locate(place(planner, relation, dst, 8192).unwrap()).unwrap();
        assert_eq!(src, Location { row: src.row, ..Location::default() });
        src.row
    }

    /// Subarrays end with the zero rows 639, 1279 and 2047; the next row cyclically that is not reserved.
    #[test]
    fn another_row_of_a_subarray_of_a_pattern() {
        let planner = planner([640, 640, 768]);
        let rows = [0, 637, 638, 640, 1278, 1280, 2046, 2048, 65_533];
        let expected = [1, 638, 0, 641, 640, 1281, 1280, 2049, 64_768];
        assert_eq!(rows.map(|dst| placed(&planner, Place::SameSubarray, dst).0), expected);
    }

    /// The row at the same place of the next subarray; row 1990 is row 710 of its subarray, and the next has 640.
    #[test]
    fn another_subarray_of_a_pattern() {
        let planner = planner([640, 640, 768]);
        let rows = [0, 100, 700, 1290, 1990, 65_000];
        let expected = [640, 740, 1340, 2058, 2048 + 70, 65_000 - 64_768];
        assert_eq!(rows.map(|dst| placed(&planner, Place::SameBank, dst).0), expected);
    }

    /// 113 subarrays of 576 rows, and one of 448 with the rows from 65,088 on, of which the last two are reserved.
    #[test]
    fn places_in_a_cut_last_subarray() {
        let planner = planner(576);
        let rows = [65_088, 65_533, 575 - 1];
        assert_eq!(rows.map(|dst| placed(&planner, Place::SameSubarray, dst).0), [65_089, 65_088, 0]);
        let rows = [65_100, 64_512 + 12, 64_512 + 460];
        assert_eq!(rows.map(|dst| placed(&planner, Place::SameBank, dst).0), [12, 65_100, 65_100]);
    }
}
