//! Odd task lists, and the one right answer to each: the tasks with their dependencies, or the refusal with its line.
#![allow(missing_docs, reason = "a test")]

mod common;

use common::{PAYLOAD, bundle_with_tasks, header, outline, parse, task};
use orchestrate_spec::{BundleTexts, Status};

/// The first line of the text behind the header block of `tasks.md`.
const BODY: u32 = 8;

/// `1; 2: 1` for what is read, else each finding's line, counted from the body's first, and code.
fn answer(texts: &BundleTexts) -> String {
    match parse(texts) {
        Ok(bundle) => outline(&bundle),
        Err(found) => {
            let shown = found.iter().map(|finding| {
                let line = finding
                    .line
                    .map_or_else(|| "-".to_owned(), |line| line.saturating_sub(BODY - 1).to_string());
                format!("{line} {}", finding.code)
            });
            format!("refused: {}", shown.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A task list: task 1, then the text, under `## Tasks`. Task 1 fills lines 3 to 10; the text starts at line 12.
fn after_task_1(text: &str) -> String {
    format!("## Tasks\n\n{}{text}\n{PAYLOAD}", task("1", "none"))
}

/// Task 2 with those lines instead of its dependency field, at line 17 and after.
fn dependency_lines(lines: &str) -> String {
    after_task_1(&task("2", "@").replace("- **Dependencies:** @", lines))
}

/// Task 2 under that heading, at line 12.
fn heading(line: &str) -> String {
    after_task_1(&task("2", "1").replace("### Task 2 — title 2", line))
}

fn check(cases: &[(String, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, *expected, answer(&bundle_with_tasks(text))))
        .filter(|(_, expected, found)| expected != found)
        .map(|(text, expected, found)| format!("{text}\nexpected {expected}\n   found {found}\n"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn headings() {
    check(&[
        (heading("### Task 2 — b"), "1; 2: 1"),
        (heading("### Task 2.5 — b"), "1; 2.5: 1"),
        (heading("### Task 2 — b — c  "), "1; 2: 1"),
        (heading("### Task 2: b"), "refused: 12 task-heading"),
        (heading("### Task 2 – b"), "refused: 12 task-heading"),
        (heading("### Task 2 - b"), "refused: 12 task-heading"),
        (heading("### Task 2 —b"), "refused: 12 task-heading"),
        (heading("### Task 2"), "refused: 12 task-heading"),
        (heading("### Task 2 — "), "refused: 12 task-heading"),
        (heading("### Task 2. — b"), "refused: 12 task-heading"),
        (heading("### Task 2.5.1 — b"), "refused: 12 task-heading"),
        (heading("### Task 2-3 — b"), "refused: 12 task-heading"),
        (heading("### Task two — b"), "refused: 12 task-heading"),
        (heading("### Task  2 — b"), "refused: 12 task-heading"),
        (heading("###  Task 2 — b"), "refused: 12 task-heading"),
        (heading("###Task 2 — b"), "refused: 12 task-heading"),
        (heading("#### Task 2 — b"), "refused: 12 task-heading"),
        (heading("## Task 2 — b"), "refused: 12 task-heading"),
        (heading("### task 2 — b"), "refused: 12 task-heading"),
        (heading("### Task ２ — b"), "refused: 12 task-heading"),
        (heading("＃＃＃ Task 2 — b"), "refused: 12 task-heading"),
        (heading("### **Task 2** — b"), "refused: 12 task-heading"),
        (heading("###\tTask 2 — b"), "refused: 12 task-heading"),
        (heading("### Task\u{a0}2 — b"), "refused: 12 task-heading"),
        (heading("### \u{200b}Task 2 — b"), "refused: 12 task-heading"),
        (heading(" ### Task 2 — b"), "refused: 12 task-heading"),
        (
            heading("Task 2 — b\n---"),
            "refused: 12 task-heading, 18 dependency-field-twice",
        ),
        (
            heading("- ### Task 2 — b"),
            "refused: 12 task-heading, 17 dependency-field-twice",
        ),
        (
            heading(&format!("### Task {} — b", "1".repeat(33))),
            "refused: 12 task-heading",
        ),
        // A heading that is lost leaves its fields behind.
        (heading("### Tsk 2 — b"), "refused: 14 field-orphan"),
        (heading("Tusk 2 — b"), "refused: 17 dependency-field-twice"),
        (heading("### Notes"), "refused: 14 field-orphan"),
    ]);
}

#[test]
fn ids() {
    check(&[
        (after_task_1(&task("1", "none")), "refused: 12 task-duplicate"),
        (after_task_1(&task("01", "none")), "refused: 12 task-duplicate"),
        (after_task_1(&task("1.0", "none")), "refused: 12 task-duplicate"),
        (
            after_task_1(&format!("{}{}", task("10", "1"), task("2", "10, 1"))),
            "1; 10: 1; 2: 10 1",
        ),
        (after_task_1(&task("1.1", "1")), "1; 1.1: 1"),
    ]);
}

#[test]
fn dependencies() {
    check(&[
        (dependency_lines("- **Dependencies:** 1"), "1; 2: 1"),
        (dependency_lines("- **Dependencies**: 1"), "1; 2: 1"),
        (dependency_lines("- **Dependencies:**1"), "1; 2: 1"),
        (dependency_lines("- **Dependencies:** none\n  really"), "1; 2"),
        (dependency_lines("- **Dependencies:**\n  1"), "1; 2: 1"),
        (dependency_lines("- **Dependencies:** none but\n\t1"), "1; 2: 1"),
        (dependency_lines("- **Dependencies:**\n  - 1"), "1; 2: 1"),
        (dependency_lines("- **Dependencies:** Task 1."), "1; 2: 1"),
        (
            dependency_lines("- **Dependencies:** 1 (see D-9;\n  other 7)"),
            "1; 2: 1",
        ),
        (dependency_lines("- **Dependencies:**"), "refused: 17 dependency-text"),
        (
            dependency_lines("- **Dependencies:** the first task"),
            "refused: 17 dependency-text",
        ),
        (
            dependency_lines("- **Dependencies:** 1, 2x"),
            "refused: 17 dependency-text",
        ),
        (
            dependency_lines("- **Dependencies:** １"),
            "refused: 17 dependency-text",
        ),
        (
            dependency_lines("- **Dependencies:** 1–3"),
            "refused: 17 dependency-text",
        ),
        (
            dependency_lines("- **Dependencies:** none <!-- 1 -->"),
            "refused: 17 dependency-text",
        ),
        (dependency_lines("- **Dependencies:** 2"), "refused: 17 dependency-self"),
        (
            dependency_lines("- **Dependencies:** 7"),
            "refused: 17 dependency-dangling",
        ),
        (
            dependency_lines("- **Dependencies:** 01"),
            "refused: 17 dependency-dangling",
        ),
        (
            dependency_lines("- **Dependencies:** 1\n- **Dependencies:** 1"),
            "refused: 18 dependency-field-twice",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- **Dependencies**: 1"),
            "refused: 18 dependency-field-twice",
        ),
        (
            dependency_lines("- **Dependencies:** none **Dependencies:** 1"),
            "refused: 17 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies:** none\n* **Dependencies:** 1"),
            "refused: 18 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- Dependencies: 1"),
            "refused: 18 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- **Depends on:** 1"),
            "refused: 18 dependency-field",
        ),
        (dependency_lines("**Dependencies:** 1"), "refused: 17 dependency-field"),
        (
            dependency_lines("- **dependencies:** 1"),
            "refused: 17 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies：** 1"),
            "refused: 17 dependency-field",
        ),
        (dependency_lines("- **Requires:** 1"), "refused: 12 task-field-missing"),
        // As a bullet inside another field it is rendered as a field, and the anchor covers it.
        (dependency_lines("  - **Dependencies:** 1\n    , 1"), "1; 2: 1"),
        (
            dependency_lines("  - **Dependencies:** 1\n  and 7 of the field above"),
            "1; 2: 1",
        ),
        (
            dependency_lines("- **Note:** x\n\n  - **Dependencies:** 1"),
            "refused: 19 dependency-unsigned",
        ),
        // A wrapped line that the format does not count, but people do.
        (
            dependency_lines("- **Dependencies:** none\n\n  but 1"),
            "refused: 19 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\nbut 1"),
            "refused: 18 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- 1"),
            "refused: 18 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n* 1"),
            "refused: 18 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n```\n```\n  1"),
            "refused: 20 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n<!-- -->\n  1"),
            "refused: 19 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n  ```\n  1\n  ```"),
            "refused: 19 dependency-continuation",
        ),
        (dependency_lines("- **Dependencies:** none\n\n  as said"), "1; 2"),
        // Words about the field are not the field.
        (
            dependency_lines("- **Dependencies:** 1\n- **Note:** the `**Dependencies:** 7` line"),
            "1; 2: 1",
        ),
        (
            after_task_1(&task("2", "1").replace("done\n", "done\n  dependencies: none of these 7\n")),
            "1; 2: 1",
        ),
    ]);
}

