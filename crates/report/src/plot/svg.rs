//! Pictures as SVG: marks have titles and take the focus, and colors follow the reader's light or dark scheme.

use std::fmt::Write as _;

use plotters::style::RGBColor;

use super::canvas::escaped;
use super::font::FAMILY;
use super::palette::ROLES;
use super::paper::DOTS_PER_MM;

/// A chart as it is drawn.
#[derive(Clone)]
pub struct Picture {
    /// The title of the chart, for readers who do not see it.
    pub(super) title: String,
    /// Width and height in dots.
    pub(super) size: (u32, u32),
    /// The elements of the SVG document.
    pub(super) elements: String,
}

impl Picture {
    /// The number of marks.
    pub fn values(&self) -> usize {
        self.elements.matches("<g class=\"mark\"").count()
    }
}

/// The style rules of marks and of the dark scheme. On paper pictures are light.
pub fn style_sheet() -> String {
    let mut sheet = ".mark:focus{outline:none}.mark:focus>*,.mark:hover>*{stroke:#d4006a;stroke-width:18}\n".to_owned();
    sheet += "@media screen and (prefers-color-scheme:dark){";
    for (RGBColor(red, green, blue), dark) in ROLES {
        for property in ["fill", "stroke"] {
            // As plotters writes a color.
            let _ = write!(sheet, "[{property}=\"#{red:02X}{green:02X}{blue:02X}\"]{{{property}:{dark}}}");
        }
    }
    sheet + "}\n"
}

/// The picture as a document of its own, with the width at which it is to be printed.
pub fn svg(picture: &Picture) -> String {
    let (width, height) = picture.size;
    let mm = |dots: u32| f64::from(dots) / DOTS_PER_MM;
    let size = format!("width=\"{:.2}mm\" height=\"{:.2}mm\"", mm(width), mm(height));
    root(
        picture,
        &format!("xmlns=\"http://www.w3.org/2000/svg\" {size}"),
        &format!("<style>\n{}</style>\n", style_sheet()),
    )
}

/// The picture as a part of an HTML page that has the [`style_sheet`]; it is as wide as its place.
pub fn inline_svg(picture: &Picture) -> String {
    root(picture, "class=\"chart\"", "")
}

/// The root element.
fn root(picture: &Picture, attributes: &str, style: &str) -> String {
    let ((width, height), title, elements) = (picture.size, escaped(&picture.title), &picture.elements);
    format!(
        "<svg {attributes} viewBox=\"0 0 {width} {height}\" role=\"group\" aria-label=\"{title}\" \
         font-family=\"{FAMILY}\" stroke-linejoin=\"round\">\n<title>{title}</title>\n{style}{elements}</svg>\n"
    )
}
