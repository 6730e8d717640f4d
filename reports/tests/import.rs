//! Output of other tools as recordings: real samples of today's versions in `imports/`, other versions' forms by hand.

use std::{fs, path::PathBuf};

use reports::{
    bench::Mode,
    compare::{self, Options, Verdict},
    import::{Format, ImportError, Source, import},
    recording::{Abi, Recording, Syscall},
    store, text,
};

fn sample(name: &str) -> Vec<u8> {
    fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/imports").join(name)).expect("a sample")
}

fn source(bytes: &[u8]) -> Source<'_> {
    Source { file: "x.txt", bytes, modified: "2026-11-30T20:42:23Z", group: "client", format: None }
}

fn imported(text: &str) -> Recording {
    import(&source(text.as_bytes())).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn of_sample(name: &str) -> Recording {
    import(&source(&sample(name))).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn call<'a>(recording: &'a Recording, name: &str) -> &'a Syscall {
    recording.groups[0].syscall(name).unwrap_or_else(|| panic!("no {name}"))
}

fn total(recording: &Recording, figure: fn(&Syscall) -> u64) -> u64 {
    recording.groups[0].syscalls.iter().map(figure).sum()
}

fn skipped(recording: &Recording) -> &[String] {
    &recording.origin.as_ref().expect("imported").skipped
}

fn unknown(recording: &Recording, word: &str) -> bool {
    recording.origin.as_ref().expect("imported").unknown.iter().any(|unknown| unknown.to_string().starts_with(word))
}

#[test]
fn every_row_of_a_real_strace_table_is_taken_and_none_is_skipped() {
    for (name, calls, errors) in [("strace-c.txt", 12_216, 2_006), ("strace-U.txt", 12_214, 2_006)] {
        let recording = of_sample(name);
        assert_eq!(
            (total(&recording, |row| row.calls), total(&recording, |row| row.errors)),
            (calls, errors),
            "{name}"
        );
        assert!(recording.complete && skipped(&recording).is_empty(), "{name}: {:?}", skipped(&recording));
        assert!(unknown(&recording, "clock") && unknown(&recording, "percentiles"));
    }
    let connect = of_sample("strace-c.txt");
    let connect = call(&connect, "connect");
    assert_eq!((connect.calls, connect.errors, connect.total_ns), (2_000, 2_000, Some(36_529_000)));
    assert_eq!(connect.latency, None, "no distribution from a mean");
}

#[test]
fn shortest_and_longest_are_kept_without_a_distribution() {
    let recording = of_sample("strace-U.txt");
    let latency = call(&recording, "connect").latency.as_ref().expect("extremes are known");
    assert_eq!((latency.min(), latency.max(), latency.count()), (Some(11_000), Some(580_000), 2_000));
    assert_eq!(latency.quantile(0.5), None);
    assert_eq!(latency.missing(), 2_000);
}

#[test]
fn columns_may_be_any_in_any_order() {
    let recording = of_sample("strace-U2.txt");
    assert_eq!((call(&recording, "openat").errors, call(&recording, "openat").calls), (17, 34));
    assert_eq!((call(&recording, "mmap").errors, call(&recording, "mmap").calls), (0, 21));
    assert_eq!(call(&recording, "mmap").total_ns, None, "a mean in whole us is no total");
    assert!(unknown(&recording, "times"));
    let columns = "calls syscall\n--------- ----------------\n3 read\n2 write\n--------- ----------------\n5 total\n";
    let recording = imported(columns);
    assert_eq!(call(&recording, "read").calls, 3);
    assert!(unknown(&recording, "errors"));
}

#[test]
fn extremes_without_a_sum_are_stated_and_a_share_without_one_is_named_as_not_kept() {
    let table = "\
% time shortest  longest usecs/call     calls syscall
------ -------- -------- ---------- --------- ----------------
 60.00 0.000001 0.000580         19      2000 connect
 40.00 0.000002 0.000095         11      2003 close
------ -------- -------- ---------- --------- ----------------
100.00 0.000001 0.000580         15      4003 total
";
    let recording = imported(table);
    let origin = recording.origin.as_ref().expect("imported");
    assert_eq!(origin.not_kept, ["column % time"]);
    assert_eq!(stated(&recording, "client.connect", "max"), Some((580_000, 1_000)));
    assert_eq!(stated(&recording, "client.close", "min"), Some((2_000, 1_000)));
    assert_eq!(stated(&recording, "client.close", "mean"), Some((11_000, 1_000)));
    let page = text::run(&recording, &text::Style::default());
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("client.connect 19.0 us 1.00 us 580 us"), "{page}");
}

