//! Lines over a numeric axis, in panels.

use maud::{Markup, html};

use super::super::words::{Heading, short, whole};
use super::marks::{colour, dashes, legend_of_lines, shape};
use super::scale::Scale;
use super::{Lines, Panel, Point, px};
use rowclone_sim::quantity::bytes;

/// The size of a panel among others, and of one alone; the drawing grows with the page.
const AMONG_OTHERS: (f64, f64) = (380.0, 260.0);
const ALONE: (f64, f64) = (760.0, 360.0);
/// Room for ticks and names: left, right, top, bottom.
const ROOM: (f64, f64, f64, f64) = (56.0, 14.0, 12.0, 44.0);

/// The frame that all panels share.
struct Frame<'a> {
    size: (f64, f64),
    x: Scale,
    y: Scale,
    lines: &'a Lines,
}

pub(super) fn draw(name: &str, lines: &Lines) -> Markup {
    let size = if lines.panels.len() > 1 { AMONG_OTHERS } else { ALONE };
    let points = || lines.panels.iter().flat_map(|panel| &panel.lines).flatten();
    let frame = Frame {
        size,
        x: Scale::fitting(points().map(|point| point.x), ROOM.0, size.0 - ROOM.1, false),
        y: Scale::fitting(points().flat_map(|point| [point.y.low, point.y.high]), size.1 - ROOM.3, ROOM.2, true),
        lines,
    };
    html! {
        (legend_of_lines(&lines.series))
        div.panels {
            @for panel in &lines.panels { (frame.panel(name, panel)) }
        }
    }
}

impl Frame<'_> {
    fn panel(&self, name: &str, panel: &Panel) -> Markup {
        let (width, height) = self.size;
        let of = if panel.title.is_empty() { String::new() } else { format!(", {}", panel.title) };
        html! {
            figure.panel {
                @if !panel.title.is_empty() { figcaption { (panel.title) } }
                svg.chart viewBox={ "0 0 " (width) " " (height) } role="group" aria-label={ (name) (of) } {
                    (self.axes())
                    @for (series, points) in panel.lines.iter().enumerate() { (self.line(series, points)) }
                }
            }
        }
    }

    fn axes(&self) -> Markup {
        let (width, height) = self.size;
        let (left, right, top, bottom) = (ROOM.0, width - ROOM.1, ROOM.2, height - ROOM.3);
        let Lines { x, y, .. } = self.lines;
        let note = |heading: &Heading, scale: &Scale| {
            if scale.is_logarithmic() { format!("{}, log scale", heading.with_unit()) } else { heading.with_unit() }
        };
        html! {
            g.axes aria-hidden="true" {
                @for tick in self.y.ticks(6) {
                    @let at = px(self.y.at(tick));
                    line.grid x1=(px(left)) y1=(at) x2=(px(right)) y2=(at) {}
                    text.end x=(px(left - 6.0)) y=(px(self.y.at(tick) + 4.0)) { (label(y, tick)) }
                }
                @for tick in self.x_ticks() {
                    @let at = px(self.x.at(tick));
                    line.tick x1=(at) y1=(px(bottom)) x2=(at) y2=(px(bottom + 4.0)) {}
                    text.middle x=(at) y=(px(bottom + 17.0)) { (label(x, tick)) }
                }
                path.frame d={ "M" (px(left)) " " (px(top)) "V" (px(bottom)) "H" (px(right)) } {}
                text.middle.name x=(px(f64::midpoint(left, right))) y=(px(height - 8.0)) { (note(x, &self.x)) }
                text.middle.name transform={ "translate(13 " (px(f64::midpoint(top, bottom))) ") rotate(-90)" } { (note(y, &self.y)) }
            }
        }
    }

    /// The values themselves where they are few, or powers of two; else round ones.
    fn x_ticks(&self) -> Vec<f64> {
        let points = self.lines.panels.iter().flat_map(|panel| &panel.lines).flatten();
        let mut values: Vec<f64> = points.map(|point| point.x).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let power_of_two = |value: &f64| whole(*value).is_some_and(u64::is_power_of_two);
        let most = if self.lines.panels.len() > 1 { 6 } else { 12 };
        if !self.x.is_logarithmic() && values.len() > most || !(values.len() <= 4 || values.iter().all(power_of_two)) {
            return self.x.ticks(most);
        }
        let every = values.len().div_ceil(most).max(1);
        values.into_iter().step_by(every).collect()
    }

    fn line(&self, series: usize, points: &[Point]) -> Markup {
        let path: Vec<String> =
            points.iter().map(|Point { x, y }| format!("{} {}", px(self.x.at(*x)), px(self.y.at(y.mean)))).collect();
        let name = &self.lines.series[series];
        let Lines { x: over, y: figure, .. } = self.lines;
        html! {
            @if points.len() > 1 {
                path.line.stroke.(colour(series)) d={ "M" (path.join("L")) } stroke-dasharray=(dashes(series)) {}
            }
            @for Point { x, y } in points {
                @let (at, mean) = (self.x.at(*x), self.y.at(y.mean));
                g.mark {
                    title { (name) ", " (over.name) " " (over.value_with_unit(*x)) ": " (y.said(figure)) }
                    @if y.high > y.low {
                        line.stroke.whisker.(colour(series)) x1=(px(at)) y1=(px(self.y.at(y.low))) x2=(px(at)) y2=(px(self.y.at(y.high))) {}
                    }
                    path.fill.(colour(series)) d=(shape(series, at, mean)) {}
                }
            }
        }
    }
}

/// A tick's text: bytes as people say them, shares in percent.
fn label(heading: &Heading, value: f64) -> String {
    match (heading.unit, whole(value)) {
        ("bytes", Some(count)) if count.is_power_of_two() => bytes(count),
        ("%", _) => short(value * 100.0),
        _ => short(value),
    }
}
