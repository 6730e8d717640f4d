//! The result in files: a JSON document for people's tools, a line of JSON for the process that started us.

use std::{
    fs::{self, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use reports::bench::BenchResult;
use tempfile::{Builder, NamedTempFile};

use crate::Error;

/// Names a file to which the result is appended as one line of JSON.
pub const RESULT_FILE_VARIABLE: &str = "BENCH_RESULT_FILE";

/// A place for the result that was tried before the run, so that no run is lost to a mistyped path.
#[derive(Debug)]
pub struct JsonFile {
    path: PathBuf,
    /// Nothing for what must not be replaced by a rename, such as `/dev/stderr` or a named pipe.
    temporary: Option<NamedTempFile>,
}

impl JsonFile {
    /// Makes a temporary file beside `path`; it disappears unless [`Self::store`] is called.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn reserve(path: &Path) -> Result<Self, Error> {
        let special = fs::metadata(path).is_ok_and(|meta| !meta.is_file());
        let temporary = if special { None } else { Some(temporary_beside(path).map_err(write_error(path))?) };
        Ok(Self { path: path.to_owned(), temporary })
    }

    /// Writes the result, whole or not at all.
    ///
    /// # Errors
    /// When the disk is full or the file cannot be replaced.
    pub fn store(self, result: &BenchResult) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(result).map_err(|error| write_error(&self.path)(error.into()))?;
        text.push(b'\n');
        let written = match self.temporary {
            Some(mut file) => file
                .write_all(&text)
                .and_then(|()| file.as_file().sync_all())
                .and_then(|()| file.persist(&self.path).map(drop).map_err(|error| error.error)),
            None => OpenOptions::new().write(true).open(&self.path).and_then(|mut file| file.write_all(&text)),
        };
        written.map_err(write_error(&self.path))
    }
}

fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // As any other new file: what the umask leaves.
    Builder::new().prefix(".bench-").permissions(Permissions::from_mode(0o666)).tempfile_in(folder)
}

/// Appends the result to a file that is already there, as one line, in one write.
///
/// # Errors
/// When the file cannot be opened or written.
pub fn append_line(path: &Path, result: &BenchResult) -> Result<(), Error> {
    let append = || {
        let mut line = serde_json::to_vec(result)?;
        line.push(b'\n');
        OpenOptions::new().append(true).open(path)?.write_all(&line)
    };
    append().map_err(write_error(path))
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Write { path, source }
}
