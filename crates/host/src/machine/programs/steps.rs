//! Programs that a core executes.

use std::fmt;
use std::io::Read;

use trace_io::LineError;
use trace_io::program::{ProgramReader, Step};
use trace_io::trace::Recorded;

use super::super::packet::Packet;

/// Most steps that a core reads ahead.
const STEPS_AHEAD: usize = 64;

/// The steps of a program.
pub trait Program: fmt::Debug {
    /// The next step; `None` at the end of the program.
    ///
    /// # Errors
    /// If the program cannot be read further.
    fn next_step(&mut self) -> Result<Option<Step>, LineError>;

    /// Appends the next steps to an empty list; none at the end of the program.
    ///
    /// # Errors
    /// If the program cannot be read further than the steps appended.
    fn next_steps(&mut self, steps: &mut Vec<Step>) -> Result<(), LineError> {
        while steps.len() < STEPS_AHEAD {
            let Some(step) = self.next_step()? else { break };
            steps.push(step);
        }
        Ok(())
    }

    /// Goes back to the first step, after the end of the program; returns whether the program can.
    ///
    /// # Errors
    /// If the program cannot be read again.
    fn restart(&mut self) -> Result<bool, LineError> {
        Ok(false)
    }

    /// Learns which packets have arrived, after a step that awaits them: none if no packet follows. The steps
    /// after that step are read later.
    fn receive(&mut self, packets: &[Packet]) {
        let _ = packets;
    }

    /// Accesses of the program that its steps contain. Its core lacks the caches that had served the
    /// others when they were recorded.
    fn recorded(&self) -> Recorded {
        Recorded::EveryAccess
    }

    /// Bytes of the smallest copy that the kernel gives to the controller or a device, unless the machine sets it.
    fn copier_min_bytes(&self) -> u64 {
        0
    }
}

/// The steps of an iterator.
#[derive(derive_more::Debug)]
#[debug("Steps")]
pub struct Steps<I>(pub I);

impl<I: Iterator<Item = Step>> Program for Steps<I> {
    fn next_step(&mut self) -> Result<Option<Step>, LineError> {
        Ok(self.0.next())
    }

    fn next_steps(&mut self, steps: &mut Vec<Step>) -> Result<(), LineError> {
        self.0.by_ref().take(STEPS_AHEAD).for_each(|step| steps.push(step));
        Ok(())
    }
}

impl<R: Read + fmt::Debug> Program for ProgramReader<R> {
    fn next_step(&mut self) -> Result<Option<Step>, LineError> {
        self.next().transpose()
    }
}

/// A program that is opened again for each execution.
#[derive(derive_more::Debug)]
#[debug("Repeated({program:?})")]
pub struct Repeated<F> {
    open: F,
    program: Box<dyn Program>,
}

impl<F: Fn() -> Result<Box<dyn Program>, LineError>> Repeated<F> {
    /// Opens the program.
    ///
    /// # Errors
    /// That of `open`.
    pub fn new(open: F) -> Result<Repeated<F>, LineError> {
        Ok(Repeated { program: open()?, open })
    }
}

impl<F: Fn() -> Result<Box<dyn Program>, LineError>> Program for Repeated<F> {
    fn next_step(&mut self) -> Result<Option<Step>, LineError> {
        self.program.next_step()
    }

    fn next_steps(&mut self, steps: &mut Vec<Step>) -> Result<(), LineError> {
        self.program.next_steps(steps)
    }

    fn restart(&mut self) -> Result<bool, LineError> {
        self.program = (self.open)()?;
        Ok(true)
    }

    fn recorded(&self) -> Recorded {
        self.program.recorded()
    }

    fn copier_min_bytes(&self) -> u64 {
        self.program.copier_min_bytes()
    }
}

/// Steps of a program that its core has read and not executed.
#[derive(Debug, Default)]
pub struct StepsAhead {
    steps: Vec<Step>,
    /// Number of those executed.
    executed: usize,
    /// Reason why the program cannot be read further.
    error: Option<LineError>,
}

impl StepsAhead {
    /// The first step.
    #[inline]
    pub fn first(&self) -> Option<Step> {
        self.steps.get(self.executed).copied()
    }

    /// Removes the first step.
    #[inline]
    pub const fn advance(&mut self) {
        self.executed += 1;
    }

    /// Replaces the first step by the rest of it.
    #[inline]
    pub fn replace(&mut self, rest: Step) {
        self.steps[self.executed] = rest;
    }

    /// Removes all steps.
    pub fn clear(&mut self) {
        self.executed = self.steps.len();
    }

    /// Reads further steps after the last one; `false` at the end of the program.
    ///
    /// # Errors
    /// If the program cannot be read further.
    pub fn read(&mut self, program: &mut dyn Program) -> Result<bool, LineError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.steps.clear();
        self.executed = 0;
        self.error = program.next_steps(&mut self.steps).err();
        match self.error.take_if(|_| self.steps.is_empty()) {
            Some(error) => Err(error),
            None => Ok(!self.steps.is_empty()),
        }
    }
}
