//! Pictures as PNG.

use std::error::Error;

use png::{ColorType, Encoder, PixelDimensions, Unit};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use super::font::ARIMO;
use super::svg::{Picture, svg};

/// Dots per pixel in each direction: 300 pixels per inch.
const DOTS_PER_PIXEL: u32 = 3;

/// 300 pixels per inch.
const PIXELS_PER_METER: u32 = 11_811;

/// The SVG document of a picture as a PNG file of 300 pixels per inch, with the bundled font.
///
/// # Errors
/// Error of the renderer or of the encoder.
pub fn png(picture: &Picture) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut options = Options::default();
    options.fontdb_mut().load_font_data(ARIMO.to_vec());
    let tree = Tree::from_str(&svg(picture), &options)?;
    let (width, height) = (picture.size.0.div_ceil(DOTS_PER_PIXEL), picture.size.1.div_ceil(DOTS_PER_PIXEL));
    let mut pixels = Pixmap::new(width, height).ok_or("the picture is too large for a PNG file")?;
    pixels.fill(Color::WHITE);
    let scale = width as f32 / tree.size().width();
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(ColorType::Rgb);
    let density = PixelDimensions { xppu: PIXELS_PER_METER, yppu: PIXELS_PER_METER, unit: Unit::Meter };
    encoder.set_pixel_dims(Some(density));
    let mut writer = encoder.write_header()?;
    let colors = pixels.pixels().iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]);
    writer.write_image_data(&colors.collect::<Vec<_>>())?;
    writer.finish()?;
    Ok(file)
}
