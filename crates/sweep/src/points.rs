//! Points of a sweep: all combinations of the steps of its axes, except the excluded ones.

use report::Cell;
use toml::Value;

use rowclone_config::Failure;

use super::file::SweepFile;
use super::value;

/// Maximum number of combinations; a larger number is probably a typing error.
const COMBINATIONS_MAX: u64 = 10_000_000;

/// Points of a sweep, numbered from 0; the last axis varies fastest.
#[derive(Clone, Debug)]
pub struct Points<'a> {
    file: &'a SweepFile,
    /// Numbers of the combinations that are points; `None` if all combinations are.
    kept: Option<Vec<u32>>,
    count: u64,
}

/// A point of a sweep.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// Number of the point, from 0.
    pub number: u64,
    /// Settings as arguments of `--set`: those of all points, then those of the point.
    pub words: Vec<String>,
    /// Cells of the axis columns, in the order of the columns.
    pub values: Vec<&'a Value>,
}

impl<'a> Points<'a> {
    /// Computes all points of a sweep.
    ///
    /// # Errors
    /// There are more combinations than the maximum, or no points.
    pub fn of(file: &'a SweepFile) -> Result<Points<'a>, Failure> {
        let all = file.axes.iter().try_fold(1, |all: u64, axis| all.checked_mul(axis.steps.len() as u64));
        let Some(all) = all.filter(|&all| all <= COMBINATIONS_MAX) else {
            return Err(Failure::at(&file.path, format_args!("has more than {COMBINATIONS_MAX} combinations"))
                .with_help("make several sweeps of it"));
        };
        let mut points = Points { file, kept: None, count: all };
        if !file.excludes.is_empty() {
            let kept: Vec<u32> = (0..all).filter(|&index| !points.excluded(index)).map(|index| index as u32).collect();
            points.count = kept.len() as u64;
            points.kept = Some(kept);
        }
        if points.count == 0 {
            return Err(Failure::at(&file.path, "all points are left out").with_help("take an `[[exclude]]` away"));
        }
        Ok(points)
    }

    /// Number of points.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Number of combinations, with the excluded ones.
    pub fn combinations(&self) -> u64 {
        self.file.axes.iter().map(|axis| axis.steps.len() as u64).product()
    }

    /// The point with a number.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn point(&self, number: u64) -> Point<'a> {
        let (mut words, mut values) = (self.file.set.clone(), Vec::new());
        for (axis, step) in self.file.axes.iter().zip(self.steps_of(number)) {
            let step = &axis.steps[step];
            words.extend(step.words.iter().cloned());
            values.extend(&step.values);
        }
        Point { number, words, values }
    }

    /// Index of the step of each axis at a point.
    ///
    /// # Panics
    /// If there is no such point.
    pub(super) fn steps_of(&self, number: u64) -> Vec<usize> {
        assert!(number < self.count, "points are numbered from 0, and there are {}", self.count);
        self.steps(self.kept.as_ref().map_or(number, |kept| u64::from(kept[number as usize])))
    }

    /// Index of the step of each axis at a combination.
    fn steps(&self, mut index: u64) -> Vec<usize> {
        let mut steps = vec![0; self.file.axes.len()];
        for (step, axis) in steps.iter_mut().zip(&self.file.axes).rev() {
            *step = (index % axis.steps.len() as u64) as usize;
            index /= axis.steps.len() as u64;
        }
        steps
    }

    fn excluded(&self, index: u64) -> bool {
        let steps = self.file.axes.iter().zip(self.steps(index));
        let values: Vec<&Value> = steps.flat_map(|(axis, step)| &axis.steps[step].values).collect();
        self.file.excludes.iter().any(|exclude| exclude.holds(&values))
    }

    /// Cells of a point in the columns of the axes, without `seed`, which all rows have.
    pub fn cells(&self, point: &Point<'_>) -> Vec<Cell> {
        let columns = self.file.axes.iter().flat_map(|axis| &axis.columns).zip(&point.values);
        let columns = columns.filter(|(column, _)| column.key != "seed");
        columns.map(|(column, value)| value::cell(value, column.kind)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;
    use crate::Axis;

    /// Axes `a0`, `a1`, … with these numbers of steps.
    fn file(lengths: &[i64]) -> SweepFile {
        let axis = |(index, &length): (usize, &i64)| {
            let key = format!("a{index}");
            Axis::new(vec![(key.clone(), key)], (0..length).map(|value| vec![value.into()]).collect())
        };
        let (path, scenario) = (PathBuf::from("x.toml"), PathBuf::from("y.toml"));
        let axes = lengths.iter().enumerate().map(axis).collect();
        SweepFile {
            path,
            name: "x".to_owned(),
            scenario,
            set: vec!["seed=3".to_owned()],
            with_baseline: true,
            axes,
            excludes: Vec::new(),
            plots: Vec::new(),
        }
    }

    proptest! {
        /// Points are in counting order: the last axis varies fastest.
        #[test]
        fn every_combination_is_one_point(lengths in proptest::collection::vec(1_i64..5, 0..5)) {
            let file = file(&lengths);
            let points = Points::of(&file).unwrap();
            prop_assert_eq!(points.count(), lengths.iter().product::<i64>().cast_unsigned());
            let of = |number| points.point(number).values.iter().map(|value| value.as_integer()).collect::<Vec<_>>();
            let all: Vec<_> = (0..points.count()).map(of).collect();
            prop_assert!(all.is_sorted());
            prop_assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        }
    }

    #[test]
    fn what_is_set_for_all_comes_before_what_an_axis_sets() {
        let file = file(&[2, 3]);
        let points = Points::of(&file).unwrap();
        assert_eq!(points.point(5).words, ["seed=3", "a0=1", "a1=2"]);
        let names: Vec<String> = crate::axis::columns(&file.axes).into_iter().map(|column| column.name).collect();
        assert_eq!(names[..4], ["point", "a0", "a1", "seed"]);
        assert_eq!(points.cells(&points.point(4)), [Cell::from(1), Cell::from(1)]);
    }

    #[test]
    fn too_many_combinations_are_refused() {
        assert!(Points::of(&file(&[1000, 1000, 1000])).is_err());
        assert!(Points::of(&file(&[1 << 16; 4])).is_err(), "more than 64 bits can count");
    }
}
