//! `tasks.md` (`contract/core.md §1.6–§1.8`): sections, task blocks and parked tasks of format version 2.

use std::collections::BTreeSet;

use orchestrate_core::identifier::TaskId;

use crate::BundleFile;
use crate::block::{Block, Field};
use crate::commonmark::{self, Markdown, Reading};
use crate::diagnostic::{Findings, quoted};
use crate::lookalike::{
    DependencyLabel, dependency_label, names_a_section, names_a_task, resembles_section, resembles_task_heading,
};
use crate::parking::{Bullet, ReferenceBullet, bullet, resembles_reference};
use crate::text::{Line, Text};
use crate::{Annotation, AnnotationKind, Section};

/// One task, as the bundle defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// What it makes, with its line breaks.
    pub deliverables: String,
    /// When it is done, with its line breaks.
    pub done_when: String,
    /// The tasks it depends on, in the order written, each once; every one is a task of the bundle.
    pub dependencies: Vec<TaskId>,
    /// The decision and requirement ids that it cites, in the order written.
    pub citations: Vec<String>,
    /// The citations as written.
    pub citations_text: String,
    /// The effort as written, as in `half day`.
    pub estimated_effort: String,
    /// The line of its heading in `tasks.md`.
    pub line: u32,
    /// The section that holds it.
    pub section: Section,
    /// Its state annotations, in file order; only format version 1 has them.
    pub annotations: Vec<Annotation>,
    /// The line of its dependency field.
    pub(crate) dependencies_line: u32,
}

impl Task {
    /// Returns what its `Status` annotation says (format version 1).
    #[must_use]
    pub fn stored_state(&self) -> Option<&str> {
        self.annotations
            .iter()
            .find(|annotation| annotation.kind == AnnotationKind::Status)
            .map(|annotation| annotation.text.as_str())
    }
}

/// What `tasks.md` says.
pub(crate) struct TaskList {
    /// In file order.
    pub(crate) tasks: Vec<Task>,
    /// In file order.
    pub(crate) parked: Vec<ReferenceBullet>,
    /// No task heading was refused, so that a task which is not in the list does not exist.
    pub(crate) is_complete: bool,
}

enum Current {
    Nothing,
    Task(Block),
    /// What follows a heading that was refused: its fields are no findings of their own.
    Refused,
}

struct Scanner<'a, 'b> {
    markdown: Markdown,
    findings: &'b mut Findings<'a>,
    section: Section,
    has_tasks_section: bool,
    current: Current,
    /// The lines that were looked at as a heading.
    headings: BTreeSet<u32>,
    list: TaskList,
    /// The lines since the last one that counts can be read in two ways, and that was said.
    in_dispute: bool,
}

/// Reads `tasks.md` after its header block of `body_from` lines.
pub(crate) fn read(text: &Text<'_>, body_from: usize, findings: &mut Findings<'_>) -> TaskList {
    let mut scanner = Scanner {
        markdown: commonmark::read(text.source),
        findings,
        section: Section::Preamble,
        has_tasks_section: false,
        current: Current::Nothing,
        headings: BTreeSet::new(),
        list: TaskList {
            tasks: Vec::new(),
            parked: Vec::new(),
            is_complete: true,
        },
        in_dispute: false,
    };
    for line in text.lines.iter().skip(body_from) {
        scanner.line(line);
    }
    scanner.end_block();
    scanner.refuse_other_headings(text, body_from);
    if !scanner.has_tasks_section {
        let help = "put every task block under `## Tasks`";
        scanner.findings.add(
            "section-missing",
            (BundleFile::Tasks, None),
            "there is no `## Tasks` section".to_owned(),
            help,
        );
    }
    scanner.list
}

/// Returns whether the line would mean something to the format.
fn is_structure(line: &str) -> bool {
    let body = line.trim_start_matches([' ', '\t']);
    line.starts_with("## ")
        || resembles_task_heading(line)
        || resembles_section(line).is_some()
        || Field::starting(line).is_some()
        || line.starts_with("- **Task ")
        || body.starts_with("- **Dependencies")
}

