//! The founding bundle and the tests say the same, in both directions.
//!
//! A test says above its function which requirements it verifies (`/// Verifies REQ-A1.3 and REQ-C1.1.`). The entry in
//! `test-spec.md` lists tests by file and function, or names the task that brings them (`Waits for Task 21.`).

use std::collections::BTreeMap;

use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_spec::{Bundle, BundleFile, BundleTexts, TestEntry, parse_bundle};

use super::tree::Tree;
use super::{Finding, citations};

/// The bundle whose requirements are the product's own.
const SPEC: &str = "orchestrate";
/// How a test's documentation names what it verifies.
const VERIFIES: &str = "/// Verifies ";
/// How an entry without a test names the task that brings one.
const WAITS: &str = "Waits for Task ";

/// What one test says of itself.
#[derive(Debug)]
struct Claim<'a> {
    path: &'a str,
    line: usize,
    /// The test's function; nothing when the line does not stand above one.
    function: Option<&'a str>,
    /// The words that stand where ids belong.
    requirements: Vec<&'a str>,
}

/// Finds requirements that no test names, and tests that name no requirement.
pub(super) fn named_by_tests(tree: &Tree) -> Vec<Finding> {
    let bundle = match own_bundle(tree) {
        Ok(bundle) => bundle,
        Err(findings) => return findings,
    };
    let claims = claims(tree);
    let mut findings: Vec<Finding> = claims.iter().flat_map(|claim| judge_claim(claim, &bundle)).collect();
    let mut entries: BTreeMap<&str, (&TestEntry, String)> = BTreeMap::new();
    for (entry, body) in bodies(tree, &bundle) {
        for requirement in &entry.requirements {
            entries.insert(requirement, (entry, body.clone()));
        }
    }
    for requirement in bundle.requirements.iter().filter(|requirement| !requirement.superseded) {
        match entries.get(requirement.id.as_str()) {
            None => findings.push(Finding::new(
                &file(BundleFile::TestSpec),
                0,
                format!("{} has no entry", requirement.id),
            )),
            Some((entry, body)) => {
                let judged = judge_entry(tree, &bundle, &claims, &requirement.id, entry, body);
                let at = usize::try_from(entry.line).unwrap_or_default();
                findings.extend(
                    judged
                        .into_iter()
                        .map(|what| Finding::new(&file(BundleFile::TestSpec), at, what)),
                );
            }
        }
    }
    findings
}

fn file(file: BundleFile) -> String {
    format!("specs/{SPEC}/{file}")
}

fn own_bundle(tree: &Tree) -> Result<Bundle, Vec<Finding>> {
    let mut missing = Vec::new();
    let mut text = |wanted: BundleFile| match tree.files.get(&file(wanted)) {
        Some(found) => found.text.clone().into_bytes(),
        None => {
            missing.push(Finding::new(&file(wanted), 0, "is missing"));
            Vec::new()
        }
    };
    let texts = BundleTexts {
        requirements: text(BundleFile::Requirements),
        design: text(BundleFile::Design),
        tasks: text(BundleFile::Tasks),
        test_spec: text(BundleFile::TestSpec),
    };
    if !missing.is_empty() {
        return Err(missing);
    }
    let spec = SpecId::parse(SPEC).map_err(|error| vec![Finding::new(SPEC, 0, error.to_string())])?;
    parse_bundle(&spec, &texts).map_err(|diagnostics| {
        let finding = |diagnostic: &orchestrate_spec::Diagnostic| {
            let line = diagnostic.line.and_then(|line| usize::try_from(line).ok());
            Finding::new(
                &file(diagnostic.file),
                line.unwrap_or_default(),
                diagnostic.message.as_str(),
            )
        };
        diagnostics.iter().map(finding).collect()
    })
}

/// Returns each entry of `test-spec.md` with the lines below its heading.
fn bodies<'a>(tree: &Tree, bundle: &'a Bundle) -> Vec<(&'a TestEntry, String)> {
    let text = tree
        .files
        .get(&file(BundleFile::TestSpec))
        .map_or("", |file| file.text.as_str());
    let lines: Vec<&str> = text.lines().collect();
    let body = |entry: &TestEntry| {
        let start = usize::try_from(entry.line).unwrap_or(usize::MAX);
        let below = lines.iter().skip(start);
        below
            .take_while(|line| !line.starts_with("## ") && !line.starts_with("### "))
            .copied()
            .collect::<Vec<_>>()
            .join("\n")
    };
    bundle.tests.iter().map(|entry| (entry, body(entry))).collect()
}

fn claims(tree: &Tree) -> Vec<Claim<'_>> {
    let mut claims = Vec::new();
    for (path, file) in tree.files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            if let Some(named) = line.strip_prefix(VERIFIES) {
                claims.push(Claim {
                    path,
                    line: index + 1,
                    function: test_below(&lines, index),
                    requirements: words(named),
                });
            }
        }
    }
    claims
}

