//! Counts and lines for people.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Returns a count with its noun, which takes an `s` unless there is one: `1 commit`, `3 commits`.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// Returns the words of a text on one line: line breaks, controls and blanks between them are one blank.
#[must_use]
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|character: char| character.is_whitespace() || character.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!(
            [count(0, "commit"), count(1, "commit"), count(2, "own commit")],
            ["0 commits", "1 commit", "2 own commits"]
        );
    }

    #[test]
    fn a_text_on_one_line() {
        assert_eq!(one_line(" a\tb\u{1b}\n\n  c "), "a b c");
        assert_eq!(one_line("\r\n"), "");
    }
}