const HEADING_HELP: &str =
    "write `### Task <number> — <title>`: three hashes in column 0, single blanks, an em dash (U+2014)";

impl Scanner<'_, '_> {
    fn line(&mut self, line: &Line<'_>) {
        if line.text.contains('\r') {
            let what = format!("{} holds a carriage return inside the line", quoted(line.text));
            self.refuse("carriage-return", line, what, "end lines with LF, or with CR LF");
        }
        match self.markdown.reading(line) {
            Reading::Live => {
                self.in_dispute = false;
                self.live(line);
            }
            Reading::Disputed(why) if is_structure(line.text) => {
                self.headings.insert(line.number);
                if !self.in_dispute {
                    let what = format!("{} can be read in two ways: {why}", quoted(line.text));
                    self.refuse(
                        "disputed-line",
                        line,
                        what,
                        "close the code block or comment, or move the line out of it",
                    );
                }
                self.in_dispute = true;
                self.lose_block();
            }
            Reading::Disputed(_) if !line.fenced => self.live(line),
            Reading::Disputed(_) | Reading::Inert => {
                if let Current::Task(block) = &mut self.current {
                    block.illustrate(line, self.findings);
                }
            }
        }
    }

    fn live(&mut self, line: &Line<'_>) {
        if resembles_task_heading(line.text) {
            self.task_heading(line);
        } else if line.text.starts_with("## ") {
            self.section_heading(line);
        } else if let Some(section) = resembles_section(line.text) {
            self.headings.insert(line.number);
            self.refuse_section(line.number, line.text, section);
        } else if line.text.starts_with("### ") {
            self.end_block();
        } else {
            self.reference_bullet(line);
            match &mut self.current {
                Current::Task(block) => block.read(line, &self.markdown, self.findings),
                Current::Nothing => self.refuse_orphan(line),
                Current::Refused => {}
            }
        }
    }

    fn end_block(&mut self) {
        if let Current::Task(block) = core::mem::replace(&mut self.current, Current::Nothing) {
            self.list.tasks.push(block.finish(self.findings));
        }
    }

    /// Passes what follows a refused heading, whose fields are no findings of their own.
    fn lose_block(&mut self) {
        self.current = Current::Refused;
        self.list.is_complete = false;
    }

    fn task_heading(&mut self, line: &Line<'_>) {
        self.end_block();
        self.headings.insert(line.number);
        let Some((id, title)) = task_heading(line.text) else {
            self.refuse(
                "task-heading",
                line,
                format!("{} is not a task heading", quoted(line.text)),
                HEADING_HELP,
            );
            self.lose_block();
            return;
        };
        if self.section != Section::Tasks {
            let what = format!("task {id} stands outside of `## Tasks`");
            self.refuse(
                "task-placement",
                line,
                what,
                "move the block under `## Tasks`; to park the task, add a `- **Task <id>** — …` bullet",
            );
        }
        self.current = Current::Task(Block::new(id, title, line.number, self.section));
    }

    fn section_heading(&mut self, line: &Line<'_>) {
        self.end_block();
        self.headings.insert(line.number);
        let name = line
            .text
            .strip_prefix("## ")
            .unwrap_or_default()
            .trim_end_matches([' ', '\t']);
        self.section = match Section::from_name(name) {
            Some(Section::ForwardPlan | Section::InProgress | Section::Completed) | None => Section::Other,
            Some(section) => section,
        };
        self.has_tasks_section |= self.section == Section::Tasks;
        if self.section == Section::Other
            && let Some(section) = resembles_section(line.text)
        {
            self.refuse_section(line.number, line.text, section);
        }
    }

