//! The commands that the documents show exist, with the flags they are shown with.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::BundleFixture;

use crate::PROGRAM;
use crate::signing::{passes_the_gate, sign};

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

/// Returns the words of a command; what stands in double quotes is one.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('"').enumerate();
    parts
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().collect(),
            _ => vec![part],
        })
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
            let mut arguments = words(&command);
            arguments.remove(0);
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

/// A fenced block of a guide, and the file of a bundle that was named last before it.
struct Block {
    language: String,
    file: Option<String>,
    lines: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    const FILES: [&str; 4] = ["requirements.md", "design.md", "tasks.md", "test-spec.md"];
    let mut found: Vec<Block> = Vec::new();
    let (mut fenced, mut file) = (false, None);
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fenced = !fenced;
            if fenced {
                found.push(Block {
                    language: language.to_owned(),
                    file: file.clone(),
                    lines: Vec::new(),
                });
            }
        } else if fenced {
            found.last_mut().expect("a block").lines.push(line.to_owned());
        } else if let Some(named) = FILES.iter().find(|name| line.contains(&format!("`{name}`"))) {
            file = Some((*named).to_owned());
        }
    }
    found
}

/// Puts a block in place of the part of a text that has the same heading, up to its next heading of that level.
fn replace_part(text: &str, block: &[String]) -> String {
    let words = |line: &str| -> Vec<String> {
        let words = line
            .split([' ', ':'])
            .take(if line.starts_with("### Task") { 3 } else { 2 });
        words.map(str::to_owned).collect()
    };
    let heading = block.first().expect("a block has lines");
    let level = heading.split(' ').next().expect("a heading").to_owned() + " ";
    let lines: Vec<&str> = text.lines().collect();
    let start = lines
        .iter()
        .position(|line| words(line) == words(heading))
        .unwrap_or_else(|| panic!("no part is like {heading:?}"));
    let ends = |line: &&str| line.starts_with(&level) || (level == "### " && line.starts_with("## "));
    let length = lines[start + 1..].iter().position(ends);
    let end = length.map_or(lines.len(), |length| start + 1 + length);
    let mut changed: Vec<&str> = lines[..start].to_vec();
    changed.extend(block.iter().map(String::as_str));
    if end < lines.len() {
        changed.push("");
    }
    changed.extend(&lines[end..]);
    changed.join("\n") + "\n"
}

/// Verifies REQ-F2.3.
#[test]
fn the_guide_to_the_first_spec_can_be_followed() {
    let guide = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides/first-spec.md");
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    let mut ran = Vec::new();
    for block in blocks(&std::fs::read_to_string(guide).expect("the guide")) {
        match block.language.as_str() {
            "markdown" => {
                let file = format!("specs/greeter/{}", block.file.expect("a file is named before it"));
                sandbox.write(&file, &replace_part(&sandbox.read(&file), &block.lines));
            }
            "console" => {
                for line in &block.lines {
                    let command = line.trim().strip_prefix("$ ").expect("a command");
                    let output = match command {
                        "orchestrate sign specs/greeter" => sign(&sandbox, "greeter").1,
                        _ => sandbox.shell(command),
                    };
                    ran.push((command.to_owned(), output.exits(0).text()));
                }
            }
            other => panic!("nobody follows a block of {other:?}"),
        }
    }
    let said = |command: &str| {
        let found = ran.iter().find(|(name, _)| name.starts_with(command));
        &found.unwrap_or_else(|| panic!("{command} is not in the guide")).1
    };
    assert!(said("orchestrate validate").contains("0 warning") || said("orchestrate validate").contains("no finding"));
    assert!(said("orchestrate graph").contains("say how it is used"));
    assert!(said("orchestrate sign").contains("signed specs/greeter"));
    assert!(said("orchestrate specs/greeter --dry-run").contains("would dispatch"));
    assert!(said("orchestrate park").contains("parked task 2"));
    assert_eq!(
        sandbox.git(&["status", "--porcelain"]),
        "",
        "parked and unparked is as it was"
    );
    passes_the_gate(&sandbox, "greeter");
    let requirements = sandbox.read("specs/greeter/requirements.md");
    assert!(requirements.contains("Whoever runs `greet`") && !requirements.contains("Say in a few sentences"));
}

/// Returns a line without what differs from run to run: short hashes, and ages of seconds.
fn steady(line: &str) -> String {
    let is_hash = |word: &str| word.len() == 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words: Vec<String> = line
        .split(' ')
        .map(|word| {
            let bare = word.trim_end_matches(',');
            if is_hash(bare) {
                word.replace(bare, "[SHORT]")
            } else {
                word.to_owned()
            }
        })
        .collect();
    let line = words.join(" ");
    match line
        .split_once(" s   ←")
        .or_else(|| line.strip_suffix(" s").map(|rest| (rest, "")))
    {
        Some((before, after)) => format!(
            "{}{after}",
            before.trim_end_matches(|digit: char| digit.is_ascii_digit())
        ),
        None => line,
    }
}

/// Every worked example of the page on evidence comes out as it is written there.
#[test]
fn what_decides_is_as_the_page_on_evidence_shows_it() {
    let page = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/concepts/evidence.md");
    let text = std::fs::read_to_string(page).expect("the page");
    let mut compared = 0;
    for block in blocks(&text).iter().filter(|block| block.language == "console") {
        let bundle = BundleFixture::new("greeter")
            .task("1", "parse", &[], "1 day")
            .task("2", "print", &["1"], "1 day");
        let sandbox = Sandbox::with(PROGRAM, &bundle);
        let mut said: Vec<String> = Vec::new();
        for line in &block.lines {
            if let Some(command) = line.strip_prefix("$ ") {
                said = sandbox.shell(command).exits(0).stdout.lines().map(steady).collect();
            } else if line == "…" {
                said.clear();
            } else {
                assert!(!said.is_empty(), "no more was said than before {line:?}");
                assert_eq!(said.remove(0), steady(line));
                compared += 1;
            }
        }
    }
    assert!(compared >= 12, "only {compared} lines were compared");
}
