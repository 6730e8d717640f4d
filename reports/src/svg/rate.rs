//! How often a group's system calls returned over the run, and how often they failed.

use std::cmp::Reverse;

use super::{
    figure::Figure,
    frame::{self, Words},
    intervals::Columns,
    over_time::{self, Line, OverTime, Strip},
};
use crate::{
    recording::{Group, GroupSeries, Recording, SeriesPoint, SyscallSeries},
    units,
};

/// Points of a curve.
const COLUMNS: u32 = 120;

/// The chart for one group of the run named `run`; `None` without a series of it.
#[must_use]
pub fn rate(recording: &Recording, run: &str, group: &Group) -> Option<Figure<'static>> {
    let all = recording.series.as_ref()?;
    let columns = Columns::of(all, recording.duration_ns, COLUMNS)?;
    let series = all.groups.iter().find(|series| series.name == group.name)?;
    let strips = vec![
        strip("calls per second", series, &columns, |point| point.calls),
        strip("failed calls per second", series, &columns, |point| point.errors),
    ];
    let words = Words {
        title: format!("System calls of the {}: how many a second", who(group)),
        subtitle: "Returns per second; failed are those that returned an error number, EAGAIN included".into(),
        caption: vec![
            frame::how_measured(recording, run),
            format!(
                "the {} most frequent calls, {} a point; calls are counted when they return",
                over_time::CURVES,
                units::duration_f64(columns.whole_ns()),
            ),
        ],
    };
    OverTime { name: "rate", words, at_ns: columns.middles_ns(), strips }.figure()
}

fn who(group: &Group) -> String {
    frame::whose(&group.name, &group.label)
}

fn strip(heading: &'static str, series: &GroupSeries, columns: &Columns, figure: fn(&SeriesPoint) -> u64) -> Strip {
    let sum = |call: &SyscallSeries| call.points.iter().fold(0u64, |sum, point| sum.saturating_add(figure(point)));
    let mut calls: Vec<_> = series.syscalls.iter().map(|call| (sum(call), call)).filter(|(sum, _)| *sum > 0).collect();
    calls.sort_by(|a, b| (Reverse(a.0), &a.1.name).cmp(&(Reverse(b.0), &b.1.name)));
    let line = |(_, call): &(u64, &SyscallSeries)| Line {
        name: call.name.clone(),
        values: columns.per_s(&call.points, figure),
    };
    Strip { heading, unit: "per_s", show: units::rate, lines: calls.iter().take(over_time::CURVES).map(line).collect() }
}
