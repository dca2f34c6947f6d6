//! `orchestrate graph`: what is drawn, for whom, and what it says of states.

use std::fs;

use camino::Utf8Path;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{corpus_root, skipped};
use orchestrate_testkit::bundle::BundleFixture;

use crate::{alpha, check, sandbox, state_of};

/// Titles that mean something to a terminal, to Graphviz, to Mermaid, to XML and to Markdown.
const HOSTILE: [&str; 6] = [
    r#"say "hi" \N \l & &amp; <b>bold</b> {x|y}"#,
    r#"a"] --> evil["b#quot; %%{init: {"theme":"dark"}}%% end"#,
    "]]> <script>alert(1)</script> <!-- -->",
    "\u{1b}[31mred\u{1b}[0m \u{202e}drawkcab\u{202c} \u{200f}",
    "`code` **bold** [link](javascript:alert(1)) ``` ;",
    "日本語の題名 👩‍👩‍👧‍👦 e\u{301}e\u{301} title that is a good deal longer than one line of any terminal can be",
];

fn hostile() -> BundleFixture {
    let mut bundle = BundleFixture::new("alpha");
    for (number, title) in (1..).zip(HOSTILE) {
        let before = (number - 1_u32).to_string();
        let dependencies = if number == 1 { Vec::new() } else { vec![before.as_str()] };
        bundle = bundle.task(&number.to_string(), title, &dependencies, "1 day");
    }
    bundle
}

/// Verifies REQ-B3.5.
#[test]
fn the_drawing_shows_what_status_says() {
    let bundle = BundleFixture::new("alpha")
        .task("1", "landed part", &[], "1 day")
        .task("2", "committed part", &["1"], "1 day")
        .task("3", "free part", &["1"], "2 days")
        .task("4", "blocked part", &["2", "3"], "half day")
        .task("5", "parked part", &["1", "4"], "1 day")
        .deferred("5", "until the vendor answers");
    let sandbox = sandbox(&bundle);
    let _ = sandbox.commit_all("one\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.git(&["switch", "--quiet", "--create", "planwright/alpha/task-2"]);
    let _ = sandbox.commit_all("two");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["graph", "alpha"]), @r"
        exit 0
        --- out
        alpha · Ready · 5 tasks in 4 layers · 5.5 days of work, 4.5 critical

          ●─╮  1*  landed part     landed         1 d
          ┃ ◐  2   committed part  in progress    1 d  after 1
          ○ │  3*  free part       ready          2 d  after 1
          ◌─╯  4*  blocked part    blocked      0.5 d  after 2, 3
          ◇    5*  parked part     parked         1 d  after 1, 4

        critical path (*): 1 → 3 → 4 → 5
        not drawn: 1 dependency that others imply
        ");
    check!(sandbox, sandbox.orchestrate(&["graph", "specs/alpha/", "--ascii", "--no-state"]), @r"
        exit 0
        --- out
        alpha - Ready - 5 tasks in 4 layers - 5.5 days of work, 4.5 critical

          o-.  1*  landed part               1 d
          # o  2   committed part            1 d  after 1
          o |  3*  free part                 2 d  after 1
          o-'  4*  blocked part            0.5 d  after 2, 3
          p    5*  parked part     parked    1 d  after 1, 4

        critical path (*): 1 > 3 > 4 > 5
        not drawn: 1 dependency that others imply
        ");
    let value = sandbox.orchestrate(&["graph", "--format", "json"]).exits(0).json();
    assert_eq!(
        (&value["states"], &value["spec"]),
        (&serde_json::json!(true), &serde_json::json!("alpha"))
    );
    for task in value["tasks"].as_array().expect("tasks") {
        let id = task["id"].as_str().expect("an id");
        let state = state_of(&sandbox, id);
        let word = task["state"].as_str().expect("a state");
        assert!(
            state == word || state.starts_with(&format!("{word}: ")),
            "{id}: {word} and {state}"
        );
    }
    assert_eq!(sandbox.changes_since(&before), [""; 0], "a drawing writes nothing");
}

/// Verifies REQ-B1.1.
#[test]
fn a_draft_says_how_many_headings_are_left_out() {
    let bundle = BundleFixture::new("alpha")
        .task("1", "first part", &[], "1 day")
        .task("2", "second part", &["1"], "1 day")
        .status("Draft");
    let sandbox = sandbox(&bundle);
    let draw = || sandbox.orchestrate(&["graph", "alpha", "--no-state"]).exits(0);
    assert!(!draw().stderr.contains("left out"));
    let path = "specs/alpha/tasks.md";
    let text = sandbox.read(path);
    sandbox.write(path, &text.replace("### Task 2 — second", "### Task 2: second"));
    let output = draw().says("note: left out: 1 task heading without a readable id\n");
    let output = output.says("hint: orchestrate validate specs/alpha names the lines\n");
    assert!(!output.stdout.contains("second part"), "{}", output.stdout);
}

#[test]
fn colours_and_characters_are_those_that_can_be_shown() {
    let sandbox = sandbox(&alpha());
    let draw = |arguments: &[&str], variables: &[(&str, &str)]| {
        let arguments = [&["graph", "alpha"], arguments].concat();
        sandbox
            .orchestrate_with(&sandbox.repository(), &arguments, variables)
            .exits(0)
            .stdout
    };
    assert!(!draw(&[], &[]).contains('\u{1b}'), "no terminal, no colours");
    assert!(draw(&["--color", "always"], &[("NO_COLOR", "1")]).contains("\u{1b}["));
    assert!(draw(&["--no-state"], &[]).contains('○'));
    for locale in ["C", "en_US.ISO-8859-1", ""] {
        assert!(draw(&[], &[("LC_ALL", locale)]).is_ascii(), "{locale}");
    }
    for width in ["40", "60", "80", "200", "nonsense"] {
        let columns = width.parse().unwrap_or(80).min(160);
        for line in draw(&[], &[("COLUMNS", width)]).lines() {
            assert!(line.chars().count() <= columns, "{width}: {line}");
        }
    }
}

#[test]
fn a_person_at_a_terminal_gets_colours() {
    let sandbox = sandbox(&alpha());
    // `script` gives a terminal to what it starts.
    if tool(&sandbox, "script").is_none() {
        return;
    }
    let colored = |before: &str| {
        let command = format!("script --quiet --return --command '{before} orchestrate graph alpha' /dev/null");
        sandbox.shell(&command).exits(0).stdout.contains("\u{1b}[")
    };
    assert!(colored("env TERM=xterm"));
    assert!(!colored("env TERM=xterm NO_COLOR=1"));
    assert!(!colored("env TERM=dumb"));
}

/// Returns the name of a program that is there; says so where it is not.
fn tool<'a>(sandbox: &Sandbox, name: &'a str) -> Option<&'a str> {
    let flag = if name == "dot" { "-V" } else { "--version" };
    let found = sandbox.run(name, &[flag]).is_some_and(|output| output.exit == 0);
    if !found {
        skipped(name);
    }
    found.then_some(name)
}

