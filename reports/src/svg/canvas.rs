//! Shapes and text on an SVG of `plotters`, and what `plotters` does not write: title and description.
//!
//! Text is made harmless here, so that no chart can forget it.

use plotters::{
    backend::SVGBackend,
    coord::Shift,
    drawing::{DrawingArea, IntoDrawingArea},
    element::{Circle, PathElement, Polygon, Rectangle, Text},
    style::{
        Color, FontStyle, IntoTextStyle, RGBColor, ShapeStyle, WHITE,
        text_anchor::{HPos, Pos, VPos},
    },
};

use crate::printable::{columns, printable};

/// Units of the drawing for one pixel: `plotters` knows whole units only, and curves need finer ones.
const FINE_UNITS: u32 = 4;
const FINE: f64 = FINE_UNITS as f64;
/// `plotters` divides font sizes by this.
const FONT_SCALE: f64 = 1.24;
/// Width of a letter over the font size: generous for the usual sans-serif fonts.
const LETTER: f64 = 0.6;

/// How a text looks; its position is the middle of its height.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) size: f64,
    pub(super) color: RGBColor,
    pub(super) bold: bool,
    pub(super) anchor: HPos,
}

impl Look {
    pub(super) fn new(size: f64, color: RGBColor) -> Self {
        Self { size, color, bold: false, anchor: HPos::Left }
    }

    pub(super) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(super) fn right(self) -> Self {
        Self { anchor: HPos::Right, ..self }
    }

    pub(super) fn centered(self) -> Self {
        Self { anchor: HPos::Center, ..self }
    }

    /// Columns of text that fit into so many pixels.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred at most")]
    pub(super) fn columns_in(self, pixels: f64) -> usize {
        (pixels / (self.size * LETTER)) as usize
    }

    /// Pixels that a text takes at most.
    pub(super) fn pixels(self, text: &str) -> f64 {
        columns(text) as f64 * self.size * LETTER
    }
}

/// A mark on a curve, so that colour is not all that tells curves apart.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    Disc,
    Square,
    Triangle,
    Ring,
}

pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Draws a picture of that size in pixels and returns it as the text of an SVG file.
pub(super) fn draw(size: (u32, u32), title: &str, description: &str, paint: impl FnOnce(&Canvas)) -> String {
    let mut body = String::new();
    {
        let backend = SVGBackend::with_string(&mut body, (size.0 * FINE_UNITS, size.1 * FINE_UNITS));
        let canvas = Canvas { area: backend.into_drawing_area() };
        canvas.area.fill(&WHITE).expect(INFALLIBLE);
        paint(&canvas);
        canvas.area.present().expect(INFALLIBLE);
    }
    with_title(&body, size, title, description)
}

const INFALLIBLE: &str = "bug: drawing into a string cannot fail";

/// Puts our own opening tag before what `plotters` drew.
fn with_title(body: &str, (width, height): (u32, u32), title: &str, description: &str) -> String {
    let shapes = body.split_once('>').map_or("", |(_, shapes)| shapes);
    let (fine_width, fine_height) = (f64::from(width) * FINE, f64::from(height) * FINE);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {fine_width} {fine_height}\">\n<title>{}</title>\n<desc>{}</desc>{shapes}",
        escaped(title),
        escaped(description),
    )
}

fn escaped(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[expect(clippy::cast_possible_truncation, reason = "pixels of a picture")]
fn at((x, y): (f64, f64)) -> (i32, i32) {
    ((x * FINE).round() as i32, (y * FINE).round() as i32)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels of a picture")]
fn stroke(color: RGBColor, width: f64) -> ShapeStyle {
    color.stroke_width((width * FINE).round().max(1.0) as u32)
}

impl Canvas<'_> {
    pub(super) fn text(&self, position: (f64, f64), text: &str, look: Look) {
        let style = if look.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = ("sans-serif", look.size * FINE * FONT_SCALE, style, &look.color);
        let style = font.into_text_style(&self.area).pos(Pos::new(look.anchor, VPos::Center));
        self.area.draw(&Text::new(printable(text), at(position), style)).expect(INFALLIBLE);
    }

    /// Through all points; those that fall on their predecessor are left out.
    pub(super) fn line(&self, points: &[(f64, f64)], color: RGBColor, width: f64) {
        let mut points: Vec<_> = points.iter().copied().map(at).collect();
        points.dedup();
        self.area.draw(&PathElement::new(points, stroke(color, width))).expect(INFALLIBLE);
    }

    /// A horizontal line of dashes.
    pub(super) fn dashes(&self, from: (f64, f64), to_x: f64, color: RGBColor) {
        const DASH: f64 = 5.0;
        let mut x = from.0;
        while x < to_x {
            self.line(&[(x, from.1), ((x + DASH).min(to_x), from.1)], color, 1.0);
            x += 2.0 * DASH;
        }
    }

    pub(super) fn bar(&self, corner: (f64, f64), size: (f64, f64), color: RGBColor) {
        let opposite = at((corner.0 + size.0, corner.1 + size.1));
        self.area.draw(&Rectangle::new([at(corner), opposite], color.filled())).expect(INFALLIBLE);
    }

    /// An outlined bar with diagonal strokes, told apart from a full one without colour.
    pub(super) fn hatched_bar(&self, corner: (f64, f64), size: (f64, f64), color: RGBColor) {
        const STEP: f64 = 6.0;
        let ((left, top), (width, height)) = (corner, size);
        let (right, bottom) = (left + width, top + height);
        // A path, because `plotters` writes no stroke width for the outline of a rectangle.
        self.line(&[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], color, 1.0);
        let mut x = 0.0;
        while x + height <= width {
            self.line(&[(left + x, top + height), (left + x + height, top)], color, 1.0);
            x += STEP;
        }
    }

    pub(super) fn mark(&self, mark: Mark, (x, y): (f64, f64), color: RGBColor) {
        const HALF: f64 = 3.5;
        let square = |half: f64| [(x - half, y - half), (x + half, y + half)];
        match mark {
            Mark::Disc => self.disc((x, y), HALF, color),
            Mark::Square => {
                let [corner, _] = square(HALF);
                self.bar(corner, (2.0 * HALF, 2.0 * HALF), color);
            }
            Mark::Triangle => {
                let tips = [(x - HALF - 1.0, y + HALF), (x + HALF + 1.0, y + HALF), (x, y - HALF - 1.0)];
                self.area.draw(&Polygon::new(tips.map(at), color.filled())).expect(INFALLIBLE);
            }
            Mark::Ring => {
                self.disc((x, y), HALF + 0.5, color);
                self.disc((x, y), HALF - 1.5, WHITE);
            }
        }
    }

    fn disc(&self, center: (f64, f64), radius: f64, color: RGBColor) {
        self.area.draw(&Circle::new(at(center), radius * FINE, color.filled())).expect(INFALLIBLE);
    }
}
