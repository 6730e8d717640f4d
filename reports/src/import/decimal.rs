//! Printed numbers as whole nanoseconds, exactly as printed.

/// A printed time and the worth of its last digit, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) ns: u64,
    pub(super) resolution_ns: u64,
}

/// Digits, perhaps with a point, in a unit of so many ns (a power of ten, or minutes and hours).
pub(super) fn in_unit(text: &str, unit_ns: u64) -> Option<Printed> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 18 || !digits(whole) || !digits(fraction) || text.ends_with('.') {
        return None;
    }
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let number = whole.parse::<u128>().ok()?.checked_mul(scale)?;
    let number = number.checked_add(if fraction.is_empty() { 0 } else { fraction.parse().ok()? })?;
    let ns = u64::try_from(number.checked_mul(u128::from(unit_ns))? / scale).ok()?;
    let resolution_ns = u64::try_from((u128::from(unit_ns) / scale).max(1)).ok()?;
    Some(Printed { ns, resolution_ns })
}

/// A number with its unit right behind it: `250.00us`, `1.10s`, `5.00m`.
pub(super) fn with_unit(text: &str) -> Option<Printed> {
    let end = text.find(|c: char| c.is_ascii_alphabetic())?;
    let unit_ns = match &text[end..] {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    in_unit(&text[..end], unit_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(ns: u64, resolution_ns: u64) -> Option<Printed> {
        Some(Printed { ns, resolution_ns })
    }

    #[test]
    fn numbers_are_taken_exactly() {
        assert_eq!(in_unit("0.141028", 1_000_000_000), printed(141_028_000, 1_000));
        assert_eq!(in_unit("167.475", 1_000_000), printed(167_475_000, 1_000));
        assert_eq!(in_unit("11", 1_000_000), printed(11_000_000, 1_000_000));
        assert_eq!(with_unit("250.00us"), printed(250_000, 10));
        assert_eq!(with_unit("5.00m"), printed(300_000_000_000, 600_000_000));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", ".", "1.", ".5", "-1", "1e9", "nan", "1,5", "99999999999999999999999999999999999999999", "٣"]
        {
            assert_eq!(in_unit(text, 1_000_000_000), None, "{text}");
        }
        for text in ["", "12", "ms", "12qs", "-1ms", "1.2.3s", "99999999999999999999h"] {
            assert_eq!(with_unit(text), None, "{text}");
        }
    }
}
