//! `tasks.md` (`contract/core.md §1.6–§1.8, §1.11`): sections, task blocks, parked tasks and gates of both versions.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::identifier::TaskId;

use crate::block::{Block, Field, Heading, annotation, refuse_annotation};
use crate::check::Check;
use crate::citing::OwnCitation;
use crate::commonmark::{self, Markdown, Reading};
use crate::diagnostic::{Findings, Spot, quoted};
use crate::gates::GateReader;
use crate::lookalike::{
    DependencyLabel, dependency_label, names_a_section, names_a_task, resembles_section, resembles_task_heading,
};
use crate::parking::{ParkingReader, ReferenceBullet};
use crate::source::Source;
use crate::task_heading::{BadId, HEADING_HELP, TaskHeading, task_heading};
use crate::text::{Line, Span};
use crate::{Annotation, AnnotationKind, BundleFile, FormatVersion, Gate, Section};

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
    /// Where each of the dependencies stands.
    pub dependency_spans: Vec<Span>,
    /// The first line of the dependencies, where the reference's engine calls it malformed (`contract/core.md §1.9`).
    /// Nothing but its `malformed-deps` record depends on it.
    pub malformed_for_the_engine: Option<String>,
    /// The decision and requirement ids that it cites, in the order written.
    pub citations: Vec<String>,
    /// The citations as written.
    pub citations_text: String,
    /// The ids it cites that name no other bundle beside them.
    pub(crate) own_citations: Vec<OwnCitation>,
    /// The effort as written, as in `half day`.
    pub estimated_effort: String,
    /// The line of its heading in `tasks.md`.
    pub line: u32,
    /// The span of its id.
    pub id_span: Span,
    /// The section that holds it.
    pub section: Section,
    /// Its state annotations, in file order; only format version 1 has them.
    pub annotations: Vec<Annotation>,
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
    /// In file order.
    pub(crate) gates: Vec<Gate>,
    /// The names in bullets of format version 2 that park nothing, though they look as if they did.
    pub(crate) rejected: Vec<String>,
    /// No task heading was refused, so that a task which is not in the list does not exist.
    pub(crate) is_complete: bool,
}

enum Current<'a> {
    Nothing,
    Task(Box<Block<'a>>),
    /// What follows a heading that was refused: its fields are no findings of their own.
    Refused,
}

struct Scanner<'a, 'b> {
    version: Option<FormatVersion>,
    markdown: Markdown,
    findings: &'b mut Findings,
    section: Section,
    has_tasks_section: bool,
    current: Current<'a>,
    /// The lines that were looked at as a heading.
    headings: BTreeSet<u32>,
    tasks: Vec<Task>,
    is_complete: bool,
    /// The line of each task's first heading.
    seen: BTreeMap<TaskId, u32>,
    parking: ParkingReader<'a>,
    gates: GateReader<'a>,
    /// The lines since the last one that counts can be read in two ways, and that was said.
    in_dispute: bool,
}

