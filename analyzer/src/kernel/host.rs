//! The machine and the settings that a recording keeps beside its figures.

use std::{collections::BTreeMap, fs, path::Path};

use reports::recording::Host;

/// Settings that change how connections are made, queued, dropped and closed.
const SYSCTLS: [&str; 14] = [
    "net.core.somaxconn",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_syn_linear_timeouts",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_synack_retries",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_tw_reuse_delay",
];

/// This machine.
pub(crate) fn host() -> Host {
    let uname = rustix::system::uname();
    Host {
        kernel: uname.release().to_string_lossy().into_owned(),
        arch: uname.machine().to_string_lossy().into_owned(),
        cpus: std::thread::available_parallelism().map_or(0, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX)),
        clock: "CLOCK_MONOTONIC".to_owned(),
    }
}

/// The settings of [`SYSCTLS`] that this kernel has.
pub(crate) fn sysctls() -> BTreeMap<String, String> {
    let read = |name: &str| fs::read_to_string(Path::new("/proc/sys").join(name.replace('.', "/"))).ok();
    SYSCTLS
        .iter()
        .filter_map(|&name| Some((name.to_owned(), read(name)?.split_whitespace().collect::<Vec<_>>().join(" "))))
        .collect()
}
