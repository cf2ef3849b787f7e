//! Programs that a core executes.

use std::fmt;
use std::io::Read;

use trace_io::program::{ProgramError, ProgramReader, Step};

/// The steps of a program.
pub trait Program: fmt::Debug {
    /// The next step; `None` at the end of the program.
    ///
    /// # Errors
    /// If the program cannot be read further.
    fn next_step(&mut self) -> Result<Option<Step>, ProgramError>;
}

/// A list of steps.
impl Program for std::vec::IntoIter<Step> {
    fn next_step(&mut self) -> Result<Option<Step>, ProgramError> {
        Ok(self.next())
    }
}

impl<R: Read + fmt::Debug> Program for ProgramReader<R> {
    fn next_step(&mut self) -> Result<Option<Step>, ProgramError> {
        self.next().transpose()
    }
}
