//! A small well-formed bundle, and where the shared corpus lies.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(unreachable_pub, reason = "shared by several test files")]

use std::path::{Path, PathBuf};

use orchestrate_core::identifier::SpecId;
use orchestrate_spec::{Bundle, BundleTexts, Diagnostic, parse_bundle};

pub fn spec(name: &str) -> SpecId {
    SpecId::parse(name).expect("a spec id")
}

pub fn header(title: &str, status: &str) -> String {
    format!(
        "# X — {title}\n\n**Status:** {status}\n**Last reviewed:** 2026-11-29\n**Format-version:** 2\n**Execution:** derived — see the status render\n\n"
    )
}

/// A bundle whose `tasks.md` is its header block and then the given text.
pub fn bundle_with_tasks(body: &str) -> BundleTexts {
    BundleTexts {
        requirements: format!(
            "{}## Goal\n\nTo be small.\n\n## REQ-A — All\n\n- **REQ-A1.1** It SHALL be small.\n  *(Cites: D-1.)*\n\n## Changelog\n\n- 2026-11-29 Born.\n",
            header("Requirements", "Ready")
        )
        .into_bytes(),
        design: format!("{}## Decision log\n\n### D-1: Small (N)\n\n**Decision:** small.\n\n**Alternatives considered:** large.\n\n**Chosen because:** it fits.\n", header("Design", "Ready")).into_bytes(),
        tasks: format!("{}{body}", header("Tasks", "Ready")).into_bytes(),
        test_spec: format!("{}## REQ-A — All\n\n### REQ-A1.1 — small [test]\n\nLook.\n", header("Test spec", "Ready")).into_bytes(),
    }
}

/// The same bundle in format version 1; no line of it moves.
pub fn as_version_1(texts: BundleTexts) -> BundleTexts {
    let older = |bytes: Vec<u8>| {
        String::from_utf8(bytes)
            .expect("text")
            .replace(
                "**Format-version:** 2\n**Execution:** derived — see the status render\n",
                "**Format-version:** 1\n\n",
            )
            .into_bytes()
    };
    BundleTexts {
        requirements: older(texts.requirements),
        design: older(texts.design),
        tasks: older(texts.tasks),
        test_spec: older(texts.test_spec),
    }
}

pub fn task(id: &str, dependencies: &str) -> String {
    format!(
        "### Task {id} — title {id}\n\n- **Deliverables:** one\n  more\n- **Done when:** done\n- **Dependencies:** {dependencies}\n- **Citations:** D-1 · REQ-A1.1\n- **Estimated effort:** 1 day\n\n"
    )
}

pub const PAYLOAD: &str =
    "## Awaiting input\n\n(none yet)\n\n## Deferred\n\n(none yet)\n\n## Out of scope\n\n(none yet)\n";

pub fn parse(texts: &BundleTexts) -> Result<Bundle, Vec<Diagnostic>> {
    parse_bundle(&spec("x"), texts)
}

/// The tasks and their dependencies: `1; 2: 1 3`.
pub fn outline(bundle: &Bundle) -> String {
    let tasks = bundle.tasks.iter().map(|task| {
        let dependencies: Vec<&str> = task
            .dependencies
            .iter()
            .map(orchestrate_core::identifier::TaskId::as_str)
            .collect();
        if dependencies.is_empty() {
            task.id.to_string()
        } else {
            format!("{}: {}", task.id, dependencies.join(" "))
        }
    });
    tasks.collect::<Vec<_>>().join("; ")
}

/// The folder of facts shared between the projects, where this machine has it.
#[expect(
    clippy::disallowed_methods,
    reason = "only tests look for the shared folder, and only through this variable"
)]
pub fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("ORCHESTRATE_SHARED").map_or(beside, PathBuf::from);
    if folder.is_dir() { Some(folder) } else { None }
}

pub fn read_texts(folder: &Path) -> BundleTexts {
    let read = |name: &str| std::fs::read(folder.join(name)).expect("a file of the corpus");
    BundleTexts {
        requirements: read("requirements.md"),
        design: read("design.md"),
        tasks: read("tasks.md"),
        test_spec: read("test-spec.md"),
    }
}
