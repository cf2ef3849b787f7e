//! Draws a chart: plotters places and paints its parts where the layout has room for them.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{DashedPathElement, PathElement};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_backend::DrawingBackend;

use super::canvas::{At, Canvas, Fault, Picture, Rgb, Shape, dots};
use super::chart::{Chart, Kind};
use super::font::Size;
use super::layout::{COLOURS, EDGE, Extent, Layout, TICK};
use super::legend::{self, Entry};
use super::marks::{self, Mark, Marks};
use super::palette::{self, FAINT, INK, LINE, PAPER, RULE};
use super::scale::{Ends, Scale};

/// Text around its place.
pub(super) const CENTRE: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Center };
const TOP: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Top };

type Area<'a> = DrawingArea<Canvas<'a>, Shift>;
type Chart2d<'a, 'b> = ChartContext<'b, Canvas<'a>, Cartesian2d<Scale, Scale>>;

impl Picture {
    /// A chart as it is drawn.
    ///
    /// # Panics
    /// Never: the canvas takes everything, and the font is bundled.
    pub fn of(chart: &Chart, extent: Extent) -> Picture {
        let layout = Layout::of(chart, extent);
        let size = (extent.width, layout.top() + layout.height + layout.below + layout.note_height() + EDGE);
        let size = (dots(size.0).unsigned_abs(), dots(size.1).unsigned_abs());
        let (right, bottom) = (size.0.cast_signed(), size.1.cast_signed());
        let paper =
            Shape::Polygon { points: vec![(0, 0), (right, 0), (right, bottom), (0, bottom)], colour: Some(PAPER) };
        let mut picture = Picture { title: chart.title.clone(), size, shapes: vec![paper] };
        layout.draw(&Canvas(&mut picture).into_drawing_area()).expect("the canvas takes everything");
        picture
    }
}

