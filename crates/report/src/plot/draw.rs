//! Draws a chart: plotters draws the axes where the layout has room for them.

use std::cell::RefCell;

use plotters::chart::ChartBuilder;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::{CoordTranslate, Shift};
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Canvas, Fault, Picture, Rgb, dots};
use super::chart::{Chart, Joined, Kind};
use super::font::Size;
use super::layout::{COLORS, EDGE, Extent, Layout, TICK};
use super::legend::{self, Entry};
use super::marks::{self, Marks};
use super::palette::{self, FAINT, INK, LINE, PAPER, RULE};
use super::scale::{Ends, Scale};

/// Text around its place.
pub(super) const CENTER: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Center };
const TOP: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Top };

/// Places of values on the paper.
pub(super) type Plane = Cartesian2d<Scale, Scale>;

impl Picture {
    /// A chart as it is drawn.
    ///
    /// # Panics
    /// Never: the canvas takes everything, and the font is bundled.
    pub fn of(chart: &Chart, extent: Extent) -> Picture {
        let layout = Layout::of(chart, extent);
        let size = (extent.width, layout.top() + layout.height + layout.below + layout.note_height() + EDGE);
        let size = (dots(size.0).unsigned_abs(), dots(size.1).unsigned_abs());
        let shapes = RefCell::new(Vec::new());
        let canvas = Canvas { size, shapes: &shapes };
        canvas.rectangle((0, 0), (size.0.cast_signed(), size.1.cast_signed()), PAPER);
        layout.draw(canvas).expect("the canvas takes everything");
        Picture { title: chart.title.clone(), size, shapes: shapes.into_inner() }
    }
}