#[test]
fn circles() {
    let list = |edges: &[(&str, &str)]| {
        let tasks: String = edges.iter().map(|(id, dependencies)| task(id, dependencies)).collect();
        format!("## Tasks\n\n{tasks}{PAYLOAD}")
    };
    check(&[
        (list(&[("1", "2"), ("2", "1")]), "refused: 8 dependency-circle"),
        (
            list(&[("1", "none"), ("2", "1, 4"), ("3", "2"), ("4", "3"), ("5", "4")]),
            "refused: 17 dependency-circle",
        ),
        (list(&[("1", "2"), ("2", "none")]), "1: 2; 2"),
    ]);
    let found = parse(&bundle_with_tasks(&list(&[
        ("1", "4"),
        ("2", "4"),
        ("3", "2"),
        ("4", "3"),
    ])))
    .expect_err("a circle");
    assert_eq!(
        found[0].to_string(),
        "specs/x/tasks.md:42: tasks depend on each other in a circle: 4 → 3 → 2 → 4"
    );
}

#[test]
fn illustrations_are_no_tasks() {
    let mock = task("9", "7").trim_end().to_owned();
    let quoted: String = mock.lines().map(|line| format!("> {line}\n")).collect();
    let indented: String = mock.lines().map(|line| format!("    {line}\n")).collect();
    check(&[
        (after_task_1(&format!("```\n{mock}\n```\n")), "1"),
        (after_task_1(&format!("```markdown\n{mock}\n````\n")), "1"),
        (after_task_1(&format!("~~~\n{mock}\n~~~\n")), "1"),
        (after_task_1(&format!("<!--\n{mock}\n-->\n")), "1"),
        (after_task_1(&quoted), "1"),
        (after_task_1(&format!("prose\n\n{indented}")), "1"),
        (after_task_1(&format!("```\n{mock}\n")), "refused: 12 open-fence"),
        (
            after_task_1(&format!("````\n```\n{mock}\n```\n````\n")),
            "refused: 14 disputed-line",
        ),
        (after_task_1("~~~\n### Task 9 — x\n"), "refused: 13 disputed-line"),
        (
            after_task_1("``` a`b\n### Task 9 — x\n```\n"),
            "refused: 13 disputed-line",
        ),
        (after_task_1("<!--\n### Task 9 — x\n"), "refused: 13 disputed-line"),
        (
            after_task_1("<div>\n### Task 9 — x\n</div>\n"),
            "refused: 13 disputed-line",
        ),
        (
            after_task_1("<!-- a -- >\n\n### Task 9 — x\n\n<!-- b -->\n"),
            "refused: 14 disputed-line",
        ),
    ]);
}

