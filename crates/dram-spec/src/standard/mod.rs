//! DRAM standards as data: chips, speed bins, refresh modes. One file per standard.

mod datasheet;
pub(crate) mod ddr2;
mod ddr3;
mod ddr4;
mod ddr5;

pub use datasheet::{Density, SpeedBin, Width};

use crate::units::{Clock, Cycles, Min};

/// A DRAM standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standard {
    /// JESD79-2.
    Ddr2,
    /// JESD79-3.
    #[default]
    Ddr3,
    /// JESD79-4.
    Ddr4,
    /// JESD79-5.
    Ddr5,
}

impl Standard {
    /// All standards.
    pub const ALL: [Standard; 4] = [Standard::Ddr2, Standard::Ddr3, Standard::Ddr4, Standard::Ddr5];

    /// The numbers of the standard.
    pub const fn definition(self) -> &'static Definition {
        match self {
            Standard::Ddr2 => &ddr2::DDR2,
            Standard::Ddr3 => &ddr3::DDR3,
            Standard::Ddr4 => &ddr4::DDR4,
            Standard::Ddr5 => &ddr5::DDR5,
        }
    }

    /// Name: "DDR4".
    pub const fn name(self) -> &'static str {
        self.definition().name
    }

    /// The standard with this name.
    pub fn from_name(name: &str) -> Option<Standard> {
        Standard::ALL.into_iter().find(|standard| standard.name() == name)
    }

    /// The bin with this name: "2400R", or with the standard, "DDR4-2400R".
    pub fn bin(self, name: &str) -> Option<&'static SpeedBin> {
        self.definition().bins.iter().find(|bin| bin.name == name || bin.short_name() == name)
    }

    /// The chip of this density and width, if the standard has one.
    pub fn chip(self, density: Density, width: Width) -> Option<&'static Chip> {
        self.definition().chips.iter().find(|chip| chip.density == density && chip.width == width)
    }

    /// The refresh mode with this name.
    pub fn refresh_mode(self, name: &str) -> Option<&'static RefreshMode> {
        self.definition().refresh_modes.iter().find(|mode| mode.name == name)
    }

    /// Bins of all standards.
    pub fn all_bins() -> impl Iterator<Item = &'static SpeedBin> {
        Standard::ALL.into_iter().flat_map(|standard| standard.definition().bins)
    }

    /// Names of the bins that an unknown name may mean: those of its data rate, and of its standard if it has one; else
    /// those of its standard; else the first of each standard.
    pub fn bins_like(unknown: &str) -> Vec<&'static str> {
        let unknown = unknown.to_ascii_uppercase();
        let (standard, rate) = match unknown.split_once('-') {
            Some((name, rate)) => (Standard::from_name(name), rate),
            None => (Standard::from_name(&unknown), unknown.as_str()),
        };
        let digits = |name: &str| name.bytes().take_while(u8::is_ascii_digit).count();
        let rate = &rate[..digits(rate)];
        let is_of_standard = |bin: &&SpeedBin| standard.is_none_or(|standard| bin.standard == standard);
        let is_of_rate = |bin: &&SpeedBin| bin.short_name()[..digits(bin.short_name())] == *rate;
        let names = |bins: &mut dyn Iterator<Item = &'static SpeedBin>| bins.map(|bin| bin.name).collect::<Vec<_>>();
        let of_rate = names(&mut Standard::all_bins().filter(is_of_standard).filter(is_of_rate));
        match standard {
            _ if !of_rate.is_empty() => of_rate,
            Some(standard) => names(&mut standard.definition().bins.iter()),
            None => names(&mut Standard::ALL.into_iter().map(|standard| &standard.definition().bins[0])),
        }
    }

    /// What may be meant by an unknown name of a bin, and where all are listed.
    pub fn bins_in_words(unknown: &str) -> String {
        let names: Vec<_> = Standard::bins_like(unknown).into_iter().map(|name| format!("`{name}`")).collect();
        format!("for example {}; `rowclone-sim explain rules --help` lists all bins", names.join(", "))
    }
}

/// The numbers of a standard.
#[derive(Debug)]
pub struct Definition {
    /// Name: "DDR4".
    pub name: &'static str,
    /// Speed bins.
    pub bins: &'static [SpeedBin],
    /// Chips.
    pub chips: &'static [Chip],
    /// Data pins of a channel: those of a module, or of a DDR5 sub-channel.
    pub channel_pins: u64,
    /// Clocks of a burst on the data bus. A burst is one line of 64 bytes.
    pub burst: Cycles,
    /// tREFI up to 85 C, ps.
    pub t_refi_ps: u64,
    /// Refresh modes; the first is the default.
    pub refresh_modes: &'static [RefreshMode],
    /// Self-refresh exit to commands without the DLL (tXS): at least `ck` clocks, and `ps` after tRFC.
    pub exit_after_refresh: Min,
    /// The power-down state that can have a slow exit, with the DLL off.
    pub slow_exit: Option<SlowExit>,
    /// Values of CL that the mode registers can hold: least and most.
    pub cl: (u64, u64),
    /// Values of CWL: least and most.
    pub cwl: (u64, u64),
    /// Clocks by which CWL is below CL, where it follows CL.
    pub cwl_below_cl: Option<u64>,
    /// Longest time with a row open, ps; else it is nine tREFI.
    pub t_ras_max_ps: Option<u64>,
    /// Most banks per rank.
    pub rank_banks_max: u8,
    /// Whether ACT and column commands take two cycles on the command bus.
    pub two_cycle_commands: bool,
    /// Background model of energy: the share of the difference between active and precharged standby
    /// that one open bank causes whatever the other banks do, 0 to 1. The rest grows with the open banks.
    pub background_rho: f64,
    /// Powers of the data pins, if a source has them for the standard.
    pub pin_powers: Option<PinPowers>,
}

