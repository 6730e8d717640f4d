//! Whether a run may be believed, in one line: where there is no room for more.

use crate::{printable::printable, recording::Recording, units};

/// Completeness, loss and own cost.
#[must_use]
pub fn trust(recording: &Recording) -> String {
    let lost =
        recording.lost().map_or("what was lost is not known".to_owned(), |lost| format!("lost {}", units::count(lost)));
    let complete = match &recording.incomplete_because {
        _ if recording.complete => "complete".to_owned(),
        Some(why) => format!("incomplete ({})", printable(why)),
        None => "incomplete".to_owned(),
    };
    let per_call = recording.own_cost.as_ref().and_then(|cost| cost.per_call.as_ref());
    let cost = per_call.map(|cost| format!("; own cost {} a call", units::duration_f64(cost.traced_ns)));
    format!("{complete}, {lost}{}", cost.unwrap_or_default())
}

/// A run that came to its end and lost nothing.
#[must_use]
pub fn is_whole(recording: &Recording) -> bool {
    recording.complete && recording.groups.iter().all(|group| group.loss.total() == 0)
}
