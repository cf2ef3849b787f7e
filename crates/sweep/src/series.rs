//! Values of linear and logarithmic ranges.

use toml::Value;

use super::value::number;

/// Maximum number of values of an axis; a larger number is probably a typing error.
const VALUES_MAX: i32 = 1_000_000;

/// `from`, `from + step`, … up to and including `to`. The values are integers if all three are.
///
/// # Errors
/// An invalid range; the message follows the key.
pub(super) fn range(from: &Value, to: &Value, step: &Value) -> Result<Vec<Value>, String> {
    if let (Value::Integer(from), Value::Integer(to), Value::Integer(step)) = (from, to, step) {
        let (from, to, step) = (i128::from(*from), i128::from(*to), i128::from(*step));
        if step == 0 || (to - from).signum() * step.signum() < 0 {
            return Err(format!("a `step` of {step} never leads from {from} to {to}"));
        }
        let count = limited(((to - from) / step) as f64)?;
        return Ok((0..=i128::from(count)).map(|index| Value::Integer((from + index * step) as i64)).collect());
    }
    let [from, to, step] = numbers([("from", from), ("to", to), ("step", step)])?;
    let steps = (to - from) / step;
    if !steps.is_finite() || steps < 0.0 {
        return Err(format!("a `step` of {step} never leads from {from} to {to}"));
    }
    let count = limited(steps)?;
    Ok((0..=count).map(|index| Value::Float(tidy(from + f64::from(index) * step))).collect())
}

/// `from`, `from * factor`, … up to and including `to`. The values are integers if all three are.
///
/// # Errors
/// An invalid range; the message follows the key.
pub(super) fn by_factor(from: &Value, to: &Value, factor: &Value) -> Result<Vec<Value>, String> {
    let [low, high, by] = numbers([("from", from), ("to", to), ("factor", factor)])?;
    if low <= 0.0 || high < low || by <= 1.0 {
        return Err(format!("a `factor` of {by} never leads from {low} to {high}"));
    }
    let count = limited((high / low).ln() / by.ln())?;
    if let (Value::Integer(from), Value::Integer(factor), Value::Integer(to)) = (from, factor, to) {
        let powers = std::iter::successors(Some(*from), |value| value.checked_mul(*factor));
        return Ok(powers.take_while(|value| value <= to).map(Value::Integer).collect());
    }
    Ok((0..=count).map(|index| Value::Float(tidy(low * by.powi(index)))).collect())
}

/// Values from `from` to `to` with a constant ratio. If both are integers, values are rounded, and duplicates removed.
///
/// # Errors
/// An invalid range; the message follows the key.
pub(super) fn by_points(from: &Value, to: &Value, points: u64) -> Result<Vec<Value>, String> {
    let [low, high] = numbers([("from", from), ("to", to)])?;
    if low <= 0.0 || high <= low || points < 2 {
        return Err(format!("{points} `points` do not lead from {low} to {high}"));
    }
    let last = limited(points as f64)? - 1;
    let at = |index: i32| match index {
        0 => low,
        _ if index == last => high,
        _ => low * (high / low).powf(f64::from(index) / f64::from(last)),
    };
    if from.is_integer() && to.is_integer() {
        let mut whole: Vec<i64> = (0..=last).map(|index| at(index).round() as i64).collect();
        whole.dedup();
        return Ok(whole.into_iter().map(Value::Integer).collect());
    }
    Ok((0..=last).map(|index| Value::Float(tidy(at(index)))).collect())
}

fn numbers<const N: usize>(values: [(&str, &Value); N]) -> Result<[f64; N], String> {
    let mut found = [0.0; N];
    for (number_found, (name, value)) in found.iter_mut().zip(values) {
        let finite = number(value).filter(|number| number.is_finite());
        *number_found = finite.ok_or_else(|| format!("`{name}` is {value}, but must be a number"))?;
    }
    Ok(found)
}

/// Number of whole steps. A last step that only rounding prevents is counted.
fn limited(steps: f64) -> Result<i32, String> {
    let whole = (steps + 1e-9).floor();
    if whole < f64::from(VALUES_MAX) {
        Ok(whole as i32)
    } else {
        Err(format!("these are more than {VALUES_MAX} values"))
    }
}

