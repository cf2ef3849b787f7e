//! Verdict on copies in DRAM for a program: whether they help, why, and which change would help more.

use rowclone_sim::compare::{CopierFigures, CopierKind, NamedCopier};

use super::ComparedCase;
use crate::table::percent;

/// Smallest relative difference of time that counts as a gain or a loss.
const LEAST: f64 = 0.005;

/// A copier with its figures.
type CopierResult<'a> = (NamedCopier, &'a CopierFigures);

impl ComparedCase {
    /// Three sentences on a program or scenario; none without a loop and a copier in DRAM among the copiers.
    pub(super) fn verdict(&self) -> Option<[String; 3]> {
        let runs: Vec<CopierResult<'_>> =
            self.results.iter().filter_map(|(copier, result)| Some((*copier, result.figures.as_ref().ok()?))).collect();
        let of_kind = |kind: CopierKind| runs.iter().filter(move |(copier, _)| copier.kind() == kind);
        let base = runs.iter().find(|(copier, _)| copier.name() == "baseline");
        let (base_name, base) = base.or_else(|| of_kind(CopierKind::Loop).next())?;
        let fastest = |a: &&CopierResult<'_>, b: &&CopierResult<'_>| a.1.time_ns.total_cmp(&b.1.time_ns);
        let (in_dram, figures) = of_kind(CopierKind::InDram).min_by(fastest)?;
        let ratio = figures.time_ns / base.time_ns;
        let help = match ratio {
            it if it < 1.0 - LEAST => "yes",
            it if it > 1.0 + LEAST => "no",
            _ => "hardly",
        };
        let mut reasons = Vec::new();
        if let Some(cpu_ns) = base.cpu_ns {
            reasons.push(format!(
                "copies take {} of the time under {}",
                percent(cpu_ns / base.time_ns),
                base_name.name()
            ));
        }
        let name = in_dram.name();
        reasons.push(format!("{name} executes {} of their bytes in DRAM", percent(figures.in_dram_share)));
        if base.channel_bytes > 0 {
            let bytes = figures.channel_bytes as f64 / base.channel_bytes as f64;
            reasons.push(format!("it moves {} over the channels", more_or_less(bytes, "bytes")));
        }
        if let (Some(misses), Some(base)) = (figures.extra_misses, base.extra_misses)
            && base > 0
        {
            let misses = misses as f64 / base as f64;
            let cause = if misses > 1.0 { ", as its copies leave no lines in the caches" } else { "" };
            reasons.push(format!("the program has {}{cause}", more_or_less(misses, "misses")));
        }
        let (best, best_figures) = runs.iter().min_by(fastest)?;
        let more = match best_figures.time_ns {
            time_ns if time_ns >= figures.time_ns => "no other copier that was compared".to_owned(),
            time_ns if time_ns >= base.time_ns => {
                format!("no copier that was compared is faster than {}", base_name.name())
            }
            time_ns => format!("{} takes {}", best.name(), more_or_less(time_ns / base.time_ns, "time")),
        };
        Some([
            format!(
                "Would in-DRAM copy help? {help}: {name}, the fastest copier in DRAM, takes {} than {}",
                more_or_less(ratio, "time"),
                base_name.name()
            ),
            format!("Why? {}", reasons.join("; ")),
            format!("What would help more? {more}"),
        ])
    }
}

/// The difference of a ratio from 1, of a quantity.
fn more_or_less(ratio: f64, of: &str) -> String {
    let direction = match (ratio < 1.0, of) {
        (true, "time") => "less",
        (true, _) => "fewer",
        (false, _) => "more",
    };
    format!("{} {direction} {of}", percent((ratio - 1.0).abs()))
}
