//! Header blocks: what each file declares, and what the others must mirror.

use orchestrate_spec::BundleFile::{Design, Requirements, Tasks, TestSpec};
use orchestrate_spec::{BundleFile, BundleFiles, FileText, examine};

use crate::common::spec;
use crate::{edited, findings, good, shown, with_file};

fn shown_of(files: &BundleFiles) -> Vec<String> {
    findings(files).iter().map(shown).collect()
}

fn requirements(from: &str, to: &str) -> Vec<String> {
    shown_of(&edited(good("Ready"), Requirements, from, to))
}

fn design(from: &str, to: &str) -> Vec<String> {
    shown_of(&edited(good("Ready"), Design, from, to))
}

/// The three warnings that the mirrors of a lost or changed status give.
fn mirrors(resolved: &str) -> [String; 3] {
    ["design.md", "tasks.md", "test-spec.md"]
        .map(|file| format!("WARN {file}: Status mirror mismatch: Ready (requirements.md resolves {resolved})"))
}

#[test]
fn the_status_of_the_requirements() {
    let missing = "WARN missing Status: header (defaulting to Draft)".to_owned();
    let mut expected = vec![missing.clone()];
    expected.extend(mirrors("Draft"));
    assert_eq!(requirements("**Status:** Ready\n", ""), expected);
    // A comment or a fence ends the header block.
    for start in ["<!-- x -->\n", "```\n```\n"] {
        let found = requirements("**Status:** Ready\n", &format!("{start}**Status:** Ready\n"));
        assert_eq!(found[0], missing, "{found:?}");
        assert!(found.contains(&"ERROR missing or empty Format-version: declaration (expected 1 or 2)".to_owned()));
    }
    assert_eq!(requirements("Ready", "Draft"), mirrors("Draft"));
    let twice = requirements("**Status:** Ready\n", "**Status:** Ready\n**Status:** Ready\n");
    assert_eq!(
        twice[0],
        "ERROR requirements.md: unparseable Status: declaration (more than one in-header declaration, the second at line 4)"
    );
    assert_eq!(twice[1..], expected[..]);
    let unknown = requirements("Ready", "Reedy");
    assert_eq!(unknown[..3], mirrors("Reedy"));
    assert_eq!(
        unknown[3],
        "ERROR unknown status: Reedy (expected Draft, Ready, Retired or Superseded)"
    );
    assert_eq!(requirements("Ready", "Ready\u{200b}  "), [""; 0]);
    for status in ["Active", "Done"] {
        assert_eq!(
            shown_of(&good(status)),
            [format!(
                "ERROR stored status {status} is derived in format-version 2 (store Draft, Ready, Retired or Superseded)"
            )]
        );
    }
    assert_eq!(
        shown_of(&good("Superseded")),
        ["ERROR Superseded status requires a **Superseded-by:** pointer"]
    );
    let named = edited(
        good("Superseded"),
        Requirements,
        "## Goal",
        "**Superseded-by:** specs/y/\n\n## Goal",
    );
    assert_eq!(shown_of(&named), [""; 0]);
}

#[test]
fn the_version_of_the_requirements() {
    let three_mirrors = |value: &str| {
        ["design.md", "tasks.md", "test-spec.md"]
            .map(|file| format!("ERROR {file}: Format-version mirror mismatch: 2 (requirements.md declares {value})"))
    };
    for (value, message) in [
        ("x2", "ERROR unparseable format-version: x2 (expected 1 or 2)"),
        ("3", "ERROR unsupported format-version: 3 (1 and 2 are supported)"),
        ("02", "ERROR unsupported format-version: 02 (1 and 2 are supported)"),
        ("2 2", "ERROR unparseable format-version: 2 2 (expected 1 or 2)"),
    ] {
        let found = requirements("version:** 2", &format!("version:** {value}"));
        assert_eq!(found[..3], three_mirrors(value), "{value}");
        assert_eq!(found[3..], [message], "{value}");
    }
    let missing = "ERROR missing or empty Format-version: declaration (expected 1 or 2)";
    assert_eq!(requirements("**Format-version:** 2\n", ""), [missing]);
    assert_eq!(
        requirements("version:** 2", "version:** ").last().map(String::as_str),
        Some(missing)
    );
    let twice = requirements("**Format", "**Format-version:** 2\n**Format");
    assert_eq!(
        twice,
        [
            "ERROR requirements.md: unparseable Format-version: declaration (more than one in-header declaration, the second at line 6)",
            missing,
        ]
    );
    // Without a known version there is no bundle.
    let files = edited(good("Draft"), Requirements, "**Format-version:** 2\n", "");
    assert!(examine(&spec("x"), &files).bundle.is_none());
}

