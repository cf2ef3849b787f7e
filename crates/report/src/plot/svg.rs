//! Writes a picture as SVG: marks have titles and take the focus, and colors follow the reader's light or dark scheme.

use std::fmt::Write as _;

use plotters::style::text_anchor::HPos;

use super::canvas::{At, DOTS_PER_MM, Picture, Rgb, Shape};
use super::font::{FAMILY, Size};
use super::palette::{ROLES, role};

/// The style rules of marks and of the dark scheme. On paper pictures are light.
pub fn style_sheet() -> String {
    let mut sheet = ".mark:focus{outline:none}.mark:focus>*,.mark:hover>*{stroke:#d4006a;stroke-width:18}\n".to_owned();
    sheet += "@media screen and (prefers-color-scheme:dark){";
    for (index, (_, dark)) in ROLES.iter().enumerate() {
        let _ = write!(sheet, ".f{index}{{fill:{dark}}}.s{index}{{stroke:{dark}}}");
    }
    sheet + "}\n"
}

/// The picture as a document of its own, with the width at which it is to be printed.
pub fn svg(picture: &Picture) -> String {
    let (width, height) = picture.size;
    let mm = |dots: u32| f64::from(dots) / DOTS_PER_MM;
    let root = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.2}mm\" height=\"{:.2}mm\" ",
        mm(width),
        mm(height)
    );
    format!("{root}{}<style>\n{}</style>\n{}", opening(picture), style_sheet(), body(picture))
}

/// The picture as a part of an HTML page that has the [`style_sheet`]; it is as wide as its place.
pub fn inline_svg(picture: &Picture) -> String {
    format!("<svg class=\"chart\" {}{}", opening(picture), body(picture))
}

/// The attributes of the root element and the title.
fn opening(picture: &Picture) -> String {
    let ((width, height), title) = (picture.size, escaped(&picture.title));
    format!(
        "viewBox=\"0 0 {width} {height}\" role=\"group\" aria-label=\"{title}\" font-family=\"{FAMILY}\" \
         stroke-linejoin=\"round\">\n<title>{title}</title>\n"
    )
}

fn body(picture: &Picture) -> String {
    let mut text = String::new();
    for shape in &picture.shapes {
        write_shape(&mut text, shape).expect("writing to a string cannot fail");
    }
    text + "</svg>\n"
}

fn write_shape(text: &mut String, shape: &Shape) -> std::fmt::Result {
    match shape {
        Shape::Path { points, color, width } => {
            writeln!(text, "<path{} stroke-width=\"{width}\" d=\"M{}\"/>", stroke(*color), joined(points))
        }
        Shape::Polygon { points, color: Some(color) } => {
            writeln!(text, "<path{} d=\"M{}Z\"/>", fill(*color), joined(points))
        }
        Shape::Polygon { points, color: None } => {
            writeln!(text, "<path fill=\"none\" pointer-events=\"all\" d=\"M{}Z\"/>", joined(points))
        }
        Shape::Circle { center: (x, y), radius, color, width } => {
            let paint = match width {
                Some(width) => format!("{} stroke-width=\"{width}\"", stroke(*color)),
                None => fill(*color),
            };
            writeln!(text, "<circle{paint} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>")
        }
        Shape::Text { text: words, at: (x, y), em, align, up, color } => {
            let anchor = match align {
                HPos::Left => "",
                HPos::Center => " text-anchor=\"middle\"",
                HPos::Right => " text-anchor=\"end\"",
            };
            let turned = if *up { format!(" transform=\"rotate(270 {x} {y})\"") } else { String::new() };
            // Whatever font the reader has, the text is as wide as in the layout.
            let (paint, width) = (fill(*color), Size(*em).width(words).round());
            writeln!(
                text,
                "<text{paint} x=\"{x}\" y=\"{y}\"{anchor}{turned} font-size=\"{em:.0}\" textLength=\"{width}\" \
                 lengthAdjust=\"spacingAndGlyphs\">{}</text>",
                escaped(words)
            )
        }
        Shape::Open(title) => {
            writeln!(text, "<g class=\"mark\" role=\"img\" tabindex=\"0\"><title>{}</title>", escaped(title))
        }
        Shape::Close => writeln!(text, "</g>"),
    }
}

fn joined(points: &[At]) -> String {
    points.iter().map(|(x, y)| format!("{x} {y}")).collect::<Vec<_>>().join("L")
}

/// A color as an attribute, which programs without style rules read, and as a class, which the dark scheme recolors.
fn paint(property: &str, letter: char, color: Rgb) -> String {
    let class = role(color).map_or(String::new(), |index| format!(" class=\"{letter}{index}\""));
    format!("{class} {property}=\"#{:02x}{:02x}{:02x}\"", color.0, color.1, color.2)
}

fn fill(color: Rgb) -> String {
    paint("fill", 'f', color)
}

fn stroke(color: Rgb) -> String {
    paint("stroke", 's', color) + " fill=\"none\""
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
