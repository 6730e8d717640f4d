//! Bars and small charts in one line of characters. Pure.

use std::collections::VecDeque;

/// The characters to draw with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glyphs {
    full: char,
    empty: char,
    /// From nothing to most.
    levels: [char; 9],
    pub(crate) rule: char,
}

/// For terminals that know more than ASCII.
pub(crate) const BLOCKS: Glyphs =
    Glyphs {
        full: '█', empty: '░', levels: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'], rule: '─'
    };

/// For all others.
pub(crate) const ASCII: Glyphs =
    Glyphs { full: '#', empty: '.', levels: [' ', '_', ',', ':', '-', '=', '+', '*', '#'], rule: '-' };

impl Glyphs {
    /// Those for the character set that the environment names.
    pub(crate) fn of_environment() -> Self {
        let named = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| named(name)).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") { BLOCKS } else { ASCII }
    }

    /// A bar for a share of 0..=1 or more. What is there but would round to nothing is one character.
    pub(crate) fn bar(&self, share: f64, width: usize) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0..=width")]
        let rounded = (share.clamp(0.0, 1.0) * width as f64).floor() as usize;
        let filled = if share > 0.0 { rounded.max(1).min(width) } else { 0 };
        (0..width).map(|place| if place < filled { self.full } else { self.empty }).collect()
    }

    /// The last `width` values as a chart up to `top`, right-aligned: now is at the right end.
    pub(crate) fn chart(&self, values: &VecDeque<u64>, top: u64, width: usize) -> String {
        let shown = values.iter().skip(values.len().saturating_sub(width));
        let missing = width.saturating_sub(values.len());
        std::iter::repeat_n(' ', missing).chain(shown.map(|&value| self.level(value, top))).collect()
    }

    fn level(&self, value: u64, top: u64) -> char {
        if value == 0 {
            return self.levels[0];
        }
        let steps = self.levels.len() as u64 - 1;
        let level = (value.min(top) * steps).div_ceil(top.max(1)).clamp(1, steps);
        self.levels[usize::try_from(level).unwrap_or(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_what_is_there_and_is_full_only_when_it_is() {
        for (share, bar) in
            [(0.0, "....."), (0.01, "#...."), (0.5, "##..."), (0.99, "####."), (1.0, "#####"), (7.0, "#####")]
        {
            assert_eq!(ASCII.bar(share, 5), bar, "{share}");
        }
        assert_eq!(BLOCKS.bar(0.5, 4), "██░░");
        assert_eq!(ASCII.bar(0.5, 0), "");
    }

    #[test]
    fn a_chart_ends_now_and_never_hides_what_is_there() {
        let values = VecDeque::from([0, 1, 50, 100, 200]);
        assert_eq!(BLOCKS.chart(&values, 100, 7), "   ▁▄██");
        assert_eq!(BLOCKS.chart(&values, 100, 2), "██");
        assert_eq!(BLOCKS.chart(&VecDeque::from([0, 0]), 0, 2), "  ");
    }
}
