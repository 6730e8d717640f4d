//! Charts: one function for each, from a recording or from the figures of many runs to a [`Figure`], which can be drawn
//! as SVG and tells the data behind it.
//!
//! Nothing here writes a file. A chart that would have nothing to show is `None`. The same input gives the same bytes.

mod axis;
mod canvas;
mod comparison;
mod connect;
mod figure;
mod frame;
mod heat;
mod intervals;
mod latency;
mod over_time;
mod overlay;
mod palette;
mod per_request;
mod ports;
mod rate;
mod resources;
mod set;
mod share;
mod sides;
mod stacked;
mod states;
mod sweep;
mod time_split;

pub use comparison::comparison;
pub use connect::connect;
pub use figure::Figure;
pub use heat::heat;
pub use latency::latency;
pub use overlay::{Curve, overlay};
pub(crate) use palette::dark;
pub use per_request::{per_request, per_request_of_runs};
pub use ports::ports;
pub use rate::rate;
pub use resources::{cpu, listeners, time_wait};
pub(crate) use set::stems;
pub use set::{Chart, of_run, of_runs};
pub use share::share;
pub use sides::sides;
pub use states::states;
pub use sweep::sweep;
pub use time_split::time_split;
