//! Perf counters of a group, in one line.

use super::{page::Page, style::Tone};
use crate::{printable::clipped, recording::PerfCount, units};

pub(super) fn write(page: &mut Page, counts: &[PerfCount]) {
    if counts.is_empty() {
        return;
    }
    let told = |counted: &PerfCount| {
        let count = counted.count.map_or("-".to_owned(), units::count);
        format!("{} {count}", clipped(&counted.name, super::NAME_COLUMNS))
    };
    let list: Vec<String> = counts.iter().map(told).collect();
    page.prose(Tone::Quiet, 4, &format!("  {}", list.join(", ")));
}
