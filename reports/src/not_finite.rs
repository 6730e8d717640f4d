//! Numbers that are not finite: JSON has no form for them, they are written as `null`. Here that reads back as not a number,
//! so that no recording becomes unreadable by one odd figure; whoever shows it shows `-`.

use serde::{Deserialize, Deserializer};

/// A number, or NaN for `null`.
pub(crate) fn or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}
