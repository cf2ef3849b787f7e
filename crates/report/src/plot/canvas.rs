//! Draws the elements of an SVG document by plotters' SVG backend.

use std::cell::RefCell;
use std::fmt::Write as _;

use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor, ShapeStyle, TextStyle};

use super::font::{CAPITAL_EM, LINE_HEIGHT_EM, Size};
use super::paper::{At, dots};

/// Text around its place.
pub(super) const CENTER: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Center };
/// Text at the right of its place.
pub(super) const RIGHT: Pos = Pos { h_pos: HPos::Left, v_pos: VPos::Center };
/// Lines of text below their place.
pub(super) const BELOW: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Top };

/// The area on which plotters draws.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What plotters reports; drawing into a string fails only where the bundled font is not registered.
pub(super) type Fault = DrawingAreaErrorKind<std::io::Error>;

/// The elements of an SVG document in the order of their drawing.
#[derive(Clone, Copy)]
pub(super) struct Canvas<'a> {
    /// Width and height in dots.
    pub(super) size: (u32, u32),
    pub(super) elements: &'a RefCell<String>,
}

impl Canvas<'_> {
    /// Adds an element, or a part of one.
    pub(super) fn push(self, element: &str) {
        self.elements.borrow_mut().push_str(element);
    }

    /// Adds what plotters draws.
    pub(super) fn draw<T>(self, draw: impl FnOnce(&Area<'_>) -> Result<T, Fault>) -> T {
        let (drawn, elements) = self.drawn(draw);
        self.push(&elements);
        drawn
    }

    /// The elements that plotters draws.
    fn drawn<T>(self, draw: impl FnOnce(&Area<'_>) -> Result<T, Fault>) -> (T, String) {
        let mut document = String::new();
        let area = SVGBackend::with_string(&mut document, self.size).into_drawing_area();
        let drawn = draw(&area).expect("writing into a string does not fail, and the font is bundled");
        drop(area);
        let elements = document.split_once('\n').map_or("", |(_, rest)| rest.trim_end_matches("</svg>\n"));
        (drawn, measured(elements).replace(" opacity=\"1\"", ""))
    }

    /// Draws a line of a width in mm; of strokes and gaps in mm where there are dashes.
    pub(super) fn line(
        self,
        points: impl IntoIterator<Item = At>,
        color: RGBColor,
        width: f64,
        dashes: Option<(f64, f64)>,
    ) {
        let mut points: Vec<At> = points.into_iter().collect();
        points.dedup();
        let path = PathElement::new(points, stroke(color, width));
        let ((), line) = self.drawn(|area| area.draw(&path));
        // plotters would draw each stroke as an element.
        self.push(&match dashes {
            Some((stroke, gap)) => {
                line.replace("points=", &format!("stroke-dasharray=\"{} {}\" points=", dots(stroke), dots(gap)))
            }
            None => line,
        });
    }

    /// Fills a polygon.
    pub(super) fn polygon(self, points: Vec<At>, color: RGBColor) {
        self.draw(|area| area.draw(&Polygon::new(points, color)));
    }

    /// Fills a rectangle.
    pub(super) fn rectangle(self, from: At, to: At, color: RGBColor) {
        self.draw(|area| area.draw(&Rectangle::new([from, to], color.filled())));
    }

    /// Draws a circle of a radius in mm.
    pub(super) fn circle(self, center: At, radius: f64, style: ShapeStyle) {
        self.draw(|area| area.draw(&Circle::new(center, dots(radius), style)));
    }

    /// Draws lines of text.
    pub(super) fn text(self, text: &str, style: &TextStyle<'_>, at: At) {
        self.draw(|area| area.draw_text(text, style, at));
    }

    /// Draws the mark of a value, which the title states.
    pub(super) fn mark(self, title: &str, draw: impl FnOnce()) {
        self.push(&format!("<g class=\"mark\" role=\"img\" tabindex=\"0\"><title>{}</title>\n", escaped(title)));
        draw();
        self.push("</g>\n");
    }
}

/// The style of a line of this width in mm.
pub(super) fn stroke(color: RGBColor, width: f64) -> ShapeStyle {
    color.stroke_width(dots(width).unsigned_abs())
}

/// plotters' elements with each line of a text as an element of its own, with the width that it has in the layout,
/// whatever font the reader has: plotters writes a text without its width, as one line.
fn measured(elements: &str) -> String {
    let mut texts = elements.split("<text ");
    let mut measured = texts.next().unwrap_or_default().to_owned();
    for text in texts {
        let (place, [em, color, words, after]) = parts(text).expect("plotters writes all texts alike");
        let em: f64 = em.parse().expect("the size of a font is a number");
        for (index, line) in words.lines().enumerate() {
            // From the place down to the baseline.
            let (top, middle) = (CAPITAL_EM + index as f64 * LINE_HEIGHT_EM, CAPITAL_EM / 2.0);
            let place = place.replace("0.76em", &format!("{top:.2}em")).replace("0.5ex", &format!("{middle:.2}em"));
            let width = Size(em).width(&unescaped(line)).round();
            let size = format!("font-size=\"{em:.0}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\"");
            let _ = writeln!(measured, "<text {place}{size}{color}>{line}</text>");
        }
        measured += after;
    }
    measured
}

/// The parts of a text as plotters writes it: the attributes of its place, the size of its font, the other attributes,
/// its words, and the elements after it.
fn parts(text: &str) -> Option<(&str, [&str; 4])> {
    let (attributes, rest) = text.split_once(">\n")?;
    let (words, after) = rest.split_once("\n</text>\n")?;
    let (place, rest) = attributes.split_once("font-family=\"")?;
    let (em, color) = rest.split_once("font-size=\"")?.1.split_once('"')?;
    Some((place, [em, color, words, after]))
}

/// Characters of texts that SVG writes as entities.
const ENTITIES: [(&str, &str); 5] = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&apos;")];

pub(super) fn escaped(text: &str) -> String {
    ENTITIES.iter().fold(text.to_owned(), |text, (character, entity)| text.replace(character, entity))
}

fn unescaped(text: &str) -> String {
    ENTITIES.iter().rev().fold(text.to_owned(), |text, (character, entity)| text.replace(entity, character))
}
