//! What a run found out about its own figures: facts, each with a number and what follows from it.

use serde::{Deserialize, Serialize};

/// What [`Finding::value`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A time in ns.
    Ns,
    /// A number of things.
    Count,
    /// A share or a ratio; 1 is the whole.
    Ratio,
}

/// One self-check of a run. Names are stable; texts are not.
///
/// | name | value |
/// |---|---|
/// | `little` | rate x mean latency / connections, closed loop only; 1 when the books balance |
/// | `client-cpu` | CPU time of the client per thread and elapsed time |
/// | `rate` | achieved / requested rate, open loop only |
/// | `stall` | longest time in which requests waited and none was answered |
/// | `client-gap` | longest time for which the client's own loop did not run |
/// | `clock-jump` | how far the wall clock moved against the monotonic one |
/// | `reconnects` | connections that replaced a failed one |
/// | `counter:NAME` | how far the kernel's counter moved |
/// | `syn-back-off` | connects that took whole seconds |
/// | `delayed-ack`, `min-rto` | requests that took about 40 ms, or 200 ms |
/// | `port-bound` | connections and `TIME_WAIT` on a source address, as a share of its ports |
/// | `unclosed` | connections that the server did not close in time |
/// | `load` | load average, where more wants to run than client, server and CPUs account for |
/// | `steal` | share of the machine's time that the hypervisor gave to others |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What was checked.
    pub name: String,
    /// Whether the figures must not be taken at face value.
    pub warns: bool,
    /// What was found.
    #[serde(deserialize_with = "crate::not_finite::or_nan")]
    pub value: f64,
    /// What `value` counts.
    pub unit: Unit,
    /// One sentence: the fact with its number, and what follows.
    pub text: String,
}
