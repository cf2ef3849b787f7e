//! Random systems and random operations on them.

use dram_spec::address::{Fields, MapPreset, RawAddressMap, RawXor};
use dram_spec::geometry::{PAPER_ROW_BYTES, native_row_bytes};
use dram_spec::{
    AddressMap, Column, CopyActivations, Cycle, Geometry, Location, PhysicalAddress, RawGeometry, Refresh, Row,
    RowsPerSubarray, SpeedBin, Standard, System, Width,
};
use host::{Place, place};
use memctrl::Config;
use memctrl::RefreshPolicy;
use memctrl::policy::copy::POLICIES;
use proptest::prelude::*;
use proptest::sample::select;
use rowclone::{FaultyRows, Operation};

use crate::common::config;

/// A system and its operations.
#[derive(Clone)]
pub struct Case {
    pub config: Config,
    pub seed: u64,
    pub operations: Vec<(Operation, Option<Cycle>)>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:?}", self.config.system)?;
        writeln!(f, "{:?} {:?}", self.config.planner.map(), self.config.copy_policy)?;
        let Config {
            staging_lines, refresh, copy_hold_max, queues, scheduler, row_policy, power, warm_up, epoch, ..
        } = &self.config;
        writeln!(f, "staging {staging_lines} {refresh:?} hold {copy_hold_max:?} {scheduler:?} {row_policy:?}")?;
        writeln!(f, "{queues:?} {power:?} warm-up {warm_up} epoch {epoch:?}")?;
        self.operations.iter().try_for_each(|(operation, at)| writeln!(f, "{operation} at {at:?}"))
    }
}

pub fn arb_system() -> impl Strategy<Value = System> {
    let organization = (
        select(vec![1, 2, 4]),
        select(vec![1, 2, 4]),
        select(Standard::Ddr3.definition().densities()),
        select(&Width::ALL[..]),
    );
    // Rows of drafts lie around 128 and 512.
    let number = prop_oneof![124..=132_u64, 500..=520_u64, 128..=1024_u64].prop_map(|rows| rows.max(128));
    let rows_per_subarray = prop_oneof![
        3 => select(vec![128, 256, 512, 1024]).prop_map(RowsPerSubarray::from),
        1 => proptest::collection::vec(number, 1..=8).prop_map(RowsPerSubarray::from_iter),
    ];
    let rows = (any::<bool>(), rows_per_subarray);
    let refresh = select(vec![
        Refresh::NORMAL,
        Refresh::Every { t_refi_ps: 3_900_000 },
        Refresh::Every { t_refi_ps: 1_950_000 },
        Refresh::Off,
    ]);
    let copies = select(vec![CopyActivations::Counted, CopyActivations::Free]);
    (select(Standard::Ddr3.definition().bins), organization, rows, refresh, copies).prop_map(
        |(bin, (channels, ranks, density, width), (paper, rows_per_subarray), refresh, copy_activations)| {
            let row_bytes = if paper { PAPER_ROW_BYTES } else { native_row_bytes(Standard::Ddr3, density, width) };
            let raw =
                RawGeometry { standard: Standard::Ddr3, channels, ranks, density, width, row_bytes, rows_per_subarray };
            // The last subarray may be too small.
            let other = RawGeometry { rows_per_subarray: 576.into(), ..raw };
            let geometry = Geometry::try_from(raw).or_else(|_| Geometry::try_from(other)).unwrap();
            System { copy_activations, refresh, ..System::new(SpeedBin::named(bin.name).unwrap(), geometry) }
        },
    )
}

pub fn arb_map() -> impl Strategy<Value = RawAddressMap> {
    let list = |fields: &[&str]| RawAddressMap {
        fields: fields.iter().map(|f| (*f).to_string()).collect::<Vec<_>>().into(),
        xor: vec![],
    };
    let hashed = RawAddressMap {
        xor: vec![RawXor { field: "bank".into(), bit: 0, address_bits: vec![21, 23] }],
        ..MapPreset::RowInterleaved.raw()
    };
    select(vec![
        MapPreset::RowInterleaved.raw(),
        MapPreset::BankInterleaved.raw(),
        MapPreset::LineInterleaved.raw(),
        list(&["row", "subarray", "rank", "bank", "channel", "column", "offset"]),
        list(&["channel", "rank", "bank", "row", "column", "offset"]),
        list(&["row", "column:2", "bank", "rank", "channel", "column", "offset"]),
        hashed,
    ])
}

/// Parameters of an operation, resolved once the system is known.
#[derive(Clone, Debug)]
struct Draft {
    kind: u8,
    bank: u8,
    row: u32,
    shift: u64,
    rows: u64,
    ragged: u64,
    relation: usize,
    overlap: i64,
    value: u8,
    at: Option<u64>,
}