#[test]
fn sections_and_parking() {
    let tasks = task("1", "none");
    let parked = |bullets: &str| format!("## Tasks\n\n{tasks}## Awaiting input\n\n{bullets}\n");
    check(&[
        (format!("## Tasks  \n\n{tasks}"), "1"),
        (
            format!("{tasks}## Deferred\n"),
            "refused: - section-missing, 1 task-placement",
        ),
        (
            format!("## Tasks\n## Forward plan\n\n{tasks}"),
            "refused: 2 section-heading, 4 task-placement",
        ),
        (
            format!("## Tasks\n\n{tasks}## In progress\n"),
            "refused: 12 section-heading",
        ),
        (
            format!("## Tasks\n\n{tasks}## Awaiting Input\n"),
            "refused: 12 section-heading",
        ),
        (
            format!("## Tasks\n\n{tasks}### Deferred\n"),
            "refused: 12 section-heading",
        ),
        (
            format!("## Tasks\n\n{tasks}Deferred\n---\n"),
            "refused: 12 section-heading",
        ),
        (format!("## Tasks\n\n{tasks}## Deferred (old)\n- prose\n"), "1"),
        (format!("## Tasks\n## Tasks\n\n{tasks}"), "1"),
        (format!("## Tasks\n## Deferred\n\n{tasks}"), "refused: 4 task-placement"),
        (
            format!("## Tasks\n\n{tasks}\r### Task 2 — b\n"),
            "refused: 12 carriage-return, 12 task-heading",
        ),
        (parked("- **Task 1** — waits"), "1"),
        (parked("- **Task force red.** x"), "1"),
        (parked("- **Task 1.** — waits"), "refused: 14 reference-bullet"),
        (parked("- **Task six** — waits"), "refused: 14 reference-bullet"),
        (parked("- **Task 2** — waits"), "refused: 14 reference-bullet"),
        (
            parked("- **Task 1** — a\n- **Task 1** — b"),
            "refused: 15 reference-bullet",
        ),
        (parked("* **Task 1** — a"), "refused: 14 reference-bullet"),
        (parked(" - **Task 1** — a"), "refused: 14 reference-bullet"),
        (parked("- prose\n  - **Task 1** helps"), "1"),
        (parked("```\n- **Task 9** — a\n```"), "1"),
        (
            format!("## Tasks\n\n{tasks}- **Task 1** — waits\n"),
            "refused: 12 reference-bullet",
        ),
        (
            format!("## Tasks\n\n{tasks}## Parked\n- **Task 1** — waits\n"),
            "refused: 13 reference-bullet",
        ),
        (format!("- **Task 1** comes first\n\n## Tasks\n\n{tasks}"), "1"),
        (
            after_task_1(&task("2", "1").replace("- **Done when:** done\n", "")),
            "refused: 12 task-field-missing",
        ),
        (
            after_task_1(&task("2", "1").replace("- **Citations:**", "- **Cites:**")),
            "refused: 12 task-field-missing",
        ),
        (
            after_task_1(
                &task("2", "1")
                    .replace("\n\n###", "\n###")
                    .replace("- **Done", "- **Status:** Completed\n- **Done"),
            ),
            "refused: 16 state-annotation",
        ),
        (
            after_task_1(&task("2", "1").replace("- **Done", "- **Note:** x\n- **Done")),
            "1; 2: 1",
        ),
        (
            after_task_1(&task("2", "1").replace("- **Done", "#### More\n\n- **Done")),
            "1; 2: 1",
        ),
    ]);
}

