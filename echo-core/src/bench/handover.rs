//! The result in files: documents for people's tools, a line of JSON for the process that started us.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use reports::bench::BenchResult;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::OFlags,
    io::Errno,
};
use serde::Serialize;
use tempfile::{Builder, NamedTempFile};

use crate::Error;

/// Names a file to which the result is appended as one line of JSON.
pub const RESULT_FILE_VARIABLE: &str = "BENCH_RESULT_FILE";

/// A reader of a pipe that takes nothing for so long has forgotten it.
const PATIENCE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// A place for the result that was tried before the run, so that no run is lost to a mistyped path.
#[derive(Debug)]
pub struct ResultFile {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// Replaces what is there, when it is whole.
    Temporary(NamedTempFile),
    /// What must not be replaced by a rename, such as `/dev/stderr` or a named pipe.
    Special(File),
}

impl ResultFile {
    /// Makes a temporary file beside `path`; it disappears unless [`Self::store`] is called.
    ///
    /// # Errors
    /// When the folder cannot be written, or nobody reads the named pipe that `path` is.
    pub fn reserve(path: &Path) -> Result<Self, Error> {
        let special = fs::metadata(path).is_ok_and(|meta| !meta.is_file());
        let place = if special {
            Place::Special(open(path)?)
        } else {
            Place::Temporary(temporary_beside(path).map_err(write_error(path))?)
        };
        Ok(Self { path: path.to_owned(), place })
    }

    /// Writes a document as JSON, whole or not at all.
    ///
    /// # Errors
    /// When the disk is full, the file cannot be replaced, or a pipe's reader has stopped reading.
    pub fn store_json(self, document: &impl Serialize) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(document).map_err(|error| write_error(&self.path)(error.into()))?;
        text.push(b'\n');
        self.store(&text)
    }

    /// Writes bytes, whole or not at all.
    ///
    /// # Errors
    /// As [`Self::store_json`].
    pub fn store(self, bytes: &[u8]) -> Result<(), Error> {
        let written = match self.place {
            Place::Temporary(mut file) => file
                .write_all(bytes)
                .and_then(|()| file.as_file().sync_all())
                .and_then(|()| file.persist(&self.path).map(drop).map_err(|error| error.error)),
            Place::Special(file) => write_patiently(&file, bytes),
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
/// When the file cannot be opened or written, or it is a named pipe that nobody reads.
pub fn append_line(path: &Path, result: &BenchResult) -> Result<(), Error> {
    let line = || {
        let mut line = serde_json::to_vec(result)?;
        line.push(b'\n');
        Ok(line)
    };
    let line = line().map_err(write_error(path))?;
    write_patiently(&open(path)?, &line).map_err(write_error(path))
}

/// Without waiting for a reader, as open() does with a named pipe otherwise.
fn open(path: &Path) -> Result<File, Error> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let opened = OpenOptions::new().append(true).custom_flags(flags).open(path);
    opened.map_err(|error| {
        let is_pipe = fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo());
        match error.raw_os_error() {
            Some(number) if is_pipe && number == Errno::NXIO.raw_os_error() => {
                Error::NoReader { path: path.to_owned() }
            }
            _ => write_error(path)(error),
        }
    })
}

fn write_patiently(mut file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if poll(&mut [PollFd::new(file, PollFlags::OUT)], Some(&PATIENCE))? == 0 {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "its reader does not read"));
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Write { path, source }
}
