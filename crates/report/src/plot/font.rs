//! The font of all pictures. It is bundled, so that pictures are alike on every machine.

use std::sync::OnceLock;

use plotters::style::{Color, FontDesc, FontFamily, FontStyle, FontTransform, RGBColor, TextStyle, register_font};

use super::paper::DOTS_PER_MM;

/// The bundled font, and what the reader of an SVG may use instead: all of them have the same widths.
pub(super) const FAMILY: &str = "Arimo, Liberation Sans, Arial, Helvetica, sans-serif";

/// `font/README.md` names its source.
pub(super) static ARIMO: &[u8] = include_bytes!("font/Arimo-Regular.ttf");

/// Ascent and descent of Arimo together, in em: plotters' size of a font that it measures.
const MEASURED_EM: f64 = (1854.0 + 434.0) / 2048.0;

/// Plotters' size of a font that it writes, in em.
const WRITTEN_EM: f64 = 1.24;

/// The height of a capital, in em.
pub(super) const CAPITAL_EM: f64 = 1409.0 / 2048.0;

/// From one baseline to the next, in em.
pub(super) const LINE_HEIGHT_EM: f64 = 1.2;

/// A size of text: mm per em.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size(pub(super) f64);

const fn points(points: f64) -> Size {
    Size(points * 25.4 / 72.0)
}

impl Size {
    pub(super) const TITLE: Size = points(8.5);
    /// Size of the titles of axes.
    pub(super) const LABEL: Size = points(7.5);
    /// Size of ticks and the legend.
    pub(super) const TICK: Size = points(7.0);
    /// Size of notes, and of numbers in cells.
    pub(super) const NOTE: Size = points(6.0);

    /// From one baseline to the next, in mm.
    pub(super) fn line(self) -> f64 {
        self.0 * LINE_HEIGHT_EM
    }

    /// The height of a capital, in mm.
    pub(super) fn capital(self) -> f64 {
        self.0 * CAPITAL_EM
    }

    /// The width of a text, in mm.
    pub(super) fn width(self, text: &str) -> f64 {
        // plotters gives whole dots: measured at a large size.
        const DOTS_PER_EM: f64 = 1000.0;
        let ((left, _), (right, _)) =
            described(DOTS_PER_EM * MEASURED_EM).layout_box(text).expect("the bundled font is registered");
        f64::from(right - left) / DOTS_PER_EM * self.0
    }

    /// plotters' style of a text of this size.
    pub(super) fn style(self, color: RGBColor) -> TextStyle<'static> {
        let color = color.to_backend_color();
        TextStyle { color, ..TextStyle::from(described(self.0 * DOTS_PER_MM * WRITTEN_EM)) }
    }

    /// The same for a text that runs from bottom to top.
    pub(super) fn style_up(self, color: RGBColor) -> TextStyle<'static> {
        self.style(color).transform(FontTransform::Rotate270)
    }

    /// The text, cut at its end with an ellipsis where it is wider than `width` mm.
    pub(super) fn fit(self, text: &str, width: f64) -> String {
        let mut short = text.to_owned();
        let mut shown = text.to_owned();
        while self.width(&shown) > width {
            if short.pop().is_none() {
                return String::new();
            }
            shown = format!("{}…", short.trim_end());
        }
        shown
    }

    /// The text in lines of at most `width` mm, broken after spaces, hyphens and similar characters, but not within a
    /// hexadecimal number; longer words are cut.
    pub(super) fn wrap(self, text: &str, width: f64) -> Vec<String> {
        let mut lines = vec![String::new()];
        for piece in text.split_inclusive(' ').flat_map(pieces) {
            let line = lines.last_mut().expect("there is a line from the beginning");
            let longer = format!("{line}{piece}");
            if line.is_empty() || self.width(longer.trim_end()) <= width {
                *line = longer;
            } else {
                lines.push(piece.to_owned());
            }
        }
        lines.iter().map(|line| self.fit(line.trim(), width)).collect()
    }

    /// The text in as few lines as [`Size::wrap`] needs, of about the same length: no last line of a single word.
    pub(super) fn balanced(self, text: &str, width: f64) -> Vec<String> {
        const WIDTHS: i32 = 40;
        let lines = self.wrap(text, width);
        let letters = |lines: &[String]| lines.concat().replace(' ', "");
        let is_as_good = |other: &Vec<String>| other.len() == lines.len() && letters(other) == letters(&lines);
        let mut narrower = (1..WIDTHS).map(|part| self.wrap(text, width * f64::from(part) / f64::from(WIDTHS)));
        narrower.find(is_as_good).unwrap_or(lines)
    }
}

/// The pieces of a word, after each of which a line may end.
fn pieces(word: &str) -> Vec<&str> {
    if word.starts_with("0x") { vec![word] } else { word.split_inclusive([' ', '-', '_', '/', '+', ',']).collect() }
}

/// The font at a size as plotters counts it.
fn described(size: f64) -> FontDesc<'static> {
    static REGISTERED: OnceLock<()> = OnceLock::new();
    REGISTERED.get_or_init(|| {
        assert!(register_font(FAMILY, FontStyle::Normal, ARIMO).is_ok(), "the bundled font is a font");
    });
    FontDesc::new(FontFamily::Name(FAMILY), size, FontStyle::Normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_wide_as_its_letters() {
        // An Arial "m" is 1706 of 2048, an "i" 455.
        let size = Size(2.048);
        assert!((size.width("mmmm") - 4.0 * 1.706).abs() < 0.02, "{}", size.width("mmmm"));
        assert!((size.width("iiii") - 4.0 * 0.455).abs() < 0.02);
        assert!(size.width("").abs() < 1e-9);
    }

    #[test]
    fn a_wrapped_or_cut_text_fits() {
        let text = "copy 4 KiB, same-subarray under the policy least-energy";
        for width in [8.0, 12.0, 20.0, 40.0, 200.0] {
            for line in Size::TICK.wrap(text, width) {
                assert!(Size::TICK.width(&line) <= width, "{line:?} in {width} mm");
            }
            assert!(Size::TICK.width(&Size::TICK.fit(text, width)) <= width);
        }
        assert_eq!(Size::TICK.wrap(text, 200.0), [text]);
        assert_eq!(Size::TICK.wrap("same-subarray", 10.0), ["same-", "subarray"]);
        assert_eq!(Size::TICK.wrap("from 0x0040_0000", 16.0), ["from", "0x0040_0000"]);
    }

    #[test]
    fn the_lines_of_a_title_are_about_as_long_as_each_other() {
        let title = "Page copies after a fork: mechanism by address map and allocator";
        assert_eq!(Size::TITLE.wrap(title, 83.4)[1], "allocator");
        assert_eq!(
            Size::TITLE.balanced(title, 83.4),
            ["Page copies after a fork: mechanism", "by address map and allocator"]
        );
        assert_eq!(Size::TITLE.balanced("Latency of a copy", 83.4), ["Latency of a copy"]);
        let cut = "a-name-without-any-end-that-does-not-fit".replace('-', "");
        assert_eq!(Size::TITLE.balanced(&cut, 20.0), Size::TITLE.wrap(&cut, 20.0));
    }

    #[test]
    fn the_font_has_the_letters_of_units() {
        for text in ["µs", "×", "≈", "°C", "…", "−"] {
            assert!(Size::TICK.width(text) > 0.0, "{text}");
        }
    }
}
