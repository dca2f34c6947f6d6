//! Halts: written once where nobody is there to be told, presented and waited for where somebody is.

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{read_only, skipped};
use orchestrate_e2e::terminal::{CTRL_C, CTRL_D};
use orchestrate_testkit::bundle::BundleFixture;

use crate::{PROGRAM, alpha, check, sandbox, single};

const TASKS: &str = "specs/alpha/tasks.md";
const LEFT: &str = ".claude/worktrees/alpha-task-1/new.txt";
const PROMPT: &str = "enter, park or leave? ";

/// The first unit's worktree holds work that nobody committed, and nothing else is ready.
fn halted_in(bundle: &BundleFixture) -> Sandbox {
    let sandbox = sandbox(bundle);
    sandbox.act("1", "echo precious > new.txt\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    sandbox.act("1", "true\n");
    sandbox
}

fn bullets(sandbox: &Sandbox) -> usize {
    sandbox.read(TASKS).matches("- **Task ").count()
}

fn is_untouched(sandbox: &Sandbox) -> bool {
    sandbox.git(&["status", "--porcelain"]).is_empty() && !sandbox.path("specs/alpha/.orchestrate.lock").exists()
}

/// Nothing is locked and nothing written while the person mends what is in the way; the answer is decided from what is
/// there then.
/// Verifies REQ-D2.3.
#[test]
fn a_person_is_waited_for_and_the_step_goes_on_when_it_is_mended() {
    let sandbox = halted_in(&single());
    let mut terminal = sandbox.terminal(&["alpha"]);
    let shown = terminal.wait_for(PROMPT);
    for said in [
        "halted: .claude/worktrees/alpha-task-1 holds uncommitted work: new.txt",
        "hint: commit it on the unit's branch",
        "park   put task 1 under Awaiting input of specs/alpha",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert!(is_untouched(&sandbox));
    // Not mended yet: told again, with another question.
    terminal.line("");
    let _ = terminal.answer(PROMPT, "what?");
    let _ = terminal.wait_for(PROMPT);
    std::fs::remove_file(sandbox.path(LEFT)).expect("removed");
    terminal.line("");
    // Another question of the same step; whoever leaves it has declined.
    let again = "of an earlier attempt again? [y/N]";
    let _ = terminal.wait_for(again);
    terminal.type_in(CTRL_C);
    let _ = terminal.wait_for("is not to be used again");
    let _ = terminal.finish().exits(0);
    let mut terminal = sandbox.terminal(&["alpha"]);
    let _ = terminal.answer(again, "y");
    let _ = terminal.wait_for("dispatched alpha task 1");
    let _ = terminal.finish().exits(0);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(bullets(&sandbox), 0);
    assert_eq!(sandbox.starts().len(), 2);
}

/// Verifies REQ-D2.3.
#[test]
fn status_and_why_say_what_a_step_would_set_aside() {
    let sandbox = halted_in(&single());
    let _ = sandbox
        .orchestrate(&["status", "alpha"])
        .exits(0)
        .says("set aside: .claude/worktrees/alpha-task-1 holds")
        .says("commit it on the unit's branch, or move it away")
        .says("next: nothing, what is ready is set aside");
    let _ = sandbox
        .orchestrate(&["why", "alpha", "1"])
        .exits(0)
        .says("not dispatched: set aside:");
}

/// Verifies REQ-D2.3.
#[test]
fn a_person_may_have_it_parked() {
    let sandbox = halted_in(&single());
    let mut terminal = sandbox.terminal(&["alpha"]);
    let _ = terminal.answer(PROMPT, "park");
    let _ = terminal.wait_for("parked task 1 under Awaiting input");
    let _ = terminal.finish().exits(4);
    assert_eq!(bullets(&sandbox), 1);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("parked: Awaiting input");
    // What can be dispatched by the time of the answer is not parked.
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    assert!(is_untouched(&sandbox));
    let mut terminal = sandbox.terminal(&["alpha"]);
    let _ = terminal.wait_for(PROMPT);
    std::fs::remove_file(sandbox.path(LEFT)).expect("removed");
    terminal.line("park");
    let _ = terminal.wait_for("1 can be dispatched, so nothing was parked");
    let _ = terminal.finish().exits(0);
    assert!(is_untouched(&sandbox));
    assert_eq!(sandbox.starts().len(), 1);
}

/// Verifies REQ-D2.3.
#[test]
fn whoever_leaves_leaves_everything_as_it_is() {
    let sandbox = halted_in(&single());
    for act in ["leave\n", CTRL_C, CTRL_D] {
        let mut terminal = sandbox.terminal(&["alpha"]);
        let _ = terminal.wait_for(PROMPT);
        terminal.type_in(act);
        let _ = terminal.finish().exits(4);
        assert!(is_untouched(&sandbox), "{act:?}");
    }
    let mut terminal = sandbox.terminal(&["alpha"]);
    let _ = terminal.wait_for(PROMPT);
    let _ = terminal.hang_up();
    assert!(is_untouched(&sandbox));
}

/// Verifies REQ-D2.3.
#[test]
fn nobody_is_asked_who_is_not_there() {
    let question = "leave?";
    let program = sandbox(&single()).program().to_string();
    for (arguments, variables, piped) in [
        (vec!["alpha", "--unattended"], vec![], ""),
        (vec!["alpha"], vec![("CI", "true")], ""),
        (vec!["alpha"], vec![], "> shown.txt"),
        (vec!["alpha"], vec![], "< /dev/null"),
        (vec!["alpha"], vec![], "2> shown.txt"),
    ] {
        let sandbox = halted_in(&single());
        let line = format!("{program} {} {piped}", arguments.join(" "));
        let repository = sandbox.repository();
        let terminal = sandbox.terminal_of("/bin/sh", &repository, &["-c", &line], &variables);
        let shown = terminal.finish().exits(4).text();
        assert!(!shown.contains(question), "{line}: {shown}");
        assert_eq!(bullets(&sandbox), 1, "{line}");
    }
    // A machine that reads is told, and so is who only asks what would be done.
    let sandbox = halted_in(&single());
    for option in ["--format=json", "--dry-run"] {
        let shown = sandbox.terminal(&["alpha", option]).finish().exits(4).text();
        assert!(
            !shown.contains(question) && shown.contains("new.txt"),
            "{option}: {shown}"
        );
        assert!(is_untouched(&sandbox), "{option}");
    }
}

/// What is wrong with the whole bundle waits too; there is no unit to be parked.
/// Verifies REQ-D2.3.
#[test]
fn a_bundle_that_is_not_signed_is_waited_for() {
    let sandbox = sandbox(&single());
    sandbox.write(
        "specs/alpha/design.md",
        &(sandbox.read("specs/alpha/design.md") + "\nMore.\n"),
    );
    let mut terminal = sandbox.terminal(&["alpha"]);
    let shown = terminal.wait_for("enter or leave? ");
    assert!(
        shown.contains("halted: specs/alpha in the working copy differs from main"),
        "{shown}"
    );
    let _ = sandbox.git(&["checkout", "--quiet", "--", "specs"]);
    terminal.line("");
    let _ = terminal.wait_for("dispatched alpha task 1");
    let _ = terminal.finish().exits(0);
    sandbox.wait_for_worker("alpha", "1");

    let over = crate::sandbox(&single().status("Retired"));
    let _ = over.terminal(&["alpha"]).finish().exits(4);
}

/// An open question keeps no other unit waiting (law L12).
/// Verifies REQ-D2.3.
#[test]
fn an_attended_loop_looks_at_the_others_while_it_waits() {
    let bundle = BundleFixture::new("alpha")
        .task("1", "first", &[], "3 days")
        .task("2", "second", &[], "1 day")
        .task("3", "third", &["2"], "1 day");
    let sandbox = halted_in(&bundle);
    sandbox.configure("watch_interval_seconds: 1\n");
    for unit in ["2", "3"] {
        sandbox.act_commit(unit, "work\n");
    }
    let mut terminal = sandbox.terminal(&["alpha", "--watch"]);
    let _ = terminal.wait_for("dispatched alpha task 2");
    let _ = terminal.wait_for(PROMPT);
    sandbox.wait_for_worker("alpha", "2");
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "planwright/alpha/task-2"]);
    let _ = terminal.wait_for("dispatched alpha task 3");
    let _ = terminal.answer(PROMPT, "park");
    let _ = terminal.wait_for("parked task 1 under Awaiting input");
    let _ = terminal.wait_for("watch ended: ");
    let _ = terminal.finish().exits(4);
    sandbox.wait_for_worker("alpha", "3");
    assert_eq!(bullets(&sandbox), 1);
    assert_eq!(sandbox.starts(), ["alpha 1", "alpha 2", "alpha 3"]);
}

