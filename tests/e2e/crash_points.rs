//! `docs/reference/crash-points.md` is true: a step that is killed at a point leaves what the page says, and the next
//! step does what it says (law L11). Every passing of every point is tried, not only those that the page tells of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use orchestrate_e2e::output::Output;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{failpoint_binary, skipped};

use crate::{single, state_of};

const PAGE: &str = include_str!("../../docs/reference/crash-points.md");
const FENCE: &str = "refs/planwright-fence/alpha/1";

/// What a step is about to do when it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    Dispatch,
    Advance,
    Landing,
    Retiring,
    Parking,
    PuttingBack,
}

/// What the page says that the next step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It dispatches the unit.
    Dispatches,
    /// It starts nothing: the worker runs, or has run.
    Leaves,
    /// It starts nothing: whether a worker has worked cannot be told, and a person decides.
    Holds,
    /// Either of the first two; whichever it is, there is one worker.
    OneWorker,
    /// It completes what the killed step was doing.
    Completes,
}

/// Something durable, and how to see it.
type Fact = (&'static str, fn(&Sandbox) -> bool);

/// What a dispatch makes durable, in its order: each is there only if all before it are (law L2).
const DISPATCH: &[Fact] = &[
    ("fetch", |sandbox| {
        sandbox.path(".claude/orchestrate.local/last-fetch").is_file()
    }),
    ("intent", |sandbox| {
        sandbox.path(".git/orchestrate/intent/alpha/1").is_file()
    }),
    ("fence", is_fenced),
    ("branch", |sandbox| !sandbox.refs("refs/heads/planwright").is_empty()),
    ("registration", |sandbox| {
        sandbox.path(".git/worktrees/alpha-task-1/HEAD").is_file()
    }),
    ("directory", |sandbox| {
        sandbox.path(".claude/worktrees/alpha-task-1/.git").is_file()
    }),
    ("record", |sandbox| {
        sandbox.path(".git/orchestrate/dispatch/alpha/1.json").is_file()
    }),
    ("marker", |sandbox| {
        sandbox.path("specs/alpha/.orchestrate/markers/1").is_file()
    }),
    ("second marker", |sandbox| {
        sandbox.path(".git/planwright/orchestrate/alpha/markers/1").is_file()
    }),
    ("files", |sandbox| {
        sandbox
            .path(".claude/worktrees/alpha-task-1/specs/alpha/tasks.md")
            .is_file()
    }),
    ("index", |sandbox| {
        sandbox.path(".git/worktrees/alpha-task-1/index").is_file()
    }),
    ("unlocking", |sandbox| {
        !sandbox.path(".git/worktrees/alpha-task-1/locked").exists()
    }),
    ("launch record", |sandbox| launch_record(sandbox).is_some()),
    ("client", |sandbox| !sandbox.starts().is_empty()),
    ("end", |sandbox| {
        launch_record(sandbox).is_some_and(|text| text.contains("\"ended\": {"))
    }),
];

/// The same, where the branch is there and base has moved on.
const ADVANCE: &[Fact] = &[("move", |sandbox| {
    sandbox.commit_of("planwright/alpha/task-1") == sandbox.commit_of("main")
})];

/// What goes when a unit has landed, in its order.
const LANDING: &[Fact] = &[
    ("fence's end", |sandbox| !is_fenced(sandbox)),
    ("marker's end", |sandbox| {
        !sandbox.path("specs/alpha/.orchestrate/markers/1").exists()
    }),
    ("second marker's end", |sandbox| {
        !sandbox.path(".git/planwright/orchestrate/alpha/markers/1").exists()
    }),
    ("record's end", |sandbox| {
        !sandbox.path(".git/orchestrate/dispatch/alpha/1.json").exists()
    }),
    ("launch record's end", |sandbox| launch_record(sandbox).is_none()),
];

/// How the worktree of a landed unit goes, in its order.
const RETIRING: &[Fact] = &[
    ("aside", |sandbox| {
        !sandbox.path(".claude/worktrees/alpha-task-1").exists()
    }),
    ("looked at", |sandbox| {
        !is_registered(sandbox) || sandbox.path(".git/worktrees/alpha-task-1/orchestrate.retired").exists()
    }),
    ("thrown away", |sandbox| {
        !is_registered(sandbox) || !left(sandbox, "worktrees").is_empty()
    }),
    ("unregistering", |sandbox| !is_registered(sandbox)),
    ("files' end", |sandbox| {
        !is_registered(sandbox) && left(sandbox, "worktrees").is_empty()
    }),
    ("registration's end", |sandbox| {
        !is_registered(sandbox) && left(sandbox, "registrations").is_empty()
    }),
];

fn is_registered(sandbox: &Sandbox) -> bool {
    sandbox.path(".git/worktrees/alpha-task-1").exists()
}

/// Returns what of retired worktrees, or of their registrations, has yet to be removed.
fn left(sandbox: &Sandbox, of: &str) -> Vec<String> {
    let (directory, prefix) = match of {
        "worktrees" => (".claude/worktrees", ".orchestrate-left-"),
        "registrations" => (".git/orchestrate/retired", ""),
        other => panic!("nothing is left of {other}"),
    };
    let Ok(entries) = fs::read_dir(sandbox.path(directory)) else {
        return Vec::new();
    };
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("ASCII"));
    names.filter(|name| name.starts_with(prefix)).collect()
}