/// Rounds to twelve digits: 0.30000000000000004 is 0.3.
fn tidy(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(values: Result<Vec<Value>, String>) -> String {
        match values {
            Ok(values) => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            Err(message) => message,
        }
    }

    #[test]
    fn a_range_ends_with_its_end_or_before_it() {
        let ints = |from: i64, to: i64, step: i64| show(range(&from.into(), &to.into(), &step.into()));
        assert_eq!(ints(64, 256, 64), "64 128 192 256");
        assert_eq!(ints(64, 250, 64), "64 128 192");
        assert_eq!(ints(3, 1, -1), "3 2 1");
        assert_eq!(ints(5, 5, 1), "5");
        assert_eq!(show(range(&0.0.into(), &0.5.into(), &0.1.into())), "0.0 0.1 0.2 0.3 0.4 0.5");
        assert_eq!(ints(1, 5, 0), "a `step` of 0 never leads from 1 to 5");
        assert_eq!(ints(1, 5, -1), "a `step` of -1 never leads from 1 to 5");
        assert_eq!(ints(0, i64::MAX, 1), "these are more than 1000000 values");
        assert_eq!(show(range(&1.into(), &f64::NAN.into(), &1.into())), "`to` is nan, but must be a number");
        assert_eq!(show(range(&1.into(), &"x".into(), &1.into())), "`to` is \"x\", but must be a number");
    }

    /// The end of a range is no value if no number of steps leads to it exactly.
    #[test]
    fn a_range_of_fractions_ends_before_an_end_that_it_does_not_meet() {
        let floats = |from: f64, to: f64, step: f64| show(range(&from.into(), &to.into(), &step.into()));
        // 1 / 0.3 is 3.33 steps, and 0.29 / 0.1 is 2.9.
        assert_eq!(floats(0.0, 1.0, 0.3), "0.0 0.3 0.6 0.9");
        assert_eq!(floats(0.0, 0.29, 0.1), "0.0 0.1 0.2");
        assert_eq!(floats(1.0, 0.1, -0.5), "1.0 0.5", "0.9 / 0.5 is 1.8 steps");
        assert_eq!(floats(0.5, 0.9, 1.0), "0.5", "0.4 steps");
        // 0.7 / 0.1 is 6.999999999999999 in floating point.
        assert_eq!(floats(0.0, 0.7, 0.1), "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7");
        assert_eq!(floats(0.0, -1.0, 0.5), "a `step` of 0.5 never leads from 0 to -1");
        // 3 and 50: 1, 3, 9, 27, and 81 is beyond.
        assert_eq!(show(by_factor(&1.0.into(), &50.0.into(), &3.0.into())), "1.0 3.0 9.0 27.0");
        assert_eq!(show(by_factor(&1.into(), &80.into(), &3.into())), "1 3 9 27");
        assert_eq!(show(by_factor(&0.5.into(), &0.5.into(), &2.into())), "0.5");
        assert_eq!(show(by_points(&2.into(), &4.into(), 2)), "2 4");
        // Ratio 2 of the ends in two steps: 1.4142.
        assert_eq!(show(by_points(&1.0.into(), &2.0.into(), 3)), "1.0 1.41421356237 2.0");
    }

    #[test]
    fn a_log_range_multiplies_or_has_so_many_points() {
        assert_eq!(show(by_factor(&64.into(), &1024.into(), &2.into())), "64 128 256 512 1024");
        assert_eq!(show(by_factor(&0.001.into(), &0.1.into(), &10.into())), "0.001 0.01 0.1");
        assert_eq!(show(by_factor(&64.into(), &1024.into(), &1.into())), "a `factor` of 1 never leads from 64 to 1024");
        assert_eq!(show(by_points(&1.into(), &1000.into(), 4)), "1 10 100 1000");
        assert_eq!(show(by_points(&1.into(), &3.into(), 9)), "1 2 3", "each once");
        assert_eq!(show(by_points(&0.5.into(), &8.0.into(), 3)), "0.5 2.0 8.0");
        assert_eq!(show(by_points(&1.into(), &3.into(), 1)), "1 `points` do not lead from 1 to 3");
    }
}