#[test]
fn what_the_siblings_mirror() {
    assert_eq!(
        design("Ready", "Draft"),
        ["ERROR design.md: Status mirror mismatch: Draft (requirements.md resolves Ready)"]
    );
    assert_eq!(
        design("**Status:** Ready\n", ""),
        ["ERROR design.md: missing Status: header (mirror of requirements.md)"]
    );
    assert_eq!(
        design("**Format-version:** 2\n", ""),
        ["ERROR design.md: missing Format-version: header (requirements.md declares 2)"]
    );
    assert_eq!(
        design("**Status:** Ready\n", "**Status:** Ready\n**Status:** Ready\n"),
        [
            "ERROR design.md: unparseable Status: declaration (more than one in-header declaration, the second at line 4)",
            "ERROR design.md: missing Status: header (mirror of requirements.md)",
        ]
    );
}

#[test]
fn the_execution_line() {
    for (from, to, message) in [
        (
            "derived — see the status render\n",
            "derived — see the status render \n",
            "non-canonical",
        ),
        ("**Execution:** derived — see the status render\n", "", "missing"),
        (
            "**Execution:** derived — see the status render\n",
            "```\n**Execution:** derived — see the status render\n```\n",
            "missing",
        ),
    ] {
        let found = design(from, to);
        assert!(
            found[0].starts_with(&format!("ERROR design.md: {message} ")),
            "{to}: {found:?}"
        );
    }
    let moved = edited(
        good("Ready"),
        Design,
        "**Execution:** derived — see the status render\n",
        "",
    );
    let moved = edited(
        moved,
        Design,
        "small.",
        "small.\n\n**Execution:** derived — see the status render\n",
    );
    assert_eq!(shown_of(&moved), [""; 0]);
}

fn without(files: BundleFiles, missing: &[BundleFile]) -> BundleFiles {
    missing
        .iter()
        .fold(files, |files, file| with_file(files, *file, FileText::Missing))
}

#[test]
fn missing_files() {
    // Severity then comes from the first sibling that declares a status.
    for (status, word) in [("Ready", "ERROR"), ("Draft", "WARN")] {
        let found = shown_of(&without(good(status), &[Requirements]));
        assert_eq!(found, [format!("{word} missing file: requirements.md")]);
        let found = shown_of(&without(good(status), &[TestSpec, Tasks]));
        assert_eq!(
            found,
            [
                format!("{word} missing file: tasks.md"),
                format!("{word} missing file: test-spec.md")
            ]
        );
    }
    let draft = examine(&spec("x"), &without(good("Draft"), &[Requirements, Tasks, TestSpec]));
    let bundle = draft.bundle.expect("without an error there is a bundle");
    assert_eq!((bundle.tasks.len(), bundle.decisions.len()), (0, 1));
    let mixed = edited(without(good("Draft"), &[Requirements]), TestSpec, "Draft", "Ready");
    assert_eq!(
        shown_of(&mixed)[1..],
        ["WARN test-spec.md: Status mirror mismatch: Ready (requirements.md resolves Draft)"]
    );
    let mut empty: Vec<String> = ["requirements.md", "design.md", "tasks.md", "test-spec.md"]
        .map(|file| format!("WARN missing file: {file}"))
        .to_vec();
    empty.push("ERROR missing or empty Format-version: declaration (expected 1 or 2)".to_owned());
    assert_eq!(
        shown_of(&without(good("Ready"), &[Requirements, Design, Tasks, TestSpec])),
        empty
    );
}

#[test]
fn torn_versions_without_requirements() {
    let torn = edited(
        without(good("Ready"), &[Requirements]),
        Tasks,
        "version:** 2",
        "version:** 1",
    );
    assert_eq!(
        shown_of(&torn),
        [
            "ERROR missing file: requirements.md",
            "ERROR conflicting Format-version declarations across sibling files (design.md: 2, tasks.md: 1, test-spec.md: 2)",
        ]
    );
}
