//! A log-linear histogram of nanoseconds (or any `u64`), kept whole so that every quantile can be recomputed.

mod recorder;

use probes::bucket;
use serde::{Deserialize, Serialize};

pub use recorder::Recorder;

/// Sub-bucket bits of the load generator's histograms: relative error at most 0.4 %.
pub const FINE: u8 = 7;
/// Sub-bucket bits of the kernel's histograms: relative error at most 3.125 %.
#[expect(clippy::cast_possible_truncation, reason = "SUB_BITS is 4")]
pub const KERNEL: u8 = bucket::SUB_BITS as u8;
/// The finest layout that is accepted from a file.
const FINEST: u8 = FINE;

/// Counts per bucket beside exact count, sum, minimum and maximum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Histogram {
    sub_bits: u8,
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
    /// Index and count of each bucket that holds something, in rising order: memory grows with what a file says, not
    /// with where it says it.
    buckets: Vec<(u32, u64)>,
}

impl Histogram {
    /// An empty histogram in a layout of [`FINE`] or [`KERNEL`].
    #[must_use]
    pub fn new(sub_bits: u8) -> Self {
        Self { sub_bits, count: 0, sum: 0, min: u64::MAX, max: 0, buckets: Vec::new() }
    }

    /// Takes over what the kernel counted: exact figures, and counts per bucket from bucket 0.
    ///
    /// `counts` may hold fewer than `count` values (full buckets); see [`Self::missing`].
    #[must_use]
    pub fn from_parts(sub_bits: u8, count: u64, sum: u64, min: u64, max: u64, counts: Vec<u64>) -> Self {
        let buckets = (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
        Self { sub_bits, count, sum, min, max, buckets }
    }

    /// Adds one value.
    pub fn record(&mut self, value: u64) {
        self.record_many(value, 1);
    }

    /// Adds the same value `count` times.
    pub fn record_many(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        let index = bucket::index(value, u32::from(self.sub_bits));
        match self.buckets.binary_search_by_key(&index, |&(index, _)| index) {
            Ok(position) => self.buckets[position].1 += count,
            Err(position) => self.buckets.insert(position, (index, count)),
        }
        self.count += count;
        self.sum = self.sum.saturating_add(value.saturating_mul(count));
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds all values of `other`, which must have the same layout.
    ///
    /// # Panics
    /// When the layouts differ: that is a bug in the caller.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.sub_bits, other.sub_bits, "bug: histograms of unlike layout");
        for &(index, count) in &other.buckets {
            match self.buckets.binary_search_by_key(&index, |&(index, _)| index) {
                Ok(position) => self.buckets[position].1 = self.buckets[position].1.saturating_add(count),
                Err(position) => self.buckets.insert(position, (index, count)),
            }
        }
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Sub-bucket bits of the layout.
    #[must_use]
    pub fn sub_bits(&self) -> u8 {
        self.sub_bits
    }

    /// Both cut values into the same buckets, so that they can be merged.
    #[must_use]
    pub fn same_layout(&self, other: &Self) -> bool {
        self.sub_bits == other.sub_bits
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the values.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Smallest value.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Largest value.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Arithmetic mean.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Values that are in [`Self::count`] but in no bucket.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.count.saturating_sub(self.in_buckets())
    }

    /// Whether any value is in a bucket: else count, sum and extremes are all that is known.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.in_buckets() > 0
    }

    /// Values in buckets; saturating, because merged ones may be more than a `u64` holds.
    fn in_buckets(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, &(_, count)| sum.saturating_add(count))
    }

    /// Buckets for each power of two.
    #[must_use]
    pub fn sub_buckets(&self) -> u32 {
        1 << self.sub_bits
    }

    /// Largest relative error of a quantile: half a bucket's width over its lowest value.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        0.5_f64.powi(i32::from(self.sub_bits) + 1)
    }

    /// The nearest-rank quantile `q` in 0..=1, as its bucket's middle; `None` without values.
    ///
    /// Use [`Self::quantile`] for figures that are shown.
    #[must_use]
    pub fn quantile_of_any_sample(&self, q: f64) -> Option<u64> {
        let in_buckets = self.in_buckets();
        if in_buckets == 0 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank within 1..=in_buckets")]
        let rank = ((q.clamp(0.0, 1.0) * in_buckets as f64).ceil() as u64).clamp(1, in_buckets);
        let mut seen = 0;
        self.buckets().find_map(|(low, width, count)| {
            seen = count.saturating_add(seen);
            (seen >= rank).then(|| (low + (width - 1) / 2).clamp(self.min, self.max))
        })
    }

    /// The quantile `q`, or `None` where fewer than `1 / (1 - q)` values make it a guess (p99 needs 100).
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let needed = 1.0 / (1.0 - q).max(1e-9);
        if (self.count as f64) < needed - 1e-6 {
            return None;
        }
        self.quantile_of_any_sample(q)
    }

    /// Buckets that hold something: lowest value, width and count, in rising order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let sub_bits = u32::from(self.sub_bits);
        self.buckets.iter().map(move |&(index, count)| {
            let (low, width) = bucket::bounds(index, sub_bits);
            (low, width, count)
        })
    }
}

