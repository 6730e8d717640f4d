//! Every server in every form that the claims are made of: one source, each claim a test of its own for each model.

/// A server binary with the options that make it this model, and what bounds its claims.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) binary: &'static str,
    pub(crate) options: &'static [&'static str],
    /// Options with which one process or thread serves all, and three connections at once are the most.
    pub(crate) three_at_once: &'static [&'static str],
    /// Connections at once that a test of this machine's size can ask of it.
    pub(crate) holds: u16,
    /// Returns of the waiting call for each request.
    pub(crate) wake_ups_per_request: u64,
    /// Threads or processes that may be woken for the same connection.
    pub(crate) rivals: u64,
}

const BASE: Model = Model {
    binary: "",
    options: &[],
    three_at_once: &["--max-connections", "3"],
    holds: 10_000,
    wake_ups_per_request: 1,
    rivals: 0,
};
const WITH_TWO_WORKERS: Model = Model {
    options: &["--workers", "2"],
    three_at_once: &["--workers", "1", "--max-connections", "3"],
    rivals: 1,
    ..BASE
};

pub(crate) fn epoll_lt() -> Model {
    Model { binary: env!("CARGO_BIN_EXE_echo-epoll-lt"), ..BASE }
}

pub(crate) fn epoll_lt_mod() -> Model {
    Model { options: &["--write", "mod"], wake_ups_per_request: 2, ..epoll_lt() }
}

pub(crate) fn epoll_lt_keep_epollout() -> Model {
    Model { options: &["--keep-epollout"], ..epoll_lt() }
}

pub(crate) fn epoll_et() -> Model {
    Model { binary: env!("CARGO_BIN_EXE_echo-epoll-et"), ..BASE }
}

pub(crate) fn epoll_et_mod() -> Model {
    Model { options: &["--write", "mod"], wake_ups_per_request: 2, ..epoll_et() }
}

pub(crate) fn mp() -> Model {
    Model { binary: env!("CARGO_BIN_EXE_echo-mp"), ..WITH_TWO_WORKERS }
}

pub(crate) fn mt_reuseport() -> Model {
    Model { binary: env!("CARGO_BIN_EXE_echo-mt"), ..WITH_TWO_WORKERS }
}

pub(crate) fn mt_exclusive() -> Model {
    Model { options: &["--workers", "2", "--accept", "exclusive"], ..mt_reuseport() }
}

pub(crate) fn oneshot() -> Model {
    Model { binary: env!("CARGO_BIN_EXE_echo-oneshot"), ..WITH_TWO_WORKERS }
}

/// Holds as many connections as it has processes.
pub(crate) fn prefork() -> Model {
    Model {
        binary: env!("CARGO_BIN_EXE_echo-prefork"),
        options: &["--workers", "16"],
        three_at_once: &["--workers", "3"],
        holds: 16,
        ..BASE
    }
}

/// Holds 10,000 as well, but not on every machine that runs the tests: each takes a stack and two memory maps.
pub(crate) fn threads() -> Model {
    Model { binary: env!("CARGO_BIN_EXE_echo-threads"), holds: 2_000, ..BASE }
}

pub(crate) fn uring() -> Model {
    Model { binary: env!("CARGO_BIN_EXE_echo-uring"), wake_ups_per_request: 2, ..BASE }
}

/// Makes a test of each claim for each of the models named.
macro_rules! for_models {
    ([$($model:ident),+ $(,)?], $claims:tt) => { $( mod $model { $crate::models::claims!($model, $claims); } )+ };
}
pub(crate) use for_models;

macro_rules! claims {
    ($model:ident, [$($claim:ident),+ $(,)?]) => {
        $( #[test] fn $claim() { super::$claim($crate::models::$model()); } )+
    };
}
pub(crate) use claims;

/// Makes a test of each claim for every model.
macro_rules! for_each_model {
    ($($claim:ident),+ $(,)?) => {
        $crate::models::for_models!(
            [
                epoll_lt, epoll_lt_mod, epoll_lt_keep_epollout, epoll_et, epoll_et_mod, mp, mt_reuseport, mt_exclusive,
                oneshot, prefork, threads, uring,
            ],
            [$($claim),+]
        );
    };
}
pub(crate) use for_each_model;

/// Makes a test of each claim for every model that holds many connections with few processes.
macro_rules! for_each_roomy_model {
    ($($claim:ident),+ $(,)?) => {
        $crate::models::for_models!(
            [
                epoll_lt, epoll_lt_mod, epoll_lt_keep_epollout, epoll_et, epoll_et_mod, mp, mt_reuseport, mt_exclusive,
                oneshot, threads, uring,
            ],
            [$($claim),+]
        );
    };
}
pub(crate) use for_each_roomy_model;
