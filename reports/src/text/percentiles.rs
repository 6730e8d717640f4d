//! A distribution in the form of HdrHistogram's percentile output (`.hgrm`), which its plotters read. In ms.

use std::fmt::Write as _;

use crate::histogram::Histogram;

/// Reported steps on each halving of the distance to 100 %.
const TICKS_PER_HALF: f64 = 5.0;
const NS_PER_MS: f64 = 1e6;

/// Value, percentile, how many are not above, and 1/(1-percentile).
#[must_use]
pub fn percentiles(histogram: &Histogram) -> String {
    let mut text = String::from("       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
    let total = histogram.buckets().map(|(_, _, count)| count).fold(0, u64::saturating_add);
    let (mut seen, mut wanted) = (0u64, 0.0);
    let mut squares = 0.0;
    let mean = histogram.mean().unwrap_or(0.0);
    for (low, width, count) in histogram.buckets() {
        seen += count;
        let middle = low as f64 + (width - 1) as f64 / 2.0;
        squares += (middle - mean).powi(2) * count as f64;
        let highest = (low + (width - 1)).min(histogram.max().unwrap_or(u64::MAX)) as f64 / NS_PER_MS;
        let share = seen as f64 / total as f64;
        // Several steps may lie within one bucket, which tells them nothing apart: one line for all of them.
        if share < wanted {
            continue;
        }
        if seen == total {
            line(&mut text, format_args!("{highest:12.3} {share:2.12} {seen:10}\n"));
        } else {
            line(&mut text, format_args!("{highest:12.3} {share:2.12} {seen:10} {:14.2}\n", 1.0 / (1.0 - share)));
        }
        while wanted <= share && share < 1.0 {
            // Rounding must not leave 0.5 in the first half.
            let halvings = ((1.0 / (1.0 - wanted)).log2() + 1e-9).floor();
            wanted += 1.0 / (TICKS_PER_HALF * (halvings + 1.0).exp2());
        }
    }
    let deviation = if total == 0 { 0.0 } else { (squares / total as f64).sqrt() };
    let max = histogram.max().unwrap_or(0) as f64 / NS_PER_MS;
    line(
        &mut text,
        format_args!("#[Mean    = {:12.3}, StdDeviation   = {:12.3}]\n", mean / NS_PER_MS, deviation / NS_PER_MS),
    );
    line(&mut text, format_args!("#[Max     = {max:12.3}, Total count    = {total:12}]\n"));
    // Of this project's layout: halvings of the range, and buckets in each.
    let sub_buckets = histogram.sub_buckets();
    line(&mut text, format_args!("#[Buckets = {:12}, SubBuckets     = {sub_buckets:12}]\n", u64::BITS));
    text
}

fn line(text: &mut String, line: std::fmt::Arguments) {
    // A String takes anything.
    let _ = text.write_fmt(line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::FINE;

    #[test]
    fn every_line_counts_the_values_that_are_not_above_it() {
        let mut histogram = Histogram::new(FINE);
        (1..=1000).for_each(|number| histogram.record(number * 1_000_000));
        let text = percentiles(&histogram);
        let rows: Vec<Vec<f64>> = text
            .lines()
            .skip(2)
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().map(|word| word.parse().expect("a number")).collect())
            .collect();
        for row in &rows {
            let [value_ms, share, count] = row[..3] else { panic!("{row:?}") };
            assert!(
                (share - count / 1000.0).abs() < 1e-9 && (value_ms - count).abs() <= 4.0 + value_ms / 128.0,
                "{row:?}"
            );
        }
        let near = |share: f64| rows.iter().any(|row| (row[1] - share).abs() < 0.01);
        assert!([0.1, 0.5, 0.75, 0.9, 0.99].into_iter().all(near), "{text}");
        assert_eq!(rows.last().map(|row| (row[0], row[2], row.len())), Some((1000.0, 1000.0, 3)));
        assert!(text.contains("#[Max     =     1000.000, Total count    =         1000]"), "{text}");
    }

    #[test]
    fn nothing_at_all_is_still_a_file() {
        assert!(percentiles(&Histogram::new(FINE)).contains("Total count    =            0]"));
    }
}
