//! What a run was made with: what must be alike in a fair comparison, and what may be the very thing that is compared.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::{
    printable::{clipped, command_line},
    recording::{Fact, Group, Recording},
};

/// What a setting is in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May differ between groups, and is then named as what is compared: the mode, the target, the workload's kind,
    /// kernel settings.
    Compared,
    /// Must be alike: the machine, the amount of load, how it was traced.
    Alike,
}

/// The settings of a run by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<String, (Role, String)>);

/// A setting in which two runs or groups differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Name of the setting.
    pub name: String,
    /// Whether it may differ.
    pub role: Role,
    /// In the first one; empty where it has none.
    pub a: String,
    /// In the other one; empty where it has none.
    pub b: String,
}

/// Settings shown in one line, and how wide each may be.
const LISTED: usize = 6;
const COLUMNS: usize = 60;

/// All differences in words, printable.
#[must_use]
pub(super) fn listed(differences: &[Difference]) -> String {
    let or_none = |value: &str| if value.is_empty() { "none".to_owned() } else { clipped(value, COLUMNS) };
    let word =
        |one: &Difference| format!("{} {} against {}", clipped(&one.name, COLUMNS), or_none(&one.a), or_none(&one.b));
    let mut words: Vec<String> = differences.iter().take(LISTED).map(word).collect();
    if differences.len() > LISTED {
        words.push(format!("and {} more", differences.len() - LISTED));
    }
    words.join("; ")
}

impl Settings {
    /// The settings of a recording.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let mut settings = Self::default();
        settings.machine_and_tracing(recording);
        settings.load(recording);
        if let Some(server) = recording.group("server") {
            settings.put(Role::Compared, "target", program(server));
        }
        if let Some(client) = recording.group("client") {
            settings.workload(client, !recording.bench.is_empty());
        }
        for (name, value) in &recording.sysctls {
            settings.put(Role::Compared, name, value.clone());
        }
        settings
    }

    fn put(&mut self, role: Role, name: &str, value: String) {
        self.0.insert(name.to_owned(), (role, value));
    }

    fn alike(&mut self, name: &str, value: String) {
        self.put(Role::Alike, name, value);
    }

    fn machine_and_tracing(&mut self, recording: &Recording) {
        let host = &recording.host;
        if recording.tells(Fact::Machine) {
            self.alike("kernel", host.kernel.clone());
            self.alike("architecture", host.arch.clone());
            self.alike("CPUs", host.cpus.to_string());
            self.alike("clock", host.clock.clone());
        }
        self.alike("made by", recording.origin.as_ref().map_or("analyzer trace".to_owned(), |from| from.tool.clone()));
        let mut selection = recording.selection.clone();
        selection.sort();
        self.alike("system calls counted", if selection.is_empty() { "all".to_owned() } else { selection.join(",") });
        self.alike("latencies", if recording.count_only { "not taken" } else { "taken" }.to_owned());
        let groups: Vec<_> = recording.groups.iter().map(|group| group.name.as_str()).collect();
        self.alike("traced", groups.join(","));
        let attached = recording.probes.iter().filter(|probe| probe.off_because.is_none());
        let mut hooks: Vec<_> = attached.map(|probe| probe.hook.as_str()).collect();
        hooks.sort_unstable();
        self.alike("probes", hooks.join(","));
        // Without a load the length of the run is a setting, not a result.
        if recording.origin.is_none() && recording.bench.is_empty() && recording.group("client").is_none() {
            self.alike("duration", rounded(recording.duration_ns));
        }
    }

    /// Every setting of the load generator, those that later versions of it add among them.
    fn load(&mut self, recording: &Recording) {
        self.alike("load results", recording.bench.len().to_string());
        for (number, result) in recording.bench.iter().enumerate() {
            let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(&result.settings) else { continue };
            let suffix = if number == 0 { String::new() } else { format!(" of load {}", number + 1) };
            for (name, value) in fields {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                match name.as_str() {
                    "mode" => self.put(Role::Compared, &format!("mode{suffix}"), text),
                    // A port says nothing; another machine does.
                    "address" => {
                        let host = text.rsplit_once(':').map_or(text.as_str(), |(host, _)| host);
                        self.alike(&format!("server address{suffix}"), host.to_owned());
                    }
                    // `--sources auto` takes as many as the TIME_WAIT of earlier runs asks for.
                    "seed" | "sources" => {}
                    _ => self.alike(&format!("{name}{suffix}"), text),
                }
            }
        }
    }

    /// With a load result, only the program's name: its settings are known exactly. Else words say what kind of load it
    /// is, and may differ; numbers say how much of it, and must not.
    fn workload(&mut self, client: &Group, has_result: bool) {
        if has_result {
            self.put(Role::Compared, "workload", client.label.clone());
            return;
        }
        let words = basenamed(client);
        let (amounts, kinds): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| is_amount(word));
        self.put(Role::Compared, "workload", command_line(&kinds));
        self.alike("numbers of the workload", amounts.join(" "));
    }

    /// In what the two differ, what must be alike first.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let mut names: Vec<&String> = self.0.keys().chain(other.0.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let value = |of: &Self, name: &String| of.0.get(name).map(|(_, value)| value.clone());
        let differing = names.into_iter().filter(|name| value(self, name) != value(other, name));
        let mut differences: Vec<Difference> = differing
            .map(|name| Difference {
                name: name.clone(),
                role: self.0.get(name).or_else(|| other.0.get(name)).map_or(Role::Alike, |(role, _)| *role),
                a: value(self, name).unwrap_or_default(),
                b: value(other, name).unwrap_or_default(),
            })
            .collect();
        // What made them explains the rest; what one of them does not say explains least.
        let is_told = |one: &Difference| !one.a.is_empty() && !one.b.is_empty();
        differences.sort_by_key(|one| (one.role == Role::Compared, one.name != "made by", !is_told(one)));
        differences
    }

    /// Names of all settings.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The value of a setting.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|(_, value)| value.as_str())
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, (_, value)) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A group's command line, the program without its folder.
fn basenamed(group: &Group) -> Vec<String> {
    let mut words = group.argv.clone();
    if let Some(first) = words.first_mut() {
        *first = first.rsplit('/').next().unwrap_or_default().to_owned();
    }
    words
}

