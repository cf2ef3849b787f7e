//! Bars that lie, so that their names have room: grouped, or stacked from parts.

use maud::{Markup, html};

use super::super::words::short;
use super::marks::{bar, legend_of_bars};
use super::scale::Scale;
use super::{Bars, Stacks, px};

const WIDTH: f64 = 760.0;
/// Of the names on the left, and of the values on the right.
const NAMES: f64 = 190.0;
const VALUES: f64 = 90.0;
/// A bar, and the space after a group.
const BAR: f64 = 17.0;
const GAP: f64 = 9.0;
/// Below the bars: ticks and the axis' name.
const BELOW: f64 = 42.0;
/// A part that is narrower has no number in it.
const NUMBERED_FROM: f64 = 16.0;
/// Characters of a name, at most.
const NAME_MOST: usize = 29;

pub(super) fn draw_groups(name: &str, bars: &Bars) -> Markup {
    let values = || bars.groups.iter().flat_map(|group| &group.bars).map(|(_, spread)| spread.mean);
    let scale = linear(values());
    let count: usize = bars.groups.iter().map(|group| group.bars.len()).sum();
    let bottom = count as f64 * BAR + bars.groups.len() as f64 * GAP;
    let several = bars.series.len() > 1;
    let tops = bars.groups.iter().scan(0.0, |next, group| {
        let top = *next;
        *next += group.bars.len() as f64 * BAR + GAP;
        Some(top)
    });
    let tops: Vec<f64> = tops.collect();
    html! {
        @if several { (legend_of_bars(&bars.series, false)) }
        svg.chart.bars viewBox={ "0 0 " (WIDTH) " " (px(bottom + BELOW)) } role="group" aria-label=(name) {
            (axis(&scale, bottom, &bars.y.with_unit()))
            @for (top, group) in tops.into_iter().zip(&bars.groups) {
                @let middle = top + group.bars.len() as f64 * BAR / 2.0;
                text.end x=(px(NAMES - 8.0)) y=(px(middle + 4.0)) { (fitted(&group.name)) }
                @for (place, (series, value)) in group.bars.iter().enumerate() {
                    @let top = top + place as f64 * BAR;
                    @let end = scale.at(value.mean);
                    g.mark {
                        title { (group.name) @if several { ", " (bars.series[*series]) } ": " (value.said(&bars.y)) }
                        (bar(*series, NAMES, top + 1.0, end - NAMES, BAR - 2.0))
                    }
                    text.value x=(px(end + 5.0)) y=(px(top + 12.5)) { (bars.y.value(value.mean)) }
                }
            }
        }
    }
}

pub(super) fn draw_stacks(name: &str, stacks: &Stacks) -> Markup {
    let totals: Vec<f64> = stacks.bars.iter().map(|(_, parts)| parts.iter().sum()).collect();
    let scale = linear(totals.iter().copied());
    let height = BAR + GAP;
    let bottom = stacks.bars.len() as f64 * height;
    html! {
        (legend_of_bars(&stacks.parts, true))
        svg.chart.bars viewBox={ "0 0 " (WIDTH) " " (px(bottom + BELOW)) } role="group" aria-label=(name) {
            (axis(&scale, bottom, &stacks.unit.with_unit()))
            @for (place, ((of, parts), total)) in stacks.bars.iter().zip(&totals).enumerate() {
                @let top = place as f64 * height;
                text.end x=(px(NAMES - 8.0)) y=(px(top + 15.0)) { (fitted(of)) }
                (stack(stacks, of, parts, *total, &scale, top))
                text.value x=(px(scale.at(*total) + 5.0)) y=(px(top + 15.0)) { (stacks.unit.value(*total)) }
            }
        }
    }
}

/// The parts of a bar, one after another.
fn stack(stacks: &Stacks, of: &str, parts: &[f64], total: f64, scale: &Scale, top: f64) -> Markup {
    let ends = parts.iter().scan(0.0, |end, value| {
        *end += value;
        Some(*end)
    });
    let ends: Vec<f64> = ends.collect();
    html! {
        @for (part, &value) in parts.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            @let (start, end) = (scale.at(ends[part] - value), scale.at(ends[part]));
            g.mark {
                title {
                    (of) ", " (stacks.parts[part]) ": " (stacks.unit.value_with_unit(value))
                    ", " (format!("{:.1}", value / total * 100.0)) " % of it"
                }
                (bar(part, start, top + 2.0, end - start, BAR + 2.0))
                @if end - start >= NUMBERED_FROM {
                    text.middle.number x=(px(f64::midpoint(start, end))) y=(px(top + 15.5)) { (part + 1) }
                }
            }
        }
    }
}

/// Bars begin at 0, so they have no logarithm.
fn linear(values: impl Iterator<Item = f64>) -> Scale {
    Scale::fitting(values.chain([0.0]), NAMES, WIDTH - VALUES, true)
}

fn axis(scale: &Scale, bottom: f64, name: &str) -> Markup {
    html! {
        g.axes aria-hidden="true" {
            @for tick in scale.ticks(7) {
                @let at = px(scale.at(tick));
                line.grid x1=(at) y1="0" x2=(at) y2=(px(bottom)) {}
                text.middle x=(at) y=(px(bottom + 15.0)) { (short(tick)) }
            }
            path.frame d={ "M" (px(NAMES)) " 0V" (px(bottom)) } {}
            text.middle.name x=(px(f64::midpoint(NAMES, WIDTH - VALUES))) y=(px(bottom + 34.0)) { (name) }
        }
    }
}

/// A name that has room; the tooltip has all of it.
fn fitted(name: &str) -> String {
    if name.chars().count() <= NAME_MOST {
        return name.to_owned();
    }
    name.chars().take(NAME_MOST - 1).chain(['…']).collect()
}
