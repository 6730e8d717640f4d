//! The reader of recordings, and everything that is computed from one that it takes.

use reports::{
    compare::Figures,
    recording::Recording,
    stats::RunFigures,
    svg,
    text::{self, Style},
};

/// Reads the bytes as a recording, then does with it what `report` would.
pub fn recording(bytes: &[u8]) {
    let Ok(recording) = serde_json::from_slice::<Recording>(bytes) else { return };
    let _ = Figures::of(&recording);
    let _ = RunFigures::of("f".into(), "f".to_owned(), &recording);
    assert!(!text::run(&recording, &Style { color: false, width: Some(80) }).contains('\u{1b}'));
    for group in &recording.groups {
        let _ = svg::latency(&recording, "f", group);
        let _ = svg::share(&recording, "f", group);
    }
}
