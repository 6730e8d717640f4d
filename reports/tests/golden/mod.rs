//! Comparison with golden files.

use std::{env, fs, path::PathBuf};

/// Compares with `tests/golden/NAME`, or writes it when `BLESS` is set.
pub(crate) fn check(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if env::var_os("BLESS").is_some() {
        fs::write(&path, got).expect("golden folder is writable");
        return;
    }
    let blessed = fs::read_to_string(&path).unwrap_or_default();
    let difference = blessed.lines().zip(got.lines()).position(|(a, b)| a != b);
    assert!(
        blessed == got,
        "{name} differs from line {}: see what changed with `BLESS=1 cargo test -p reports` and `git diff`\n{got}",
        difference.map_or("the shorter end".to_owned(), |line| (line + 1).to_string()),
    );
}