/// Powers of a data pin during a burst, mW, averaged over the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinPowers {
    /// Output driver of a read.
    pub read_driver_mw: f64,
    /// Termination of a write, in the rank written.
    pub write_termination_mw: f64,
    /// Termination of a read, in another rank.
    pub idle_read_termination_mw: f64,
    /// Termination of a write, in another rank.
    pub idle_write_termination_mw: f64,
}

impl Definition {
    /// tXS for a tRFC, in clocks.
    pub const fn t_xs(&self, clock: Clock, t_rfc: Min) -> Cycles {
        let Min { ck, ps } = self.exit_after_refresh;
        let after = if t_rfc.ps > 0 {
            clock.at_least(Min { ck: t_rfc.ck, ps: t_rfc.ps + ps })
        } else {
            Cycles(t_rfc.ck + clock.at_least(Min::ps(ps)).0)
        };
        if after.0 > ck { after } else { Cycles(ck) }
    }

    /// Densities of its chips, ascending.
    pub fn densities(&self) -> Vec<Density> {
        let mut densities: Vec<Density> = self.chips.iter().map(|chip| chip.density).collect();
        densities.sort_unstable();
        densities.dedup();
        densities
    }

    /// Its densities in Gb: "1, 2, 4 or 8".
    pub fn densities_in_words(&self) -> String {
        let densities: Vec<_> = self.densities().iter().map(|density| density.gigabits().to_string()).collect();
        match densities.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            _ => densities.concat(),
        }
    }
}

/// The power-down state that a slow exit applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowExit {
    /// Power-down with a bank open.
    Active,
    /// Power-down with all banks closed.
    Precharge,
}

/// Organization of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Capacity.
    pub density: Density,
    /// Data pins.
    pub width: Width,
    /// Bank groups; 1 in a standard without them.
    pub bank_groups: u8,
    /// Banks per group.
    pub banks_per_group: u8,
    /// Bytes per row.
    pub page_bytes: u64,
    /// REF to the next command, by [`RefreshMode::duration`]: tRFC1, tRFC2, tRFC4.
    pub t_rfc: [Min; 3],
    /// REFsb to the next command to its banks (tRFCsb).
    pub t_rfc_sb: Min,
    /// Clocks by which PREA to ACT (tRPA) exceeds tRP.
    pub rpa_clocks: u64,
}

impl Chip {
    /// Banks.
    pub const fn banks(&self) -> u8 {
        self.bank_groups * self.banks_per_group
    }

    /// Rows per bank.
    pub const fn rows(&self) -> u64 {
        self.density.bits() / 8 / self.page_bytes / self.banks() as u64
    }
}

/// How REFs are spaced.
#[derive(Debug, PartialEq, Eq)]
pub struct RefreshMode {
    /// Name in configurations: "1x".
    pub name: &'static str,
    /// REFs per tREFI: the interval is tREFI / `divisor`.
    pub divisor: u64,
    /// Index of the tRFC in [`Chip::t_rfc`].
    pub duration: usize,
    /// Whether a REF is a REFsb: it refreshes one bank of each group, and the interval is divided
    /// by the banks of a group, too.
    pub same_bank: bool,
    /// Most REFs postponed.
    pub postponed_most: u64,
    /// Most REFs in advance that count.
    pub advanced_most: u64,
    /// Longest distance of two REFs, in intervals.
    pub gap_most: u64,
    /// Most REFs in a window, whose length the rules of the standard give; 0 without such a rule.
    pub window: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_bin_is_like_those_of_its_rate_or_its_standard() {
        assert_eq!(Standard::bins_like("DDR4-2400Z"), ["DDR4-2400P", "DDR4-2400R", "DDR4-2400T", "DDR4-2400U"]);
        assert_eq!(Standard::bins_like("ddr4-2400"), Standard::bins_like("DDR4-2400Z"));
        let of_1600 = ["1600H", "1600J", "1600K", "DDR4-1600J", "DDR4-1600K", "DDR4-1600L"];
        assert_eq!(Standard::bins_like("1600"), of_1600);
        assert_eq!(Standard::bins_like("DDR2-1600").len(), 6);
        assert_eq!(Standard::bins_like("DDR2").len(), 6);
        let of_each = ["DDR2-400B", "800D", "DDR4-1600J", "DDR5-3200AN"];
        assert_eq!(Standard::bins_like("fast"), of_each);
        assert_eq!(Standard::bins_like(""), of_each);
    }

    #[test]
    fn a_data_rate_has_an_example_with_latencies() {
        for bin in Standard::all_bins().filter(|bin| !bin.has_latencies()) {
            let named = SpeedBin::named(&bin.example_with_latencies()).expect("the example is a name");
            assert!(named.has_latencies() && named.clock == bin.clock, "{}", named.name);
        }
        let rate = SpeedBin::named("DDR5-5200").unwrap();
        assert!(!rate.has_latencies());
        assert_eq!(rate.example_with_latencies(), "DDR5-5200[CL=42,tRCD=42,tRP=42]");
    }

    #[test]
    fn densities_are_listed_in_words() {
        let words = Standard::ALL.map(|standard| standard.definition().densities_in_words());
        assert_eq!(words, ["0.25, 0.5, 1, 2 or 4", "1, 2, 4 or 8", "2, 4, 8 or 16", "8, 16 or 32"]);
    }
}