const PARKING: &[Fact] = &[("bullet", |sandbox| bullets(sandbox) == 1)];
const PUTTING_BACK: &[Fact] = &[("bullet's end", |sandbox| bullets(sandbox) == 0)];

fn is_fenced(sandbox: &Sandbox) -> bool {
    let origin = sandbox.root().join("origin.git");
    !sandbox.git_in(&origin, &["for-each-ref", FENCE]).is_empty()
}

fn launch_record(sandbox: &Sandbox) -> Option<String> {
    fs::read_to_string(sandbox.path(".git/orchestrate/dispatch/alpha/1.launch.json")).ok()
}

fn bullets(sandbox: &Sandbox) -> usize {
    sandbox.read("specs/alpha/tasks.md").matches("- **Task 1** — ").count()
}

impl Killed {
    fn parse(words: &str) -> Self {
        match words {
            "a dispatch" => Self::Dispatch,
            "a dispatch after base moved" => Self::Advance,
            "a step after a landing" => Self::Landing,
            "a step that retires" => Self::Retiring,
            "a step that parks" => Self::Parking,
            "a step that puts a task back" => Self::PuttingBack,
            other => panic!("the page names another step: {other}"),
        }
    }

    fn facts(self) -> &'static [Fact] {
        match self {
            Self::Dispatch => DISPATCH,
            Self::Advance => ADVANCE,
            Self::Landing => LANDING,
            Self::Retiring => RETIRING,
            Self::Parking => PARKING,
            Self::PuttingBack => PUTTING_BACK,
        }
    }

    /// A repository with an origin, in which the next step does what is to be killed.
    fn prepared(self, program: &str) -> Sandbox {
        let sandbox = Sandbox::with(program, &single());
        sandbox.add_origin();
        match self {
            Self::Dispatch => {}
            Self::Advance => {
                let _ = sandbox.git(&["branch", "planwright/alpha/task-1"]);
                let _ = sandbox.commit_all("base moves");
                let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
            }
            Self::Landing | Self::Retiring => {
                sandbox.act_commit("1", "work\n\nPlanwright-Task: alpha/1\n");
                let _ = sandbox.orchestrate(&["alpha"]).exits(0);
                sandbox.wait_for_worker("alpha", "1");
                let _ = sandbox.git(&["merge", "--quiet", "planwright/alpha/task-1"]);
                let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
            }
            Self::Parking => {
                sandbox.act("1", "echo precious > new.txt\n");
                let _ = sandbox.orchestrate(&["alpha"]).exits(0);
                sandbox.wait_for_worker("alpha", "1");
                let clear = ["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"];
                let _ = sandbox.orchestrate(&clear).exits(0);
            }
            Self::PuttingBack => {
                let design = sandbox.read("specs/alpha/design.md");
                let publish = |text: &str| {
                    sandbox.write("specs/alpha/design.md", text);
                    let _ = sandbox.git(&[
                        "commit",
                        "--quiet",
                        "--message",
                        "design",
                        "--",
                        "specs/alpha/design.md",
                    ]);
                    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
                };
                publish(&format!("{design}\nOne more thought.\n"));
                let _ = sandbox.orchestrate(&["alpha"]).exits(4).says("parked task 1");
                publish(&design);
            }
        }
        sandbox
    }
}