#[test]
fn what_a_tool_does_not_tell_is_shown_as_nothing() {
    for name in ["strace-c.txt", "strace-U2.txt", "perf-s.txt", "ab.txt", "wrk.txt", "bench.json"] {
        let recording = of_sample(name);
        let page = text::run(&recording, &text::Style::default());
        for word in ["CPUs,", "0 CPU", "no event was lost", "lost 0", "0 threads", "Linux", "0 attached", "for 0 ns"] {
            assert!(!page.contains(word), "{name}: {word}\n{page}");
        }
        assert_eq!(recording.lost(), None, "{name}");
        let document = reports::document::Document::of_run(&recording, "x");
        let json = reports::json::document(&document);
        assert!(
            json["measured"]["machine"]
                .as_array()
                .expect("rows")
                .iter()
                .any(|row| { row["what"] == "CPUs" && row["value"].is_null() })
        );
        assert!(!json["lead"][1].as_str().expect("text").contains("CPU"), "{json}");
    }
}

#[test]
fn what_the_program_printed_around_the_table_is_listed_by_line() {
    let mixed = of_sample("strace-mixed.txt");
    assert_eq!((skipped(&mixed), total(&mixed, |row| row.calls)), (&["1: vm".to_owned()][..], 115));
    let traced = of_sample("strace-C.txt");
    assert!(skipped(&traced)[0].starts_with("1-125: execve("), "{:?}", skipped(&traced));
    assert_eq!(total(&traced, |row| row.calls), 123);
}

const OLD: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 76.92    0.000010           1         7           read
 23.08    0.000003           1         3         2 open
  0.00    0.000000           0         1           close
------ ----------- ----------- --------- --------- ----------------
100.00    0.000013                    11         2 total
";

#[test]
fn older_totals_without_a_mean_are_understood() {
    let recording = imported(OLD);
    assert!(recording.complete && skipped(&recording).is_empty());
    assert_eq!((call(&recording, "open").calls, call(&recording, "open").errors), (3, 2));
    assert_eq!(call(&recording, "read").total_ns, Some(10_000));
}

#[test]
fn several_personalities_are_told_apart() {
    for (mode, abi) in [("32 bit", Abi::Compat), ("x32", Abi::X32)] {
        let recording = imported(&format!("{OLD}System call usage summary for {mode} mode:\n{OLD}"));
        let rows: Vec<_> = recording.groups[0].syscalls.iter().map(|row| (row.name.as_str(), row.abi)).collect();
        assert_eq!(rows[..2], [("read", Abi::Native), ("open", Abi::Native)]);
        assert_eq!(rows[3..5], [("read", abi), ("open", abi)]);
        assert!(skipped(&recording).is_empty(), "{:?}", skipped(&recording));
    }
}

#[test]
fn windows_line_ends_change_nothing() {
    let (unix, dos) = (imported(OLD), imported(&OLD.replace('\n', "\r\n")));
    assert_eq!(unix, dos);
}

#[test]
fn an_empty_table_has_no_calls() {
    let heading: String = OLD.lines().take(2).map(|line| format!("{line}\n")).collect();
    let total = "------ ----------- ----------- --------- --------- ----------------\n-nan    0.000000                     0           total\n";
    let recording = imported(&format!("{heading}{total}"));
    assert!(recording.complete && recording.groups[0].syscalls.is_empty());
}

#[test]
fn a_percentage_of_nothing_is_no_obstacle() {
    let recording = imported(&OLD.replace(" 76.92", "  -nan").replace(" 23.08", "   nan"));
    assert_eq!(total(&recording, |row| row.calls), 11);
}

#[test]
fn a_line_inside_the_table_that_is_no_row_is_named_and_nothing_is_made_of_it() {
    let text = OLD.replace(
        "  0.00    0.000000           0         1           close\n",
        "hello 1 2 3 4 5\n  0.00    0.000000           0         1         5 close\n",
    );
    let recording = imported(&text);
    assert_eq!(recording.groups[0].syscalls.len(), 2);
    assert_eq!(skipped(&recording)[0], "5: hello 1 2 3 4 5");
    assert!(skipped(&recording)[1].starts_with("6: 0.00"), "more errors than calls cannot be");
    assert!(!recording.complete, "the total does not fit any more");
}

#[test]
fn a_table_that_is_cut_off_is_incomplete() {
    let cut = imported(&OLD.lines().take(4).map(|line| format!("{line}\n")).collect::<String>());
    assert!(!cut.complete && cut.incomplete_because.as_deref().is_some_and(|why| why.contains("cut off")));
    let short = imported(&OLD.replace(" 23.08    0.000003           1         3         2 open\n", ""));
    assert!(!short.complete, "rows are missing");
}

#[test]
fn a_second_table_is_not_added_to_the_first() {
    let recording = imported(&format!("{OLD}\n{OLD}"));
    assert_eq!(total(&recording, |row| row.calls), 11);
    assert_eq!(skipped(&recording).len(), 1, "{:?}", skipped(&recording));
    assert!(skipped(&recording)[0].contains("a file of its own"));
}

