//! Which recordings a report is about, what each run is called, and which folder its charts go to.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use super::{Failure, Options};
use crate::store;

/// A recording that was found; it has not been read yet.
pub(super) struct Run {
    /// Its file.
    pub(super) recording: PathBuf,
    /// Name of its folder.
    pub(super) name: String,
    /// Where its charts go; no other run's charts go there.
    pub(super) charts: PathBuf,
}

/// All recordings in the order of the paths, each once, even when two paths lead to it.
pub(super) fn find(options: &Options, failed: &mut Vec<Failure>) -> Vec<Run> {
    let mut seen = BTreeSet::new();
    let mut taken = BTreeSet::new();
    let mut runs = Vec::new();
    for path in &options.paths {
        let mut unreadable = Vec::new();
        let found = store::find(path, &mut unreadable);
        failed.extend(unreadable.into_iter().map(Failure::from));
        for recording in found {
            if seen.insert(fs::canonicalize(&recording).unwrap_or_else(|_| recording.clone())) {
                runs.push(named(recording, options.out.as_deref(), &mut taken));
            }
        }
    }
    runs
}

fn named(recording: PathBuf, out: Option<&Path>, taken: &mut BTreeSet<PathBuf>) -> Run {
    let beside = recording.parent().unwrap_or(Path::new("")).to_owned();
    let standard = recording.file_name().is_some_and(|name| name == store::FILE || name == store::PARTIAL);
    let name = if standard { folder_name(&beside) } else { recording.file_stem().map(OsString::from) };
    let name = name.unwrap_or_else(|| "run".into());
    let charts = match out {
        Some(out) => out.join(&name),
        None if standard => beside,
        // Other recordings may lie in the same folder.
        None => beside.join(&name),
    };
    Run { recording, name: name.to_string_lossy().into_owned(), charts: untaken(&charts, taken) }
}

/// Also of `.` and of the empty path, which have no name of their own.
fn folder_name(folder: &Path) -> Option<OsString> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let whole = fs::canonicalize(here).unwrap_or_else(|_| here.to_owned());
    whole.file_name().map(OsString::from)
}

/// `folder`, or `folder-2`, `folder-3`, ... when other runs of the same name have taken it.
fn untaken(folder: &Path, taken: &mut BTreeSet<PathBuf>) -> PathBuf {
    let mut free = folder.to_owned();
    let mut number = 1;
    while !taken.insert(free.clone()) {
        number += 1;
        let mut name = folder.as_os_str().to_owned();
        name.push(format!("-{number}"));
        free = name.into();
    }
    free
}

/// Where a chart of all runs goes: as asked for, else the first folder that was named, else beside the first run.
pub(super) fn common_folder(options: &Options, runs: &[Run]) -> PathBuf {
    let named = || options.paths.iter().find(|path| path.is_dir()).cloned();
    let beside = || runs.first().and_then(|run| run.recording.parent()).map(Path::to_owned);
    options.out.clone().or_else(named).or_else(beside).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_the_same_name_get_folders_of_their_own() {
        let mut taken = BTreeSet::new();
        let mut charts = |path: &str, out| named(PathBuf::from(path), out, &mut taken).charts;
        let out = Some(Path::new("out"));
        assert_eq!(charts("a/run/recording.json", out), Path::new("out/run"));
        assert_eq!(charts("b/run/recording.json", out), Path::new("out/run-2"));
        assert_eq!(charts("c/run-2/recording.json", out), Path::new("out/run-2-2"));
        assert_eq!(charts("a/run/recording.json", None), Path::new("a/run"));
        assert_eq!(charts("a/other.json", None), Path::new("a/other"));
    }
}