impl Layout<'_> {
    fn draw(&self, root: &Area<'_>) -> Result<(), Fault> {
        lines(root, &self.title, (self.extent.width / 2.0, EDGE), Size::TITLE, INK)?;
        let end = self.top() + self.height + self.below + 0.6;
        lines(root, &self.note, (self.extent.width / 2.0, end), Size::NOTE, FAINT)?;
        self.draw_legend(root)?;
        self.draw_titles(root)?;
        let area = root.margin(dots(self.top()), dots(self.note_height() + EDGE), 0, dots(self.right));
        let mut chart = ChartBuilder::on(&area)
            .x_label_area_size(dots(self.below))
            .y_label_area_size(dots(self.left))
            .build_cartesian_2d(self.across.clone(), self.up.clone())?;
        let mut mesh = chart.configure_mesh();
        if self.colours.is_some() || self.lying {
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
        self.draw_marks(&mut chart, root)
    }

    fn draw_marks(&self, chart: &mut Chart2d<'_, '_>, root: &Area<'_>) -> Result<(), Fault> {
        if let Some(colours) = &self.colours {
            let cell =
                (self.width() / marks::categories(self.chart) as f64, self.height / self.chart.series.len() as f64);
            chart.draw_series(marks::cells(self.chart, colours, cell))?;
            self.draw_more_lines(chart, root)?;
            return self.draw_colours(root, colours);
        }
        self.draw_crossovers(chart, root)?;
        let (values, slots) = if self.lying { (&self.across, self.height) } else { (&self.up, self.width()) };
        let slot = slots / marks::categories(self.chart) as f64;
        let made = Marks { chart: self.chart, y: values, slot, lying: self.lying };
        self.draw_lines(chart, &made)?;
        if self.chart.kind == Kind::Stacked {
            chart.draw_series(made.stacked())?;
        } else {
            for index in 0..self.chart.series.len() {
                let of_series = made.of_series(index);
                let to_dots = |place: &_| chart.plotting_area().map_coordinate(place);
                let drawn = match self.chart.kind {
                    Kind::Lines => marks::without_crowding(of_series, to_dots),
                    _ => of_series,
                };
                chart.draw_series(drawn)?;
            }
        }
        chart.draw_series(made.all_published())?;
        self.draw_more_lines(chart, root)
    }

    fn draw_lines(&self, chart: &mut Chart2d<'_, '_>, made: &Marks<'_>) -> Result<(), Fault> {
        let lines = self.chart.series.iter().enumerate().filter(|_| self.chart.kind == Kind::Lines);
        for (index, series) in lines {
            let style = palette::stroke(palette::colour(index), LINE);
            let points: Vec<_> = series.points.iter().map(|point| made.at(point.x, point.median())).collect();
            match palette::dashes(index) {
                None => chart.draw_series([PathElement::new(points, style)])?,
                Some((stroke, gap)) => {
                    chart.draw_series([DashedPathElement::new(points, dots(stroke), dots(gap), style)])?
                }
            };
        }
        Ok(())
    }

    /// The second and third lines of the labels below: plotters writes one line.
    fn draw_more_lines(&self, chart: &Chart2d<'_, '_>, root: &Area<'_>) -> Result<(), Fault> {
        let bottom = self.top() + self.height + 2.0 * TICK;
        for tick in &self.across.ticks {
            let (x, _) = chart.plotting_area().map_coordinate(&(tick.value, self.up.from));
            for (index, line) in tick.lines.iter().enumerate().skip(1) {
                let y = dots(bottom + index as f64 * Size::TICK.line());
                root.draw_text(line, &Size::TICK.style(INK).pos(TOP), (x, y))?;
            }
        }
        Ok(())
    }

    fn draw_legend(&self, root: &Area<'_>) -> Result<(), Fault> {
        for (index, row) in self.legend.iter().enumerate() {
            let middle = dots(self.legend_top() + (index as f64 + 0.5) * legend::ROW);
            for Entry { sign, text, left } in row {
                let sign = Mark {
                    anchors: vec![(dots(EDGE + left), middle)],
                    title: None,
                    paint: Box::new(move |canvas: &mut Canvas<'_>, at: &[At]| legend::draw_sign(canvas, *sign, at[0])),
                };
                root.draw(&sign)?;
                let style = Size::TICK.style(INK).pos(Pos::new(HPos::Left, VPos::Center));
                root.draw_text(text, &style, (dots(EDGE + left + legend::TEXT), middle))?;
            }
        }
        Ok(())
    }

    /// The titles of the axes: that below, and that at the left from bottom to top.
    fn draw_titles(&self, root: &Area<'_>) -> Result<(), Fault> {
        let below = Size::LABEL.wrap(&self.across.title, self.width());
        let bottom = self.top() + self.height + self.below - below.len() as f64 * Size::LABEL.line();
        lines(root, &below, (self.left + self.width() / 2.0, bottom), Size::LABEL, INK)?;
        self.draw_title_up(root, &self.up.title, EDGE)
    }

    fn draw_title_up(&self, root: &Area<'_>, title: &str, left: f64) -> Result<(), Fault> {
        for (index, line) in Size::LABEL.wrap(title, self.height).iter().enumerate() {
            let at = (dots(left + index as f64 * Size::LABEL.line()), dots(self.top() + self.height / 2.0));
            root.draw_text(line, &Size::LABEL.style_up(INK).pos(TOP), at)?;
        }
        Ok(())
    }

    fn draw_crossovers(&self, chart: &mut Chart2d<'_, '_>, root: &Area<'_>) -> Result<(), Fault> {
        let baseline = |row: usize| self.top() - 1.0 - row as f64 * Size::NOTE.line();
        for (value, left, row, text) in &self.crossovers {
            let (x, bottom) = chart.plotting_area().map_coordinate(&(*value, self.up.from));
            let line = [(x, bottom), (x, dots(baseline(*row)))];
            root.draw(&DashedPathElement::new(line, dots(0.8), dots(0.6), palette::stroke(FAINT, 0.2)))?;
            let style = Size::NOTE.style(FAINT).pos(Pos::new(HPos::Left, VPos::Bottom));
            root.draw_text(text, &style, (dots(*left), dots(baseline(*row))))?;
        }
        Ok(())
    }

    /// The scale of colours at the right of a heat map.
    fn draw_colours(&self, root: &Area<'_>, colours: &Scale) -> Result<(), Fault> {
        const STEPS: i32 = 100;
        let (left, end) = (self.extent.width - self.right + COLOURS.0, self.extent.width - EDGE);
        let room = Layout::beside(colours, self.height);
        let area = root.margin(dots(self.top()), dots(self.below + self.note_height() + EDGE), dots(left), dots(EDGE));
        let mut unit = Scale::round(&self.chart.y, &[], Ends::Near, 3);
        unit.ticks.clear();
        let mut chart = ChartBuilder::on(&area)
            .right_y_label_area_size(dots(room))
            .build_cartesian_2d(unit.clone(), colours.clone())?;
        let step = |index: i32| Mark {
            anchors: vec![(unit.from, colours.from), (unit.to, colours.to)],
            title: None,
            paint: Box::new(move |canvas: &mut Canvas<'_>, at: &[At]| {
                let up = |index: i32| at[0].1 + (at[1].1 - at[0].1) * index / STEPS;
                let colour = palette::fill(palette::heat((f64::from(index) + 0.5) / f64::from(STEPS)));
                // A little over its neighbour, so that no seam is seen.
                canvas.draw_rect((at[0].0, up(index + 1)), (at[1].0, up(index) + 2), &colour, true)
            }),
        };
        chart.draw_series((0..STEPS).map(step))?;
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(palette::stroke(INK, 0.2))
            .label_style(Size::TICK.style(INK))
            .set_all_tick_mark_size(dots(TICK))
            .draw()?;
        let lines = Size::LABEL.wrap(&colours.title, self.height).len() as f64;
        self.draw_title_up(root, &colours.title, end - lines * Size::LABEL.line())
    }
}

/// Draws lines of text around a middle, from a top on, in mm.
fn lines(root: &Area<'_>, lines: &[String], (middle, top): (f64, f64), size: Size, colour: Rgb) -> Result<(), Fault> {
    for (index, line) in lines.iter().enumerate() {
        let at = (dots(middle), dots(top + index as f64 * size.line()));
        root.draw_text(line, &size.style(colour).pos(TOP), at)?;
    }
    Ok(())
}