#[test]
fn a_heading_behind_what_the_program_printed_without_a_newline_is_found() {
    assert_eq!(total(&imported(&format!("no newline{OLD}")), |row| row.calls), 11);
}

#[test]
fn threads_of_perf_trace_are_added_up_and_kept_apart() {
    let recording = of_sample("perf-s.txt");
    let group = &recording.groups[0];
    assert_eq!(group.threads, 2);
    let connect = call(&recording, "connect");
    assert_eq!((connect.calls, connect.errors), (2_000, 2_000));
    let latency = connect.latency.as_ref().expect("extremes are known");
    assert!(latency.min() < latency.max() && latency.quantile(0.5).is_none());
    let split = group.split.as_ref().expect("by thread");
    assert!(split.rows.iter().any(|row| row.command == "bench" && row.tid == 16_256 && row.name == "futex"));
    assert!(recording.complete && skipped(&recording).is_empty(), "{:?}", skipped(&recording));
}

#[test]
fn error_numbers_of_perf_trace_belong_to_the_call_above() {
    let recording = of_sample("perf-errno.txt");
    assert_eq!(call(&recording, "connect").errnos.get("EINPROGRESS"), Some(&2_000));
    assert!(!unknown(&recording, "error numbers") && skipped(&recording).is_empty(), "{:?}", skipped(&recording));
}

const OLD_PERF: &str = "
 Summary of events:

 my server (77), 46 events, 7.3%

   syscall            calls    total       min       avg       max      stddev
                               (msec)    (msec)    (msec)    (msec)        (%)
   --------------- -------- --------- --------- --------- ---------     ------
   futex                  8   998.771     0.001   124.846   998.743     99.90%
";

#[test]
fn perf_trace_without_errors_and_with_lost_events_is_marked() {
    let recording = imported(OLD_PERF);
    assert_eq!(call(&recording, "futex").total_ns, Some(998_771_000));
    assert!(unknown(&recording, "errors"));
    assert_eq!(recording.groups[0].label, "my server");
    let lost = imported(&format!("LOST 123 events!\n{OLD_PERF}"));
    assert_eq!((lost.complete, lost.incomplete_because.as_deref()), (false, Some("perf lost 123 events")));
}

#[test]
fn the_result_of_our_own_bench_is_whole() {
    let recording = of_sample("bench.json");
    assert_eq!((recording.bench[0].ok, recording.bench[0].settings.mode), (2_000, Mode::Short));
    assert!(recording.bench[0].request.quantile(0.99).is_some());
    let newer = String::from_utf8(sample("bench.json")).expect("text").replacen("\"schema\": 1", "\"schema\": 9", 1);
    let error = import(&source(newer.as_bytes())).expect_err("newer");
    assert!(error.to_string().contains("schema 9"), "{error}");
}

#[test]
fn all_runs_of_a_series_of_our_own_bench_are_imported() {
    let run = String::from_utf8(sample("bench.json")).expect("text");
    let series = format!("{{\"schema\": 1, \"repeat\": 2, \"runs\": [{run}, {run}]}}");
    let recording = imported(&series);
    assert_eq!(recording.bench.iter().map(|run| run.ok).collect::<Vec<_>>(), [2_000, 2_000]);
    assert_eq!(recording.duration_ns, 2 * recording.bench[0].elapsed_ns);
}

fn stated(recording: &Recording, owner: &str, measure: &str) -> Option<(u64, u64)> {
    let all = &recording.origin.as_ref().expect("imported").stated;
    let one = all.iter().find(|one| one.owner == owner && one.measure == measure)?;
    Some((one.value_ns, one.resolution_ns))
}

#[test]
fn ab_gives_totals_and_percentiles_but_no_distribution() {
    let recording = of_sample("ab.txt");
    let result = &recording.bench[0];
    assert_eq!((result.ok, result.failures(), result.elapsed_ns), (500, 0, 670_000_000));
    assert_eq!((result.settings.connections, result.settings.payload_bytes), (10, 600));
    assert_eq!((result.settings.mode, result.settings.address.as_str()), (Mode::Short, "127.0.0.1:8099"));
    assert_eq!(result.request.count(), 0, "no histogram from percentiles");
    assert_eq!(stated(&recording, "request", "p50"), Some((8_000_000, 1_000_000)));
    assert!(skipped(&recording).is_empty(), "{:?}", skipped(&recording));
    assert_eq!(of_sample("ab-k.txt").bench[0].settings.mode, Mode::Long);
    let missing = of_sample("ab-404.txt");
    assert_eq!((missing.bench[0].ok, missing.bench[0].failed.get("non-2xx")), (0, Some(&50)));
}

