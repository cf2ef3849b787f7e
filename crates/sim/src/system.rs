//! Memory systems and their builder.

use std::sync::Arc;

use dram_spec::address::{FRAME_BYTES, MapPreset, RawAddressMap};
use dram_spec::{
    AddressMap, BankId, Channel, CopyActivations, Cycles, Density, Geometry, PrechargePowerDown, RawGeometry,
    ReferenceCycle, Refresh, RefreshMode, Row, RowsPerSubarray, SpeedBin, Standard, System, Width,
};
use energy::{Currents, Prices};
use host::AgedMemories;
use memctrl::policy::copy::{BASELINE, CopyPolicy, DMA};
use memctrl::policy::row::RowPolicy;
use memctrl::policy::scheduler::Scheduler;
use memctrl::{Config, PageMode, PowerPolicy, QueueSettings, RefreshPolicy};
use os_alloc_sim::{CopyUnit, FrameMap};
use rowclone::{CopySupport, FaultyRows, Planner};

use crate::checks;
use crate::controller::ControllerSettings;
use crate::error::{ExperimentError, SystemError};
use crate::pricing::price_table;

/// A validated memory system: device, geometry, address map, currents and controller.
/// [`SystemBuilder`] builds it.
#[derive(Clone, Debug)]
pub struct MemorySystem {
    system: System,
    planner: Arc<Planner>,
    currents: Option<Currents>,
    prices: Option<Prices>,
    controller: ControllerSettings,
    page_mode: Option<PageMode>,
    aged_memories: Arc<AgedMemories>,
}

impl MemorySystem {
    /// The parameters that determine which command streams are legal.
    pub const fn system(&self) -> &System {
        &self.system
    }

    /// Map from physical addresses to DRAM coordinates.
    pub fn map(&self) -> &AddressMap {
        self.planner.map()
    }

    /// Planner of copies, with the address map and the faulty rows.
    pub const fn planner(&self) -> &Arc<Planner> {
        &self.planner
    }

    /// Bytes of a copy unit of pages.
    pub(crate) fn copy_unit_bytes(&self, unit: CopyUnit) -> u64 {
        u64::from(unit.frames(&FrameMap::new(self.map().clone()))) * FRAME_BYTES
    }

    /// Supply currents of the chips; `None` if the system has no current set, and thus no energy.
    pub const fn currents(&self) -> Option<&Currents> {
        self.currents.as_ref()
    }

    /// Energy of each command; `None` without a current set.
    pub const fn prices(&self) -> Option<&Prices> {
        self.prices.as_ref()
    }

    /// The page-mode memory in the place of the controller, if there is one.
    pub const fn page_mode(&self) -> Option<&PageMode> {
        self.page_mode.as_ref()
    }

    /// Checks that the memory executes the copies of a policy, and that the policy has the prices that it needs.
    ///
    /// # Errors
    /// [`ExperimentError::PageMode`] or [`ExperimentError::NoPrices`].
    pub fn check_policy(&self, policy: &dyn CopyPolicy) -> Result<(), ExperimentError> {
        if self.page_mode.is_some() && ![BASELINE.name(), DMA.name()].contains(&policy.name()) {
            return Err(ExperimentError::PageMode { policy: policy.name() });
        }
        if policy.needs_prices() && self.prices.is_none() {
            return Err(ExperimentError::NoPrices { policy: policy.name() });
        }
        Ok(())
    }

    /// Settings of the controller.
    pub const fn controller(&self) -> &ControllerSettings {
        &self.controller
    }

    /// The system with other settings of the controller.
    pub(crate) fn with_controller(&self, controller: ControllerSettings) -> MemorySystem {
        MemorySystem { controller, ..self.clone() }
    }

    /// Memories after aging, which runs on this system and on its clones share.
    pub fn aged_memories(&self) -> &AgedMemories {
        &self.aged_memories
    }

    /// Configuration of a controller with this copy policy.
    pub fn config(&self, policy: &'static dyn CopyPolicy) -> Config {
        let ControllerSettings { staging_lines, copy_hold_max, queues, scheduler, row_policy, refresh, power } =
            self.controller.clone();
        Config {
            prices: self.prices.as_ref().map(price_table),
            staging_lines,
            copy_hold_max,
            queues,
            scheduler: scheduler.unwrap_or_else(ControllerSettings::default_scheduler),
            row_policy,
            refresh,
            power,
            ..Config::new(self.system.clone(), Arc::clone(&self.planner), policy)
        }
    }
}

/// A current set: the name of a shipped one, or currents.
#[derive(Clone, Debug)]
enum CurrentSet {
    /// That of the paper's system for chips of its standard, else none.
    Default,
    None,
    Named(String),
    Given(Box<Currents>),
}

