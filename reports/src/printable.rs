//! Makes text from a recording harmless before it is shown: names, command lines and output of traced programs are
//! untrusted.
//!
//! Does not escape markup: XML escaping belongs to the writer of the XML.

use std::path::Path;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text with every control, invisible or direction-changing character written out as an escape.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_harmful(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The name of a file or folder, [`printable`].
#[must_use]
pub fn path(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// What could steer a terminal, reorder or hide text, or is not allowed in XML 1.0.
pub(crate) fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{fff9}'..='\u{fffb}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{e0000}'..='\u{e0fff}')
        // Noncharacters: the last two of every plane, and a block of 32.
        || u32::from(character) & 0xfffe == 0xfffe
        || matches!(character, '\u{fdd0}'..='\u{fdef}')
}

/// Columns that the text takes in a terminal.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.width()
}

/// The text, [`printable`] and cut to at most `limit` columns, with `...` where something is missing at the end.
#[must_use]
pub fn clipped(text: &str, limit: usize) -> String {
    let text = printable(text);
    if columns(&text) <= limit {
        return text;
    }
    let mut kept = prefix(&text, limit.saturating_sub(3)).to_owned();
    kept.push_str(&"..."[..limit.min(3)]);
    kept
}

/// As [`clipped`], but what is missing is in the middle: names of runs differ at both ends.
#[must_use]
pub fn clipped_middle(text: &str, limit: usize) -> String {
    let text = printable(text);
    let room = limit.saturating_sub(3);
    if columns(&text) <= limit || room < 2 {
        return clipped(&text, limit);
    }
    let backwards: String = text.chars().rev().collect();
    let tail: String = prefix(&backwards, room / 2).chars().rev().collect();
    format!("{}...{tail}", prefix(&text, room - room / 2))
}

/// The longest beginning that fits into `limit` columns.
fn prefix(text: &str, limit: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|&(_, character)| {
        used += character.width().unwrap_or(0);
        used > limit
    });
    end.map_or(text, |(position, _)| &text[..position])
}

/// A command line as one would type it, [`printable`].
#[must_use]
pub fn command_line(argv: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=,+@%".contains(c);
    let words = argv.iter().map(|word| {
        let quoted = word.is_empty() || !word.chars().all(plain);
        if quoted { format!("'{}'", printable(&word.replace('\'', "'\\''"))) } else { printable(word) }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_is_written_out() {
        assert_eq!(printable("a\x1b[31mb\nc\td\u{9b}e"), "a\\u{1b}[31mb\\nc\\td\\u{9b}e");
        assert_eq!(printable("x\u{202e}y\u{2066}z\u{200b}\u{feff}"), "x\\u{202e}y\\u{2066}z\\u{200b}\\u{feff}");
        assert_eq!(printable("\u{ffff}\u{1fffe}\0"), "\\u{ffff}\\u{1fffe}\\u{0}");
    }

    #[test]
    fn ordinary_text_of_any_script_stays() {
        for text in ["echo-epoll-lt", "naïve 名前 שלום", "<script>\"&'"] {
            assert_eq!(printable(text), text);
        }
    }

    #[test]
    fn clipping_counts_columns_and_says_that_it_cut() {
        assert_eq!(clipped("abcdefgh", 8), "abcdefgh");
        assert_eq!(clipped("abcdefghi", 8), "abcde...");
        assert_eq!(clipped("名前名前名前", 8), "名前...");
        assert_eq!(clipped("abcdef", 2), "..");
        assert_eq!(clipped_middle("20261130-echo-epoll-lt-short", 15), "202611...-short");
        for limit in 0..20 {
            assert!(columns(&clipped("abcdefghijklmnopqrstuvwxyz", limit)) <= limit);
            assert!(columns(&clipped_middle("名bcdefghijklmnopqrstuvwxy名", limit)) <= limit);
        }
    }

    #[test]
    fn a_command_line_can_be_read_back() {
        let argv = ["sh", "-c", "echo 'a b'", ""].map(String::from);
        assert_eq!(command_line(&argv), r"sh -c 'echo '\''a b'\''' ''");
    }
}
