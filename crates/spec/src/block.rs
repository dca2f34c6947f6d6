//! One task block: its five fields, line by line (`contract/core.md §1.7`).

use orchestrate_core::identifier::TaskId;

use crate::commonmark::Markdown;
use crate::dependencies;
use crate::diagnostic::{Findings, quoted};
use crate::lookalike::{DependencyLabel, dependency_label, without_list_marker};
use crate::requirements::citations;
use crate::tasks::Task;
use crate::text::{Line, is_blank, is_continuation};
use crate::{BundleFile, Section};

/// A definition field of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Deliverables,
    DoneWhen,
    Dependencies,
    Citations,
    EstimatedEffort,
}

impl Field {
    pub(crate) const ALL: [Self; 5] = [
        Self::Deliverables,
        Self::DoneWhen,
        Self::Dependencies,
        Self::Citations,
        Self::EstimatedEffort,
    ];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Deliverables => "- **Deliverables:**",
            Self::DoneWhen => "- **Done when:**",
            Self::Dependencies => "- **Dependencies:**",
            Self::Citations => "- **Citations:**",
            Self::EstimatedEffort => "- **Estimated effort:**",
        }
    }

    /// Returns the field that starts on the line, and its text there.
    pub(crate) fn starting(line: &str) -> Option<(Self, &str)> {
        Self::ALL
            .into_iter()
            .find_map(|field| line.strip_prefix(field.label()).map(|text| (field, text)))
    }
}

/// Where the lines stand that a person might still count to the dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// The field has not started, or another bullet has followed it.
    Elsewhere,
    /// The line before belongs to the field.
    Open,
    /// The field is over by the format's rule, but an indented line would be rendered as part of it.
    Interrupted,
}

/// A task block that is being read.
pub(crate) struct Block {
    id: TaskId,
    title: String,
    line: u32,
    section: Section,
    texts: [Option<String>; 5],
    current: Option<Field>,
    /// The anchor covers an indented line that follows.
    anchored: bool,
    /// The indentation of a dependency bullet inside another field.
    nested: Option<usize>,
    dependencies_line: u32,
    /// Something odd was already said about the dependencies.
    dependencies_refused: bool,
    tail: Tail,
}

const ANNOTATIONS: [&str; 3] = ["Status", "Last activity", "Dispatch"];
const ONE_FIELD: &str = "write one `- **Dependencies:** …` bullet in column 0 of each task, all its ids on that bullet";

impl Block {
    pub(crate) fn new(id: TaskId, title: String, line: u32, section: Section) -> Self {
        Self {
            id,
            title,
            line,
            section,
            texts: [const { None }; 5],
            current: None,
            anchored: false,
            nested: None,
            dependencies_line: line,
            dependencies_refused: false,
            tail: Tail::Elsewhere,
        }
    }

    /// Reads one line of the block that is no heading.
    pub(crate) fn read(&mut self, line: &Line<'_>, markdown: &Markdown, findings: &mut Findings<'_>) {
        match dependency_label(line, markdown) {
            DependencyLabel::Field { text, anchored } => self.start_dependencies(line, text, None, anchored, findings),
            DependencyLabel::Nested { text, indentation } => {
                if self.anchored {
                    self.start_dependencies(line, text, Some(indentation), true, findings);
                } else {
                    self.refuse_dependencies(
                        "dependency-unsigned",
                        line,
                        "is outside of every field, so a signature would not cover it",
                        findings,
                    );
                }
            }
            DependencyLabel::Odd => {
                self.refuse_dependencies(
                    "dependency-field",
                    line,
                    "looks like a dependency field but is not spelled as one",
                    findings,
                );
            }
            DependencyLabel::None if is_blank(line.text) => self.interrupt(),
            DependencyLabel::None if line.text.starts_with("- ") => self.bullet(line, findings),
            DependencyLabel::None if is_continuation(line.text) => self.continuation(line, findings),
            DependencyLabel::None => self.prose(line, findings),
        }
    }

    /// Passes a line that is an illustration; inside a field it is part of the field's text.
    pub(crate) fn illustrate(&mut self, line: &Line<'_>, findings: &mut Findings<'_>) {
        if line.fenced || !is_continuation(line.text) {
            if self.tail == Tail::Open {
                self.tail = Tail::Interrupted;
            }
        } else if self.tail == Tail::Elsewhere {
            if let Some(field) = self.current {
                self.append(field, line.text);
            }
        } else {
            self.refuse_number(line, "is code or a comment inside the dependencies", findings);
        }
    }

    fn start_dependencies(
        &mut self,
        line: &Line<'_>,
        text: &str,
        nested: Option<usize>,
        anchored: bool,
        findings: &mut Findings<'_>,
    ) {
        if self.text(Field::Dependencies).is_some() {
            self.refuse_dependencies(
                "dependency-field-twice",
                line,
                "is a second dependency field of the same task",
                findings,
            );
            return;
        }
        *self.text(Field::Dependencies) = Some(text.trim().to_owned());
        self.dependencies_line = line.number;
        self.nested = nested;
        if nested.is_none() {
            self.current = Some(Field::Dependencies);
            self.anchored = anchored;
        }
        self.tail = Tail::Open;
    }