#[test]
fn a_loop_that_is_left_at_a_halt_ends_there() {
    let sandbox = halted_in(&single());
    let mut terminal = sandbox.terminal(&["alpha", "--watch"]);
    let _ = terminal.wait_for(PROMPT);
    terminal.type_in(CTRL_C);
    let _ = terminal.wait_for("watch ended: a person is needed");
    let _ = terminal.finish().exits(4);
    assert!(is_untouched(&sandbox));
}

/// Verifies REQ-D2.3.
#[test]
fn a_person_is_asked_which_bundle_is_meant() {
    let sandbox = sandbox(&single());
    sandbox.add_bundle(&BundleFixture::new("beta").task("1", "one", &[], "1 day"));
    let question = "which one? its number or name, nothing to leave: ";
    let mut terminal = sandbox.terminal(&[]);
    let _ = terminal.answer(question, "");
    let _ = terminal.finish().exits(4);
    let mut terminal = sandbox.terminal(&[]);
    let _ = terminal.answer(question, "gamma");
    let _ = terminal.answer(question, "specs/beta");
    let _ = terminal.wait_for("dispatched beta task 1");
    let _ = terminal.finish().exits(0);
    sandbox.wait_for_worker("beta", "1");
    let _ = sandbox.orchestrate(&[]).exits(4).says("several bundles are open");
}

