//! Recording at the rate of events.

use probes::bucket;

use super::{Histogram, KERNEL};

/// A [`Histogram`] in the making: as large as its largest value's bucket asks for, and a value costs one look, not a search.
#[derive(Clone, Debug)]
pub struct Recorder {
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
    /// By bucket in the [`KERNEL`] layout: at most 976.
    counts: Vec<u64>,
}

impl Default for Recorder {
    /// Nothing recorded.
    fn default() -> Self {
        Self { count: 0, sum: 0, min: u64::MAX, max: 0, counts: Vec::new() }
    }
}

impl Recorder {
    /// Adds one value.
    pub fn record(&mut self, value: u64) {
        let index = bucket::index(value, u32::from(KERNEL)) as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds what another one has recorded.
    pub fn add(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

impl From<Recorder> for Histogram {
    fn from(recorder: Recorder) -> Self {
        let Recorder { count, sum, min, max, counts } = recorder;
        Self::from_parts(KERNEL, count, sum, min, max, counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorder_becomes_what_a_histogram_records() {
        let (mut recorder, mut histogram) = (Recorder::default(), Histogram::new(KERNEL));
        for value in [0, 1, 15, 16, 1_000, 999_999, 1 << 43, u64::MAX, 1_000] {
            recorder.record(value);
            histogram.record(value);
        }
        assert_eq!(Histogram::from(recorder), histogram);
        assert_eq!(Histogram::from(Recorder::default()), Histogram::new(KERNEL));
    }

    #[test]
    fn adding_up_equals_recording_everything_in_one() {
        let values = [3_000_u64, 7, 1 << 20];
        let mut all = Recorder::default();
        let mut sum = Recorder::default();
        for value in values {
            all.record(value);
            let mut one = Recorder::default();
            one.record(value);
            sum.add(&one);
        }
        assert_eq!(Histogram::from(sum), Histogram::from(all));
    }
}
