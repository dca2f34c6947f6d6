//! Small graphs drawn whole, and what holds of every drawing.

use orchestrate_core::graph::{Parking, TaskNode};

use super::*;

mod properties;

fn id(text: &str) -> TaskId {
    TaskId::parse(text).expect("id")
}

fn graph(tasks: &[(&str, &str, &[&str], &str)]) -> TaskGraph {
    let tasks = tasks
        .iter()
        .map(|(name, title, dependencies, effort)| TaskNode {
            id: id(name),
            title: (*title).to_owned(),
            dependencies: dependencies.iter().map(|dependency| id(dependency)).collect(),
            effort: Effort::parse(effort),
        })
        .collect();
    TaskGraph {
        tasks,
        parked: BTreeMap::new(),
    }
}

/// A scene without marks whose tasks are called by their ids.
pub(super) fn scene(tasks: &[(&str, &[&str], &str)]) -> Scene {
    let tasks: Vec<(&str, &str, &[&str], &str)> = tasks
        .iter()
        .map(|(id, needs, effort)| (*id, *id, *needs, *effort))
        .collect();
    Scene::new("alpha", &graph(&tasks), &BTreeMap::new())
}

fn hello_tower() -> TaskGraph {
    graph(&[
        ("1", "parse the greeting", &[], "half day"),
        ("2", "render the greeting", &["1"], "half day"),
        ("3", "command line", &["2"], "1 day"),
        ("4", "translations", &["1"], "2.5 days"),
        ("5", "release notes", &["3", "4"], "half day"),
    ])
}

fn under_way() -> Scene {
    let marks = [
        ("1", Mark::Landed),
        ("2", Mark::Ready),
        ("3", Mark::Blocked),
        ("4", Mark::Running),
        ("5", Mark::Blocked),
    ];
    let marks = marks.into_iter().map(|(task, mark)| (id(task), mark)).collect();
    Scene::new("hello-tower · Ready", &hello_tower(), &marks)
}

const fn plain(width: usize) -> TextStyle {
    TextStyle {
        width,
        ascii: false,
        color: false,
    }
}

const fn ascii(width: usize) -> TextStyle {
    TextStyle {
        width,
        ascii: true,
        color: false,
    }
}

