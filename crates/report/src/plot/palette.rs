//! Colors and other signs of series: colors that color-blind readers can distinguish, and a second sign without color.

use std::f64::consts::TAU;

use plotters::style::colors::colormaps::ViridisRGB;
use plotters::style::{Color, RGBColor};

use super::canvas::{Canvas, stroke};
use super::paper::{At, corners, dots};

pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);
pub(super) const INK: RGBColor = RGBColor(0x1b, 0x1f, 0x24);
/// Color of notes, and of marks that are not data.
pub(super) const FAINT: RGBColor = RGBColor(0x59, 0x63, 0x6e);
/// Color of the grid.
pub(super) const RULE: RGBColor = RGBColor(0xde, 0xde, 0xde);

/// The number of colors of series.
const COLORS: usize = 8;

/// Every color that has a counterpart in the dark scheme, with that; the last eight are those of series, after Okabe
/// and Ito.
pub(super) const ROLES: [(RGBColor, &str); 4 + COLORS] = [
    (PAPER, "#14181d"),
    (INK, "#e6e9ec"),
    (FAINT, "#a0aab4"),
    (RULE, "#39424c"),
    (RGBColor(0x00, 0x72, 0xb2), "#4fa8e0"),
    (RGBColor(0xd5, 0x5e, 0x00), "#ff8a3c"),
    (RGBColor(0x00, 0x9e, 0x73), "#2fcf9f"),
    (RGBColor(0xe6, 0x9f, 0x00), "#f2c14e"),
    (RGBColor(0xb8, 0x56, 0x8f), "#e79ac6"),
    (RGBColor(0x56, 0xb4, 0xe9), "#9bd8ff"),
    (RGBColor(0x55, 0x55, 0x55), "#b4b9be"),
    (RGBColor(0x6b, 0x4c, 0x9a), "#b49be0"),
];

/// Maximum number of series that readers can distinguish.
pub(super) const SERIES_MAX: usize = 2 * COLORS;

/// The radius of a mark, in mm: of all shapes that of a disc of the same area.
pub(super) const MARK_RADIUS: f64 = 0.8;

/// The width of a series' line, in mm.
pub(super) const LINE: f64 = 0.35;

pub(super) fn color(series: usize) -> RGBColor {
    ROLES[4 + series % COLORS].0
}

/// The second eight series have the colors of the first eight, with other dashes and hatches.
fn second_sign(series: usize) -> usize {
    (series + 3 * (series / COLORS)) % COLORS
}

/// The strokes of a series' line and the gaps between them, in mm: through gaps a line that lies below is seen.
pub(super) fn dashes(series: usize) -> Option<(f64, f64)> {
    let dashes = [(0.0, 0.0), (1.8, 0.7), (0.6, 0.6), (3.0, 0.7), (1.1, 0.5), (1.8, 1.4), (0.3, 0.5), (2.6, 1.6)];
    Some(dashes[second_sign(series)]).filter(|(stroke, _)| *stroke > 0.0)
}

/// The corners of a series' mark around a center, as distances in mm; none of a disc. All marks have the area of the
/// disc.
fn outline(series: usize, radius: f64) -> Option<Vec<(f64, f64)>> {
    let polygon = |corners: u32, turn: f64| -> Vec<(f64, f64)> {
        let count = f64::from(corners);
        let reach = radius * (TAU / (count * (TAU / count).sin())).sqrt();
        let angle = |corner: u32| (turn + f64::from(corner) / count) * TAU;
        (0..corners).map(angle).map(|angle| (reach * angle.sin(), -reach * angle.cos())).collect()
    };
    Some(match series % COLORS {
        0 => return None,
        1 => polygon(4, 0.125),
        2 => polygon(3, 0.0),
        3 => polygon(4, 0.0),
        4 => polygon(3, 0.5),
        5 => {
            let reach = |corner: usize| radius * if corner.is_multiple_of(2) { 1.54 } else { 0.69 };
            let turn = |corner: usize| corner as f64 / 10.0 * TAU;
            (0..10).map(|it| (reach(it) * turn(it).sin(), -reach(it) * turn(it).cos())).collect()
        }
        6 => polygon(3, 0.25),
        _ => polygon(3, 0.75),
    })
}

/// Draws a filled mark.
pub(super) fn symbol(canvas: Canvas<'_>, series: usize, center: At) {
    match outline(series, MARK_RADIUS) {
        None => canvas.circle(center, MARK_RADIUS, color(series).filled()),
        Some(corners) => canvas.polygon(around(center, &corners), color(series)),
    }
}

/// Draws a hollow mark of this color, larger, so that it is seen around a filled one at its place.
pub(super) fn hollow_symbol(canvas: Canvas<'_>, series: usize, center: At, color: RGBColor) {
    const RADIUS: f64 = MARK_RADIUS * 1.5;
    for (color, width) in [(PAPER, 0.75), (color, 0.3)] {
        match outline(series, RADIUS) {
            None => canvas.circle(center, RADIUS, stroke(color, width)),
            Some(mut corners) => {
                corners.push(corners[0]);
                canvas.line(around(center, &corners), color, width, None);
            }
        }
    }
}