/// The form in files: only buckets that hold something, as pairs of index and count.
#[derive(Serialize, Deserialize)]
struct Stored {
    sub_bits: u8,
    count: u64,
    sum: u64,
    min: Option<u64>,
    max: Option<u64>,
    buckets: Vec<(u32, u64)>,
}

impl From<Histogram> for Stored {
    fn from(histogram: Histogram) -> Self {
        Self {
            sub_bits: histogram.sub_bits,
            count: histogram.count,
            sum: histogram.sum,
            min: histogram.min(),
            max: histogram.max(),
            buckets: histogram.buckets,
        }
    }
}

impl TryFrom<Stored> for Histogram {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        if stored.sub_bits > FINEST {
            return Err(format!("histogram with sub_bits {} (at most {FINEST})", stored.sub_bits));
        }
        let end = bucket::buckets_for_u64(u32::from(stored.sub_bits));
        let mut in_buckets = 0u64;
        for &(index, count) in &stored.buckets {
            if index as usize >= end {
                return Err(format!("histogram bucket {index} (of {end})"));
            }
            in_buckets = in_buckets.checked_add(count).ok_or("histogram counts beyond 2^64")?;
        }
        if !stored.buckets.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("histogram whose buckets are not in rising order".to_owned());
        }
        if in_buckets > stored.count {
            return Err(format!("histogram with {in_buckets} values in buckets, but a count of {}", stored.count));
        }
        let (min, max) = match (stored.min, stored.max) {
            (Some(min), Some(max)) if min <= max && stored.count > 0 => (min, max),
            (None, None) if stored.count == 0 => (u64::MAX, 0),
            _ => return Err("histogram whose minimum, maximum and count do not fit together".into()),
        };
        let mut buckets = stored.buckets;
        buckets.retain(|&(_, count)| count > 0);
        Ok(Self { sub_bits: stored.sub_bits, count: stored.count, sum: stored.sum, min, max, buckets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(sub_bits: u8) -> Histogram {
        let mut histogram = Histogram::new(sub_bits);
        (1..=100_000).for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn quantiles_stay_within_the_stated_error() {
        for sub_bits in [KERNEL, FINE] {
            let histogram = uniform(sub_bits);
            for (q, exact) in [(0.5, 50_000.0), (0.9, 90_000.0), (0.99, 99_000.0), (0.999, 99_900.0)] {
                let got = histogram.quantile(q).expect("enough values") as f64;
                assert!((got - exact).abs() / exact <= histogram.relative_error() + 1e-5, "{q}: {got}");
            }
        }
    }

    #[test]
    fn a_quantile_is_shown_only_with_enough_values() {
        let mut histogram = Histogram::new(FINE);
        assert_eq!(histogram.quantile(0.5), None);
        (0..99).for_each(|value| histogram.record(value));
        assert_eq!(histogram.quantile(0.99), None);
        histogram.record(99);
        assert!(histogram.quantile(0.99).is_some());
        assert_eq!(histogram.quantile(0.999), None);
    }

    #[test]
    fn merging_equals_recording_everything_in_one() {
        let mut whole = Histogram::new(FINE);
        let mut left = Histogram::new(FINE);
        let mut right = Histogram::new(FINE);
        for value in 0..10_000u64 {
            whole.record(value * value);
            if value % 3 == 0 { left.record(value * value) } else { right.record(value * value) }
        }
        left.merge(&right);
        assert_eq!(left, whole);
    }

    #[test]
    fn a_histogram_survives_its_file_form() {
        for histogram in [uniform(KERNEL), Histogram::new(FINE)] {
            let text = serde_json::to_string(&histogram).expect("serializable");
            assert_eq!(serde_json::from_str::<Histogram>(&text).expect("valid"), histogram);
        }
    }

    #[test]
    fn a_far_bucket_takes_no_more_memory_than_a_near_one() {
        let text = r#"{"sub_bits":7,"count":1,"sum":1,"min":1,"max":1,"buckets":[[7423,1]]}"#;
        let histogram: Histogram = serde_json::from_str(text).expect("valid");
        assert!(histogram.buckets.capacity() <= 4, "{}", histogram.buckets.capacity());
    }

    #[test]
    fn impossible_histograms_are_refused() {
        for text in [
            r#"{"sub_bits":4,"count":1,"sum":1,"min":1,"max":1,"buckets":[[4000000000,1]]}"#,
            r#"{"sub_bits":60,"count":0,"sum":0,"min":null,"max":null,"buckets":[]}"#,
            r#"{"sub_bits":4,"count":1,"sum":1,"min":1,"max":1,"buckets":[[1,2]]}"#,
            r#"{"sub_bits":4,"count":1,"sum":1,"min":null,"max":1,"buckets":[[1,1]]}"#,
            r#"{"sub_bits":4,"count":5,"sum":9,"min":1,"max":2,"buckets":[[2,2],[1,3]]}"#,
            r#"{"sub_bits":4,"count":9,"sum":1,"min":1,"max":1,"buckets":[[1,18446744073709551615],[2,1]]}"#,
        ] {
            assert!(serde_json::from_str::<Histogram>(text).is_err(), "{text}");
        }
    }
}
