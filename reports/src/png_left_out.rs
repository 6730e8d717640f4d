//! Stands in for `png` in a build without that feature: says so for every drawing.

/// No drawing can be turned into dots.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// This is such a build.
    #[error("built without the feature `png`")]
    LeftOut,
}

/// Paints nothing.
#[derive(Default)]
pub struct Painter;

impl Painter {
    /// Returns the error.
    ///
    /// # Errors
    /// Always.
    pub fn png(&self, _svg: &str) -> Result<Vec<u8>, PngError> {
        Err(PngError::LeftOut)
    }
}