impl CurrentSet {
    /// The currents for chips of a standard.
    fn resolve(self, standard: Standard) -> Result<Option<Currents>, SystemError> {
        Ok(match self {
            CurrentSet::None => None,
            CurrentSet::Default => Currents::named(DEFAULT_SET).filter(|set| set.standard() == standard),
            CurrentSet::Given(currents) => Some(*currents),
            CurrentSet::Named(name) => Some(Currents::named(&name).ok_or(SystemError::NoCurrentSet { found: name })?),
        })
    }
}

/// The current set of the paper's system.
const DEFAULT_SET: &str = "2 Gb x8 -25E";

/// Builds a [`MemorySystem`]. The default is the system of the `RowClone` paper (MICRO 2013, table 2), as in
/// `configs/ddr3-1066-paper.toml`: DDR3-1066G, two channels of one rank of 2 Gb x8 chips, rows of 4 KB.
#[derive(Clone, Debug)]
pub struct SystemBuilder {
    bin: &'static SpeedBin,
    geometry: RawGeometry,
    copy_activations: CopyActivations,
    precharge_power_down: PrechargePowerDown,
    refresh: Refresh,
    refresh_mode: Option<&'static RefreshMode>,
    reference_cycle: ReferenceCycle,
    address_map: RawAddressMap,
    faulty_rows: Vec<(Channel, BankId, Row)>,
    copy_support: CopySupport,
    currents: CurrentSet,
    background_rho: Option<f64>,
    staging_lines: Option<usize>,
    controller: ControllerSettings,
    page_mode: Option<PageMode>,
}

impl Default for SystemBuilder {
    fn default() -> SystemBuilder {
        let System { bin, geometry, copy_activations, precharge_power_down, refresh, reference_cycle, .. } =
            System::paper(2, Density::Gb2, Width::X8);
        SystemBuilder {
            bin,
            geometry: geometry.raw(),
            copy_activations,
            precharge_power_down,
            refresh,
            refresh_mode: None,
            reference_cycle,
            address_map: MapPreset::RowInterleaved.raw(),
            faulty_rows: Vec::new(),
            copy_support: CopySupport::ROWCLONE,
            currents: CurrentSet::Default,
            background_rho: None,
            staging_lines: None,
            controller: ControllerSettings::new(&geometry),
            page_mode: None,
        }
    }
}

