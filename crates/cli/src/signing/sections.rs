//! The sections that a person is shown, one after the other: the whole bundle, or what changed in it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use orchestrate_spec::anchor::whole_files_anchor;
use orchestrate_spec::drawing::{self, Scene, TextStyle};
use orchestrate_spec::outline::{Change, Part, changes, outline, text_key};
use orchestrate_spec::{Bundle, BundleFile, BundleTexts, Diagnostic};
use similar::{ChangeTag, TextDiff};

use super::record::Matter;
use super::subject::{Purpose, as_ready};
use super::unseen;

/// Something that is shown as a whole and read before the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    /// What it is, on one line.
    pub(crate) title: String,
    /// Its text, as it stands.
    pub(crate) text: String,
    /// A hash of the title and the text: the section was read when, and only when, this very text was.
    pub(crate) key: String,
}

impl Section {
    fn new(title: String, text: String) -> Self {
        let key = text_key(&title, &text);
        Self { title, text, key }
    }
}

/// Returns the sections of a walk, in the order of the files; the task graph stands before the tasks, and what the checks
/// found at the end. `graph` is the drawn task graph.
pub(crate) fn sections(matter: &Matter, graph: Section, findings: &[Diagnostic]) -> Vec<Section> {
    let texts = &matter.files.texts;
    let findings = Section::new("findings".to_owned(), found(matter, findings));
    let (before_graph, after_graph) = match &matter.purpose {
        Purpose::Whole { .. } => whole(texts),
        Purpose::Delta(baseline) => {
            let changes = changes(&baseline.texts, texts);
            let (mut before, after) = delta(&changes);
            before.extend(not_in_lines(&baseline.texts, texts, &changes));
            (before, after)
        }
        Purpose::ReAnchor { .. } => return vec![findings],
    };
    let graph = if after_graph
        .iter()
        .any(|section| section.title.starts_with(BundleFile::Tasks.name()))
    {
        vec![graph]
    } else {
        Vec::new()
    };
    [before_graph, graph, after_graph, vec![findings]].concat()
}

type BeforeAndAfter = (Vec<Section>, Vec<Section>);

/// Every part of the files. A part that is nothing but headings is shown with the next.
fn whole(texts: &BundleTexts) -> BeforeAndAfter {
    let mut sections: BeforeAndAfter = (Vec::new(), Vec::new());
    let parts = outline(texts);
    let mut shown: Vec<&Part> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        shown.push(part);
        let is_last = parts.get(index + 1).is_none_or(|next| next.file != part.file);
        if part.bare && !is_last {
            continue;
        }
        let texts: Vec<&str> = shown.iter().map(|part| part.text.as_str()).collect();
        let section = Section::new(title(part.file, &shown), texts.join("\n\n"));
        if stands_before_the_graph(part.file) {
            sections.0.push(section);
        } else {
            sections.1.push(section);
        }
        shown.clear();
    }
    sections
}

const fn stands_before_the_graph(file: BundleFile) -> bool {
    match file {
        BundleFile::Requirements | BundleFile::Design => true,
        BundleFile::Tasks | BundleFile::TestSpec | BundleFile::KickoffBrief => false,
    }
}

/// Names the file, and every part that is shown but a heading alone, which belongs to the next one.
fn title(file: BundleFile, shown: &[&Part]) -> String {
    let last = shown.len().saturating_sub(1);
    let names: Vec<&str> = shown
        .iter()
        .enumerate()
        .filter(|(index, part)| *index == last || part.text.lines().count() > 1)
        .map(|(_, part)| part.title.as_str())
        .filter(|title| !title.is_empty())
        .collect();
    if names.is_empty() {
        file.to_string()
    } else {
        format!("{file} · {}", names.join(", "))
    }
}

