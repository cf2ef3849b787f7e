//! qemu's interface for TCG plugins, version 1, of which Debian's qemu ships no header. All `unsafe` code of the
//! plugin is here.
//!
//! A handle of qemu is an address that the plugin only passes back.

#![expect(unsafe_code, reason = "qemu calls the plugin, and is called by it, through a C interface")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of the plugin, by which qemu distinguishes plugins.
pub type Id = u64;

/// Handle of a translation block.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct TranslationBlock(usize);

/// Handle of an instruction of a translation block.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Instruction(usize);

/// Handle of the physical address of an access; 0 if it has none.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
struct Physical(usize);

/// Kind and size of an access, encoded by qemu.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct MemInfo(u32);

type OnTranslation = extern "C" fn(Id, TranslationBlock);
type OnExecution = extern "C" fn(u32, usize);
type OnAccess = extern "C" fn(u32, MemInfo, u64, usize);
type OnSystemCall = extern "C" fn(Id, u32, i64, u64, u64, u64, u64, u64, u64, u64, u64);
type OnReturn = extern "C" fn(Id, u32, i64, i64);
type OnExit = extern "C" fn(Id, usize);

/// The callback reads no registers (`QEMU_PLUGIN_CB_NO_REGS`).
const NO_REGISTERS: c_int = 0;
/// Loads and stores (`QEMU_PLUGIN_MEM_RW`).
const LOADS_AND_STORES: c_int = 3;
/// Adds to a number (`QEMU_PLUGIN_INLINE_ADD_U64`).
const ADD: c_int = 0;

// SAFETY: the signatures are those of qemu-plugin.h of qemu 7.2. A handle comes from qemu, and is used only during the
// callback that it was an argument of.
unsafe extern "C" {
    safe fn qemu_plugin_register_vcpu_tb_trans_cb(id: Id, callback: OnTranslation);
    safe fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: TranslationBlock,
        callback: OnExecution,
        flags: c_int,
        argument: usize,
    );
    safe fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: Instruction,
        callback: OnExecution,
        flags: c_int,
        argument: usize,
    );
    safe fn qemu_plugin_register_vcpu_mem_cb(
        instruction: Instruction,
        callback: OnAccess,
        flags: c_int,
        kinds: c_int,
        argument: usize,
    );
    safe fn qemu_plugin_register_vcpu_insn_exec_inline(
        instruction: Instruction,
        operation: c_int,
        number: &'static AtomicU64,
        addend: u64,
    );
    safe fn qemu_plugin_register_atexit_cb(id: Id, callback: OnExit, argument: usize);
    safe fn qemu_plugin_get_hwaddr(info: MemInfo, address: u64) -> Physical;
    safe fn qemu_plugin_hwaddr_is_io(of: Physical) -> bool;
    safe fn qemu_plugin_hwaddr_phys_addr(of: Physical) -> u64;
    safe fn qemu_plugin_register_vcpu_syscall_cb(id: Id, callback: OnSystemCall);
    safe fn qemu_plugin_register_vcpu_syscall_ret_cb(id: Id, callback: OnReturn);
    safe fn qemu_plugin_tb_n_insns(block: TranslationBlock) -> usize;
    safe fn qemu_plugin_tb_get_insn(block: TranslationBlock, position: usize) -> Instruction;
    safe fn qemu_plugin_insn_vaddr(instruction: Instruction) -> u64;
    safe fn qemu_plugin_insn_haddr(instruction: Instruction) -> u64;
    safe fn qemu_plugin_insn_data(instruction: Instruction) -> *const u8;
    safe fn qemu_plugin_insn_size(instruction: Instruction) -> usize;
    safe fn qemu_plugin_mem_size_shift(info: MemInfo) -> u32;
    safe fn qemu_plugin_mem_is_store(info: MemInfo) -> bool;
    safe fn qemu_plugin_path_to_binary() -> *mut c_char;
}

/// Version of the interface that the plugin needs.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = 1;

/// Called by qemu once, before it loads the program. The arguments of the plugin are `key=value`.
#[unsafe(no_mangle)]
extern "C" fn qemu_plugin_install(id: Id, _: *const c_void, count: c_int, arguments: *const *const c_char) -> c_int {
    let arguments = (0..usize::try_from(count).unwrap_or(0)).map(|index| {
        // SAFETY: qemu passes `count` strings that end in a zero byte.
        let text = unsafe { CStr::from_ptr(*arguments.add(index)) };
        text.to_string_lossy().into_owned()
    });
    c_int::from(crate::install(id, arguments.collect()).is_err())
}

