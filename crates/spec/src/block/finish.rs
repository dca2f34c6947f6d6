//! The end of a task block: what it says, and what it lacks.

use orchestrate_core::identifier::TaskId;

use super::{Block, Field};
use crate::BundleFile;
use crate::check::Check;
use crate::citation::citations;
use crate::citing::{OwnCitation, own_citations};
use crate::dependencies;
use crate::diagnostic::{Findings, Spot, quoted};
use crate::field::FieldText;
use crate::tasks::Task;
use crate::text::Span;

impl Block<'_> {
    /// Says that a field is missing: at the line that seems to mean it, if there is one, else at the heading.
    fn miss(&self, field: Field, findings: &mut Findings) {
        let meant = self.misspelt.iter().find(|misspelt| misspelt.field == field);
        let (span, help) = match meant {
            Some(misspelt) => (&misspelt.span, format!("did you mean `{} …`?", field.label())),
            None => (
                &self.heading.id_span,
                format!("add a `{} …` bullet in column 0", field.label()),
            ),
        };
        findings.add(
            Check::TaskField,
            Spot::span(BundleFile::Tasks, span.clone()),
            format!("Task {} missing field: {}", self.heading.id, field.name()),
            &help,
        );
    }

    /// Says which fields say nothing, of those that stand on their own line: the other ones may be followed by a list.
    fn check_texts(&mut self, findings: &mut Findings) {
        for field in [Field::Citations, Field::EstimatedEffort] {
            let Some(text) = self.text(field).as_ref() else {
                continue;
            };
            let written = text.as_str();
            let span = text.span(0..written.len());
            let (check, message, help) = if written.is_empty() {
                let help = match field {
                    Field::Citations => "name the decisions and requirements that the task stands on",
                    Field::Deliverables | Field::DoneWhen | Field::Dependencies | Field::EstimatedEffort => {
                        "write days, such as `half day` or `2 days`"
                    }
                };
                let message = format!("task {} has nothing in its field {}", self.heading.id, field.name());
                (Check::FieldEmpty, message, help)
            } else if field == Field::EstimatedEffort && !names_an_effort(written) {
                let message = format!("{} names no number of days, so it counts as 1 day", quoted(written));
                (
                    Check::EffortNumber,
                    message,
                    "write days, such as `half day` or `2 days`",
                )
            } else {
                continue;
            };
            findings.add(check, Spot::span(BundleFile::Tasks, span), message, help);
        }
    }

    fn own_citations(&mut self) -> Vec<OwnCitation> {
        let Some(field) = self.text(Field::Citations) else {
            return Vec::new();
        };
        let cited = own_citations(field.as_str());
        let spans = field.spans(cited.iter().map(|(_, at)| at.clone()));
        let own = |((id, _), span): (&(&str, _), Span)| OwnCitation {
            id: (*id).to_owned(),
            span,
        };
        cited.iter().zip(spans).map(own).collect()
    }

    /// Returns the task, whose block ends before that line; missing fields and unreadable dependencies are findings.
    pub(crate) fn finish(mut self, findings: &mut Findings) -> Task {
        for field in Field::ALL {
            let is_known = field == Field::Dependencies && self.dependencies_refused;
            if self.text(field).is_none() && !is_known {
                self.miss(field, findings);
            }
        }
        self.check_texts(findings);
        let own_citations = self.own_citations();
        let written = self.text(Field::Dependencies).as_ref().map(FieldText::as_str);
        let malformed_for_the_engine = written.and_then(dependencies::malformed_for_the_engine);
        let (dependencies, dependency_spans) = self.dependencies(findings);
        let mut take = |field: Field| self.text(field).take().map(FieldText::into_text).unwrap_or_default();
        let citations_text = take(Field::Citations);
        Task {
            deliverables: take(Field::Deliverables),
            done_when: take(Field::DoneWhen),
            dependencies,
            dependency_spans,
            malformed_for_the_engine,
            citations: citations(&citations_text),
            citations_text,
            own_citations,
            estimated_effort: take(Field::EstimatedEffort),
            id: self.heading.id,
            title: self.heading.title,
            line: self.heading.id_span.line,
            id_span: self.heading.id_span,
            section: self.heading.section,
            annotations: self.annotations,
        }
    }

    fn dependencies(&mut self, findings: &mut Findings) -> (Vec<TaskId>, Vec<Span>) {
        let Some(field) = self.text(Field::Dependencies).take() else {
            return (Vec::new(), Vec::new());
        };
        match dependencies::read(field.as_str()) {
            Ok(named) => {
                let spans = field.spans(named.iter().map(|named| named.at.clone()));
                (named.into_iter().map(|named| named.id).collect(), spans)
            }
            Err(problem) => {
                let spot = Spot::span(BundleFile::Tasks, field.span(problem.at));
                findings.add(Check::DependencyText, spot, problem.message, problem.help);
                (Vec::new(), Vec::new())
            }
        }
    }
}

/// Returns whether an effort says how long (`contract/core.md §1.10`).
fn names_an_effort(text: &str) -> bool {
    text.contains("half") || text.contains(|character: char| character.is_ascii_digit())
}
