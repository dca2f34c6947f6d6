//! Which worker is started, and what happens where there is none.

use orchestrate_e2e::sandbox::Sandbox;

use crate::{check, sandbox, single};

/// A sandbox without any configured worker.
fn unconfigured() -> Sandbox {
    let sandbox = sandbox(&single());
    std::fs::remove_file(sandbox.path(".claude/planwright.local.yml")).expect("removed");
    sandbox
}

/// Installs a `claude` that writes down its arguments and its input.
fn install_claude(sandbox: &Sandbox) {
    let desk = sandbox.desk();
    let script = format!(
        "printf '%s\\n' \"$@\" > {desk}/claude.arguments\ncat > {desk}/claude.input\npwd -P > {desk}/claude.directory\n"
    );
    sandbox.install("claude", &script);
}

/// The command printed for a person.
fn printed_command(text: &str) -> String {
    let line = text.lines().find(|line| line.contains("run-worker"));
    line.expect("a command is printed").trim().to_owned()
}

/// Verifies REQ-A1.2.
#[test]
fn an_absent_backend_halts_before_anything_is_written() {
    let sandbox = unconfigured();
    for backend in ["headless-oneshot", "in-session", "command", "tmux"] {
        let output = sandbox.orchestrate(&["alpha", "--backend", backend]).exits(4);
        let _ = output
            .says(&format!("backend {backend} cannot start a worker"))
            .says("hint: ");
        // Nothing is dispatched; what stops it is written for a person.
        let _ = sandbox.git(&["checkout", "--quiet", "--", "specs"]);
    }
    check!(sandbox, sandbox.orchestrate(&["alpha", "--backend", "in-session"]), @r"
        exit 4
        --- out
        halted: backend in-session cannot start a worker: claude is not on the search path
        hint: install Claude Code, or set dispatch_backend to another backend
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
    let _ = sandbox.git(&["checkout", "--quiet", "--", "specs"]);
    let _ = sandbox.orchestrate(&["alpha", "--backend", "$(touch pwned)"]).exits(2);
    assert!(!sandbox.path(".git/orchestrate/dispatch").exists());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0]);
}

