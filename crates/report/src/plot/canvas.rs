//! A picture as a list of shapes, and the drawing backend with which plotters fills it.

use std::cell::RefCell;
use std::convert::Infallible;

use plotters::drawing::DrawingAreaErrorKind;
use plotters::element::{DashedPathElement, Drawable};
use plotters::style::TextStyle;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};

use super::font::{CAPITAL_EM, DESCENDER_EM, LINE_EM};
use super::palette;

/// A place on a picture, in dots from its upper left corner, to the right and down.
pub(super) type At = BackendCoord;

/// Dots per mm: 900 dots per inch. An SVG counts in dots; each pixel of a PNG is the mean of 3 × 3 dots.
pub(super) const DOTS_PER_MM: f64 = 900.0 / 25.4;

/// A length in dots.
pub(super) fn dots(mm: f64) -> i32 {
    (mm * DOTS_PER_MM).round() as i32
}

/// A color: red, green, blue.
pub(super) type Rgb = (u8, u8, u8);

/// A shape of a picture.
#[derive(Clone)]
pub(super) enum Shape {
    /// A line through points, of a width in dots.
    Path { points: Vec<At>, color: Rgb, width: u32 },
    /// A filled polygon; without a color it is transparent and only receives the pointer.
    Polygon { points: Vec<At>, color: Option<Rgb> },
    /// A circle: filled, or a line of a width in dots.
    Circle { center: At, radius: u32, color: Rgb, width: Option<u32> },
    /// A line of text. `at` lies on its baseline, at its start, middle or end. `up`: it runs from bottom to top.
    Text { text: String, at: At, em: f64, align: HPos, up: bool, color: Rgb },
    /// The following shapes, up to [`Shape::Close`], are the mark of a value, which this text states.
    Open(String),
    /// Ends a mark.
    Close,
}

/// A chart as it is drawn.
#[derive(Clone)]
pub struct Picture {
    /// The title of the chart, for readers who do not see it.
    pub(super) title: String,
    /// Width and height in dots.
    pub(super) size: (u32, u32),
    pub(super) shapes: Vec<Shape>,
}

impl Picture {
    /// The number of marks.
    pub fn values(&self) -> usize {
        self.shapes.iter().filter(|shape| matches!(shape, Shape::Open(_))).count()
    }
}

/// Records shapes: those that this module draws, and, as a backend of plotters, those that plotters draws.
#[derive(Clone, Copy)]
pub(super) struct Canvas<'a> {
    pub(super) size: (u32, u32),
    pub(super) shapes: &'a RefCell<Vec<Shape>>,
}

/// What plotters reports; drawing on a [`Canvas`] fails only where the bundled font is not registered.
pub(super) type Fault = DrawingAreaErrorKind<Infallible>;
/// The outcome of one call of the backend.
type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl Canvas<'_> {
    fn push(self, shape: Shape) {
        self.shapes.borrow_mut().push(shape);
    }

    /// Draws a line of a width in mm.
    pub(super) fn line(self, points: impl IntoIterator<Item = At>, color: Rgb, width: f64) {
        let mut points: Vec<At> = points.into_iter().collect();
        points.dedup();
        self.push(Shape::Path { points, color, width: dots(width).unsigned_abs() });
    }

    /// Draws a line of strokes and gaps, both in mm, and of a width in mm.
    pub(super) fn dashed(mut self, points: Vec<At>, (stroke, gap): (f64, f64), color: Rgb, width: f64) {
        let dashes = DashedPathElement::new(points.clone(), dots(stroke), dots(gap), palette::stroke(color, width));
        let size = self.size;
        dashes.draw(points.into_iter(), &mut self, size).expect("the canvas takes everything");
    }

    /// Fills a polygon; without a color it only receives the pointer.
    pub(super) fn polygon(self, points: Vec<At>, color: Option<Rgb>) {
        self.push(Shape::Polygon { points, color });
    }

    /// Fills a rectangle.
    pub(super) fn rectangle(self, from: At, to: At, color: Rgb) {
        self.polygon(corners(from, to).to_vec(), Some(color));
    }

    /// Draws a circle of a radius in mm: filled, or a line of a width in mm.
    pub(super) fn circle(self, center: At, radius: f64, color: Rgb, width: Option<f64>) {
        let width = width.map(|width| dots(width).unsigned_abs());
        self.push(Shape::Circle { center, radius: dots(radius).unsigned_abs(), color, width });
    }

    /// Draws a text.
    pub(super) fn text(mut self, text: &str, style: &TextStyle<'_>, at: At) {
        self.draw_text(text, style, at).expect("the canvas takes everything");
    }

    /// Draws the mark of a value, which the title states.
    pub(super) fn mark(self, title: String, draw: impl FnOnce()) {
        self.push(Shape::Open(title));
        draw();
        self.push(Shape::Close);
    }
}

/// The corners of a rectangle.
pub(super) const fn corners(from: At, to: At) -> [At; 4] {
    [from, (to.0, from.1), to, (from.0, to.1)]
}

/// plotters draws axes and dashes: lines and texts.
impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, at: At, color: BackendColor) -> Drawn {
        self.rectangle(at, (at.0 + 1, at.1 + 1), color.rgb);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: At, to: At, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = At>>(&mut self, path: I, style: &S) -> Drawn {
        let mut points: Vec<At> = path.into_iter().collect();
        points.dedup();
        self.push(Shape::Path { points, color: style.color().rgb, width: style.stroke_width() });
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: At) -> Drawn {
        let em = style.size() / LINE_EM;
        // From the place that plotters gives down to the baseline.
        let down = em
            * match style.anchor().v_pos {
                VPos::Top => CAPITAL_EM,
                VPos::Center => CAPITAL_EM / 2.0,
                VPos::Bottom => -DESCENDER_EM,
            };
        let up = !matches!(style.transform(), FontTransform::None);
        let at = if up { (at.0 + down.round() as i32, at.1) } else { (at.0, at.1 + down.round() as i32) };
        let (text, align, color) = (text.to_owned(), style.anchor().h_pos, style.color().rgb);
        if !text.is_empty() {
            self.push(Shape::Text { text, at, em, align, up, color });
        }
        Ok(())
    }
}
