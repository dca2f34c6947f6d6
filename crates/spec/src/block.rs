//! One task block: its five fields and its annotations, line by line (`contract/core.md §1.7`).

use orchestrate_core::identifier::TaskId;

use crate::check::Check;
use crate::commonmark::Markdown;
use crate::diagnostic::{Findings, Spot, quoted};
use crate::field::FieldText;
use crate::lookalike::{DependencyLabel, dependency_label, without_list_marker};
use crate::misspelling::{self, Misspelt};
use crate::text::{Line, Span, is_blank, is_continuation};
use crate::{Annotation, AnnotationKind, BundleFile, FormatVersion, Section};

mod finish;

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

    /// Returns the field's name as the format's validator says it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Deliverables => "Deliverables",
            Self::DoneWhen => "Done when",
            Self::Dependencies => "Dependencies",
            Self::Citations => "Citations",
            Self::EstimatedEffort => "Estimated effort",
        }
    }

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

/// What the heading of a task block says, and where it stands.
pub(crate) struct Heading {
    pub(crate) id: TaskId,
    pub(crate) title: String,
    pub(crate) id_span: Span,
    pub(crate) section: Section,
}

/// What the lines that come next belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Field(Field),
    /// The last annotation.
    Annotation,
}

/// A task block that is being read.
pub(crate) struct Block<'a> {
    heading: Heading,
    version: Option<FormatVersion>,
    texts: [Option<FieldText<'a>>; 5],
    /// The lines that seem to mean a field and begin none.
    misspelt: Vec<Misspelt>,
    annotations: Vec<Annotation>,
    current: Open,
    /// The anchor covers an indented line that follows.
    anchored: bool,
    /// The indentation of a dependency bullet inside another field.
    nested: Option<usize>,
    /// Something odd was already said about the dependencies.
    dependencies_refused: bool,
    tail: Tail,
}

const ONE_FIELD: &str = "write one `- **Dependencies:** …` bullet in column 0 of each task, all its ids on that bullet";

impl<'a> Block<'a> {
    pub(crate) fn new(heading: Heading, version: Option<FormatVersion>) -> Self {
        Self {
            heading,
            version,
            texts: [const { None }; 5],
            misspelt: Vec::new(),
            annotations: Vec::new(),
            current: Open::Nothing,
            anchored: false,
            nested: None,
            dependencies_refused: false,
            tail: Tail::Elsewhere,
        }
    }

    /// Reads one line of the block that is no heading.
    pub(crate) fn read(&mut self, line: &Line<'a>, markdown: &Markdown, findings: &mut Findings) {
        let label = dependency_label(line, markdown);
        if label == DependencyLabel::None {
            self.misspelt.extend(misspelling::field(line));
        }
        match label {
            DependencyLabel::Field { text, is_exact } => {
                if !is_exact {
                    findings.add(
                        Check::DependencySpelling,
                        Spot::span(BundleFile::Tasks, line.visible()),
                        format!(
                            "a signature does not cover {}, spelled with its colon outside of the bold",
                            quoted(line.text)
                        ),
                        &format!("write `- **Dependencies:**{text}`"),
                    );
                }
                self.start_dependencies(line, text, None, is_exact, findings);
            }
            DependencyLabel::Nested { text, indentation } if self.anchored => {
                self.start_dependencies(line, text, Some(indentation), true, findings);
            }
            DependencyLabel::Nested { .. } => {
                let what = "is outside of every field, so a signature would not cover it";
                self.refuse_dependencies(Check::DependencyUnsigned, line, what, findings);
            }
            DependencyLabel::Odd => {
                let what = "looks like a dependency field but is not spelled as one";
                self.refuse_dependencies(Check::DependencyField, line, what, findings);
            }
            DependencyLabel::None if is_blank(line.text) => self.interrupt(),
            DependencyLabel::None if line.text.starts_with("- ") => self.bullet(line, findings),
            DependencyLabel::None if is_continuation(line.text) => self.continuation(line, findings),
            DependencyLabel::None => self.prose(line, findings),
        }
    }

    /// Passes a line in a code fence of the format that is rendered as text.
    pub(crate) fn dispute(&mut self, line: &Line<'a>, findings: &mut Findings) {
        if self.tail != Tail::Elsewhere {
            let what = "is rendered as part of the dependencies, but by the format's rule it is in a code fence";
            self.refuse_number(line, what, findings);
        }
        self.illustrate(line, findings);
    }

    /// Passes a line that is an illustration; inside a field it is part of the field's text.
    pub(crate) fn illustrate(&mut self, line: &Line<'a>, findings: &mut Findings) {
        if line.fenced || !is_continuation(line.text) {
            if self.tail == Tail::Open {
                self.tail = Tail::Interrupted;
            }
        } else if self.tail == Tail::Elsewhere {
            self.append(line);
        } else {
            self.refuse_number(line, "is code or a comment inside the dependencies", findings);
        }
    }

    fn start_dependencies(
        &mut self,
        line: &Line<'a>,
        text: &str,
        nested: Option<usize>,
        anchored: bool,
        findings: &mut Findings,
    ) {
        if self.text(Field::Dependencies).is_some() {
            let what = "is a second dependency field of the same task";
            self.refuse_dependencies(Check::DependencyFieldTwice, line, what, findings);
            return;
        }
        self.text(Field::Dependencies).get_or_insert_default().push(line, text);
        self.nested = nested;
        if nested.is_none() {
            self.current = Open::Field(Field::Dependencies);
            self.anchored = anchored;
        }
        self.tail = Tail::Open;
    }

