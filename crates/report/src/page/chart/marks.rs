//! What tells one series from another: shapes, dashes, hatches and numbers, beside colours.

use maud::{Markup, html};

use super::px;

/// So many colours there are; the style sheet gives them, for light and for dark.
pub(super) const COLOURS: usize = 7;

/// The class of the colour of a series.
pub(super) fn colour(series: usize) -> String {
    format!("c{}", series % COLOURS)
}

/// The dashes of a line, `stroke-dasharray`.
pub(super) fn dashes(series: usize) -> &'static str {
    ["none", "7 3", "2 3", "9 3 2 3", "4 2", "12 4", "1 2"][series % 7]
}

/// A mark around a point, as a path.
pub(super) fn shape(series: usize, x: f64, y: f64) -> String {
    let at = |points: &[(f64, f64)]| {
        let points: Vec<String> = points.iter().map(|(dx, dy)| format!("{} {}", px(x + dx), px(y + dy))).collect();
        format!("M{}Z", points.join("L"))
    };
    match series % 7 {
        0 => format!("M{} {}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", px(x - 4.0), px(y)),
        1 => at(&[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)]),
        2 => at(&[(0.0, -4.8), (4.4, 3.4), (-4.4, 3.4)]),
        3 => at(&[(0.0, -5.2), (5.2, 0.0), (0.0, 5.2), (-5.2, 0.0)]),
        4 => at(&[(-4.4, -3.4), (4.4, -3.4), (0.0, 4.8)]),
        5 => at(&[
            (-1.6, -4.6),
            (1.6, -4.6),
            (1.6, -1.6),
            (4.6, -1.6),
            (4.6, 1.6),
            (1.6, 1.6),
            (1.6, 4.6),
            (-1.6, 4.6),
            (-1.6, 1.6),
            (-4.6, 1.6),
            (-4.6, -1.6),
            (-1.6, -1.6),
        ]),
        _ => at(&[(-2.4, -4.4), (2.4, -4.4), (4.8, 0.0), (2.4, 4.4), (-2.4, 4.4), (-4.8, 0.0)]),
    }
}

/// A legend of lines.
pub(super) fn legend_of_lines(series: &[String]) -> Markup {
    html! {
        ul.legend {
            @for (place, name) in series.iter().enumerate() {
                li {
                    svg.key width="34" height="14" viewBox="0 0 34 14" aria-hidden="true" {
                        line.stroke.(colour(place)) x1="1" y1="7" x2="33" y2="7" stroke-dasharray=(dashes(place)) {}
                        path.fill.(colour(place)) d=(shape(place, 17.0, 7.0)) {}
                    }
                    (name)
                }
            }
        }
    }
}

/// A legend of bars; `numbered`, where a bar has its part's number in it.
pub(super) fn legend_of_bars(series: &[String], numbered: bool) -> Markup {
    html! {
        ul.legend {
            @for (place, name) in series.iter().enumerate() {
                li {
                    svg.key width="16" height="14" viewBox="0 0 16 14" aria-hidden="true" { (bar(place, 0.0, 0.0, 16.0, 14.0)) }
                    @if numbered { span.number { (place + 1) } }
                    (name)
                }
            }
        }
    }
}

/// A bar in the colour of its series, hatched from the second round of colours on.
pub(super) fn bar(series: usize, x: f64, y: f64, width: f64, height: f64) -> Markup {
    html! {
        rect.fill.(colour(series)) x=(px(x)) y=(px(y)) width=(px(width)) height=(px(height)) {}
        @if series >= COLOURS {
            rect fill="url(#hatch)" x=(px(x)) y=(px(y)) width=(px(width)) height=(px(height)) {}
        }
    }
}
