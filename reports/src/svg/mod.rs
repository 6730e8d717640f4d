//! Charts as SVG: one function for each, from a recording or from the figures of many to the text of a file.
//!
//! Nothing here writes a file. A chart that would have nothing to show is `None`. The same input gives the same bytes.

mod axis;
mod canvas;
mod comparison;
mod frame;
mod latency;
mod overlay;
mod palette;
mod share;

pub use comparison::comparison;
pub use latency::latency;
pub use overlay::{Curve, overlay};
pub use share::share;