fn arb_draft() -> impl Strategy<Value = Draft> {
    let ragged = prop_oneof![4 => Just(0u64), 2 => (0u64..64).prop_map(|lines| lines * 64), 2 => 0u64..9000];
    let shift = prop_oneof![4 => Just(0u64), 2 => (0u64..64).prop_map(|lines| lines * 64), 2 => 0u64..4096];
    let overlap = prop_oneof![-300i64..300, (-80i64..80).prop_map(|lines| lines * 64), -9000i64..9000];
    let place = (0u8..8, prop_oneof![0u32..6, 120u32..132, 500u32..520]);
    let at = prop_oneof![3 => Just(None), 2 => (0u64..3000).prop_map(Some), 1 => (0u64..90_000).prop_map(Some)];
    (0u8..10, place, shift, 0u64..4, ragged, 0usize..9, overlap, any::<u8>(), at).prop_map(
        |(kind, (bank, row), shift, rows, ragged, relation, overlap, value, at)| Draft {
            kind,
            bank,
            row,
            shift,
            rows,
            ragged,
            relation,
            overlap,
            value,
            at,
        },
    )
}

impl Draft {
    fn resolve(&self, config: &Config, bytes_per_row: u64) -> Option<(Operation, Option<Cycle>)> {
        let map = config.planner.map();
        let geometry = map.geometry();
        let bytes = (self.rows * geometry.row_bytes().min(bytes_per_row) + self.ragged).max(1);
        let bank = dram_spec::BankId { rank: self.bank % geometry.ranks(), bank: self.bank };
        let channel = dram_spec::Channel(self.value % geometry.channels());
        let base = map.address(Location { channel, bank, row: Row(self.row), column: Column(0), offset: 0 })?;
        let dst = PhysicalAddress(base.0 + self.shift);
        let operation = match self.kind {
            0..=5 => {
                let near = PhysicalAddress(dst.0.checked_add_signed(self.overlap)?);
                let src = match Place::RELATIONS.get(self.relation) {
                    Some((_, relation)) => place(&config.planner, *relation, dst, bytes).unwrap_or(near),
                    None => near,
                };
                Operation::Copy { src, dst, bytes }
            }
            6 => Operation::Init { dst, bytes, value: 0 },
            7 => Operation::Init { dst, bytes, value: self.value },
            8 => Operation::Read { address: dst, bytes: bytes.min(8192) },
            _ => Operation::Write { address: dst, bytes: bytes.min(8192) },
        };
        config.planner.check(&operation).ok()?;
        Some((operation, self.at.map(Cycle)))
    }
}

/// A few operations, on a random system under a random policy.
pub fn arb_case() -> impl Strategy<Value = Case> {
    arb_case_of(1..7, 8192)
}

/// Many operations, some of them long, that conflict: refreshes fall due, are postponed, and
/// preempt copies.
pub fn arb_heavy_case() -> impl Strategy<Value = Case> {
    arb_case_of(10..60, 60_000)
}

/// `count` operations of about `bytes_per_row` bytes per row of their draft.
fn arb_case_of(count: std::ops::Range<usize>, bytes_per_row: u64) -> impl Strategy<Value = Case> {
    let controller = (select(vec![1usize, 7, 64, 512]), 0u64..=8, select(&POLICIES[..]));
    let faulty = proptest::collection::vec((0u8..8, select(vec![0u32, 1, 2, 127, 511])), 0..3);
    let drafts = proptest::collection::vec(arb_draft(), count);
    (arb_system(), arb_map(), controller, faulty, drafts, any::<u64>()).prop_filter_map(
        "an operation that the memory can take",
        move |(system, map, (staging_lines, postpone_max, policy), faulty, drafts, seed)| {
            let is_listed =
                matches!(&map.fields, Fields::List(fields) if fields.iter().any(|field| field == "subarray"));
            let map = match system.geometry.subarray_row_bits() {
                None if is_listed => AddressMap::preset(system.geometry, MapPreset::RowInterleaved),
                _ => AddressMap::new(system.geometry, &map).ok()?,
            };
            let faulty: FaultyRows = faulty
                .into_iter()
                .map(|(bank, row)| (dram_spec::Channel(0), dram_spec::BankId { rank: 0, bank }, Row(row)))
                .collect();
            let config = Config {
                staging_lines,
                refresh: RefreshPolicy { postpone_max, ..RefreshPolicy::default() },
                ..config(system, map, faulty, policy)
            };
            let resolved = drafts.iter().filter_map(|draft| draft.resolve(&config, bytes_per_row));
            let mut operations: Vec<_> = resolved.collect();
            // Arrivals do not decrease along the list.
            let mut floor = Cycle::ZERO;
            for at in operations.iter_mut().filter_map(|(_, at)| at.as_mut()) {
                floor = floor.max(*at);
                *at = floor;
            }
            (!operations.is_empty()).then_some(Case { config, seed, operations })
        },
    )
}