#[test]
fn what_a_parked_task_says() {
    let text = format!(
        "## Tasks\n\n{}{}## Deferred\n\n- **Task 1** — waits\n  for Bob\n\n## Out of scope\n\n- **Task 2** no more\n",
        task("1", "none"),
        task("2", "1")
    );
    let bundle = parse(&bundle_with_tasks(&text)).expect("a bundle");
    let graph = bundle.graph();
    let parked: Vec<String> = graph
        .parked
        .iter()
        .map(|(id, parking)| format!("{id} {} {}", parking.place.section(), parking.note))
        .collect();
    assert_eq!(parked, ["1 Deferred — waits", "2 Out of scope no more"]);
    assert_eq!(graph.tasks[1].dependencies[0].as_str(), "1");
    assert_eq!(graph.tasks[1].effort.milli_days(), 1000);
}

#[test]
fn a_whole_bundle_is_read() {
    let bundle = parse(&bundle_with_tasks(&after_task_1(&task("2", "1")))).expect("a bundle");
    assert_eq!(
        (bundle.title.as_str(), bundle.goal.as_str(), bundle.status),
        ("X", "To be small.", Status::Ready)
    );
    assert_eq!(
        bundle
            .decision("D-1")
            .map(|decision| (decision.title.as_str(), decision.text.as_str())),
        Some(("Small", "**Decision:** small."))
    );
    assert_eq!(
        bundle
            .requirement("REQ-A1.1")
            .map(|requirement| requirement.text.as_str()),
        Some("It SHALL be small.\n*(Cites: D-1.)*")
    );
    let second = &bundle.tasks[1];
    assert_eq!(
        (
            second.title.as_str(),
            second.deliverables.as_str(),
            second.done_when.as_str()
        ),
        ("title 2", "one\nmore", "done")
    );
    assert_eq!(
        (second.citations.clone(), second.citations_text.as_str()),
        (vec!["D-1".to_owned(), "REQ-A1.1".to_owned()], "D-1 · REQ-A1.1")
    );
    assert_eq!((second.estimated_effort.as_str(), second.line), ("1 day", BODY + 11));
}

#[test]
fn line_ends_and_byte_order_marks_are_read() {
    let texts = bundle_with_tasks(&after_task_1(&task("2", "none, but\n  1")));
    let changed = |change: &dyn Fn(&[u8]) -> Vec<u8>| BundleTexts {
        requirements: change(&texts.requirements),
        design: change(&texts.design),
        tasks: change(&texts.tasks),
        test_spec: change(&texts.test_spec),
    };
    let crlf = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec())
            .expect("text")
            .replace('\n', "\r\n")
            .into_bytes()
    };
    let mark = |bytes: &[u8]| ["\u{feff}".as_bytes(), bytes].concat();
    let cut = |bytes: &[u8]| bytes.strip_suffix(b"\n").unwrap_or(bytes).to_vec();
    for changed in [changed(&crlf), changed(&mark), changed(&cut)] {
        assert_eq!(answer(&changed), "1; 2: 1");
    }
}