#[test]
fn ab_tells_failures_by_kind() {
    let text = String::from_utf8(sample("ab.txt")).expect("text");
    let failing = text.replace(
        "Failed requests:        0",
        "Failed requests:        7\n   (Connect: 0, Receive: 3, Length: 4, Exceptions: 0)",
    );
    let result = &imported(&failing).bench[0];
    assert_eq!((result.ok, result.failures(), result.failed.get("receive")), (493, 7, Some(&3)));
}

#[test]
fn wrk_gives_totals_and_four_percentiles() {
    let recording = of_sample("wrk.txt");
    let result = &recording.bench[0];
    assert_eq!((result.ok, result.elapsed_ns, result.settings.connections), (764, 1_000_000_000, 5));
    assert_eq!(result.settings.duration_ns, Some(1_000_000_000));
    assert_eq!(stated(&recording, "request", "p99"), Some((17_550_000, 10_000)));
    assert!(skipped(&recording).is_empty() && unknown(&recording, "mode"), "{:?}", skipped(&recording));
    assert_eq!(of_sample("wrk-404.txt").bench[0].failed.get("non-2xx"), Some(&715));
    let errors = "  Socket errors: connect 0, read 49, write 0, timeout 4\nRequests/sec";
    let text = String::from_utf8(sample("wrk.txt")).expect("text").replace("Requests/sec", errors);
    let failed = &imported(&text).bench[0].failed;
    assert_eq!((failed.get("read"), failed.get("timeout"), failed.get("connect")), (Some(&49), Some(&4), None));
}

#[test]
fn an_unfinished_run_is_refused_by_what_is_missing() {
    let error = import(&source(&sample("ab-refused.txt"))).expect_err("unfinished");
    assert!(error.to_string().contains("Complete requests"), "{error}");
    assert!(import(&source(b"Running 2s test @ http://x/\n")).is_err());
}

#[test]
fn what_is_no_known_output_or_several_is_refused_with_the_way_out() {
    for text in ["", "hello\n", "\0\u{1}\u{2}", "<html>", "[1,2]"] {
        let error = import(&source(text.as_bytes())).expect_err(text);
        assert!(matches!(error, ImportError::Unknown { .. }) && error.hint().is_some(), "{text:?}");
    }
    let both = format!("{OLD}{}", String::from_utf8_lossy(&sample("wrk.txt")));
    assert!(matches!(import(&source(both.as_bytes())), Err(ImportError::Ambiguous { .. })));
    let chosen = Source { format: Some(Format::Wrk), ..source(both.as_bytes()) };
    let recording = import(&chosen).expect("said which");
    assert!(skipped(&recording)[0].starts_with("1-7: % time"), "{:?}", skipped(&recording));
}

#[test]
fn hostile_text_is_harmless_in_a_report_and_bounded_in_size() {
    let evil = "<script>\u{1b}[31m'\"\u{202e}";
    let mut text = OLD.replace("read", evil);
    for number in 0..5_000 {
        text.insert_str(0, &format!("{evil} {number}\n"));
    }
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(b"\xff\xfe\xfd\n");
    let recording = import(&source(&bytes)).expect("a table is there");
    let json = serde_json::to_string(&recording).expect("serializable");
    assert!(json.len() < 20_000, "{}", json.len());
    let shown = text::run(&recording, &text::Style::default());
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    assert!(skipped(&recording).iter().all(|line| !line.contains(['\u{1b}', '\u{202e}'])));
}

#[test]
fn a_table_cannot_ask_for_more_than_its_size() {
    let rows: String =
        (0..20_000).map(|number| format!("  0.00    0.000000           0         1           c{number}\n")).collect();
    let recording = imported(&OLD.replace("  0.00    0.000000           0         1           close\n", &rows));
    assert!(recording.groups[0].syscalls.len() <= 4_096 && skipped(&recording).len() <= 51);
    assert!(!recording.complete);
}

#[test]
fn imported_runs_are_stored_and_compared() {
    let place = tempfile::tempdir().expect("temporary folder");
    let mut options = Options::default();
    for (name, factor) in [("a", 1), ("b", 2)] {
        for number in 0..5 {
            let run = place.path().join(name).join(number.to_string());
            fs::create_dir_all(&run).expect("new");
            let recording = imported(&OLD.replace("0.000010", &format!("0.{:06}", 1_000 * factor + number)));
            let file = store::write(&run, &recording).expect("writable");
            assert_eq!(store::read(&file).expect("whole"), recording);
        }
        options.paths.push(place.path().join(name));
    }
    options.metrics = vec!["client.*".into()];
    let comparison = compare::run(&options).expect("comparable").comparison;
    let row = |name: &str| comparison.pairs[0].rows.iter().find(|row| row.metric.to_string() == name).expect(name);
    assert_eq!(row("client.read.total").verdict, Verdict::Worse);
    assert!(!comparison.pairs[0].rows.iter().any(|row| row.metric.to_string() == "client.read.p50"));
}
