//! The program: everything is in the library, so that tests can drive it.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os())
}
