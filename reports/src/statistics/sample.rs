//! What a few repeats have in common: their number, median and range.

use serde::Serialize;

/// One figure over the runs of a group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Runs that have the figure.
    pub runs: usize,
    /// Middle one, or the mean of the two in the middle.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Summary {
    /// Of finite values; `None` when there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let median = median(values)?;
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self { runs: values.len(), median, min, max })
    }
}

/// The median; `None` without values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    median_of_scratch(&mut sorted)
}

/// The median of values that may be reordered.
pub(super) fn median_of_scratch(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { Some(values[middle]) } else { Some(f64::midpoint(values[middle - 1], values[middle])) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 4.0]), Some(4.0));
        assert_eq!(median(&[9.0, 1.0, 4.0, 5.0]), Some(4.5));
        let summary = Summary::of(&[9.0, 1.0, 4.0]).expect("values");
        assert_eq!((summary.runs, summary.min, summary.max), (3, 1.0, 9.0));
    }
}
