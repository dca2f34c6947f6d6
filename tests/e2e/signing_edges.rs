//! `orchestrate sign` at its edges: what it refuses before anyone reads, changes that lines do not show, what git says.

use std::fs;

use crate::signing::{CONFIRM, LENS_PASS, drafted, read_until, sign};
use crate::{alpha, sandbox};

#[test]
fn what_would_fail_at_the_end_is_refused_before_anyone_reads() {
    let brief = "specs/alpha/kickoff-brief.md";
    for (file, bytes, why, remedy) in [
        (
            brief,
            &b"# b\n\n```\nopen\n"[..],
            "code fence of line 3 is never closed",
            "close the fence that line 3",
        ),
        (
            brief,
            b"# b\n\n\0\n",
            "it holds a NUL byte",
            "take a NUL byte out of line 3",
        ),
        (brief, b"# b\n\n\xff\n", "bytes that are not UTF-8", "out of line 3"),
        ("", b"\xef\xbb\xbf", "begins with a byte order mark (U+FEFF)", "sed -i"),
    ] {
        let sandbox = drafted();
        if file.is_empty() {
            let requirements = sandbox.path("specs/alpha/requirements.md");
            let text = fs::read(&requirements).expect("read");
            fs::write(&requirements, [bytes, &text].concat()).expect("written");
        } else {
            fs::write(sandbox.path(file), bytes).expect("written");
        }
        let output = sandbox
            .terminal(&["sign", "alpha"])
            .finish()
            .exits(1)
            .says(why)
            .says(remedy);
        assert!(!output.text().contains("leaves"), "{output}");
    }
}

#[test]
fn a_change_that_lines_do_not_show_is_named() {
    let design = "specs/alpha/design.md";
    for (change, told) in [
        ("line ends", "design.md: line ends of"),
        ("end", "design.md: blank lines at the end (2 now, 0 before)"),
        ("blanks", "design.md: blanks at the end of 1 line (1)"),
        ("invisible", "design.md: invisible characters: U+202E in line 1"),
    ] {
        let sandbox = sandbox(&alpha());
        let text = sandbox.read(design);
        let (first, rest) = text.split_once('\n').expect("lines");
        let changed = match change {
            "line ends" => text.replace('\n', "\r\n"),
            "end" => format!("{text}\n\n"),
            "blanks" => format!("{first}  \n{rest}"),
            _ => format!("{first}\u{202e}\n{rest}"),
        };
        sandbox.write(design, &changed);
        let mut terminal = sandbox.terminal(&["sign", "alpha"]);
        let shown = read_until(&mut terminal, "class ");
        assert!(shown.contains("changes that the lines do not show"), "{shown}");
        assert!(shown.contains(told), "{told}: {shown}");
        let is_in_a_line = matches!(change, "blanks" | "invisible");
        assert_eq!(
            shown.contains("(looks the same, and differs in:"),
            is_in_a_line,
            "{shown}"
        );
        terminal.line("q");
        let _ = terminal.finish().exits(4);
    }
}

#[test]
fn a_blank_line_is_shown_blank() {
    let sandbox = drafted();
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    let mut shown = read_until(&mut terminal, "class ");
    terminal.line("meaning");
    shown.push_str(&terminal.answer("lens pass (", LENS_PASS));
    shown.push_str(&terminal.answer(CONFIRM, "q"));
    assert!(shown.contains("Class: meaning"), "{shown}");
    assert!(shown.lines().all(|line| line.trim() != "?"), "{shown}");
    let _ = terminal.finish().exits(4);
}

#[test]
fn all_that_git_says_is_told_with_the_commands_to_do_by_hand() {
    let sandbox = drafted();
    let ignored = sandbox.read(".gitignore");
    sandbox.write(".gitignore", &format!("{ignored}kickoff-brief.md\n"));
    let (_, output) = sign(&sandbox, "alpha");
    let output = output
        .exits(1)
        .says("ignored by one of your .gitignore files: specs/alpha/kickoff-brief.md")
        .says("only the commit is missing")
        .says("commit -m 'docs(alpha): sign off the bundle' -- specs/alpha/");
    assert!(!output.text().contains("hint: Use -f"), "{output}");
    sandbox.write(".gitignore", &ignored);
    let commands = output.stdout.lines().filter_map(|line| line.strip_prefix("  git "));
    for command in commands {
        let _ = sandbox.shell(&format!("git {command}")).exits(0);
    }
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}
