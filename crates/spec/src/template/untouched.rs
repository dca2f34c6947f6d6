//! What in a bundle still says, word for word, what the template says.
//!
//! The sentences are compared, not the headings above them nor how the lines break: another title does not make a
//! placeholder a decision.

use core::fmt;

use super::filled;
use crate::outline::{Part, outline};
use crate::text::is_fence;
use crate::{Bundle, BundleFile, BundleFiles, BundleTexts, Decision, Task, TestEntry, examine};

/// A part that is still as the template has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untouched {
    /// The file.
    pub file: BundleFile,
    /// The line of the part's heading or bullet, counted from 1.
    pub line: u32,
    /// What it is, as in `REQ-A1.1` or `D-1, Chosen because`.
    pub part: String,
    /// It is a whole requirement, decision or task: a bundle with it means nothing yet.
    pub is_essential: bool,
}

impl fmt::Display for Untouched {
    /// `requirements.md:21: REQ-A1.1 is still as orchestrate new wrote it`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, part, .. } = self;
        write!(formatter, "{file}:{line}: {part} is still as orchestrate new wrote it")
    }
}

/// Returns the goal, requirements, decisions, tasks and tests that are still as the template has them, in file order.
/// `bundle` is what the texts were read as.
#[must_use]
pub fn untouched(bundle: &Bundle, texts: &BundleTexts) -> Vec<Untouched> {
    let template = filled(&bundle.title, "2000-01-01");
    // The template reads: its test shows it.
    let Some(model) = examine(&bundle.spec, &BundleFiles::from(template.clone())).bundle else {
        return Vec::new();
    };
    let mut found = Vec::new();
    found.extend(goal(bundle, texts, &model));
    for requirement in &bundle.requirements {
        let sentence = |text: &str| text.split("*(Cites:").next().unwrap_or_default().to_owned();
        let text = sentence(&requirement.text);
        if model
            .requirements
            .iter()
            .any(|each| is_same(&sentence(&each.text), &text))
        {
            found.push(Untouched {
                file: BundleFile::Requirements,
                line: requirement.line,
                part: requirement.id.clone(),
                is_essential: true,
            });
        }
    }
    for decision in &bundle.decisions {
        let paragraphs = |of: fn(&Decision) -> &str| model.decisions.iter().any(|each| is_same(of(each), of(decision)));
        let same = [
            ("Decision", paragraphs(|each| &each.decision)),
            ("Alternatives considered", paragraphs(|each| &each.alternatives)),
            ("Chosen because", paragraphs(|each| &each.chosen_because)),
        ];
        found.extend(pieces(BundleFile::Design, decision.line, &decision.id, &same));
    }
    for task in &bundle.tasks {
        let bullets = |of: fn(&Task) -> &str| model.tasks.iter().any(|each| is_same(of(each), of(task)));
        let same = [
            ("Deliverables", bullets(|each| &each.deliverables)),
            ("Done when", bullets(|each| &each.done_when)),
        ];
        found.extend(pieces(
            BundleFile::Tasks,
            task.line,
            &format!("Task {}", task.id),
            &same,
        ));
    }
    found.extend(tests_of(bundle, texts, &model, &template));
    found
}

fn goal(bundle: &Bundle, texts: &BundleTexts, model: &Bundle) -> Option<Untouched> {
    let is_goal = |part: &Part| part.file == BundleFile::Requirements && part.title == "Goal";
    let line = outline(texts).into_iter().find(is_goal).map_or(1, |part| part.line);
    is_same(&bundle.goal, &model.goal).then(|| Untouched {
        file: BundleFile::Requirements,
        line,
        part: "the goal".to_owned(),
        is_essential: false,
    })
}

fn tests_of(bundle: &Bundle, texts: &BundleTexts, model: &Bundle, template: &BundleTexts) -> Vec<Untouched> {
    let known = |line| below(&template.test_spec, line);
    let known: Vec<String> = model.tests.iter().map(|test| known(test.line)).collect();
    let is_known = |text: &str| known.iter().any(|each| is_same(each, text));
    let untouched = bundle
        .tests
        .iter()
        .filter(|test| is_known(&below(&texts.test_spec, test.line)));
    let told = |test: &TestEntry| Untouched {
        file: BundleFile::TestSpec,
        line: test.line,
        part: format!("the test of {}", test.requirements.first().unwrap_or(&test.heading)),
        is_essential: false,
    };
    untouched.map(told).collect()
}

/// Returns the whole where all of its pieces are untouched, else those that are.
fn pieces(file: BundleFile, line: u32, name: &str, same: &[(&str, bool)]) -> Vec<Untouched> {
    let one = |part: String, is_essential| Untouched {
        file,
        line,
        part,
        is_essential,
    };
    if same.iter().all(|(_, same)| *same) {
        return vec![one(name.to_owned(), true)];
    }
    let same = same.iter().filter(|(_, same)| *same);
    same.map(|(piece, _)| one(format!("{name}, {piece}"), false)).collect()
}

