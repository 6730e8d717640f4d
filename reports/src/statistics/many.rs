//! The price of looking at many figures at once: with sixty of them, three would differ by chance alone.

/// p values adjusted by Benjamini and Hochberg (1995), in the order of `p`.
///
/// What is called different at 5 % of these contains at most 5 % of chance findings; where nothing differs at all,
/// anything is called different in at most 5 % of comparisons. Both hold for independent figures and for those that
/// move together, as the figures of a run do.
#[must_use]
pub fn adjusted(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_unstable_by(|&one, &other| p[other].total_cmp(&p[one]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 1.0_f64;
    for (from_above, index) in order.into_iter().enumerate() {
        let rank = p.len() - from_above;
        least = least.min(p[index] * p.len() as f64 / rank as f64);
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_are_the_known_ones() {
        let got = adjusted(&[0.01, 0.04, 0.03, 0.005]);
        for (got, expected) in got.iter().zip([0.02, 0.04, 0.04, 0.02]) {
            assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
        }
        assert!(adjusted(&[]).is_empty());
    }

    #[test]
    fn one_look_costs_nothing() {
        assert_eq!(adjusted(&[0.03]), [0.03]);
    }
}
