//! The full-screen view, driven in a terminal emulator.

use std::{
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{ANALYZER, fixture, needs_root};

/// A tmux server of our own with one window, in a network namespace of its own, that runs `analyzer watch` beside two
/// listeners: one that overflows, one that does not.
struct Emulator {
    socket: String,
}

/// `stty -a`, not `-g`: restoring may spell out that the input speed is the output speed, which changes nothing.
const SCRIPT: &str = "ip link set lo up; \"$1\" stalled-listener 7001 16 & a=$!; \"$1\" stalled-listener 7002 128 & b=$!; \
    sleep 0.5; \"$1\" connects 7002 70 60000 & c=$!; before=$(stty -a); \"$2\" watch --interval 200ms; \
    echo \"ended with $?\"; after=$(stty -a); \
    if [ \"$before\" = \"$after\" ]; then echo \"terminal as before\"; else echo \"$before became $after\"; fi; kill $a $b $c; sleep 60";

impl Emulator {
    fn start(columns: u32, rows: u32) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let socket = format!("watch-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let emulator = Self { socket };
        let window = format!("exec unshare --net -- sh -c '{SCRIPT}' sh {} {}", fixture().display(), ANALYZER);
        let size = ["-x", &columns.to_string(), "-y", &rows.to_string()].map(str::to_owned);
        let output = emulator
            .tmux(&["-f", "/dev/null", "new-session", "-d"])
            .args(size)
            .arg(window)
            .env("LC_ALL", "C.UTF-8")
            .env_remove("NO_COLOR")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        emulator
    }

    fn tmux(&self, args: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-u", "-L", &self.socket]).args(args).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.tmux(args).output().unwrap()
    }

    fn keys(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.run(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// Waits until the screen is as wanted.
    fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let text = self.text();
            if is_so(&text) {
                return text;
            }
            assert!(Instant::now() < deadline, "not seen: {what}, but\n{text}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn until_shown(&self, part: &str) -> String {
        self.until(part, |text| text.contains(part))
    }

    /// The analyzer in the window.
    fn analyzer(&self) -> Pid {
        let shell = String::from_utf8_lossy(&self.run(&["display-message", "-p", "#{pane_pid}"]).stdout).into_owned();
        let found = Command::new("pgrep").args(["-x", "-P", shell.trim(), "analyzer"]).output().unwrap();
        Pid::from_raw(String::from_utf8_lossy(&found.stdout).trim().parse().unwrap()).unwrap()
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

fn lines_fit(text: &str, columns: usize) -> bool {
    text.lines().all(|line| line.chars().count() <= columns)
}

#[test]
fn the_view_fits_every_size_and_follows_a_resize() {
    needs_root!();
    let emulator = Emulator::start(80, 24);
    let text = emulator.until_shown("70/128");
    assert!(text.contains("P99 OWNER") && text.contains("/fixture"), "{text}");
    for (columns, rows, part) in [(60, 20, "/S"), (140, 40, "AT-SYN"), (80, 24, "P99 OWNER")] {
        let (x, y) = (columns.to_string(), rows.to_string());
        emulator.run(&["resize-window", "-x", &x, "-y", &y]);
        let parts =
            [part, "LISTENER", "QUEUE/LIMIT", "127.0.0.1:7001", "127.0.0.1:7002", "70/128", "overflows 0", "q quit"];
        // Until it has redrawn, the emulator shows the old screen cut to the new size.
        let text = emulator.until("everything, with the keys in the last row", |text| {
            let last = text.trim_end_matches('\n').lines().count();
            parts.iter().all(|part| text.contains(part)) && last == rows
        });
        assert!(lines_fit(&text, columns), "{columns}x{rows}:\n{text}");
        // The causes need a wide screen; below the table they are told at any width.
        assert_eq!(text.contains("AT-ACK"), columns == 140, "{text}");
    }
    let coloured = String::from_utf8_lossy(&emulator.run(&["capture-pane", "-p", "-e"]).stdout).into_owned();
    let yellow = ["\x1b[33m", "38;5;3m"];
    assert!(yellow.iter().any(|code| coloured.contains(code)), "no colour on a terminal: {coloured:?}");
}

#[test]
fn keys_sort_filter_pause_select_and_help() {
    needs_root!();
    let emulator = Emulator::start(100, 30);
    emulator.until_shown("70/128");
    let first_row = |text: &str| text.lines().find(|line| line.starts_with("127.0.0.1:")).map(str::to_owned);
    emulator.keys(&["s", "s"]);
    let text = emulator.until_shown("sort: queue");
    assert!(first_row(&text).unwrap().starts_with("127.0.0.1:7002"), "{text}");
    emulator.keys(&["/", "7", "0", "0", "1"]);
    emulator.until_shown("port: 7001_");
    emulator.keys(&["Enter"]);
    let text = emulator.until_shown("port 7001 only");
    assert!(!text.contains(":7002"), "{text}");
    emulator.keys(&["/", "9", "Enter"]);
    emulator.until_shown("no listening sockets on port 9");
    emulator.keys(&["/", "Enter"]);
    emulator.until_shown(":7002");
    emulator.keys(&["End"]);
    emulator.until_shown("── 127.0.0.1:7001");
    emulator.keys(&["Space"]);
    let paused = emulator.until_shown("PAUSED");
    thread::sleep(Duration::from_millis(1300));
    assert_eq!(emulator.text(), paused, "a paused view moves");
    emulator.keys(&["Space"]);
    emulator.until("no pause", |text| !text.contains("PAUSED"));
    emulator.keys(&["?"]);
    emulator.until_shown("any key: back to the table");
    emulator.keys(&["x"]);
    emulator.until_shown("q quit");
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    needs_root!();
    for end in ["q", "C-c", "TERM", "INT", "HUP"] {
        let emulator = Emulator::start(80, 24);
        emulator.until_shown("70/128");
        match end {
            "q" | "C-c" => emulator.keys(&[end]),
            "TERM" => kill_process(emulator.analyzer(), Signal::TERM).unwrap(),
            "INT" => kill_process(emulator.analyzer(), Signal::INT).unwrap(),
            _ => kill_process(emulator.analyzer(), Signal::HUP).unwrap(),
        }
        let text = emulator.until_shown("terminal as before");
        assert!(text.contains("ended with 0"), "{end}: {text}");
        // The view was on the alternate screen; the last figures are left on this one.
        assert!(!text.contains("q quit") && text.contains("70/128"), "{end}: {text}");
        let cursor = emulator.run(&["display-message", "-p", "#{cursor_flag} #{alternate_on}"]);
        assert_eq!(String::from_utf8_lossy(&cursor.stdout).trim(), "1 0", "{end}");
    }
}

#[test]
fn it_ends_when_its_terminal_is_gone() {
    needs_root!();
    let emulator = Emulator::start(80, 24);
    emulator.until_shown("70/128");
    let analyzer = emulator.analyzer();
    emulator.run(&["kill-server"]);
    // A zombie has ended; whoever adopted it may take its time.
    let stat = format!("/proc/{}/stat", analyzer.as_raw_nonzero());
    let runs = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    let deadline = Instant::now() + Duration::from_secs(20);
    while runs() {
        assert!(Instant::now() < deadline, "still there");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn control_z_stops_it_with_the_terminal_as_it_was_and_fg_brings_the_view_back() {
    needs_root!();
    let emulator = Emulator::start(80, 24);
    emulator.until_shown("70/128");
    let analyzer = emulator.analyzer();
    emulator.keys(&["C-z"]);
    emulator.until("the other screen", |text| !text.contains("q quit"));
    // No shell with job control is there to do it. A CONT that comes before it has stopped would do nothing.
    let stat = format!("/proc/{analyzer}/stat");
    while !std::fs::read_to_string(&stat).unwrap().contains(") T ") {
        thread::sleep(Duration::from_millis(5));
    }
    kill_process(analyzer, Signal::CONT).unwrap();
    emulator.until_shown("q quit");
    emulator.keys(&["q"]);
    emulator.until_shown("terminal as before");
}
