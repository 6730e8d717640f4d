//! What a run was asked for, as it is kept with the result. Fields that are absent were not asked for.

use serde::{Deserialize, Serialize};

use crate::recording::is_zero;

/// How requests use connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Every request opens its own connection and closes it.
    Short,
    /// Connect once, then request after request.
    Long,
    /// A new connection after every [`BenchSettings::requests_per_connection`] requests.
    Reconnect,
    /// Connect and close, nothing sent.
    Connect,
}

impl Mode {
    /// The word on the command line and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
            Self::Reconnect => "reconnect",
            Self::Connect => "connect",
        }
    }
}

/// Who closes a connection that has done its requests, which decides where `TIME_WAIT` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Close {
    /// The client closes at once.
    #[default]
    Client,
    /// The client ends its sending half and closes when it has seen the server's FIN.
    Half,
    /// The client waits for the server's FIN and only then closes.
    Server,
}

impl Close {
    /// The word on the command line and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Half => "half",
            Self::Server => "server",
        }
    }
}

/// What makes the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Client {
    /// Few threads, each with an epoll.
    #[default]
    Epoll,
    /// A blocking thread for each connection, all released at once by a barrier, a number of rounds, no warm-up: the shape of
    /// earlier tools, whose artefacts it has. Latency in short mode is all of connect, send, receive and close.
    Classic,
}

/// At most so many requests begin in each interval of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// Requests of all threads together.
    pub requests: u64,
    /// Length of an interval.
    pub interval_ns: u64,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchSettings {
    /// Server, as `ADDRESS:PORT`.
    pub address: String,
    /// What was asked of a web server; absent where an echo server was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// What makes the requests.
    #[serde(default)]
    pub client: Client,
    /// How requests use connections.
    pub mode: Mode,
    /// Requests of each connection in [`Mode::Reconnect`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_connection: Option<u64>,
    /// Closed loop: connections kept busy at once. Open loop: the most that may be in use at once.
    pub connections: u32,
    /// Open loop: requests that are due each second, whether earlier ones were answered or not. Absent: closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<u64>,
    /// Requests for each connection slot, when the run is bounded by count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// Length of the run, when it is bounded by time; the warm-up is not part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// Load that was made before anything was counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warmup_ns: u64,
    /// Pause of a connection between a reply and its next request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub think_ns: u64,
    /// Closed loop: the most requests that begin in an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// Size of a request, and of its reply; the smallest where sizes vary.
    pub payload_bytes: u32,
    /// Largest size of a request where sizes vary, all sizes between being as likely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_max_bytes: Option<u32>,
    /// Client threads.
    pub threads: u32,
    /// After this a connect or a request counts as failed.
    pub timeout_ns: u64,
    /// Who closes first.
    #[serde(default)]
    pub close: Close,
    /// Connections are closed by RST (`SO_LINGER` 0): no `TIME_WAIT` on either side.
    #[serde(default)]
    pub linger0: bool,
    /// Local addresses that connections are spread over.
    #[serde(default = "one")]
    pub sources: u32,
}

impl BenchSettings {
    /// Of a run that was told nothing but this: for results of other load generators.
    #[must_use]
    pub fn of(address: String, mode: Mode) -> Self {
        Self {
            address,
            http: None,
            client: Client::default(),
            mode,
            requests_per_connection: None,
            connections: 0,
            rate_per_s: None,
            rounds: None,
            duration_ns: None,
            warmup_ns: 0,
            think_ns: 0,
            pace: None,
            payload_bytes: 0,
            payload_max_bytes: None,
            threads: 1,
            timeout_ns: 0,
            close: Close::Client,
            linger0: false,
            sources: 1,
        }
    }

    /// The largest payload of the run.
    #[must_use]
    pub fn largest_payload_bytes(&self) -> u32 {
        self.payload_max_bytes.unwrap_or(self.payload_bytes)
    }

    /// Whether requests are due at a rate of their own.
    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        self.rate_per_s.is_some()
    }
}

fn one() -> u32 {
    1
}