/// Returns the ids of `REQ-A1.3, REQ-A1.4 and REQ-C1.1.`.
fn words(named: &str) -> Vec<&str> {
    named
        .split_whitespace()
        .filter(|word| *word != "and")
        .map(|word| word.trim_end_matches([',', '.']))
        .collect()
}

/// Returns the name of the test function that the documentation line at that index belongs to.
fn test_below<'a>(lines: &[&'a str], index: usize) -> Option<&'a str> {
    let above = lines.get(..index)?.iter().rev();
    let below = lines.get(index..)?.iter().take_while(|line| !line.is_empty());
    let mut is_test = above
        .take_while(|line| line.starts_with("#[") || line.starts_with("///"))
        .any(|line| *line == "#[test]");
    for line in below {
        is_test |= *line == "#[test]";
        if let Some(rest) = line.strip_prefix("fn ") {
            return rest.split('(').next().filter(|_| is_test);
        }
    }
    None
}

fn judge_claim(claim: &Claim<'_>, bundle: &Bundle) -> Vec<Finding> {
    let mut wrong = Vec::new();
    if claim.function.is_none() {
        wrong.push("does not stand above a test".to_owned());
    }
    if claim.requirements.is_empty() {
        wrong.push("names no requirement".to_owned());
    }
    for id in &claim.requirements {
        match bundle.requirement(id) {
            None => wrong.push(format!("{id} is no requirement of specs/{SPEC}")),
            Some(requirement) if requirement.superseded => wrong.push(format!("{id} is superseded")),
            Some(_) => {}
        }
    }
    let finding = |what| Finding::new(claim.path, claim.line, what);
    wrong.into_iter().map(finding).collect()
}

