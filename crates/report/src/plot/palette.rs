//! What tells series apart: a colour that the colour-blind can tell from its neighbours, and a second sign that needs no colour.

use super::picture::{At, Colour, Picture, Shape};

/// The colours of Okabe and Ito; the yellow, which is pale on white, comes last.
const COLOURS: [Colour; 8] = [
    Colour(0, 114, 178),
    Colour(213, 94, 0),
    Colour(0, 158, 115),
    Colour(230, 159, 0),
    Colour(204, 121, 167),
    Colour(86, 180, 233),
    Colour(0, 0, 0),
    Colour(240, 228, 66),
];

/// How many series can be told apart.
pub(super) const SERIES_MAX: usize = 16;

/// The colour of a series.
pub(super) fn colour(series: usize) -> Colour {
    COLOURS[series % COLOURS.len()]
}

/// The strokes of a series' line, in mm: the second eight are dashed.
pub(super) fn strokes(series: usize) -> &'static [f64] {
    if series < COLOURS.len() { &[] } else { &[1.0, 0.6] }
}

/// The width of a series' line, in mm.
pub(super) const LINE: f64 = 0.35;

/// The radius of a mark, in mm.
pub(super) const MARK_RADIUS: f64 = 0.8;

/// The shape of a series' marks, around a centre.
fn corners(series: usize, (x, y): At, radius: f64) -> Option<Vec<At>> {
    let turned = |corners: &[f64], radius: f64| -> Vec<At> {
        corners
            .iter()
            .map(|turn| (turn * std::f64::consts::TAU).sin_cos())
            .map(|(s, c)| (x + radius * s, y - radius * c))
            .collect()
    };
    // Parts of a turn from the top; the radii give all shapes about the area of the disc.
    Some(match series % COLOURS.len() {
        0 => return None,
        1 => turned(&[0.125, 0.375, 0.625, 0.875], radius * 1.25),
        2 => turned(&[0.0, 1.0 / 3.0, 2.0 / 3.0], radius * 1.45),
        3 => turned(&[0.0, 0.25, 0.5, 0.75], radius * 1.35),
        4 => turned(&[0.5, 1.0 / 6.0, 5.0 / 6.0], radius * 1.45),
        5 => {
            let (outer, inner) = (radius * 1.6, radius * 0.7);
            let star = (0..10).map(|corner| (f64::from(corner) / 10.0, if corner % 2 == 0 { outer } else { inner }));
            star.flat_map(|(turn, radius)| turned(&[turn], radius)).collect()
        }
        6 => turned(&[0.25, 7.0 / 12.0, 11.0 / 12.0], radius * 1.45),
        _ => turned(&[0.75, 5.0 / 12.0, 1.0 / 12.0], radius * 1.45),
    })
}

/// Draws a filled mark.
pub(super) fn mark(picture: &mut Picture, series: usize, centre: At, radius: f64) {
    let colour = colour(series);
    match corners(series, centre, radius) {
        None => picture.shapes.push(Shape::Disc { centre, radius, colour }),
        Some(points) => picture.shapes.push(Shape::Polygon { points, colour }),
    }
}

/// Draws a hollow mark, larger, so that it is seen around a filled one at the same place.
pub(super) fn hollow_mark(picture: &mut Picture, series: usize, centre: At, colour: Colour) {
    const RADIUS: f64 = MARK_RADIUS * 1.5;
    let rings = [(Colour::WHITE, 0.75), (colour, 0.3)];
    for (colour, width) in rings {
        match corners(series, centre, RADIUS) {
            None => picture.shapes.push(Shape::Circle { centre, radius: RADIUS, colour, width }),
            Some(mut points) => {
                points.push(points[0]);
                picture.shapes.push(Shape::Path { points, colour, width });
            }
        }
    }
}

/// Fills a rectangle as the bars of a series are filled: with its colour, and hatched in a way of its own.
pub(super) fn hatched(picture: &mut Picture, series: usize, from: At, to: At) {
    let (from, to) = ((from.0.min(to.0), from.1.min(to.1)), (from.0.max(to.0), from.1.max(to.1)));
    let fill = colour(series);
    let second = series >= COLOURS.len();
    picture.rectangle(from, to, if second { fill.lighter(0.45) } else { fill });
    let ink = if second || fill.luminance() > 0.6 { Colour::BLACK } else { Colour::WHITE };
    for line in hatch(series, from, to) {
        picture.line(line.0, line.1, ink, 0.14);
    }
    picture.frame(from, to, Colour::BLACK, 0.1);
}

