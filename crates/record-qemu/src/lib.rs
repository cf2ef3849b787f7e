//! Plugin of qemu-user that records a program, and of qemu-system that records a guest (`guest`): `rowclone-sim record`
//! runs it.
//!
//! Each thread of the program sends words of instructions, accesses and events
//! ([`trace_io::recording`]) to the recorder, which listens on a Unix socket. A thread sends its words
//! before each system call, and waits for the answer: the order in which they arrive is one in which
//! each system call has its place.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod exec;
mod guest;
mod link;
mod memory;
mod object;
mod qemu;
mod results;
mod routine;
mod symbols;
mod system_call;
mod thread;

use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::Ordering;

use guest::Guest;
use qemu::{Id, MemInfo, TranslationBlock};
use symbols::Symbols;
use thread::Thread;
use trace_io::recording::request::RecorderRequest;

/// Flag of the argument of [`on_access`]: the instruction is atomic.
const ATOMIC: usize = 1 << 32;

/// Bits of the number of instructions in the argument of [`on_repeated`], of which qemu translates at most 512 at once.
const COUNT_BITS: u32 = 16;

/// Reads the arguments of the plugin, and registers its callbacks.
fn install(id: Id, arguments: Vec<String>) -> Result<(), ()> {
    let mut guest = Guest::default();
    for argument in arguments {
        let (key, value) = argument.split_once('=').ok_or(())?;
        match key {
            "socket" => link::SOCKET.set(PathBuf::from(value)).map_err(|_| ())?,
            "thread" => Thread::of(0).link().thread = value.parse().map_err(|_| ())?,
            "process" => link::set_process(value.parse().map_err(|_| ())?),
            "contents" => thread::HAS_CONTENTS.store(value == "on", Ordering::Relaxed),
            "plugin" => exec::PLUGIN.set(PathBuf::from(value)).map_err(|_| ())?,
            "memory" => guest.memory = value.parse().map_err(|_| ())?,
            "begin" => guest.begin = hexadecimal(value)?,
            "routine" => {
                let (start, end) = value.split_once('-').ok_or(())?;
                guest.routines.push(hexadecimal(start)?..hexadecimal(end)?);
            }
            _ => return Err(()),
        }
    }
    if guest.memory > 0 {
        return guest::install(id, guest);
    }
    memory::remember_mappings_of_qemu();
    qemu::register(id, on_translation, system_call::on_call, system_call::on_return);
    Ok(())
}

fn hexadecimal(text: &str) -> Result<u64, ()> {
    u64::from_str_radix(text, 16).map_err(|_| ())
}

extern "C" fn on_translation(_: Id, block: TranslationBlock) {
    static FIRST: Once = Once::new();
    let mut instructions = block.instructions();
    let count = instructions.len();
    let Some(first) = instructions.next() else { return };
    // The program is loaded after the plugin, and before its first instruction.
    FIRST.call_once(|| {
        let thread = Thread::of(0);
        qemu::set_base(first.host_address().wrapping_sub(first.address()));
        if qemu::base() != 0 {
            let text = "Addresses in qemu are not those of the program (guest_base is not 0).";
            thread.link().request(&RecorderRequest::Unseen(text.to_owned()));
        }
        thread.link().begin();
        memory::initial(thread);
    });
    let last = block.instructions().last().filter(|last| is_repeated(last.bytes()));
    match last {
        Some(last) => block.on_execution(on_repeated, (last.address() as usize) << COUNT_BITS | count),
        None => block.on_execution(on_block, count),
    }
    if Symbols::lock().is_routine(first.address()) {
        first.on_execution(on_routine, 0);
    }
    if system_call::is_signal_handler(first.address()) {
        first.on_execution(on_signal, 0);
    }
    for (index, instruction) in block.instructions().enumerate() {
        let bytes = instruction.bytes();
        // `ret`
        if bytes == [0xc3] {
            instruction.on_execution(on_routine_end, 0);
        }
        instruction.on_access(on_access, (index + 1) | if is_atomic(bytes) { ATOMIC } else { 0 });
    }
}

/// Whether a byte is a prefix of an instruction: of segments, sizes and repetition, or REX.
fn is_prefix(byte: u8) -> bool {
    matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf2 | 0xf3)
}

/// Whether an instruction is a repeated string instruction, of which qemu executes a translation block per repetition.
fn is_repeated(bytes: &[u8]) -> bool {
    let operation = bytes.iter().position(|byte| !is_prefix(*byte)).unwrap_or(0);
    let has_prefix = bytes[..operation].iter().any(|byte| matches!(byte, 0xf2 | 0xf3));
    has_prefix && matches!(bytes[operation], 0x6c..=0x6f | 0xa4..=0xa7 | 0xaa..=0xaf)
}

/// Whether an instruction reads and writes memory at once: it has the prefix `lock`, or is `xchg`.
fn is_atomic(bytes: &[u8]) -> bool {
    matches!(bytes.iter().find(|byte| !is_prefix(**byte)), Some(0xf0 | 0x86 | 0x87))
}

extern "C" fn on_block(processor: u32, instructions: usize) {
    Thread::of(processor).begin_block(instructions as u64);
}

extern "C" fn on_repeated(processor: u32, argument: usize) {
    let instructions = argument & ((1 << COUNT_BITS) - 1);
    Thread::of(processor).begin_repeated(instructions as u64, (argument >> COUNT_BITS) as u64);
}

extern "C" fn on_access(processor: u32, info: MemInfo, address: u64, argument: usize) {
    let thread = Thread::of(processor);
    let (position, log2_bytes, is_store) = (argument as u32, info.log2_bytes(), info.is_store());
    if is_store && argument & ATOMIC != 0 {
        thread.access_atomic(position.into(), address, log2_bytes);
    }
    thread.access(position.into(), is_store, address, log2_bytes);
}

/// Before a signal handler: the kernel has written the frame of the signal, so that a block begins.
extern "C" fn on_signal(processor: u32, _: usize) {
    Thread::of(processor).send();
}

extern "C" fn on_routine(processor: u32, _: usize) {
    Thread::of(processor).begin_call();
}

extern "C" fn on_routine_end(processor: u32, _: usize) {
    Thread::of(processor).end_call();
}
