//! Names of TCP's states.

/// By number (v6.18 include/net/tcp_states.h).
const NAMES: [&str; 13] = [
    "NONE",
    "ESTABLISHED",
    "SYN_SENT",
    "SYN_RECV",
    "FIN_WAIT1",
    "FIN_WAIT2",
    "TIME_WAIT",
    "CLOSE",
    "CLOSE_WAIT",
    "LAST_ACK",
    "LISTEN",
    "CLOSING",
    "NEW_SYN_RECV",
];

/// A state's name in the kernel's spelling.
pub(crate) fn name(state: u32) -> String {
    NAMES.get(state as usize).map_or_else(|| format!("state_{state}"), |&name| name.to_owned())
}
