//! Drawings as PNG, for where SVG is not taken.
//!
//! Letters are those of DejaVu Sans, which is built in: the same picture on every machine, also on one without fonts.
//! It has no Chinese, Japanese or Korean ones; these become boxes.

use std::sync::Arc;

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};

/// Dots of the picture for one pixel of the drawing.
const SCALE: f32 = 2.0;

/// A drawing that could not be turned into dots.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// It is not an SVG that can be drawn.
    #[error("failed to read the drawing")]
    Drawing(#[from] resvg::usvg::Error),
    /// It is larger than memory allows, or has no size.
    #[error("failed to make a picture of {0} x {1} dots")]
    Size(u32, u32),
    /// The dots could not be packed.
    #[error("failed to encode the picture: {0}")]
    Encoding(String),
}

/// Holds the fonts: made once, used for every drawing.
pub struct Painter {
    fonts: Arc<Database>,
}

impl Default for Painter {
    fn default() -> Self {
        let mut fonts = Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.load_font_data(dejavu::sans::bold().to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        Self { fonts: Arc::new(fonts) }
    }
}

impl Painter {
    /// Turns the text of an SVG into the bytes of a PNG.
    ///
    /// # Errors
    /// When the drawing cannot be read or is too large.
    pub fn png(&self, svg: &str) -> Result<Vec<u8>, PngError> {
        let options =
            Options { fontdb: Arc::clone(&self.fonts), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
        let tree = Tree::from_str(svg, &options)?;
        let size = tree.size();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "pixels of a picture; a cast saturates"
        )]
        let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
        let mut dots = Pixmap::new(width, height).ok_or(PngError::Size(width, height))?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut dots.as_mut());
        dots.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
    }
}
