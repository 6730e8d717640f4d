//! How numbers are written: times, counts, rates and shares, in ASCII and with three significant digits.
//!
//! Owns no layout: columns and bars are the renderers' affair.

/// Units of time from small to large, with their length in ns.
const TIME_UNITS: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")];

/// A time: `480 ns`, `1.23 us`, `45.6 ms`, `2.31 s`, `1,234 s`.
#[must_use]
pub fn duration(ns: u64) -> String {
    duration_f64(ns as f64)
}

/// A time that is not whole, such as a mean.
#[must_use]
pub fn duration_f64(ns: f64) -> String {
    if !ns.is_finite() {
        return "-".to_owned();
    }
    for (length_ns, unit) in TIME_UNITS {
        let number = if unit == "ns" { format!("{ns:.0}") } else { three_digits(ns / length_ns) };
        // Decided after rounding: 999.6 ns is 1.00 us, not 1000 ns.
        if unit == "s" || number.len() < 4 || number.contains('.') {
            return format!("{number} {unit}");
        }
    }
    unreachable!("bug: the last unit takes any number")
}

/// Three significant digits; whole numbers with separators from 100 on.
fn three_digits(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    // Rounding can add a digit, so the borders lie half a last digit below the power of ten.
    let decimals = match value {
        small if small < 9.995 => 2,
        middle if middle < 99.95 => 1,
        _ => return separated(&format!("{value:.0}")),
    };
    format!("{value:.decimals$}")
}

/// A count with thousands separators: `1,234,567`.
#[must_use]
pub fn count(number: u64) -> String {
    separated(&number.to_string())
}

/// A change or difference with thousands separators: `-1,234`.
#[must_use]
pub fn signed(number: i64) -> String {
    separated(&number.to_string())
}

fn separated(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let mut text = String::from(sign);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things per second, without the unit: `28,412`, `3.25`.
#[must_use]
pub fn rate(per_s: f64) -> String {
    three_digits(per_s)
}

/// An amount of memory or data: `640 B`, `12.3 KiB`, `2.00 GiB`.
#[must_use]
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = number as f64;
    let mut unit = None;
    // Decided after rounding, as times are.
    while value >= if unit.is_some() { 999.5 } else { 1024.0 } && unit != Some(UNITS.len() - 1) {
        value /= 1024.0;
        unit = Some(unit.map_or(0, |unit| unit + 1));
    }
    match unit {
        None => format!("{number} B"),
        Some(unit) => format!("{} {}", three_digits(value), UNITS[unit]),
    }
}

/// A ratio such as calls per request: `4.03`, `12.1`.
#[must_use]
pub fn ratio(value: f64) -> String {
    three_digits(value)
}

/// A share of a whole in 0..=1 as `41.2 %`; what is there but would round to nothing is `<0.1 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "-".to_owned();
    }
    if share > 0.0 && share < 0.000_5 {
        return "<0.1 %".to_owned();
    }
    format!("{:.1} %", share * 100.0)
}

/// A number with its noun: `1 call`, `2 calls`.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_the_unit_that_fits() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (5.4, "5 ns"),
            (480.0, "480 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 us"),
            (1_234.0, "1.23 us"),
            (9_994.0, "9.99 us"),
            (9_996.0, "10.0 us"),
            (99_940.0, "99.9 us"),
            (99_960.0, "100 us"),
            (999_499.0, "999 us"),
            (999_600.0, "1.00 ms"),
            (45_600_000.0, "45.6 ms"),
            (999_600_000.0, "1.00 s"),
            (2_310_000_000.0, "2.31 s"),
            (1_234_000_000_000.0, "1,234 s"),
        ] {
            assert_eq!(duration_f64(ns), text, "{ns}");
        }
        assert_eq!(duration(u64::MAX), "18,446,744,074 s");
    }

    #[test]
    fn counts_are_separated_by_thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(count(number), text);
        }
        assert_eq!(signed(-999), "-999");
        assert_eq!(signed(-1_000), "-1,000");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn shares_never_hide_what_is_there() {
        for (share, text) in
            [(0.0, "0.0 %"), (0.0004, "<0.1 %"), (0.0006, "0.1 %"), (0.4123, "41.2 %"), (1.0, "100.0 %")]
        {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn rates_and_ratios_keep_three_digits() {
        for (value, text) in [(28_412.4, "28,412"), (3.254, "3.25"), (12.06, "12.1"), (0.0, "0.00"), (999.9, "1,000")] {
            assert_eq!(rate(value), text);
        }
        assert_eq!(counted(1, "call"), "1 call");
        assert_eq!(counted(1_000, "call"), "1,000 calls");
    }
}
