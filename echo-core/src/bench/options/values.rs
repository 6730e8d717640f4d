//! Words of the command line into values.

use std::time::Duration;

use reports::bench::{Pace, SweepOver};

use super::{SweepSteps, payload::Sizes};
use crate::bench::plan::nanoseconds;

const LARGEST_PAYLOAD_BYTES: u32 = 64 << 20;
const MOST_CONNECTIONS: u64 = 1_000_000;
const HIGHEST_RATE: u64 = 10_000_000;
/// Addresses of 127.0.0.0/8 beyond which more do not help.
const MOST_SOURCES: u32 = 250;
const MOST_STEPS: u64 = 1000;

/// How many local addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sources {
    /// As many as the run is expected to need.
    Auto,
    /// So many.
    Number(u32),
}

pub(super) fn positive_duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if duration.is_zero() { Err("must be longer than nothing".into()) } else { Ok(duration) }
}

pub(super) fn sources(text: &str) -> Result<Sources, String> {
    if text == "auto" {
        return Ok(Sources::Auto);
    }
    let number = text.parse().ok().filter(|number| (1..=MOST_SOURCES).contains(number));
    number.map(Sources::Number).ok_or_else(|| format!("must be `auto` or 1 to {MOST_SOURCES}"))
}

pub(super) fn sizes(text: &str) -> Result<Sizes, String> {
    let (min, max) = text.split_once('-').unwrap_or((text, text));
    let bytes = |text: &str| text.parse().ok().filter(|bytes| (1..=LARGEST_PAYLOAD_BYTES).contains(bytes));
    match bytes(min).zip(bytes(max)) {
        Some((min, max)) if min <= max => Ok(min..=max),
        _ => Err(format!("must be a number of bytes or MIN-MAX, from 1 to {LARGEST_PAYLOAD_BYTES}")),
    }
}

pub(super) fn pace(text: &str) -> Result<Pace, String> {
    let (requests, interval) = text.split_once('/').ok_or("must be REQUESTS/INTERVAL, such as 500/1s")?;
    let requests = requests.parse().ok().filter(|&requests| requests > 0).ok_or("must begin with a number above 0")?;
    Ok(Pace { requests, interval_ns: nanoseconds(positive_duration(interval)?) })
}

pub(super) fn sweep(text: &str) -> Result<SweepSteps, String> {
    let (over, steps) = text.split_once('=').ok_or("must be connections=STEPS or rate=STEPS")?;
    let (over, highest) = match over {
        "connections" => (SweepOver::Connections, MOST_CONNECTIONS),
        "rate" => (SweepOver::Rate, HIGHEST_RATE),
        _ => return Err("must begin with `connections=` or `rate=`".into()),
    };
    let steps = match text_range(steps) {
        Some(range) => stepped(&range?)?,
        None => steps.split(',').map(|step| number(step, highest)).collect::<Result<_, _>>()?,
    };
    match steps.iter().find(|&&step| step == 0 || step > highest) {
        Some(step) => Err(format!("`{step}` is not within 1 to {highest}")),
        None if (1..steps.len()).any(|place| steps[..place].contains(&steps[place])) => {
            Err("names a step twice; use --repeat".into())
        }
        None => Ok(SweepSteps { over, steps }),
    }
}

fn number(text: &str, highest: u64) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number from 1 to {highest}"))
}

/// First, last and step of `FIRST..LAST/STEP`.
fn text_range(text: &str) -> Option<Result<[u64; 3], String>> {
    let (first, rest) = text.split_once("..")?;
    let parse = || {
        let (last, step) = rest.split_once('/')?;
        Some([first.parse().ok()?, last.parse().ok()?, step.parse().ok()?])
    };
    Some(parse().ok_or_else(|| "a range must be FIRST..LAST/STEP".to_owned()))
}

fn stepped(&[first, last, step]: &[u64; 3]) -> Result<Vec<u64>, String> {
    if step == 0 || first > last || (last - first) / step >= MOST_STEPS {
        return Err(format!("a range must rise, by at most {MOST_STEPS} steps"));
    }
    Ok((0..=(last - first) / step).map(|number| first + number * step).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_are_lists_or_ranges_that_include_their_end() {
        let steps = |text| sweep(text).map(|sweep| sweep.steps);
        assert_eq!(steps("connections=100,500,1000"), Ok(vec![100, 500, 1000]));
        assert_eq!(steps("rate=1000..3000/1000"), Ok(vec![1000, 2000, 3000]));
        assert_eq!(steps("rate=1000..2999/1000"), Ok(vec![1000, 2000]));
        for wrong in
            ["rate", "speed=1", "rate=", "rate=1,x", "rate=0", "rate=5..1/1", "rate=1..9/0", "rate=1..9", "rate=3,3"]
        {
            assert!(sweep(wrong).is_err(), "{wrong}");
        }
        assert!(sweep("rate=1..10000000/1").is_err());
        assert!(sweep("connections=1000001").is_err());
    }

    #[test]
    fn sizes_paces_and_sources_are_read_or_refused() {
        assert_eq!(sizes("64"), Ok(64..=64));
        assert_eq!(sizes("1-1048576"), Ok(1..=1_048_576));
        assert_eq!(pace("500/1s"), Ok(Pace { requests: 500, interval_ns: 1_000_000_000 }));
        assert_eq!(sources("auto"), Ok(Sources::Auto));
        assert_eq!(sources("16"), Ok(Sources::Number(16)));
        for wrong in ["0", "9-1", "", "-", "a-b", "1-99999999999"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
        for wrong in ["500", "0/1s", "5/0s", "/1s", "5/"] {
            assert!(pace(wrong).is_err(), "{wrong}");
        }
        assert!(sources("0").is_err() && sources("251").is_err() && sources("many").is_err());
    }
}
