//! The Mann-Whitney test: whether the values of one group tend to be larger than those of the other.
//!
//! It assumes no distribution, and one wild run counts no more than its rank.

/// Up to so many values together the distribution is counted out; beyond, it is as good as normal.
const EXACT_UP_TO: usize = 40;

/// Two-sided p value: how often chance alone deals out the ranks at least as unevenly. `None` when a side is empty.
///
/// Ties get the mean of their ranks, and the exact distribution is that of these ranks (a permutation test).
#[must_use]
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (ranks, ties) = doubled_ranks(a, b);
    let sum: usize = ranks[..a.len()].iter().sum();
    Some(if ranks.len() <= EXACT_UP_TO { exact(&ranks, a.len(), sum) } else { normal(&ranks, a.len(), sum, ties) })
}

/// Least p value of [`mann_whitney`] with so many values on each side: that of two sides that do not overlap.
#[must_use]
pub fn least_p(a: usize, b: usize) -> f64 {
    let choices = (1..=a).fold(1.0, |choices, k| choices * (b + k) as f64 / k as f64);
    (2.0 / choices).min(1.0)
}

/// Ranks times two, so that ties have whole ones, in the order of `a` then `b`; and the sum of `t^3 - t` over all ties.
fn doubled_ranks(a: &[f64], b: &[f64]) -> (Vec<usize>, f64) {
    let values: Vec<f64> = a.iter().chain(b).copied().collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&one, &other| values[one].total_cmp(&values[other]));
    let mut ranks = vec![0; values.len()];
    let mut ties = 0.0;
    let mut start = 0;
    while start < order.len() {
        let alike = order[start..].iter().take_while(|&&index| values[index].total_cmp(&values[order[start]]).is_eq());
        let end = start + alike.count();
        for &index in &order[start..end] {
            ranks[index] = start + 1 + end;
        }
        let size = (end - start) as f64;
        ties += size * size * size - size;
        start = end;
    }
    (ranks, ties)
}

/// Share of all ways to choose `chosen` of the ranks whose sum is at least as far from the middle as `sum`.
fn exact(ranks: &[usize], chosen: usize, sum: usize) -> f64 {
    let total: usize = ranks.iter().sum();
    // ways[k][s]: choices of k ranks that sum to s.
    let mut ways = vec![vec![0.0_f64; total + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for k in (1..=chosen).rev() {
            let (fewer, more) = ways.split_at_mut(k);
            for s in (rank..=total).rev() {
                more[0][s] += fewer[k - 1][s - rank];
            }
        }
    }
    // Everything times the number of ranks: the middle is then whole.
    let distance = |s: usize| (s * ranks.len()).abs_diff(total * chosen);
    let all: f64 = ways[chosen].iter().sum();
    let far: f64 = (0..=total).filter(|&s| distance(s) >= distance(sum)).map(|s| ways[chosen][s]).sum();
    (far / all).min(1.0)
}

/// The normal approximation, corrected for ties and for the steps of the rank sum.
fn normal(ranks: &[usize], chosen: usize, sum: usize, ties: f64) -> f64 {
    let (n, of_a) = (ranks.len() as f64, chosen as f64);
    let of_b = n - of_a;
    let variance = of_a * of_b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = (sum as f64 / 2.0 - of_a * (n + 1.0) / 2.0).abs();
    complementary_error((distance - 0.5).max(0.0) / variance.sqrt() / std::f64::consts::SQRT_2).min(1.0)
}

/// `erfc` for arguments from 0 (Abramowitz and Stegun 7.1.26, absolute error below 1.5e-7).
fn complementary_error(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    terms.iter().fold(0.0, |sum, term| (sum + term) * t) * (-x * x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: Option<f64>, expected: f64, within: f64) {
        let got = got.expect("values on both sides");
        assert!((got - expected).abs() <= within, "{got} is not {expected}");
    }

    #[test]
    fn sides_that_do_not_overlap_have_the_least_p() {
        for (a, b) in [(1, 1), (3, 4), (4, 4), (5, 5), (7, 6)] {
            let low: Vec<f64> = (0..a).map(f64::from).collect();
            let high: Vec<f64> = (0..b).map(|value| f64::from(value) + 100.0).collect();
            let p = mann_whitney(&low, &high).expect("both have values");
            assert!((p - least_p(low.len(), high.len())).abs() < 1e-12, "{a} {b}: {p}");
        }
    }

    #[test]
    fn p_values_are_the_known_ones() {
        // All of one group above the other: 2 / C(n + m, n).
        close(mann_whitney(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]), 2.0 / 252.0, 1e-12);
        close(mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 0.1, 1e-12);
        // U = 9 of 25: 0.5476 in every table.
        close(mann_whitney(&[1.0, 4.0, 5.0, 8.0, 6.0], &[2.0, 3.0, 7.0, 9.0, 10.0]), 0.547_619, 1e-6);
        // Mann and Whitney's own table, n = 3, m = 4, U = 1: one-sided 0.057.
        close(mann_whitney(&[1.0, 2.0, 4.0], &[3.0, 5.0, 6.0, 7.0]), 4.0 / 35.0, 1e-12);
    }

    #[test]
    fn ties_are_dealt_out_as_they_are() {
        close(mann_whitney(&[6.0; 5], &[2.0; 5]), 2.0 / 252.0, 1e-12);
        close(mann_whitney(&[2.0; 5], &[2.0; 5]), 1.0, 1e-12);
        // Ranks 1.5 1.5 | 3 4 against all 6 dealings: two are as far out.
        close(mann_whitney(&[1.0, 1.0], &[2.0, 3.0]), 2.0 / 6.0, 1e-12);
        // Counted by hand: {1, 2} of {1, 2, 2, 3}: sums 3.5 3.5 5 5 6.5 6.5 around 5.
        close(mann_whitney(&[1.0, 2.0], &[2.0, 3.0]), 4.0 / 6.0, 1e-12);
    }

    #[test]
    fn the_approximation_continues_the_exact_distribution() {
        let (a, b): (Vec<f64>, Vec<f64>) =
            ((0..30).map(|n| f64::from(n * 7 % 31)).collect(), (0..30).map(|n| f64::from(n * 11 % 37) + 4.0).collect());
        let (ranks, ties) = doubled_ranks(&a, &b);
        let sum = ranks[..30].iter().sum();
        let (exact, approximate) = (exact(&ranks, 30, sum), normal(&ranks, 30, sum, ties));
        assert!((exact - approximate).abs() < 0.003, "{exact} {approximate}");
    }
}
