//! Runs a scenario in a network namespace of its own, and reads what `analyzer watch` saw of it.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

use crate::support::ANALYZER;

const PRELUDE: &str = include_str!("scenario.py");

/// What happened and what was seen.
pub(super) struct Seen {
    pub(super) status: i64,
    pub(super) rounds: Vec<Value>,
    /// How far the kernel's counters moved, by name.
    moved: BTreeMap<String, i64>,
}

/// Runs Python statements on top of `scenario.py`.
pub(super) fn scenario(body: &str) -> Seen {
    let script = format!("{PRELUDE}\n{body}\n");
    let output = Command::new("unshare")
        .args(["--net", "--", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"])
        .args(["timeout", "60", "python3", "-c", &script, ANALYZER])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}\n{stderr}"));
    Seen {
        status: report["status"].as_i64().unwrap(),
        rounds: report["rounds"].as_array().unwrap().clone(),
        moved: serde_json::from_value(report["moved"].clone()).unwrap(),
    }
}

impl Seen {
    pub(super) fn last(&self) -> &Value {
        self.rounds.last().expect("a round")
    }

    /// How far a counter of the kernel moved.
    pub(super) fn kernel(&self, name: &str) -> i64 {
        self.moved.get(name).copied().unwrap_or(0)
    }

    /// All listeners of the last round.
    pub(super) fn listeners(&self) -> Vec<&Value> {
        let namespaces = self.last()["namespaces"].as_array().unwrap();
        namespaces.iter().flat_map(|netns| netns["listeners"].as_array().unwrap()).collect()
    }

    /// The only listener on a port in the last round.
    pub(super) fn listener(&self, port: u16) -> &Value {
        let suffix = format!(":{port}");
        let mut found = self.listeners();
        found.retain(|row| row["address"].as_str().unwrap().ends_with(&suffix));
        assert_eq!(found.len(), 1, "{:#}", self.last());
        found[0]
    }

    /// A figure of the first namespace.
    pub(super) fn host(&self, name: &str) -> &Value {
        &self.last()["namespaces"][0]["host"][name]
    }

    /// What no scenario may do.
    pub(super) fn assert_lossless(&self) {
        assert_eq!((self.status, &self.last()["lost"]), (0, &Value::from(0)), "{:#}", self.last());
        assert_eq!(self.last()["missing"], Value::Array(Vec::new()));
    }
}

/// Drops by cause: accept queue at SYN, at ACK, SYN queue, other.
pub(super) fn causes(row: &Value) -> [i64; 4] {
    ["accept_queue_at_syn", "accept_queue_at_ack", "syn_queue", "other"]
        .map(|name| row["causes"][name].as_i64().unwrap_or(-1))
}

/// A figure of a listener.
pub(super) fn figure(row: &Value, name: &str) -> i64 {
    row[name].as_i64().unwrap_or_else(|| panic!("no `{name}` in {row:#}"))
}
