//! Programs that a core executes.

use std::fmt;
use std::io::Read;

use trace_io::program::{ProgramError, ProgramReader, Step};
use trace_io::trace::Recorded;

/// The steps of a program.
pub trait Program: fmt::Debug {
    /// The next step; `None` at the end of the program.
    ///
    /// # Errors
    /// If the program cannot be read further.
    fn next_step(&mut self) -> Result<Option<Step>, ProgramError>;

    /// Goes back to the first step, after the end of the program; returns whether the program can.
    ///
    /// # Errors
    /// If the program cannot be read again.
    fn restart(&mut self) -> Result<bool, ProgramError> {
        Ok(false)
    }

    /// Accesses of the program that its steps contain. Its core lacks the caches that had served the
    /// others when they were recorded.
    fn recorded(&self) -> Recorded {
        Recorded::EveryAccess
    }
}

/// The steps of an iterator.
pub struct Steps<I>(pub I);

impl<I: Iterator<Item = Step>> Program for Steps<I> {
    #[inline]
    fn next_step(&mut self) -> Result<Option<Step>, ProgramError> {
        Ok(self.0.next())
    }
}

impl<I> fmt::Debug for Steps<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").finish_non_exhaustive()
    }
}

impl<R: Read + fmt::Debug> Program for ProgramReader<R> {
    fn next_step(&mut self) -> Result<Option<Step>, ProgramError> {
        self.next().transpose()
    }
}

/// A program that is opened again for each execution.
pub struct Repeated<F> {
    open: F,
    program: Box<dyn Program>,
}

impl<F: Fn() -> Result<Box<dyn Program>, ProgramError>> Repeated<F> {
    /// Opens the program.
    ///
    /// # Errors
    /// That of `open`.
    pub fn new(open: F) -> Result<Repeated<F>, ProgramError> {
        Ok(Repeated { program: open()?, open })
    }
}

impl<F: Fn() -> Result<Box<dyn Program>, ProgramError>> Program for Repeated<F> {
    fn next_step(&mut self) -> Result<Option<Step>, ProgramError> {
        self.program.next_step()
    }

    fn restart(&mut self) -> Result<bool, ProgramError> {
        self.program = (self.open)()?;
        Ok(true)
    }

    fn recorded(&self) -> Recorded {
        self.program.recorded()
    }
}

impl<F> fmt::Debug for Repeated<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repeated").field("program", &self.program).finish_non_exhaustive()
    }
}
