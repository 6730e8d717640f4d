//! The log-linear histogram's bucket function: one definition for the kernel side and user space.
//!
//! Each power of two is cut into `2^sub_bits` buckets of equal width (the layout of `HdrHistogram`), so
//! a value reported as its bucket's middle is off by at most `2^-(sub_bits+1)` of itself.

/// Sub-bucket bits of the histograms kept in the kernel: 16 buckets per power of two, relative error at most 3.125 %.
pub const SUB_BITS: u32 = 4;

/// Values of `2^MAX_BITS` ns (73 minutes) and above share the last bucket; `max` stays exact.
pub const MAX_BITS: u32 = 42;

/// Number of buckets of a histogram kept in the kernel.
pub const BUCKETS: usize = ((MAX_BITS - SUB_BITS + 1) << SUB_BITS) as usize;

/// Position of the highest set bit; 0 for 0.
///
/// Written out because BPF has no count-leading-zeros instruction: this form is six compares.
#[inline(always)]
#[must_use]
pub const fn floor_log2(mut value: u64) -> u32 {
    let mut log = 0;
    if value >= 1 << 32 {
        value >>= 32;
        log += 32;
    }
    if value >= 1 << 16 {
        value >>= 16;
        log += 16;
    }
    if value >= 1 << 8 {
        value >>= 8;
        log += 8;
    }
    if value >= 1 << 4 {
        value >>= 4;
        log += 4;
    }
    if value >= 1 << 2 {
        value >>= 2;
        log += 2;
    }
    if value >= 1 << 1 {
        log += 1;
    }
    log
}

/// Bucket that holds `value`, in a layout of `sub_bits`.
#[inline(always)]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "both casts are of values below 2^32")]
pub const fn index(value: u64, sub_bits: u32) -> u32 {
    if value < 1 << sub_bits {
        return value as u32;
    }
    let log = floor_log2(value);
    let within = (value >> (log - sub_bits)) as u32 & ((1 << sub_bits) - 1);
    ((log - sub_bits + 1) << sub_bits) | within
}

/// Bucket of a latency in the kernel's histograms, always below [`BUCKETS`].
#[inline(always)]
#[must_use]
pub const fn index_ns(ns: u64) -> u32 {
    let longest = (1 << MAX_BITS) - 1;
    index(if ns > longest { longest } else { ns }, SUB_BITS)
}

/// Lowest value of a bucket, and the number of values in it.
#[must_use]
pub const fn bounds(index: u32, sub_bits: u32) -> (u64, u64) {
    if index < 1 << sub_bits {
        return (index as u64, 1);
    }
    let shift = (index >> sub_bits) - 1;
    let within = (index & ((1 << sub_bits) - 1)) as u64;
    (((1 << sub_bits) + within) << shift, 1 << shift)
}

/// Number of buckets that cover every `u64` in a layout of `sub_bits`.
#[must_use]
pub const fn buckets_for_u64(sub_bits: u32) -> usize {
    ((64 - sub_bits + 1) << sub_bits) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> impl Iterator<Item = u64> {
        (0..5_000).chain((0..64).flat_map(|bit| {
            let power = 1u64 << bit;
            [power.saturating_sub(1), power, power | 1, power | (power >> 1), power.wrapping_mul(2).wrapping_sub(1)]
        }))
    }

    #[test]
    fn floor_log2_equals_the_standard_library() {
        for value in samples().filter(|&value| value > 0) {
            assert_eq!(floor_log2(value), value.ilog2(), "{value}");
        }
    }

    #[test]
    fn every_value_lies_within_the_bounds_of_its_bucket() {
        for sub_bits in [4, 7, 10] {
            for value in samples() {
                let bucket = index(value, sub_bits);
                let (low, width) = bounds(bucket, sub_bits);
                assert!(value >= low && value - low < width, "{value} in {bucket}: {low}+{width}");
                assert!((bucket as usize) < buckets_for_u64(sub_bits));
            }
        }
    }

    #[test]
    fn buckets_follow_each_other_without_gap_or_overlap() {
        for sub_bits in [4, 7] {
            let last = u32::try_from(buckets_for_u64(sub_bits)).expect("small") - 1;
            for bucket in 0..last {
                let (low, width) = bounds(bucket, sub_bits);
                assert_eq!(low + width, bounds(bucket + 1, sub_bits).0);
            }
        }
    }

    #[test]
    fn the_middle_of_a_bucket_is_within_the_stated_error() {
        for value in samples().filter(|&value| value > 0 && value < 1 << 60) {
            let (low, width) = bounds(index(value, SUB_BITS), SUB_BITS);
            let middle = low as f64 + (width - 1) as f64 / 2.0;
            assert!((middle - value as f64).abs() / value as f64 <= 1.0 / 32.0, "{value}");
        }
    }

    #[test]
    fn kernel_histogram_never_indexes_past_its_end() {
        for value in samples() {
            assert!((index_ns(value) as usize) < BUCKETS, "{value}");
        }
        assert_eq!(index_ns(u64::MAX) as usize, BUCKETS - 1);
    }
}