/// Registers what qemu shall call at the translation of a block, and before and after a system call, with its number
/// and its arguments or result.
pub fn register(id: Id, on_translation: OnTranslation, on_system_call: OnSystemCall, on_return: OnReturn) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
}

/// Registers what qemu shall call at the translation of a block of a guest, and when it exits.
pub fn register_guest(id: Id, on_translation: OnTranslation, on_exit: OnExit) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, 0);
}

impl TranslationBlock {
    /// Its instructions.
    pub fn instructions(self) -> impl ExactSizeIterator<Item = Instruction> {
        (0..qemu_plugin_tb_n_insns(self)).map(move |position| qemu_plugin_tb_get_insn(self, position))
    }

    /// Calls before each execution of the block.
    pub fn on_execution(self, callback: OnExecution, argument: usize) {
        qemu_plugin_register_vcpu_tb_exec_cb(self, callback, NO_REGISTERS, argument);
    }
}

impl Instruction {
    /// Its address in the program.
    pub fn address(self) -> u64 {
        qemu_plugin_insn_vaddr(self)
    }

    /// Its address in the process of qemu.
    pub fn host_address(self) -> u64 {
        qemu_plugin_insn_haddr(self)
    }

    /// Its bytes, for the time of the callback.
    pub fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: qemu keeps the bytes while it translates the block.
        unsafe { std::slice::from_raw_parts(qemu_plugin_insn_data(self), qemu_plugin_insn_size(self)) }
    }

    /// Calls before each execution of the instruction.
    pub fn on_execution(self, callback: OnExecution, argument: usize) {
        qemu_plugin_register_vcpu_insn_exec_cb(self, callback, NO_REGISTERS, argument);
    }

    /// Adds 1 to a number before each execution of the instruction. The guest has one processor: the addition is not
    /// atomic.
    pub fn count(self, number: &'static AtomicU64) {
        qemu_plugin_register_vcpu_insn_exec_inline(self, ADD, number, 1);
    }

    /// Calls after each access of the instruction.
    pub fn on_access(self, callback: OnAccess, argument: usize) {
        qemu_plugin_register_vcpu_mem_cb(self, callback, NO_REGISTERS, LOADS_AND_STORES, argument);
    }
}

impl MemInfo {
    /// Log2 of the bytes of the access.
    #[inline]
    pub fn log2_bytes(self) -> u8 {
        qemu_plugin_mem_size_shift(self) as u8
    }

    /// Whether it writes.
    #[inline]
    pub fn is_store(self) -> bool {
        qemu_plugin_mem_is_store(self)
    }

    /// The physical address of a byte that a guest has just accessed, from the start of its RAM on; `None` if the byte
    /// is one of a device.
    #[inline]
    pub fn physical(self, address: u64) -> Option<u64> {
        let found = qemu_plugin_get_hwaddr(self, address);
        if found.0 == 0 || qemu_plugin_hwaddr_is_io(found) {
            return None;
        }
        Some(qemu_plugin_hwaddr_phys_addr(found))
    }
}

/// Path of the program that runs.
pub fn program() -> PathBuf {
    let path = qemu_plugin_path_to_binary();
    if path.is_null() {
        return PathBuf::new();
    }
    // SAFETY: qemu returns a string that ends in a zero byte. It is not freed: the plugin asks for it only before
    // `execve`.
    PathBuf::from(unsafe { CStr::from_ptr(path) }.to_string_lossy().into_owned())
}

/// Difference between an address in the process of qemu and the address in the program (`guest_base`).
static BASE: AtomicU64 = AtomicU64::new(0);

/// Sets the difference between an address in the process of qemu and the address in the program.
pub fn set_base(base: u64) {
    BASE.store(base, Ordering::Relaxed);
}

/// The difference between an address in the process of qemu and the address in the program.
pub fn base() -> u64 {
    BASE.load(Ordering::Relaxed)
}

/// Reads a byte that the program has just accessed.
#[inline]
pub fn accessed_byte(address: u64) -> u8 {
    let address = address.wrapping_add(base()) as *const u8;
    // SAFETY: the program has just accessed the byte at this address, so that it is mapped.
    unsafe { address.read_volatile() }
}