#[test]
fn headers() {
    let good = bundle_with_tasks(&after_task_1(""));
    let edit = |bytes: &[u8], from: &str, to: &str| {
        String::from_utf8(bytes.to_vec())
            .expect("text")
            .replacen(from, to, 1)
            .into_bytes()
    };
    let requirements = |from: &str, to: &str| BundleTexts {
        requirements: edit(&good.requirements, from, to),
        ..good.clone()
    };
    let design = |from: &str, to: &str| BundleTexts {
        design: edit(&good.design, from, to),
        ..good.clone()
    };
    let first = |texts: &BundleTexts| {
        parse(texts)
            .map(|bundle| bundle.status.to_string())
            .map_err(|found| found[0].to_string())
            .unwrap_or_else(|message| message)
    };
    let cases = [
        (good.clone(), "Ready"),
        (
            requirements("version:** 2", "version:** 1"),
            "specs/x/requirements.md:5: format version 1 is not read yet",
        ),
        (
            requirements("version:** 2", "version:** 3"),
            "specs/x/requirements.md:5: format version \"3\" is not supported",
        ),
        (
            requirements("version:** 2", "version:** 02"),
            "specs/x/requirements.md:5: format version \"02\" is not supported",
        ),
        (
            requirements("version:** 2", "version:** x2"),
            "specs/x/requirements.md:5: \"x2\" is not a format version",
        ),
        (
            requirements("version:** 2", "version:** "),
            "specs/x/requirements.md:5: the Format-version declaration is empty",
        ),
        (
            requirements("**Format-version:** 2\n", ""),
            "specs/x/requirements.md: there is no Format-version in the header block",
        ),
        (
            requirements(
                "**Format-version:** 2\n",
                "**Format-version:** 2\n**Format-version:** 2\n",
            ),
            "specs/x/requirements.md:6: Format-version is declared a second time",
        ),
        (
            requirements("**Status:** Ready\n", ""),
            "specs/x/requirements.md: there is no Status in the header block",
        ),
        (
            requirements("**Status:** Ready\n", "**Status:** Ready\n**Status:** Ready\n"),
            "specs/x/requirements.md:4: Status is declared a second time in the header block",
        ),
        (
            requirements("Ready", "Reedy"),
            "specs/x/requirements.md:3: \"Reedy\" is not a status",
        ),
        (
            requirements("Ready", "Active"),
            "specs/x/requirements.md:3: status Active is derived in format version 2, never stored",
        ),
        (
            requirements("Ready", "Done"),
            "specs/x/requirements.md:3: status Done is derived in format version 2, never stored",
        ),
        (requirements("Ready", "Ready\u{200b}  "), "Ready"),
        (requirements("Ready", "Draft"), "Draft"),
        (requirements("Ready", "Retired"), "Retired"),
        (
            requirements("Ready", "Superseded"),
            "specs/x/requirements.md: a superseded bundle does not name its successor",
        ),
        (
            requirements("Ready", "Superseded\n**Superseded-by:** specs/y/"),
            "Superseded",
        ),
        (
            design("Ready", "Draft"),
            "specs/x/design.md:3: Status is \"Draft\", requirements.md says Ready",
        ),
        (
            design("**Format-version:** 2\n", ""),
            "specs/x/design.md: there is no Format-version in the header block, requirements.md says 2",
        ),
        (
            design("**Status:** Ready\n", "**Status:** Ready\n**Status:** Ready\n"),
            "specs/x/design.md:4: Status is declared a second time in the header block",
        ),
        (
            design("derived", "by hand"),
            "specs/x/design.md:6: \"**Execution:** by hand — see the status render\" is not the execution line of format version 2",
        ),
        (
            design("**Execution:** derived — see the status render\n", ""),
            "specs/x/design.md: there is no `**Execution:**` line",
        ),
        (
            design("## Decision", "```\n## Decision"),
            "specs/x/design.md:8: the code fence that opens here is never closed",
        ),
        (
            design("### D-1", "### D-1: a\n### D-1"),
            "specs/x/design.md:11: D-1 is defined a second time",
        ),
        (
            requirements("- **REQ-A1.1**", "- **REQ-A1.1** a\n- **REQ-A1.1**"),
            "specs/x/requirements.md:15: REQ-A1.1 is defined a second time",
        ),
        (
            design("small.", "sm\0all."),
            "specs/x/design.md:12: cannot read the file as text: it holds a NUL byte",
        ),
        (
            BundleTexts {
                test_spec: [header("T", "Ready").as_bytes(), b"\xff"].concat(),
                ..good.clone()
            },
            "specs/x/test-spec.md:8: cannot read the file as text: it holds bytes that are not UTF-8",
        ),
    ];
    for (texts, expected) in cases {
        assert_eq!(first(&texts), expected);
    }
}
