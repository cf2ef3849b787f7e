//! A guest of qemu-system: its accesses at physical addresses, and its kernel's copies and clearings of pages.
//!
//! The guest has one processor, whose words are those of the first thread. Process 1 is the physical memory.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use trace_io::recording::request::RecorderRequest;
use trace_io::recording::{Event, MapFlags, ObjectAddress};

use crate::is_repeated;
use crate::qemu::{self, Id, MemInfo, TranslationBlock};
use crate::thread::Thread;

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Most bytes of a run of loads or stores.
const RUN_BYTES_MAX: u64 = 128;

/// What is recorded of a guest.
#[derive(Debug, Default)]
pub struct Guest {
    /// Bytes of its RAM; 0 if there is no guest.
    pub memory: u64,
    /// Address of the instruction from whose first execution on it is recorded; 0 for all.
    pub begin: u64,
    /// Addresses of the routines of the kernel that copy or clear pages.
    pub routines: Vec<Range<u64>>,
}

static GUEST: OnceLock<Guest> = OnceLock::new();
/// Whether the recording has begun.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
/// Number of the current routine, from 1 on; 0 if there is none.
static ROUTINE: AtomicUsize = AtomicUsize::new(0);
/// Positions of the words of interrupts in the current routine.
static OF_INTERRUPTS: Mutex<Vec<Range<usize>>> = Mutex::new(Vec::new());
/// Address of the last repeated string instruction, and the instructions executed with it.
static REPEATED: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
/// Accesses of devices and of read-only memory.
static DEVICE_ACCESSES: AtomicU64 = AtomicU64::new(0);

/// Registers the callbacks of a guest.
pub fn install(id: Id, guest: Guest) -> Result<(), ()> {
    let begins_at_once = guest.begin == 0;
    GUEST.set(guest).map_err(|_| ())?;
    qemu::register_guest(id, on_translation, on_exit);
    if begins_at_once {
        begin();
    }
    Ok(())
}

/// Begins the recording.
fn begin() {
    let bytes = GUEST.get().map_or(0, |guest| guest.memory);
    if HAS_BEGUN.swap(true, Relaxed) || bytes == 0 {
        return;
    }
    let thread = Thread::of(0);
    thread.skip();
    let flags = MapFlags { is_writable: true, is_shared: true };
    let of = ObjectAddress { object: ObjectAddress::PHYSICAL, address: 0 };
    thread.event(Event::Map { flags, address: 0, bytes, of });
}

extern "C" fn on_translation(_: Id, block: TranslationBlock) {
    let Some(guest) = GUEST.get() else { return };
    let executed = Thread::of(0).executed();
    for instruction in block.instructions() {
        let (address, bytes) = (instruction.address(), instruction.bytes());
        if is_repeated(bytes) {
            instruction.on_execution(on_repeated, address as usize);
        } else {
            instruction.count(executed);
        }
        if address == guest.begin {
            instruction.on_execution(on_begin, 0);
        }
        let found = guest.routines.iter().position(|routine| routine.contains(&address));
        let number = found.map_or(0, |index| index + 1);
        if let Some(routine) = found.map(|index| &guest.routines[index]) {
            if address == routine.start {
                instruction.on_execution(on_routine, number);
            }
            if leaves(address, bytes, routine) {
                instruction.on_execution(on_routine_end, number);
            }
        }
        instruction.on_access(on_access, number);
    }
}

/// Whether an instruction of a routine ends it: a return, or a jump out of it.
fn leaves(address: u64, bytes: &[u8], routine: &Range<u64>) -> bool {
    let next = address.wrapping_add(bytes.len() as u64);
    let is_outside = |distance: i64| !routine.contains(&next.wrapping_add_signed(distance));
    match *bytes {
        [0xc3] => true,
        [0xeb, distance] => is_outside(distance.cast_signed().into()),
        [0xe9, a, b, c, d] => is_outside(i32::from_le_bytes([a, b, c, d]).into()),
        _ => false,
    }
}

extern "C" fn on_begin(_: u32, _: usize) {
    begin();
}

