//! Memory traces with instructions, as programs.

use std::collections::VecDeque;
use std::io::Read;
use std::num::NonZeroU32;

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use rustc_hash::FxHashSet;
use trace_io::LineError;
use trace_io::program::Step;
use trace_io::trace::{Arrival, Event, Format, Record, RecordTiming, Recorded, TraceReader};

use super::super::bulk::is_backward;
use super::steps::Program;

/// The program of a memory trace whose records have instructions (`rc`, `cpu` and `lackey`).
///
/// A read is a load. Its writeback is a store that is one of the instructions before the read. Where
/// every access is recorded, an access is one of the instructions before it, per line. A
/// copy is a `memcopy` per copy unit of its destination, a fill with zeros a `meminit` per unit, and
/// another fill a loop of stores. Recorded addresses are virtual, and pages have frames before the
/// run; a unit that a copy overwrites as a whole gets frames near its source. Memory grows with
/// the pages that the trace accesses.
#[derive(derive_more::Debug)]
#[debug("TraceProgram({:?})", self.format())]
pub struct TraceProgram<R: Read> {
    records: TraceReader<R>,
    /// Bytes of a copy unit of the kernel.
    unit: u64,
    /// Pages that are mapped.
    pages: FxHashSet<u64>,
    /// Steps before the next piece.
    pending: VecDeque<Step>,
    /// The rest of a copy or fill.
    rest: Option<BulkRest>,
}

/// A copy, or a fill with a value, that has at least 1 byte left.
#[derive(Clone, Copy, Debug)]
struct BulkRest {
    src: Option<PhysicalAddress>,
    dst: PhysicalAddress,
    value: u8,
    bytes: u64,
}

/// The error for a format whose records have no instructions.
#[cold]
fn no_instructions(format: &Format) -> LineError {
    LineError::new(
        format!("the trace has the format `{}`, whose records have no instructions", format.name),
        "give a program trace (docs/cores.md), or a memory trace of the format `rc`, `cpu` or `lackey`",
    )
}

impl<R: Read> TraceProgram<R> {
    /// Creates the program of a trace, for a kernel with copy units of this size: 4096 bytes times a
    /// power of two.
    ///
    /// # Errors
    /// If the records of its format have no instructions.
    pub fn new(records: TraceReader<R>, unit: u64) -> Result<TraceProgram<R>, LineError> {
        if records.format().timing != RecordTiming::Instructions {
            return Err(no_instructions(records.format()));
        }
        Ok(TraceProgram { records, unit, pages: FxHashSet::default(), pending: VecDeque::new(), rest: None })
    }