/// What stops every unit is written once, on the unit that was selected, and parks no second one.
/// Verifies REQ-D2.3.
#[test]
fn what_concerns_every_unit_is_written_once() {
    let sandbox = sandbox(&alpha());
    sandbox.write(".claude/planwright.local.yml", "dispatch_backend: command\n");
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 4
        --- out
        halted: backend command cannot start a worker: no command is configured
        hint: set command_backend, a list of program and arguments that is read from the machine-local and adopter layers only
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
    let once = sandbox.read(TASKS);
    assert_eq!(
        once.matches("- **Task 1** — halted for every task: backend command cannot start a worker")
            .count(),
        1
    );
    for arguments in [&["alpha"][..], &["alpha", "--watch"], &["alpha", "--unattended"]] {
        let _ = sandbox
            .orchestrate(arguments)
            .exits(4)
            .says("backend command cannot start a worker");
        assert_eq!(sandbox.read(TASKS), once, "{arguments:?}");
    }
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0]);
    // What a backend lacks is told in words that may be anybody's: the line stays until a person takes it away.
    sandbox.configure("");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
    assert_eq!(sandbox.read(TASKS), once);
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    assert!(is_untouched(&sandbox));
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// Changes the spec in what base has, and returns what gives it back.
fn changed(sandbox: &Sandbox) -> impl Fn() + '_ {
    let requirements = "specs/alpha/requirements.md";
    let signed = sandbox.read(requirements);
    sandbox.write(requirements, &signed.replace("is delivered.", "is delivered twice."));
    let commit = |subject: &str| {
        let _ = sandbox.git(&["commit", "--quiet", "--message", subject, "--", requirements]);
    };
    commit("docs: more");
    move || {
        sandbox.write(requirements, &signed);
        let _ = sandbox.git(&["commit", "--quiet", "--message", "docs: as before", "--", requirements]);
    }
}

