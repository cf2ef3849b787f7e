//! Lengths on a picture.

/// A place on a picture, in dots from its upper left corner, to the right and down.
pub(super) type At = (i32, i32);

/// Dots per mm: 900 dots per inch. An SVG counts in dots.
pub(super) const DOTS_PER_MM: f64 = 900.0 / 25.4;

/// A length in dots.
pub(super) fn dots(mm: f64) -> i32 {
    (mm * DOTS_PER_MM).round() as i32
}

/// The corners of a rectangle.
pub(super) const fn corners(from: At, to: At) -> [At; 4] {
    [from, (to.0, from.1), to, (from.0, to.1)]
}
