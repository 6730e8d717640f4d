//! Writes a run's charts: each whole or not at all, under names that no recording can choose freely.

use std::{
    collections::BTreeSet,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use super::{Failure, Outcome};
use crate::{printable, recording::Recording, svg};

/// Longest part of a file's name that comes from a group's name.
const STEM: usize = 40;

/// Name and text of each chart of a run; no text where there is no data.
pub(super) fn charts(recording: &Recording, run: &str) -> Vec<(String, Option<String>)> {
    let mut taken = BTreeSet::new();
    let mut charts = Vec::new();
    for group in &recording.groups {
        let mut stem = stem(&group.name);
        while !taken.insert(stem.clone()) {
            stem.push('_');
        }
        charts.push((format!("latency-{stem}.svg"), svg::latency(recording, run, group)));
        charts.push((format!("share-{stem}.svg"), svg::share(recording, run, group)));
    }
    charts
}

/// A group's name as a part of a file's: nothing in it can lead out of the folder.
fn stem(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let stem: String = name.chars().take(STEM).map(safe).collect();
    if stem.is_empty() { "group".to_owned() } else { stem }
}

/// Writes them into `folder` and returns a line for each; after a failure the rest of them is left.
pub(super) fn write(folder: &Path, charts: Vec<(String, Option<String>)>, outcome: &mut Outcome) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, chart) in charts {
        let path = folder.join(&name);
        let Some(chart) = chart else {
            lines.push(format!("not written, no data for it: {}", printable::path(&path)));
            continue;
        };
        if let Err(source) = replace(&path, chart.as_bytes()) {
            outcome.failed.push(Failure::Unwritable { path, source });
            break;
        }
        lines.push(format!("wrote {}", printable::path(&path)));
        outcome.written.push(path);
    }
    lines
}

/// To a temporary name in the same folder, then renamed: a reader never sees half a file.
fn replace(path: &PathBuf, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = new_file(folder)?;
    file.write_all(text)?;
    file.persist(path)?;
    Ok(())
}

/// Readable for whom the umask says, unlike other temporary files.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".").suffix(".svg.partial").permissions(mode).tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_group_leads_out_of_the_folder() {
        for name in ["../../etc/passwd", "/", "..", "a\0b", "\u{202e}x", ""] {
            let stem = stem(name);
            assert!(!stem.is_empty() && !stem.contains(['/', '.', '\0']), "{name:?}: {stem}");
        }
        assert_eq!(stem("server"), "server");
    }
}
