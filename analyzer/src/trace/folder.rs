//! The folder of one run, made before the run so that an unwritable place is known in time.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use reports::{recording::Recording, store};

use crate::{
    advice::{Advise as _, advised},
    process::identity::Caller,
};

/// A folder that exists; it is removed again unless a recording comes into it.
pub(crate) struct RunFolder {
    path: PathBuf,
    /// Folders above it that we made, outermost first.
    made_above: Vec<PathBuf>,
    caller: Option<Caller>,
    keep: bool,
}

impl RunFolder {
    /// Makes `results/<time>-<label>` below `output`.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub(crate) fn create(output: &Path, started: Timestamp, label: &str) -> Result<Self> {
        let unwritable = || format!("failed to make a folder for the run in `{}`", output.display());
        let advice = "name another place with -o DIR";
        let missing = output.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let mut made_above = missing.map(Path::to_owned).collect::<Vec<_>>();
        made_above.reverse();
        let mut folder = Self { path: PathBuf::new(), made_above, caller: Caller::behind_sudo(), keep: false };
        fs::create_dir_all(output).with_context(unwritable).hint(advice)?;
        let name = format!("{}-{label}", started.strftime("%Y%m%dT%H%M%S"));
        folder.path = create_unused(output, &name).with_context(unwritable).hint(advice)?;
        // A read-only or full file system shows itself here, not after the run.
        let probe = folder.path.join(store::PARTIAL);
        fs::write(&probe, vec![b' '; 1 << 16])
            .and_then(|()| fs::remove_file(&probe))
            .with_context(unwritable)
            .hint(advice)?;
        folder.hand_over(&folder.path)?;
        for above in &folder.made_above {
            folder.hand_over(above)?;
        }
        Ok(folder)
    }

    /// Writes the recording and keeps the folder; returns the file.
    ///
    /// # Errors
    /// When the recording cannot be written here. It is then among the temporary files, if it fits there.
    pub(crate) fn write(&mut self, recording: &Recording) -> Result<PathBuf> {
        let file = store::write(&self.path, recording).map_err(|error| match self.rescued(recording) {
            Some(file) => advised(error.into(), format!("the recording is in `{}` instead", file.display())),
            None => advised(error.into(), "free some space, or name another place with -o DIR"),
        })?;
        self.keep = true;
        self.hand_over(&file)?;
        Ok(file)
    }

    fn hand_over(&self, path: &Path) -> Result<()> {
        self.caller.map_or(Ok(()), |caller| caller.own(path))
    }

    /// Keeps a measured run that its own place does not take.
    fn rescued(&self, recording: &Recording) -> Option<PathBuf> {
        let folder = tempfile::Builder::new().prefix("analyzer-").tempdir().ok()?;
        let file = store::write(folder.path(), recording).ok()?;
        self.hand_over(&file).and_then(|()| self.hand_over(folder.path())).ok()?;
        let _ = folder.keep();
        Some(file)
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if !self.keep && !self.path.as_os_str().is_empty() {
            let _ = fs::remove_file(self.path.join(store::PARTIAL));
            let _ = fs::remove_dir(&self.path);
            // Only while they are empty: `remove_dir` does not do more.
            for above in self.made_above.iter().rev() {
                let _ = fs::remove_dir(above);
            }
        }
    }
}

/// Two runs within a second get names of their own.
fn create_unused(output: &Path, name: &str) -> std::io::Result<PathBuf> {
    let mut attempt = 1;
    loop {
        let path = output.join(if attempt == 1 { name.to_owned() } else { format!("{name}-{attempt}") });
        match fs::create_dir(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            result => return result.map(|()| path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_a_recording_leaves_no_folder() {
        let place = tempfile::tempdir().expect("a folder");
        let output = place.path().join("a/b");
        drop(RunFolder::create(&output, Timestamp::UNIX_EPOCH, "x").expect("writable"));
        assert!(!place.path().join("a").exists());
    }

    #[test]
    fn runs_of_the_same_second_do_not_collide() {
        let place = tempfile::tempdir().expect("a folder");
        let first = RunFolder::create(place.path(), Timestamp::UNIX_EPOCH, "x").expect("writable");
        let second = RunFolder::create(place.path(), Timestamp::UNIX_EPOCH, "x").expect("writable");
        assert_eq!(first.path.file_name().and_then(|name| name.to_str()), Some("19700101T000000-x"));
        assert_eq!(second.path.file_name().and_then(|name| name.to_str()), Some("19700101T000000-x-2"));
    }
}
