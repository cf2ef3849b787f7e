//! Charts of tables.

use super::chart::{Across, Axis, Categories, Chart, ChartKind, Joined, Series, Spacing};
use super::palette::SERIES_MAX;
use super::request::ChartRequest;
use super::table::{Table, TableError};
use super::unit::Unit;
use super::values::{Keys, SelectedValues, differing, without_nothing};

/// A chart of a table, with the findings about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The chart.
    pub chart: Chart,
    /// Number of rows, or values of rows, that were left out because a cell is empty.
    pub empty: usize,
    /// Columns in which the rows behind one mark differ, if each mark has the same set: seeds, or an axis that the
    /// request does not use.
    pub differing: Vec<String>,
    /// Number of published values without a place on the chart.
    pub unplaced: usize,
    request: ChartRequest,
    x: Keys,
}

/// Maximum number of categories whose names fit.
const CATEGORIES_MAX: usize = 24;

/// Maximum number of bars or boxes that readers can distinguish at the width of a column.
const BARS_MAX: usize = 120;

/// The most cells of a heat map along a side.
const CELLS_MAX: usize = 200;

impl ChartRequest {
    /// The chart of a table.
    ///
    /// # Errors
    /// A column is absent, a cell is no number, or the chart would be unreadable.
    pub fn draw(&self, table: &Table) -> Result<Drawing, TableError> {
        self.check(false)?;
        let entries = SelectedValues::of(table, self)?;
        let numbers = self.kind == ChartKind::Lines && entries.x.numeric;
        if self.x_spacing == Spacing::Log && !numbers {
            let why = if self.kind == ChartKind::Lines {
                format!("the values of `{}` are not numbers", self.x)
            } else {
                format!("a chart of kind `{}` has one place per value across", self.kind.name())
            };
            return Err(
                TableError::new(format!("a logarithmic x axis needs numbers, but {why}")).with_help("leave it linear")
            );
        }
        let (x_unit, x_name) = Unit::of_column(&self.x);
        let x_label = self.x_label.clone().unwrap_or(x_name);
        let (across, mut series) = if numbers {
            let axis = Axis { label: x_label, unit: x_unit, spacing: self.x_spacing };
            (Across::Numbers(axis), entries.series(None))
        } else {
            (Across::Categories(entries.x.categories(&x_label, x_unit)), entries.series(Some(&entries.x)))
        };
        if self.kind == ChartKind::Stacked {
            series = without_nothing(series);
        }
        let rows = (self.kind == ChartKind::Heat).then(|| {
            let (unit, label) = Unit::of_column(&self.by[0]);
            entries.by[0].categories(&label, unit)
        });
        let y = Axis {
            label: self.y_label.clone().unwrap_or_else(|| entries.y_label.clone()),
            unit: entries.y_unit,
            spacing: self.y_spacing,
        };
        let (kind, title) = (self.kind, self.title.clone().unwrap_or_else(|| self.default_title(&y.label)));
        let mut chart = Chart {
            title,
            kind,
            x: across,
            y,
            rows,
            series,
            published: Vec::new(),
            joined: Joined::Series,
            crossovers: Vec::new(),
            reach: Vec::new(),
        };
        check_size(&chart)?;
        if self.crossovers {
            chart.crossovers = chart.crossings();
        }
        let differing = differing(table, &entries, self)?;
        Ok(Drawing { chart, empty: entries.empty, differing, unplaced: 0, request: self.clone(), x: entries.x })
    }
}

impl Drawing {
    /// Adds published values: a table with columns of the same names. Conditions on columns that it lacks have no
    /// effect, and without the columns of `by` its values are a series of their own.
    ///
    /// # Errors
    /// As for [`ChartRequest::draw`]; or the chart has no values.
    pub fn add_published(&mut self, table: &Table) -> Result<(), TableError> {
        let has = |column: &String| table.columns().contains(column);
        let mut request = self.request.clone();
        request.check(true)?;
        request.by.retain(has);
        request.conditions.retain(|condition| has(&condition.column));
        // A condition may admit values that were not published.
        for condition in &mut request.conditions {
            condition.values.retain(|value| table.has(&condition.column, value));
        }
        let entries = SelectedValues::of(table, &request)?;
        let categories = matches!(self.chart.x, Across::Categories(_)).then_some(&self.x);
        if categories.is_none() && !entries.x.numeric {
            let error = TableError::new(format!("the values of `{}` are not numbers", request.x));
            return Err(error.with_help("the other table has numbers in this column"));
        }
        let mut series = entries.series(categories);
        if request.kind == ChartKind::Stacked {
            series = vec![Series::totals(&series)];
        }
        series.retain(|series| !series.points.is_empty());
        self.unplaced = entries.unplaced(categories);
        self.chart.published = series;
        check_series(self.chart.series.len() + self.unmatched())
    }

    /// Number of published series without a simulated series of the same name.
    fn unmatched(&self) -> usize {
        let simulated = |name: &str| self.chart.series.iter().any(|series| series.name == name);
        self.chart.published.iter().filter(|series| !simulated(&series.name)).count()
    }
}

fn check_series(count: usize) -> Result<(), TableError> {
    if count > SERIES_MAX {
        let message = format!("{count} series, but at most {SERIES_MAX} can be told apart");
        return Err(
            TableError::new(message).with_help("narrow them down with conditions, or take another column for `by`")
        );
    }
    Ok(())
}

/// Checks that the chart is readable at the width of a column.
fn check_size(chart: &Chart) -> Result<(), TableError> {
    let too_many = |what: &str, found: usize, most: usize| {
        let message = format!("{found} {what}, but there is room for {most}");
        Err(TableError::new(message).with_help("narrow the table down with conditions, or draw kind `line` or `heat`"))
    };
    if chart.marks() == 0 {
        return Err(TableError::new("nothing is left to draw: all cells of `x` or `y` are empty"));
    }
    let side = |categories: &Categories| {
        let most = if categories.ordered { CELLS_MAX } else { CATEGORIES_MAX };
        (categories.names.len() > most).then_some((categories.names.len(), most))
    };
    let crowded = match &chart.x {
        Across::Categories(across) => side(across),
        Across::Numbers(_) => None,
    };
    if let Some((found, most)) = crowded.or_else(|| chart.rows.as_ref().and_then(side)) {
        return too_many("categories", found, most);
    }
    if chart.kind == ChartKind::Heat {
        return Ok(());
    }
    check_series(chart.series.len())?;
    let bars = match (&chart.x, chart.kind) {
        (Across::Categories(across), ChartKind::Bars | ChartKind::Boxes) => across.names.len() * chart.series.len(),
        (Across::Categories(across), ChartKind::Stacked) => across.names.len(),
        _ => 0,
    };
    if bars > BARS_MAX { too_many("bars", bars, BARS_MAX) } else { Ok(()) }
}