/// What halted every task, and says nothing of the one it stands at, goes by itself.
/// Verifies REQ-D2.3.
#[test]
fn what_halted_every_task_and_has_passed_is_taken_back() {
    let sandbox = sandbox(&alpha());
    let clean = sandbox.read(TASKS);
    let give_back = changed(&sandbox);
    let _ = sandbox.orchestrate(&["alpha"]).exits(4);
    let once = sandbox.read(TASKS);
    give_back();
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("task 1 would be put back");
    assert_eq!(sandbox.read(TASKS), once);
    // Without the lock nothing is written, and nothing is dispatched either: the step waits, and so does a loop.
    let _ = sandbox.shell("mkdir specs/alpha/.orchestrate.lock").exits(0);
    let _ = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(12)
        .says("held: ");
    let _ = sandbox.shell("rmdir specs/alpha/.orchestrate.lock").exits(0);
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 0
        --- out
        task 1 is put back: what halted every task has passed
          it said: halted for every task: the spec changed after it was signed (signed [SHORT], main at [SHORT] has [SHORT]); review the change and sign it: orchestrate sign specs/alpha; then orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
    assert_eq!(sandbox.read(TASKS), clean);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// With the commits of `halt_commit` too the file is given back byte for byte.
/// Verifies REQ-D2.3.
#[test]
fn what_is_put_back_is_committed_where_that_is_asked_for() {
    let sandbox = sandbox(&single());
    let clean = sandbox.read(TASKS);
    sandbox.configure("halt_commit: true\n");
    let give_back = changed(&sandbox);
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(4)
        .says("committed as \"chore(alpha): park task 1 — awaiting input\"");
    assert_ne!(sandbox.read(TASKS), clean);
    give_back();
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(0)
        .says("committed as \"chore(alpha): unpark task 1 — what halted every task has passed\"");
    assert_eq!(sandbox.read(TASKS), clean);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    // Where the line was never committed there is nothing to commit.
    sandbox.configure("");
    let give_back = changed(&sandbox);
    let _ = sandbox.orchestrate(&["alpha"]).exits(4).says("nothing was committed");
    give_back();
    let head = sandbox.commit_of("HEAD");
    sandbox.configure("halt_commit: true\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("nothing was committed");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.commit_of("HEAD"), head);
}

/// In format version 1 parking takes the place of an earlier status: a person gives that back.
/// Verifies REQ-D2.3.
#[test]
fn a_block_of_version_1_is_not_put_back() {
    let sandbox = sandbox(&single());
    crate::records::add_version_1(&sandbox, "alpha", "Ready");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("brought up to date");
    let _ = sandbox.commit_all("docs: placed");
    let give_back = changed(&sandbox);
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(4)
        .says("parked task 1 under Awaiting input");
    let parked = sandbox.read(TASKS);
    let status = "- **Status:** awaiting input — halted for every task: the spec changed";
    assert!(parked.contains(status), "{parked}");
    give_back();
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task ");
    assert!(sandbox.read(TASKS).contains(status));
    sandbox.wait_for_worker("alpha", "3");
}

/// What a person has made of such a line is theirs, and so is one that only looks like it.
/// Verifies REQ-D2.3.
#[test]
fn a_line_of_every_unit_that_a_person_has_changed_stays() {
    let sandbox = sandbox(&single());
    let clean = sandbox.read(TASKS);
    let give_back = changed(&sandbox);
    let _ = sandbox.orchestrate(&["alpha"]).exits(4);
    let once = sandbox.read(TASKS);
    sandbox.write(TASKS, &clean);
    give_back();
    let line = |text: &str| once.replace("the spec changed after it was signed", text);
    let behind = |text: &str| {
        let end = "; then orchestrate unpark alpha 1";
        once.replace(&format!("{end}\n"), &format!("{end}{text}\n"))
    };
    for theirs in [
        behind(", says Ann"),
        behind("\n  Ann: the proxy was down again"),
        behind("\n  - Ann: wait for me"),
        behind("\n\n  Ann: wait for me"),
        line("the spec changed after it was signed, says Ann,"),
        line("Ann asked the customer, the spec changed after it was signed"),
        line("the customer has not paid"),
    ] {
        assert_ne!(theirs, once);
        sandbox.write(TASKS, &theirs);
        let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("parked: Awaiting input");
        assert_eq!(sandbox.read(TASKS), theirs);
    }
    sandbox.write(TASKS, &once);
    let _ = sandbox
        .orchestrate(&["alpha", "--watch"])
        .exits(0)
        .says("task 1 is put back")
        .says("dispatched alpha task 1");
    assert!(is_untouched(&sandbox));
    sandbox.wait_for_worker("alpha", "1");
}

/// A signature is a person's word on what halted every task, and its commit holds nothing of it.
/// Verifies REQ-D2.3.
#[test]
fn signing_puts_back_what_the_gate_had_parked() {
    let sandbox = sandbox(&alpha());
    let _ = changed(&sandbox);
    let clean = sandbox.read(TASKS);
    let _ = sandbox.orchestrate(&["alpha"]).exits(4);
    assert_ne!(sandbox.read(TASKS), clean);
    let (shown, output) = crate::signing::sign(&sandbox, "alpha");
    let _ = output.exits(0);
    // It is said before it is done.
    let said = "- tasks.md: task 1 is put back, which was parked for what halted every";
    assert!(shown.contains(said), "{shown}");
    assert_eq!(sandbox.read(TASKS), clean);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// A launch that the guard refuses is told, and nothing is written down of it (`contract/core.md §14.1`).
/// Verifies REQ-D2.3.
#[test]
fn a_launch_that_is_refused_is_told_and_not_written() {
    let sandbox = sandbox(&alpha());
    let settings = "dispatch_backend: command\ncommand_backend: [\"/bin/true\", \"--dangerously-skip-permissions\"]\n";
    sandbox.write(".claude/planwright.local.yml", settings);
    let _ = sandbox
        .orchestrate(&["alpha", "--unattended"])
        .exits(4)
        .says("halted: backend command cannot start a worker: --dangerously-skip-permissions lets a worker");
    assert!(is_untouched(&sandbox));
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0]);
}

/// A spec that was changed after its sign-off, in what base has.
/// Verifies REQ-D2.3.
#[test]
fn a_gate_that_does_not_pass_is_written_once() {
    let sandbox = sandbox(&alpha());
    let requirements = "specs/alpha/requirements.md";
    let edited = sandbox
        .read(requirements)
        .replace("is delivered.", "is delivered twice.");
    sandbox.write(requirements, &edited);
    let _ = sandbox.commit_all("docs: more");
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(4)
        .says("the spec changed after it was signed");
    let once = sandbox.read(TASKS);
    assert!(
        once.contains("- **Task 1** — halted for every task: the spec changed after it was signed"),
        "{once}"
    );
    assert!(
        once.contains("orchestrate sign specs/alpha; then orchestrate unpark alpha 1\n"),
        "{once}"
    );
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(4)
        .says("the spec changed after it was signed");
    assert_eq!(sandbox.read(TASKS), once);
    let _ = sandbox
        .orchestrate(&["plumbing", "spec-validate", "specs/alpha"])
        .exits(0);
}

/// Everything that is wrong before a unit is selected is told in one go, and written nowhere.
/// Verifies REQ-D1.6.
#[test]
fn what_is_wrong_before_a_unit_is_selected_is_told_together() {
    let sandbox = sandbox(&single());
    let broken = sandbox.read(TASKS).replace("### Task 1 — ", "### Task 1: ");
    sandbox.write(TASKS, &broken);
    std::fs::remove_file(sandbox.path("specs/alpha/kickoff-brief.md")).expect("removed");
    std::fs::create_dir_all(sandbox.path(".claude/doctrine.local/execute-task.md")).expect("a directory");
    let before = sandbox.listing();
    let said = [
        "specs/alpha cannot be read",
        "specs/alpha is not validly signed",
        "cannot resolve the rule document execute-task",
    ];
    let text = sandbox.orchestrate(&["alpha"]).exits(4).text();
    for said in said {
        assert!(text.contains(said), "{said}: {text}");
    }
    let value = sandbox.orchestrate(&["alpha", "--format", "json"]).exits(4).json();
    let reasons = value["reasons"].as_array().expect("reasons");
    for said in said {
        let is_it = |reason: &&serde_json::Value| reason["reason"].as_str().is_some_and(|text| text.contains(said));
        let found = reasons.iter().find(is_it).expect(said);
        assert!(found["hint"].is_string(), "{found}");
    }
    let draft = sandbox
        .read("specs/alpha/requirements.md")
        .replace("**Status:** Ready", "**Status:** Draft");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    sandbox.write("specs/alpha/requirements.md", &draft);
    let text = sandbox.orchestrate(&["alpha"]).exits(4).text();
    for said in ["specs/alpha is Draft", said[2]] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

/// From a linked worktree, from many towers at once, beside what a person has not committed: one bullet, on the primary
/// checkout, and no other byte.
/// Verifies REQ-D2.3.
#[test]
fn one_bullet_stands_on_the_primary_checkout() {
    let sandbox = halted_in(&single());
    let edited = sandbox
        .read(TASKS)
        .replace("## Deferred\n\n(none yet)", "## Deferred\n\n- **Later.** My own words.");
    sandbox.write(TASKS, &edited);
    let linked = sandbox.root().join("linked");
    let _ = sandbox.git(&["worktree", "add", "--quiet", linked.as_str(), "-b", "mine"]);
    let elsewhere = std::fs::read_to_string(linked.join(TASKS)).expect("the file");
    let towers: Vec<_> = (0..6)
        .map(|_| sandbox.start_program(PROGRAM, &linked, &["alpha", "--unattended"]))
        .collect();
    for tower in towers {
        let _ = tower.finish();
    }
    let after = sandbox.read(TASKS);
    let bullet = after
        .lines()
        .find(|line| line.starts_with("- **Task 1** — halted: "))
        .expect("a bullet");
    assert_eq!(after.replace(bullet, "(none yet)"), edited);
    assert_eq!(
        std::fs::read_to_string(linked.join(TASKS)).expect("the file"),
        elsewhere
    );
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "");
}

/// A file that a merge left in conflict is a person's: it is named, and not written.
#[test]
fn a_file_in_conflict_is_not_written() {
    let sandbox = halted_in(&single());
    let clean = sandbox.read(TASKS);
    let conflict = clean.replace(
        "## Awaiting input\n\n(none yet)\n",
        "## Awaiting input\n\n<<<<<<< HEAD\n(none yet)\n=======\n- **Task 1** — theirs\n>>>>>>> theirs\n",
    );
    sandbox.write(TASKS, &conflict);
    for arguments in [
        &["alpha"][..],
        &["park", "alpha", "1", "--in", "deferred", "--reason", "x"],
    ] {
        let output = sandbox.orchestrate(arguments);
        assert_eq!(sandbox.read(TASKS), conflict, "{output}");
    }
}

/// What cannot be written down is told all the same, with why; nothing is lost.
#[test]
fn a_bundle_that_cannot_be_written_hides_no_halt() {
    let sandbox = halted_in(&single());
    let before = sandbox.read(TASKS);
    let Some(mounted) = read_only(&sandbox, &sandbox.path("specs/alpha")) else {
        return skipped("a read-only directory (this user may not mount one)");
    };
    let output = sandbox
        .orchestrate(&["alpha"])
        .exits(4)
        .says("holds uncommitted work: new.txt");
    let _ = output.says("note: this is not written down: cannot make specs/alpha/.orchestrate.lock");
    assert_eq!(sandbox.read(TASKS), before);
    drop(mounted);
    let _ = sandbox.orchestrate(&["alpha"]).exits(4).says("parked task 1");
    assert_eq!(bullets(&sandbox), 1);
}

/// Version 1: the block is moved, once, and comes back where it stood.
/// Verifies REQ-D2.3.
#[test]
fn a_block_of_version_1_goes_and_comes_back() {
    let sandbox = halted_in(&single().of_version_1());
    let before = sandbox.read(TASKS);
    for code in [4, 0, 0] {
        let _ = sandbox.orchestrate(&["alpha"]).exits(code);
    }
    let parked = sandbox.read(TASKS);
    let status =
        "- **Status:** awaiting input — halted: .claude/worktrees/alpha-task-1 holds uncommitted work: new.txt;";
    assert_eq!(parked.matches(status).count(), 1, "{parked}");
    assert!(parked.contains("## Forward plan\n\n(none yet)\n"), "{parked}");
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    assert_eq!(sandbox.read(TASKS), before);
}

/// Verifies REQ-B3.4.
#[test]
fn a_person_parks_a_block_of_version_1_in_each_section() {
    let sandbox = sandbox(&alpha().of_version_1());
    let before = sandbox.read(TASKS);
    for (section, lead) in [
        ("awaiting-input", "awaiting input"),
        ("deferred", "deferred"),
        ("out-of-scope", "out of scope"),
    ] {
        let park = ["park", "alpha", "1", "--in", section, "--reason", "until spring"];
        let _ = sandbox.orchestrate(&park).exits(0);
        let status = format!("- **Status:** {lead} — until spring\n");
        assert!(sandbox.read(TASKS).contains(&status), "{section}");
        let _ = sandbox.orchestrate(&park).exits(1).says("is parked already");
        let parked = crate::state_of(&sandbox, "1");
        assert!(
            parked.starts_with("parked") && parked.ends_with("— until spring"),
            "{parked}"
        );
        let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
        assert_eq!(sandbox.read(TASKS), before, "{section}");
    }
    let _ = sandbox
        .orchestrate(&["unpark", "alpha", "1"])
        .exits(1)
        .says("is not parked");
    let _ = sandbox
        .orchestrate(&["park", "alpha", "9", "--in", "deferred", "--reason", "x"])
        .exits(2);
}

/// `halt_commit`: that line and nothing else, with the person's hooks, and never where something else is going on.
/// Verifies REQ-D2.3.
#[test]
fn the_line_is_committed_where_that_is_asked_for() {
    let sandbox = halted_in(&single());
    sandbox.configure("halt_commit: true\n");
    sandbox.write("other.txt", "staged\n");
    let _ = sandbox.git(&["add", "other.txt"]);
    let hook = "#!/bin/sh\ntest ! -e refuse\n";
    sandbox.write(".git/hooks/pre-commit", hook);
    let _ = sandbox.shell("chmod +x .git/hooks/pre-commit").exits(0);
    let head = sandbox.commit_of("HEAD");
    let park = |expected: &str| {
        let _ = sandbox.orchestrate(&["alpha"]).exits(4).says(expected);
        assert_eq!(bullets(&sandbox), 1, "{expected}");
    };
    let undo = || {
        let _ = sandbox.git(&["checkout", "--quiet", head.as_str(), "--", TASKS]);
    };
    sandbox.write("refuse", "");
    park("not committed: cannot commit specs/alpha/tasks.md");
    undo();
    std::fs::remove_file(sandbox.path("refuse")).expect("removed");

    let mine = sandbox
        .read(TASKS)
        .replace("## Deferred\n\n(none yet)", "## Deferred\n\n- **Later.** Mine.");
    sandbox.write(TASKS, &mine);
    park("not committed: something else in that file is not committed");
    assert!(sandbox.read(TASKS).contains("- **Later.** Mine."));
    undo();

    let _ = sandbox.git(&["switch", "--quiet", "-c", "elsewhere"]);
    park("not committed: the primary checkout is not on main");
    undo();
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    assert_eq!(sandbox.commit_of("HEAD"), head);

    park("committed as \"chore(alpha): park task 1 — awaiting input\"");
    assert_eq!(sandbox.commit_of("HEAD~1"), head);
    assert_eq!(
        sandbox.git(&["show", "--name-only", "--format=%B", "HEAD"]),
        format!("chore(alpha): park task 1 — awaiting input\n\n\n{TASKS}")
    );
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "A  other.txt");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("parked: Awaiting input");
}
