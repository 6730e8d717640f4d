//! The bytes of each request. Does not send or compare them.

use std::ops::{Range, RangeInclusive};

/// Different payloads there are of one size. Prime, so that steps through them meet all before one comes again.
const VARIANTS: usize = 65_521;
/// From one slot's payloads to the next slot's.
const SLOT_STEP: usize = 40_503;

/// Pseudo-random bytes of which each request is a window: nothing is copied, and a reply that is shifted, stale or another
/// connection's does not compare equal.
#[derive(Debug)]
pub(super) struct Pattern {
    bytes: Vec<u8>,
    min_bytes: usize,
    /// How many sizes there are; 1 when all requests are alike.
    sizes: usize,
}

impl Pattern {
    pub(super) fn new(sizes: RangeInclusive<usize>) -> Self {
        let length = VARIANTS + sizes.end();
        let mut state = 0u64;
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            bytes.extend_from_slice(&mixed(state).to_le_bytes());
        }
        Self { bytes, min_bytes: *sizes.start(), sizes: sizes.end() - sizes.start() + 1 }
    }

    /// Where the payload of one request is, which is also its only right reply.
    pub(super) fn window(&self, slot: u32, round: u64) -> Range<usize> {
        // The remainder is below VARIANTS, so it fits.
        let turn = usize::try_from(round % VARIANTS as u64).unwrap_or(0);
        let start = (slot as usize % VARIANTS * SLOT_STEP + turn) % VARIANTS;
        start..start + self.size(slot, round)
    }

    /// The bytes of a window.
    pub(super) fn payload(&self, window: &Range<usize>) -> &[u8] {
        &self.bytes[window.clone()]
    }

    /// Every size is as likely, and the same requests have the same sizes in every run.
    fn size(&self, slot: u32, round: u64) -> usize {
        if self.sizes == 1 {
            return self.min_bytes;
        }
        let random = mixed((u64::from(slot) << 40) ^ round.wrapping_add(1));
        // The remainder is below a usize, so it fits.
        self.min_bytes + usize::try_from(random % self.sizes as u64).unwrap_or(0)
    }
}

/// The output step of splitmix64: any generator does, but the same numbers in every run.
fn mixed(state: u64) -> u64 {
    let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn payloads_differ_between_rounds_and_between_connections() {
        let pattern = Pattern::new(16..=16);
        let payload = |slot, round| pattern.payload(&pattern.window(slot, round));
        let rounds: HashSet<&[u8]> = (0..60_000).map(|round| payload(3, round)).collect();
        assert_eq!(rounds.len(), 60_000);
        let slots: HashSet<&[u8]> = (0..60_000).map(|slot| payload(slot, 9)).collect();
        assert_eq!(slots.len(), 60_000);
    }

    #[test]
    fn every_payload_has_the_size_that_was_asked_for() {
        let pattern = Pattern::new(1 << 20..=1 << 20);
        assert_eq!(pattern.payload(&pattern.window(u32::MAX, u64::MAX)).len(), 1 << 20);
    }

    #[test]
    fn sizes_of_a_range_are_all_met_and_no_others() {
        let pattern = Pattern::new(10..=19);
        let sizes: HashSet<usize> = (0..1000).map(|round| pattern.window(7, round).len()).collect();
        assert_eq!(sizes, (10..=19).collect());
    }
}