    fn bullet(&mut self, line: &Line<'a>, findings: &mut Findings) {
        let started = Field::starting(line.text);
        self.anchored = started.is_some();
        self.current = Open::Nothing;
        if let Some((field, text)) = started {
            self.current = Open::Field(field);
            self.text(field).get_or_insert_default().push(line, text);
        } else if let Some((kind, text)) = annotation(line.text) {
            self.annotate(kind, text, line, findings);
        } else if self.tail != Tail::Elsewhere && !is_labelled(&line.text[2..]) {
            self.refuse_number(line, "follows the dependencies as a bullet of its own", findings);
        }
        self.nested = None;
        self.tail = Tail::Elsewhere;
    }

    fn annotate(&mut self, kind: AnnotationKind, text: &str, line: &Line<'a>, findings: &mut Findings) {
        if self.version == Some(FormatVersion::Two) {
            refuse_annotation(kind, &format!("Task {}", self.heading.id), line, findings);
        }
        self.current = Open::Annotation;
        self.annotations.push(Annotation {
            kind,
            text: text.trim().to_owned(),
            line: line.number,
        });
    }

    fn continuation(&mut self, line: &Line<'a>, findings: &mut Findings) {
        let indentation = line.indentation();
        let in_nested = self.nested.is_some_and(|nested| indentation > nested);
        if self.nested.is_some() && !in_nested {
            self.behind_nested(line, findings);
            self.append(line);
        } else if self.tail == Tail::Interrupted {
            let what = "is rendered as part of the dependencies but a line between ends the field";
            self.refuse_number(line, what, findings);
        } else if in_nested {
            self.text(Field::Dependencies)
                .get_or_insert_default()
                .push(line, line.text);
        } else {
            self.append(line);
        }
    }

    /// Passes a line that is indented no further than the dependency bullet inside the field: rendered, it may be that
    /// bullet's text still, because a paragraph goes on until something ends it.
    fn behind_nested(&mut self, line: &Line<'_>, findings: &mut Findings) {
        match without_list_marker(line.text.trim_start_matches([' ', '\t'])) {
            Some(text) if is_labelled(text) => {
                self.nested = None;
                self.tail = Tail::Elsewhere;
            }
            Some(_) => self.refuse_number(line, "follows the dependencies as a bullet of its own", findings),
            None => self.refuse_number(line, "may be rendered as part of the dependencies above", findings),
        }
    }

    fn prose(&mut self, line: &Line<'a>, findings: &mut Findings) {
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
        self.current = Open::Nothing;
        self.anchored = false;
        self.nested = None;
        if self.tail == Tail::Open {
            self.tail = Tail::Interrupted;
        }
    }

    fn text(&mut self, field: Field) -> &mut Option<FieldText<'a>> {
        let [deliverables, done_when, dependencies, citations, effort] = &mut self.texts;
        match field {
            Field::Deliverables => deliverables,
            Field::DoneWhen => done_when,
            Field::Dependencies => dependencies,
            Field::Citations => citations,
            Field::EstimatedEffort => effort,
        }
    }

    /// Adds a line to what it belongs to.
    fn append(&mut self, line: &Line<'a>) {
        match self.current {
            Open::Field(field) => self.text(field).get_or_insert_default().push(line, line.text),
            Open::Annotation => {
                if let Some(annotation) = self.annotations.last_mut() {
                    annotation.text.push('\n');
                    annotation.text.push_str(line.text.trim());
                }
            }
            Open::Nothing => {}
        }
    }

    fn refuse_dependencies(&mut self, check: Check, line: &Line<'_>, what: &str, findings: &mut Findings) {
        self.dependencies_refused = true;
        let spot = Spot::span(BundleFile::Tasks, line.visible());
        findings.add(check, spot, format!("{} {what}", quoted(line.text)), ONE_FIELD);
    }

    /// Refuses a line near the dependencies when it might name a task; prose is passed over.
    fn refuse_number(&mut self, line: &Line<'_>, what: &str, findings: &mut Findings) {
        if line.text.chars().any(char::is_numeric) {
            self.refuse_dependencies(Check::DependencyContinuation, line, what, findings);
        }
    }
}

/// Returns whether a bullet's text begins with a word in bold, so that it is about something else than the bullet above.
fn is_labelled(text: &str) -> bool {
    text.strip_prefix("**")
        .is_some_and(|label| label.starts_with(char::is_alphabetic))
}

/// Returns the state annotation that the line is, and its text.
pub(crate) fn annotation(line: &str) -> Option<(AnnotationKind, &str)> {
    let (label, text) = line.strip_prefix("- **")?.split_once(":**")?;
    let kind = AnnotationKind::ALL.into_iter().find(|kind| kind.name() == label)?;
    Some((kind, text))
}

/// Refuses a state annotation; `owner` names the task or, where it has no id, the line.
pub(crate) fn refuse_annotation(kind: AnnotationKind, owner: &str, line: &Line<'_>, findings: &mut Findings) {
    findings.add(
        Check::StateAnnotation,
        Spot::span(BundleFile::Tasks, line.visible()),
        format!(
            "state annotation bullet \"{}\" on {owner} does not exist in format-version 2",
            kind.name()
        ),
        "delete the line: the state is derived from evidence",
    );
}
