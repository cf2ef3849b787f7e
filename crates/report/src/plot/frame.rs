//! The rectangle that a chart is drawn in, with its axes.

use super::chart::{Across, Axis, Categories};
use super::font::Size;
use super::picture::{Anchor, At, Colour, Picture};
use super::scale::{Ends, Scale, Ticks};

/// From an axis to the numbers beside it, in mm.
pub(super) const GAP: f64 = 1.0;

/// The least that is left between two numbers of an axis, in mm.
const APART: f64 = 1.4;

/// The longest name that is written beside an axis or below it, in mm; a longer one is cut.
pub(super) const NAME_MAX: f64 = 24.0;

/// The width of lines of axes, in mm.
pub(super) const AXIS_LINE: f64 = 0.2;

/// Where a chart is drawn, in mm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Frame {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// A place, 0 to 1 from left to right.
    pub(super) fn x(&self, position: f64) -> f64 {
        self.left + position * self.width()
    }

    /// A place, 0 to 1 from bottom to top.
    pub(super) fn y(&self, position: f64) -> f64 {
        self.bottom - position * self.height()
    }
}

/// Places side by side, as parts of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slots {
    /// The middle of each, 0 to 1.
    pub(super) centres: Vec<f64>,
    /// How wide each is.
    pub(super) width: f64,
}

impl Slots {
    /// One for each category, with some room between groups.
    pub(super) fn of(categories: &Categories) -> Slots {
        const BETWEEN_GROUPS: f64 = 0.7;
        let group_of = |index: usize| {
            let ends = categories.groups.iter().scan(0, |end, (_, size)| {
                *end += size;
                Some(*end)
            });
            ends.take_while(|&end| end <= index).count()
        };
        let gaps = categories.groups.len().saturating_sub(1) as f64 * BETWEEN_GROUPS;
        let width = 1.0 / (categories.names.len() as f64 + gaps);
        let centre = |index: usize| (index as f64 + 0.5 + group_of(index) as f64 * BETWEEN_GROUPS) * width;
        Slots { centres: (0..categories.names.len()).map(centre).collect(), width }
    }
}

/// An axis' label with its unit.
pub(super) fn label(axis: &Axis, symbol: Option<&str>) -> String {
    match symbol {
        Some(symbol) if axis.label.is_empty() => symbol.to_owned(),
        Some(symbol) => format!("{} ({symbol})", axis.label),
        None => axis.label.clone(),
    }
}

/// What is written below a chart.
#[derive(Clone, Debug)]
pub(super) enum Below {
    /// Numbers at their places.
    Numbers { scale: Scale, ticks: Ticks, label: String },
    /// Names, upright or not, each in lines; an empty one is left out.
    Names { slots: Slots, lines: Vec<Vec<String>>, upright: bool, groups: Vec<(String, usize)>, label: String },
}

impl Below {
    /// Chosen so that it fits into this width; `values` are all that lie across.
    pub(super) fn of(across: &Across, values: impl Iterator<Item = f64>, width: f64) -> Below {
        match across {
            Across::Numbers(axis) => {
                let scale = Scale::around(axis.spacing, axis.unit, values, Ends::Near, 2);
                let ticks = (3..=9).rev().map(|most| scale.ticks(axis.unit, most));
                let fitting = ticks.into_iter().find(|ticks| fits(ticks, scale, width));
                let ticks = fitting.unwrap_or_else(|| scale.ticks(axis.unit, 2));
                Below::Numbers { label: label(axis, ticks.symbol.as_deref()), scale, ticks }
            }
            Across::Categories(categories) => Below::names(categories, width),
        }
    }

    fn names(categories: &Categories, width: f64) -> Below {
        let slots = Slots::of(categories);
        let slot = slots.width * width;
        let (groups, label) = (categories.groups.clone(), categories.label.clone());
        let wrapped: Vec<Vec<String>> =
            categories.names.iter().map(|name| Size::TICK.wrap(name, slot - APART / 2.0)).collect();
        let whole =
            |lines: &Vec<String>| lines.len() <= 3 && !lines.iter().any(|line| line.ends_with('…') || line.is_empty());
        // Numbers are not broken.
        let one_line = !categories.ordered || wrapped.iter().all(|lines| lines.len() == 1);
        if wrapped.iter().all(whole) && one_line {
            return Below::Names { slots, lines: wrapped, upright: false, groups, label };
        }
        let every = (Size::TICK.line() / slot).ceil().max(1.0);
        let shown = |(index, name): (usize, &String)| {
            if (index as f64 % every).abs() < 0.5 { vec![Size::TICK.fit(name, NAME_MAX)] } else { Vec::new() }
        };
        let lines = categories.names.iter().enumerate().map(shown).collect();
        Below::Names { slots, lines, upright: true, groups, label }
    }

