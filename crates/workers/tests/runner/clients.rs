//! What a client is given, and how the runner stays with it.

use camino::Utf8Path;
use libtest_mimic::Trial;
use orchestrate_core::observed::Observed;
use orchestrate_core::process::Liveness;
use orchestrate_core::record::dispatch::LaunchManner;
use orchestrate_host::identity;
use orchestrate_host::process::{Handshake, RunOptions, run_bounded};
use orchestrate_workers::runner::prompt_file;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::fixture::{Fixture, INHERIT_NOTHING, LONG, this_program};
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a_client_runs_once_and_its_end_is_recorded",
            a_client_runs_once_and_its_end_is_recorded,
        ),
        trial("a_large_prompt_goes_through_stdin", a_large_prompt_goes_through_stdin),
        trial(
            "a_client_knows_who_it_is_and_no_other_repository",
            a_client_knows_who_it_is_and_no_other_repository,
        ),
        trial(
            "a_killed_runner_leaves_the_lease_with_the_client",
            a_killed_runner_leaves_the_lease_with_the_client,
        ),
        trial(
            "the_runner_stays_until_no_descendant_is_left",
            the_runner_stays_until_no_descendant_is_left,
        ),
        trial(
            "a_request_to_stop_reaches_client_and_orphans",
            a_request_to_stop_reaches_client_and_orphans,
        ),
        trial(
            "a_missing_client_is_told_and_recorded",
            a_missing_client_is_told_and_recorded,
        ),
        trial(
            "a_foreground_client_has_the_terminal_to_itself",
            a_foreground_client_has_the_terminal_to_itself,
        ),
        trial(
            "a_later_attempts_launch_record_is_left_alone",
            a_later_attempts_launch_record_is_left_alone,
        ),
        trial("of_many_runners_at_once_one_starts", of_many_runners_at_once_one_starts),
    ]
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).expect("pid")).expect("pid")
}

fn a_client_runs_once_and_its_end_is_recorded() {
    let fixture = Fixture::new();
    let attempt = fixture.dispatch(1, "echo said; echo complained >&2; pwd; exit 3");
    let runner = fixture.started();
    fixture.wait_until_free();
    let launch = fixture.launch().expect("launch record");
    assert_eq!(
        (launch.attempt.clone(), launch.runner.map(|runner| runner.pid)),
        (attempt.clone(), Some(runner))
    );
    assert_eq!(launch.ended.map(|end| end.status).as_deref(), Some("exit 3"));
    let log = std::fs::read_to_string(fixture.layout.log(&fixture.name)).expect("log");
    assert_eq!(log, format!("said\ncomplained\n{}\n", fixture.worktree));
    for again in [None, Some(&attempt)] {
        assert!(
            fixture.refused(again).contains("started at"),
            "pasting the command again must not start it again"
        );
    }
}

fn a_large_prompt_goes_through_stdin() {
    let fixture = Fixture::new();
    let prompt = "a line of the prompt, with 'quotes' and $(text)\n".repeat(7000);
    let copy = fixture.root.join("copy");
    let argv = [
        "/bin/sh",
        "-c",
        &format!("cat > '{copy}'; cmp '{copy}' \"$ORCHESTRATE_PROMPT_FILE\""),
    ];
    fixture.dispatch_as(1, LaunchManner::Background, argv.map(str::to_owned).to_vec(), &prompt);
    fixture.started();
    fixture.wait_until_free();
    assert_eq!(fixture.end().as_deref(), Some("exit 0"));
    assert!(
        std::fs::read_to_string(copy).expect("copy") == prompt,
        "the prompt arrived changed"
    );
}

