//! Where the record of a socket lies.

/// Records that the direct-mapped table has; two of one place do not fit.
pub const DIRECT: u32 = 1 << DIRECT_BITS;

const DIRECT_BITS: u32 = 14;

/// Records of those that found their place in the direct-mapped table taken.
pub const COLLIDED: u32 = 1 << 16;

/// No `tcp_sock` is smaller than two to the power of this (v6.18: 2,368 bytes and more).
const SOCKET_BITS: u32 = 11;

/// Place of a socket's record in the direct-mapped table: neighbours in the kernel's memory are neighbours here, so that
/// few pages are touched, and the sockets of any aligned 32 MiB have places of their own.
#[inline(always)]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the upper bits are cut off on purpose")]
pub const fn direct_place(socket: u64) -> u32 {
    let within = socket >> SOCKET_BITS;
    // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4): the upper bits are mixed best.
    let beyond = (within >> DIRECT_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - DIRECT_BITS);
    (within ^ beyond) as u32 % DIRECT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slab of 32 KiB holds 13 sockets.
    fn in_slabs(n: u64) -> u64 {
        0xffff_8881_0000_0000 + n / 13 * 0x8000 + n % 13 * 2_432
    }

    fn collisions(sockets: impl Iterator<Item = u64>) -> usize {
        let mut taken = [false; DIRECT as usize];
        sockets.filter(|&socket| core::mem::replace(&mut taken[direct_place(socket) as usize], true)).count()
    }

    #[test]
    fn sockets_that_lie_together_do_not_collide() {
        assert_eq!(collisions((0..13_000).map(in_slabs)), 0);
    }

    #[test]
    fn sockets_that_lie_far_apart_collide_no_more_than_by_chance() {
        // N - M (1 - exp(-N/M)) of N in M places: 113 of 2,000.
        let far = collisions((0..2_000).map(|n| in_slabs(n * 7_919)));
        assert!(far < 226, "{far}");
    }
}
