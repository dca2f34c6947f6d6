//! Lines that a person would take for a task heading, a section or a dependency field.
//!
//! The format has exact spellings. A line that means one of these and is spelled otherwise would be passed over by every
//! reader of the format, so it is refused instead (`design/architecture.md §7`).

use crate::commonmark::{Lead, Markdown};
use crate::misspelling;
use crate::text::Line;

/// Returns whether a raw line is a heading, of any level and spelling, that names a task.
pub(crate) fn resembles_task_heading(line: &str) -> bool {
    if line == "### Task" || line.starts_with("### Task ") {
        return true;
    }
    let visible = line.trim_start_matches(is_invisible);
    visible.starts_with(['#', '＃']) && names_a_task(visible)
}

/// Returns whether a heading's text names a task by number: `Task 1 …`, `task-1`, `TASKS １`.
pub(crate) fn names_a_task(text: &str) -> bool {
    let Some(rest) = without_prefix(text.trim_start_matches(is_decoration), "task") else {
        return false;
    };
    let rest = rest.strip_prefix(['s', 'S']).unwrap_or(rest);
    rest.trim_start_matches(is_decoration).starts_with(char::is_numeric)
}

/// Returns the section that a raw heading line of any level and spelling names.
pub(crate) fn resembles_section(line: &str) -> Option<&'static str> {
    let visible = line.trim_start_matches(is_invisible);
    if visible.starts_with(['#', '＃']) {
        names_a_section(visible)
    } else {
        None
    }
}

/// Returns the section, of either format version, that a heading's text names.
pub(crate) fn names_a_section(text: &str) -> Option<&'static str> {
    const SECTIONS: [&str; 7] = [
        "Tasks",
        "Awaiting input",
        "Deferred",
        "Out of scope",
        "Forward plan",
        "In progress",
        "Completed",
    ];
    let words: Vec<String> = text
        .split(is_decoration)
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let name = words.join(" ");
    SECTIONS.into_iter().find(|section| section.to_lowercase() == name)
}

/// What a line is to a task's dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyLabel<'a> {
    None,
    /// The field in column 0; `is_exact` when it is spelled as the format has it, so that the anchor hashes it.
    Field {
        text: &'a str,
        is_exact: bool,
    },
    /// The field as a bullet inside another bullet.
    Nested {
        text: &'a str,
        indentation: usize,
    },
    /// A person would take the line for the field, the format would not.
    Odd,
}

/// Returns what the line is to a task's dependencies.
pub(crate) fn dependency_label<'a>(line: &Line<'a>, markdown: &Markdown) -> DependencyLabel<'a> {
    let body = line.text.trim_start_matches([' ', '\t']);
    let indentation = line.text.len() - body.len();
    let labels = bold_labels(line, markdown);
    let exact = [("- **Dependencies:**", true), ("- **Dependencies**:", false)]
        .into_iter()
        .find_map(|(label, is_exact)| body.strip_prefix(label).map(|text| (text, is_exact)));
    match exact {
        Some(_) if labels != [indentation + 2] => DependencyLabel::Odd,
        Some((text, is_exact)) if indentation == 0 => DependencyLabel::Field { text, is_exact },
        Some(_) if !markdown.is_item(line.first_visible()) => DependencyLabel::Odd,
        Some((text, _)) => DependencyLabel::Nested { text, indentation },
        None if !labels.is_empty() || resembles_dependency_field(body, indentation) => DependencyLabel::Odd,
        None if markdown.leads(line).any(is_rendered_as_dependencies) => DependencyLabel::Odd,
        None => DependencyLabel::None,
    }
}

/// Returns whether a bullet or bold text is rendered with the label and its colon, however it is written.
fn is_rendered_as_dependencies(lead: &Lead) -> bool {
    let text = lead.text.trim_start_matches(is_invisible);
    (lead.begins_item && misspelling::resembles_dependencies(text))
        || without_label(text).is_some_and(|rest| rest.trim_start_matches(is_invisible).starts_with([':', '：']))
}

/// Returns where in the line the label stands in bold, with its colon, outside code.
fn bold_labels(line: &Line<'_>, markdown: &Markdown) -> Vec<usize> {
    let is_label = |position: usize| {
        let start = &line.text[position + 2..];
        // Two stars before a blank end a bold text, they begin none.
        if start.starts_with(char::is_whitespace) {
            return false;
        }
        let Some(after) = without_label(start.trim_start_matches(is_invisible)) else {
            return false;
        };
        let after = after.trim_start_matches(is_invisible);
        match after.strip_prefix("**") {
            Some(rest) => rest.trim_start_matches(is_invisible).starts_with([':', '：']),
            None => after.starts_with([':', '：']),
        }
    };
    let candidates = line.text.match_indices("**").map(|(position, _)| position);
    candidates
        .filter(|position| is_label(*position) && !markdown.in_code_span(line.start + position))
        .collect()
}

