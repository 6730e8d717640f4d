//! TCP connections of a run: from the records of the probes to the recording.

mod connection;
mod fold;
mod lines;
mod listeners;
mod peers;
mod ports;
mod trace;

pub(crate) use lines::ConnectionLines;
pub(crate) use trace::TcpTrace;