fn delta(changes: &[Change]) -> BeforeAndAfter {
    let section = |change: &Change| {
        let what = match (&change.before, &change.after) {
            (None, _) => "new",
            (_, None) => "gone",
            (Some(_), Some(_)) => "changed",
        };
        let name = if change.title.is_empty() {
            "its head"
        } else {
            &change.title
        };
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        Section::new(
            format!("{} · {name} ({what})", change.file),
            difference(before.unwrap_or_default(), after.unwrap_or_default()),
        )
    };
    let (before, after): (Vec<&Change>, Vec<&Change>) =
        changes.iter().partition(|change| stands_before_the_graph(change.file));
    (
        before.into_iter().map(section).collect(),
        after.into_iter().map(section).collect(),
    )
}

/// Returns the section of what changed without being seen in a line; that nothing did, where nothing else is shown.
fn not_in_lines(before: &BundleTexts, after: &BundleTexts, changes: &[Change]) -> Option<Section> {
    let notes = unseen::notes(before, after, changes);
    let title = "changes that the lines do not show".to_owned();
    if !notes.is_empty() {
        let notes = notes.iter().map(|note| format!("- {note}\n"));
        let text: String = notes.collect();
        // Two changes can have the same note: it was read only for these very bytes.
        let bytes = format!("{text}{} {}", whole_files_anchor(before), whole_files_anchor(after));
        return Some(Section {
            key: text_key(&title, &bytes),
            title,
            text,
        });
    }
    let text = if !changes.is_empty() {
        return None;
    } else if as_ready(after) != *after {
        "Nothing but the status has changed since the last record: it says Draft, and becomes Ready.\n"
    } else {
        "Nothing but the status has changed since the last record.\n"
    };
    Some(Section::new(title, text.to_owned()))
}

/// Returns the lines that were taken away with `-`, those that came with `+`, and a few around them.
pub(crate) fn difference(before: &str, after: &str) -> String {
    const AROUND: usize = 3;
    // A last line without an end would not be the same line as one with it.
    let (before, after) = (ended(before), ended(after));
    let diff = TextDiff::from_lines(&before, &after);
    let mut text = String::new();
    for (index, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if index > 0 {
            text.push_str("  ⋮\n");
        }
        let gone = group
            .iter()
            .flat_map(|operation| diff.iter_changes(operation))
            .filter(|change| change.tag() == ChangeTag::Delete);
        let gone: Vec<&str> = gone.map(|change| change.value()).collect();
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            text.push(sign);
            text.push(' ');
            text.push_str(change.value().trim_end_matches(['\n', '\r']));
            text.push('\n');
            if change.tag() == ChangeTag::Insert
                && let Some(reason) = gone.iter().find_map(|before| unseen::reason(before, change.value()))
            {
                text.push_str(&format!("  (looks the same, and differs in: {reason})\n"));
            }
        }
    }
    text
}

/// Returns the text with an end behind its last line.
fn ended(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.ends_with('\n') {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("{text}\n"))
    }
}

fn found(matter: &Matter, findings: &[Diagnostic]) -> String {
    if findings.is_empty() && matter.untouched.is_empty() {
        return "The checks found nothing.".to_owned();
    }
    let found = findings.iter().map(|finding| match &finding.help {
        Some(help) => format!("- {finding}\n  {help}\n"),
        None => format!("- {finding}\n"),
    });
    let untouched = matter.untouched.iter().map(|part| {
        let help = if part.is_essential {
            "  write it over; the bundle cannot be signed before\n"
        } else {
            ""
        };
        format!("- specs/{}/{part}\n{help}", matter.spec)
    });
    found.chain(untouched).collect()
}

/// Returns the task graph of a bundle, drawn for a terminal. How wide the terminal is does not make it another one.
pub(crate) fn graph(bundle: &Bundle, width: usize, ascii: bool) -> Section {
    const ANY_WIDTH: usize = 80;
    let scene = Scene::new(bundle.spec.as_str(), &bundle.graph(), &BTreeMap::new());
    let draw = |width, ascii| {
        drawing::text(
            &scene,
            TextStyle {
                width,
                ascii,
                color: false,
            },
        )
    };
    let title = "the task graph".to_owned();
    Section {
        key: text_key(&title, &draw(ANY_WIDTH, true)),
        text: draw(width, ascii),
        title,
    }
}
