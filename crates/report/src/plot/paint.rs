//! Paints a picture: as SVG, or as the pixels of a PNG.

use std::fmt::Write as _;

use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, RGBColor, ShapeStyle, TextStyle};

use super::font::{self, LINE_EM, Size};
use super::picture::{Anchor, At, Colour, Direction, Picture, Shape};

/// SVG coordinates are whole numbers: hundredths of a millimetre.
const SVG_UNITS_A_MM: f64 = 100.0;

/// Printers want 300 dots an inch.
const DOTS_A_MM: f64 = 300.0 / 25.4;

/// Each dot is the mean of so many pixels squared.
const PIXELS_A_DOT: u32 = 3;

/// Why a picture could not be painted.
#[derive(Debug)]
pub struct PaintError(String);

impl std::fmt::Display for PaintError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the picture cannot be painted: {}", self.0)
    }
}

impl std::error::Error for PaintError {}

fn fault(error: impl std::fmt::Display) -> PaintError {
    PaintError(error.to_string())
}

/// What differs between the two kinds of output.
#[derive(Clone, Copy)]
struct Target {
    /// Backend units a mm.
    scale: f64,
    /// plotters' size of a font whose em is 1.
    size_an_em: f64,
    /// From the place that plotters is given down to the baseline, in em.
    baseline_em: f64,
    /// Whether the letters and lines are drawn here, dot by dot, or by whoever shows the document.
    pixels: bool,
}

impl Target {
    // plotters writes its size / 1.24 as the font size, and moves an anchor at the top by 0.76 em.
    const SVG: Target = Target { scale: SVG_UNITS_A_MM, size_an_em: 1.24, baseline_em: 0.76, pixels: false };
    // ab_glyph's size is that of a line, and plotters puts the baseline half of it below the top.
    const PIXELS: Target = Target {
        scale: DOTS_A_MM * PIXELS_A_DOT as f64,
        size_an_em: LINE_EM,
        baseline_em: LINE_EM / 2.0,
        pixels: true,
    };

    fn at(self, (x, y): At) -> (i32, i32) {
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    #[expect(clippy::cast_sign_loss, reason = "lengths are positive")]
    fn length(self, mm: f64) -> u32 {
        (mm * self.scale).round().max(1.0) as u32
    }
}

const fn rgb(colour: Colour) -> RGBColor {
    RGBColor(colour.0, colour.1, colour.2)
}

/// The picture as an SVG document, as wide as it is meant to be printed; each value shows itself on hover.
///
/// # Errors
/// The backend's.
pub fn svg(picture: &Picture) -> Result<String, PaintError> {
    let mut body = String::new();
    let size = (Target::SVG.length(picture.width), Target::SVG.length(picture.height));
    paint(picture, SVGBackend::with_string(&mut body, size), Target::SVG)?;
    // plotters' own root element counts in pixels.
    let inner = body.split_once('>').and_then(|(_, rest)| rest.rsplit_once("</svg>")).map(|(inner, _)| inner);
    let inner = with_widths(inner.ok_or_else(|| fault("no root element"))?, picture);
    let mut text = String::new();
    let title = escaped(&picture.title);
    write!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.2}mm\" height=\"{:.2}mm\" viewBox=\"0 0 {} {}\" role=\"img\" \
         stroke-linejoin=\"round\">\n<title>{title}</title>{inner}",
        picture.width, picture.height, size.0, size.1
    )
    .map_err(fault)?;
    text.push_str("<g class=\"values\" fill=\"#FFFFFF\" fill-opacity=\"0\">\n");
    for value in &picture.values {
        let (from, to) = (Target::SVG.at(value.area.0), Target::SVG.at(value.area.1));
        let (width, height, words) = ((to.0 - from.0).max(1), (to.1 - from.1).max(1), escaped(&value.text));
        let (x, y) = from;
        writeln!(text, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"><title>{words}</title></rect>")
            .map_err(fault)?;
    }
    text.push_str("</g>\n</svg>\n");
    Ok(text)
}

/// Each text as wide as it was laid out, whatever font the reader has.
fn with_widths(body: &str, picture: &Picture) -> String {
    let widths = picture.shapes.iter().filter_map(|shape| match shape {
        Shape::Text { text, size, .. } => Some(Target::SVG.length(size.width(text))),
        _ => None,
    });
    let mut pieces = body.split("<text ");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for (piece, width) in pieces.zip(widths) {
        let width = width.to_string();
        text.extend(["<text textLength=\"", &width, "\" lengthAdjust=\"spacingAndGlyphs\" ", piece]);
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The picture as a PNG file, at 300 dots an inch.
///
/// # Errors
/// The backend's, or the encoder's.
#[expect(clippy::cast_sign_loss, reason = "lengths are positive")]
pub fn png(picture: &Picture) -> Result<Vec<u8>, PaintError> {
    let dots = |mm: f64| (mm * DOTS_A_MM).ceil() as u32;
    let (width, height) = (dots(picture.width), dots(picture.height));
    let fine = (width * PIXELS_A_DOT, height * PIXELS_A_DOT);
    let mut pixels = vec![255; fine.0 as usize * fine.1 as usize * 3];
    paint(picture, BitMapBackend::with_buffer(&mut pixels, fine), Target::PIXELS)?;
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let a_metre = (DOTS_A_MM * 1000.0).round() as u32;
    encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: a_metre, yppu: a_metre, unit: png::Unit::Meter }));
    let mut writer = encoder.write_header().map_err(fault)?;
    writer.write_image_data(&averaged(&pixels, width as usize)).map_err(fault)?;
    writer.finish().map_err(fault)?;
    Ok(file)
}

