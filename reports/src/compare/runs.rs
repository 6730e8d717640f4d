//! Reads the runs, keeping only what a comparison needs of each.

use std::path::{Path, PathBuf};

use super::{CompareError, Figures, LeftOut, Options, Settings, figures, shifts::Distribution};
use crate::{printable, store};

/// What is kept of a recording.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) figures: Figures,
    pub(super) distributions: Vec<Distribution>,
}

/// The runs below one of the paths.
pub(super) struct Loaded {
    pub(super) path: PathBuf,
    pub(super) runs: Vec<Run>,
}

/// Reads everything below every path. Incomplete runs are left out and named, unless taken by force.
pub(super) fn load(options: &Options, left_out: &mut Vec<LeftOut>) -> Result<Vec<Loaded>, CompareError> {
    options.paths.iter().map(|path| below(path, options.force, left_out)).collect()
}

fn below(path: &Path, force: bool, left_out: &mut Vec<LeftOut>) -> Result<Loaded, CompareError> {
    let mut unreadable = Vec::new();
    let found = store::find(path, &mut unreadable);
    if let Some(error) = unreadable.into_iter().next() {
        return Err(error.into());
    }
    let mut runs = Vec::new();
    for file in found {
        let recording = store::read(&file)?;
        let why = recording.incomplete_because.clone().unwrap_or_else(|| "incomplete".to_owned());
        if !recording.complete && !force {
            left_out.push(LeftOut { run: printable::path(&file), why: printable::printable(&why) });
            continue;
        }
        runs.push(Run {
            name: name_of(&file),
            settings: Settings::of(&recording),
            figures: Figures::of(&recording),
            distributions: figures::distributions(&recording),
        });
    }
    if runs.is_empty() {
        return Err(CompareError::Empty { path: printable::path(path) });
    }
    Ok(Loaded { path: path.to_owned(), runs })
}

/// Of the run's folder, or of the file where it has a name of its own.
fn name_of(file: &Path) -> String {
    let standard = file.file_name().is_some_and(|name| name == store::FILE);
    let name = if standard { file.parent().and_then(Path::file_name) } else { file.file_stem() };
    name.map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}