    /// Format of the trace.
    pub const fn format(&self) -> &'static Format {
        self.records.format()
    }

    /// Appends the steps of a record.
    fn translate(&mut self, record: &Record) -> Result<(), LineError> {
        let Arrival::AfterInstructions(before) = record.arrival else { return Err(no_instructions(self.format())) };
        let own = match record.event {
            // The access of an instruction that is one of those before it.
            Event::Read { address, bytes, .. } | Event::Write { address, bytes, .. }
                if self.recorded() == Recorded::EveryAccess =>
            {
                lines(address, bytes).count() as u64
            }
            Event::Read { writeback: Some(_), .. } | Event::Write { .. } => 1,
            _ => 0,
        };
        self.compute(before.saturating_sub(own));
        match record.event {
            Event::Read { address, bytes, writeback } => {
                lines(address, bytes).for_each(|address| self.access(address, false));
                if let Some(victim) = writeback {
                    self.access(victim, true);
                }
            }
            Event::Write { address, bytes } => lines(address, bytes).for_each(|address| self.access(address, true)),
            Event::Copy { dst, src, bytes, .. } => self.rest = Some(BulkRest { src: Some(src), dst, value: 0, bytes }),
            Event::Fill { dst, value, bytes, .. } => self.rest = Some(BulkRest { src: None, dst, value, bytes }),
            Event::Located { .. } | Event::Os(_) => return Err(no_instructions(self.format())),
        }
        Ok(())
    }

    fn compute(&mut self, instructions: u64) {
        if instructions > 0 {
            self.pending.push_back(Step::Compute { instructions });
        }
    }

    fn access(&mut self, address: PhysicalAddress, is_store: bool) {
        self.map(address, 1);
        self.pending.push_back(if is_store { Step::Store { address } } else { Step::Load { address } });
    }

    /// Appends the steps of the part of a copy or fill in one copy unit of the destination: the first
    /// one or, if the destination begins within the source, the last one; returns the rest.
    fn unit_of(&mut self, bulk: BulkRest) -> Option<BulkRest> {
        let is_last = bulk.src.is_some_and(|src| is_backward(src, bulk.dst, bulk.bytes));
        let room = if is_last {
            bulk.dst.0.wrapping_add(bulk.bytes - 1) % self.unit + 1
        } else {
            self.unit - bulk.dst.0 % self.unit
        };
        let bytes = room.min(bulk.bytes);
        let left = bulk.bytes - bytes;
        let (first, rest) = if is_last { (left, 0) } else { (0, bytes) };
        let plus = |address: PhysicalAddress, bytes: u64| PhysicalAddress(address.0 + bytes);
        let (src, dst) = (bulk.src.map(|src| plus(src, first)), plus(bulk.dst, first));
        if let Some(src) = src {
            self.map(src, bytes);
        }
        self.map(dst, bytes);
        match src {
            Some(src) => {
                if bytes == self.unit && dst.0.abs_diff(src.0) >= bytes {
                    self.pending.push_back(Step::Renew { page: dst, source: src, bytes });
                }
                self.pending.push_back(Step::Copy { dst, src, bytes });
            }
            None if bulk.value == 0 => self.pending.push_back(Step::Zero { address: dst, bytes }),
            None => self.store_each_word(dst, bytes),
        }
        let from = |address: PhysicalAddress| PhysicalAddress(address.0 + rest);
        (left > 0).then(|| BulkRest { src: bulk.src.map(from), dst: from(bulk.dst), bytes: left, ..bulk })
    }

    fn store_each_word(&mut self, dst: PhysicalAddress, bytes: u64) {
        for line in dst.0 / LINE_BYTES..=(dst.0 + (bytes - 1)) / LINE_BYTES {
            let address = PhysicalAddress(dst.0.max(line * LINE_BYTES));
            self.pending.push_back(Step::Store { address });
            self.compute(LINE_BYTES / 8 - 1);
        }
    }

    /// Maps the pages of a range that are not mapped.
    fn map(&mut self, address: PhysicalAddress, bytes: u64) {
        for page in address.0 / FRAME_BYTES..=(address.0 + (bytes - 1)) / FRAME_BYTES {
            if self.pages.insert(page) {
                // The last byte of the last page would make the end of its range exceed 64 bits.
                let (address, bytes) = (PhysicalAddress(page * FRAME_BYTES), FRAME_BYTES - 1);
                self.pending.extend([Step::Map { address, bytes }, Step::Present { address, bytes }]);
            }
        }
    }
}

/// The first byte of an access in each line that it covers.
fn lines(address: PhysicalAddress, bytes: Option<NonZeroU32>) -> impl Iterator<Item = PhysicalAddress> {
    let last = address.0 + u64::from(bytes.map_or(0, |bytes| bytes.get() - 1));
    (address.0 / LINE_BYTES..=last / LINE_BYTES).map(move |line| PhysicalAddress(address.0.max(line * LINE_BYTES)))
}

impl<R: Read> Program for TraceProgram<R> {
    fn next_step(&mut self) -> Result<Option<Step>, LineError> {
        loop {
            if let Some(step) = self.pending.pop_front() {
                return Ok(Some(step));
            }
            if let Some(bulk) = self.rest.take() {
                self.rest = self.unit_of(bulk);
            } else if let Some(record) = self.records.next().transpose()? {
                self.translate(&record)?;
            } else {
                return Ok(None);
            }
        }
    }

