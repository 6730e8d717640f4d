//! `analyzer import`: reads files of other tools, and writes a recording for each.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use jiff::Timestamp;
use reports::{
    import::{self, Format, LARGEST_BYTES, Source},
    printable,
    recording::Recording,
};

use crate::{
    advice::{Advise as _, advised, hint_of},
    say,
    trace::folder::RunFolder,
};

/// Make recordings of what other tools printed, to report on and to compare.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads: strace -c (versions 4 to 7, any columns of -U), perf trace -s, bench --json, ab, wrk --latency.

Examples:
  strace -c -f -o short.txt ab -n 1000 http://127.0.0.1/ ; analyzer import short.txt --group client
  wrk -d 10s --latency http://127.0.0.1/ > wrk.txt       ; analyzer import wrk.txt
  analyzer compare results/*short* results/*long*

What a tool does not tell is named in the recording as unknown; lines that are not understood are listed. Nothing is
invented: no percentiles from averages, no distribution from percentiles.

Exit status: 0 done; 1 a file could not be imported or written; 2 wrong usage.")]
pub(crate) struct ImportArgs {
    /// Files with the output of a tool
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What made them: strace, perf-trace, bench, ab or wrk; found out where it is not said
    #[arg(long = "as", value_name = "FORMAT")]
    format: Option<Format>,
    /// What the traced processes were: server or client
    #[arg(long, value_name = "NAME", default_value = "server", value_parser = ["server", "client"])]
    group: String,
    /// Folder for the recordings' own folders
    #[arg(short, long, value_name = "DIR", default_value = "results")]
    output: PathBuf,
}

/// Lines shown of those that were not understood.
const SHOWN: usize = 10;
/// Longest part of a folder's name that comes from the file's.
const STEM: usize = 40;

/// Runs `analyzer import`; returns the exit status: 1 when a file could not be imported, which is said, and the rest
/// goes on.
pub(crate) fn run(args: &ImportArgs) -> u8 {
    let mut failed = false;
    for file in &args.files {
        if let Err(error) = one(file, args) {
            failed = true;
            say::say(format_args!("{error:#}"));
            if let Some(hint) = hint_of(&error) {
                say::hint(hint);
            }
        }
    }
    u8::from(failed)
}

fn one(file: &Path, args: &ImportArgs) -> Result<()> {
    let (bytes, modified) = read(file)?;
    let name = file.to_string_lossy();
    let started = Timestamp::try_from(modified).unwrap_or(Timestamp::UNIX_EPOCH);
    let source = Source {
        file: &name,
        bytes: &bytes,
        modified: &started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        group: &args.group,
        format: args.format,
    };
    let recording = import::import(&source).map_err(|error| match error.hint() {
        Some(hint) => advised(error.into(), hint),
        None => error.into(),
    })?;
    let written = RunFolder::create(&args.output, started, &stem(file))?.write(&recording)?;
    tell(file, &recording, &written);
    Ok(())
}

/// The text of a regular file and when it was written last.
fn read(file: &Path) -> Result<(Vec<u8>, SystemTime)> {
    let unreadable = || format!("failed to read `{}`", file.display());
    let metadata = fs::metadata(file).with_context(unreadable)?;
    if !metadata.is_file() {
        bail!("`{}` is not a regular file", file.display());
    }
    let mut bytes = Vec::new();
    File::open(file).and_then(|open| open.take(LARGEST_BYTES + 1).read_to_end(&mut bytes)).with_context(unreadable)?;
    if bytes.len() as u64 > LARGEST_BYTES {
        return Err(anyhow::anyhow!("`{}` is larger than {} MiB", file.display(), LARGEST_BYTES >> 20))
            .hint("cut out the summary: only that is read");
    }
    Ok((bytes, metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH)))
}

/// The file's name as a part of a folder's.
fn stem(file: &Path) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '_' };
    let stem: String = file.file_stem().unwrap_or_default().to_string_lossy().chars().take(STEM).map(safe).collect();
    format!("import-{stem}")
}

fn tell(file: &Path, recording: &Recording, written: &Path) {
    let file = printable::path(file);
    let Some(origin) = &recording.origin else { return };
    say::say(format_args!("{file}: read as {}, recording written to {}", origin.tool, written.display()));
    say::say(format_args!("  it does not tell: {}", origin.unknown_words().join("; ")));
    for what in &origin.not_kept {
        say::say(format_args!("  {what} not kept"));
    }
    if let Some(why) = &recording.incomplete_because {
        say::say(format_args!("  incomplete: {why}"));
    }
    for line in origin.skipped.iter().take(SHOWN) {
        say::say(format_args!("  not understood, line {line}"));
    }
    if origin.skipped.len() > SHOWN {
        say::say("  more such lines are listed in the recording");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_file_leads_out_of_the_folder() {
        assert_eq!(stem(Path::new("/a/strace c.txt")), "import-strace_c");
        assert_eq!(stem(Path::new("..")), "import-");
        assert_eq!(stem(Path::new("a/\u{202e}x\n.txt")), "import-_x_");
    }
}