fn a_client_knows_who_it_is_and_no_other_repository() {
    let fixture = Fixture::new();
    let shown = fixture.root.join("environment");
    let script = format!("env > '{shown}'; git rev-parse --show-toplevel >> '{shown}'");
    fixture.dispatch(1, &script);
    let hostile = "GIT_DIR=/evil GIT_WORK_TREE=/evil GIT_INDEX_FILE=/evil GIT_COMMON_DIR=/evil GIT_PREFIX=/evil \
                   GIT_OBJECT_DIRECTORY=/evil CLAUDECODE=/evil PLANWRIGHT_WORKER_SCOPE=/evil exec \"$0\" \"$@\"";
    let program = this_program();
    let started = fixture.start_through(Utf8Path::new("/bin/sh"), &["-c", hostile, program.as_str()], None);
    assert!(matches!(started, Ok(Handshake::Started { .. })), "{started:?}");
    fixture.wait_until_free();
    let text = std::fs::read_to_string(shown).expect("environment");
    assert!(!text.contains("/evil"), "{text}");
    let prompt_file = prompt_file(&fixture.git_directory);
    for expected in [
        "ORCHESTRATE_SPEC=alpha".to_owned(),
        "ORCHESTRATE_UNIT=1".to_owned(),
        format!("ORCHESTRATE_PROMPT_FILE={prompt_file}"),
        format!("ORCHESTRATE_WORKTREE={}", fixture.worktree),
        format!("PWD={}", fixture.worktree),
        "PLANWRIGHT_WORKER_HANDLE=command-alpha-task-1".to_owned(),
        "PLANWRIGHT_WORKER_SCOPE=alpha:task-1".to_owned(),
        "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=false".to_owned(),
        fixture.worktree.to_string(),
    ] {
        assert!(text.lines().any(|line| line == expected), "no {expected} in {text}");
    }
}