/// Reads `tasks.md`, of the version that the bundle declares.
pub(crate) fn read(source: &Source<'_>, version: Option<FormatVersion>, findings: &mut Findings) -> TaskList {
    let mut scanner = Scanner {
        version,
        markdown: commonmark::read(source.text.source),
        findings,
        section: Section::Preamble,
        has_tasks_section: false,
        current: Current::Nothing,
        headings: BTreeSet::new(),
        tasks: Vec::new(),
        is_complete: true,
        seen: BTreeMap::new(),
        parking: ParkingReader::default(),
        gates: GateReader::default(),
        in_dispute: false,
    };
    for line in source.body() {
        scanner.line(&line);
    }
    scanner.end_block();
    scanner.refuse_other_headings(source);
    scanner.finish(source)
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

impl<'a> Scanner<'a, '_> {
    fn line(&mut self, line: &Line<'a>) {
        if line.text.contains('\r') {
            let what = format!("{} holds a carriage return inside the line", quoted(line.text));
            self.refuse(Check::CarriageReturn, line, what, "end lines with LF, or with CR LF");
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
                    let help = "close the code block or comment, or move the line out of it";
                    self.refuse(Check::LineDisputed, line, what, help);
                }
                self.in_dispute = true;
                self.lose_block();
            }
            Reading::Disputed(_) if !line.fenced => self.live(line),
            reading @ (Reading::Disputed(_) | Reading::Inert) => {
                if line.fenced {
                    self.gates.end_bullet();
                }
                if let Current::Task(block) = &mut self.current {
                    if reading == Reading::Inert {
                        block.illustrate(line, self.findings);
                    } else {
                        block.dispute(line, self.findings);
                    }
                }
            }
        }
    }

    fn live(&mut self, line: &Line<'a>) {
        let heading = task_heading(line);
        self.gates.line(line);
        if heading != TaskHeading::None {
            self.task_heading(heading, line);
        } else if line.text.starts_with("## ") {
            self.section_heading(line);
        } else if let Some(section) = resembles_section(line.text) {
            self.headings.insert(line.number);
            self.refuse_section(line, section);
        } else if line.text.starts_with("### ") {
            self.end_block();
        } else {
            let section = self.section;
            self.parking
                .line(line, section, self.version, &self.markdown, self.findings);
            self.block_line(line);
        }
    }

    fn block_line(&mut self, line: &Line<'a>) {
        match &mut self.current {
            Current::Task(block) => block.read(line, &self.markdown, self.findings),
            Current::Nothing => self.refuse_orphan(line),
            Current::Refused => {
                if let Some((kind, _)) = annotation(line.text).filter(|_| self.version == Some(FormatVersion::Two)) {
                    refuse_annotation(kind, &format!("tasks.md:{}", line.number), line, self.findings);
                }
            }
        }
    }

    fn end_block(&mut self) {
        if let Current::Task(block) = core::mem::replace(&mut self.current, Current::Nothing) {
            self.tasks.push(block.finish(self.findings));
        }
    }

    /// Passes what follows a refused heading, whose fields are no findings of their own.
    fn lose_block(&mut self) {
        self.end_block();
        self.current = Current::Refused;
        self.is_complete = false;
    }

    fn task_heading(&mut self, heading: TaskHeading<'a>, line: &Line<'a>) {
        self.end_block();
        self.headings.insert(line.number);
        let (id, title, id_span) = match heading {
            TaskHeading::Exact { id, id_span, title } => (id, title, id_span),
            TaskHeading::Near { id, id_span, title } => {
                let what = format!("{} is not a task heading", quoted(line.text));
                self.refuse(Check::TaskHeading, line, what, HEADING_HELP);
                (id, title, id_span)
            }
            TaskHeading::BadId(bad) => {
                self.refuse_id(&bad, line);
                self.lose_block();
                return;
            }
            TaskHeading::Lookalike | TaskHeading::None => {
                let what = format!("{} is not a task heading", quoted(line.text));
                self.refuse(Check::TaskHeading, line, what, HEADING_HELP);
                self.lose_block();
                return;
            }
        };
        self.check_duplicate(&id, &id_span);
        self.check_placement(&id, &id_span);
        let heading = Heading {
            id,
            title: title.to_owned(),
            id_span,
            section: self.section,
        };
        self.current = Current::Task(Box::new(Block::new(heading, self.version)));
    }

    /// The message begins with the format's words.
    fn refuse_id(&mut self, bad: &BadId<'_>, line: &Line<'_>) {
        let (why, help) = match &bad.meant {
            Some(meant) => (
                format!("\"{}\" stands right behind the id {}", meant.mark, meant.id),
                meant.help(),
            ),
            None => (
                "an id is digits, or digits, a dot and digits".to_owned(),
                HEADING_HELP.to_owned(),
            ),
        };
        let message = format!("malformed task id at tasks.md:{} ({why})", line.number);
        let spot = Spot::span(BundleFile::Tasks, bad.span.clone());
        self.findings.add(Check::TaskId, spot, message, &help);
    }

    fn check_duplicate(&mut self, id: &TaskId, span: &Span) {
        let first = *self.seen.entry(id.clone()).or_insert(span.line);
        if first != span.line {
            let help = format!("give it an id of its own; line {first} has the same");
            let spot = Spot::span(BundleFile::Tasks, span.clone());
            self.findings.add(
                Check::TaskDuplicate,
                spot,
                format!("duplicate task id: Task {id}"),
                &help,
            );
        }
    }

    /// Refuses a block in a section that the version does not have for it: it would never be dispatched, or twice.
    fn check_placement(&mut self, id: &TaskId, span: &Span) {
        let (is_right, help) = match self.version {
            None => return,
            Some(FormatVersion::Two) => (
                self.section == Section::Tasks,
                "move the block under `## Tasks`; to park the task, add a `- **Task <id>** — …` bullet",
            ),
            Some(FormatVersion::One) => (
                !matches!(self.section, Section::Preamble | Section::Other | Section::Tasks),
                "move the block under `## Forward plan` or another section of format version 1",
            ),
        };
        if !is_right {
            let what = match self.version {
                Some(FormatVersion::Two) => "`## Tasks`",
                Some(FormatVersion::One) | None => "every section of format version 1",
            };
            let spot = Spot::span(BundleFile::Tasks, span.clone());
            let message = format!("task {id} stands outside of {what}");
            self.findings.add(Check::TaskPlacement, spot, message, help);
        }
    }

    fn section_heading(&mut self, line: &Line<'a>) {
        self.end_block();
        self.headings.insert(line.number);
        let name = line.text.strip_prefix("## ").unwrap_or_default();
        let name = name.trim_end_matches([' ', '\t']);
        self.section = Section::from_name(name).unwrap_or(Section::Other);
        self.has_tasks_section |= self.section == Section::Tasks;
        let is_older = matches!(
            self.section,
            Section::ForwardPlan | Section::InProgress | Section::Completed
        );
        if is_older && self.version == Some(FormatVersion::Two) {
            let message = format!(
                "placement section \"## {name}\" at tasks.md:{} does not exist in format-version 2",
                line.number
            );
            let spot = Spot::span(BundleFile::Tasks, line.visible());
            let help = "keep every task block under `## Tasks`";
            self.findings.add(Check::PlacementSection, spot, message, help);
        } else if self.section == Section::Other
            && let Some(section) = resembles_section(line.text)
        {
            self.refuse_section(line, section);
        }
    }

    fn refuse_section(&mut self, line: &Line<'_>, section: &'static str) {
        let message = format!("{} is not spelled as a section", quoted(line.text));
        self.refuse(Check::SectionHeading, line, message, &format!("write `## {section}`"));
    }

    /// Refuses a definition field that belongs to no task: its heading must have been lost.
    fn refuse_orphan(&mut self, line: &Line<'_>) {
        let holds_tasks = match self.section {
            Section::Tasks | Section::ForwardPlan | Section::InProgress | Section::Completed => true,
            Section::Preamble | Section::Other => false,
            // In version 1 a parked block stands in the section that parks it.
            Section::AwaitingInput | Section::Deferred | Section::OutOfScope => {
                self.version == Some(FormatVersion::One)
            }
        };
        let is_dependency = match dependency_label(line, &self.markdown) {
            DependencyLabel::Field { .. } => true,
            DependencyLabel::Nested { .. } => holds_tasks,
            DependencyLabel::Odd | DependencyLabel::None => false,
        };
        if is_dependency || (holds_tasks && Field::starting(line.text).is_some()) {
            let what = format!("{} belongs to no task", quoted(line.text));
            self.refuse(Check::FieldOrphan, line, what, HEADING_HELP);
            self.lose_block();
        }
    }

    /// Refuses headings that only CommonMark sees: underlined, or inside a bullet.
    fn refuse_other_headings(&mut self, source: &Source<'_>) {
        let headings = core::mem::take(&mut self.markdown.headings);
        let mut lines = source.body().peekable();
        let mut current = None;
        for heading in headings {
            while let Some(line) = lines.next_if(|line| line.start <= heading.start) {
                current = Some(line);
            }
            let Some(line) = current.filter(|line| !self.headings.contains(&line.number)) else {
                continue;
            };
            if names_a_task(&heading.text) {
                let what = "is rendered as a heading but is not a task heading";
                let what = format!("{} {what}", quoted(line.text));
                self.refuse(Check::TaskHeading, &line, what, HEADING_HELP);
                self.is_complete = false;
            } else if let Some(section) = names_a_section(&heading.text) {
                self.refuse_section(&line, section);
            }
        }
    }

    fn finish(self, source: &Source<'_>) -> TaskList {
        let is_two = self.version == Some(FormatVersion::Two);
        if is_two && !self.has_tasks_section && !source.is_missing && !source.is_refused {
            let message = "there is no `## Tasks` section".to_owned();
            let help = "put every task block under `## Tasks`";
            self.findings
                .add(Check::SectionMissing, Spot::file(BundleFile::Tasks), message, help);
        }
        if is_two && (source.is_refused || source.text.open_fence.is_some()) {
            let cause = if source.is_refused {
                "the file cannot be read"
            } else {
                "a code fence is never closed"
            };
            let message =
                format!("tasks.md: the reference-bullet parse failed (no task is known to be parked): {cause}");
            let help = "mend the file: a parked task could be dispatched";
            self.findings
                .add(Check::ReferenceMap, Spot::file(BundleFile::Tasks), message, help);
        }
        let known: BTreeSet<&TaskId> = self.seen.keys().collect();
        let rejected = if is_two { self.parking.rejected() } else { Vec::new() };
        let parked = self.parking.finish(&known, self.version, self.findings);
        let gates = self.gates.finish(&known, self.findings);
        TaskList {
            tasks: self.tasks,
            parked,
            gates,
            rejected,
            is_complete: self.is_complete,
        }
    }

    fn refuse(&mut self, check: Check, line: &Line<'_>, message: String, help: &str) {
        let spot = Spot::span(BundleFile::Tasks, line.visible());
        self.findings.add(check, spot, message, help);
    }
}