fn is_same(left: &str, right: &str) -> bool {
    left.split_whitespace().eq(right.split_whitespace())
}

/// Returns the text below the heading on that line, up to the next one.
fn below(bytes: &[u8], line: u32) -> String {
    let text = String::from_utf8_lossy(bytes);
    let skipped = usize::try_from(line).unwrap_or(usize::MAX);
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines().skip(skipped) {
        if line.starts_with('#') && !fenced {
            break;
        }
        fenced ^= is_fence(line.as_bytes());
        lines.push(line);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use orchestrate_core::identifier::SpecId;

    use super::*;
    use crate::parse_bundle;
    use crate::template::new_bundle;

    fn found(edits: &[(BundleFile, &str, &str)]) -> Vec<(String, bool)> {
        let mut texts = new_bundle("Billing", "2026-11-30").expect("a bundle");
        for (file, from, to) in edits {
            let bytes = match file {
                BundleFile::Requirements => &mut texts.requirements,
                BundleFile::Design => &mut texts.design,
                BundleFile::Tasks => &mut texts.tasks,
                BundleFile::TestSpec | BundleFile::KickoffBrief => &mut texts.test_spec,
            };
            let text = String::from_utf8(bytes.clone()).expect("text");
            assert!(text.contains(from), "{from}");
            *bytes = text.replace(from, to).into_bytes();
        }
        let spec = SpecId::parse("billing").expect("a name");
        let bundle = parse_bundle(&spec, &texts).expect("it reads");
        let found = untouched(&bundle, &texts).into_iter();
        found.map(|each| (each.part, each.is_essential)).collect()
    }

    fn parts(edits: &[(BundleFile, &str, &str)]) -> Vec<String> {
        found(edits).into_iter().map(|(part, _)| part).collect()
    }

    /// Verifies REQ-B3.3.
    #[test]
    fn a_new_bundle_is_untouched_in_every_part() {
        let expected = [
            ("the goal", false),
            ("REQ-A1.1", true),
            ("REQ-A1.2", true),
            ("D-1", true),
            ("Task 1", true),
            ("Task 2", true),
            ("the test of REQ-A1.1", false),
            ("the test of REQ-A1.2", false),
        ];
        assert_eq!(
            found(&[]),
            expected.map(|(part, essential)| (part.to_owned(), essential))
        );
    }

    #[test]
    fn headings_ids_citations_and_line_breaks_do_not_count() {
        let edits = [
            (BundleFile::Design, "A short name for the first decision", "Shell"),
            (BundleFile::Tasks, "the smallest part that stands on its own", "greet"),
            (
                BundleFile::Requirements,
                "can check, with the\n  decision",
                "can check, with\n  the decision",
            ),
            (BundleFile::Requirements, "*(Cites: D-1, REQ-A1.1.)*", "*(Cites: D-1.)*"),
        ];
        assert_eq!(parts(&edits), parts(&[]));
    }

    #[test]
    fn what_was_written_over_is_not_named() {
        let without = |edits: &[(BundleFile, &str, &str)]| {
            let left = parts(edits);
            parts(&[])
                .into_iter()
                .filter(|part| !left.contains(part))
                .collect::<Vec<_>>()
        };
        let goal = [(BundleFile::Requirements, "for whom", "for me")];
        assert_eq!(without(&goal), ["the goal"]);
        let requirement = [(BundleFile::Requirements, "One sentence about the result", "The result")];
        assert_eq!(without(&requirement), ["REQ-A1.1"]);
        assert_eq!(
            without(&[(BundleFile::TestSpec, "The steps for a person", "Look")]),
            ["the test of REQ-A1.2"]
        );
        let task = [(BundleFile::Tasks, "the next part.", "the usage line.")];
        assert_eq!(without(&task), ["Task 2"]);
        assert!(found(&task).contains(&("Task 2, Done when".to_owned(), false)));
        let decision = [(
            BundleFile::Design,
            "What is done, in one or two sentences.",
            "A shell script.",
        )];
        assert!(found(&decision).contains(&("D-1, Chosen because".to_owned(), false)));
        assert_eq!(without(&decision), ["D-1"]);
    }

    #[test]
    fn a_part_names_its_line() {
        let texts = new_bundle("Billing", "2026-11-30").expect("a bundle");
        let spec = SpecId::parse("billing").expect("a name");
        let bundle = parse_bundle(&spec, &texts).expect("it reads");
        for each in untouched(&bundle, &texts) {
            let (_, bytes) = texts
                .files()
                .into_iter()
                .find(|(file, _)| *file == each.file)
                .expect("the file");
            let text = String::from_utf8(bytes.to_vec()).expect("text");
            let line = usize::try_from(each.line).expect("a number");
            let line = text.lines().nth(line - 1).expect("a line").to_lowercase();
            let id = each.part.rsplit(' ').next().expect("a word").to_lowercase();
            assert!(line.contains(&id), "{each}: {line}");
        }
    }
}