impl Layout<'_> {
    fn draw(&self, canvas: Canvas<'_>) -> Result<(), Fault> {
        lines(canvas, &self.title, (self.extent.width / 2.0, EDGE), Size::TITLE, INK);
        let end = self.top() + self.height + self.below + 0.6;
        lines(canvas, &self.note, (self.extent.width / 2.0, end), Size::NOTE, FAINT);
        self.draw_legend(canvas);
        self.draw_titles(canvas);
        let plane = self.draw_axes(canvas)?;
        let (y, slots) = if self.lying { (&self.across, self.height) } else { (&self.up, self.width()) };
        let slot = slots / marks::categories(self.chart) as f64;
        let marks = Marks { chart: self.chart, canvas, plane: &plane, y, slot, lying: self.lying };
        if let Some(colors) = &self.colors {
            marks.draw_cells(colors, (slot, self.height / self.chart.series.len() as f64));
            self.draw_more_lines(canvas, &plane);
            return self.draw_colors(canvas, colors);
        }
        self.draw_crossovers(canvas, &plane);
        self.draw_lines(&marks);
        if self.chart.kind == Kind::Stacked {
            marks.draw_stacked();
        } else {
            (0..self.chart.series.len()).for_each(|index| marks.draw_series(index));
        }
        marks.draw_published();
        self.draw_more_lines(canvas, &plane);
        Ok(())
    }

    /// Draws the grid and both axes with their labels.
    fn draw_axes(&self, canvas: Canvas<'_>) -> Result<Plane, Fault> {
        let root: DrawingArea<Canvas<'_>, Shift> = canvas.into_drawing_area();
        let area = root.margin(dots(self.top()), dots(self.note_height() + EDGE), 0, dots(self.right));
        let mut chart = ChartBuilder::on(&area)
            .x_label_area_size(dots(self.below))
            .y_label_area_size(dots(self.left))
            .build_cartesian_2d(self.across.clone(), self.up.clone())?;
        let mut mesh = chart.configure_mesh();
        if self.colors.is_some() || self.lying {
            mesh.disable_y_mesh();
        }
        if !self.lying {
            mesh.disable_x_mesh();
        }
        mesh.bold_line_style(palette::stroke(RULE, 0.15))
            .axis_style(palette::stroke(INK, 0.2))
            .label_style(Size::TICK.style(INK))
            .set_all_tick_mark_size(dots(TICK))
            .draw()?;
        Ok(chart.plotting_area().as_coord_spec().clone())
    }

    fn draw_lines(&self, marks: &Marks<'_>) {
        let chart = self.chart;
        let lines: Vec<_> = match chart.joined {
            _ if chart.kind != Kind::Lines => return,
            Joined::Series => chart.series.iter().enumerate().collect(),
            Joined::Published => chart
                .published
                .iter()
                .enumerate()
                .map(|(index, series)| (legend::look(chart, index).0, series))
                .collect(),
        };
        for (index, series) in lines {
            let points: Vec<_> = series.points.iter().map(|point| marks.at(point.x, point.median())).collect();
            match palette::dashes(index) {
                None => marks.canvas.line(points, palette::color(index), LINE),
                Some(dashes) => marks.canvas.dashed(points, dashes, palette::color(index), LINE),
            }
        }
    }

    /// The second and third lines of the labels below: plotters writes one line.
    fn draw_more_lines(&self, canvas: Canvas<'_>, plane: &Plane) {
        let bottom = self.top() + self.height + 2.0 * TICK;
        for tick in &self.across.ticks {
            let (x, _) = plane.translate(&(tick.value, self.up.from));
            for (index, line) in tick.lines.iter().enumerate().skip(1) {
                let y = dots(bottom + index as f64 * Size::TICK.line());
                canvas.text(line, &Size::TICK.style(INK).pos(TOP), (x, y));
            }
        }
    }

    fn draw_legend(&self, canvas: Canvas<'_>) {
        let style = Size::TICK.style(INK).pos(Pos::new(HPos::Left, VPos::Center));
        for (index, row) in self.legend.iter().enumerate() {
            let middle = dots(self.legend_top() + (index as f64 + 0.5) * legend::ROW);
            for Entry { sign, text, left } in row {
                legend::draw_sign(canvas, *sign, (dots(EDGE + left), middle));
                canvas.text(text, &style, (dots(EDGE + left + legend::TEXT), middle));
            }
        }
    }

    /// The titles of the axes: that below, and that at the left from bottom to top.
    fn draw_titles(&self, canvas: Canvas<'_>) {
        let below = Size::LABEL.balanced(&self.across.title, self.width());
        let bottom = self.top() + self.height + self.below - below.len() as f64 * Size::LABEL.line();
        lines(canvas, &below, (self.left + self.width() / 2.0, bottom), Size::LABEL, INK);
        self.draw_title_up(canvas, &self.up.title, EDGE);
    }

    fn draw_title_up(&self, canvas: Canvas<'_>, title: &str, left: f64) {
        for (index, line) in Size::LABEL.balanced(title, self.height).iter().enumerate() {
            let at = (dots(left + index as f64 * Size::LABEL.line()), dots(self.top() + self.height / 2.0));
            canvas.text(line, &Size::LABEL.style_up(INK).pos(TOP), at);
        }
    }

    fn draw_crossovers(&self, canvas: Canvas<'_>, plane: &Plane) {
        let style = Size::NOTE.style(FAINT).pos(Pos::new(HPos::Left, VPos::Bottom));
        for (value, left, row, text) in &self.crossovers {
            let (x, bottom) = plane.translate(&(*value, self.up.from));
            let baseline = dots(self.top() - 1.0 - *row as f64 * Size::NOTE.line());
            // Up to the lowest row, whose texts it would cut.
            canvas.dashed(vec![(x, bottom), (x, dots(self.top() - 1.0))], (0.8, 0.6), FAINT, 0.2);
            canvas.text(text, &style, (dots(*left), baseline));
        }
    }

    /// The scale of colors at the right of a heat map.
    fn draw_colors(&self, canvas: Canvas<'_>, colors: &Scale) -> Result<(), Fault> {
        const STEPS: i32 = 100;
        let (left, end) = (self.extent.width - self.right + COLORS.0, self.extent.width - EDGE);
        let room = Layout::beside(colors, self.height);
        let root: DrawingArea<Canvas<'_>, Shift> = canvas.into_drawing_area();
        let area = root.margin(dots(self.top()), dots(self.below + self.note_height() + EDGE), dots(left), dots(EDGE));
        let mut unit = Scale::round(&self.chart.y, &[], Ends::Near, 3);
        unit.ticks.clear();
        let mut chart = ChartBuilder::on(&area)
            .right_y_label_area_size(dots(room))
            .build_cartesian_2d(unit.clone(), colors.clone())?;
        let place = |x: f64, y: f64| chart.plotting_area().map_coordinate(&(x, y));
        let (from, to) = (place(unit.from, colors.from), place(unit.to, colors.to));
        for index in 0..STEPS {
            let up = |index: i32| from.1 + (to.1 - from.1) * index / STEPS;
            let color = palette::heat((f64::from(index) + 0.5) / f64::from(STEPS));
            // A little over its neighbor, so that no seam is seen.
            canvas.rectangle((from.0, up(index + 1)), (to.0, up(index) + 2), color);
        }
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(palette::stroke(INK, 0.2))
            .label_style(Size::TICK.style(INK))
            .set_all_tick_mark_size(dots(TICK))
            .draw()?;
        let lines = Size::LABEL.balanced(&colors.title, self.height).len() as f64;
        self.draw_title_up(canvas, &colors.title, end - lines * Size::LABEL.line());
        Ok(())
    }
}

/// Draws lines of text around a middle, from a top on, in mm.
fn lines(canvas: Canvas<'_>, lines: &[String], (middle, top): (f64, f64), size: Size, color: Rgb) {
    for (index, line) in lines.iter().enumerate() {
        let at = (dots(middle), dots(top + index as f64 * size.line()));
        canvas.text(line, &size.style(color).pos(TOP), at);
    }
}
