//! Results of the load generator: how they look, and that those of older versions are still read.

mod golden;
mod recordings;

use reports::{
    bench::{BenchResult, BenchSeries, Close, Finding, Machine, Mode, Pace, SCHEMA, Sweep, SweepOver, Unit},
    text::{self, Style},
};

fn narrow() -> Style {
    Style { color: false, width: Some(80) }
}

fn finding(name: &str, warns: bool, value: f64, unit: Unit, text: &str) -> Finding {
    Finding { name: name.into(), warns, value, unit, text: text.into() }
}

fn machine(number: u32) -> Machine {
    Machine {
        cpus: 2,
        user_ns: 100_000_000,
        system_ns: 900_000_000,
        softirq_ns: 300_000_000,
        idle_ns: 690_000_000,
        steal_ns: 10_000_000,
        load_1m: 0.5 * f64::from(number),
        tcp_in_use: 205,
        time_wait: 12_345 * u64::from(number),
    }
}

/// An open loop whose server stood still, with all that a result can hold.
fn open_loop() -> BenchResult {
    let mut result = recordings::load(Mode::Reconnect, 1_000, 1_000_000_000);
    let settings = &mut result.settings;
    settings.requests_per_connection = Some(10);
    settings.rate_per_s = Some(1_500);
    (settings.rounds, settings.duration_ns) = (None, Some(1_000_000_000));
    settings.warmup_ns = 500_000_000;
    settings.payload_max_bytes = Some(16_384);
    settings.close = Close::Half;
    settings.sources = 4;
    result.request.record_many(700_000_000, 20);
    result.censored.record_many(900_000_000, 40);
    result.failed = [("timeout".to_owned(), 40)].into();
    result.machine = Some(machine(1));
    result.findings = vec![
        finding("client-cpu", false, 0.5, Unit::Ratio, "the client used 50.0 % of its 1 thread"),
        finding("rate", true, 0.68, Unit::Ratio, "1,500 requests were due each second, 1,020 were answered"),
        finding("stall", true, 7e8, Unit::Ns, "no request was answered for 700 ms"),
        finding("evil", true, 1.0, Unit::Count, "\x1b[31mred\nsecond line"),
    ];
    result
}

fn repeats() -> BenchSeries {
    let run = |number: u32| {
        let mut run = recordings::load(Mode::Short, 900 + 50 * number, 45_600_000);
        run.machine = Some(machine(number));
        if number == 2 {
            run.failed = [("refused".to_owned(), 2), ("timeout".to_owned(), 1)].into();
            run.findings = vec![finding("client-cpu", true, 0.95, Unit::Ratio, "the client was the limit")];
        }
        run
    };
    BenchSeries { schema: SCHEMA, repeat: 3, sweep: None, partial: false, runs: [1, 2, 3].map(run).to_vec() }
}

fn sweep() -> BenchSeries {
    let mut series = repeats();
    series.repeat = 1;
    for (run, rate) in series.runs.iter_mut().zip([10_000, 20_000, 30_000]) {
        run.settings.rate_per_s = Some(rate);
    }
    let stopped_because = Some("rate 30,000 was not held: 23,026 requests per second were answered".to_owned());
    series.sweep = Some(Sweep { over: SweepOver::Rate, steps: vec![10_000, 20_000, 30_000, 40_000], stopped_because });
    series
}

#[test]
fn results_look_as_blessed() {
    golden::check("bench-open.txt", &text::bench(&open_loop(), &Style::default()));
    let mut paced = recordings::load(Mode::Connect, 1_000, 2_000_000_000);
    paced.settings.pace = Some(Pace { requests: 500, interval_ns: 1_000_000_000 });
    paced.settings.linger0 = true;
    golden::check("bench-paced.txt", &text::bench(&paced, &Style::default()));
    golden::check("bench-repeats.txt", &text::bench_series(&repeats(), &Style::default()));
    golden::check("bench-sweep.txt", &text::bench_series(&sweep(), &Style::default()));
    golden::check("bench-sweep-80.txt", &text::bench_series(&sweep(), &narrow()));
}

#[test]
fn a_table_of_runs_fits_into_80_columns_but_for_the_kinds_of_failures() {
    for series in [repeats(), sweep()] {
        let text = text::bench_series(&series, &narrow());
        let widest = text.lines().filter(|line| !line.contains("refused")).map(str::len).max();
        assert!(widest <= Some(80), "{text}");
    }
}

#[test]
fn a_series_of_one_is_printed_as_the_run_that_it_is() {
    let runs = vec![open_loop()];
    let series = BenchSeries { schema: SCHEMA, repeat: 1, sweep: None, partial: false, runs };
    let style = Style::default();
    assert_eq!(text::bench_series(&series, &style), text::bench(&open_loop(), &style));
}

#[test]
fn failures_never_make_a_latency_smaller() {
    let mut result = recordings::load(Mode::Short, 1_000, 1_000_000_000);
    let before = [0.5, 0.99].map(|q| result.latency_quantile(q));
    result.censored.record_many(10, 5_000);
    assert_eq!([0.5, 0.99].map(|q| result.latency_quantile(q)), before);
    result.censored.record_many(3_000_000_000, 5_000);
    assert!(result.latency_quantile(0.99) >= Some(2_980_000_000));
    assert_eq!(result.latency_max(), Some(3_000_000_000));
}

#[test]
fn a_result_of_schema_1_is_read_and_shown() {
    let text = r#"{"schema":1,"settings":{"address":"127.0.0.1:9988","mode":"short","connections":2,"rounds":3,
        "payload_bytes":64,"threads":1,"timeout_ns":5000000000},"partial":false,"elapsed_ns":1000000,
        "client_cpu_ns":990000,"ok":6,"failed":{},"connected":6,
        "connect":{"sub_bits":7,"count":1,"sum":9,"min":9,"max":9,"buckets":[[9,1]]},
        "request":{"sub_bits":7,"count":1,"sum":9,"min":9,"max":9,"buckets":[[9,1]]}}"#;
    let result: BenchResult = serde_json::from_str(text).expect("the form of schema 1");
    assert_eq!((result.settings.sources, result.settings.close, result.censored.count()), (1, Close::Client, 0));
    assert!(result.findings.is_empty() && result.machine.is_none());
    let shown = text::bench(&result, &Style::default());
    assert!(shown.contains("short mode, closed loop") && shown.contains("may be the limit"), "{shown}");
}

#[test]
fn results_survive_their_file_form() {
    for result in [open_loop(), recordings::load(Mode::Long, 10, 1_000)] {
        let text = serde_json::to_string(&result).expect("serializable");
        assert_eq!(serde_json::from_str::<BenchResult>(&text).expect("valid"), result);
    }
    let text = serde_json::to_string(&sweep()).expect("serializable");
    assert_eq!(serde_json::from_str::<BenchSeries>(&text).expect("valid"), sweep());
}
