//! Writes files: each whole or not at all, under names that no recording can choose freely.

use std::{collections::BTreeSet, fs, io, io::Write, path::Path};

use super::{Failure, Format, Outcome};
use crate::{csv, document::Document, png::Painter, printable};

/// Writes a report's charts and tables in the formats that were asked for.
pub(super) struct Charts {
    svg: bool,
    png: Option<Painter>,
    csv: bool,
}

impl Charts {
    pub(super) fn new(formats: &BTreeSet<Format>) -> Self {
        Self {
            svg: formats.contains(&Format::Svg),
            png: formats.contains(&Format::Png).then(Painter::default),
            csv: formats.contains(&Format::Csv),
        }
    }

    /// Ending of the drawings that are written, for who refers to them.
    pub(super) fn drawn(&self) -> Option<&'static str> {
        if self.png.is_some() {
            Some("png")
        } else if self.svg {
            Some("svg")
        } else {
            None
        }
    }

    /// Writes into `folder` and returns what is to be said of it; after a failure the rest is left.
    pub(super) fn write(&self, folder: &Path, document: &Document, outcome: &mut Outcome) -> Vec<String> {
        let mut lines = Vec::new();
        let failures = outcome.failed.len();
        for figure in document.charts.iter().filter_map(|chart| chart.figure.as_ref()) {
            if outcome.failed.len() > failures || self.drawn().is_none() {
                break;
            }
            let svg = figure.svg();
            let path = folder.join(figure.name());
            if self.svg {
                lines.extend(put(&path.with_extension("svg"), svg.as_bytes(), outcome));
            }
            if let Some(painter) = &self.png {
                let path = path.with_extension("png");
                match painter.png(&svg) {
                    Ok(picture) => lines.extend(put(&path, &picture, outcome)),
                    Err(source) => outcome.failed.push(Failure::Undrawable { path, source }),
                }
            }
        }
        let left_out: Vec<&str> = document.left_out().map(|(name, _)| name).collect();
        if self.drawn().is_some() && !left_out.is_empty() && outcome.failed.len() == failures {
            let folder = printable::path(folder);
            lines.push(format!("not written, no data for it: {} in {folder}", left_out.join(", ")));
        }
        if self.csv {
            for table in document.all_tables() {
                if outcome.failed.len() > failures {
                    break;
                }
                let path = folder.join(format!("{}.csv", table.name));
                lines.extend(put(&path, csv::table(&table).as_bytes(), outcome));
            }
        }
        lines
    }
}

/// Writes one file, and returns the line that says so; a failure goes into the outcome.
pub(super) fn put(path: &Path, bytes: &[u8], outcome: &mut Outcome) -> Option<String> {
    if let Err(source) = replace(path, bytes) {
        outcome.failed.push(Failure::Unwritable { path: path.to_owned(), source });
        return None;
    }
    outcome.written.push(path.to_owned());
    Some(format!("wrote {}", printable::path(path)))
}

/// To a temporary name in the same folder, then renamed: a reader never sees half a file.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = new_file(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// Readable for whom the umask says, unlike other temporary files.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".").suffix(".partial").permissions(mode).tempfile_in(folder)
}
