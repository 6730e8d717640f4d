//! What every importer is asked for: no panic, and a recording that its reader takes and that stays small.

use reports::{
    import::{Format, Source, import},
    recording::Recording,
    text::{self, Style},
};

/// Imports the bytes as that format, then does with the recording what `report` would.
pub fn importing(bytes: &[u8], format: Format) {
    let source = Source { file: "f", bytes, modified: "", group: "server", format: Some(format) };
    let Ok(recording) = import(&source) else { return };
    let json = serde_json::to_vec(&recording).expect("serializable");
    assert!(json.len() <= 60_000 + 40 * bytes.len(), "{} bytes of {}", json.len(), bytes.len());
    let read: Recording = serde_json::from_slice(&json).expect("a recording");
    assert_eq!(read, recording);
    assert!(!text::run(&recording, &Style::default()).contains('\u{1b}'));
}