fn a_killed_runner_leaves_the_lease_with_the_client() {
    let fixture = Fixture::new();
    let (ready, go) = (fixture.pipe("ready"), fixture.pipe("go"));
    fixture.dispatch(1, &format!("cd /; echo up > {ready}; read -r line < {go}"));
    let runner = pid(fixture.started());
    assert_eq!(ready.read(), "up\n");
    kill_process(runner, Signal::KILL).expect("kill");
    // Somebody else may wait for it first; then there is no such child, and it is gone as well.
    let _ = waitid(WaitId::Pid(runner), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    assert!(fixture.is_held());
    assert!(fixture.refused(None).contains("lease"));
    let later = fixture.dispatch(2, "exit 0");
    assert!(
        fixture.refused(Some(&later)).contains("lease"),
        "not even for a later attempt"
    );
    go.release();
    fixture.wait_until_free();
    assert!(!fixture.is_held());
    assert_eq!(fixture.end(), None, "nobody saw the end");
    assert!(matches!(fixture.start(Some(&later)), Ok(Handshake::Started { .. })));
    fixture.wait_until_free();
    assert_eq!(fixture.end().as_deref(), Some("exit 0"));
}

fn the_runner_stays_until_no_descendant_is_left() {
    let fixture = Fixture::new();
    let (alive, ready, go) = (fixture.pipe("alive"), fixture.pipe("ready"), fixture.pipe("go"));
    // As the tools of an agent do, the descendant has a session of its own and inherits nothing.
    let descendant = format!("{INHERIT_NOTHING}; echo up > \"$1\"; read -r line < \"$2\"");
    let script = format!("exec 9> {alive}; setsid sh -c '{descendant}' sh {ready} {go} & exit 4");
    fixture.dispatch(1, &script);
    fixture.started();
    assert_eq!(alive.read(), "", "the client ends");
    assert_eq!(ready.read(), "up\n", "the descendant is there");
    assert!(fixture.is_held());
    assert_eq!(fixture.end(), None);
    let runner = fixture.launch().and_then(|launch| launch.runner).expect("runner");
    assert_eq!(identity::liveness(&runner), Observed::Known(Liveness::Alive));
    go.release();
    fixture.wait_until_free();
    assert_eq!(fixture.end().as_deref(), Some("exit 4"));
}

fn a_request_to_stop_reaches_client_and_orphans() {
    let fixture = Fixture::new();
    let (ready, orphan) = (fixture.pipe("ready"), fixture.pipe("orphan"));
    // The middle process ends, so that its child becomes an orphan outside of the client's group; and when that one
    // ends, its own child becomes one.
    let child = "echo up > \"$1\"; sleep 600; :";
    let script =
        format!("sh -c 'setsid sh -c \"$0\" sh \"$1\" &' '{child}' {orphan}; echo up > {ready}; exec sleep 600");
    fixture.dispatch(1, &script);
    let runner = pid(fixture.started());
    assert_eq!((ready.read().as_str(), orphan.read().as_str()), ("up\n", "up\n"));
    kill_process(runner, Signal::TERM).expect("kill");
    fixture.wait_until_free();
    assert_eq!(fixture.end().as_deref(), Some("signal 15"));
}

fn a_missing_client_is_told_and_recorded() {
    let fixture = Fixture::new();
    let argv = vec!["/nowhere/no-such-agent".to_owned()];
    let attempt = fixture.dispatch_as(1, LaunchManner::Background, argv, "do it");
    let told = fixture.refused(Some(&attempt));
    assert!(told.contains("/nowhere/no-such-agent"), "{told}");
    fixture.wait_until_free();
    let recorded = fixture.end().expect("an end");
    assert!(recorded.contains("cannot start /nowhere/no-such-agent"), "{recorded}");
}

fn a_foreground_client_has_the_terminal_to_itself() {
    let fixture = Fixture::new();
    let argv = ["/bin/sh", "-c", "cat; echo complained >&2; exit 5"]
        .map(str::to_owned)
        .to_vec();
    fixture.dispatch_as(1, LaunchManner::Foreground, argv, "the prompt\n");
    let arguments = [
        "run-worker".to_owned(),
        fixture.layout.primary.to_string(),
        fixture.name.to_string(),
    ];
    let options = RunOptions {
        timeout: LONG,
        ..RunOptions::default()
    };
    let output = run_bounded(&this_program(), &arguments, &options).expect("runner");
    assert!(output.success(), "{output:?}");
    assert_eq!(
        (output.stdout.as_slice(), output.stderr.as_slice()),
        (&b"the prompt\n"[..], &b"complained\n"[..])
    );
    assert_eq!(fixture.end().as_deref(), Some("exit 5"));
}

fn a_later_attempts_launch_record_is_left_alone() {
    use orchestrate_core::place::Place;
    use orchestrate_core::record::launch::LaunchRecord;
    let fixture = Fixture::new();
    let go = fixture.pipe("go");
    fixture.dispatch(1, &format!("read -r line < {go}"));
    fixture.started();
    let later = fixture.dispatch(2, "exit 0");
    let printed = LaunchRecord::new(later, orchestrate_host::clock::now(), None);
    let place = Place::LaunchRecord(fixture.name.clone());
    orchestrate_host::files::write(&fixture.layout, &place, &printed.render()).expect("record");
    go.release();
    fixture.wait_until_free();
    assert_eq!(fixture.launch(), Some(printed));
}

fn of_many_runners_at_once_one_starts() {
    let fixture = Fixture::new();
    let (go, starts) = (fixture.pipe("go"), fixture.root.join("starts"));
    fixture.dispatch(1, &format!("echo start >> '{starts}'; read -r line < {go}"));
    let answers = std::thread::scope(|scope| {
        let runners: Vec<_> = (0..8).map(|_| scope.spawn(|| fixture.start(None))).collect();
        runners
            .into_iter()
            .map(|runner| runner.join().expect("thread"))
            .collect::<Vec<_>>()
    });
    let started = answers
        .iter()
        .filter(|answer| matches!(answer, Ok(Handshake::Started { .. })))
        .count();
    let refused = answers
        .iter()
        .filter(|answer| matches!(answer, Ok(Handshake::Refused { .. })))
        .count();
    assert_eq!((started, refused), (1, 7), "{answers:?}");
    go.release();
    fixture.wait_until_free();
    assert_eq!(std::fs::read_to_string(starts).expect("starts"), "start\n");
}