/// Each dot is the mean of its pixels; `width` is in dots.
fn averaged(pixels: &[u8], width: usize) -> Vec<u8> {
    let side = PIXELS_A_DOT as usize;
    let line = width * side * 3;
    let mut dots = Vec::with_capacity(pixels.len() / (side * side));
    for band in pixels.chunks_exact(line * side) {
        for dot in 0..width {
            for part in 0..3 {
                let column = |x: usize| (dot * side + x) * 3 + part;
                let sum: usize =
                    (0..side * side).map(|it| usize::from(band[it / side * line + column(it % side)])).sum();
                dots.push(((sum + side * side / 2) / (side * side)) as u8);
            }
        }
    }
    dots
}

fn paint<B: DrawingBackend>(picture: &Picture, mut backend: B, target: Target) -> Result<(), PaintError> {
    let corner = target.at((picture.width, picture.height));
    backend.draw_rect((0, 0), (corner.0 + 1, corner.1 + 1), &filled(Colour::WHITE), true).map_err(fault)?;
    for shape in &picture.shapes {
        match shape {
            Shape::Path { points, colour, width } => {
                let path: Vec<_> = points.iter().map(|&point| target.at(point)).collect();
                draw_path(&mut backend, &path, *colour, target.length(*width), target)?;
            }
            Shape::Polygon { points, colour } => {
                let corners: Vec<_> = points.iter().map(|&point| target.at(point)).collect();
                backend.fill_polygon(corners, &filled(*colour)).map_err(fault)?;
            }
            Shape::Disc { centre, radius, colour } => {
                let (centre, radius) = (target.at(*centre), target.length(*radius));
                backend.draw_circle(centre, radius, &filled(*colour), true).map_err(fault)?;
            }
            Shape::Circle { centre, radius, colour, width } => {
                let (centre, radius) = (target.at(*centre), target.length(*radius));
                let style = stroked(*colour, target.length(*width));
                backend.draw_circle(centre, radius, &style, false).map_err(fault)?;
            }
            Shape::Text { text, at, size, anchor, direction, colour } => {
                let (at, style) = placed(text, *at, *size, *anchor, *direction, target);
                backend.draw_text(text, &style.color(&rgb(*colour)), target.at(at)).map_err(fault)?;
            }
        }
    }
    backend.present().map_err(fault)
}

/// Draws a line with round corners.
fn draw_path<B: DrawingBackend>(
    backend: &mut B,
    path: &[(i32, i32)],
    colour: Colour,
    width: u32,
    target: Target,
) -> Result<(), PaintError> {
    if !target.pixels {
        return backend.draw_path(path.to_vec(), &stroked(colour, width)).map_err(fault);
    }
    // plotters fills the outline of a wide line, which goes wrong where that crosses itself: at sharp or closed corners.
    for ends in path.windows(2) {
        backend.draw_path(ends.to_vec(), &stroked(colour, width)).map_err(fault)?;
    }
    let closed = path.len() > 2 && path.first() == path.last();
    let inner = path.get(1..path.len().saturating_sub(1)).unwrap_or_default();
    for &corner in inner.iter().chain(path.first().filter(|_| closed)) {
        backend.draw_circle(corner, width / 2, &filled(colour), true).map_err(fault)?;
    }
    Ok(())
}

/// Where plotters must be told to put a text so that it comes to lie where it should.
fn placed(
    text: &str,
    (x, y): At,
    size: Size,
    anchor: Anchor,
    direction: Direction,
    target: Target,
) -> (At, TextStyle<'static>) {
    let above = target.baseline_em * size.0;
    // plotters' bitmaps are measured here, more finely than it does itself.
    let (before, position) = match (anchor, target.pixels) {
        (Anchor::Start, _) => (0.0, HPos::Left),
        (Anchor::Middle, true) => (size.width(text) / 2.0, HPos::Left),
        (Anchor::End, true) => (size.width(text), HPos::Left),
        (Anchor::Middle, false) => (0.0, HPos::Center),
        (Anchor::End, false) => (0.0, HPos::Right),
    };
    let (at, transform) = match direction {
        Direction::Right => ((x - before, y - above), FontTransform::None),
        Direction::Up => ((x - above, y + before), FontTransform::Rotate270),
    };
    let font = font::described(size.0 * target.scale * target.size_an_em).transform(transform);
    (at, TextStyle::from(font).pos(Pos::new(position, VPos::Top)))
}

fn filled(colour: Colour) -> ShapeStyle {
    rgb(colour).filled()
}

fn stroked(colour: Colour, width: u32) -> ShapeStyle {
    rgb(colour).stroke_width(width)
}
