//! Recordings of runs, and what is made from them: statistics, tables, charts.
//!
//! Knows nothing of BPF and needs no root: everything here is a function of a [`recording::Recording`].
#![forbid(unsafe_code)]

pub mod bench;
pub mod compare;
pub mod counters;
pub mod csv;
pub mod document;
pub mod findings;
pub mod histogram;
pub mod hold;
pub mod html;
pub mod import;
pub mod json;
pub mod md;
mod not_finite;
pub mod per_request;
#[cfg_attr(not(feature = "png"), path = "png_left_out.rs")]
pub mod png;
pub mod printable;
mod provenance;
pub mod recording;
pub mod report;
pub mod statistics;
pub mod stats;
pub mod store;
pub mod svg;
pub mod table;
pub mod terminal;
pub mod text;
pub mod units;
