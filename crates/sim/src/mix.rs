//! Metrics of programs that run together, relative to runs of each alone.

use serde::Serialize;

/// Metrics of a mix of programs.
///
/// Sources: Snavely and Tullsen, "Symbiotic Jobscheduling", ASPLOS 2000 (weighted speedup); Luo et
/// al., "Balancing Throughput and Fairness in SMT Processors", ISPASS 2001 (harmonic speedup).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MixMetrics {
    /// Sum over the programs of IPC together / IPC alone.
    pub weighted_speedup: f64,
    /// Sum of the instructions per cycle.
    pub instruction_throughput: f64,
    /// Number of programs / sum of IPC alone / IPC together.
    pub harmonic_speedup: f64,
    /// Greatest IPC alone / IPC together.
    pub maximum_slowdown: f64,
}

impl MixMetrics {
    /// The metrics of the instructions per cycle of each program, together and alone; none without
    /// programs, or if one of them has no instruction.
    pub fn new(together: &[f64], alone: &[f64]) -> Option<MixMetrics> {
        let has_instructions = !together.is_empty() && together.iter().chain(alone).all(|&ipc| ipc > 0.0);
        (has_instructions && together.len() == alone.len()).then(|| {
            let slowdowns = together.iter().zip(alone).map(|(together, alone)| alone / together);
            MixMetrics {
                weighted_speedup: slowdowns.clone().map(|slowdown| 1.0 / slowdown).sum(),
                instruction_throughput: together.iter().sum(),
                harmonic_speedup: together.len() as f64 / slowdowns.clone().sum::<f64>(),
                maximum_slowdown: slowdowns.fold(0.0, f64::max),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slowdowns 2 and 1.25: the speedups are 1/2 and 4/5, and the harmonic mean is 2 / 3.25.
    #[test]
    fn metrics_of_two_programs_are_those_by_hand() {
        let metrics = MixMetrics::new(&[0.5, 1.6], &[1.0, 2.0]).unwrap();
        assert!((metrics.weighted_speedup - 1.3).abs() < 1e-12, "{metrics:?}");
        assert!((metrics.instruction_throughput - 2.1).abs() < 1e-12, "{metrics:?}");
        assert!((metrics.harmonic_speedup - 2.0 / 3.25).abs() < 1e-12, "{metrics:?}");
        assert!((metrics.maximum_slowdown - 2.0).abs() < 1e-12, "{metrics:?}");
    }

    /// Four programs, one of which runs at a quarter of its speed: 3 + 1/4, 4 / (3 + 4) and 4.
    #[test]
    fn one_slow_program_shows_in_the_fairness() {
        let metrics = MixMetrics::new(&[1.0, 1.0, 1.0, 0.5], &[1.0, 1.0, 1.0, 2.0]).unwrap();
        assert!((metrics.weighted_speedup - 3.25).abs() < 1e-12, "{metrics:?}");
        assert!((metrics.harmonic_speedup - 4.0 / 7.0).abs() < 1e-12, "{metrics:?}");
        assert!((metrics.maximum_slowdown - 4.0).abs() < 1e-12, "{metrics:?}");
    }

    #[test]
    fn without_instructions_there_are_no_metrics() {
        assert_eq!(MixMetrics::new(&[], &[]), None);
        assert_eq!(MixMetrics::new(&[1.0, 0.0], &[1.0, 1.0]), None);
        assert_eq!(MixMetrics::new(&[1.0], &[0.0]), None);
    }
}