/// All repetitions of a string instruction are one instruction, unless others come between.
extern "C" fn on_repeated(processor: u32, address: usize) {
    let executed = Thread::of(processor).executed();
    let before = [address as u64, executed.load(Relaxed)];
    if REPEATED.each_ref().map(|number| number.load(Relaxed)) != before {
        executed.store(before[1] + 1, Relaxed);
        REPEATED[0].store(before[0], Relaxed);
        REPEATED[1].store(before[1] + 1, Relaxed);
    }
}

extern "C" fn on_routine(processor: u32, number: usize) {
    let thread = Thread::of(processor);
    // A routine in an interrupt of another one is part of the interrupt.
    if HAS_BEGUN.load(Relaxed) && (!thread.is_in_call() || ROUTINE.load(Relaxed) == number) {
        run().end(thread);
        thread.begin_call();
        ROUTINE.store(number, Relaxed);
        OF_INTERRUPTS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

extern "C" fn on_routine_end(processor: u32, number: usize) {
    let thread = Thread::of(processor);
    if thread.is_in_call() && ROUTINE.load(Relaxed) == number {
        run().end(thread);
        thread.end_page_call(&OF_INTERRUPTS.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

extern "C" fn on_access(processor: u32, info: MemInfo, address: u64, routine: usize) {
    if !HAS_BEGUN.load(Relaxed) {
        return;
    }
    let thread = Thread::of(processor);
    let (mut run, bytes) = (run(), 1 << info.log2_bytes());
    let in_page = bytes.min(PAGE - address % PAGE);
    for (address, bytes) in [(address, in_page), (address.wrapping_add(in_page), bytes - in_page)] {
        if bytes > 0 {
            run.access(thread, info, address, bytes, routine);
        }
    }
}

/// Consecutive accesses of an instruction, which are not words yet: those of a string instruction are mostly two
/// ranges.
#[derive(Debug)]
struct AccessRun {
    /// Instructions executed, with the instruction of the accesses.
    executed: u64,
    /// Number of the routine that the instruction is in; 0 if it is in none.
    routine: usize,
    /// First address and bytes of the loads, and of the stores.
    ranges: [(u64, u64); 2],
}

static RUN: Mutex<AccessRun> = Mutex::new(AccessRun { executed: 0, routine: 0, ranges: [(0, 0); 2] });

fn run() -> MutexGuard<'static, AccessRun> {
    RUN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AccessRun {
    /// Adds an access of some bytes of a page.
    fn access(&mut self, thread: &Thread, info: MemInfo, address: u64, bytes: u64, routine: usize) {
        let memory = GUEST.get().map_or(0, |guest| guest.memory);
        let Some(physical) = info.physical(address).filter(|physical| physical + bytes <= memory) else {
            DEVICE_ACCESSES.fetch_add(1, Relaxed);
            return;
        };
        let executed = thread.executed().load(Relaxed);
        let (start, length) = self.ranges[usize::from(info.is_store())];
        let goes_on = length == 0 || start + length == physical && length + bytes <= RUN_BYTES_MAX;
        if executed != self.executed || !goes_on {
            self.end(thread);
            (self.executed, self.routine) = (executed, routine);
        }
        let (start, length) = &mut self.ranges[usize::from(info.is_store())];
        if *length == 0 {
            *start = physical;
        }
        *length += bytes;
    }

    /// Adds the words of the accesses.
    fn end(&mut self, thread: &Thread) {
        let before = thread.length();
        let position = self.executed.wrapping_sub(thread.executed().load(Relaxed));
        for (is_store, (mut address, mut rest)) in [false, true].into_iter().zip(std::mem::take(&mut self.ranges)) {
            while let Some(log2_bytes) = rest.checked_ilog2() {
                thread.access(position, is_store, address, log2_bytes as u8);
                address += 1 << log2_bytes;
                rest -= 1 << log2_bytes;
            }
        }
        if thread.is_in_call() && self.routine != ROUTINE.load(Relaxed) {
            OF_INTERRUPTS.lock().unwrap_or_else(PoisonError::into_inner).push(before..thread.length());
        }
    }
}

/// Sends the last words, and what was not recorded.
extern "C" fn on_exit(_: Id, _: usize) {
    if !HAS_BEGUN.load(Relaxed) {
        return;
    }
    let thread = Thread::of(0);
    run().end(thread);
    thread.flush();
    let count = DEVICE_ACCESSES.load(Relaxed);
    thread.link().request(&RecorderRequest::Unseen(format!("{count} accesses of devices and read-only memory.")));
}