/// Setters that assign one value to a field.
macro_rules! setters {
    ($($(#[$meta:meta])* $name:ident($argument:ident: $type:ty) $($field:ident).+ = $value:expr;)+) => {
        /// Setters. Each replaces one setting; [`SystemBuilder::build`] checks them all.
        impl SystemBuilder {$(
            $(#[$meta])*
            #[must_use]
            pub fn $name(mut self, $argument: $type) -> SystemBuilder {
                self.$($field).+ = $value;
                self
            }
        )+}
    };
}

setters! {
    /// Sets the geometry.
    geometry(geometry: RawGeometry) geometry = geometry;

    /// Sets the channels: 1, 2, 4 or 8.
    channels(channels: u64) geometry.channels = channels;

    /// Sets the ranks per channel: 1, 2 or 4.
    ranks(ranks: u64) geometry.ranks = ranks;

    /// Sets the bytes per row of a rank: as in the chips' datasheets, or the 4096 of the paper.
    row_bytes(bytes: u64) geometry.row_bytes = bytes;

    /// Sets the rows per subarray: a number from 128 to 1024, or 1 to 8 such numbers that repeat from row 0
    /// of each bank, such as `[640, 640, 768]`.
    rows_per_subarray(rows: impl Into<RowsPerSubarray>) geometry.rows_per_subarray = rows.into();

    /// Sets whether copy activations count in tRRD and tFAW.
    copy_activations(copy_activations: CopyActivations) copy_activations = copy_activations;

    /// Sets the exit of precharge power-down.
    precharge_power_down(precharge_power_down: PrechargePowerDown) precharge_power_down = precharge_power_down;

    /// Sets the refresh interval: tREFI from 1.95 us to 1 s.
    refresh(refresh: Refresh) refresh = refresh;

    /// Sets the refresh mode: one of the standard's; by default, its first.
    refresh_mode(mode: &'static RefreshMode) refresh_mode = Some(mode);

    /// Sets the cycle of a command of two cycles from which distances count.
    reference_cycle(reference_cycle: ReferenceCycle) reference_cycle = reference_cycle;

    /// Sets the address map: a preset's [`MapPreset::raw`], or user-defined fields.
    address_map(address_map: RawAddressMap) address_map = address_map;

    /// Sets the rows that the chips have replaced by spares.
    faulty_rows(rows: impl IntoIterator<Item = (Channel, BankId, Row)>) faulty_rows = rows.into_iter().collect();

    /// Sets what the chips offer of copies inside the DRAM.
    copy_support(support: CopySupport) copy_support = support;

    /// Sets the supply currents of the chips. The default is `2 Gb x8 -25E` for chips of its standard, and
    /// no current set for others.
    currents(currents: Currents) currents = CurrentSet::Given(Box::new(currents));

    /// Sets the supply currents by the name of a shipped set, such as `2 Gb x8 -25E`.
    /// [`energy::shipped`] lists them.
    current_set(name: impl Into<String>) currents = CurrentSet::Named(name.into());

    /// Sets the background model of energy, from 0 to 1: the share of the difference between active and
    /// precharged standby that does not depend on the number of open banks. The default is that of the
    /// standard.
    background_rho(rho: f64) background_rho = Some(rho);

    /// Sets the lines that a copy over the channel stages, at least 1; by default, the lines of one
    /// row.
    staging_lines(lines: usize) staging_lines = Some(lines);

    /// Sets the maximum time for which a copy blocks a bank that a read waits for: at least 1
    /// cycle; with `None`, the copy completes there first.
    copy_hold_max(cycles: Option<Cycles>) controller.copy_hold_max = cycles;

    /// Sets the queue sizes, and the watermarks of the write queue.
    queues(queues: QueueSettings) controller.queues = queues;

    /// Sets the scheduler: one of [`memctrl::policy::scheduler`], or a user-defined one.
    scheduler(scheduler: impl Scheduler + 'static) controller.scheduler = Some(Box::new(scheduler));

    /// Sets the row policy.
    row_policy(policy: RowPolicy) controller.row_policy = policy;

    /// Sets the scheduling of refresh: up to 8 REFs postponed.
    refresh_policy(refresh: RefreshPolicy) controller.refresh = refresh;

    /// Sets when idle ranks enter power-down or self-refresh. The current set must have the
    /// currents of those states.
    power(power: PowerPolicy) controller.power = power;
}

impl SystemBuilder {
    /// Sets the speed bin, and with it the standard: [`SpeedBin::named`] finds one.
    #[must_use]
    pub fn bin(self, bin: &'static SpeedBin) -> SystemBuilder {
        let geometry = RawGeometry { standard: bin.standard, ..self.geometry };
        SystemBuilder { bin, geometry, ..self }
    }

    /// Sets density and width of the chips. The current set must be for chips of that width.
    #[must_use]
    pub fn chips(mut self, density: Density, width: Width) -> SystemBuilder {
        (self.geometry.density, self.geometry.width) = (density, width);
        self
    }

    /// Leaves the supply currents of the chips open: no energy is computed.
    #[must_use]
    pub fn no_currents(self) -> SystemBuilder {
        SystemBuilder { currents: CurrentSet::None, ..self }
    }

    /// Sets all settings of the controller.
    #[must_use]
    pub fn controller(self, controller: ControllerSettings) -> SystemBuilder {
        SystemBuilder { staging_lines: Some(controller.staging_lines), controller, ..self }
    }

    /// Puts a page-mode memory in the place of the controller: geometry and address map give its size alone, and the
    /// clock is that of [`SpeedBin::page_mode`]. There are no currents and no refresh.
    #[must_use]
    pub fn page_mode(self, page_mode: PageMode) -> SystemBuilder {
        let builder = self.bin(SpeedBin::page_mode()).refresh(Refresh::Off).no_currents();
        SystemBuilder { page_mode: Some(page_mode), ..builder }
    }

    /// Builds the system.
    ///
    /// # Errors
    /// If a setting is out of range, or contradicts another one.
    pub fn build(self) -> Result<MemorySystem, SystemError> {
        let geometry = Geometry::try_from(self.geometry)?;
        let map = AddressMap::new(geometry, &self.address_map)?;
        checks::faulty_rows(&self.faulty_rows, &geometry)?;
        let currents = self.currents.resolve(self.bin.standard)?;
        let staging_lines = self.staging_lines.unwrap_or_else(|| geometry.columns().into());
        let controller = ControllerSettings { staging_lines, ..self.controller };
        let system = System {
            copy_activations: self.copy_activations,
            precharge_power_down: self.precharge_power_down,
            refresh: self.refresh,
            refresh_mode: self.refresh_mode.unwrap_or(&self.bin.standard.definition().refresh_modes[0]),
            reference_cycle: self.reference_cycle,
            ..System::new(self.bin, geometry)
        };
        let rho = self.background_rho.unwrap_or(self.bin.standard.definition().background_rho);
        checks::background(rho)?;
        let prices = |currents: &Currents| Prices::with_background(&system, currents, rho);
        let prices = currents.as_ref().map(prices).transpose().map_err(SystemError::Currents)?;
        checks::refresh_current(system.refresh, prices.as_ref())?;
        checks::refresh(&system, controller.refresh)?;
        checks::queues(&controller)?;
        checks::policies(&controller)?;
        checks::power(controller.power, &system, currents.as_ref())?;
        let planner = Arc::new(Planner::of_chips(map, FaultyRows::from_iter(self.faulty_rows), self.copy_support));
        memctrl::check_progress(&system, &planner, &*controller.scheduler_or_default())?;
        let aged_memories = Arc::default();
        Ok(MemorySystem { system, planner, currents, prices, controller, page_mode: self.page_mode, aged_memories })
    }
}
