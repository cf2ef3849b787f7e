//! Signals that end the program: SIGINT (Ctrl-C) and SIGTERM.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, LazyLock};

use rowclone_config::Failure;

/// Number of SIGINT.
const SIGINT: i32 = 2;

/// Offset of the exit code of a shell for a program that a signal ended.
const ENDED_BY_SIGNAL: i32 = 128;

/// Set by the first signal.
static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether a command polls [`STOP`].
static POLLED: AtomicBool = AtomicBool::new(false);

/// The first signal; 0 before it.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The flag that a signal sets. A command that calls this must poll the flag, and stop with [`Failure::interrupted`].
///
/// A second signal ends the program at once.
pub fn flag() -> Arc<AtomicBool> {
    POLLED.store(true, Ordering::Relaxed);
    Arc::clone(&STOP)
}

/// The exit code after an interruption: 130 for SIGINT, 143 for SIGTERM.
pub fn exit_code() -> u8 {
    let signal = Some(SIGNAL.load(Ordering::Relaxed)).filter(|signal| *signal != 0).unwrap_or(SIGINT);
    u8::try_from(ENDED_BY_SIGNAL + signal).unwrap_or(u8::MAX)
}

fn received(signal: i32) {
    let is_first = SIGNAL.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if is_first && POLLED.load(Ordering::Relaxed) {
        STOP.store(true, Ordering::Relaxed);
    } else {
        #[cfg(unix)]
        crate::child::kill_all();
        rowclone_config::remove_temporary_files();
        std::process::exit(ENDED_BY_SIGNAL + signal);
    }
}

/// Catches the signals from now on.
///
/// # Errors
/// The system does not allow it.
#[cfg(unix)]
pub fn listen() -> Result<(), Failure> {
    use signal_hook::consts::SIGTERM;
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map_err(|error| uncaught(&error))?;
    std::thread::spawn(move || signals.forever().for_each(received));
    Ok(())
}

/// Catches Ctrl-C from now on.
///
/// # Errors
/// The system does not allow it.
#[cfg(not(unix))]
pub fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(|| received(SIGINT)).map_err(|error| uncaught(&error))
}

fn uncaught(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("Ctrl-C cannot be caught: {error}"))
}
