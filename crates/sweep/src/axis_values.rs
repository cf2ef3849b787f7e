//! Detection of axis values with which no point can run.

use rowclone_config::Failure;

use super::run::Sweep;

/// Maximum number of points that are tried per value.
const TRIED_MAX: u32 = 1000;

/// Result of the points that were tried for a value of an axis.
#[derive(Clone, Debug, Default)]
struct Tried {
    /// Number of points that cannot run.
    failed: u32,
    /// Error of the first point that cannot run.
    error: Option<Failure>,
    /// Whether some point can run.
    is_usable: bool,
}

impl Sweep<'_> {
    /// Checks that some point can run with each value of each axis. A value that only some points cannot use is no
    /// error: these points have rows with their errors.
    ///
    /// # Errors
    /// The first value with which no point can run, or the error of the first point if no point can run.
    pub fn check_values(&self) -> Result<(), Failure> {
        let axes = &self.file.axes;
        let mut tried: Vec<Vec<Tried>> = axes.iter().map(|axis| vec![Tried::default(); axis.steps.len()]).collect();
        let mut first_error = None;
        for number in self.numbers(None) {
            let steps = self.points.steps_of(number);
            let is_decided = |tried: &Tried| tried.is_usable || tried.failed >= TRIED_MAX;
            let undecided: Vec<usize> =
                (0..axes.len()).filter(|&axis| !is_decided(&tried[axis][steps[axis]])).collect();
            // A sweep without axes has one point.
            if undecided.is_empty() && !axes.is_empty() {
                continue;
            }
            Failure::if_raised(self.stop)?;
            let resolved = self.resolve(&self.points.point(number));
            for axis in undecided {
                let value = &mut tried[axis][steps[axis]];
                match &resolved {
                    Ok(_) => value.is_usable = true,
                    Err(error) => {
                        value.failed += 1;
                        value.error.get_or_insert_with(|| error.clone());
                    }
                }
            }
            first_error = first_error.or(resolved.err());
        }
        let all = || tried.iter().flatten().filter(|value| value.failed > 0 || value.is_usable);
        if let Some(error) = first_error.filter(|_| all().all(|value| !value.is_usable)) {
            return Err(error);
        }
        for (axis, values) in axes.iter().zip(&tried) {
            for (step, value) in axis.steps.iter().zip(values).filter(|(_, value)| !value.is_usable) {
                let Some(error) = &value.error else { continue };
                let message = format!("no point can be run with `{}`: {}", step.words.join(" "), error.message);
                let refusal = Failure::at(&self.file.path, message);
                return Err(match &error.help {
                    Some(help) => refusal.with_help(help.clone()),
                    None => refusal,
                });
            }
        }
        Ok(())
    }
}
