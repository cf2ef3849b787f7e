//! Values of a table, grouped by their position on a chart.

use std::collections::{BTreeMap, BTreeSet};

use super::chart::{Categories, ChartKind, Point, Series, Spacing};
use super::request::{ChartRequest, named_values};
use super::table::{Table, TableError, TableRow, number, select};
use super::unit::Unit;

/// The distinct values of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Keys {
    /// Values in the order of the table: numbers ascending, others by first appearance.
    cells: Vec<String>,
    /// Index of each value, by its normal form.
    places: BTreeMap<String, usize>,
    /// Whether all of them are numbers.
    pub(super) numeric: bool,
}

impl Keys {
    fn of<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Keys {
        let numeric = cells.clone().all(|cell| number(cell).is_some());
        let mut seen = BTreeSet::new();
        let mut different: Vec<&str> = cells.filter(|cell| seen.insert(tidy(cell, numeric))).collect();
        if numeric {
            different.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
        }
        Keys::ordered(different.into_iter().map(str::to_owned).collect(), numeric)
    }

    fn ordered(cells: Vec<String>, numeric: bool) -> Keys {
        let places = cells.iter().enumerate().map(|(index, cell)| (tidy(cell, numeric), index)).collect();
        Keys { cells, places, numeric }
    }

    /// Index of the value of a cell.
    pub(super) fn index(&self, cell: &str) -> Option<usize> {
        self.places.get(&tidy(cell, self.numeric)).copied()
    }

    /// The number that one of them is.
    pub(super) fn value(&self, index: usize) -> f64 {
        number(&self.cells[index]).unwrap_or(0.0)
    }

    fn len(&self) -> usize {
        self.cells.len()
    }

    /// As places along an axis; the unit goes to the label where the names do not have it.
    pub(super) fn categories(&self, label: &str, unit: Unit) -> Categories {
        if !self.numeric {
            let names = self.cells.iter().map(|cell| named(cell)).collect();
            return Categories { label: label.to_owned(), names, ordered: false };
        }
        let values: Vec<f64> = (0..self.len()).map(|index| self.value(index)).collect();
        let (names, label) = unit.labels(label, &values);
        Categories { label, names, ordered: true }
    }

    /// Name of a value in the legend: with the name of the column if the value does not explain itself.
    fn legend(&self, index: usize, column: &str) -> String {
        let (unit, label) = Unit::of_column(column);
        let cell = &self.cells[index];
        match (self.numeric, unit) {
            (true, Unit::None) => format!("{label} {}", unit.write(self.value(index))),
            (true, _) => unit.write(self.value(index)),
            (false, _) if matches!(cell.as_str(), "true" | "false") => format!("{label} {cell}"),
            (false, _) => named(cell),
        }
    }
}

/// `4096.0` is `4096` if all values are numbers.
fn tidy(cell: &str, numeric: bool) -> String {
    // Adding 0 turns -0 into 0.
    number(cell).filter(|_| numeric).map_or_else(|| cell.to_owned(), |number| (number + 0.0).to_string())
}

fn named(cell: &str) -> String {
    if cell.is_empty() { "none".to_owned() } else { cell.to_owned() }
}

/// Position of a value: indices of its `x`, of each `by`, and of its `y`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ValueKey {
    by: Vec<usize>,
    y: usize,
    x: usize,
}

/// Values of a table that a request selects.
#[derive(Clone, Debug)]
pub(super) struct SelectedValues<'a> {
    pub(super) x: Keys,
    pub(super) by: Vec<Keys>,
    pub(super) y_unit: Unit,
    /// Common part of the names of all `y`.
    pub(super) y_label: String,
    /// Remaining part of each name.
    y_names: Vec<String>,
    /// Number of empty cells.
    pub(super) empty: usize,
    values: BTreeMap<ValueKey, Vec<(f64, &'a TableRow)>>,
    /// Columns of `by`.
    by_columns: &'a [String],
}

