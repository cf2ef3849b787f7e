//! Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::CliError;

/// What a shell reports of a program that SIGINT ended.
const ENDED_BY_SIGINT: i32 = 130;

static FLAG: OnceLock<Result<Arc<AtomicBool>, String>> = OnceLock::new();

/// The flag that Ctrl-C raises; whoever works for long polls it, and stops with [`CliError::interrupted`].
///
/// A second Ctrl-C ends the program at once, wherever it hangs.
///
/// # Errors
/// The system does not let signals be caught.
pub fn flag() -> Result<Arc<AtomicBool>, CliError> {
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&flag);
        let handler = move || {
            if raised.swap(true, Ordering::Relaxed) {
                std::process::exit(ENDED_BY_SIGINT);
            }
        };
        ctrlc::set_handler(handler).map(|()| flag).map_err(|error| error.to_string())
    });
    flag.clone().map_err(|error| CliError::new(format!("Ctrl-C cannot be caught: {error}")))
}