/// A line of the page's table.
#[derive(Debug)]
struct Row {
    point: &'static str,
    killed: Killed,
    passing: u32,
    /// The last durable fact, or none.
    last: Option<&'static str>,
    locked: bool,
    next: Next,
}

fn rows() -> Vec<Row> {
    let lines = PAGE.lines().filter(|line| line.starts_with("| `"));
    lines.map(row).collect()
}

fn row(line: &'static str) -> Row {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [point, killed, durable, next] = cells[..] else {
        panic!("four cells: {line}");
    };
    let (step, passing) = killed.split_once(", ").unwrap_or((killed, "1"));
    let digits = passing.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let end = digits
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(digits.len());
    let mut facts: Vec<&str> = durable.split('`').skip(1).step_by(2).collect();
    let locked = facts.first() == Some(&"lock");
    if locked {
        facts.remove(0);
    }
    assert!(facts.len() <= 1, "one last fact: {line}");
    let word = next.split("**").nth(1).unwrap_or_else(|| panic!("a bold word: {line}"));
    Row {
        point: point.trim_matches('`'),
        killed: Killed::parse(step),
        passing: digits[..end].parse().expect("a number"),
        last: facts.first().copied(),
        locked,
        next: match word {
            "dispatches" => Next::Dispatches,
            "leaves" => Next::Leaves,
            "holds" => Next::Holds,
            "one worker" => Next::OneWorker,
            "completes" => Next::Completes,
            other => panic!("the page says something else of the next step: {other}"),
        },
    }
}

/// Runs a step that is killed at a passing of a point, itself or its worker runner.
fn kill(sandbox: &Sandbox, point: &str, passing: u32) {
    let log = sandbox.desk().join("failpoints");
    let at = format!("{point}:{passing}");
    let variables = [
        ("ORCHESTRATE_FAILPOINT", at.as_str()),
        ("ORCHESTRATE_FAILPOINT_LOG", log.as_str()),
    ];
    let _ = sandbox.orchestrate_with(&sandbox.repository(), &["alpha"], &variables);
    wait(sandbox);
    let killed = fs::read_to_string(&log).unwrap_or_default();
    assert_eq!(killed.lines().count(), 1, "{at}: {killed}");
}

fn wait(sandbox: &Sandbox) {
    if sandbox.lease("alpha", "1").is_file() {
        sandbox.wait_for_worker("alpha", "1");
    }
}

/// Returns how many of the facts hold: always the first ones, and no other.
fn durable(sandbox: &Sandbox, facts: &[Fact], what: &str) -> usize {
    let holding: Vec<bool> = facts.iter().map(|(_, holds)| holds(sandbox)).collect();
    let count = holding.iter().take_while(|holds| **holds).count();
    // Whether the lock of a worktree is gone can be asked only of one that is registered.
    let later = holding.iter().zip(facts).skip(count);
    let out_of_order: Vec<&str> = later
        .filter(|(holds, (name, _))| **holds && *name != "unlocking")
        .map(|(_, (name, _))| *name)
        .collect();
    assert_eq!(out_of_order, [""; 0], "{what}: durable before {}", facts[count].0);
    count
}

fn last_durable(sandbox: &Sandbox, killed: Killed, what: &str) -> Option<&'static str> {
    let count = durable(sandbox, killed.facts(), what);
    count.checked_sub(1).map(|index| killed.facts()[index].0)
}