/// Returns what is wrong with the entry of one requirement.
fn judge_entry(
    tree: &Tree,
    bundle: &Bundle,
    claims: &[Claim<'_>],
    id: &str,
    entry: &TestEntry,
    body: &str,
) -> Vec<String> {
    let named = claims.iter().any(|claim| claim.requirements.contains(&id));
    let mut wrong: Vec<String> = citations::cited_tests(body)
        .filter_map(|(path, function)| judge_citation(tree, claims, id, path, function))
        .collect();
    let is_tested = entry.tags.iter().any(|tag| tag == "test");
    let waits = waits_for(body);
    match waits.as_deref() {
        Some(task) if !TaskId::parse(task).is_ok_and(|task| bundle.task(&task).is_some()) => {
            wrong.push(format!("{id} waits for task {task}, which there is not"));
        }
        Some(task) if named => wrong.push(format!("{id} is named by a test and does not wait for task {task}")),
        None if is_tested && !named => wrong.push(format!("{id} is [test], and no test says `Verifies {id}.`")),
        Some(_) | None => {}
    }
    wrong
}

fn judge_citation(tree: &Tree, claims: &[Claim<'_>], id: &str, path: &str, function: &str) -> Option<String> {
    if let Some(what) = citations::missing(tree, path, function) {
        return Some(format!("{id}: {what}"));
    }
    let says_so = claims
        .iter()
        .any(|claim| claim.path == path && claim.function == Some(function) && claim.requirements.contains(&id));
    (!says_so).then(|| format!("{id}: {path}::{function} does not say `Verifies {id}.`"))
}

fn waits_for(body: &str) -> Option<String> {
    let words: Vec<&str> = body.split_whitespace().collect();
    let text = words.join(" ");
    let (_, rest) = text.split_once(WAITS)?;
    Some(
        rest.split(' ')
            .next()
            .unwrap_or_default()
            .trim_end_matches('.')
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "# O — X\n\n**Status:** Draft\n**Last reviewed:** 2026-11-29\n**Format-version:** 2\n\
                          **Execution:** derived — see the status render\n\n";
    const ENTRY: &str = "### REQ-A1.1 — it holds [test]\n\nIt is tried.\n\n- `tests/e2e/a.rs::it_holds`\n";
    const TEST: &str = "/// Verifies REQ-A1.1.\n#[test]\nfn it_holds() {}\n";

    /// Returns what is found in a bundle of one requirement with that entry, and one file of tests.
    fn findings(entry: &str, test: &str) -> Vec<String> {
        let requirements = format!(
            "{HEADER}## Goal\n\nX.\n\n## Scope\n\n### In scope\n\n- X.\n\n### Out of scope\n\n- Y.\n\n## REQ-A — A\n\n\
             - **REQ-A1.1** It holds. *(Cites: D-1.)*\n\
             - **REQ-A1.2** It held. **Superseded-by: REQ-A1.1** *(Cites: D-1.)*\n\n\
             ## Changelog\n\n- 2026-11-29: first.\n\n## Sources\n\n- None.\n"
        );
        let design = format!(
            "{HEADER}## Decision log\n\n### D-1: x (a)\n\n**Decision:** x\n\n**Alternatives considered:** y\n\n\
             **Chosen because:** z\n"
        );
        let tasks = format!(
            "{HEADER}## Tasks\n\n### Task 1 — do it\n\n- **Deliverables:** x\n- **Done when:** y\n\
             - **Dependencies:** none\n- **Citations:** D-1\n- **Estimated effort:** 1 day\n\n## Awaiting input\n\n\
             (none yet)\n\n## Deferred\n\n(none yet)\n\n## Out of scope\n\n(none yet)\n"
        );
        let test_spec = format!("{HEADER}How.\n\n## REQ-A — A\n\n{entry}");
        let tree = Tree::sample(&[
            ("specs/orchestrate/requirements.md", &requirements),
            ("specs/orchestrate/design.md", &design),
            ("specs/orchestrate/tasks.md", &tasks),
            ("specs/orchestrate/test-spec.md", &test_spec),
            ("tests/e2e/a.rs", test),
        ]);
        named_by_tests(&tree).iter().map(Finding::render).collect()
    }

    #[test]
    fn what_fits_is_left_alone() {
        for test in [
            TEST,
            "/// It does.\n/// Verifies REQ-A1.1.\n#[test]\n#[expect(x)]\nfn it_holds() {}\n",
            "fn other() {}\n\n#[test]\n/// Verifies REQ-A1.1.\nfn it_holds() {}\n",
            "mod tests {\n    /// Verifies REQ-A1.1.\n    #[test]\n    fn it_holds() {\n    }\n}\n",
        ] {
            assert_eq!(findings(ENTRY, test), [""; 0], "{test}");
        }
        let waiting = "### REQ-A1.1 — it holds [test]\n\nIt will be. Waits for\nTask 1.\n";
        assert_eq!(findings(waiting, ""), [""; 0]);
        assert_eq!(findings("### REQ-A1.1 — it holds [manual]\n\nLook.\n", ""), [""; 0]);
    }

    /// Verifies REQ-H1.5.
    #[test]
    fn a_requirement_that_no_test_names_is_found() {
        let entry = "### REQ-A1.1 — it holds [test + manual]\n\nIt is tried.\n";
        assert_eq!(
            findings(entry, "#[test]\nfn it_holds() {}\n"),
            ["specs/orchestrate/test-spec.md:12: REQ-A1.1 is [test], and no test says `Verifies REQ-A1.1.`"]
        );
        let without_entry = findings("### Notes\n\nNone.\n", TEST);
        assert_eq!(without_entry, ["specs/orchestrate/test-spec.md: REQ-A1.1 has no entry"]);
    }

    /// Verifies REQ-H1.5.
    #[test]
    fn a_test_that_names_no_requirement_is_found() {
        for (named, what) in [
            ("REQ-A1.9.", "REQ-A1.9 is no requirement of specs/orchestrate"),
            ("REQ-A1.1 and REQ-A1.2.", "REQ-A1.2 is superseded"),
            ("REQ-A1.1, the law.", "the is no requirement of specs/orchestrate"),
        ] {
            let test = format!("{TEST}\n/// Verifies {named}\n#[test]\nfn another() {{}}\n");
            let found = findings(ENTRY, &test);
            assert!(
                found.contains(&format!("tests/e2e/a.rs:5: {what}")),
                "{named}: {found:?}"
            );
        }
        for stray in [
            "/// Verifies REQ-A1.1.\nfn helper() {}\n",
            "/// Verifies REQ-A1.1.\n\n#[test]\nfn far() {}\n",
        ] {
            let found = findings(ENTRY, &format!("{TEST}\n{stray}"));
            assert_eq!(found, ["tests/e2e/a.rs:5: does not stand above a test"], "{stray}");
        }
    }

    #[test]
    fn an_entry_that_cites_what_is_not_there_is_found() {
        for (from, to) in [
            ("a.rs::it_holds", "b.rs::it_holds"),
            ("a.rs::it_holds", "a.rs::it_held"),
            ("- `tests", "- `tests/e2e/a.rs::other`\n- `tests"),
        ] {
            let test = format!("{TEST}\n#[test]\nfn other() {{}}\n");
            let found = findings(&ENTRY.replace(from, to), &test);
            assert_eq!(found.len(), 1, "{to}: {found:?}");
        }
    }

    #[test]
    fn an_entry_waits_for_a_task_that_is_there_and_only_while_no_test_names_it() {
        let waiting = "### REQ-A1.1 — it holds [test]\n\nWaits for Task 1.\n";
        assert_eq!(findings(waiting, TEST).len(), 1);
        assert_eq!(findings(&waiting.replace("Task 1", "Task 7"), "").len(), 1);
    }

    #[test]
    fn a_bundle_that_is_missing_or_cannot_be_read_is_found() {
        assert_eq!(named_by_tests(&Tree::sample(&[])).len(), 4);
        let broken: Vec<(String, &str)> = BundleFile::AUTHORED
            .iter()
            .map(|name| (file(*name), "nothing\n"))
            .collect();
        let files: Vec<(&str, &str)> = broken.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert!(!named_by_tests(&Tree::sample(&files)).is_empty());
    }
}