fn around(center: At, corners: &[(f64, f64)]) -> Vec<At> {
    corners.iter().map(|(x, y)| (center.0 + dots(*x), center.1 + dots(*y))).collect()
}

/// Draws a bar of a series: its color and its hatch.
pub(super) fn bar(canvas: Canvas<'_>, series: usize, a: At, b: At) {
    let (from, to) = ((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1)));
    canvas.rectangle(from, to, color(series));
    for line in hatch(second_sign(series), from, to) {
        canvas.line(line, PAPER, 0.14, None);
    }
    canvas.line(corners(from, to).into_iter().chain([from]), INK, 0.1, None);
}

/// The hatches: the distance of their lines in mm, and (a, b), for lines on which a x + b y is constant.
const HATCHES: [&[(f64, [i32; 2])]; COLORS] = [
    &[],
    &[(1.5, [1, 1])],
    &[(1.5, [1, -1])],
    &[(1.1, [0, 1])],
    &[(2.2, [1, 1]), (2.2, [1, -1])],
    &[(1.1, [1, 0])],
    &[(1.1, [0, 1]), (1.1, [1, 0])],
    &[(0.8, [1, 1])],
];

/// The lines of a hatch within a rectangle. A line's constant is a multiple of the distance, so that the hatches of
/// neighbors meet.
fn hatch(pattern: usize, from: At, to: At) -> Vec<[At; 2]> {
    let parallel = |&(apart, [a, b]): &(f64, [i32; 2])| {
        let sums = corners(from, to).map(|(x, y)| a * x + b * y);
        let (low, high) = sums.iter().fold((sums[0], sums[0]), |(low, high), &sum| (low.min(sum), high.max(sum)));
        // A line that leaves the rectangle at its side ends there.
        let end = move |at: At, sum: i32| {
            let x = if a == 0 { at.0 } else { ((sum - b * at.1) * a).clamp(from.0, to.0) };
            (x, if b == 0 { at.1 } else { (sum - a * x) * b })
        };
        let sums = (low.div_euclid(dots(apart)) + 1..).map(move |index| index * dots(apart));
        sums.take_while(move |sum| *sum < high).map(move |sum| [end(from, sum), end(to, sum)])
    };
    HATCHES[pattern].iter().flat_map(parallel).collect()
}

/// The color of a value of a heat map, from dark to light; `position` is its place along the scale, 0 to 1.
pub(super) fn heat(position: f64) -> RGBColor {
    ViridisRGB::get_color(position.clamp(0.0, 1.0))
}

/// The color of a number on a heat map's cell; both are not those of text, for cells look alike in the dark scheme.
pub(super) fn on_heat(cell: RGBColor) -> RGBColor {
    if luminance(cell) > 0.18 { RGBColor(0, 0, 0) } else { RGBColor(254, 254, 254) }
}

/// Relative luminance, 0 to 1.
fn luminance(RGBColor(red, green, blue): RGBColor) -> f64 {
    let linear = |part: u8| (f64::from(part) / 255.0).powf(2.2);
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_series_look_alike_without_color_or_with() {
        let looks: Vec<_> = (0..SERIES_MAX)
            .map(|it| (color(it), dashes(it), hatch(second_sign(it), (0, 0), (300, 300)), outline(it, 1.0)))
            .collect();
        for (index, a) in looks.iter().enumerate() {
            for b in &looks[index + 1..] {
                assert!((a.0, a.1) != (b.0, b.1) && (a.1, &a.3) != (b.1, &b.3), "lines");
                assert!((a.0, &a.2) != (b.0, &b.2), "bars");
            }
        }
    }

    #[test]
    fn all_marks_have_the_same_area() {
        for series in 1..COLORS {
            let corners = outline(series, 1.0).unwrap();
            let next = corners.iter().cycle().skip(1);
            let twice: f64 = corners.iter().zip(next).map(|(a, b)| a.0 * b.1 - a.1 * b.0).sum();
            assert!((twice / TAU - 1.0).abs() < 0.01, "{series}: {}", twice / 2.0);
        }
    }

    #[test]
    fn a_hatch_stays_within_its_rectangle() {
        let (from, to) = ((46, 74), (174, 450));
        let inside = |(x, y): At| (from.0..=to.0).contains(&x) && (from.1..=to.1).contains(&y);
        for pattern in 1..COLORS {
            let lines = hatch(pattern, from, to);
            assert!(!lines.is_empty() && lines.iter().flatten().all(|end| inside(*end)), "{pattern}: {lines:?}");
        }
    }

    #[test]
    fn a_greater_value_is_lighter_on_a_heat_map() {
        let shades: Vec<f64> = (0..=50).map(|it| luminance(heat(f64::from(it) / 50.0))).collect();
        assert!(shades.windows(2).all(|pair| pair[0] < pair[1]), "{shades:?}");
    }

    #[test]
    fn each_color_has_one_role_and_another_shade_in_the_dark() {
        for (index, (light, dark)) in ROLES.iter().enumerate() {
            assert!(ROLES[..index].iter().all(|(other, _)| other != light), "{light:?}");
            assert_ne!(*dark, format!("#{:02x}{:02x}{:02x}", light.0, light.1, light.2));
        }
    }
}
