//! Cores before devices, with a guaranteed share for devices.

use dram_spec::SourceId;

use super::{Changes, Key, RowState, Scheduler, Service, Setting};
use crate::access::{AccessKind, QueuedAccess};

/// Reads of cores go before reads of devices ([`SourceId::is_device`]), whatever their rows; within a
/// class, row hits first, then the oldest.
///
/// Devices have a guaranteed share of the RDs for which both classes compete. Each channel keeps a
/// credit of the devices, 0 at first. An RD of an access is contested if, after it, a read of the
/// other class is queued on the channel, in any bank. A contested RD adds `share` to the credit if
/// it is of a core, and takes 100 - `share` from it if it is of a device; the credit stays from 0 to
/// [`CpuFirst::CREDIT_MAX`]. While it is at least 100 - `share`, devices go before cores. With a
/// share of 25 three contested RDs of cores are followed by one of a device.
///
/// Writes are of one class, the first, and ordered as under FR-FCFS: the writes of a line must keep
/// their order, whatever their sources. Row commands of copies have the class of their source.
#[derive(Clone, Copy, Debug)]
pub struct CpuFirst {
    /// Percent.
    share: u64,
    /// Credit of the devices, in hundredths of an RD.
    credit: u64,
}

impl CpuFirst {
    /// The default share, in percent. Chosen: Zhao et al. (ICCD 2005) guarantee a share, but do not
    /// publish it. With a quarter, cores keep three of four contested RDs, and a device whose reads
    /// are always ready needs at most four times as long for them as on a channel of its own.
    pub const SHARE: u64 = 25;
    /// The largest credit. Chosen: what devices miss while copies or refreshes keep them from their
    /// banks must not delay cores for long afterwards; with the default share, for 13 RDs.
    pub const CREDIT_MAX: u64 = 1000;

    /// With the default share.
    pub const DEFAULT: CpuFirst = CpuFirst::new(CpuFirst::SHARE);

    /// Creates the scheduler with a share in percent, at most 100.
    pub const fn new(share: u64) -> CpuFirst {
        CpuFirst { share, credit: 0 }
    }

    fn has_precedence(self, source: SourceId) -> bool {
        source.is_device() == self.are_devices_first()
    }

    fn are_devices_first(self) -> bool {
        self.credit >= 100 - self.share
    }

    fn fields(is_first: bool, is_hit: bool) -> Key {
        Key::EQUAL.first_if(is_first).first_if(is_hit)
    }
}

impl Scheduler for CpuFirst {
    fn name(&self) -> &'static str {
        "cpu-first"
    }

    fn summary(&self) -> String {
        format!("cpu-first, {} % for devices", self.share)
    }

    fn about(&self) -> &'static str {
        "reads of cores before those of devices"
    }

    fn settings(&self) -> &'static [Setting] {
        const {
            &[Setting::count(
                "cpu_first_share",
                (0, 100),
                "percent of the RDs that devices are guaranteed while reads of cores and of devices are queued (a \
                    workload without cores has no devices)",
            )]
        }
    }

    fn values(&self) -> Vec<u64> {
        vec![self.share]
    }

    fn set_values(&mut self, values: &[u64]) {
        *self = CpuFirst::new(values[0]);
    }

    fn key(&self, access: &QueuedAccess, row: RowState) -> Key {
        let is_first = access.kind() == AccessKind::Write || self.has_precedence(access.source());
        CpuFirst::fields(is_first, row.is_hit)
    }

    fn copy_key(&self, source: SourceId) -> Key {
        CpuFirst::fields(self.has_precedence(source), false)
    }

    fn best_key(&self, row: RowState) -> Key {
        CpuFirst::fields(true, row.is_hit)
    }

    fn serve(&mut self, service: &Service<'_>) -> Changes {
        let Some(read) = service.completed_read() else { return Changes::None };
        let is_device = read.source().is_device();
        if !service.reads.iter().any(|other| other.source().is_device() != is_device) {
            return Changes::None;
        }
        let were_first = self.are_devices_first();
        self.credit = if is_device {
            self.credit.saturating_sub(100 - self.share)
        } else {
            (self.credit + self.share).min(CpuFirst::CREDIT_MAX)
        };
        if self.are_devices_first() == were_first { Changes::None } else { Changes::All }
    }
}

#[cfg(test)]
mod tests;
