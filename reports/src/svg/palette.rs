//! Colours that stay apart for colour-blind readers: Okabe and Ito, without the yellow that white paper swallows.
//!
//! Each has a counterpart for dark paper, see [`dark`].

use std::fmt;

use crate::bench::Mode;

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Color(u8, u8, u8);

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

pub(crate) const PAPER: Color = Color(0xff, 0xff, 0xff);
pub(crate) const TEXT: Color = Color(0x22, 0x22, 0x22);
pub(crate) const QUIET: Color = Color(0x5a, 0x5a, 0x5a);
pub(crate) const AXIS: Color = Color(0x88, 0x88, 0x88);
pub(crate) const GRID: Color = Color(0xd8, 0xd8, 0xd8);
pub(crate) const FAINT: Color = Color(0xef, 0xef, 0xef);
pub(crate) const WAITING: Color = Color(0x9a, 0x9a, 0x9a);
pub(crate) const BLUE: Color = Color(0x00, 0x72, 0xb2);
/// Of a bar that stands for many.
pub(crate) const PALE_BLUE: Color = Color(0x8f, 0xbf, 0xdd);
pub(crate) const ALARM: Color = Color(0xb3, 0x4a, 0x00);
pub(crate) const ORANGE: Color = Color(0xe6, 0x9f, 0x00);
const VERMILION: Color = Color(0xd5, 0x5e, 0x00);
const GREEN: Color = Color(0x00, 0x9e, 0x73);
const BLACK: Color = Color(0x00, 0x00, 0x00);
const PURPLE: Color = Color(0xcc, 0x79, 0xa7);
const SKY: Color = Color(0x56, 0xb4, 0xe9);
const GREY: Color = Color(0x77, 0x77, 0x77);

/// For curves, most distinct first.
pub(crate) const CURVES: [Color; 8] = [BLUE, VERMILION, GREEN, BLACK, PURPLE, ORANGE, SKY, GREY];

/// For heat maps, from little to much: lightness rises steadily, so that they work without colour.
pub(crate) const HEAT: [Color; 6] = [
    Color(0xd3, 0xe4, 0xf3),
    Color(0xa3, 0xcc, 0xe3),
    Color(0x6a, 0xae, 0xd6),
    Color(0x37, 0x87, 0xc0),
    Color(0x0b, 0x59, 0x9f),
    Color(0x08, 0x30, 0x6b),
];

const DARK: [(Color, Color); 23] = [
    (PAPER, Color(0x16, 0x18, 0x1c)),
    (TEXT, Color(0xe8, 0xe8, 0xe8)),
    (QUIET, Color(0xb0, 0xb4, 0xba)),
    (AXIS, Color(0x8a, 0x8f, 0x96)),
    (GRID, Color(0x3a, 0x3e, 0x45)),
    (FAINT, Color(0x26, 0x29, 0x2e)),
    (WAITING, Color(0x85, 0x8a, 0x92)),
    (BLUE, Color(0x4d, 0xa6, 0xe0)),
    (PALE_BLUE, Color(0x2f, 0x62, 0x85)),
    (ALARM, Color(0xff, 0x9b, 0x5c)),
    (ORANGE, Color(0xe6, 0x9f, 0x00)),
    (VERMILION, Color(0xf0, 0x7b, 0x2e)),
    (GREEN, Color(0x1f, 0xc1, 0x95)),
    (BLACK, Color(0xff, 0xff, 0xff)),
    (PURPLE, Color(0xd9, 0x95, 0xbb)),
    (SKY, Color(0x8f, 0xd0, 0xf5)),
    (GREY, Color(0x9d, 0xa2, 0xa8)),
    (HEAT[0], Color(0x14, 0x34, 0x54)),
    (HEAT[1], Color(0x17, 0x4f, 0x80)),
    (HEAT[2], Color(0x24, 0x71, 0xab)),
    (HEAT[3], Color(0x4a, 0x98, 0xcc)),
    (HEAT[4], Color(0x8b, 0xc4, 0xe6)),
    (HEAT[5], Color(0xd6, 0xec, 0xfa)),
];

/// Style rules that turn the colours of every chart in a page into those for dark paper.
pub(crate) fn dark() -> String {
    let rule = |(light, dark): &(Color, Color)| {
        format!("svg [fill=\"{light}\"]{{fill:{dark}}}svg [stroke=\"{light}\"]{{stroke:{dark}}}\n")
    };
    DARK.iter().map(rule).collect()
}

/// Of a run's bar.
pub(crate) fn mode(mode: Option<Mode>) -> Color {
    match mode {
        Some(Mode::Short) => ORANGE,
        Some(Mode::Long) => BLUE,
        Some(Mode::Reconnect | Mode::Connect) | None => WAITING,
    }
}