    fn bullet(&mut self, line: &Line<'_>, findings: &mut Findings<'_>) {
        let started = Field::starting(line.text);
        self.current = started.map(|(field, _)| field);
        self.anchored = started.is_some();
        match started {
            Some((field, text)) => self.append(field, text),
            None => {
                self.refuse_annotation(line, findings);
                if self.tail != Tail::Elsewhere && !line.text.starts_with("- **") {
                    self.refuse_number(line, "follows the dependencies as a bullet of its own", findings);
                }
            }
        }
        self.nested = None;
        self.tail = Tail::Elsewhere;
    }

    fn continuation(&mut self, line: &Line<'_>, findings: &mut Findings<'_>) {
        let indentation = line.first_visible() - line.start;
        let in_nested = self.nested.is_some_and(|nested| indentation > nested);
        if self.nested.is_some() && !in_nested {
            self.nested = None;
            self.tail = Tail::Elsewhere;
        }
        match self.current {
            _ if self.tail == Tail::Interrupted => {
                self.refuse_number(
                    line,
                    "is rendered as part of the dependencies but a line between ends the field",
                    findings,
                );
            }
            Some(_) if in_nested => self.append(Field::Dependencies, line.text),
            Some(field) => self.append(field, line.text),
            None => {}
        }
    }

    fn prose(&mut self, line: &Line<'_>, findings: &mut Findings<'_>) {
        let follows = match self.tail {
            Tail::Elsewhere => false,
            Tail::Open => true,
            Tail::Interrupted => without_list_marker(line.text).is_some(),
        };
        if follows && !line.text.starts_with('#') {
            self.refuse_number(line, "follows the dependencies without being indented", findings);
        }
        let was_open = self.tail == Tail::Open;
        self.interrupt();
        if !was_open || line.text.starts_with('#') {
            self.tail = Tail::Elsewhere;
        }
    }

    /// Ends the current field, as a blank line does.
    fn interrupt(&mut self) {
        self.current = None;
        self.anchored = false;
        self.nested = None;
        if self.tail == Tail::Open {
            self.tail = Tail::Interrupted;
        }
    }

    fn text(&mut self, field: Field) -> &mut Option<String> {
        let [deliverables, done_when, dependencies, citations, effort] = &mut self.texts;
        match field {
            Field::Deliverables => deliverables,
            Field::DoneWhen => done_when,
            Field::Dependencies => dependencies,
            Field::Citations => citations,
            Field::EstimatedEffort => effort,
        }
    }

    fn append(&mut self, field: Field, text: &str) {
        let so_far = self.text(field).get_or_insert_default();
        if !so_far.is_empty() {
            so_far.push('\n');
        }
        so_far.push_str(text.trim());
    }

    fn refuse_dependencies(&mut self, code: &'static str, line: &Line<'_>, what: &str, findings: &mut Findings<'_>) {
        self.dependencies_refused = true;
        let place = (BundleFile::Tasks, Some(line.number));
        findings.add(code, place, format!("{} {what}", quoted(line.text)), ONE_FIELD);
    }

    /// Refuses a line near the dependencies when it might name a task; prose is passed over.
    fn refuse_number(&mut self, line: &Line<'_>, what: &str, findings: &mut Findings<'_>) {
        if line.text.chars().any(char::is_numeric) {
            self.refuse_dependencies("dependency-continuation", line, what, findings);
        }
    }

    fn refuse_annotation(&self, line: &Line<'_>, findings: &mut Findings<'_>) {
        let label = line
            .text
            .strip_prefix("- **")
            .and_then(|rest| rest.split_once(":**"))
            .map(|(label, _)| label);
        if let Some(label) = label.filter(|label| ANNOTATIONS.contains(label)) {
            let place = (BundleFile::Tasks, Some(line.number));
            let message = format!(
                "state annotation {} on task {} does not exist in format version 2",
                quoted(label),
                self.id
            );
            findings.add(
                "state-annotation",
                place,
                message,
                "delete the line: the state is derived from evidence",
            );
        }
    }

    /// Returns the task; missing fields and unreadable dependencies are findings.
    pub(crate) fn finish(mut self, findings: &mut Findings<'_>) -> Task {
        for field in Field::ALL {
            let is_known = field == Field::Dependencies && self.dependencies_refused;
            if self.text(field).is_none() && !is_known {
                let message = format!("task {} has no {} field", self.id, quoted(field.label()));
                let help = format!("add a `{} …` bullet in column 0", field.label());
                findings.add(
                    "task-field-missing",
                    (BundleFile::Tasks, Some(self.line)),
                    message,
                    &help,
                );
            }
        }
        let mut dependencies = Vec::new();
        if let Some(text) = self.text(Field::Dependencies).take() {
            match dependencies::read(&text) {
                Ok(read) => dependencies = read,
                Err(problem) => {
                    let place = (BundleFile::Tasks, Some(self.dependencies_line));
                    findings.add("dependency-text", place, problem.message, problem.help);
                }
            }
        }
        let mut take = |field: Field| self.text(field).take().unwrap_or_default();
        let citations_text = take(Field::Citations);
        Task {
            deliverables: take(Field::Deliverables),
            done_when: take(Field::DoneWhen),
            dependencies,
            citations: citations(&citations_text),
            citations_text,
            estimated_effort: take(Field::EstimatedEffort),
            id: self.id,
            title: self.title,
            line: self.line,
            section: self.section,
            annotations: Vec::new(),
            dependencies_line: self.dependencies_line,
        }
    }
}