/// Returns whether a line's text, without its indentation, starts like the field: as a bullet, in bold or in column 0.
fn resembles_dependency_field(body: &str, indentation: usize) -> bool {
    let unmarked = without_list_marker(body);
    let text = unmarked.unwrap_or(body);
    let plain = text.trim_start_matches(|character: char| is_invisible(character) || matches!(character, '*' | '_'));
    let is_emphasised = text.starts_with("**") || text.starts_with("__");
    let has_label = misspelling::resembles_dependencies(plain)
        || without_label(plain).is_some_and(|rest| {
            rest.trim_start_matches(|character: char| is_invisible(character) || matches!(character, '*' | '_'))
                .starts_with([':', '：'])
        });
    has_label && (unmarked.is_some() || is_emphasised || indentation == 0)
}

/// Returns the text after a bullet's or a numbered item's marker.
pub(crate) fn without_list_marker(body: &str) -> Option<&str> {
    let rest = match body.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let digits = body.trim_start_matches(|character: char| character.is_ascii_digit());
            if digits.len() == body.len() {
                return None;
            }
            digits.strip_prefix(['.', ')'])?
        }
    };
    let text = rest.trim_start_matches(is_invisible);
    if text.len() < rest.len() { Some(text) } else { None }
}

fn without_label(text: &str) -> Option<&str> {
    [
        "dependencies",
        "dependency",
        "depends on",
        "depends-on",
        "depends",
        "deps",
    ]
    .into_iter()
    .find_map(|label| without_prefix(text, label))
}

fn without_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    if start.eq_ignore_ascii_case(prefix) {
        Some(rest)
    } else {
        None
    }
}

/// White space, and the characters that take no room at all.
pub(crate) fn is_invisible(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

fn is_decoration(character: char) -> bool {
    !character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_that_name_a_task() {
        for line in [
            "### Task 1 — x",
            "### Task",
            "### Task six",
            "#### Task 1",
            "## Task 1",
            "###Task 1",
            "### task 1",
            "### **Task 1** x",
            "  ### Task 1",
            "###\tTask 1",
            "＃＃＃ Task 1",
            "### Task １",
            "### Task#1",
            "###\u{a0}Task\u{200b}1",
            "### Tasks 1, 2",
            "####### Task: 1",
        ] {
            assert!(resembles_task_heading(line), "{line}");
        }
        for line in [
            "## Tasks",
            "### Taskforce 1",
            "### Notes on Task 1",
            "> ### Task 1",
            "Task 1",
            "### The tasks",
            "- **Task 1**",
            "#### Task order",
        ] {
            assert!(!resembles_task_heading(line), "{line}");
        }
    }

    #[test]
    fn headings_that_name_a_section() {
        for (line, section) in [
            ("## Tasks", "Tasks"),
            ("##Tasks", "Tasks"),
            ("### Awaiting  Input:", "Awaiting input"),
            ("## *Out-of-Scope* ##", "Out of scope"),
        ] {
            assert_eq!(resembles_section(line), Some(section), "{line}");
        }
        for line in ["## Deferred (old)", "Tasks", "## Task", "- ## Tasks x"] {
            assert_eq!(resembles_section(line), None, "{line}");
        }
    }

    #[test]
    fn labels_of_the_dependency_field() {
        let label = |text: &str| {
            let line = Line {
                number: 1,
                start: 0,
                text,
                fenced: false,
            };
            match dependency_label(&line, &crate::commonmark::read(text)) {
                DependencyLabel::None => "none".to_owned(),
                DependencyLabel::Field { text, is_exact } => format!("field{text} {is_exact}"),
                DependencyLabel::Nested { text, indentation } => format!("nested{text} {indentation}"),
                DependencyLabel::Odd => "odd".to_owned(),
            }
        };
        let cases = [
            ("- **Dependencies:** 1", "field 1 true"),
            ("- **Dependencies**: 1", "field 1 false"),
            ("  - **Dependencies:** 1", "nested 1 2"),
            ("- **Dependencies:** 1 **Dependencies:** 2", "odd"),
            ("- **Citations:** D-1 **Dependencies:** 2", "odd"),
            ("* **Dependencies:** 1", "odd"),
            ("-  **Dependencies:** 1", "odd"),
            ("1. **Dependencies:** 1", "odd"),
            ("- Dependencies: 1", "odd"),
            ("- __Dependencies:__ 1", "odd"),
            ("- **dependencies:** 1", "odd"),
            ("- **Dependency:** 1", "odd"),
            ("- **Depends on:** 1", "odd"),
            ("- **Dependencies：** 1", "odd"),
            ("- **Dependancies:** 1", "odd"),
            ("- **Depedencies**: 1", "odd"),
            ("* Dependences: 1", "odd"),
            ("- **Deps:** 1", "odd"),
            ("- **Dependents:** 1", "none"),
            ("- **Dependencies** : 1", "odd"),
            ("**Dependencies:** 1", "odd"),
            ("Dependencies: 1", "odd"),
            ("  **Dependencies:** 1", "odd"),
            ("  dependencies: 1", "none"),
            ("- **Deliverables:** the `**Dependencies:**` line", "none"),
            ("- **Deliverables:** dependencies: none", "none"),
            ("- **Dependencies** are read", "none"),
        ];
        for (text, expected) in cases {
            assert_eq!(label(text), expected, "{text}");
        }
    }
}