/// The lines of a series' hatching within a rectangle.
fn hatch(series: usize, from: At, to: At) -> Vec<(At, At)> {
    const APART: f64 = 1.1;
    let level = || parallel(from.1, to.1, APART).map(|y| ((from.0, y), (to.0, y))).collect::<Vec<_>>();
    let upright = || parallel(from.0, to.0, APART).map(|x| ((x, from.1), (x, to.1))).collect::<Vec<_>>();
    let both = |a: Vec<(At, At)>, b: Vec<(At, At)>| a.into_iter().chain(b).collect();
    // The second eight have the same colours in another order of hatchings.
    let pattern = if series < COLOURS.len() { series } else { (series + 3) % COLOURS.len() };
    match pattern {
        0 => Vec::new(),
        1 => slanted(from, to, APART, 1.0),
        2 => slanted(from, to, APART, -1.0),
        3 => level(),
        4 => both(slanted(from, to, APART * 1.4, 1.0), slanted(from, to, APART * 1.4, -1.0)),
        5 => upright(),
        6 => both(level(), upright()),
        _ => slanted(from, to, APART * 0.55, 1.0),
    }
}

/// Places between two others at whole multiples of a distance, so that hatchings of neighbours meet.
fn parallel(from: f64, to: f64, apart: f64) -> impl Iterator<Item = f64> {
    let first = (from / apart).floor() as i64 + 1;
    (first..).map(move |index| index as f64 * apart).take_while(move |place| *place < to)
}

/// Lines at 45 degrees, rising to the right (1) or to the left (-1), cut at the edges.
fn slanted(from: At, to: At, apart: f64, sign: f64) -> Vec<(At, At)> {
    // On each line x + sign * y is the same.
    let apart = apart * std::f64::consts::SQRT_2;
    let sums = [from.0 + sign * from.1, from.0 + sign * to.1, to.0 + sign * from.1, to.0 + sign * to.1];
    let (least, most) =
        sums.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), it| (least.min(*it), most.max(*it)));
    let line = |sum: f64| {
        let edge = |y: f64| (sum - sign * y).clamp(from.0, to.0);
        let (x0, x1) = (edge(from.1), edge(to.1));
        ((x0, (sum - x0) / sign), (x1, (sum - x1) / sign))
    };
    parallel(least, most, apart).map(line).collect()
}

/// Cividis at eleven places: from dark to light as well as from blue to yellow, and seen alike by the colour-blind.
const CIVIDIS: [Colour; 11] = [
    Colour(0, 34, 78),
    Colour(11, 55, 109),
    Colour(53, 69, 108),
    Colour(79, 86, 108),
    Colour(102, 103, 112),
    Colour(124, 123, 120),
    Colour(148, 142, 119),
    Colour(174, 163, 113),
    Colour(200, 184, 102),
    Colour(229, 207, 82),
    Colour(254, 232, 56),
];

/// The colour of a value that lies this far, 0 to 1, along the scale of a heat map.
#[expect(clippy::cast_sign_loss, reason = "clamped")]
pub(super) fn heat(position: f64) -> Colour {
    let place = position.clamp(0.0, 1.0) * (CIVIDIS.len() - 1) as f64;
    let below = (place.floor() as usize).min(CIVIDIS.len() - 2);
    let share = place - below as f64;
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
    let (a, b) = (CIVIDIS[below], CIVIDIS[below + 1]);
    Colour(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_series_look_alike_without_colour_or_with() {
        let area = ((0.0, 0.0), (6.0, 6.0));
        let looks: Vec<_> = (0..SERIES_MAX)
            .map(|it| (colour(it), strokes(it), hatch(it, area.0, area.1), corners(it, (0.0, 0.0), 1.0)))
            .collect();
        for (index, a) in looks.iter().enumerate() {
            for b in &looks[index + 1..] {
                assert!((a.0, a.1) != (b.0, b.1) && (a.1, &a.3) != (b.1, &b.3), "lines");
                assert!((a.0, &a.2) != (b.0, &b.2), "bars");
            }
        }
    }

    #[test]
    fn hatching_stays_within_its_rectangle() {
        let (from, to) = ((1.3, 2.1), (4.9, 12.7));
        let inside =
            |(x, y): At| (from.0 - 1e-9..=to.0 + 1e-9).contains(&x) && (from.1 - 1e-9..=to.1 + 1e-9).contains(&y);
        for series in 0..SERIES_MAX {
            assert!(hatch(series, from, to).into_iter().all(|(a, b)| inside(a) && inside(b)), "{series}");
        }
    }

    #[test]
    fn a_greater_value_is_lighter_on_a_heat_map() {
        let shades: Vec<f64> = (0..=50).map(|it| heat(f64::from(it) / 50.0).luminance()).collect();
        assert!(shades.windows(2).all(|pair| pair[0] < pair[1]), "{shades:?}");
    }
}
