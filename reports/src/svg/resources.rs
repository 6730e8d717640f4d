//! Charts of what was sampled during a run: listen queues and drops, `TIME_WAIT`, CPU time.

use super::{
    figure::Figure,
    frame::{self, Words},
    over_time::{self, Line, OverTime, Strip},
};
use crate::{
    recording::{Recording, Resources, Sample},
    units,
};

/// Points of a curve; further samples are put together.
const POINTS: usize = 120;

/// The samples of a run, as many at once as give a point.
struct Points<'a> {
    parts: Vec<(&'a [Sample], f64)>,
}

impl<'a> Points<'a> {
    fn of(resources: &'a Resources) -> Option<Self> {
        let mut before = 0;
        let parts = resources.samples.chunks(resources.samples.len().div_ceil(POINTS).max(1));
        let parts: Vec<_> = parts
            .map(|part| {
                let end = part.last().map_or(before, |sample| sample.at_ns);
                let span = end.saturating_sub(before);
                before = end;
                (part, span as f64)
            })
            .collect();
        (!parts.is_empty()).then_some(Self { parts })
    }

    fn at_ns(&self) -> Vec<f64> {
        self.parts.iter().map(|(part, _)| part.last().map_or(0.0, |sample| sample.at_ns as f64)).collect()
    }

    /// Of what has a value at each moment: the highest in each part.
    fn highest(&self, figure: impl Fn(&Sample) -> Option<u64>) -> Vec<f64> {
        let highest = |part: &[Sample]| part.iter().filter_map(&figure).max().map_or(f64::NAN, |value| value as f64);
        self.parts.iter().map(|(part, _)| highest(part)).collect()
    }

    /// Of what is counted from sample to sample: per ns of each part.
    fn per_ns(&self, figure: impl Fn(&Sample) -> Option<u64>) -> Vec<f64> {
        let sum = |part: &[Sample]| part.iter().filter_map(&figure).map(|count| count as f64).sum::<f64>();
        self.parts.iter().map(|(part, span)| if *span > 0.0 { sum(part) / span } else { f64::NAN }).collect()
    }
}

fn caption(recording: &Recording, run: &str, what: &str) -> Vec<String> {
    let samples = recording.resources.as_ref().map_or(0, |resources| resources.samples.len());
    vec![frame::how_measured(recording, run), format!("{}; {what}", units::counted(samples as u64, "sample"))]
}

/// A number of things, which an axis may have to cut into halves.
fn number(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and not negative; a cast saturates"
    )]
    if value.fract() == 0.0 && value >= 0.0 { units::count(value as u64) } else { units::ratio(value) }
}

/// Queue and drops of each listener over the run named `run`; `None` when none was sampled.
#[must_use]
pub fn listeners(recording: &Recording, run: &str) -> Option<Figure<'static>> {
    let resources = recording.resources.as_ref()?;
    let points = Points::of(resources)?;
    let names = resources.listeners.iter().take(over_time::CURVES).enumerate();
    let (queues, drops) = names
        .map(|(number, name)| {
            let queue = points.highest(|sample| Some(sample.listeners.get(number)?.queue.into()));
            let drops = points.per_ns(|sample| Some(sample.listeners.get(number)?.drops.into()));
            let drops = drops.into_iter().map(|per_ns| per_ns * 1e9).collect();
            (Line { name: name.clone(), values: queue }, Line { name: name.clone(), values: drops })
        })
        .unzip();
    let words = Words {
        title: "How full the listen queues were, and what they dropped".into(),
        subtitle: "Above: connections that waited for accept when it was looked, at times more in between; below: attempts dropped per second".into(),
        caption: caption(recording, run, "a drop that the client tries again counts again (sk_drops)"),
    };
    let strips = vec![
        Strip { heading: "connections waiting", unit: "", show: number, lines: queues },
        Strip { heading: "drops per second", unit: "per_s", show: units::rate, lines: drops },
    ];
    OverTime { name: "listeners", words, at_ns: points.at_ns(), strips }.figure()
}

/// Sockets in `TIME_WAIT` over the run named `run`; `None` when there never was one.
#[must_use]
pub fn time_wait(recording: &Recording, run: &str) -> Option<Figure<'static>> {
    let resources = recording.resources.as_ref()?;
    let points = Points::of(resources)?;
    if resources.samples.iter().all(|sample| sample.sockets.time_wait == 0) {
        return None;
    }
    let waiting = points.highest(|sample| Some(sample.sockets.time_wait));
    let in_use = points.highest(|sample| Some(sample.sockets.in_use));
    let words = Words {
        title: "How many sockets were in TIME_WAIT".into(),
        subtitle: "Sockets of the whole network namespace (/proc/net/sockstat)".into(),
        caption: caption(
            recording,
            run,
            "each keeps its port from new connections to the same destination for up to 60 s (tcp_tw_reuse)",
        ),
    };
    let lines =
        vec![Line { name: "TIME_WAIT".into(), values: waiting }, Line { name: "in use".into(), values: in_use }];
    let strips = vec![Strip { heading: "sockets", unit: "", show: number, lines }];
    OverTime { name: "time-wait", words, at_ns: points.at_ns(), strips }.figure()
}

/// CPU time of the machine and of each group over the run named `run`; `None` when it was not sampled.
#[must_use]
pub fn cpu(recording: &Recording, run: &str) -> Option<Figure<'static>> {
    type Part = (&'static str, fn(&Sample) -> u64);
    const HOST: [Part; 5] = [
        ("user", |sample| sample.cpu.user_ns),
        ("system", |sample| sample.cpu.system_ns),
        ("softirq", |sample| sample.cpu.softirq_ns),
        ("irq", |sample| sample.cpu.irq_ns),
        ("steal", |sample| sample.cpu.steal_ns),
    ];
    let resources = recording.resources.as_ref()?;
    let points = Points::of(resources)?;
    let host = HOST.iter().filter(|(_, figure)| resources.samples.iter().any(|sample| figure(sample) > 0));
    let host =
        host.map(|&(name, figure)| Line { name: name.into(), values: points.per_ns(|sample| Some(figure(sample))) });
    let groups = resources.groups.iter().enumerate().flat_map(|(number, group)| {
        let user = points.per_ns(|sample| Some(sample.groups.get(number)?.user_ns));
        let system = points.per_ns(|sample| Some(sample.groups.get(number)?.system_ns));
        [("user", user), ("system", system)].map(|(kind, values)| Line { name: format!("{group} {kind}"), values })
    });
    let words = Words {
        title: "Where the CPU time of the run went".into(),
        subtitle: "CPU time over elapsed time: 1 is one CPU kept busy".into(),
        caption: caption(
            recording,
            run,
            "the machine from /proc/stat, in steps of 10 ms; softirq is mostly received packets",
        ),
    };
    let strips = vec![
        Strip { heading: "CPUs busy, whole machine", unit: "cpus", show: units::ratio, lines: host.collect() },
        Strip { heading: "CPUs busy, traced processes", unit: "cpus", show: units::ratio, lines: groups.collect() },
    ];
    OverTime { name: "cpu", words, at_ns: points.at_ns(), strips }.figure()
}
