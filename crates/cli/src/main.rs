//! The program `rowclone-sim`. All code is in the library, so that tests can call it.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os())
}
