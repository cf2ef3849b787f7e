//! A picture as a list of shapes in millimetres: what charts are laid out as, before anything is painted.

use super::font::Size;

/// A place on the picture, in mm from its upper left corner, right and down.
pub(super) type At = (f64, f64);

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

impl Colour {
    pub(super) const BLACK: Colour = Colour(0, 0, 0);
    pub(super) const WHITE: Colour = Colour(255, 255, 255);
    /// Of notes and of marks that are no data.
    pub(super) const GREY: Colour = Colour(90, 90, 90);
    /// Of the grid.
    pub(super) const PALE: Colour = Colour(222, 222, 222);

    /// So much of this, the rest white; `share` is from 0 to 1.
    #[expect(clippy::cast_sign_loss, reason = "between two bytes")]
    pub(super) fn lighter(self, share: f64) -> Colour {
        let mix = |part: u8| (255.0 - (255.0 - f64::from(part)) * share).round() as u8;
        Colour(mix(self.0), mix(self.1), mix(self.2))
    }

    /// How bright it looks, 0 to 1.
    pub(super) fn luminance(self) -> f64 {
        let linear = |part: u8| (f64::from(part) / 255.0).powf(2.2);
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }
}

/// Which way a text runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From left to right.
    Right,
    /// From the bottom to the top.
    Up,
}

/// Which part of a text lies at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Something to paint.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A line through these points.
    Path { points: Vec<At>, colour: Colour, width: f64 },
    /// A filled polygon.
    Polygon { points: Vec<At>, colour: Colour },
    /// A filled disc.
    Disc { centre: At, radius: f64, colour: Colour },
    /// A circle's line.
    Circle { centre: At, radius: f64, colour: Colour, width: f64 },
    /// A line of text; `at` is on its baseline.
    Text { text: String, at: At, size: Size, anchor: Anchor, direction: Direction, colour: Colour },
}

/// One value that is drawn, with all of it in words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    /// Upper left and lower right of its mark.
    pub(super) area: (At, At),
    /// What it is: `rule, 4 KiB: 90 ns`.
    pub(super) text: String,
}

/// A picture, laid out.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// In words, for those who do not see it.
    pub(super) title: String,
    /// In mm.
    pub(super) width: f64,
    /// In mm.
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
    pub(super) values: Vec<Value>,
}

impl Picture {
    pub(super) fn line(&mut self, from: At, to: At, colour: Colour, width: f64) {
        self.shapes.push(Shape::Path { points: vec![from, to], colour, width });
    }

    /// Strokes of these lengths, in mm: on, off, on, off.
    pub(super) fn dashed(&mut self, points: &[At], colour: Colour, width: f64, strokes: &[f64]) {
        if strokes.is_empty() {
            self.shapes.push(Shape::Path { points: points.to_vec(), colour, width });
            return;
        }
        for stroke in dashes(points, strokes) {
            self.shapes.push(Shape::Path { points: stroke, colour, width });
        }
    }

    pub(super) fn rectangle(&mut self, from: At, to: At, colour: Colour) {
        let points = vec![from, (to.0, from.1), to, (from.0, to.1)];
        self.shapes.push(Shape::Polygon { points, colour });
    }

    pub(super) fn frame(&mut self, from: At, to: At, colour: Colour, width: f64) {
        let points = vec![from, (to.0, from.1), to, (from.0, to.1), from];
        self.shapes.push(Shape::Path { points, colour, width });
    }

    pub(super) fn text(&mut self, text: &str, at: At, size: Size, anchor: Anchor, colour: Colour) {
        let direction = Direction::Right;
        self.shapes.push(Shape::Text { text: text.to_owned(), at, size, anchor, direction, colour });
    }

    pub(super) fn text_up(&mut self, text: &str, at: At, size: Size, anchor: Anchor, colour: Colour) {
        let direction = Direction::Up;
        self.shapes.push(Shape::Text { text: text.to_owned(), at, size, anchor, direction, colour });
    }

    pub(super) fn value(&mut self, from: At, to: At, text: String) {
        let (left, right) = (from.0.min(to.0), from.0.max(to.0));
        let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
        self.values.push(Value { area: ((left, top), (right, bottom)), text });
    }

    /// How many values are drawn in it.
    pub fn values(&self) -> usize {
        self.values.len()
    }
}

/// A path cut into strokes.
fn dashes(points: &[At], strokes: &[f64]) -> Vec<Vec<At>> {
    let mut done = Vec::new();
    let (mut index, mut left) = (0, strokes[0]);
    let mut stroke = points.first().map_or(Vec::new(), |&first| vec![first]);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to.0 - from.0).hypot(to.1 - from.1);
        while length > left {
            let share = left / length;
            from = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            length -= left;
            if index % 2 == 0 {
                stroke.push(from);
                done.push(std::mem::take(&mut stroke));
            } else {
                stroke = vec![from];
            }
            index += 1;
            left = strokes[index % strokes.len()];
        }
        left -= length;
        if index % 2 == 0 {
            stroke.push(to);
        }
    }
    if stroke.len() > 1 {
        done.push(stroke);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_their_share_of_a_path_round_its_corners() {
        let strokes = dashes(&[(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)], &[1.0, 1.0]);
        let ends: Vec<(At, At)> = strokes.iter().map(|it| (it[0], it[it.len() - 1])).collect();
        assert_eq!(
            ends,
            [((0.0, 0.0), (1.0, 0.0)), ((2.0, 0.0), (3.0, 0.0)), ((3.0, 1.0), (3.0, 2.0)), ((3.0, 3.0), (3.0, 4.0)),]
        );
    }

    #[test]
    fn a_lighter_colour_is_brighter_and_none_of_it_is_white() {
        let blue = Colour(0, 114, 178);
        assert_eq!(blue.lighter(1.0), blue);
        assert_eq!(blue.lighter(0.0), Colour::WHITE);
        assert!(blue.lighter(0.4).luminance() > blue.luminance());
    }
}