/// Verifies REQ-E1.3.
#[test]
fn a_missing_worker_program_halts_before_anything_is_written() {
    let sandbox = unconfigured();
    let missing = sandbox.root().join("bin/no-such-worker");
    for program in [missing.as_str(), "no-such-worker", "./worker", "bin/worker"] {
        let text = format!("dispatch_backend: command\ncommand_backend: [\"{program}\"]\n");
        sandbox.write(".claude/planwright.local.yml", &text);
        let _ = sandbox.orchestrate(&["alpha"]).exits(4).says(program).says("hint: ");
        let _ = sandbox.git(&["checkout", "--quiet", "--", "specs"]);
        assert!(!sandbox.path(".git/orchestrate/dispatch").exists());
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn without_claude_the_default_is_a_printed_command_and_says_so() {
    let sandbox = unconfigured();
    let output = sandbox.orchestrate(&["alpha"]);
    check!(sandbox, output, @r"
        exit 0
        --- out
        dispatched alpha task 1
          branch    planwright/alpha/task-1 at [SHORT] (base main)
          worktree  .claude/worktrees/alpha-task-1
          worker    print: a person starts it
          why 1     head of the critical path 1 (1 day); also ready: none

        no agent is installed that this backend knows: start one in [SANDBOX]/repository/.claude/worktrees/alpha-task-1 and give it the text of [SANDBOX]/repository/.git/worktrees/alpha-task-1/orchestrate.prompt.md
        --- err
        note: full-session is print: claude is not on the search path, so a person starts the worker
        ");
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 0
        --- out
        nothing to dispatch: nothing is ready
          1     no agent was installed, so it was left to a person to start one
                → start an agent in .claude/worktrees/alpha-task-1 with the prompt in .git/worktrees/alpha-task-1/orchestrate.prompt.md, or let it be dispatched again: orchestrate plumbing orchestrate-marker clear specs/alpha 1
        ");
    let prompt = sandbox.read(".git/worktrees/alpha-task-1/orchestrate.prompt.md");
    assert!(prompt.starts_with("# Unit 1 of specs/alpha\n"), "{prompt}");
    let by_hand = sandbox.orchestrate(&["plumbing", "run-worker", "alpha", "1"]);
    check!(sandbox, by_hand, @r"
        exit 4
        --- out
        refused the dispatch names no program, because no agent was installed
        --- err
        run-worker: not started: the dispatch names no program, because no agent was installed
        hint: give the text of the prompt file to an agent in the worktree, or configure a backend and step again
        ");
}

/// Verifies REQ-E1.6.
#[test]
fn a_printed_command_works_once() {
    let sandbox = sandbox(&single());
    sandbox.close_gate("1");
    let output = sandbox.orchestrate(&["alpha", "--backend", "print"]).exits(0);
    assert_eq!(sandbox.starts(), [""; 0], "a person starts it");
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);

    let command = printed_command(&output.stdout);
    let first = sandbox.start_program("sh", &sandbox.repository(), &["-c", &command]);
    let worker = sandbox.worker_at_gate("1");
    assert!(sandbox.is_leased("alpha", "1"));
    check!(sandbox, sandbox.shell(&command), @r"
        exit 4
        --- out
        refused a worker holds the lease of [SANDBOX]/repository/.claude/worktrees/alpha-task-1 (pid [PID])
        --- err
        run-worker: not started: a worker holds the lease of [SANDBOX]/repository/.claude/worktrees/alpha-task-1 (pid [PID])
        hint: let it end, or stop it; a unit has one worker
        ");
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    drop(worker);
    let _ = first.finish().exits(0);
    check!(sandbox, sandbox.shell(&command), @r"
        exit 4
        --- out
        refused this attempt was started at [TIME] already (exit 0)
        --- err
        run-worker: not started: this attempt was started at [TIME] already (exit 0)
        hint: look at the worker's log; orchestrate plumbing orchestrate-marker clear specs/alpha 1 lets the unit be dispatched again
        ");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
    assert_eq!(
        crate::state_of(&sandbox, "1"),
        "held: its worker ended and left no commit on its branch (exit 0)"
    );
}

#[test]
fn a_printed_dispatch_is_one_json_value_too() {
    let sandbox = sandbox(&single());
    let value = sandbox
        .orchestrate(&["alpha", "--backend", "print", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        (&value["outcome"], &value["worker"]["state"]),
        (&"dispatched".into(), &"printed".into())
    );
}

/// Verifies REQ-E1.2.
#[test]
fn a_superseded_printed_command_starts_nothing() {
    let sandbox = sandbox(&single());
    let first = printed_command(&sandbox.orchestrate(&["alpha", "--backend", "print"]).exits(0).stdout);
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    let _ = sandbox.shell(&first).exits(4).says("not dispatched");
    let second = printed_command(&sandbox.orchestrate(&["alpha", "--backend", "print"]).exits(0).stdout);
    assert_ne!(first, second);
    check!(sandbox, sandbox.shell(&first), @r"
        exit 4
        --- out
        refused this attempt is superseded: the unit was dispatched again since
        --- err
        run-worker: not started: this attempt is superseded: the unit was dispatched again since
        ");
    assert_eq!(sandbox.starts(), [""; 0]);
    let _ = sandbox.shell(&second).exits(0);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

/// Verifies REQ-E1.4.
#[test]
fn headless_oneshot_gives_the_prompt_on_standard_input_and_never_as_an_argument() {
    let sandbox = unconfigured();
    install_claude(&sandbox);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("headless-oneshot");
    sandbox.wait_for_worker("alpha", "1");
    let prompt = sandbox.noted("claude", "input");
    assert!(prompt.starts_with("# Unit 1 of specs/alpha\n"), "{prompt}");
    let arguments = sandbox.noted("claude", "arguments");
    assert!(
        arguments
            .lines()
            .any(|argument| argument == "--print" || argument == "-p"),
        "{arguments}"
    );
    assert!(
        !arguments.contains("Unit 1") && !arguments.contains("bypassPermissions"),
        "{arguments}"
    );
    assert_eq!(
        sandbox.noted("claude", "directory").trim_end(),
        sandbox.path(".claude/worktrees/alpha-task-1")
    );
}

#[test]
fn in_session_runs_here_and_waits() {
    let sandbox = unconfigured();
    install_claude(&sandbox);
    let output = sandbox
        .orchestrate(&["alpha", "--backend", "in-session"])
        .exits(0)
        .says("ran here and ended: exit 0");
    assert!(!sandbox.is_leased("alpha", "1"), "{output}");
    assert_eq!(
        sandbox.noted("claude", "directory").trim_end(),
        sandbox.path(".claude/worktrees/alpha-task-1")
    );
}

#[test]
fn an_installed_skill_is_named_instead_of_the_whole_text() {
    let sandbox = unconfigured();
    install_claude(&sandbox);
    let skill = sandbox.root().join("home/.claude/skills/execute-task");
    std::fs::create_dir_all(&skill).expect("a directory");
    std::fs::write(skill.join("SKILL.md"), "a skill\n").expect("a file");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.noted("claude", "input"), "/execute-task specs/alpha 1\n");
}
