//! What system calls write to the program beside the data of files: statuses, structures, sets and names.
//!
//! The kernel copies it from its own memory. In the recording that is a stream, whose bytes have no known contents.

use trace_io::recording::request::Direction;
use trace_io::recording::{Event, ObjectAddress};

use crate::memory::read_numbers;
use crate::object::{self, File};
use crate::thread::Thread;

/// Bytes of structures of Linux on x86-64 that differ from those of the C library.
const KERNEL_TERMIOS: u64 = 36;
const KERNEL_SIGACTION: u64 = 32;
const KERNEL_SIGINFO: u64 = 128;

/// Adds a copy of bytes that the kernel wrote at an address; none at address 0.
pub fn write(thread: &Thread, address: u64, bytes: u64) {
    if address != 0 && bytes > 0 {
        let src = object::number(thread, File::KERNEL, Some((Direction::In, bytes)), 0);
        let dst = ObjectAddress { object: ObjectAddress::PROCESS, address };
        thread.event(Event::Copy { dst, src, bytes });
    }
}

/// Adds copies of what a successful system call wrote.
pub fn record(thread: &Thread, number: i64, arguments: [u64; 6], result: u64) {
    for (address, bytes) in written(number, arguments, result) {
        write(thread, address, bytes);
    }
}

const fn size<T>() -> u64 {
    size_of::<T>() as u64
}

/// Addresses and bytes that a successful system call wrote; an address of 0 is none.
fn written(number: i64, [first, second, third, fourth, fifth, _]: [u64; 6], result: u64) -> [(u64, u64); 3] {
    const NONE: (u64, u64) = (0, 0);
    let one = |address, bytes| [(address, bytes), NONE, NONE];
    let two = |one, other| [one, other, NONE];
    match number {
        libc::SYS_stat | libc::SYS_fstat | libc::SYS_lstat => one(second, size::<libc::stat>()),
        libc::SYS_newfstatat => one(third, size::<libc::stat>()),
        libc::SYS_statx => one(fifth, size::<libc::statx>()),
        libc::SYS_statfs | libc::SYS_fstatfs => one(second, size::<libc::statfs>()),
        libc::SYS_getdents64 | libc::SYS_getdents | libc::SYS_readlink => one(second, result),
        libc::SYS_readlinkat | libc::SYS_sched_getaffinity => one(third, result),
        libc::SYS_getcwd | libc::SYS_getrandom => one(first, result),
        libc::SYS_pipe | libc::SYS_pipe2 => one(first, size::<[i32; 2]>()),
        libc::SYS_socketpair => one(fourth, size::<[i32; 2]>()),
        libc::SYS_wait4 if result > 0 => two((second, size::<i32>()), (fourth, size::<libc::rusage>())),
        libc::SYS_waitid => two((third, KERNEL_SIGINFO), (fifth, size::<libc::rusage>())),
        libc::SYS_uname => one(first, size::<libc::utsname>()),
        libc::SYS_sysinfo => one(first, size::<libc::sysinfo>()),
        libc::SYS_times => one(first, size::<libc::tms>()),
        libc::SYS_getrusage => one(second, size::<libc::rusage>()),
        libc::SYS_getrlimit => one(second, size::<libc::rlimit>()),
        libc::SYS_prlimit64 => one(fourth, size::<libc::rlimit>()),
        libc::SYS_rt_sigaction => one(third, KERNEL_SIGACTION),
        libc::SYS_rt_sigprocmask => one(third, fourth),
        libc::SYS_sigaltstack => one(second, size::<libc::stack_t>()),
        libc::SYS_clock_gettime | libc::SYS_clock_getres => one(second, size::<libc::timespec>()),
        libc::SYS_gettimeofday => two((first, size::<libc::timeval>()), (second, size::<libc::timezone>())),
        libc::SYS_time => one(first, size::<libc::time_t>()),
        libc::SYS_ioctl => one(third, of_ioctl(second)),
        libc::SYS_accept | libc::SYS_accept4 | libc::SYS_getsockname | libc::SYS_getpeername => {
            two((second, read_length(third)), (third, size::<libc::socklen_t>()))
        }
        libc::SYS_getsockopt => two((fourth, read_length(fifth)), (fifth, size::<libc::socklen_t>())),
        libc::SYS_poll | libc::SYS_ppoll => one(first, second * size::<libc::pollfd>()),
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => one(second, result * size::<libc::epoll_event>()),
        libc::SYS_select | libc::SYS_pselect6 => {
            let bytes = first.div_ceil(64) * 8;
            [(second, bytes), (third, bytes), (fourth, bytes)]
        }
        libc::SYS_getresuid | libc::SYS_getresgid => {
            let bytes = size::<libc::uid_t>();
            [(first, bytes), (second, bytes), (third, bytes)]
        }
        _ => [NONE; 3],
    }
}

/// Bytes that a request of `ioctl` writes.
fn of_ioctl(request: u64) -> u64 {
    match request {
        libc::TCGETS => KERNEL_TERMIOS,
        libc::TIOCGWINSZ => size::<libc::winsize>(),
        libc::FIONREAD | libc::TIOCGPGRP => size::<i32>(),
        _ => 0,
    }
}

/// The length at an address; 0 at address 0.
fn read_length(address: u64) -> u64 {
    if address == 0 { 0 } else { u64::from(read_numbers(address, 1)[0] as u32) }
}
