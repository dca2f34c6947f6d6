//! How lines for people are laid out: by display width, and in ASCII where nothing else can be shown.

use std::borrow::Cow;

use orchestrate_spec::drawing::width::columns;

use crate::screen::Screen;

/// No line is wider: eyes lose a longer one.
const WIDEST: usize = 120;
/// A terminal narrower than this gets lines that it has to wrap.
const NARROWEST: usize = 40;
/// A text that is broken into lines gets no fewer columns than this.
const LEAST_ROOM: usize = NARROWEST / 2;
/// The indent of a text that stands below its first words.
const BELOW: usize = 4;
/// Stands for a blank at which no line is broken. None reaches the output.
const NO_BREAK: char = '\u{a0}';

/// What lines may look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// How many columns a line may take.
    pub(crate) width: usize,
    /// Only ASCII characters are drawn. What people wrote themselves stays as it is.
    pub(crate) ascii: bool,
}

impl Style {
    /// Returns what standard output can show.
    pub(crate) fn of_output(ascii: bool) -> Self {
        let screen = Screen::read();
        Self {
            width: screen.width.clamp(NARROWEST, WIDEST),
            ascii: ascii || !screen.has_unicode,
        }
    }

    /// Returns our own words in the characters that can be shown.
    pub(crate) fn shown<'a>(self, text: &'a str) -> Cow<'a, str> {
        if !self.ascii || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let mut shown = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                '→' => shown.push_str("->"),
                '←' => shown.push_str("<-"),
                '·' | '—' => shown.push('-'),
                '…' => shown.push_str("..."),
                other => shown.push(other),
            }
        }
        Cow::Owned(shown)
    }

    /// Returns what marks that a text was cut.
    pub(crate) const fn ellipsis(self) -> &'static str {
        if self.ascii { "..." } else { "…" }
    }

    /// Breaks a text into lines of so many columns. A command stays whole where it fits on a line of its own, so that it
    /// can be copied.
    pub(crate) fn wrapped(self, text: &str, width: usize) -> Vec<String> {
        let whole = keep_commands(&keep_ages(&self.shown(text)), width);
        let options = textwrap::Options::new(width)
            .break_words(false)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        textwrap::wrap(&whole, options)
            .into_iter()
            .map(|line| line.replace(NO_BREAK, " "))
            .collect()
    }

    /// Breaks a text into lines of the whole width; all but the first are indented. Where too little room is left behind
    /// the first words, or a word of the text is wider than that, a text that does not fit there stands below them.
    pub(crate) fn hanging(self, first: &str, text: &str, indent: usize) -> Vec<String> {
        let room = self.width.saturating_sub(indent);
        let fits = columns(first) + columns(&self.shown(text)) <= self.width;
        let behind = self.wrapped(text, room);
        let is_too_narrow = room < LEAST_ROOM || behind.iter().any(|line| columns(line) > room);
        let mut all = Vec::new();
        if !fits && is_too_narrow && indent > BELOW {
            let blank = " ".repeat(BELOW);
            let below = self.wrapped(text, self.width.saturating_sub(BELOW));
            let above = first.trim_end();
            all.extend((!above.is_empty()).then(|| above.to_owned()));
            all.extend(below.into_iter().map(|line| format!("{blank}{line}")));
            return all;
        }
        let mut lines = behind.into_iter();
        let blank = " ".repeat(indent);
        let beside = format!("{first}{}", lines.next().unwrap_or_default());
        all.push(beside.trim_end().to_owned());
        all.extend(lines.map(|line| format!("{blank}{line}")));
        all
    }
}

/// Returns a text that is not broken where it fits on a line.
pub(crate) fn unbroken(text: &str) -> String {
    text.replace(' ', &NO_BREAK.to_string())
}

/// Joins a number to its unit of time, and an arrow to what it points at.
fn keep_ages(text: &str) -> String {
    let is_unit = |word: &str| matches!(word.trim_end_matches([',', ')']), "s" | "min" | "h" | "days");
    let is_number = |word: &str| {
        let digits = word.trim_start_matches('(');
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut kept = String::with_capacity(text.len());
    let mut before: Option<&str> = None;
    for word in text.split(' ') {
        if let Some(before) = before {
            let is_joined = (is_number(before) && is_unit(word))
                || (is_unit(before) && word.starts_with("ago"))
                || matches!(before, "←" | "<-" | "→" | "->");
            kept.push(if is_joined { NO_BREAK } else { ' ' });
        }
        kept.push_str(word);
        before = Some(word);
    }
    kept
}

/// Joins the words of each command by blanks at which no line is broken, if they fit into a line.
fn keep_commands(text: &str, width: usize) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut command: Option<Vec<&str>> = None;
    for word in text.split(' ') {
        let mut words = command.take().unwrap_or_default();
        if words.is_empty() && !matches!(word, "orchestrate" | "git" | "rm") {
            push(&mut kept, word);
            continue;
        }
        words.push(word);
        if word.ends_with([',', ';', ')', ':']) {
            push(&mut kept, &joined(&words, width));
        } else {
            command = Some(words);
        }
    }
    if let Some(words) = command {
        push(&mut kept, &joined(&words, width));
    }
    kept
}

