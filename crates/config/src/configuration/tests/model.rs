//! A small model of the four layers: files are lists of whole lines, and each rule is one sentence of code.

use proptest::prelude::*;

use crate::layer::Layer;

/// The keys of the model: nobody's, so that only lines and layers decide.
pub(super) const KEYS: [&str; 2] = ["first_key", "second_key"];

/// One line of a model file.
#[derive(Debug, Clone)]
pub(super) enum Line {
    /// `key: value`.
    Pair(&'static str, String),
    /// A line that no rule minds: blank, comment, marker.
    Nothing(&'static str),
    /// An indented line or an indented item: it goes on with the pair above it.
    Continuation(&'static str),
    /// An item at the margin: it goes on with the pair above it if that has no value.
    Item,
    /// A line that belongs to nothing, and ends what stood above it.
    Word,
}

pub(super) fn line() -> impl Strategy<Value = Line> {
    prop_oneof![
        4 => (prop::sample::select(KEYS.to_vec()), "[a-z0-9]{0,3}").prop_map(|(key, value)| Line::Pair(key, value)),
        2 => prop::sample::select(vec!["", "# c", "---", "  # c", "\t"]).prop_map(Line::Nothing),
        1 => prop::sample::select(vec!["  - a", " x: y", "\tz", "  - "]).prop_map(Line::Continuation),
        1 => Just(Line::Item),
        1 => Just(Line::Word),
    ]
}

pub(super) fn render(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        match line {
            Line::Pair(key, value) => text.push_str(&format!("{key}: {value}")),
            Line::Nothing(literal) | Line::Continuation(literal) => text.push_str(literal),
            Line::Item => text.push_str("- a"),
            Line::Word => text.push_str("word"),
        }
        text.push('\n');
    }
    text
}

pub(super) fn is_bad(line: &Line) -> bool {
    match line {
        Line::Pair(..) | Line::Nothing(_) => false,
        Line::Continuation(_) | Line::Item | Line::Word => true,
    }
}

/// The value of a key in one file, and whether a bad line spoils it.
fn in_file(lines: &[Line], key: &str) -> Option<(String, bool)> {
    let start = lines
        .iter()
        .position(|line| matches!(line, Line::Pair(name, _) if *name == key))?;
    let Line::Pair(_, value) = &lines[start] else {
        return None;
    };
    let below = lines[start + 1..]
        .iter()
        .take_while(|line| !matches!(line, Line::Pair(..) | Line::Word));
    let spoils =
        |line: &Line| matches!(line, Line::Continuation(_)) || (matches!(line, Line::Item) && value.is_empty());
    let is_spoilt = below.clone().any(spoils);
    Some((value.clone(), is_spoilt))
}

/// What `orchestrate` reads: the highest layer whose line is not spoilt; nobody checks the core.
pub(super) fn ours(files: &[(Layer, &[Line])], key: &str) -> Option<String> {
    files.iter().rev().find_map(|(layer, lines)| {
        let (value, is_spoilt) = in_file(lines, key)?;
        (*layer == Layer::Core || !is_spoilt).then_some(value)
    })
}

/// What the reference reads: the highest layer without any bad line that has the key; nobody checks the core.
pub(super) fn references(files: &[(Layer, &[Line])], key: &str) -> Option<String> {
    files.iter().rev().find_map(|(layer, lines)| {
        let is_taken = *layer == Layer::Core || !lines.iter().any(is_bad);
        in_file(lines, key).filter(|_| is_taken).map(|(value, _)| value)
    })
}