/// Whatever is there can be read: no file of ours is torn, and git finds nothing wrong.
fn is_whole(sandbox: &Sandbox, what: &str) {
    for name in ["1.json", "1.launch.json"] {
        if let Ok(text) = fs::read_to_string(sandbox.path(&format!(".git/orchestrate/dispatch/alpha/{name}"))) {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(&text);
            assert!(parsed.is_ok(), "{what}: {name}: {text}");
        }
    }
    if let Ok(marker) = fs::read_to_string(sandbox.path("specs/alpha/.orchestrate/markers/1")) {
        assert_eq!(marker.len(), 11, "{what}: {marker:?}");
    }
    let _ = sandbox.git(&["fsck", "--no-progress", "--connectivity-only"]);
}

fn step(sandbox: &Sandbox) -> Output {
    let output = sandbox.orchestrate(&["alpha"]);
    wait(sandbox);
    output
}

/// Steps until nothing is left to do: then the unit had exactly one worker, or has landed, or is parked once.
fn converges(sandbox: &Sandbox, killed: Killed, what: &str) {
    for _ in 0..2 {
        let output = step(sandbox);
        assert!(matches!(output.exit, 0 | 4), "{what}: {output}");
    }
    match killed {
        Killed::Dispatch | Killed::Advance | Killed::PuttingBack => {
            assert_eq!(bullets(sandbox), 0, "{what}");
            assert!(!sandbox.path("specs/alpha/.orchestrate.lock").exists(), "{what}");
            let state = state_of(sandbox, "1");
            assert!(
                state.starts_with("held: its worker ended and left no commit"),
                "{what}: {state}"
            );
            if sandbox.starts().is_empty() {
                let clear = ["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"];
                let _ = sandbox.orchestrate(&clear).exits(0);
                let _ = step(sandbox).exits(0).says("dispatched alpha task 1");
            }
            let worktree = sandbox.path(".claude/worktrees/alpha-task-1");
            assert_eq!(sandbox.git_in(&worktree, &["status", "--porcelain"]), "", "{what}");
        }
        Killed::Landing => {
            // A launch record alone is read by nobody.
            assert!(durable(sandbox, LANDING, what) >= LANDING.len() - 1, "{what}");
            assert!(state_of(sandbox, "1").starts_with("landed"), "{what}");
        }
        Killed::Retiring => {
            assert_eq!(durable(sandbox, RETIRING, what), RETIRING.len(), "{what}");
            assert!(state_of(sandbox, "1").starts_with("landed"), "{what}");
            let worktrees = sandbox.git(&["worktree", "list", "--porcelain"]);
            assert_eq!(worktrees.matches("worktree ").count(), 1, "{what}: {worktrees}");
        }
        Killed::Parking => {
            assert_eq!(bullets(sandbox), 1, "{what}");
            let text = fs::read_to_string(sandbox.path(".claude/worktrees/alpha-task-1/new.txt"));
            assert_eq!(text.expect("the work"), "precious\n", "{what}");
        }
    }
    assert_eq!(sandbox.starts(), ["alpha 1"], "{what}: one worker in all");
}

/// The next step does what the page says.
fn follows(sandbox: &Sandbox, row: &Row, what: &str) {
    let starts = sandbox.starts().len();
    match row.next {
        Next::Dispatches => {
            let _ = step(sandbox).exits(0).says("dispatched alpha task 1");
            assert_eq!(sandbox.starts().len(), 1, "{what}");
        }
        Next::Leaves => {
            let output = step(sandbox).exits(0);
            assert!(!output.stdout.contains("dispatched alpha"), "{what}: {output}");
            assert_eq!((starts, sandbox.starts().len()), (1, 1), "{what}");
        }
        Next::Holds => {
            let output = step(sandbox).exits(0);
            assert!(!output.stdout.contains("dispatched alpha"), "{what}: {output}");
            assert!(state_of(sandbox, "1").contains("its end was not recorded"), "{what}");
            assert_eq!(sandbox.starts().len(), 0, "{what}");
        }
        Next::OneWorker => {}
        Next::Completes => {
            let _ = step(sandbox);
            let facts = row.killed.facts();
            assert_eq!(durable(sandbox, facts, what), facts.len(), "{what}");
        }
    }
}

