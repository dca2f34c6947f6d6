//! What a person is told about the lines of a file: keys that nobody reads, lines without effect, values cut short.

use crate::foreign::{self, Recognised};
use crate::layer::Layer;
use crate::lines::{Cut, Entry, Malformed, Reading, Stray};
use crate::message::{Warning, shown};

/// At most this many remarks are made on one file; a file of nonsense would otherwise flood the screen.
const MOST: usize = 20;
/// No more lines than this are looked at: comparing a name with every key costs time.
const MOST_LOOKED_AT: usize = 1000;

/// Returns the remarks on a file, in the order of its lines.
pub(crate) fn on(layer: Layer, path: &str, reading: &Reading) -> Vec<Warning> {
    let mut lines: Vec<Line<'_>> = reading.entries.iter().map(Line::Entry).collect();
    lines.extend(reading.strays.iter().map(Line::Stray));
    lines.sort_by_key(Line::number);
    let looked_at = lines.iter().take(MOST_LOOKED_AT);
    let mut remarks = looked_at.filter_map(|line| match line {
        Line::Entry(entry) => on_entry(entry),
        Line::Stray(stray) => Some(on_stray(stray)),
    });
    let mut warnings: Vec<Warning> = remarks
        .by_ref()
        .take(MOST)
        .map(|(line, message, remedy)| Warning {
            layer,
            place: format!("{path}:{line}"),
            message,
            remedy,
        })
        .collect();
    if remarks.next().is_some() || lines.len() > MOST_LOOKED_AT {
        warnings.push(Warning {
            layer,
            place: path.to_owned(),
            message: "there is more like this, or more than can be looked at".to_owned(),
            remedy: format!("look through {path}"),
        });
    }
    warnings
}

/// A line that may deserve a remark.
enum Line<'a> {
    Entry(&'a Entry),
    Stray(&'a Stray),
}

impl Line<'_> {
    fn number(&self) -> usize {
        match self {
            Self::Entry(entry) => entry.line,
            Self::Stray(Stray::Line(Malformed { line, .. }) | Stray::Again { line, .. } | Stray::Name { line, .. }) => {
                *line
            }
        }
    }
}

fn on_entry(entry: &Entry) -> Option<(usize, String, String)> {
    let key = &entry.key;
    match (foreign::recognise(key), &entry.broken) {
        (Recognised::Unknown(near), _) => Some(unknown(entry.line, key, near)),
        // For a key of ours the reader of its value says what is used instead.
        (Recognised::Ours(_), Some(_)) => None,
        (Recognised::Foreign, Some(Malformed { line, reason })) => Some((
            *line,
            format!("{key} cannot be used: {reason}"),
            format!("write the value of `{key}` on its own line; planwright skips the whole file until then"),
        )),
        (Recognised::Ours(_) | Recognised::Foreign, None) => match entry.cut {
            Cut::Glued => Some((
                entry.line,
                format!("{key} ends at the first `#`: {} is used", shown(&entry.value)),
                "put a blank before the `#` if a comment is meant; no value can hold one".to_owned(),
            )),
            Cut::No | Cut::Comment => None,
        },
    }
}

fn on_stray(stray: &Stray) -> (usize, String, String) {
    match stray {
        Stray::Line(Malformed { line, reason }) => (
            *line,
            format!("the line is ignored: {reason}"),
            "remove the line, or write it as `key: value`; planwright skips the whole file until then".to_owned(),
        ),
        Stray::Again { line, key, first } => (
            *line,
            format!("{key} is ignored here: line {first} set it, and the first line of a key counts"),
            format!("remove one of the two lines of `{key}`"),
        ),
        Stray::Name { line, name } => unknown(*line, name, foreign::nearest(name)),
    }
}

fn unknown(line: usize, name: &str, near: Option<&str>) -> (usize, String, String) {
    let name = shown(name);
    match near {
        Some(near) => (
            line,
            format!("{name} is no key: did you mean `{near}`?"),
            format!("write `{near}:` there, or remove the line"),
        ),
        None => (
            line,
            format!("{name} is no key, of orchestrate or of planwright"),
            "remove the line; `orchestrate config list` has the keys".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    fn remarks(file: &str) -> Vec<String> {
        let warnings = on(Layer::MachineLocal, "f", &lines::read(file.as_bytes()));
        assert!(warnings.iter().all(|warning| !warning.remedy.is_empty()));
        warnings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_that_is_right_has_none() {
        assert_eq!(
            remarks("---\r\n# c\r\nmax_parallel_units: 2 # two\r\nreview_sequence: [polish]\r\n"),
            [""; 0]
        );
    }

    #[test]
    fn each_names_its_line() {
        let file = "max_paralel_units: 5\ncolour: red\nbase_branch: a#b\nbase_branch: c\nreview_sequence:\n  - polish\nword\nMax-Parallel-Units: 3\n\u{1b}[2J: x\n";
        assert_eq!(
            remarks(file),
            [
                "f:1: `max_paralel_units` is no key: did you mean `max_parallel_units`?",
                "f:2: `colour` is no key, of orchestrate or of planwright",
                "f:3: base_branch ends at the first `#`: `a` is used",
                "f:4: base_branch is ignored here: line 3 set it, and the first line of a key counts",
                "f:6: review_sequence cannot be used: a list item; lists are written inline, as `key: [a, b]`",
                "f:7: the line is ignored: a line without a colon; every line is `key: value`",
                "f:8: `Max-Parallel-Units` is no key: did you mean `max_parallel_units`?",
                "f:9: `[2J` is no key, of orchestrate or of planwright",
            ]
        );
    }

    #[test]
    fn a_file_of_nonsense_does_not_flood() {
        let warnings = remarks(&"nonsense\n".repeat(1000));
        assert_eq!(warnings.len(), MOST + 1);
        assert_eq!(
            warnings.last().map(String::as_str),
            Some("f: there is more like this, or more than can be looked at")
        );
    }
}