/// Verifies REQ-B3.5.
#[test]
fn hostile_titles_change_no_drawing() {
    let sandbox = sandbox(&hostile());
    let draw = |format: &str| {
        sandbox
            .orchestrate(&["graph", "alpha", "--no-state", "--format", format])
            .exits(0)
            .stdout
    };
    for format in ["text", "dot", "mermaid", "svg", "json"] {
        let drawing = draw(format);
        let is_hidden = |character: char| {
            (character.is_control() && character != '\n') || matches!(character, '\u{202a}'..='\u{202e}' | '\u{200f}')
        };
        assert!(!drawing.contains(is_hidden), "{format}");
        assert_eq!(draw(format), drawing, "the same every time");
    }
    let svg = draw("svg");
    let document = roxmltree::Document::parse(&svg).expect("an SVG is XML");
    let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    assert!(texts.contains(&format!("1 — {}", HOSTILE[0]).as_str()));
    assert!(document.descendants().all(|node| !node.has_tag_name("script")));
    check!(sandbox, sandbox.orchestrate(&["graph", "alpha", "--format", "mermaid", "--no-state"]), @r#"
        exit 0
        --- out
        flowchart LR
          accTitle: alpha · Ready
          t1["1 — say #34;hi#34; #92;N #92;l #38; #38;amp#59; #60;b#62;bold#60;#47;b#62; #123;x#124;y#125;<br/>1 d · critical"]
          t2["2 — a#34;#93; --#62; evil#91;#34;b#35;quot#59; #37;#37;#123;init#58; #123;#34;theme#34;#58;#34;dark#34;#125;#125;#37;#37; end<br/>1 d · critical"]
          t3["3 — #93;#93;#62; #60;script#62;alert#40;1#41;#60;#47;script#62; #60;#33;-- --#62;<br/>1 d · critical"]
          t4["4 — #91;31mred#91;0m drawkcab<br/>1 d · critical"]
          t5["5 — #96;code#96; #42;#42;bold#42;#42; #91;link#93;#40;javascript#58;alert#40;1#41;#41; #96;#96;#96; #59;<br/>1 d · critical"]
          t6["6 — 日本語の題名 👩‍👩‍👧‍👦 éé title that is a good deal longer than one line of any terminal can be<br/>1 d · critical"]
          t1 ==> t2
          t2 ==> t3
          t3 ==> t4
          t4 ==> t5
          t5 ==> t6
          classDef critical stroke:#8250df,stroke-width:3px
          class t1,t2,t3,t4,t5,t6 critical
        "#);
    for (format, name, arguments) in [
        ("dot", "dot", &["-Tsvg", "drawing.dot"][..]),
        ("svg", "xmllint", &["--noout", "--nonet", "drawing.svg"]),
    ] {
        let path = sandbox.root().join(format!("drawing.{format}"));
        fs::write(&path, draw(format)).expect("the drawing is written");
        if let Some(name) = tool(&sandbox, name) {
            let output = sandbox.run(name, arguments).expect("it runs").exits(0);
            assert_eq!(output.stderr, "", "{name} has nothing to say");
            if name == "dot" {
                let drawn = roxmltree::Document::parse_with_options(
                    &output.stdout,
                    roxmltree::ParsingOptions {
                        allow_dtd: true,
                        ..Default::default()
                    },
                )
                .expect("XML");
                let nodes = drawn
                    .descendants()
                    .filter(|node| node.attribute("class") == Some("node"))
                    .count();
                assert_eq!(nodes, HOSTILE.len(), "no title made a node of its own");
                let said = drawn
                    .descendants()
                    .any(|node| node.text().is_some_and(|text| text.ends_with(HOSTILE[0])));
                assert!(said, "the title reads as it was written");
            }
        }
    }
}

#[test]
fn a_bundle_outside_of_a_repository_is_drawn_without_states() {
    let sandbox = sandbox(&alpha());
    let elsewhere = sandbox.root().join("desk/alpha");
    fs::create_dir_all(&elsewhere).expect("a directory");
    for file in ["requirements.md", "design.md", "tasks.md", "test-spec.md"] {
        fs::copy(sandbox.path("specs/alpha").join(file), elsewhere.join(file)).expect("a copy");
    }
    check!(sandbox, sandbox.orchestrate_in(&sandbox.root().join("desk"), &["graph", "alpha"]), @r"
        exit 0
        --- out
        alpha · Ready · 3 tasks in 2 layers · 3 days of work, 2 critical

          ○    1*  first part   1 d
          ┃ ○  3   third part   1 d
          ○    2*  second part  1 d  after 1

        critical path (*): 1 → 2
        --- err
        note: without the evidence of a repository: cannot open the repository: [SANDBOX]/desk is in no git repository
        ");
    // From inside a repository another directory has no evidence either, and the repository's own bundle has.
    let inside = |path: &str| {
        sandbox
            .orchestrate(&["graph", path, "--format", "json"])
            .exits(0)
            .json()["states"]
            .clone()
    };
    assert_eq!(inside(elsewhere.as_str()), false);
    assert_eq!(inside(sandbox.path("specs/alpha").as_str()), true);
    assert_eq!(inside("./specs/alpha"), true);
    for missing in ["beta", "./beta", "specs/alpha/tasks.md", "/"] {
        let _ = sandbox.orchestrate(&["graph", missing]).exits(2);
    }
}

#[test]
fn a_draft_is_drawn_and_a_broken_bundle_as_far_as_it_goes() {
    let sandbox = sandbox(&alpha().status("Draft"));
    let _ = sandbox
        .orchestrate(&["graph", "alpha"])
        .exits(0)
        .says("alpha · Draft · 3 tasks");
    let tasks = sandbox
        .read("specs/alpha/tasks.md")
        .replacen("**Dependencies:** none", "**Dependencies:** 2", 1);
    sandbox.write("specs/alpha/tasks.md", &tasks);
    check!(sandbox, sandbox.orchestrate(&["graph", "alpha"]), @r"
        exit 1
        --- out
        alpha · Draft · 3 tasks in 2 layers · 3 days of work, 2 critical

          ○    2*  second part  1 d  after ↻ 1
          │ ○  3   third part   1 d
          ○    1*  first part   1 d  after 2

        critical path (*): 1 → 2
        circle, none of which can ever be ready: 1 → 2 → 1
        --- err
        error: alpha cannot be read
        error: specs/alpha/tasks.md:14: tasks depend on each other in a circle: 1 → 2 → 1
           14 | - **Dependencies:** 2
              |                     ^
        hint: delete one of these dependencies
        hint: drawn as far as it can be read, without states; mend the lines that are named
        ");
    sandbox.write("specs/alpha/tasks.md", "\0");
    let _ = sandbox.orchestrate(&["graph", "alpha"]).exits(1).says("tasks.md");
}

#[test]
fn ten_thousand_tasks_are_drawn() {
    let mut bundle = BundleFixture::new("alpha");
    for number in 1_u32..=10_000 {
        let before = [number / 2, number.saturating_sub(7)].map(|before| before.max(1).to_string());
        let dependencies: Vec<&str> = if number < 9 {
            Vec::new()
        } else {
            before.iter().map(String::as_str).collect()
        };
        bundle = bundle.task(&number.to_string(), "one of very many parts", &dependencies, "1 day");
    }
    let sandbox = sandbox(&BundleFixture::new("beta"));
    orchestrate_testkit::bundle::write_texts(bundle.spec(), &bundle.texts(), &sandbox.repository()).expect("written");
    for format in ["text", "dot", "mermaid", "svg", "json"] {
        let drawing = sandbox
            .orchestrate(&["graph", "alpha", "--format", format])
            .exits(0)
            .stdout;
        assert!(drawing.len() > 500_000, "{format}");
    }
}

#[test]
fn links_and_special_files_are_not_followed() {
    let sandbox = sandbox(&alpha());
    let design = sandbox.path("specs/alpha/design.md");
    fs::rename(&design, sandbox.path("elsewhere.md")).expect("moved");
    std::os::unix::fs::symlink("../../elsewhere.md", &design).expect("a link");
    let _ = sandbox.orchestrate(&["graph", "alpha"]).exits(1).says("design.md");
    fs::remove_file(&design).expect("removed");
    let _ = sandbox.shell("mkfifo specs/alpha/design.md").exits(0);
    let _ = sandbox.orchestrate(&["graph", "alpha"]).exits(1).says("design.md");
}

#[test]
fn the_bundles_of_the_project_and_of_the_corpus_are_drawn() {
    let sandbox = sandbox(&alpha());
    let project = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let hello = project.join("specs/hello-tower");
    check!(sandbox, sandbox.orchestrate(&["graph", hello.as_str()]), @r"
        exit 0
        --- out
        hello-tower · Draft · 5 tasks in 4 layers · 5 days of work, 3.5 critical

          ○─╮  1*  parse the greeting   0.5 d
          ┃ ○  2   render the greeting  0.5 d  after 1
          ○ │  4*  translations         2.5 d  after 1
          ┃ ○  3   command line           1 d  after 2
          ○─╯  5*  release notes        0.5 d  after 3, 4

        critical path (*): 1 → 4 → 5
        ");
    let Some(corpus) = corpus_root() else {
        return skipped("the corpus");
    };
    let golden = fs::read_to_string(corpus.join("golden.tsv")).expect("the golden values");
    for row in golden.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [name, .., path] = columns.as_slice() else {
            panic!("{row}")
        };
        let directory = corpus.join(name);
        let value = sandbox
            .orchestrate(&["graph", directory.as_str(), "--format", "json"])
            .exits(0)
            .json();
        let ids: Vec<&str> = value["critical_path"]
            .as_array()
            .expect("a path")
            .iter()
            .filter_map(|id| id.as_str())
            .collect();
        assert_eq!(ids.join(" "), *path, "{name}");
        let drawing = sandbox.orchestrate(&["graph", directory.as_str()]).exits(0).stdout;
        assert!(drawing.lines().all(|line| line.chars().count() <= 100), "{drawing}");
    }
}
