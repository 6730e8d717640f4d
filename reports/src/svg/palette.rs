//! Colours that stay apart for colour-blind readers: Okabe and Ito, without the yellow that white paper swallows.

use plotters::style::RGBColor;

use crate::bench::Mode;

pub(super) const TEXT: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub(super) const QUIET: RGBColor = RGBColor(0x5a, 0x5a, 0x5a);
pub(super) const AXIS: RGBColor = RGBColor(0x88, 0x88, 0x88);
pub(super) const GRID: RGBColor = RGBColor(0xd8, 0xd8, 0xd8);
pub(super) const FAINT: RGBColor = RGBColor(0xef, 0xef, 0xef);
pub(super) const WAITING: RGBColor = RGBColor(0x9a, 0x9a, 0x9a);
pub(super) const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xb2);
/// Of a bar that stands for many.
pub(super) const PALE_BLUE: RGBColor = RGBColor(0x8f, 0xbf, 0xdd);
pub(super) const ALARM: RGBColor = RGBColor(0xb3, 0x4a, 0x00);
const ORANGE: RGBColor = RGBColor(0xe6, 0x9f, 0x00);

/// For curves, most distinct first.
pub(super) const CURVES: [RGBColor; 8] = [
    BLUE,
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0xcc, 0x79, 0xa7),
    ORANGE,
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x77, 0x77, 0x77),
];

/// Of a run's bar.
pub(super) fn mode(mode: Option<Mode>) -> RGBColor {
    match mode {
        Some(Mode::Short) => ORANGE,
        Some(Mode::Long) => BLUE,
        Some(Mode::Reconnect | Mode::Connect) | None => WAITING,
    }
}