    /// How far the outermost number reaches beyond the right end, in mm.
    pub(super) fn overhang(&self, width: f64) -> f64 {
        let Below::Numbers { scale, ticks, .. } = self else { return 0.0 };
        let reach =
            |(value, text): (&f64, &String)| (scale.position(*value) - 1.0) * width + Size::TICK.width(text) / 2.0;
        ticks.values.iter().zip(&ticks.labels).map(reach).fold(0.0, f64::max)
    }

    /// Where a value, or the index of a category, lies: 0 to 1.
    pub(super) fn position(&self, x: f64) -> f64 {
        match self {
            Below::Numbers { scale, .. } => scale.position(x),
            #[expect(clippy::cast_sign_loss, reason = "an index")]
            Below::Names { slots, .. } => slots.centres[x as usize],
        }
    }

    /// Draws the axis; gives the place of its lower end.
    pub(super) fn draw(&self, picture: &mut Picture, frame: &Frame) -> f64 {
        let (text, label) = match self {
            Below::Numbers { scale, ticks, label } => {
                for value in &ticks.minor {
                    let x = frame.x(scale.position(*value));
                    picture.line((x, frame.bottom), (x, frame.bottom + 0.6), Colour::BLACK, AXIS_LINE / 2.0);
                }
                for (value, text) in ticks.values.iter().zip(&ticks.labels) {
                    let x = frame.x(scale.position(*value));
                    picture.line((x, frame.bottom), (x, frame.bottom + GAP), Colour::BLACK, AXIS_LINE);
                    let at = (x, frame.bottom + GAP + 0.6 + Size::TICK.capital());
                    picture.text(text, at, Size::TICK, Anchor::Middle, Colour::BLACK);
                }
                (frame.bottom + GAP + 0.6 + Size::TICK.line(), label)
            }
            Below::Names { slots, lines, upright, groups, label } => {
                let end = names(picture, frame, slots, lines, *upright);
                (group_names(picture, frame, slots, groups, end), label)
            }
        };
        let mut end = text;
        if !label.is_empty() {
            for line in Size::LABEL.wrap(label, frame.width()) {
                let at = (f64::midpoint(frame.left, frame.right), end + 0.4 + Size::LABEL.capital());
                picture.text(&line, at, Size::LABEL, Anchor::Middle, Colour::BLACK);
                end += Size::LABEL.line();
            }
        }
        end + 0.8
    }
}

fn fits(ticks: &Ticks, scale: Scale, width: f64) -> bool {
    let span = |(value, text): (&f64, &String)| {
        let (middle, half) = (scale.position(*value) * width, Size::TICK.width(text) / 2.0);
        (middle - half, middle + half)
    };
    let spans: Vec<(f64, f64)> = ticks.values.iter().zip(&ticks.labels).map(span).collect();
    spans.len() > 1 && spans.windows(2).all(|pair| pair[1].0 - pair[0].1 >= APART)
}

fn names(picture: &mut Picture, frame: &Frame, slots: &Slots, lines: &[Vec<String>], upright: bool) -> f64 {
    let top = frame.bottom + GAP;
    let mut end = top;
    for (centre, lines) in slots.centres.iter().zip(lines) {
        let x = frame.x(*centre);
        for (index, line) in lines.iter().enumerate() {
            if upright {
                let at = (x + Size::TICK.capital() / 2.0, top);
                picture.text_up(line, at, Size::TICK, Anchor::End, Colour::BLACK);
                end = end.max(top + Size::TICK.width(line));
            } else {
                let at = (x, top + Size::TICK.capital() + index as f64 * Size::TICK.line());
                picture.text(line, at, Size::TICK, Anchor::Middle, Colour::BLACK);
                end = end.max(at.1 + Size::TICK.line() - Size::TICK.capital());
            }
        }
    }
    end
}