impl<'a> SelectedValues<'a> {
    pub(super) fn of(table: &'a Table, request: &'a ChartRequest) -> Result<SelectedValues<'a>, TableError> {
        let column = |name: &String| table.column(name);
        let x_column = table.column(&request.x)?;
        let y_columns = request.y.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let by_columns = request.by.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let (y_unit, y_label, y_names) = named_values(&request.y)?;
        let all = select(table, &request.conditions)?;
        // A row without values, as of a failed point, has no position.
        let is_there = |row: &TableRow, index: usize| !row.cells[index].trim().is_empty();
        let has_values =
            |row: &TableRow| is_there(row, x_column) && y_columns.iter().any(|&index| is_there(row, index));
        let rows: Vec<&TableRow> = all.iter().copied().filter(|row| has_values(row)).collect();
        let mut empty = (all.len() - rows.len()) * y_columns.len();
        let keys = |index: usize| Keys::of(rows.iter().map(move |row| row.cells[index].as_str()));
        let (x, by) = (keys(x_column), by_columns.iter().map(|&index| keys(index)).collect::<Vec<_>>());
        let numbers = x.numeric && request.kind == ChartKind::Lines;
        let mut values: BTreeMap<ValueKey, Vec<(f64, &TableRow)>> = BTreeMap::new();
        for row in rows {
            if numbers && request.x_spacing == Spacing::Log {
                positive(row, x_column, &request.x)?;
            }
            let key = |(keys, &index): (&Keys, &usize)| keys.index(&row.cells[index]).unwrap_or(0);
            let by: Vec<usize> = by.iter().zip(&by_columns).map(key).collect();
            for (y, (&index, name)) in y_columns.iter().zip(&request.y).enumerate() {
                if !is_there(row, index) {
                    empty += 1;
                    continue;
                }
                let value = value(row, index, name)?;
                if request.kind == ChartKind::Stacked && value < 0.0 {
                    let message = format!("`{name}` is {value}, which cannot be a part of a bar");
                    return Err(TableError::new(message).at(row.line).with_help("draw kind `bar`"));
                }
                if request.y_spacing == Spacing::Log {
                    positive(row, index, name)?;
                }
                let place = ValueKey { by: by.clone(), y, x: x.index(&row.cells[x_column]).unwrap_or(0) };
                values.entry(place).or_default().push((value, row));
            }
        }
        let entries = SelectedValues { x, by, y_unit, y_label, y_names, empty, values, by_columns: &request.by };
        let combined = request.kind == ChartKind::Stacked && request.y.len() > 1 && !request.by.is_empty();
        Ok(if combined { entries.combine(&request.x) } else { entries })
    }

    /// Name of a series.
    fn name(&self, by: &[usize], y: Option<usize>) -> String {
        let keys = self.by.iter().zip(self.by_columns);
        let parts = by.iter().zip(keys).map(|(&index, (keys, column))| keys.legend(index, column));
        let y = y.filter(|_| self.y_names.len() > 1).map(|y| self.y_names[y].clone());
        parts.chain(y).collect::<Vec<_>>().join(", ")
    }

    /// The place of a key of `x` along an axis of numbers, or among categories.
    pub(super) fn place(&self, key: usize, categories: Option<&Keys>) -> Option<f64> {
        match categories {
            None => Some(self.x.value(key)),
            Some(categories) => categories.index(&self.x.cells[key]).map(|index| index as f64),
        }
    }

    /// Number of values without a position.
    pub(super) fn unplaced(&self, categories: Option<&Keys>) -> usize {
        let unplaced = self.values.iter().filter(|(at, _)| self.place(at.x, categories).is_none());
        unplaced.map(|(_, values)| values.len()).sum()
    }

    /// A series for each value of `by` and each `y`, at numbers or at places of categories. Values without a place are
    /// left out.
    pub(super) fn series(&self, categories: Option<&Keys>) -> Vec<Series> {
        let mut groups: BTreeMap<(&[usize], usize), Vec<Point>> = BTreeMap::new();
        for (at, values) in &self.values {
            let points = groups.entry((&at.by, at.y)).or_default();
            let values = values.iter().map(|(value, _)| *value).collect();
            points.extend(self.place(at.x, categories).map(|x| Point { x, values }));
        }
        groups.into_iter().map(|((by, y), points)| Series::of(self.name(by, Some(y)), points)).collect()
    }

    /// Makes one key of each `x` and `by`: bars of several `y` are one for each.
    fn combine(mut self, x_column: &str) -> SelectedValues<'a> {
        let bars: BTreeSet<(usize, Vec<usize>)> = self.values.keys().map(|at| (at.x, at.by.clone())).collect();
        let name = |(x, by): &(usize, Vec<usize>)| format!("{}, {}", self.x.legend(*x, x_column), self.name(by, None));
        let keys = Keys::ordered(bars.iter().map(name).collect(), false);
        let bars: Vec<_> = bars.into_iter().collect();
        let place = |at: ValueKey| {
            let x = bars.binary_search(&(at.x, at.by)).expect("each value has a bar");
            ValueKey { by: Vec::new(), y: at.y, x }
        };
        self.values = std::mem::take(&mut self.values).into_iter().map(|(at, values)| (place(at), values)).collect();
        self.x = keys;
        self
    }
}

/// Parts that are 0 in all bars have no entry in the legend.
pub(super) fn without_nothing(mut series: Vec<Series>) -> Vec<Series> {
    let all = series.clone();
    series.retain(|part| part.points.iter().any(|point| point.values.iter().any(|&value| value != 0.0)));
    if series.is_empty() { all } else { series }
}

fn value(row: &TableRow, index: usize, column: &str) -> Result<f64, TableError> {
    number(&row.cells[index]).ok_or_else(|| {
        let cell = &row.cells[index];
        let must = match cell.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => "but an axis takes values from 1e-30 to 1e30",
            _ => "but must be a number",
        };
        let message = format!("`{column}` is {cell:?}, {must}");
        TableError::new(message).at(row.line).with_help("take another column, or leave the line out with a condition")
    })
}

fn positive(row: &TableRow, index: usize, column: &str) -> Result<(), TableError> {
    if value(row, index, column)? > 0.0 {
        return Ok(());
    }
    let message = format!("`{column}` is {}, which a logarithmic axis cannot show", row.cells[index]);
    Err(TableError::new(message)
        .at(row.line)
        .with_help("leave the axis linear, or leave the line out with a condition"))
}

/// The columns, beside those that were asked for, in which the rows behind every mark of several rows differ alike.
pub(super) fn differing(
    table: &Table,
    entries: &SelectedValues<'_>,
    request: &ChartRequest,
) -> Result<Vec<String>, TableError> {
    let marks: Vec<_> = entries.values.values().filter(|values| values.len() > 1).collect();
    let asked = |name: &String| *name == request.x || request.y.contains(name) || request.by.contains(name);
    let mut found = Vec::new();
    for name in table.columns().iter().filter(|name| !asked(name)) {
        let column = table.column(name)?;
        let sets: Vec<BTreeSet<&str>> =
            marks.iter().map(|values| values.iter().map(|(_, row)| row.cells[column].as_str()).collect()).collect();
        // Results differ from mark to mark; of seeds, a mark has all or, where some failed, a part.
        let most = sets.iter().map(BTreeSet::len).max().unwrap_or(0);
        let together = sets.iter().flatten().collect::<BTreeSet<_>>().len();
        if sets.len() > 1 && most > 1 && together == most {
            found.push(name.clone());
        }
    }
    Ok(found)
}
