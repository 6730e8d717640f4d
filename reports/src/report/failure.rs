//! What can keep a part of a report from being made, and what to do about it.

use std::{io, path::PathBuf};

use crate::{png::PngError, printable, store::StoreError};

/// One thing that was skipped or could not be done; it names the file or folder.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A recording, or a folder of recordings, could not be read.
    #[error(transparent)]
    Recording(#[from] StoreError),
    /// There was nothing to report on.
    #[error("no recording in {}", listed(paths))]
    NoRecordings {
        /// Where it was looked for.
        paths: Vec<PathBuf>,
    },
    /// A file of the report could not be written.
    #[error("failed to write `{}`", printable::path(path))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A chart could not be made into a picture.
    #[error("failed to draw `{}`", printable::path(path))]
    Undrawable {
        /// The file that it was for.
        path: PathBuf,
        /// What went wrong.
        source: PngError,
    },
}

const MAKE_ONE: &str = "make one: sudo analyzer trace --target echo-epoll-lt -- bench --mode short";

impl Failure {
    /// The remedy, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoRecordings { .. } => Some(MAKE_ONE),
            Self::Recording(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Some(MAKE_ONE)
            }
            Self::Unwritable { .. } => Some("write somewhere else: -o DIR"),
            Self::Recording(StoreError::HalfWritten { .. }) => {
                Some("that run was cut off before it could be saved: trace it again, or delete its folder")
            }
            Self::Recording(StoreError::Newer { .. }) => Some("read it with the version that wrote it, or a later one"),
            Self::Recording(_) | Self::Undrawable { .. } => None,
        }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| format!("`{}`", printable::path(path))).collect();
    paths.join(", ")
}
