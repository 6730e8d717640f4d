//! Shapes and text, written as SVG: positions in pixels, one element for each shape.
//!
//! Text is made harmless here, so that no chart can forget it.

use std::{cell::RefCell, fmt::Write as _};

use super::palette::{self, Color};
use crate::printable::{columns, printable};

/// Width of a letter over the font size: generous for the usual sans-serif fonts.
const LETTER: f64 = 0.6;

/// Which side of a text is at its position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks; its position is the middle of its height.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) size: f64,
    pub(crate) color: Color,
    pub(crate) bold: bool,
    pub(crate) anchor: Anchor,
}

impl Look {
    pub(crate) const fn new(size: f64, color: Color) -> Self {
        Self { size, color, bold: false, anchor: Anchor::Start }
    }

    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(crate) const fn right(self) -> Self {
        Self { anchor: Anchor::End, ..self }
    }

    pub(crate) const fn centered(self) -> Self {
        Self { anchor: Anchor::Middle, ..self }
    }

    /// Columns of text that fit into so many pixels.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred at most")]
    pub(crate) fn columns_in(self, pixels: f64) -> usize {
        (pixels / (self.size * LETTER)) as usize
    }

    /// Pixels that a text takes at most.
    pub(crate) fn pixels(self, text: &str) -> f64 {
        columns(text) as f64 * self.size * LETTER
    }
}

/// A mark on a curve, so that colour is not all that tells curves apart.
#[derive(Clone, Copy)]
pub(crate) enum Mark {
    Disc,
    Square,
    Triangle,
    Ring,
}

/// In the order in which curves get them.
pub(crate) const MARKS: [Mark; 4] = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Ring];

/// Bar and size of a bar.
pub(crate) type Bar = ((f64, f64), (f64, f64));

/// What is drawn so far.
pub(crate) struct Canvas {
    shapes: RefCell<String>,
}

/// Left, top, width and height of what is shown of a drawing, in pixels.
pub(crate) type View = [f64; 4];

/// Draws a picture and returns it as the text of an SVG file.
pub(crate) fn draw(view: View, title: &str, description: &str, paint: impl FnOnce(&Canvas)) -> String {
    let canvas = Canvas { shapes: RefCell::new(String::with_capacity(16 * 1024)) };
    let [left, top, width, height] = view.map(Pixels);
    canvas.put(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"{left} {top} {width} {height}\" font-family=\"sans-serif\">\n<title>{}</title>\n<desc>{}</desc>\n",
        escaped(title),
        escaped(description),
    ));
    canvas.bar((view[0], view[1]), (view[2], view[3]), palette::PAPER);
    paint(&canvas);
    let mut text = canvas.shapes.into_inner();
    text.push_str("</svg>\n");
    text
}

fn escaped(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Written to a tenth of a pixel.
struct Pixels(f64);

impl std::fmt::Display for Pixels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.write_to(f)
    }
}

impl Pixels {
    fn tenths(&self) -> i32 {
        #[expect(clippy::cast_possible_truncation, reason = "some thousand pixels; a cast saturates")]
        let tenths = (self.0 * 10.0 + 0.5f64.copysign(self.0)) as i32;
        tenths
    }

    /// Digit by digit: most of a chart is such numbers, and `write!` takes several times as long.
    fn write_to(&self, text: &mut impl std::fmt::Write) -> std::fmt::Result {
        let tenths = self.tenths();
        let mut digits = [0; 13];
        let (mut rest, mut start) = (tenths.unsigned_abs(), digits.len());
        let mut put = |digit: u8| {
            start -= 1;
            digits[start] = digit;
        };
        if !rest.is_multiple_of(10) {
            put(b'0' + last_digit(rest));
            put(b'.');
        }
        loop {
            rest /= 10;
            put(b'0' + last_digit(rest));
            if rest < 10 {
                break;
            }
        }
        if tenths < 0 {
            put(b'-');
        }
        text.write_str(str::from_utf8(&digits[start..]).expect("bug: digits are ASCII"))
    }
}

fn last_digit(number: u32) -> u8 {
    (number % 10) as u8
}

impl Canvas {
    fn put(&self, shape: std::fmt::Arguments) {
        self.shapes.borrow_mut().write_fmt(shape).expect("bug: writing into a string cannot fail");
    }

    /// What most of a chart is made of, without the detour by `write!`.
    fn numbers<const N: usize>(&self, parts: [(&str, Pixels); N]) {
        let mut shapes = self.shapes.borrow_mut();
        for (before, number) in parts {
            shapes.push_str(before);
            number.write_to(&mut *shapes).expect("bug: writing into a string cannot fail");
        }
    }

