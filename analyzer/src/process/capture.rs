//! The last of what a process prints.

use std::{
    collections::VecDeque,
    io::{PipeReader, Read as _},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// How much is kept.
const KEPT_BYTES: usize = 64 * 1024;

/// Output as it comes, read on a thread of its own so that the writer never blocks.
#[derive(Clone)]
pub(crate) struct Capture(Arc<Mutex<VecDeque<u8>>>);

impl Capture {
    /// Starts to read until every writer has closed.
    pub(crate) fn of(mut pipe: PipeReader) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Arc::clone(&kept);
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut chunk) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&chunk[..length]);
                let excess = kept.len().saturating_sub(KEPT_BYTES);
                kept.drain(..excess);
            }
        });
        Self(kept)
    }

    /// What has come so far, without white space at the end.
    pub(crate) fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = kept.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).trim_end().to_owned()
    }
}
