//! Questions to a comparison, and the copiers that answer them.

use super::copiers::NamedCopier;
use super::{CopierFigures, CopierResult};

/// What a copier may be the best in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Least time.
    Time,
    /// Least CPU time.
    CpuTime,
    /// Least dynamic energy.
    Energy,
    /// Fewest lines of the working set lost; of equal ones, fewest extra misses.
    Displacement,
}

/// The copiers with the least figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// All with this figure, in the order of the list; at least one.
    pub copiers: Vec<NamedCopier>,
    /// The figure.
    pub value: f64,
}

impl Question {
    /// All questions, in the order of reports.
    pub const ALL: [Question; 4] = [Question::Time, Question::CpuTime, Question::Energy, Question::Displacement];

    /// The question.
    pub const fn title(self) -> &'static str {
        match self {
            Question::Time => "Which is fastest?",
            Question::CpuTime => "Which costs the program least CPU time?",
            Question::Energy => "Which costs least energy?",
            Question::Displacement => "Which displaces least?",
        }
    }

    /// The figures that are compared, the first one first.
    pub fn values(self, figures: &CopierFigures) -> Option<[f64; 2]> {
        let first = match self {
            Question::Time => Some(figures.time_ns),
            Question::CpuTime => figures.cpu_ns,
            Question::Energy => figures.energy_nj,
            Question::Displacement => {
                let misses = figures.extra_misses? as f64;
                return Some([figures.lines_lost.map_or(misses, |lines| lines as f64), misses]);
            }
        };
        first.map(|value| [value, 0.0])
    }

    /// The copiers with the least figure; none if no copier has one.
    pub fn best<'a>(self, results: impl IntoIterator<Item = (NamedCopier, &'a CopierResult)>) -> Option<Best> {
        let mut best: Option<(Best, f64)> = None;
        for (copier, result) in results {
            let Some([first, second]) = result.figures.as_ref().ok().and_then(|figures| self.values(figures)) else {
                continue;
            };
            match &mut best {
                Some((known, beside)) if (known.value, *beside) < (first, second) => {}
                Some((known, beside)) if (known.value, *beside) == (first, second) => known.copiers.push(copier),
                _ => best = Some((Best { copiers: vec![copier], value: first }, second)),
            }
        }
        best.map(|(best, _)| best)
    }
}
