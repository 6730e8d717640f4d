//! What longer connections changed, as a table and three sentences.

use super::{METRIC_COLUMNS, SHOWN};
use crate::{
    compare::LongConnections,
    printable::clipped,
    text::{
        grid::Grid,
        page::Page,
        style::{Style, Tone},
    },
    units,
};

pub(super) fn write(page: &mut Page, long: &LongConnections, style: &Style) {
    page.heading("what longer connections changed");
    let turned = if long.reversed { ", told from the shorter to the longer" } else { "" };
    page.prose(
        Tone::Plain,
        4,
        &format!(
            "  requests per connection: {} -> {}{turned}; by construction {} of all that is done once per connection \
             must vanish (1 - 1/K)",
            units::ratio(long.short_requests),
            units::ratio(long.long_requests),
            units::percent(long.by_construction),
        ),
    );
    if !long.calls.is_empty() {
        let header = ["for each request", "calls", "now", "vanished", "time gone", "cheaper", ""];
        let mut grid = Grid::new(&[0, 6], &header);
        for call in long.calls.iter().take(2 * SHOWN) {
            let time = |ns: f64| if call.waits { String::new() } else { signed_time(ns) };
            let gone = 1.0 - call.long_calls / call.short_calls;
            let gone = if gone.is_finite() { format!("{:.1}%", gone * 100.0) } else { "new".to_owned() };
            let name = format!("{}{}", clipped(&call.owner, METRIC_COLUMNS), if call.waits { " *" } else { "" });
            let remark = if call.as_constructed { "by construction" } else { "" };
            grid.row(
                Tone::Plain,
                vec![
                    name,
                    units::ratio(call.short_calls),
                    units::ratio(call.long_calls),
                    gone,
                    time(call.vanished_ns),
                    time(call.cheaper_ns),
                    remark.to_owned(),
                ],
            );
        }
        page.block(&grid.render(style));
    }
    sums(page, long);
    bought(page, long);
}

/// Added up by group, so that server and client are not mixed.
fn sums(page: &mut Page, long: &LongConnections) {
    let mut groups: Vec<&str> = long.calls.iter().filter_map(|call| call.owner.split('.').next()).collect();
    groups.sort_unstable_by(|one, other| other.cmp(one));
    groups.dedup();
    for group in groups {
        let of_group = || long.calls.iter().filter(|call| call.owner.split('.').next() == Some(group) && !call.waits);
        let vanished: f64 = of_group().map(|call| call.vanished_ns).sum();
        let constructed: f64 = of_group().filter(|call| call.as_constructed).map(|call| call.vanished_ns).sum();
        let cheaper: f64 = of_group().map(|call| call.cheaper_ns).sum();
        page.prose(
            Tone::Plain,
            4,
            &format!(
                "  {}: {} less for each request: {} vanished with the calls, {} of it by construction; {} because the \
                 calls that stayed are cheaper",
                clipped(group, METRIC_COLUMNS),
                signed_time(vanished + cheaper),
                signed_time(vanished),
                signed_time(constructed),
                signed_time(cheaper),
            ),
        );
    }
}

fn bought(page: &mut Page, long: &LongConnections) {
    let Some(gain) = long.rate_gain else { return };
    let limit = long.rate_limit.map_or(String::new(), |limit| {
        format!("; still longer ones would bring at most {} times that, if 1/rate = b + a/K holds", units::ratio(limit))
    });
    let latency = long
        .request_p50_ratio
        .map_or(String::new(), |ratio| format!(", at {} times the request latency (p50)", units::ratio(ratio)));
    let text = format!("  it bought: {} times the requests per second{latency}{limit}", units::ratio(gain));
    page.prose(Tone::Plain, 4, &text);
}

fn signed_time(ns: f64) -> String {
    let sign = if ns < -0.5 { "-" } else { "" };
    format!("{sign}{}", units::duration_f64(ns.abs()))
}