fn joined(words: &[&str], width: usize) -> String {
    let text = words.join(" ");
    if columns(&text) <= width { unbroken(&text) } else { text }
}

fn push(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Style = Style {
        width: 80,
        ascii: false,
    };

    #[test]
    fn a_command_is_not_broken_where_it_fits_on_a_line() {
        let text = "if nobody works on it: orchestrate unpark specs/alpha 1; else wait for it to end";
        assert_eq!(
            PLAIN.wrapped(text, 34),
            [
                "if nobody works on it:",
                "orchestrate unpark specs/alpha 1;",
                "else wait for it to end"
            ]
        );
        assert_eq!(
            PLAIN.wrapped("git reset --hard HEAD", 10),
            ["git reset", "--hard", "HEAD"],
            "one that fits on no line is broken"
        );
    }

    #[test]
    fn an_age_is_not_broken() {
        assert_eq!(
            PLAIN.wrapped("asked of o/r, 12 min ago", 18),
            ["asked of o/r,", "12 min ago"]
        );
        assert_eq!(PLAIN.wrapped("on main, 333 days", 12), ["on main,", "333 days"]);
        assert_eq!(PLAIN.wrapped("yes   ← decides", 8), ["yes", "← decides"]);
    }

    #[test]
    fn lines_are_broken_by_display_width() {
        assert_eq!(PLAIN.wrapped("日本語 日本語", 8), ["日本語", "日本語"]);
        assert_eq!(PLAIN.wrapped("", 8), [""]);
    }

    #[test]
    fn a_text_hangs_behind_its_first_words() {
        let style = Style { width: 40, ..PLAIN };
        let lines = style.hanging("  1  ", "some words that are longer than one line of it", 5);
        assert_eq!(lines, ["  1  some words that are longer than one", "     line of it"]);
    }

    #[test]
    fn a_text_without_room_behind_its_first_words_stands_below_them() {
        let style = Style { width: 40, ..PLAIN };
        let first = "  worker lease          no       ";
        assert_eq!(
            style.hanging(first, "no worker holds the lease of its worktree", 33),
            [
                "  worker lease          no",
                "    no worker holds the lease of its",
                "    worktree"
            ]
        );
        assert_eq!(style.hanging(first, "no", 33), [format!("{first}no")]);
    }

    #[test]
    fn a_word_wider_than_its_column_stands_below() {
        let style = Style { width: 40, ..PLAIN };
        let worktree = "a process works in .claude/worktrees/alpha-task-1";
        assert_eq!(
            style.hanging("  1  only  held  ", worktree, 17),
            [
                "  1  only  held",
                "    a process works in",
                "    .claude/worktrees/alpha-task-1"
            ]
        );
        assert_eq!(
            style.hanging("       ", "→ .claude/worktrees/alpha-beta-gamma-task-1", 7),
            ["    → .claude/worktrees/alpha-beta-gamma-task-1"],
            "what fits on no line stays whole, and can be copied"
        );
    }

    proptest! {
        /// No line is wider than the screen, whatever is in front, as long as every word fits on a line.
        #[test]
        fn no_line_is_wider(
            words in proptest::collection::vec("[a-z/é漢]{1,17}|orchestrate|12|min", 1..12),
            first in 0_usize..30,
            width in 40_usize..100,
        ) {
            let style = Style { width, ..PLAIN };
            let text = words.join(" ");
            let lines = style.hanging(&format!("{}x ", " ".repeat(first)), &text, first + 2);
            prop_assert!(lines.iter().all(|line| columns(line) <= width), "{:?}", lines);
            let told: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).skip(1).collect();
            prop_assert_eq!(told, words.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    #[test]
    fn our_own_signs_have_ascii_forms() {
        let style = Style { ascii: true, ..PLAIN };
        assert_eq!(style.shown("a · b → c … ← — é"), "a - b -> c ... <- - é");
        assert_eq!(PLAIN.shown("a · b"), "a · b");
    }
}
