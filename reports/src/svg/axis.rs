//! From values to pixels, and which values to mark on an axis so that their labels never touch.
//!
//! Draws nothing.

/// Room between the middles of neighbouring labels, in pixels; times have at most 8 letters up to 1,000 s.
const LABEL_PITCH: f64 = 58.0;

/// Room between neighbouring labels whose width is known, in pixels.
const LABEL_GAP: f64 = 14.0;

/// The same where labels stand above each other.
const LABEL_PITCH_UPRIGHT: f64 = 24.0;

/// A logarithmic axis over at least one decade.
pub(crate) struct LogAxis {
    low: f64,
    high: f64,
    pixels: (f64, f64),
    /// Room for a label.
    pitch: f64,
}

impl LogAxis {
    /// Over all values from `low` to `high`, with a little air on both sides.
    pub(crate) fn new(low: u64, high: u64, pixels: (f64, f64)) -> Self {
        let (mut low, mut high) = ((low.max(1) as f64) / 1.15, (high.max(1) as f64) * 1.15);
        let missing = (10.0 * low / high).max(1.0).sqrt();
        low /= missing;
        high *= missing;
        Self { low, high, pixels, pitch: LABEL_PITCH }
    }

    /// The same from bottom to top.
    pub(crate) fn upright(low: u64, high: u64, pixels: (f64, f64)) -> Self {
        Self { pitch: LABEL_PITCH_UPRIGHT, ..Self::new(low, high, pixels) }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let part = (value.max(self.low) / self.low).log10() / self.decades();
        self.pixels.0 + part.min(1.0) * (self.pixels.1 - self.pixels.0)
    }

    fn decades(&self) -> f64 {
        (self.high / self.low).log10()
    }

    /// Values to label: 1-2-5, whole decades, or every few decades.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let decade = (self.pixels.1 - self.pixels.0).abs() / self.decades();
        // Between 2 and 5 there are 0.398 decades, between the others 0.301.
        if decade * 0.301 >= self.pitch {
            return self.marks(&[1.0, 2.0, 5.0], 1);
        }
        if decade * 0.477 >= self.pitch {
            return self.marks(&[1.0, 3.0], 1);
        }
        let every = (1..=20).find(|&every| decade * f64::from(every) >= self.pitch * 1.4);
        self.marks(&[1.0], every.unwrap_or(1))
    }

    /// Values to mark without a label.
    pub(crate) fn minor_ticks(&self) -> Vec<f64> {
        let digits: &[f64] =
            if self.decades() <= 6.0 { &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0] } else { &[1.0] };
        self.marks(digits, 1)
    }

    fn marks(&self, digits: &[f64], every: i32) -> Vec<f64> {
        #[expect(clippy::cast_possible_truncation, reason = "decades of a u64 are at most 20")]
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let decades = (first..=last).filter(|decade| decade % every == 0).map(|decade| 10.0_f64.powi(decade));
        let values = decades.flat_map(|power| digits.iter().map(move |digit| digit * power));
        values.filter(|value| (self.low..=self.high).contains(value)).collect()
    }
}

/// A linear axis from 0.
pub(crate) struct LinearAxis {
    high: f64,
    pixels: (f64, f64),
}

impl LinearAxis {
    /// From 0 to `high`.
    pub(crate) fn new(high: f64, pixels: (f64, f64)) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        Self { high, pixels }
    }

    /// The highest value.
    pub(crate) fn end(&self) -> f64 {
        self.high
    }

    /// Pixels from the axis' start.
    pub(crate) fn length(&self, value: f64) -> f64 {
        (value / self.high).clamp(0.0, 1.0) * (self.pixels.1 - self.pixels.0)
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        self.pixels.0 + self.length(value)
    }

    /// The same, ending at the first round value that is not below its highest.
    pub(crate) fn rounded_up(self, label: f64) -> Self {
        let step = self.step(label);
        Self { high: (self.high / step * 0.999_999).ceil() * step, ..self }
    }

    /// Distance of round values.
    fn step(&self, label: f64) -> f64 {
        let most = ((self.pixels.1 - self.pixels.0) / (label + LABEL_GAP).max(LABEL_PITCH)).max(1.0);
        let power = 10.0_f64.powf((self.high / most).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| self.high / step <= most);
        step.unwrap_or(self.high)
    }

    /// Round values to label, 0 among them, for labels of at most so many pixels.
    pub(crate) fn ticks(&self, label: f64) -> Vec<f64> {
        let step = self.step(label);
        (0..20).map(|number| f64::from(number) * step).filter(|&tick| tick <= self.high * 1.000_001).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_a_log_axis_never_touch_and_are_at_least_two() {
        for (low, high) in [(5, 5), (1, 1), (900, 1_100), (190, 4_000_000), (1, u64::MAX), (0, 3), (41, 39_000_000)] {
            let axis = LogAxis::new(low, high, (0.0, 600.0));
            let places: Vec<f64> = axis.ticks().into_iter().map(|tick| axis.at(tick)).collect();
            assert!(places.len() >= 2, "{low}..{high}: {places:?}");
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_PITCH - 1.0), "{low}..{high}: {places:?}");
        }
    }

    #[test]
    fn every_value_lies_on_the_log_axis() {
        let axis = LogAxis::new(190, 4_000, (60.0, 660.0));
        for value in [0.0, 190.0, 4_000.0, 1e12] {
            assert!((60.0..=660.0).contains(&axis.at(value)), "{value}");
        }
    }

    #[test]
    fn a_linear_axis_has_few_round_labels_from_zero() {
        for high in [0.0, 0.031, 1.0, 21_930.0, 1e21] {
            let axis = LinearAxis::new(high, (0.0, 220.0));
            let ticks = axis.ticks(40.0);
            assert!((2..=5).contains(&ticks.len()), "{high}: {ticks:?}");
            let longer = LinearAxis::new(high, (0.0, 220.0)).rounded_up(40.0);
            let last = longer.ticks(40.0).last().copied().unwrap_or(0.0);
            assert!(last >= high && (last - longer.end()).abs() <= longer.end() * 1e-6, "{high}: {last}");
        }
    }
}
