//! System calls that concern memory.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use trace_io::recording::request::{Direction, RecorderRequest, Task};
use trace_io::recording::{Event, MapFlags, ObjectAddress};

use crate::memory::read_numbers;
use crate::object::{self, number};
use crate::qemu::{self, Id};
use crate::symbols::Symbols;
use crate::thread::Thread;
use crate::{exec, link, results};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// End of the memory that `brk` moves; 0 before the first call.
static BREAK: AtomicU64 = AtomicU64::new(0);

/// Addresses of the program's signal handlers.
static HANDLERS: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// Whether a signal handler of the program begins at an address.
pub fn is_signal_handler(address: u64) -> bool {
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).contains(&address)
}

/// Before a system call.
pub extern "C" fn on_call(
    _: Id,
    processor: u32,
    number: i64,
    first: u64,
    second: u64,
    third: u64,
    fourth: u64,
    fifth: u64,
    sixth: u64,
    _: u64,
    _: u64,
) {
    let thread = Thread::of(processor);
    thread.flush();
    thread.set_arguments([first, second, third, fourth, fifth, sixth]);
    match number {
        libc::SYS_fork | libc::SYS_vfork | libc::SYS_clone => fork(thread, number, first),
        libc::SYS_rt_sigaction if second != 0 => {
            HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).extend(read_numbers(second, 1));
        }
        libc::SYS_execve => exec::execute(thread, [first, second, third]),
        libc::SYS_exit => thread.link().reset(0),
        libc::SYS_exit_group => {
            if Symbols::lock().is_empty() {
                let text = format!(
                    "{} has no symbols: its calls of memcpy are not marked. `rowclone-sim trace find-copies` finds \
                        copies.",
                    qemu::program().display()
                );
                thread.link().request(&RecorderRequest::Unseen(text));
            }
            let task = thread.link().task();
            thread.link().request(&RecorderRequest::End { task, shares_memory: link::SHARES_MEMORY.load(Relaxed) });
        }
        _ => {}
    }
}

/// Whether a system call begins a process; the second is whether that uses the memory of its parent.
fn is_fork(number: i64, flags: u64) -> Option<bool> {
    let has = |flag: i32| flags & u64::from(flag.cast_unsigned()) != 0;
    match number {
        libc::SYS_fork => Some(false),
        libc::SYS_vfork => Some(true),
        libc::SYS_clone if has(libc::CLONE_VFORK) => Some(has(libc::CLONE_VM)),
        libc::SYS_clone if !has(libc::CLONE_VM) => Some(false),
        _ => None,
    }
}

fn fork(thread: &Thread, number: i64, flags: u64) {
    if let Some(shares_memory) = is_fork(number, flags) {
        let task = thread.link().task();
        let [child, process] = thread.link().request(&RecorderRequest::Fork { task, shares_memory });
        let sets_child = flags & u64::from(libc::CLONE_CHILD_SETTID.cast_unsigned()) != 0 && number == libc::SYS_clone;
        let number_of_child = if sets_child { thread.arguments()[3] } else { 0 };
        thread.set_arguments([flags, number_of_child, 0, 0, child, process]);
    }
}

/// After a system call that began a process, in parent and child.
fn forked(thread: &Thread, shares_memory: bool, result: i64) {
    let [_, number_of_child, .., child, process] = thread.arguments();
    let child = Task { thread: child as u32, process: process as u32 };
    match result {
        0 => {
            thread.forked(child.thread);
            link::set_process(child.process);
            link::SHARES_MEMORY.store(shares_memory, Relaxed);
            thread.link().begin();
            results::write(thread, number_of_child, size_of::<libc::pid_t>() as u64);
        }
        1.. if shares_memory => {
            thread.link().request(&RecorderRequest::AwaitChild { thread: child.thread });
        }
        1.. => {}
        _ => {
            thread.link().request(&RecorderRequest::End { task: child, shares_memory });
        }
    }
}

/// After a system call.
pub extern "C" fn on_return(_: Id, processor: u32, number: i64, result: i64) {
    let thread = Thread::of(processor);
    let arguments @ [first, second, third, fourth, _, _] = thread.arguments();
    if let Some(shares_memory) = is_fork(number, first) {
        return forked(thread, shares_memory, result);
    }
    let Ok(value) = u64::try_from(result) else { return };
    results::record(thread, number, arguments, value);
    match number {
        libc::SYS_mmap => map(thread, arguments, value),
        libc::SYS_munmap => unmap(thread, first, second),
        libc::SYS_mremap => remap(thread, first, second, third, value),
        libc::SYS_brk => set_break(thread, value),
        libc::SYS_madvise if third == libc::MADV_DONTNEED as u64 && second > 0 => {
            thread.event(Event::Discard { address: first, bytes: pages(second) });
        }
        _ if value == 0 => {}
        libc::SYS_read => transfer(thread, Direction::In, first, None, &[(second, value)], value),
        libc::SYS_pread64 => transfer(thread, Direction::In, first, Some(fourth), &[(second, value)], value),
        libc::SYS_recvfrom => transfer(thread, Direction::In, first, Some(0), &[(second, value)], value),
        libc::SYS_write => transfer(thread, Direction::Out, first, None, &[(second, value)], value),
        libc::SYS_pwrite64 => transfer(thread, Direction::Out, first, Some(fourth), &[(second, value)], value),
        libc::SYS_sendto => transfer(thread, Direction::Out, first, Some(0), &[(second, value)], value),
        libc::SYS_readv => transfer(thread, Direction::In, first, None, &buffers(second, third), value),
        libc::SYS_writev => transfer(thread, Direction::Out, first, None, &buffers(second, third), value),
        libc::SYS_preadv | libc::SYS_preadv2 => {
            transfer(thread, Direction::In, first, Some(fourth), &buffers(second, third), value);
        }
        libc::SYS_pwritev | libc::SYS_pwritev2 => {
            transfer(thread, Direction::Out, first, Some(fourth), &buffers(second, third), value);
        }
        libc::SYS_recvmsg => transfer(thread, Direction::In, first, Some(0), &message(second), value),
        libc::SYS_sendmsg => transfer(thread, Direction::Out, first, Some(0), &message(second), value),
        libc::SYS_sendfile => copy_file(thread, (second, third), (first, 0), value),
        libc::SYS_copy_file_range => copy_file(thread, (first, second), (third, fourth), value),
        _ => {}
    }
}

