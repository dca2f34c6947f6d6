//! The ledger guard: does `tasks.md` still have the structure that others write into it (`contract/core.md §9.4`)?
//!
//! It finds what a merge or an edit by hand leaves behind, in either format version. Unlike the other readers it does not
//! know fences (`contract/core.md §17.2`): a heading in one is a heading, because the tools that rewrite the file see it
//! so. Pure; owns no state.

use std::collections::BTreeMap;

use orchestrate_core::identifier::{TaskId, printable};

use crate::header::{self, Lookup};
use crate::text::{byte_lines, line_number, without_carriage_return};
use crate::{FormatVersion, Section};

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFinding {
    /// The line in `tasks.md`.
    pub line: u32,
    /// What is wrong, as a lowercase fragment without control characters.
    pub message: String,
}

/// Checks a `tasks.md`. The findings are in line order; a file without a usable format version gives that one only.
#[must_use]
pub fn check(tasks: &[u8]) -> Vec<LedgerFinding> {
    let version = match version(tasks) {
        Ok(version) => version,
        Err(finding) => return vec![finding],
    };
    let mut ledger = Ledger {
        version,
        section: Section::Preamble,
        section_name: String::new(),
        block: None,
        headings: BTreeMap::new(),
        findings: Vec::new(),
    };
    for (index, line) in byte_lines(tasks).enumerate() {
        let text = String::from_utf8_lossy(without_carriage_return(line));
        ledger.line(line_number(index), &text);
    }
    ledger.end_block();
    // The end of a block is known after the lines of the next one have begun.
    ledger.findings.sort_by_key(|finding| finding.line);
    ledger.findings
}

fn version(tasks: &[u8]) -> Result<FormatVersion, LedgerFinding> {
    let finding = |line, message: String| LedgerFinding { line, message };
    if let Some(offset) = tasks.iter().position(|byte| *byte == 0) {
        let line = line_number(tasks[..offset].iter().filter(|byte| **byte == b'\n').count());
        return Err(finding(line, "a NUL byte; the file is not checked".to_owned()));
    }
    match header::parse(tasks).load_bearing("Format-version") {
        Lookup::One(entry) if entry.value == "1" => Ok(FormatVersion::One),
        Lookup::One(entry) if entry.value == "2" => Ok(FormatVersion::Two),
        Lookup::One(entry) => Err(finding(
            entry.line,
            format!(
                "format-version {:?} is neither 1 nor 2; the file is not checked",
                entry.value
            ),
        )),
        Lookup::Missing => Err(finding(
            1,
            "the header declares no format-version; the file is not checked".to_owned(),
        )),
        Lookup::Duplicate(line) => Err(finding(
            line,
            "the header declares the format-version twice; the file is not checked".to_owned(),
        )),
    }
}

/// What a task's status annotation says, coarsely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusClass {
    Completed,
    Deferred,
    InProgress,
    None,
    Other,
}

impl StatusClass {
    fn of(text: &str) -> Self {
        let text = text.trim().to_lowercase();
        let is_done = text
            .strip_prefix("done")
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphabetic()));
        let in_progress = [
            "implementing",
            "draft",
            "polish iter",
            "in progress",
            "in-progress",
            "awaiting input",
            "awaiting-input",
            "open",
            "pr #",
        ];
        if text.is_empty() {
            Self::None
        } else if text.contains("merged") || text.starts_with("completed") || is_done {
            Self::Completed
        } else if text.starts_with("deferred") {
            Self::Deferred
        } else if in_progress.iter().any(|word| text.contains(word)) {
            Self::InProgress
        } else {
            Self::Other
        }
    }

    /// Returns whether a block of this class may stand in a section of version 1.
    fn may_stand_in(self, section: Section) -> bool {
        match section {
            Section::Completed => self == Self::Completed,
            Section::ForwardPlan | Section::OutOfScope => {
                !matches!(self, Self::Completed | Self::InProgress | Self::Deferred)
            }
            Section::InProgress | Section::AwaitingInput => !matches!(self, Self::Completed | Self::Deferred),
            Section::Deferred => !matches!(self, Self::Completed | Self::InProgress),
            Section::Preamble | Section::Tasks | Section::Other => true,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Deferred => "deferred",
            Self::InProgress => "in progress",
            Self::None => "without a status",
            Self::Other => "of another status",
        }
    }
}