    fn recorded(&self) -> Recorded {
        self.format().recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(trace: &str) -> Vec<Step> {
        steps_in_units(trace, FRAME_BYTES)
    }

    fn steps_in_units(trace: &str, unit: u64) -> Vec<Step> {
        let mut program = TraceProgram::new(TraceReader::new(trace.as_bytes(), None).unwrap(), unit).unwrap();
        std::iter::from_fn(|| program.next_step().unwrap()).collect()
    }

    fn mapped(page: u64) -> [Step; 2] {
        let (address, bytes) = (PhysicalAddress(page * 4096), 4095);
        [Step::Map { address, bytes }, Step::Present { address, bytes }]
    }

    /// 12 and 5 instructions and a read each; the store of the writeback is one of the 5.
    #[test]
    fn a_record_has_its_instructions_and_each_page_is_mapped_once() {
        let at = PhysicalAddress;
        let found = steps("R 1040 0 12\nR 2080 1040 5\nR 1000 0 0\n");
        let mut expected = vec![Step::Compute { instructions: 12 }];
        expected.extend(mapped(1));
        expected.extend([Step::Load { address: at(0x1040) }, Step::Compute { instructions: 4 }]);
        expected.extend(mapped(2));
        expected.extend([
            Step::Load { address: at(0x2080) },
            Step::Store { address: at(0x1040) },
            Step::Load { address: at(0x1000) },
        ]);
        assert_eq!(found, expected);
        assert_eq!(steps("12 4160\n5 8320 4160\n0 4096\n"), found, "the same records in the format `cpu`");
    }

    /// Three instructions, of which two load, one of them from two lines, and one loads and stores.
    #[test]
    fn each_access_of_every_instruction_is_an_instruction_per_line() {
        let at = PhysicalAddress;
        let found = steps("I  0401ab70,3\nI  0401ab73,5\n L 00001038,16\nI  0401ab78,3\n M 00001100,8\n");
        let mut expected = mapped(1).to_vec();
        expected.extend([Step::Load { address: at(0x1038) }, Step::Load { address: at(0x1040) }]);
        expected.extend([Step::Load { address: at(0x1100) }, Step::Store { address: at(0x1100) }]);
        assert_eq!(found, expected);
        let recorded = |trace: &str| {
            TraceProgram::new(TraceReader::new(trace.as_bytes(), None).unwrap(), FRAME_BYTES).unwrap().recorded()
        };
        assert_eq!(recorded(" L 00001038,16\n"), Recorded::EveryAccess);
        assert_eq!(recorded("R 1040 0 12\n"), Recorded::BehindFirstLevel);
        assert_eq!(recorded("12 4160\n"), Recorded::BehindLastLevel);
    }

    #[test]
    fn copies_and_fills_are_executed_by_page() {
        let at = PhysicalAddress;
        // 96 bytes at the end of page 2, and 4096 from its source page 8 on.
        let found = steps("C 2fa0 7fa0 4192 0\nS 2000 0 4096 0\nS 3000 7 128 0\n");
        let mut expected = [mapped(7), mapped(2)].concat();
        expected.push(Step::Copy { dst: at(0x2fa0), src: at(0x7fa0), bytes: 96 });
        expected.extend([mapped(8), mapped(3)].concat());
        expected.extend([
            Step::Renew { page: at(0x3000), source: at(0x8000), bytes: 4096 },
            Step::Copy { dst: at(0x3000), src: at(0x8000), bytes: 4096 },
            Step::Zero { address: at(0x2000), bytes: 4096 },
        ]);
        for address in [at(0x3000), at(0x3040)] {
            expected.extend([Step::Store { address }, Step::Compute { instructions: 7 }]);
        }
        assert_eq!(found, expected);
    }

    /// Pages 3 to 6 of the destination, of which 4 and 5 are a unit of two pages.
    #[test]
    fn copies_are_cut_at_units_and_only_whole_units_get_frames() {
        let at = PhysicalAddress;
        let mut found = steps_in_units("C 3000 13000 16384 0\nS 3000 0 16384 0\n", 8192);
        found.retain(|step| !matches!(step, Step::Map { .. } | Step::Present { .. }));
        let expected = [
            Step::Copy { dst: at(0x3000), src: at(0x13000), bytes: 4096 },
            Step::Renew { page: at(0x4000), source: at(0x14000), bytes: 8192 },
            Step::Copy { dst: at(0x4000), src: at(0x14000), bytes: 8192 },
            Step::Copy { dst: at(0x6000), src: at(0x16000), bytes: 4096 },
            Step::Zero { address: at(0x3000), bytes: 4096 },
            Step::Zero { address: at(0x4000), bytes: 8192 },
            Step::Zero { address: at(0x6000), bytes: 4096 },
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_copy_of_all_memory_is_made_step_by_step() {
        let trace = "C 0 0 18446744073709551615 0\n";
        let mut program = TraceProgram::new(TraceReader::new(trace.as_bytes(), None).unwrap(), FRAME_BYTES).unwrap();
        for _ in 0..1000 {
            program.next_step().unwrap();
        }
        assert!(program.pending.len() < 10);
    }

    #[test]
    fn a_trace_without_instructions_is_refused() {
        let reader = TraceReader::new("R 0x40 @5\n".as_bytes(), None).unwrap();
        let error = TraceProgram::new(reader, FRAME_BYTES).unwrap_err();
        assert_eq!(error.to_string(), "the trace has the format `native`, whose records have no instructions");
        assert!(error.help().contains("`rc`, `cpu` or `lackey`"));
    }
}
