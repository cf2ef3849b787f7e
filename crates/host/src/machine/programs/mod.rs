//! Programs that cores execute.

mod forkbench;
mod memcopy;
mod mix;
mod steps;
mod trace_program;

pub use self::forkbench::Forkbench;
pub use self::memcopy::Memcopy;
pub use self::mix::MixProgram;
pub use self::steps::{Program, Repeated, Steps, StepsAhead};
pub use self::trace_program::TraceProgram;