struct Block {
    line: u32,
    /// The id as written, or what stands in its place.
    name: String,
    /// Each `Status` annotation: its line and text.
    statuses: Vec<(u32, String)>,
}

struct Ledger {
    version: FormatVersion,
    section: Section,
    section_name: String,
    block: Option<Block>,
    /// The line of the first heading of each id.
    headings: BTreeMap<String, u32>,
    findings: Vec<LedgerFinding>,
}

impl Ledger {
    fn line(&mut self, number: u32, text: &str) {
        if let Some(name) = text.strip_prefix("## ") {
            self.end_block();
            name.trim_end_matches([' ', '\t']).clone_into(&mut self.section_name);
            self.section = match Section::from_name(&self.section_name) {
                Some(Section::Tasks) if self.version == FormatVersion::One => Section::Other,
                Some(section) => section,
                None => Section::Other,
            };
        } else if text.starts_with("### ") {
            self.end_block();
            self.heading(number, text);
        } else if let Some(status) = text.strip_prefix("- **Status:**")
            && let Some(block) = &mut self.block
        {
            block.statuses.push((number, status.trim().to_owned()));
        }
    }

    fn heading(&mut self, number: u32, text: &str) {
        let id = text
            .strip_prefix("### Task ")
            .and_then(|rest| rest.split_once(" — "))
            .filter(|(id, title)| TaskId::parse(id).is_ok() && !title.is_empty())
            .map(|(id, _)| id.to_owned());
        let Some(name) = id else {
            let shown = printable(text);
            self.find(number, format!("{shown:?} is not \"### Task <id> — <title>\""));
            return;
        };
        if let Some(first) = self.headings.get(&name) {
            let message = format!("duplicate task id {name}, first on line {first}");
            self.find(number, message);
        } else {
            self.headings.insert(name.clone(), number);
        }
        match self.section {
            Section::Preamble => self.find(number, format!("task {name} stands before the first section")),
            Section::Other => {
                let section = printable(&self.section_name);
                self.find(
                    number,
                    format!("task {name} stands in {section:?}, which is no section of tasks"),
                );
            }
            Section::Tasks
            | Section::ForwardPlan
            | Section::InProgress
            | Section::AwaitingInput
            | Section::Completed
            | Section::Deferred
            | Section::OutOfScope => {}
        }
        self.block = Some(Block {
            line: number,
            name,
            statuses: Vec::new(),
        });
    }

    fn end_block(&mut self) {
        let Some(Block { line, name, statuses }) = self.block.take() else {
            return;
        };
        if self.version == FormatVersion::Two {
            return;
        }
        if let Some((second, _)) = statuses.get(1) {
            self.find(*second, format!("task {name} has more than one status"));
        }
        let class = StatusClass::of(statuses.first().map_or("", |(_, text)| text));
        if !class.may_stand_in(self.section) {
            let message = format!("task {name} is {} but stands in {:?}", class.name(), self.section_name);
            self.find(statuses.first().map_or(line, |(line, _)| *line), message);
        }
    }

