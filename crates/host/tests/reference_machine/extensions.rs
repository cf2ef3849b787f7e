//! Parts of random machines beside cores, an L1 and a last-level cache of the default policies.

use std::num::NonZeroUsize;

use host::machine::{
    BusSettings, CacheShape, ClassSettings, ClassUnits, Classes, CoreSettings, LineSettings, MachineSettings, Order,
    PageCopier, PrefetchSettings, PrefetcherKind, Sharing, StoreMiss, WritePolicy,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use trace_io::program::InstructionClass;

/// Settings of caches that a share of the machines has.
#[derive(Clone, Copy, Debug)]
pub struct CacheExtensions {
    l2: Option<CacheShape>,
    /// Whether pairs of cores share a last level.
    is_by_pairs: bool,
    lines: LineSettings,
    /// Of the L1, the L2 and the last level.
    store_miss: [StoreMiss; 3],
    prefetchers: [PrefetcherKind; 3],
}

fn arb_l2() -> impl Strategy<Value = CacheShape> {
    (select(vec![256_u64, 512, 1024]), select(vec![1_usize, 2, 4]), 2_u64..9)
        .prop_map(|(bytes, ways, latency)| CacheShape::new(bytes, ways, latency))
}

/// The defaults, and others.
pub fn arb_cache_extensions() -> impl Strategy<Value = CacheExtensions> {
    let l2 = prop_oneof![2 => Just(None), 1 => arb_l2().prop_map(Some)];
    let miss = || select(vec![StoreMiss::Allocate, StoreMiss::Allocate, StoreMiss::NoAllocate]);
    let write = select(vec![WritePolicy::WriteBack, WritePolicy::WriteThrough]);
    let bytes = select(vec![64_u64, 64, 32, 128]);
    let write_buffer = prop_oneof![1_usize..5, Just(8)];
    let stores = prop_oneof![
        1 => Just((WritePolicy::WriteBack, 8, [StoreMiss::Allocate; 3])),
        1 => (write, write_buffer, [miss(), miss(), miss()]),
    ];
    let prefetch = (1_u64..5, 1_u64..4, 1_usize..5).prop_map(|(degree, distance, mshrs)| PrefetchSettings {
        degree,
        distance,
        mshrs,
    });
    let prefetcher = || select(PrefetcherKind::ALL.to_vec());
    let prefetchers = prop_oneof![
        1 => Just([PrefetcherKind::None; 3]),
        1 => [prefetcher(), prefetcher(), prefetcher()],
    ];
    (l2, any::<bool>(), bytes, stores, prefetch, prefetchers).prop_map(
        |(l2, is_by_pairs, bytes, (write, write_buffer, store_miss), prefetch, prefetchers)| {
            let lines = LineSettings { bytes, write, write_buffer, prefetch, ..LineSettings::default() };
            CacheExtensions { l2, is_by_pairs, lines, store_miss, prefetchers }
        },
    )
}

impl CacheExtensions {
    /// Adds these settings to a machine. Those with a copy engine keep their lines and stores, but not prefetchers.
    pub fn extend(self, mut settings: MachineSettings) -> MachineSettings {
        settings.l2 = self.l2;
        if settings.sharing == Sharing::Shared && self.is_by_pairs {
            settings.sharing = Sharing::Group(NonZeroUsize::new(2).expect("a pair has cores"));
        }
        let has_engine = matches!(settings.kernel.copier, PageCopier::Engine(_));
        settings.lines = self.lines;
        if has_engine {
            settings.lines = LineSettings { prefetch: self.lines.prefetch, ..LineSettings::default() };
        }
        let mut shapes = [settings.l1.as_mut(), settings.l2.as_mut(), Some(&mut settings.last_level)];
        for ((shape, store_miss), prefetcher) in shapes.iter_mut().zip(self.store_miss).zip(self.prefetchers) {
            if let Some(shape) = shape {
                shape.prefetcher = prefetcher;
                shape.store_miss = if has_engine { StoreMiss::Allocate } else { store_miss };
                shape.bytes = shape.bytes.max(shape.ways as u64 * self.lines.bytes);
            }
        }
        settings
    }
}

/// A bus whose clock takes some core cycles.
pub fn arb_bus() -> impl Strategy<Value = BusSettings> {
    let latency = || select(vec![0_u64, 1, 7, 40]);
    let clock = select(vec![1_u64, 2, 3, 8]);
    (clock, select(vec![4_u64, 8, 16, 64]), 1_u64..4, [latency(), latency(), latency()]).prop_map(
        |(clock, bytes_per_clock, address_clocks, [request_latency, response_latency, snoop_latency])| BusSettings {
            clock,
            bytes_per_clock,
            address_clocks,
            request_latency,
            response_latency,
            snoop_latency,
        },
    )
}

/// Latency and units of each class, and a load/store queue.
#[derive(Clone, Debug)]
pub struct CoreExtensions {
    classes: Vec<ClassSettings>,
    /// Class whose units a class uses, if that has units of its own.
    units_of: Vec<Option<usize>>,
    load_store_queue: Option<usize>,
}

pub fn arb_core_extensions() -> impl Strategy<Value = CoreExtensions> {
    let units = prop_oneof![2 => Just(ClassUnits::Unlimited), 2 => (1_u64..4).prop_map(ClassUnits::Own)];
    let interval = prop_oneof![2 => Just(1_u64), 1 => 2_u64..12];
    let class = (0_u64..10, interval, units, prop_oneof![4 => Just(true), 1 => Just(false)]);
    let class =
        class.prop_map(|(latency, interval, units, is_paired)| ClassSettings { latency, interval, units, is_paired });
    let count = InstructionClass::ALL.len();
    let units_of = prop_oneof![3 => Just(None), 1 => (0..count).prop_map(Some)];
    let queue = prop_oneof![2 => Just(None), 1 => (1_usize..8).prop_map(Some)];
    (vec(class, count), vec(units_of, count), queue).prop_map(|(classes, units_of, load_store_queue)| CoreExtensions {
        classes,
        units_of,
        load_store_queue,
    })
}

impl CoreExtensions {
    /// Adds these settings to a core.
    pub fn extend(self, core: CoreSettings) -> CoreSettings {
        let mut classes = Classes::PLAIN;
        for (at, class) in InstructionClass::ALL.into_iter().enumerate() {
            let mut settings = self.classes[at];
            if !class.accesses_memory() {
                settings.latency = settings.latency.max(1);
            }
            if core.order == Order::OutOfOrder {
                settings.is_paired = true;
            }
            if let Some(owner) = self.units_of[at]
                && owner != at
                && self.units_of[owner].is_none()
                && matches!(self.classes[owner].units, ClassUnits::Own(_))
            {
                settings.units = ClassUnits::Of(InstructionClass::ALL[owner]);
            }
            *classes.of_mut(class) = settings;
        }
        let load_store_queue = self.load_store_queue.map(|entries| entries.min(core.window as usize));
        CoreSettings { classes, load_store_queue, ..core }
    }
}
