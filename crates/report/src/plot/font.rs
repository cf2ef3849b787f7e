//! The one font of all pictures, bundled, so that they look alike on every machine.

use std::sync::OnceLock;

use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};

/// The bundled font, and what a reader of an SVG may take in its place: all of them are equally wide.
pub(super) const FAMILY: &str = "Arimo, Liberation Sans, Arial, Helvetica, sans-serif";

/// `font/README.md` says where it is from.
static ARIMO: &[u8] = include_bytes!("font/Arimo-Regular.ttf");

/// Ascent and descent of Arimo together, in em: plotters' bitmap font scales these to its size.
pub(super) const LINE_EM: f64 = (1854.0 + 434.0) / 2048.0;

/// The height of a capital, in em.
pub(super) const CAPITAL_EM: f64 = 1409.0 / 2048.0;

/// A typographic point, in mm.
const POINT_MM: f64 = 25.4 / 72.0;

/// A size of text, in mm of an em.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size(pub(super) f64);

impl Size {
    /// Of a title.
    pub(super) const TITLE: Size = Size(8.5 * POINT_MM);
    /// Of axis labels.
    pub(super) const LABEL: Size = Size(7.5 * POINT_MM);
    /// Of ticks and the legend.
    pub(super) const TICK: Size = Size(7.0 * POINT_MM);
    /// Of notes, and of numbers in cells.
    pub(super) const NOTE: Size = Size(6.0 * POINT_MM);

    /// From one baseline to the next, in mm.
    pub(super) fn line(self) -> f64 {
        self.0 * 1.2
    }

    /// The height of a capital, in mm.
    pub(super) fn capital(self) -> f64 {
        self.0 * CAPITAL_EM
    }

    /// How wide a text is, in mm.
    pub(super) fn width(self, text: &str) -> f64 {
        // Measured at a large size, for plotters gives whole pixels.
        const PIXELS_AN_EM: f64 = 1000.0;
        let font = described(PIXELS_AN_EM * LINE_EM);
        let ((left, _), (right, _)) = font.layout_box(text).expect("the bundled font is registered");
        f64::from(right - left) / PIXELS_AN_EM * self.0
    }

    /// The text, cut at its end with an ellipsis where it is wider than so many mm.
    pub(super) fn fit(self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let mut short: String = text.to_owned();
        while short.pop().is_some() {
            let cut = format!("{}…", short.trim_end());
            if self.width(&cut) <= width {
                return cut;
            }
        }
        String::new()
    }

    /// The text in lines of at most so many mm, broken after spaces, hyphens and the like; what has none is cut.
    pub(super) fn wrap(self, text: &str, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut line = String::new();
        for piece in text.split_inclusive([' ', '-', '_', '/', '+', ',']) {
            let longer = format!("{line}{piece}");
            if self.width(longer.trim_end()) <= width || line.is_empty() {
                line = longer;
            } else {
                lines.push(std::mem::replace(&mut line, piece.to_owned()));
            }
        }
        lines.push(line);
        lines.iter().map(|line| self.fit(line.trim(), width)).collect()
    }
}

/// The font at a size as plotters counts it.
pub(super) fn described(size: f64) -> FontDesc<'static> {
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
    fn texts_are_as_wide_as_their_letters() {
        // An Arial "m" is 1706 of 2048, an "i" 455.
        let size = Size(2.048);
        assert!((size.width("mmmm") - 4.0 * 1.706).abs() < 0.02, "{}", size.width("mmmm"));
        assert!((size.width("iiii") - 4.0 * 0.455).abs() < 0.02);
        assert!(size.width("").abs() < 1e-9);
    }

    #[test]
    fn what_is_wrapped_or_cut_fits() {
        let text = "copy 4 KiB, same-subarray under the policy least-energy";
        for width in [8.0, 12.0, 20.0, 40.0, 200.0] {
            for line in Size::TICK.wrap(text, width) {
                assert!(Size::TICK.width(&line) <= width, "{line:?} in {width} mm");
            }
            assert!(Size::TICK.width(&Size::TICK.fit(text, width)) <= width);
        }
        assert_eq!(Size::TICK.wrap(text, 200.0), [text]);
        assert_eq!(Size::TICK.wrap("same-subarray", 10.0), ["same-", "subarray"]);
    }

    #[test]
    fn the_font_has_the_letters_of_units() {
        for text in ["µs", "×", "≈", "°C", "…", "−"] {
            assert!(Size::TICK.width(text) > 0.0, "{text}");
        }
    }
}