    fn find(&mut self, line: u32, message: String) {
        self.findings.push(LedgerFinding { line, message });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(version: u8, body: &str) -> Vec<String> {
        let text = format!("# T\n\n**Status:** Ready\n**Format-version:** {version}\n\n{body}");
        check(text.as_bytes())
            .into_iter()
            .map(|finding| format!("{}: {}", finding.line, finding.message))
            .collect()
    }

    #[test]
    fn a_clean_ledger_gives_nothing() {
        let version_1 = "## Forward plan\n\n### Task 1 — a\n\n### Task 2.5 — b\n- **Status:** later\n\n## In progress \n### Task 3 — c\n- **Status:** PR #4 open\n## Completed\r\n### Task 4 — d\r\n- **Status:** Completed · merged 2026-01-01\r\n## Deferred\n### Task 5 — e\n- **Status:** deferred\n## Out of scope\n- **Task 9** x\n";
        assert_eq!(lines(1, version_1), [""; 0]);
        assert_eq!(
            lines(
                2,
                "## Tasks\n### Task 1 — a\n- **Status:** a\n- **Status:** b\n## Deferred\n"
            ),
            [""; 0]
        );
    }

    #[test]
    fn headings_have_one_form_and_one_place() {
        assert_eq!(
            lines(
                2,
                "### Task 1 — a\n## Notes\n### Task 2 — b\n## Tasks\n### Task 1 — c\n### Task 3: d\n### Task 4 —\n### Task 4 - e\n### Task 1.2.3 — f\n### Other\n```\n### Task 01 — g\n### Task 2 — h\n```\n"
            ),
            [
                "6: task 1 stands before the first section",
                "8: task 2 stands in \"Notes\", which is no section of tasks",
                "10: duplicate task id 1, first on line 6",
                "11: \"### Task 3: d\" is not \"### Task <id> — <title>\"",
                "12: \"### Task 4 —\" is not \"### Task <id> — <title>\"",
                "13: \"### Task 4 - e\" is not \"### Task <id> — <title>\"",
                "14: \"### Task 1.2.3 — f\" is not \"### Task <id> — <title>\"",
                "15: \"### Other\" is not \"### Task <id> — <title>\"",
                "18: duplicate task id 2, first on line 8",
            ]
        );
        assert_eq!(
            lines(1, "## Tasks\n### Task 1 — a\n"),
            ["7: task 1 stands in \"Tasks\", which is no section of tasks"]
        );
    }

    #[test]
    fn a_status_of_version_1_agrees_with_its_section() {
        let classes = [
            ("Completed · PR #1 merged", StatusClass::Completed),
            ("PR #1 merged", StatusClass::Completed),
            ("Done.", StatusClass::Completed),
            ("done", StatusClass::Completed),
            ("donee", StatusClass::Other),
            ("Deferred — later", StatusClass::Deferred),
            ("Implementing", StatusClass::InProgress),
            ("a draft", StatusClass::InProgress),
            ("polish iter 2", StatusClass::InProgress),
            ("in-progress", StatusClass::InProgress),
            ("Awaiting input — x", StatusClass::InProgress),
            ("PR #3", StatusClass::InProgress),
            ("", StatusClass::None),
            ("superseded by Task 2", StatusClass::Other),
        ];
        for (text, class) in classes {
            assert_eq!(StatusClass::of(text), class, "{text}");
        }
        use StatusClass::{Completed, Deferred, InProgress, None, Other};
        let all = [Completed, Deferred, InProgress, None, Other];
        for (section, allowed) in [
            (Section::Completed, &[Completed][..]),
            (Section::ForwardPlan, &[None, Other]),
            (Section::InProgress, &[InProgress, None, Other]),
            (Section::AwaitingInput, &[InProgress, None, Other]),
            (Section::Deferred, &[Deferred, None, Other]),
            (Section::OutOfScope, &[None, Other]),
        ] {
            let found: Vec<StatusClass> = all.into_iter().filter(|class| class.may_stand_in(section)).collect();
            assert_eq!(found, allowed, "{section:?}");
        }
        assert_eq!(
            lines(
                1,
                "## Completed\n### Task 1 — a\n### Task 2 — b\n- **Status:** open\n## Forward plan\n### Task 3 — c\n- **Status:** later\n- **Status:** merged\n"
            ),
            [
                "7: task 1 is without a status but stands in \"Completed\"",
                "9: task 2 is in progress but stands in \"Completed\"",
                "13: task 3 has more than one status",
            ]
        );
    }

    #[test]
    fn without_a_version_nothing_else_is_said() {
        for (text, expected) in [
            (
                "### Task x\n",
                "1: the header declares no format-version; the file is not checked",
            ),
            (
                "**Format-version:** 3\n### Task x\n",
                "1: format-version \"3\" is neither 1 nor 2; the file is not checked",
            ),
            (
                "**Format-version:** 1\n**Format-version:** 1\n### Task x\n",
                "2: the header declares the format-version twice; the file is not checked",
            ),
            ("**Format-version:** 1\n\n\0", "3: a NUL byte; the file is not checked"),
        ] {
            let found = check(text.as_bytes());
            let found: Vec<String> = found
                .iter()
                .map(|one| format!("{}: {}", one.line, one.message))
                .collect();
            assert_eq!(found, [expected]);
        }
    }
}