    pub(crate) fn text(&self, (x, y): (f64, f64), text: &str, look: Look) {
        if text.is_empty() {
            return;
        }
        let anchor = match look.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if look.bold { " font-weight=\"bold\"" } else { "" };
        self.put(format_args!(
            "<text x=\"{}\" y=\"{}\" dy=\"0.35em\" text-anchor=\"{anchor}\" font-size=\"{}\"{weight} fill=\"{}\">{}</text>\n",
            Pixels(x),
            Pixels(y),
            Pixels(look.size),
            look.color,
            escaped(text),
        ));
    }

    /// Through all points; those that fall on their predecessor are left out.
    pub(crate) fn line(&self, points: &[(f64, f64)], color: Color, width: f64) {
        self.path(points, color, width, "");
    }

    /// The same in dashes.
    pub(crate) fn dashed_line(&self, points: &[(f64, f64)], color: Color, width: f64) {
        self.path(points, color, width, " stroke-dasharray=\"5 4\"");
    }

    fn path(&self, points: &[(f64, f64)], color: Color, width: f64, dashes: &str) {
        let mut last = None;
        self.put(format_args!(
            "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"{}\"{dashes} points=\"",
            Pixels(width)
        ));
        for &(x, y) in points {
            let (x, y) = (Pixels(x), Pixels(y));
            let place = Some((x.tenths(), y.tenths()));
            if std::mem::replace(&mut last, place) != place {
                self.numbers([("", x), (",", y)]);
                self.shapes.borrow_mut().push(' ');
            }
        }
        self.put(format_args!("\"/>\n"));
    }

    /// A horizontal line of dashes.
    pub(crate) fn dashes(&self, from: (f64, f64), to_x: f64, color: Color) {
        self.dashed_line(&[from, (to_x, from.1)], color, 1.0);
    }

    pub(crate) fn bar(&self, corner: (f64, f64), size: (f64, f64), color: Color) {
        self.put(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{color}\"/>\n",
            Pixels(corner.0),
            Pixels(corner.1),
            Pixels(size.0.max(0.0)),
            Pixels(size.1.max(0.0)),
        ));
    }

    /// An outlined bar with diagonal strokes, told apart from a full one without colour.
    pub(crate) fn hatched_bar(&self, corner: (f64, f64), size: (f64, f64), color: Color) {
        const STEP: f64 = 6.0;
        let ((left, top), (width, height)) = (corner, size);
        let (right, bottom) = (left + width, top + height);
        self.line(&[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], color, 1.0);
        self.put(format_args!("<path fill=\"none\" stroke=\"{color}\" d=\""));
        let mut x = 0.0;
        while x + height <= width {
            let rise = (Pixels(height), Pixels(-height));
            self.put(format_args!("M{} {}l{} {}", Pixels(left + x), Pixels(top + height), rise.0, rise.1));
            x += STEP;
        }
        self.put(format_args!("\"/>\n"));
    }

    /// Many bars of one colour, as one element.
    pub(crate) fn cells(&self, cells: &[Bar], color: Color) {
        if cells.is_empty() {
            return;
        }
        self.put(format_args!("<path fill=\"{color}\" d=\""));
        for &((x, y), (width, height)) in cells {
            let parts = [("M", x), (" ", y), ("h", width), ("v", height), ("h-", width)];
            self.numbers(parts.map(|(before, number)| (before, Pixels(number))));
            self.shapes.borrow_mut().push('z');
        }
        self.put(format_args!("\"/>\n"));
    }

    pub(crate) fn mark(&self, mark: Mark, (x, y): (f64, f64), color: Color) {
        const HALF: f64 = 3.5;
        match mark {
            Mark::Disc => self.disc((x, y), HALF, color),
            Mark::Square => self.bar((x - HALF, y - HALF), (2.0 * HALF, 2.0 * HALF), color),
            Mark::Triangle => {
                self.filled(&[(x - HALF - 1.0, y + HALF), (x + HALF + 1.0, y + HALF), (x, y - HALF - 1.0)], color);
            }
            Mark::Ring => {
                self.disc((x, y), HALF + 0.5, color);
                self.disc((x, y), HALF - 1.5, palette::PAPER);
            }
        }
    }

    /// A filled shape through these corners.
    pub(crate) fn filled(&self, corners: &[(f64, f64)], color: Color) {
        self.put(format_args!("<polygon fill=\"{color}\" points=\""));
        for &(x, y) in corners {
            self.put(format_args!("{},{} ", Pixels(x), Pixels(y)));
        }
        self.put(format_args!("\"/>\n"));
    }

    fn disc(&self, center: (f64, f64), radius: f64, color: Color) {
        let (x, y, radius) = (Pixels(center.0), Pixels(center.1), Pixels(radius));
        self.put(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{color}\"/>\n"));
    }
}