fn program(group: &Group) -> String {
    // A process that wrote a title over its arguments (nginx) has it as one word.
    let has_title = matches!(group.argv.as_slice(), [title] if title.contains(' '));
    if group.argv.is_empty() || has_title { group.label.clone() } else { command_line(&basenamed(group)) }
}

/// `100`, `10s`, `1m30s`, `-c100`, `--rounds=10`: how much, not what.
fn is_amount(word: &str) -> bool {
    let value = word.rsplit_once('=').map_or(word, |(_, value)| value);
    let after_letter = |rest: &str| rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).map(str::to_owned);
    let value = value.strip_prefix('-').and_then(after_letter).unwrap_or_else(|| value.to_owned());
    let letters = value.chars().filter(char::is_ascii_alphabetic).count();
    value.starts_with(|c: char| c.is_ascii_digit()) && letters <= 2 && !value.contains(['/', ':'])
}

/// To whole seconds, or tenths below one: a run is never stopped at the very nanosecond.
fn rounded(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds >= 1.0 { format!("{seconds:.0} s") } else { format!("{seconds:.1} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_say_how_much_and_words_say_what() {
        for word in ["100", "10s", "1m30s", "-c100", "-n1000", "--rounds=10", "1.5"] {
            assert!(is_amount(word), "{word}");
        }
        for word in ["-k", "ab", "http://127.0.0.1:8000/", "short", "--mode", "--mode=long", "-H", "127.0.0.1:80", ""] {
            assert!(!is_amount(word), "{word}");
        }
    }

    #[test]
    fn a_program_is_called_by_its_file_or_where_that_was_overwritten_by_its_name() {
        let of = |argv: &[&str]| {
            let argv = argv.iter().map(|&word| word.to_owned()).collect();
            program(&Group { label: "nginx".to_owned(), argv, ..Group::default() })
        };
        assert_eq!(of(&["/usr/sbin/nginx", "-c", "x.conf"]), "nginx -c x.conf");
        assert_eq!(of(&["nginx: master process nginx -c /tmp/ng.conf"]), "nginx");
        assert_eq!(of(&[]), "nginx");
    }

    #[test]
    fn a_run_stopped_a_little_late_is_as_long_as_it_should_be() {
        assert_eq!(rounded(10_004_000_000), rounded(9_990_000_000));
        assert_ne!(rounded(10_000_000_000), rounded(12_000_000_000));
    }
}
