//! The commands that the documents show exist, with the flags they are shown with.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_e2e::sandbox::Sandbox;

use crate::PROGRAM;

/// Returns the documents that a reader starts from.
fn documents() -> Vec<Utf8PathBuf> {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
        .to_path_buf();
    let mut found = vec![root.join("README.md")];
    for directory in ["docs", "docs/guides", "docs/concepts"] {
        let entries = root.join(directory).read_dir_utf8().expect("a directory of documents");
        let paths = entries.map(|entry| entry.expect("an entry").into_path());
        found.extend(paths.filter(|path| path.extension() == Some("md")));
    }
    found.sort();
    found
}

/// Returns the commands of a document: lines of fenced blocks, and inline code, that begin with the program's name. What
/// follows two blanks is a remark.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            found.push(line.trim().trim_start_matches("$ ").to_owned());
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found.retain(|command| command.starts_with("orchestrate "));
    found
        .iter()
        .map(|command| command.split("  ").next().unwrap_or_default().to_owned())
        .collect()
}

/// Verifies REQ-F2.2.
#[test]
fn shown_commands_exist() {
    let sandbox = Sandbox::empty(PROGRAM);
    let mut seen = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a document");
        for command in commands(&text) {
            let mut arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
            // Help is printed only when everything before it is understood.
            arguments.push("--help");
            let output = sandbox.orchestrate(&arguments);
            assert!(
                output.stdout.contains("Usage: orchestrate"),
                "{document}: {command}\n{output}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 10, "only {seen} commands were found");
}

#[test]
fn commands_are_found_in_blocks_and_in_text() {
    let text =
        "see `orchestrate status x`\n\n```text\n$ orchestrate why x 4      explains\nother\n```\n`orchestrated`\n";
    assert_eq!(commands(text), ["orchestrate status x", "orchestrate why x 4"]);
}
