//! Requests for charts of tables.

use super::chart::{ChartKind, Spacing};
use super::table::{Condition, TableError};
use super::unit::{Unit, capitalized};

/// A request for a chart of a table; columns are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChartRequest {
    /// Kind of the chart.
    pub kind: ChartKind,
    /// The horizontal column.
    pub x: String,
    /// The columns of values, at least one, all of one unit; of a heat map the one column that its colors show.
    pub y: Vec<String>,
    /// The columns whose values make a series each; of a heat map the one that lies up.
    pub by: Vec<String>,
    /// Conditions on rows.
    pub conditions: Vec<Condition>,
    /// Spacing of `x`.
    pub x_spacing: Spacing,
    /// Spacing of `y`.
    pub y_spacing: Spacing,
    /// Title.
    pub title: Option<String>,
    /// In place of the name of `x`.
    pub x_label: Option<String>,
    /// In place of the name of `y`.
    pub y_label: Option<String>,
    /// Whether to mark the crossings of lines.
    pub crossovers: bool,
}

impl ChartRequest {
    /// Checks that the request can be drawn, as far as this does not depend on the table; `published` if published
    /// values are added.
    ///
    /// # Errors
    /// The options contradict each other.
    pub fn check(&self, published: bool) -> Result<(), TableError> {
        let refuse = |message: &str, help: &str| Err(TableError::new(message).with_help(help));
        if self.y.is_empty() {
            return refuse("no column is given for `y`", "name at least one");
        }
        if self.kind == ChartKind::Heat && (self.y.len() > 1 || self.by.len() != 1) {
            return refuse(
                "a heat map shows one column by two others",
                "give `x` for the horizontal axis, `by` for the vertical axis, and `y` for the values, one column each",
            );
        }
        if self.kind == ChartKind::Heat && published {
            return refuse("published values cannot be drawn over a heat map", "leave them out, or draw kind `line`");
        }
        if self.kind == ChartKind::Stacked && self.y_spacing == Spacing::Log {
            return refuse(
                "a stacked bar cannot stand on a logarithmic axis: its parts would not add up",
                "leave the axis linear, or draw kind `bar`",
            );
        }
        if self.kind == ChartKind::Bars && self.y_spacing == Spacing::Log {
            return refuse(
                "a bar cannot stand on a logarithmic axis: its length has no meaning there",
                "leave the axis linear, or draw kind `line`, which shows names too",
            );
        }
        if self.crossovers && self.kind != ChartKind::Lines {
            return refuse("only lines can cross", "draw kind `line`, or leave `crossovers` out");
        }
        named_values(&self.y).map(drop)
    }

    /// The default title: the values, the axis, and the series.
    pub(super) fn default_title(&self, y: &str) -> String {
        let label = |column: &String| Unit::of_column(column).1;
        let over = if self.kind == ChartKind::Lines { "over" } else { "by" };
        let by: Vec<String> = self.by.iter().map(label).collect();
        let each = if by.is_empty() { String::new() } else { format!(", for each {}", by.join(" and ")) };
        capitalized(&format!("{y} {over} {}{each}", self.x_label.clone().unwrap_or_else(|| label(&self.x))))
    }
}

/// The common unit of several columns, the words that all of their names contain, and the other words of each name.
pub(super) fn named_values(columns: &[String]) -> Result<(Unit, String, Vec<String>), TableError> {
    let parsed: Vec<(Unit, String)> = columns.iter().map(|column| Unit::of_column(column)).collect();
    let unit = parsed[0].0;
    if let Some(index) = parsed.iter().position(|(other, _)| *other != unit) {
        let message = format!("`{}` and `{}` have different units", columns[0], columns[index]);
        return Err(TableError::new(message).with_help("one axis has one unit: draw them apart"));
    }
    let labels: Vec<Vec<&str>> = parsed.iter().map(|(_, label)| label.split(' ').collect()).collect();
    if labels.len() == 1 {
        return Ok((unit, parsed[0].1.clone(), vec![parsed[0].1.clone()]));
    }
    let shortest = labels.iter().map(Vec::len).min().unwrap_or(0);
    let same = |at: &dyn Fn(&[&str]) -> String| labels.iter().all(|words| at(words) == at(&labels[0]));
    // Each keeps a word of its own.
    let before = (0..shortest.saturating_sub(1)).take_while(|&index| same(&|words| words[index].to_owned())).count();
    let room = shortest - 1 - before;
    let after = (0..room).take_while(|&index| same(&|words| words[words.len() - 1 - index].to_owned())).count();
    let names = labels.iter().map(|words| words[before..words.len() - after].join(" ")).collect();
    let common = [&labels[0][..before], &labels[0][labels[0].len() - after..]].concat().join(" ");
    Ok((unit, common, names))
}
