//! Charts of tables: the module lays out a [`Chart`] and its marks, plotters draws axes and elements into an SVG
//! document, the [`Picture`], and resvg makes a PNG file of it.
//!
//! A picture for a paper's column is 85 mm wide, with letters of 6 points and more. Series differ by colors that
//! color-blind readers can tell apart, and by the shape of their marks, their dashes or their hatches. This module
//! opens no file.

mod canvas;
mod chart;
mod draw;
mod drawing;
mod font;
mod layout;
mod legend;
mod marks;
mod palette;
mod paper;
mod png;
mod request;
mod scale;
mod svg;
mod table;
#[cfg(test)]
mod tests;
mod unit;
mod values;

pub use chart::{Across, Axis, BOX_MIN, Categories, Chart, ChartKind, Crossover, Joined, Point, Series, Spacing};
pub use drawing::Drawing;
pub use layout::Extent;
pub use png::png;
pub use request::ChartRequest;
pub use svg::{Picture, inline_svg, style_sheet, svg};
pub use table::{Condition, Table, TableError};
pub(crate) use unit::capitalized;
pub use unit::{Unit, number};
