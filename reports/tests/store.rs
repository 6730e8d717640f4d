//! Recordings as files: what is written is read again, and what is not whole is refused.

mod recordings;

use std::{fs, path::Path};

use reports::{
    bench::{Finding, Machine, Unit},
    store::{self, StoreError},
};

const MACHINE: Machine = Machine {
    cpus: 2,
    user_ns: 1,
    system_ns: 1,
    softirq_ns: 0,
    idle_ns: 1,
    steal_ns: 0,
    load_1m: 0.0,
    tcp_in_use: 0,
    time_wait: 0,
};

#[test]
fn every_recording_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for (name, recording) in recordings::all() {
        let path = store::write(folder.path(), &recording).expect("writable");
        assert_eq!(store::read(&path).expect("whole"), recording, "{name}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_readable_again_and_shown_as_missing() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut recording = recordings::full();
        let cost = recording.own_cost.as_mut().expect("there");
        cost.sampled_share = odd;
        let call = cost.per_call.as_mut().expect("there");
        (call.traced_ns, call.bystander_ns) = (odd, odd);
        recording.resources.as_mut().expect("there").samples[0].load = odd;
        for result in &mut recording.bench {
            result.machine = Some(MACHINE);
            result.machine.as_mut().expect("there").load_1m = odd;
            let (name, text) = ("little".to_owned(), "odd".to_owned());
            result.findings.push(Finding { name, warns: false, value: odd, unit: Unit::Ratio, text });
        }
        let path = store::write(folder.path(), &recording).expect("writable");
        let again = store::read(&path).expect("readable");
        assert!(again.own_cost.as_ref().and_then(|cost| cost.per_call).expect("there").traced_ns.is_nan());
        assert!(again.bench.iter().flat_map(|result| &result.findings).any(|finding| finding.value.is_nan()));
        let written = fs::read(&path).expect("there");
        store::write(folder.path(), &again).expect("writable");
        assert_eq!(fs::read(&path).expect("there"), written, "the same as it was read");
        let page = reports::text::run(&again, &reports::text::Style::default());
        assert!(!page.contains("NaN") && !page.contains("inf "), "{page}");
    }
}

#[test]
fn a_recording_cut_at_any_length_is_refused() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = store::write(folder.path(), &recordings::lossy()).expect("writable");
    let whole = fs::read(&path).expect("written");
    let step = whole.len() / 40;
    // The last byte is the newline; without it the recording is whole.
    for length in (0..whole.len() - 1).step_by(step).chain([1, whole.len() - 2]) {
        fs::write(&path, &whole[..length]).expect("writable");
        assert!(matches!(store::read(&path), Err(StoreError::Damaged { .. })), "{length} of {}", whole.len());
    }
}

#[test]
fn what_is_no_recording_is_refused() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(store::FILE);
    for text in
        ["", "\0\0\0", "[]", "null", "{}", "{\"schema\":\"x\"}", "{\"schema\":1}", "{\"schema\":-1}", "\u{feff}{}"]
    {
        fs::write(&path, text).expect("writable");
        assert!(matches!(store::read(&path), Err(StoreError::Damaged { .. })), "{text:?}");
    }
}

#[test]
fn a_newer_schema_is_refused_by_its_number() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(store::FILE);
    fs::write(&path, "{\"schema\":7,\"of\":\"the future\"}").expect("writable");
    let error = store::read(&path).expect_err("newer");
    assert!(matches!(error, StoreError::Newer { found: 7, .. }));
    assert!(error.to_string().contains("schema 7"));
}

#[test]
fn a_half_written_recording_is_found_and_refused() {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::write(folder.path().join(store::PARTIAL), "{\"schema\":1,").expect("writable");
    let found = store::find(folder.path(), &mut Vec::new());
    assert_eq!(found, [folder.path().join(store::PARTIAL)]);
    assert!(matches!(store::read(&found[0]), Err(StoreError::HalfWritten { .. })));
}

#[test]
fn a_missing_or_unreadable_file_is_named() {
    let error = store::read(Path::new("/nowhere/recording.json")).expect_err("missing");
    assert!(error.to_string().contains("/nowhere/recording.json"));
    let mut unreadable = Vec::new();
    assert!(store::find(Path::new("/nowhere"), &mut unreadable).is_empty());
    assert!(matches!(unreadable.as_slice(), [StoreError::Io { .. }]));
}

#[test]
fn recordings_are_found_at_any_depth_in_the_order_of_their_names() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let names = ["b", "a/deep/down", "c", "a", "10", "9"];
    for name in names {
        let run = folder.path().join(name);
        fs::create_dir_all(&run).expect("new");
        fs::write(run.join(store::FILE), "").expect("writable");
        fs::write(run.join("latency-server.svg"), "").expect("writable");
    }
    let found = store::find(folder.path(), &mut Vec::new());
    let mut expected: Vec<_> = names.iter().map(|name| folder.path().join(name).join(store::FILE)).collect();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(store::find(&found[0], &mut Vec::new()), [found[0].clone()], "a file is taken as named");
}

#[test]
fn a_failed_write_leaves_the_recording_that_was_there() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let before = recordings::typical();
    let path = store::write(folder.path(), &before).expect("writable");
    // A folder under the temporary name makes the next write fail, for root too.
    fs::create_dir(folder.path().join(store::PARTIAL)).expect("new");
    assert!(matches!(store::write(folder.path(), &recordings::lossy()), Err(StoreError::Io { .. })));
    assert_eq!(store::read(&path).expect("untouched"), before);
}

#[test]
fn nothing_but_the_recording_is_left_after_a_write() {
    let folder = tempfile::tempdir().expect("temporary folder");
    store::write(folder.path(), &recordings::typical()).expect("writable");
    store::write(folder.path(), &recordings::lossy()).expect("writable");
    let names: Vec<_> = fs::read_dir(folder.path()).expect("there").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, [store::FILE]);
}

#[test]
fn what_could_be_read_for_ever_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(store::FILE);
    std::os::unix::fs::symlink("/dev/zero", &path).expect("writable");
    assert_eq!(store::find(folder.path(), &mut Vec::new()), std::slice::from_ref(&path));
    assert!(matches!(store::read(&path), Err(StoreError::NotAFile { .. })));
}

#[test]
fn a_recording_that_does_not_fit_leaves_nothing_half_written() {
    // A full device, as a folder that takes names but no bytes, needs root; a folder in the way of the rename does not.
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::create_dir(folder.path().join(store::FILE)).expect("writable");
    store::write(folder.path(), &recordings::lossy()).expect_err("in the way");
    assert!(!folder.path().join(store::PARTIAL).exists());
}