/// Returns the points that such a step passes in the tower itself, each as often as it is passed, and those of its worker.
fn passed(killed: Killed, program: &str) -> Vec<(String, u32)> {
    let sandbox = killed.prepared(program);
    let log = sandbox.desk().join("passed");
    let variables = [
        ("ORCHESTRATE_FAILPOINT", "none"),
        ("ORCHESTRATE_FAILPOINT_LOG", log.as_str()),
    ];
    let _ = sandbox.orchestrate_with(&sandbox.repository(), &["alpha"], &variables);
    wait(&sandbox);
    let text = fs::read_to_string(&log).expect("points are passed");
    let mut passings: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    let mut passed = Vec::new();
    let mut tower = None;
    for (point, pid) in text.lines().filter_map(|line| line.split_once(' ')) {
        let passing = passings.entry((point, pid)).or_default();
        *passing += 1;
        // The worker runner passes file effects too. It is killed at its own points, which lie around them.
        if pid == *tower.get_or_insert(pid) || point.starts_with("worker.") {
            passed.push((point.to_owned(), *passing));
        }
    }
    passed
}

/// Kills such a step at every passing of the points, and compares with the page where it tells of that passing.
fn kill_everywhere(killed: Killed, is_wanted: fn(&str) -> bool) {
    let Some(program) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    let rows: Vec<Row> = rows()
        .into_iter()
        .filter(|row| row.killed == killed && is_wanted(row.point))
        .collect();
    let mut met = BTreeSet::new();
    let passed = passed(killed, &program);
    for (point, passing) in passed.iter().filter(|(point, _)| is_wanted(point)) {
        let sandbox = killed.prepared(&program);
        let what = format!("{killed:?} {point}:{passing}");
        kill(&sandbox, point, *passing);
        is_whole(&sandbox, &what);
        let row = rows.iter().find(|row| row.point == point && row.passing == *passing);
        // What a runner that goes on by itself makes durable cannot be looked at in order.
        let last = (point != "spawn.started").then(|| last_durable(&sandbox, killed, &what));
        let locked = sandbox.path("specs/alpha/.orchestrate.lock").exists();
        if let Some(row) = row {
            assert!(
                last.is_none_or(|last| last == row.last),
                "{what}: {last:?}, not {:?}",
                row.last
            );
            assert_eq!(locked, row.locked, "{what}");
            follows(&sandbox, row, &what);
            met.insert(row.point);
        }
        converges(&sandbox, killed, &what);
    }
    let told: BTreeSet<&str> = rows.iter().map(|row| row.point).collect();
    assert_eq!(met, told, "each row of the page was met");
}

/// The points that a step passes before its branch.
fn is_file_effect(point: &str) -> bool {
    ["create-directory.", "write.", "publish.", "remove.", "touch."]
        .iter()
        .any(|kind| point.starts_with(kind))
}

/// Verifies REQ-A1.11.
#[test]
fn a_dispatch_that_is_killed_at_a_file_effect() {
    kill_everywhere(Killed::Dispatch, is_file_effect);
}

/// Verifies REQ-A1.11.
#[test]
fn a_dispatch_that_is_killed_at_any_other_effect() {
    kill_everywhere(Killed::Dispatch, |point| !is_file_effect(point));
}

/// Verifies REQ-A1.11.
#[test]
fn a_dispatch_after_base_moved_that_is_killed() {
    kill_everywhere(Killed::Advance, |point| point.starts_with("advance-branch"));
}

/// Verifies REQ-A1.11.
#[test]
fn a_step_after_a_landing_that_is_killed() {
    kill_everywhere(Killed::Landing, |point| !retires(point));
}

fn retires(point: &str) -> bool {
    point.starts_with("retire-worktree.") || point.starts_with("clear-retired.")
}

/// Verifies REQ-A1.11.
#[test]
fn a_step_that_retires_a_worktree_and_is_killed() {
    kill_everywhere(Killed::Retiring, retires);
}

/// Verifies REQ-A1.11.
#[test]
fn a_step_that_parks_and_is_killed() {
    kill_everywhere(Killed::Parking, |_| true);
}

/// Verifies REQ-A1.11.
#[test]
fn a_step_that_puts_a_task_back_and_is_killed() {
    kill_everywhere(Killed::PuttingBack, |_| true);
}
