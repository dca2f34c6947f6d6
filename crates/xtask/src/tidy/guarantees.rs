//! The page of guarantees names, for each guarantee, its bound and tests that are there.

use super::tree::Tree;
use super::{Finding, citations};

/// The page.
const PAGE: &str = "docs/reference/guarantees.md";
/// How a guarantee's paragraph about its bound begins.
const BOUND: &str = "**Bound.** ";
/// How the paragraph that lists its tests begins.
const HELD: &str = "**Held by** ";

/// Finds guarantees without a bound or without a test, and tests that are not there.
pub(super) fn held_by_tests(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.files.get(PAGE) else {
        return vec![Finding::new(PAGE, 0, "is missing")];
    };
    let mut findings = Vec::new();
    let sections = sections(&page.text);
    if sections.is_empty() {
        findings.push(Finding::new(PAGE, 0, "states no guarantee"));
    }
    for section in sections {
        let heading = Finding::new(PAGE, section.line, String::new());
        let mut report = |what: String| {
            findings.push(Finding {
                what,
                ..heading.clone()
            });
        };
        if !section.paragraphs.iter().any(|paragraph| paragraph.starts_with(BOUND)) {
            report(format!("{} has no paragraph {BOUND:?}", section.title));
        }
        let held = section.paragraphs.iter().find(|paragraph| paragraph.starts_with(HELD));
        let cited: Vec<(&str, &str)> = held
            .map(|held| citations::cited_tests(held).collect())
            .unwrap_or_default();
        if cited.is_empty() {
            report(format!("{} cites no test after {HELD:?}", section.title));
        }
        for (path, function) in cited {
            if let Some(what) = citations::missing(tree, path, function) {
                report(format!("{}: {what}", section.title));
            }
        }
    }
    findings
}

/// One guarantee.
struct Section<'a> {
    title: &'a str,
    line: usize,
    paragraphs: Vec<&'a str>,
}

/// Returns the sections whose heading has a number: the others are about the page itself.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut is_open = false;
    let mut line = 1;
    for paragraph in text.split("\n\n") {
        let blank = paragraph.len() - paragraph.trim_start_matches('\n').len();
        let body = paragraph.trim_matches('\n');
        if let Some(title) = body.strip_prefix("## ") {
            is_open = title.starts_with(|letter: char| letter.is_ascii_digit());
            if is_open {
                sections.push(Section {
                    title,
                    line: line + blank,
                    paragraphs: Vec::new(),
                });
            }
        } else if is_open && let Some(section) = sections.last_mut() {
            section.paragraphs.push(body);
        }
        line += paragraph.matches('\n').count() + 2;
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# Guarantees\n\nIntro.\n\n## 1. It holds\n\nSo it is.\n\n**Bound.** Always.\n\n\
                        **Held by** `tests/e2e/a.rs::it_holds`.\n\n## What is not guaranteed\n\nMuch.\n";

    fn findings(page: &str) -> Vec<String> {
        let test = "#[test]\nfn it_holds() {}\nfn other() {}\n";
        let tree = Tree::sample(&[(PAGE, page), ("tests/e2e/a.rs", test)]);
        held_by_tests(&tree).iter().map(Finding::render).collect()
    }

    #[test]
    fn a_guarantee_with_bound_and_test_is_left_alone() {
        assert_eq!(findings(GOOD), [""; 0]);
    }

    #[test]
    fn what_a_guarantee_lacks_is_found_at_its_heading() {
        let at = |what: &str| format!("{PAGE}:5: 1. It holds{what}");
        for (from, to, what) in [
            ("**Bound.** ", "Bound: ", " has no paragraph \"**Bound.** \""),
            ("**Held by** ", "By ", " cites no test after \"**Held by** \""),
            ("a.rs::it_holds", "b.rs::it_holds", ": there is no tests/e2e/b.rs"),
            ("a.rs::it_holds", "a.rs::other", ": tests/e2e/a.rs has no test other"),
        ] {
            assert_eq!(findings(&GOOD.replace(from, to)), [at(what)], "{to}");
        }
        assert_eq!(findings("# Guarantees\n").len(), 1);
        assert_eq!(held_by_tests(&Tree::sample(&[])).len(), 1);
    }
}
