//! Draws a chart: plotters draws the axes where the layout has room for them.

use std::cell::RefCell;

use plotters::chart::ChartBuilder;
use plotters::coord::CoordTranslate;
use plotters::style::RGBColor;

use super::canvas::{BELOW, Canvas, RIGHT, stroke};
use super::chart::{Chart, ChartKind, Joined};
use super::font::Size;
use super::layout::{COLORS, EDGE, Extent, Layout, TICK};
use super::legend::{self, LegendEntry};
use super::marks::{self, Marks};
use super::palette::{self, FAINT, INK, LINE, PAPER, RULE};
use super::paper::dots;
use super::scale::{Plane, Scale};
use super::svg::Picture;

impl Picture {
    /// A chart as it is drawn.
    ///
    /// # Panics
    /// Never: writing into a string does not fail, and the font is bundled.
    pub fn of(chart: &Chart, extent: Extent) -> Picture {
        let layout = Layout::of(chart, extent);
        let size = (extent.width, layout.top() + layout.height + layout.below + layout.note_height() + EDGE);
        let size = (dots(size.0).unsigned_abs(), dots(size.1).unsigned_abs());
        let elements = RefCell::new(String::new());
        let canvas = Canvas { size, elements: &elements };
        canvas.rectangle((0, 0), (size.0.cast_signed(), size.1.cast_signed()), PAPER);
        layout.draw(canvas);
        Picture { title: chart.title.clone(), size, elements: elements.into_inner() }
    }
}

impl Layout<'_> {
    fn draw(&self, canvas: Canvas<'_>) {
        lines(canvas, &self.title, (self.extent.width / 2.0, EDGE), Size::TITLE, INK);
        let end = self.top() + self.height + self.below + 0.6;
        lines(canvas, &self.note, (self.extent.width / 2.0, end), Size::NOTE, FAINT);
        self.draw_legend(canvas);
        self.draw_titles(canvas);
        let plane = self.draw_axes(canvas);
        let (y, slots) = if self.lying { (&self.across, self.height) } else { (&self.up, self.width()) };
        let slot = slots / marks::categories(self.chart) as f64;
        let marks = Marks { chart: self.chart, canvas, plane: &plane, y, slot, lying: self.lying };
        if let Some(colors) = &self.colors {
            marks.draw_cells(colors, (slot, self.height / self.chart.series.len() as f64));
            return self.draw_colors(canvas, colors);
        }
        self.draw_crossovers(canvas, &plane);
        self.draw_lines(&marks);
        if self.chart.kind == ChartKind::Stacked {
            marks.draw_stacked();
        } else {
            (0..self.chart.series.len()).for_each(|index| marks.draw_series(index));
        }
        marks.draw_published();
    }

    /// Draws the grid and both axes with their labels.
    fn draw_axes(&self, canvas: Canvas<'_>) -> Plane {
        canvas.draw(|root| {
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
            mesh.bold_line_style(stroke(RULE, 0.15))
                .axis_style(stroke(INK, 0.2))
                .label_style(Size::TICK.style(INK))
                .set_all_tick_mark_size(dots(TICK))
                .draw()?;
            Ok(chart.plotting_area().as_coord_spec().clone())
        })
    }

    fn draw_lines(&self, marks: &Marks<'_>) {
        let chart = self.chart;
        let lines: Vec<_> = match chart.joined {
            _ if chart.kind != ChartKind::Lines => return,
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
            marks.canvas.line(points, palette::color(index), LINE, palette::dashes(index));
        }
    }

    fn draw_legend(&self, canvas: Canvas<'_>) {
        let style = Size::TICK.style(INK).pos(RIGHT);
        for (index, row) in self.legend.iter().enumerate() {
            let middle = dots(self.legend_top() + (index as f64 + 0.5) * legend::ROW);
            for LegendEntry { sign, text, left } in row {
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
        let at = (dots(left), dots(self.top() + self.height / 2.0));
        let lines = Size::LABEL.balanced(title, self.height);
        canvas.text(&lines.join("\n"), &Size::LABEL.style_up(INK).pos(BELOW), at);
    }

    fn draw_crossovers(&self, canvas: Canvas<'_>, plane: &Plane) {
        for crossover in &self.chart.crossovers {
            let ends = [self.up.from, self.up.to].map(|end| plane.translate(&(crossover.x, end)));
            canvas.line(ends, FAINT, 0.2, Some((0.8, 0.6)));
        }
    }

    /// The scale of colors at the right of a heat map.
    fn draw_colors(&self, canvas: Canvas<'_>, colors: &Scale) {
        const STEPS: i32 = 100;
        let (left, end) = (dots(self.extent.width - self.right + COLORS.0), self.extent.width - EDGE);
        let (top, bottom) = (dots(self.top()), dots(self.top() + self.height));
        for index in 0..STEPS {
            let up = |index: i32| bottom + (top - bottom) * index / STEPS;
            let color = palette::heat((f64::from(index) + 0.5) / f64::from(STEPS));
            // A little over its neighbor, so that no seam is seen.
            canvas.rectangle((left, up(index + 1)), (left + dots(COLORS.1), up(index) + 2), color);
        }
        canvas.draw(|root| {
            let below = dots(self.below + self.note_height() + EDGE);
            let area = root.margin(top, below, left + dots(COLORS.1), dots(EDGE));
            ChartBuilder::on(&area)
                .right_y_label_area_size(area.dim_in_pixel().0 - 1)
                .build_cartesian_2d(0..1, colors.clone())?
                .configure_mesh()
                .disable_mesh()
                .axis_style(stroke(INK, 0.2))
                .label_style(Size::TICK.style(INK))
                .set_all_tick_mark_size(dots(TICK))
                .draw()
        });
        let lines = Size::LABEL.balanced(&colors.title, self.height).len() as f64;
        self.draw_title_up(canvas, &colors.title, end - lines * Size::LABEL.line());
    }
}

/// Draws lines of text around a middle, from a top on, in mm.
fn lines(canvas: Canvas<'_>, lines: &[String], (middle, top): (f64, f64), size: Size, color: RGBColor) {
    canvas.text(&lines.join("\n"), &size.style(color).pos(BELOW), (dots(middle), dots(top)));
}