fn pages(bytes: u64) -> u64 {
    bytes.saturating_add(PAGE - 1) & !(PAGE - 1)
}

fn map(thread: &Thread, [_, bytes, protection, flags, descriptor, offset]: [u64; 6], address: u64) {
    let has = |flag: i32| flags & u64::from(flag.cast_unsigned()) != 0;
    let file = if has(libc::MAP_ANONYMOUS) { None } else { object::File::of_descriptor(descriptor) };
    let of = file.map(|file| ObjectAddress { address: offset, ..number(thread, file, None, offset) });
    let is_writable = protection & libc::PROT_WRITE as u64 != 0;
    thread.event(Event::Map {
        // Reserved memory becomes writable by `mprotect`, which has no event.
        flags: MapFlags { is_writable: is_writable || protection == 0, is_shared: has(libc::MAP_SHARED) },
        address,
        bytes: pages(bytes),
        of: of.unwrap_or(ObjectAddress { object: ObjectAddress::PROCESS, address: 0 }),
    });
    if file.is_some() && protection & libc::PROT_EXEC as u64 != 0 {
        Symbols::lock().add_file(object::path_of(descriptor).as_ref(), address, offset);
    }
}

fn map_anonymous(thread: &Thread, address: u64, bytes: u64) {
    thread.event(Event::Map {
        flags: MapFlags { is_writable: true, is_shared: false },
        address,
        bytes,
        of: ObjectAddress { object: ObjectAddress::PROCESS, address: 0 },
    });
}

fn unmap(thread: &Thread, address: u64, bytes: u64) {
    if bytes > 0 {
        thread.event(Event::Unmap { address, bytes: pages(bytes) });
    }
}

fn remap(thread: &Thread, from: u64, old: u64, new: u64, to: u64) {
    let (old, new) = (pages(old), pages(new));
    if to != from && old.min(new) > 0 {
        thread.event(Event::Move { from, to, bytes: old.min(new) });
    }
    if new > old {
        map_anonymous(thread, to + old, new - old);
    } else {
        unmap(thread, from + new, old - new);
    }
}

fn set_break(thread: &Thread, end: u64) {
    let end = pages(end);
    let old = BREAK.swap(end, Relaxed);
    if old != 0 && end > old {
        map_anonymous(thread, old, end - old);
    } else {
        unmap(thread, end, old.saturating_sub(end));
    }
}

/// Adds a copy between buffers of the process and a file, pipe or socket, at an offset or at the position of the
/// descriptor.
fn transfer(
    thread: &Thread,
    direction: Direction,
    descriptor: u64,
    offset: Option<u64>,
    buffers: &[(u64, u64)],
    bytes: u64,
) {
    let Some(file) = object::File::of_descriptor(descriptor) else { return };
    let offset = offset.unwrap_or_else(|| object::position(descriptor).saturating_sub(bytes));
    let mut of_file = number(thread, file, Some((direction, bytes)), offset);
    let mut rest = bytes;
    for &(address, bytes) in buffers {
        let bytes = bytes.min(rest);
        if bytes == 0 {
            continue;
        }
        let of_process = ObjectAddress { object: ObjectAddress::PROCESS, address };
        let (dst, src) = match direction {
            Direction::In => (of_process, of_file),
            Direction::Out => (of_file, of_process),
        };
        thread.event(Event::Copy { dst, src, bytes });
        rest -= bytes;
        of_file.address += bytes;
    }
}

/// Adds a copy between two files. Each is a descriptor, and the address of an offset that the call has advanced; 0
/// stands for the position of the descriptor.
fn copy_file(thread: &Thread, src: (u64, u64), dst: (u64, u64), bytes: u64) {
    let end = |(descriptor, address): (u64, u64), direction| {
        let file = object::File::of_descriptor(descriptor)?;
        let end = if address == 0 { object::position(descriptor) } else { read_numbers(address, 1)[0] };
        Some(number(thread, file, Some((direction, bytes)), end.saturating_sub(bytes)))
    };
    if let (Some(src), Some(dst)) = (end(src, Direction::In), end(dst, Direction::Out)) {
        thread.event(Event::Copy { dst, src, bytes });
    }
}

/// Addresses and bytes of the buffers of a `struct iovec` array.
fn buffers(array: u64, count: u64) -> Vec<(u64, u64)> {
    read_numbers(array, 2 * count.min(libc::UIO_MAXIOV as u64)).chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The buffers of a `struct msghdr`.
fn message(address: u64) -> Vec<(u64, u64)> {
    let header = read_numbers(address, 4);
    buffers(header[2], header[3])
}