    fn refuse_section(&mut self, line: u32, text: &str, section: &'static str) {
        let is_older = matches!(section, "Forward plan" | "In progress" | "Completed");
        let (message, help) = if is_older {
            (
                format!("placement section {} does not exist in format version 2", quoted(text)),
                "keep every task block under `## Tasks`".to_owned(),
            )
        } else {
            (
                format!("{} is not spelled as a section", quoted(text)),
                format!("write `## {section}`"),
            )
        };
        self.findings
            .add("section-heading", (BundleFile::Tasks, Some(line)), message, &help);
    }

    fn reference_bullet(&mut self, line: &Line<'_>) {
        let read = bullet(line.text);
        let parking = if self.section == Section::Tasks {
            None
        } else {
            self.section.parking()
        };
        let parking = parking.filter(|place| place.is_a_persons());
        match (parking, read) {
            _ if self.section == Section::Preamble => {}
            (_, Bullet::Prose) => {
                if parking.is_some() && resembles_reference(line, &self.markdown) {
                    let what = format!(
                        "{} looks like a bullet that parks a task, but would not park it",
                        quoted(line.text)
                    );
                    self.refuse("reference-bullet", line, what, "start it with `- ` in column 0");
                }
            }
            (Some(place), Bullet::Reference { task, note }) => {
                self.list.parked.push(ReferenceBullet {
                    task,
                    place,
                    note,
                    line: line.number,
                });
            }
            (Some(_), Bullet::Rejected(token)) => {
                self.refuse(
                    "reference-bullet",
                    line,
                    format!("{} is not a task id", quoted(token)),
                    "write `- **Task <id>** — <why>`",
                );
            }
            (None, Bullet::Reference { task, .. }) => {
                let what = format!("the bullet for task {task} would not park it here");
                self.refuse(
                    "reference-bullet",
                    line,
                    what,
                    "move it under `## Awaiting input`, `## Deferred` or `## Out of scope`",
                );
            }
            (None, Bullet::Rejected(_)) => {}
        }
    }

    /// Refuses a definition field that belongs to no task: its heading must have been lost.
    fn refuse_orphan(&mut self, line: &Line<'_>) {
        let is_dependency = match dependency_label(line, &self.markdown) {
            DependencyLabel::Field { .. } => true,
            DependencyLabel::Nested { .. } => self.section == Section::Tasks,
            DependencyLabel::Odd | DependencyLabel::None => false,
        };
        if is_dependency || (self.section == Section::Tasks && Field::starting(line.text).is_some()) {
            self.refuse(
                "field-orphan",
                line,
                format!("{} belongs to no task", quoted(line.text)),
                HEADING_HELP,
            );
            self.lose_block();
        }
    }

    /// Refuses headings that only CommonMark sees: underlined, or inside a bullet.
    fn refuse_other_headings(&mut self, text: &Text<'_>, body_from: usize) {
        let headings = core::mem::take(&mut self.markdown.headings);
        for heading in headings {
            let index = text
                .lines
                .partition_point(|line| line.start <= heading.start)
                .saturating_sub(1);
            let Some(line) = text.lines.get(index).filter(|_| index >= body_from) else {
                continue;
            };
            if self.headings.contains(&line.number) {
                continue;
            }
            if names_a_task(&heading.text) {
                self.refuse(
                    "task-heading",
                    line,
                    format!(
                        "{} is rendered as a heading but is not a task heading",
                        quoted(line.text)
                    ),
                    HEADING_HELP,
                );
            } else if let Some(section) = names_a_section(&heading.text) {
                self.refuse_section(line.number, line.text, section);
            }
        }
    }

    fn refuse(&mut self, code: &'static str, line: &Line<'_>, message: String, help: &str) {
        self.findings
            .add(code, (BundleFile::Tasks, Some(line.number)), message, help);
    }
}

/// Returns the id and title of a heading in the one spelling that the format has.
fn task_heading(line: &str) -> Option<(TaskId, String)> {
    let (id, title) = line.strip_prefix("### Task ")?.split_once(" — ")?;
    let title = title.trim();
    if title.is_empty() {
        None
    } else {
        TaskId::parse(id).ok().map(|id| (id, title.to_owned()))
    }
}