#[test]
fn a_small_graph() {
    insta::assert_snapshot!(text(&under_way(), plain(80)), @r"
        hello-tower · Ready · 5 tasks in 4 layers · 5 days of work, 3.5 critical

          ●─╮  1*  parse the greeting   landed   0.5 d
          ┃ ○  2   render the greeting  ready    0.5 d  after 1
          ◐ │  4*  translations         running  2.5 d  after 1
          ┃ ◌  3   command line         blocked    1 d  after 2
          ◌─╯  5*  release notes        blocked  0.5 d  after 3, 4

        critical path (*): 1 → 4 → 5
        ");
    insta::assert_snapshot!(text(&under_way(), ascii(80)), @r"
        hello-tower - Ready - 5 tasks in 4 layers - 5 days of work, 3.5 critical

          L-.  1*  parse the greeting   landed   0.5 d
          # r  2   render the greeting  ready    0.5 d  after 1
          R |  4*  translations         running  2.5 d  after 1
          # b  3   command line         blocked    1 d  after 2
          b-'  5*  release notes        blocked  0.5 d  after 3, 4

        critical path (*): 1 > 4 > 5
        ");
}

#[test]
fn without_states_there_is_no_column_for_them() {
    let scene = Scene::new("hello-tower · Draft", &hello_tower(), &BTreeMap::new());
    insta::assert_snapshot!(text(&scene, plain(80)), @r"
        hello-tower · Draft · 5 tasks in 4 layers · 5 days of work, 3.5 critical

          ○─╮  1*  parse the greeting   0.5 d
          ┃ ○  2   render the greeting  0.5 d  after 1
          ○ │  4*  translations         2.5 d  after 1
          ┃ ○  3   command line           1 d  after 2
          ○─╯  5*  release notes        0.5 d  after 3, 4

        critical path (*): 1 → 4 → 5
        ");
    insta::assert_snapshot!(text(&Scene::new("x", &graph(&[]), &BTreeMap::new()), plain(80)), @r"x · no tasks");
}

#[test]
fn colours_repeat_what_the_words_say() {
    let colored = text(
        &under_way(),
        TextStyle {
            color: true,
            ..plain(80)
        },
    );
    assert!(colored.contains("\u{1b}[1;35m┃\u{1b}[0m") && colored.contains("\u{1b}[32m●\u{1b}[0m"));
    let mut stripped = colored;
    for code in ["0", "1", "2", "32", "33", "36", "1;35"] {
        stripped = stripped.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(stripped, text(&under_way(), plain(80)));
}

/// Seventeen tasks whose dependencies cross, as in a real bundle.
fn crossing() -> TaskGraph {
    let mut graph = graph(&[
        ("1", "format and doctrine", &[], "2 days"),
        ("2", "validator and hygiene scaffold", &["1"], "2 days"),
        (
            "3",
            "extensions: domains, lenses, evidence and storage classes",
            &[],
            "3 days",
        ),
        (
            "4",
            "card schema, authoring recipe and the product strategy card",
            &["3"],
            "2 days",
        ),
        ("5", "remaining six cards", &["4"], "3 days"),
        ("6", "engineering card", &["4"], "2 days"),
        ("7", "skill core, a walking skeleton", &["1", "2", "3"], "4 days"),
        ("8", "registry, telemetry and the portfolio view", &["1"], "2 days"),
        ("9", "fan-out", &["4", "7"], "4 days"),
        ("10", "task contract", &["1", "7"], "2 days"),
        ("11", "gate and graduation", &["7", "10"], "2 days"),
        ("12", "renderer", &["1"], "2 days"),
        ("13", "adapter seam", &["12"], "3 days"),
        ("14", "bridge", &["7"], "1 day"),
        ("15", "integration", &["8", "11"], "2 days"),
        ("16", "documents", &["7", "9", "12"], "1 day"),
        (
            "17",
            "continuous validation",
            &["7", "8", "12", "9", "10", "11"],
            "2 days",
        ),
    ]);
    let parking = |place| Parking {
        place,
        note: "— later".to_owned(),
    };
    graph.parked.insert(id("14"), parking(ParkingPlace::Deferred));
    graph.parked.insert(id("16"), parking(ParkingPlace::AwaitingInput));
    graph
}

#[test]
fn a_real_size() {
    let scene = Scene::new("inception", &crossing(), &BTreeMap::new());
    insta::assert_snapshot!(text(&scene, plain(80)), @r"
        inception · 17 tasks in 6 layers · 39 days of work, 14 critical

          ○─╮             1*  format and doctrine                2 d
          ┃ │ ○           3   extensions:…rage classes           3 d
          ○ │ │           2*  validator an…ene scaffold          2 d  after 1
          ┃ │ ├─○         4   card schema,…trategy card          2 d  after 3
          ┃ ├─│─│─○       8   registry, te…rtfolio view          2 d  after 1
          ┃ ○ │ │ │      12   renderer                           2 d  after 1
          ┃ │ │ ├─│─○     5   remaining six cards                3 d  after 4
          ┃ │ │ ├─│───○   6   engineering card                   2 d  after 4
          ○─│─┴─│─│─╮     7*  skill core,…ing skeleton           4 d  after 1, 2, 3
          ┃ ├─○ │ │ │    13   adapter seam                       3 d  after 12
          ○─│───┴─│─│─╮   9*  fan-out                            4 d  after 4, 7
          ┃ │ ○───│─┤ │  10   task contract                      2 d  after 1, 7
          ┃ │ │   │ ◇ │  14   bridge                     parked  1 d  after 7
          ┃ │ ○   │   │  11   gate and graduation                2 d  after 7, 10
          ┃ ├─│───│───◇  16   documents                  parked  1 d  after 7, 9, 12
          ┃ │ ├─○─┤      15   integration                        2 d  after 8, 11
          ○─┴─┴───╯      17*  continuous validation              2 d  after 7, 8, 12 +3

        critical path (*): 1 → 2 → 7 → 9 → 17
        not drawn: 6 dependencies that others imply
        ");
    insta::assert_snapshot!(text(&scene, plain(120)), @r"
        inception · 17 tasks in 6 layers · 39 days of work, 14 critical

          ○─╮             1*  format and doctrine                                                  2 d
          ┃ │ ○           3   extensions: domains, lenses, evidence and storage classes            3 d
          ○ │ │           2*  validator and hygiene scaffold                                       2 d  after 1
          ┃ │ ├─○         4   card schema, authoring recipe and the product strategy card          2 d  after 3
          ┃ ├─│─│─○       8   registry, telemetry and the portfolio view                           2 d  after 1
          ┃ ○ │ │ │      12   renderer                                                             2 d  after 1
          ┃ │ │ ├─│─○     5   remaining six cards                                                  3 d  after 4
          ┃ │ │ ├─│───○   6   engineering card                                                     2 d  after 4
          ○─│─┴─│─│─╮     7*  skill core, a walking skeleton                                       4 d  after 1, 2, 3
          ┃ ├─○ │ │ │    13   adapter seam                                                         3 d  after 12
          ○─│───┴─│─│─╮   9*  fan-out                                                              4 d  after 4, 7
          ┃ │ ○───│─┤ │  10   task contract                                                        2 d  after 1, 7
          ┃ │ │   │ ◇ │  14   bridge                                                       parked  1 d  after 7
          ┃ │ ○   │   │  11   gate and graduation                                                  2 d  after 7, 10
          ┃ ├─│───│───◇  16   documents                                                    parked  1 d  after 7, 9, 12
          ┃ │ ├─○─┤      15   integration                                                          2 d  after 8, 11
          ○─┴─┴───╯      17*  continuous validation                                                2 d  after 7, 8, 12, 9, 10 +1

        critical path (*): 1 → 2 → 7 → 9 → 17
        not drawn: 6 dependencies that others imply
        ");
}

#[test]
fn what_room_there_is_not_is_counted() {
    let scene = Scene::new("inception", &crossing(), &BTreeMap::new());
    insta::assert_snapshot!(text(&scene, plain(40)), @r"
        inception · 17 tasks…f work, 14 critical

          ○─╮           1*  for…ine          2 d
          ┃ │ ○         3   ext…ses          3 d
          ○ │ │         2*  val…old          2 d
          ┃ │ ├─○       4   car…ard          2 d
          ┃ ├─│─│─○     8   reg…iew          2 d
          ┃ ○ │ │      12   ren…rer          2 d
          ┃ │ │ ├─○     5   rem…rds          3 d
          ┃ │ │ ├───○   6   eng…ard          2 d
          ○─│─╯ │       7*  ski…ton          4 d
          ┃ ├─○ │      13   ada…eam          3 d
          ○─│───╯       9*  fan-out          4 d
          ┃ │ ○        10   tas…act          2 d
          ┃ │ │ ◇      14   bridge   parked  1 d
          ┃ │ ○        11   gat…ion          2 d
          ┃ ├─│─◇      16   doc…nts  parked  1 d
          ┃ │ ├───○    15   int…ion          2 d
          ○─┴─╯        17*  con…ion          2 d

        critical path (*): 1 → 2 → 7 → 9 → 17
        not drawn: 6 depende…s that others imply
        not drawn for want o…oom: 5 dependencies
        ");
}

#[test]
fn circles_and_dependencies_on_nothing_are_shown() {
    let scene = Scene::new(
        "broken",
        &graph(&[
            ("1", "starts well", &[], "1 day"),
            ("2", "waits for its own follower", &["1", "4"], "1 day"),
            ("3", "in between", &["2"], "1 day"),
            ("4", "closes the circle", &["3", "9"], "1 day"),
            ("5", "waits for itself", &["5"], "1 day"),
            ("6", "alone", &[], "1 day"),
            ("7", "alone too", &[], "1 day"),
        ]),
        &BTreeMap::new(),
    );
    insta::assert_snapshot!(text(&scene, plain(80)), @r"
        broken · 7 tasks in 3 layers · 7 days of work, 4 critical

          ○        1*  starts well                 1 d
          ┃ ○      3*  in between                  1 d  after ↻ 2
          ┃ │ ○    5   waits for itself            1 d  after ↻ 5
          ┃ │   ○  6   alone                       1 d
          ┃ │ ○    7   alone too                   1 d
          ┃ ○      4*  closes the circle           1 d  after 3, 9 (missing)
          ○─╯      2*  waits for its own follower  1 d  after 1, 4

        critical path (*): 1 → 2 → 3 → 4
        circle, none of which can ever be ready: 2 → 4 → 3 → 2
        circle, none of which can ever be ready: 5 → 5
        missing: 1 dependency on tasks that do not exist
        ");
    insta::assert_snapshot!(dot(&scene), @r##"
        digraph "broken" {
          graph [rankdir=LR, bgcolor="transparent", fontname="sans-serif", ranksep=0.6]
          node [shape=box, style="rounded,filled", fillcolor="#ffffff", color="#57606a", fontcolor="#1f2328", fontname="sans-serif", margin="0.18,0.09"]
          edge [color="#8c959f", arrowsize=0.7]

          "1" [label="1 — starts well\n1 d · critical", penwidth=3, color="#8250df"]
          "2" [label="2 — waits for its own follower\n1 d · critical", penwidth=3, color="#8250df"]
          "3" [label="3 — in between\n1 d · critical", penwidth=3, color="#8250df"]
          "4" [label="4 — closes the circle\n1 d · critical", penwidth=3, color="#8250df"]
          "5" [label="5 — waits for itself\n1 d"]
          "6" [label="6 — alone\n1 d"]
          "7" [label="7 — alone too\n1 d"]
          "9" [label="9\nmissing", style="rounded,dashed", color="#cf222e", fontcolor="#cf222e"]

          "1" -> "2" [penwidth=3, color="#8250df"]
          "4" -> "2"
          "2" -> "3" [style=dashed, color="#cf222e", label="circle", fontcolor="#cf222e"]
          "3" -> "4" [penwidth=3, color="#8250df"]
          "5" -> "5" [style=dashed, color="#cf222e", label="circle", fontcolor="#cf222e"]
          "9" -> "4" [style=dashed, color="#cf222e"]
        }
        "##);
    insta::assert_snapshot!(mermaid(&scene), @r#"
        flowchart LR
          accTitle: broken
          t1["1 — starts well<br/>1 d · critical"]
          t2["2 — waits for its own follower<br/>1 d · critical"]
          t3["3 — in between<br/>1 d · critical"]
          t4["4 — closes the circle<br/>1 d · critical"]
          t5["5 — waits for itself<br/>1 d"]
          t6["6 — alone<br/>1 d"]
          t7["7 — alone too<br/>1 d"]
          t9["9<br/>missing"]:::missing
          t1 ==> t2
          t4 --> t2
          t2 -. circle .-> t3
          t3 ==> t4
          t5 -. circle .-> t5
          t9 -.-> t4
          classDef missing fill:#ffffff,stroke:#cf222e,color:#cf222e,stroke-dasharray:6 4
          classDef critical stroke:#8250df,stroke-width:3px
          class t1,t2,t3,t4 critical
        "#);
}

#[test]
fn marks_are_in_the_words_of_status() {
    use orchestrate_core::derive::Progress;
    use orchestrate_core::identifier::CommitId;
    use orchestrate_core::observed::Why;
    let progress = |kind| {
        TaskState::InProgress(Progress {
            kind,
            detail: String::new(),
            hint: None,
            at: None,
        })
    };
    let commit = CommitId::parse("0123456789012345678901234567890123456789").expect("commit");
    let states = [
        TaskState::Landed { commit },
        progress(ProgressKind::Running),
        progress(ProgressKind::Submitted),
        progress(ProgressKind::Committed),
        progress(ProgressKind::Claimed),
        progress(ProgressKind::Ended),
        progress(ProgressKind::Unreadable),
        progress(ProgressKind::Reverted),
        TaskState::Unknown(Why::new("x")),
        TaskState::Ready,
        TaskState::Blocked { needs: Vec::new() },
    ];
    let parking = Parking {
        place: ParkingPlace::Deferred,
        note: String::new(),
    };
    for parked in [None, Some(parking)] {
        let report = |(number, state): (usize, &TaskState)| {
            let report = TaskReport {
                state: state.clone(),
                rows: Vec::new(),
                decided_by: None,
                worker_still_running: false,
                parked: parked.clone(),
                at: None,
                fence: None,
            };
            (id(&number.to_string()), report)
        };
        let state = SpecState {
            tasks: states.iter().enumerate().map(report).collect(),
        };
        let marks = marks(&state);
        assert_eq!(marks.len(), states.len());
        for (task, mark) in marks {
            assert_eq!(mark.word(), orchestrate_core::standing::word(&state, &task));
        }
    }
}
