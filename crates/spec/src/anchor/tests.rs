//! The golden vectors of the contract, and what cannot be hashed.

use super::*;

fn g1() -> BundleTexts {
    let head = |title: &str| format!("# {title}\n\n**Status:** Ready\n**Format-version:** 2\n\n");
    let fields = |first: &str, rest: &str| format!("- **Deliverables:** {first}\n- **Done when:** {rest}");
    let two = fields(
        "two\n  more",
        "x\n- **Status:** nope\n- **Dependencies:** 1\n- **Citations:** D-1\n- **Estimated effort:** 1 day\n\n",
    );
    let one = fields(
        "one",
        "y\n- **Dependencies:** none\n- **Citations:** D-1\n- **Estimated effort:** half day\n\n",
    );
    let payload = "## Awaiting input\n\n(none yet)\n\n## Deferred\n\n(none yet)\n\n## Out of scope\n\n(none yet)\n";
    BundleTexts {
        requirements: format!("{}req body\n", head("R")).into_bytes(),
        design: format!("{}des body\n", head("D")).into_bytes(),
        tasks: format!(
            "{}## Tasks\n\n### Task 2 — b\n\n{two}### Task 1 — a\n\n{one}{payload}",
            head("T")
        )
        .into_bytes(),
        test_spec: format!("{}tst body", head("S")).into_bytes(),
    }
}

fn with_requirements(text: &str) -> BundleTexts {
    BundleTexts {
        requirements: text.as_bytes().to_vec(),
        ..g1()
    }
}

fn edited(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    String::from_utf8(bytes.to_vec())
        .expect("text")
        .replace(from, to)
        .into_bytes()
}

fn reason(texts: &BundleTexts) -> (BundleFile, AnchorErrorReason, u8) {
    let error = content_anchor(texts).expect_err("no anchor");
    (error.file, error.reason, error.exit_class())
}

/// Verifies REQ-B1.4.
#[test]
fn golden_vectors_of_the_contract() {
    let g1 = g1();
    let g2 = BundleTexts {
        requirements: edited(&g1.requirements, "Ready", "Draft"),
        design: edited(&g1.design, "Ready", "Draft"),
        tasks: edited(&g1.tasks, "Ready", "Draft"),
        test_spec: edited(&g1.test_spec, "Ready", "Draft"),
    };
    let g3 = BundleTexts {
        requirements: edited(&g1.requirements, "**Status:** Ready\n", ""),
        ..g1.clone()
    };
    let g4 = with_requirements("**Status:** Ready\nbody\n");
    let g7 = BundleTexts {
        requirements: edited(&g1.requirements, "\n", "\r\n"),
        ..g1.clone()
    };
    let unchanged = "5181af5c9db27000816dcfe7c10b3f832f6d15fd";
    let cases = [
        (g1, unchanged, "630ae86d37437409ae2cecb721530efc1ccff337"),
        (g2, unchanged, "703935200deac6bd70b810723f5f5ed0c4b4004f"),
        (g3, unchanged, "08992693a91c376a39b0da239d3bbfccb15c8b92"),
        (
            g4,
            "9d8d356fa1737b3056fa2a2b50e22cf52ada250b",
            "203c98a5dff580f4249c3a0ddf14e3affc6827f8",
        ),
        (
            g7,
            "40ba495e1b277fd5b7976e95bb61a4ff8c7722d5",
            "ad52705fd03c940c6382c18db1da1d740ad2c133",
        ),
    ];
    for (number, (texts, content, snapshot)) in cases.into_iter().enumerate() {
        assert_eq!(content_anchor(&texts).as_deref(), Ok(content), "case {number}");
        assert_eq!(snapshot_anchor(&texts).as_deref(), Ok(snapshot), "case {number}");
    }
    // g5, g6
    for text in ["body first\n**Status:** Ready\n", "# only\n**Status:** Ready\n", ""] {
        let texts = with_requirements(text);
        assert_eq!(
            reason(&texts),
            (BundleFile::Requirements, AnchorErrorReason::Header, 4),
            "{text:?}"
        );
        assert!(snapshot_anchor(&texts).is_ok(), "{text:?}");
    }
}

/// Verifies REQ-B1.6.
#[test]
fn parts_of_the_golden_vector() {
    let g1 = g1();
    assert_eq!(
        blob_hash(&without_status_line(&g1.requirements).expect("text")),
        "aa6d5d8258dae14e2b549dd4bd06c0c907cbb35d"
    );
    assert_eq!(
        blob_hash(&definitions(&g1.tasks, Fences::Skipped).expect("tasks")),
        "f46a4c02be76d9392d3975c1e84e5516ba1ede01"
    );
    assert_eq!(blob_hash(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}

#[test]
fn what_cannot_be_hashed_has_the_exit_class_of_the_contract() {
    let with_tasks = |text: &str| BundleTexts {
        tasks: text.as_bytes().to_vec(),
        ..g1()
    };
    assert_eq!(
        reason(&with_requirements("**Status:** a\nb\0")),
        (BundleFile::Requirements, AnchorErrorReason::Nul, 1)
    );
    assert_eq!(
        reason(&with_requirements("**Status:** a\n**Status:** a\nb")),
        (BundleFile::Requirements, AnchorErrorReason::DuplicateStatus, 3)
    );
    assert_eq!(
        reason(&with_tasks("a\0")),
        (BundleFile::Tasks, AnchorErrorReason::Nul, 1)
    );
    for text in [
        "### Task 1 — a\n### Task 01 — b\n",
        "### Task 2 — a\n### Task 2.0 — b\n",
        "### Task 1 — a\n### Task 1: b\n",
    ] {
        assert_eq!(
            reason(&with_tasks(text)),
            (BundleFile::Tasks, AnchorErrorReason::DuplicateTask, 1),
            "{text}"
        );
    }
    assert_eq!(
        reason(&with_tasks("```\n")),
        (BundleFile::Tasks, AnchorErrorReason::OpenFence, 3)
    );
}

#[test]
fn definitions_are_sorted_and_without_noise() {
    let source = "### Task 10 — d\n### Task 2.5 — b\n- **Deliverables:** x\n\n  lost\n- **Done when:** y\n\tkept\nprose\n  lost\n- **Status:** s\n  lost\n#### Task 3\n### Task x\n- **Citations:** lost\n```\n### Task 4 — fenced\n```\n## Deferred\n- **Citations:** lost\n### Task 2 — a\r\n- **Dependencies:** 1\r\n### Task 9 — c";
    let expected = "### Task 2 — a\r\n- **Dependencies:** 1\r\n### Task 2.5 — b\n- **Deliverables:** x\n- **Done when:** y\n\tkept\n### Task 9 — c\n### Task 10 — d\n";
    let found = definitions(source.as_bytes(), Fences::Skipped).expect("definitions");
    assert_eq!(String::from_utf8(found).expect("text"), expected);
    let blind = definitions(source.as_bytes(), Fences::Read).expect("definitions");
    assert!(
        String::from_utf8(blind)
            .expect("text")
            .contains("### Task 4 — fenced\n")
    );
}

#[test]
fn the_whole_file_form_counts_every_byte() {
    let before = whole_files_anchor(&g1());
    let after = whole_files_anchor(&BundleTexts {
        requirements: edited(&g1().requirements, "Ready", "Draft"),
        ..g1()
    });
    assert_ne!(before, after);
    let hashes = "aaaa\nbbbb\n";
    assert_eq!(
        hash_of_hashes(&["aaaa".to_owned(), "bbbb".to_owned()]),
        blob_hash(hashes.as_bytes())
    );
}
