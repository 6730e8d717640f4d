//! Recordings as files: written whole or not at all, found below a folder, read with care.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{
    printable,
    recording::{Recording, SCHEMA},
};

/// Name of a recording in its run's folder.
pub const FILE: &str = "recording.json";

/// Name under which a recording is written before it is whole.
pub const PARTIAL: &str = "recording.json.partial";

/// Why a recording could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system said no.
    #[error("failed to {action} `{}`", printable::path(path))]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The text is not a recording: damaged, cut off, or something else.
    #[error("`{}` is damaged or not a recording", printable::path(path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and what.
        source: serde_json::Error,
    },
    /// A device, a pipe or a folder: reading it could wait or go on for ever.
    #[error("`{}` is not a regular file", printable::path(path))]
    NotAFile {
        /// What has the name of a recording.
        path: PathBuf,
    },
    /// Only the name of an unfinished write is there.
    #[error("`{}` was never finished", printable::path(path))]
    HalfWritten {
        /// The unfinished file.
        path: PathBuf,
    },
    /// A later version of the tool wrote it.
    #[error("`{}` has schema {found}, this version reads up to {SCHEMA}", printable::path(path))]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u32,
    },
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io { action, path, source }
}

/// Writes `recording` into the folder `run`: to a temporary name, synced, renamed.
///
/// # Errors
/// When the folder cannot be written; a recording that was there before is then untouched.
pub fn write(run: &Path, recording: &Recording) -> Result<PathBuf, StoreError> {
    let partial = run.join(PARTIAL);
    let whole = run.join(FILE);
    let mut text =
        serde_json::to_vec(recording).map_err(|source| StoreError::Damaged { path: whole.clone(), source })?;
    text.push(b'\n');
    let mut file = fs::File::create(&partial).map_err(io_error("create", &partial))?;
    let written = file.write_all(&text).and_then(|()| file.sync_all()).map_err(io_error("write", &partial));
    let written = written.and_then(|()| fs::rename(&partial, &whole).map_err(io_error("rename", &partial)));
    if let Err(error) = written {
        // Half a recording is of no use, and in the way on a disk that is full.
        let _ = fs::remove_file(&partial);
        return Err(error);
    }
    // The rename itself is durable once the folder is synced; not every file system can do that.
    let _ = fs::File::open(run).and_then(|folder| folder.sync_all());
    Ok(whole)
}

/// Reads one recording file.
///
/// # Errors
/// When it cannot be opened, is not a recording, or comes from a later version.
pub fn read(path: &Path) -> Result<Recording, StoreError> {
    #[derive(serde::Deserialize)]
    struct Header {
        schema: u32,
    }
    let damaged = |source| StoreError::Damaged { path: path.to_owned(), source };
    if path.file_name().is_some_and(|name| name == PARTIAL) {
        return Err(StoreError::HalfWritten { path: path.to_owned() });
    }
    if !fs::metadata(path).map_err(io_error("read", path))?.is_file() {
        return Err(StoreError::NotAFile { path: path.to_owned() });
    }
    let text = fs::read(path).map_err(io_error("read", path))?;
    let recording: Result<Recording, _> = serde_json::from_slice(&text);
    // Only where it cannot be read as ours is the text gone through once more, for its number.
    let found = match &recording {
        Ok(recording) => recording.schema,
        Err(_) => serde_json::from_slice(&text).map_or(0, |header: Header| header.schema),
    };
    if found > SCHEMA {
        return Err(StoreError::Newer { path: path.to_owned(), found });
    }
    let mut recording = recording.map_err(damaged)?;
    recording.upgrade();
    Ok(recording)
}

/// Finds recordings, half-written ones included, in `path` and below it, sorted by name. A file is taken as named.
///
/// Folders that cannot be read are left out, and come into `unreadable`, `path` among them.
pub fn find(path: &Path, unreadable: &mut Vec<StoreError>) -> Vec<PathBuf> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return vec![path.to_owned()],
        Err(error) => {
            unreadable.push(io_error("read", path)(error));
            return Vec::new();
        }
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                unreadable.push(io_error("list", &folder)(error));
                continue;
            }
        };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => names.push(entry.file_name()),
                Err(_) => {}
            }
        }
        if names.iter().any(|name| name == FILE) {
            found.push(folder.join(FILE));
        } else if names.iter().any(|name| name == PARTIAL) {
            found.push(folder.join(PARTIAL));
        }
    }
    found.sort();
    found
}
