//! Plots: a table becomes a [`Chart`], a chart a [`Picture`], and a picture an SVG document or a PNG file.
//!
//! Pictures are made for a paper's column: 85 mm wide, with letters of 6 points and more. Colours are those that the
//! colour-blind can tell apart, and each series has a shape of mark, or a hatching, of its own besides. Nothing here knows
//! a file's name.

mod bars;
mod chart;
mod entries;
mod font;
mod frame;
mod heat;
mod layout;
mod legend;
mod lines;
mod paint;
mod palette;
mod picture;
mod request;
mod scale;
mod table;
#[cfg(test)]
mod tests;
mod unit;

pub use chart::{Across, Axis, Categories, Chart, Crossover, Kind, Point, Series};
pub use paint::{PaintError, png, svg};
pub use picture::Picture;
pub use request::{Drawing, Request};
pub use scale::Spacing;
pub use table::{Condition, Table, TableError};
pub use unit::Unit;
