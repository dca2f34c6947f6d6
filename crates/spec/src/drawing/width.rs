//! What a text looks like on a terminal: what of it can be shown, how wide it is, and how it is cut.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns the text without what is not seen where it stands: controls, marks that turn the direction of text, line and
/// paragraph separators, characters that no document may hold; `?` when nothing is left.
#[must_use]
pub fn visible(text: &str) -> String {
    let hides = |character: char| {
        character.is_control()
            || matches!(
                character,
                '\u{061c}'
                    | '\u{200b}'
                    | '\u{200e}'
                    | '\u{200f}'
                    | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{fdd0}'..='\u{fdef}'
                    | '\u{feff}'
                    | '\u{fff0}'..='\u{fffb}'
                    | '\u{fffe}'..='\u{ffff}'
                    | '\u{e0000}'..='\u{e007f}'
            )
    };
    let kept: String = text
        .chars()
        .map(|character| if character == '\t' { ' ' } else { character })
        .filter(|character| !hides(*character))
        .collect();
    let kept = kept.trim();
    if kept.is_empty() {
        "?".to_owned()
    } else {
        kept.to_owned()
    }
}

/// Returns how many columns the text takes on a terminal.
#[must_use]
pub fn columns(text: &str) -> usize {
    // Most text is of such characters, each of which is a grapheme of one column.
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns the text, cut in its middle when it is wider than that many columns; never inside a grapheme.
#[must_use]
pub fn cut(text: &str, width: usize, mark: &str) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(columns(mark));
    let head = room.div_ceil(2);
    let start = fitting(text.graphemes(true), head);
    let used: usize = start.iter().map(|grapheme| grapheme.width()).sum();
    let mut end = fitting(text.graphemes(true).rev(), room - used);
    end.reverse();
    let cut = format!("{}{mark}{}", start.concat().trim_end(), end.concat().trim_start());
    if columns(&cut) <= width { cut } else { String::new() }
}

/// Returns the first graphemes that fit into that many columns.
fn fitting<'a>(graphemes: impl Iterator<Item = &'a str>, width: usize) -> Vec<&'a str> {
    let mut used = 0;
    graphemes
        .take_while(|grapheme| {
            used += grapheme.width();
            used <= width
        })
        .collect()
}

/// Returns the text with blanks behind it up to that many columns.
#[must_use]
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_cut_in_the_middle_by_what_is_seen() {
        assert_eq!(cut("parse the greeting", 18, "…"), "parse the greeting");
        assert_eq!(cut("parse the greeting", 11, "…"), "parse…eting");
        assert_eq!(cut("parse the greeting", 11, "..."), "pars...ting");
        // Two columns each, and a family that is one grapheme of four people.
        assert_eq!(cut("日本語の題名", 7, "…"), "日…題名");
        assert_eq!(cut("a👨‍👩‍👧‍👦b👨‍👩‍👧‍👦c", 3, "…"), "a…c");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}e\u{301}", 3, "…"), "e\u{301}…e\u{301}");
        assert_eq!(cut("long", 0, "…"), "");
    }

    #[test]
    fn what_cannot_be_seen_is_left_out() {
        assert_eq!(
            visible("a\u{202e}b\u{1b}[2Jc\u{2066}\u{200f}\u{2028}\u{feff}\u{ffff}\td"),
            "ab[2Jc d"
        );
        assert_eq!(visible("\u{7}\u{202e}"), "?");
    }

    proptest! {
        #[test]
        fn a_cut_fits_and_keeps_both_ends(text in "\\PC{0,40}", width in 0usize..50) {
            let result = cut(&text, width, "…");
            prop_assert!(columns(&result) <= width, "{}", result);
            if let Some((start, end)) = result.split_once('…').filter(|_| result != text) {
                prop_assert!(text.starts_with(start) && text.ends_with(end));
            }
        }
    }
}
