//! Causes of speedups below 1 of programs on cores, by the counters of the runs.

use memctrl::policy::copy::BASELINE;
use rowclone_sim::CoreRow;
use rowclone_sim::quantity::grouped;

use super::MethodRow;
use super::copiers::has_device;
use crate::table::three_digits;

/// Dirty lines that copies of the controller found in the caches.
pub(crate) const fn dirty_lines(core: &CoreRow) -> u64 {
    core.coherence_written_back + core.coherence_copied_in_cache
}

/// Cycles without dispatch of a core: for copies and zeroings of the controller with their coherence, or of a device;
/// and for memory. The waits for a device are among those of the core.
fn waits((core, has_device): Slowest<'_>) -> [f64; 2] {
    let stalls = &core.stall_cycles;
    if has_device {
        return [core.copy_cycles, (stalls.of_the_core() - core.copy_cycles).max(0.0)];
    }
    [stalls.coherence + stalls.controller_copy, stalls.of_the_core()]
}

/// The core with the longest region of a run, and whether a device copies.
type Slowest<'a> = (&'a CoreRow, bool);

/// The core with the longest region, which determines the speedup.
fn slowest(row: &MethodRow) -> Option<Slowest<'_>> {
    let core = row.report.cores.iter().max_by_key(|core| core.cycles)?;
    Some((core, has_device(std::slice::from_ref(row))))
}

/// A sentence about each method with a speedup below 1, with its speedup: what the slowest core waits for longer than
/// under the baseline.
pub(crate) fn slowdowns(rows: &[MethodRow]) -> Vec<(f64, String)> {
    let baseline = rows.iter().find(|row| row.method == BASELINE.name()).and_then(slowest);
    let caused = rows.iter().filter_map(|row| {
        let speedup = row.speedup.filter(|&speedup| speedup < 0.995)?;
        let cause = cause(slowest(row)?, ("the baseline", baseline), row.latency_ns)?;
        Some((speedup, format!("{}, {speedup:.2}x: {cause}", row.method)))
    });
    caused.collect()
}

/// A sentence about each method whose copies an engine gives to the controller, and that takes longer than the one
/// whose copies the engine makes itself, if both are among the rows.
pub(crate) fn slower_in_dram(rows: &[MethodRow]) -> Vec<(f64, String)> {
    let compared = rows.iter().filter_map(|row| {
        let plain = row.method.strip_suffix("-rowclone")?;
        let other = rows.iter().find(|other| other.method == plain)?;
        let ratio = other.latency_ns / row.latency_ns;
        let cause = cause(slowest(row)?, (plain, slowest(other)), row.latency_ns).filter(|_| ratio < 0.995)?;
        let served = row.without_fpm.as_ref().map_or_else(String::new, |served| format!("; {served}"));
        Some((ratio, format!("{}, {ratio:.2}x of {plain}: {cause}{served}", row.method)))
    });
    compared.collect()
}

/// The longest additional wait of a core whose region takes `latency_ns`; none if it waits for neither.
fn cause(of: Slowest<'_>, (name, reference): (&str, Option<Slowest<'_>>), latency_ns: f64) -> Option<String> {
    let ([copies, memory], before) = (waits(of), reference.map_or([0.0; 2], waits));
    let (core, _) = of;
    let percent = |cycles: f64, core: &CoreRow| format!("{:.0} %", 100.0 * cycles / core.cycles as f64);
    if copies - before[0] >= memory - before[1] && core.controller_copies > 0 {
        let (count, share) = (core.controller_copies, percent(copies, core));
        let us = copies / core.cycles as f64 * latency_ns / count as f64 / 1000.0;
        let lines = match (core.coherence_written_back, core.coherence_copied_in_cache) {
            (0, 0) => "no dirty line of the caches precedes them".to_owned(),
            (back, 0) => format!("{} dirty lines of the caches are written back before them", grouped(back)),
            (0, copied) => format!("{} dirty lines are copied in the caches", grouped(copied)),
            (back, copied) => format!(
                "{} dirty lines of the caches are written back before them, {} copied in the caches",
                grouped(back),
                grouped(copied)
            ),
        };
        let (count, us) = (format!("{} copies and zeroings", grouped(count)), three_digits(us));
        return Some(format!("core {} waits {share} of its cycles for {count}, {us} us each; {lines}", core.core));
    }
    let of = |core: &CoreRow, cycles: f64| {
        let misses = three_digits(core.misses_per_1000_instructions);
        format!("{} of the cycles, with {misses} misses per 1000 instructions", percent(cycles, core))
    };
    let under = reference.map_or(String::new(), |(core, _)| format!("; under {name} {}", of(core, before[1])));
    (memory > before[1]).then(|| format!("core {} waits for memory {}{under}", core.core, of(core, memory)))
}

#[cfg(test)]
mod tests {
    use rowclone_sim::StallRow;

    use super::*;

    /// A region of 1,000 cycles.
    fn core(stall_cycles: StallRow, [copies, written_back, copied_in_cache]: [u64; 3]) -> CoreRow {
        CoreRow {
            cycles: 1000,
            misses_per_1000_instructions: 12.5,
            stall_cycles,
            controller_copies: copies,
            coherence_written_back: written_back,
            coherence_copied_in_cache: copied_in_cache,
            ..CoreRow::default()
        }
    }

    #[test]
    fn the_cause_is_the_wait_that_grew_most_with_its_counters() {
        let loop_of = core(StallRow { mshr: 300.0, ..StallRow::default() }, [0; 3]);
        let said = |stalls, counts| {
            cause((&core(stalls, counts), false), ("the baseline", Some((&loop_of, false))), 2000.0).unwrap_or_default()
        };
        let copying = StallRow { coherence: 100.0, controller_copy: 500.0, mshr: 50.0, ..StallRow::default() };
        // 600 of 1,000 cycles are 1,200 ns of 2,000, 300 ns per copy.
        assert_eq!(
            [[4, 1448, 0], [4, 0, 7], [4, 9, 7], [4, 0, 0]].map(|counts| said(copying, counts)),
            [
                "1,448 dirty lines of the caches are written back before them",
                "7 dirty lines are copied in the caches",
                "9 dirty lines of the caches are written back before them, 7 copied in the caches",
                "no dirty line of the caches precedes them",
            ]
            .map(|lines| format!("core 0 waits 60 % of its cycles for 4 copies and zeroings, 0.30 us each; {lines}"))
        );
        let waiting = StallRow { window: 400.0, store_buffer: 300.0, controller_copy: 10.0, ..StallRow::default() };
        assert_eq!(
            said(waiting, [1, 2, 0]),
            "core 0 waits for memory 70 % of the cycles, with 12.5 misses per 1000 instructions; under the baseline 30 \
                % of the \
             cycles, with 12.5 misses per 1000 instructions"
        );
        assert_eq!(said(StallRow::default(), [0; 3]), "", "it waits for neither");
    }
}
