//! Writes a picture as the pixels of a PNG file, by plotters' bitmap backend.

use std::error::Error;

use plotters::backend::BitMapBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor};
use plotters_backend::{DrawingBackend, DrawingErrorKind};

use super::canvas::{At, DOTS_PER_MM, Picture, Rgb, Shape};
use super::font::{LINE_EM, Size};

/// Dots per pixel in each direction: a pixel is their mean, 300 pixels per inch.
const DOTS_PER_PIXEL: u32 = 3;

/// The picture as a PNG file of 300 pixels per inch.
///
/// # Errors
/// Error of the backend or of the encoder.
#[expect(clippy::cast_sign_loss, reason = "lengths are positive")]
pub fn png(picture: &Picture) -> Result<Vec<u8>, Box<dyn Error>> {
    let (width, height) = (picture.size.0.div_ceil(DOTS_PER_PIXEL), picture.size.1.div_ceil(DOTS_PER_PIXEL));
    let fine = (width * DOTS_PER_PIXEL, height * DOTS_PER_PIXEL);
    let mut dots = vec![255; fine.0 as usize * fine.1 as usize * 3];
    {
        let mut backend = BitMapBackend::with_buffer(&mut dots, fine);
        picture.shapes.iter().try_for_each(|shape| paint(&mut backend, shape))?;
        backend.present()?;
    }
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut file, width, height);
    encoder.set_color(::png::ColorType::Rgb);
    let per_metre = (DOTS_PER_MM * 1000.0 / f64::from(DOTS_PER_PIXEL)).round() as u32;
    encoder.set_pixel_dims(Some(::png::PixelDimensions { xppu: per_metre, yppu: per_metre, unit: ::png::Unit::Meter }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&averaged(&dots, width as usize))?;
    writer.finish()?;
    Ok(file)
}

/// Each pixel is the mean of its dots; `width` is in pixels.
fn averaged(dots: &[u8], width: usize) -> Vec<u8> {
    let side = DOTS_PER_PIXEL as usize;
    let mut pixels = Vec::with_capacity(dots.len() / (side * side));
    for lines in dots.chunks_exact(width * side * side * 3) {
        let mut sums = vec![0_u16; width * 3];
        for (index, dot) in lines.iter().enumerate() {
            sums[index / 3 % (width * side) / side * 3 + index % 3] += u16::from(*dot);
        }
        let count = DOTS_PER_PIXEL as u16 * DOTS_PER_PIXEL as u16;
        pixels.extend(sums.iter().map(|sum| ((sum + count / 2) / count) as u8));
    }
    pixels
}

/// The outcome of a call of the backend.
type Drawn = Result<(), DrawingErrorKind<<BitMapBackend<'static> as DrawingBackend>::ErrorType>>;

const fn rgb(color: Rgb) -> RGBColor {
    RGBColor(color.0, color.1, color.2)
}

fn paint(backend: &mut BitMapBackend<'_>, shape: &Shape) -> Drawn {
    match shape {
        Shape::Path { points, color, width } => line(backend, points, rgb(*color), *width),
        Shape::Polygon { points, color: Some(color) } => backend.fill_polygon(points.clone(), &rgb(*color).filled()),
        Shape::Circle { center, radius, color, width } => {
            let style = rgb(*color).stroke_width(width.unwrap_or(1));
            backend.draw_circle(*center, *radius, &style, width.is_none())
        }
        Shape::Text { text, at: (x, y), em, align, up, color } => {
            let width = Size(*em).width(text);
            let before = match align {
                HPos::Left => 0.0,
                HPos::Center => width / 2.0,
                HPos::Right => width,
            };
            let before = before.round() as i32;
            // plotters sets the baseline half of the font's size below the top.
            let above = (em * LINE_EM / 2.0).round() as i32;
            let size = Size(em / DOTS_PER_MM);
            let style = if *up { size.style_up(*color) } else { size.style(*color) };
            let at = if *up { (x - above, y + before) } else { (x - before, y - above) };
            backend.draw_text(text, &style.pos(Pos::new(HPos::Left, VPos::Top)), at)
        }
        Shape::Polygon { color: None, .. } | Shape::Open(_) | Shape::Close => Ok(()),
    }
}

/// A line with round corners. plotters fills the outline of a wide line, which fails at sharp corners: each piece is
/// drawn by itself.
fn line(backend: &mut BitMapBackend<'_>, points: &[At], color: RGBColor, width: u32) -> Drawn {
    for ends in points.windows(2) {
        backend.draw_path(ends.to_vec(), &color.stroke_width(width))?;
    }
    let closed = points.len() > 2 && points.first() == points.last();
    let inner = points.get(1..points.len().saturating_sub(1)).unwrap_or_default();
    for &corner in inner.iter().chain(points.first().filter(|_| closed)) {
        backend.draw_circle(corner, width / 2, &color.filled(), true)?;
    }
    Ok(())
}