/// What neighbours have in common, below a line that spans them.
fn group_names(picture: &mut Picture, frame: &Frame, slots: &Slots, groups: &[(String, usize)], top: f64) -> f64 {
    let mut first = 0;
    let mut end = top;
    for (name, size) in groups.iter().filter(|(_, size)| *size > 0) {
        let half = slots.width * 0.45;
        let (from, to) = (frame.x(slots.centres[first] - half), frame.x(slots.centres[first + size - 1] + half));
        picture.line((from, top + 0.7), (to, top + 0.7), Colour::BLACK, AXIS_LINE);
        let room = to - from + slots.width * frame.width() * 0.5;
        for (index, line) in Size::TICK.wrap(name, room).iter().enumerate() {
            let below = top + 1.4 + Size::TICK.capital() + index as f64 * Size::TICK.line();
            picture.text(line, (f64::midpoint(from, to), below), Size::TICK, Anchor::Middle, Colour::BLACK);
            end = end.max(below + Size::TICK.line() - Size::TICK.capital());
        }
        first += size;
    }
    end
}

/// What is written at the left of a chart with numbers.
#[derive(Clone, Debug)]
pub(super) struct Beside {
    pub(super) scale: Scale,
    ticks: Ticks,
    label: Vec<String>,
}

impl Beside {
    /// How many numbers there may be.
    pub(super) const TICKS: usize = 6;

    pub(super) fn of(axis: &Axis, values: impl Iterator<Item = f64>, ends: Ends, height: f64) -> Beside {
        let scale = Scale::around(axis.spacing, axis.unit, values, ends, Beside::TICKS);
        let ticks = scale.ticks(axis.unit, Beside::TICKS + 1);
        let text = label(axis, ticks.symbol.as_deref());
        let label = if text.is_empty() { Vec::new() } else { Size::LABEL.wrap(&text, height) };
        Beside { scale, ticks, label }
    }

    /// How much room it takes, in mm.
    pub(super) fn width(&self) -> f64 {
        let numbers = self.ticks.labels.iter().map(|text| Size::TICK.width(text)).fold(0.0, f64::max);
        0.4 + self.label.len() as f64 * Size::LABEL.line() + numbers + GAP + 0.8
    }

    /// Draws the axis, and lines across the chart at its numbers.
    pub(super) fn draw(&self, picture: &mut Picture, frame: &Frame) {
        for value in &self.ticks.minor {
            let y = frame.y(self.scale.position(*value));
            picture.line((frame.left - 0.6, y), (frame.left, y), Colour::BLACK, AXIS_LINE / 2.0);
        }
        for (value, text) in self.ticks.values.iter().zip(&self.ticks.labels) {
            let y = frame.y(self.scale.position(*value));
            picture.line((frame.left, y), (frame.right, y), Colour::PALE, 0.15);
            picture.line((frame.left - GAP, y), (frame.left, y), Colour::BLACK, AXIS_LINE);
            let at = (frame.left - GAP - 0.5, y + Size::TICK.capital() / 2.0);
            picture.text(text, at, Size::TICK, Anchor::End, Colour::BLACK);
        }
        label_up(picture, frame, &self.label, 0.4);
    }
}

/// The label of an axis that lies at the left, from this place on.
pub(super) fn label_up(picture: &mut Picture, frame: &Frame, lines: &[String], left: f64) {
    for (index, line) in lines.iter().enumerate() {
        let at: At =
            (left + Size::LABEL.0 * 0.85 + index as f64 * Size::LABEL.line(), f64::midpoint(frame.top, frame.bottom));
        picture.text_up(line, at, Size::LABEL, Anchor::Middle, Colour::BLACK);
    }
}

/// The axes' own lines.
pub(super) fn axes(picture: &mut Picture, frame: &Frame) {
    let corner = (frame.left, frame.bottom);
    picture.line((frame.left, frame.top), (frame.left, frame.bottom + AXIS_LINE / 2.0), Colour::BLACK, AXIS_LINE);
    picture.line(corner, (frame.right, frame.bottom), Colour::BLACK, AXIS_LINE);
}
