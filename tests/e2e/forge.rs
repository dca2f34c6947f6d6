//! Pull requests, through the real `gh` against a GitHub on a socket. Every test runs with every `gh` there is.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_e2e::output::Output;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{every_gh, skipped};
use orchestrate_testkit::bundle::BundleFixture;
use orchestrate_testkit::github::{Failure, GitHub, pull_request};
use serde_json::{Value, json};

use crate::{alpha, sandbox};

/// A sandbox whose origin is on github.com, which is the server here.
pub(crate) struct Forge {
    pub(crate) sandbox: Sandbox,
    pub(crate) github: GitHub,
    gh: Utf8PathBuf,
}

/// Runs a test with each `gh`: what one version says in another way must not change what we believe.
pub(crate) fn with_each_gh(bundle: &BundleFixture, test: impl Fn(&Forge)) {
    let found = every_gh();
    if found.is_empty() {
        skipped("gh");
    }
    for gh in found {
        let sandbox = sandbox(bundle);
        sandbox.add_origin();
        // What it is fetched from is there only now: no test here waits for a network.
        let _ = sandbox.orchestrate(&["plumbing", "dispatch-fetch", "."]).exits(0);
        let push_url = sandbox.root().join("origin.git");
        let _ = sandbox.git(&["remote", "set-url", "--push", "origin", push_url.as_str()]);
        let _ = sandbox.git(&["remote", "set-url", "origin", "https://github.com/o/r.git"]);
        let _ = sandbox.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
        let socket = sandbox.root().join("gh.sock");
        let settings = sandbox.root().join("gh");
        std::fs::create_dir(&settings).expect("a directory is made");
        std::fs::write(
            settings.join("config.yml"),
            format!("version: 1\nhttp_unix_socket: {socket}\nprompt: disabled\n"),
        )
        .expect("the settings are written");
        let link = sandbox.root().join("bin/gh");
        std::os::unix::fs::symlink(&gh, link).expect("a link is made");
        let github = GitHub::start(&socket);
        test(&Forge { sandbox, github, gh });
    }
}

impl Forge {
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, &[])
    }

    pub(crate) fn run_with(&self, arguments: &[&str], more: &[(&str, &str)]) -> Output {
        let settings = self.sandbox.root().join("gh");
        let variables = [
            ("GH_CONFIG_DIR", settings.as_str()),
            ("GH_TOKEN", "dummy"),
            ("PLANWRIGHT_DISPATCH_FETCH_TTL", "86400"),
        ];
        self.sandbox
            .orchestrate_with(&self.sandbox.repository(), arguments, &[&variables, more].concat())
    }

    fn state_of(&self, task: &str) -> String {
        let value = self.run(&["status", "alpha", "--format", "json"]).exits(0).json();
        let tasks = value["tasks"].as_array().expect("tasks");
        let found = tasks.iter().find(|found| found["id"] == task).expect("the task");
        let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
        format!("{}: {}", text("state"), text("detail"))
    }

    /// Makes a task branch with one commit beside main, and returns the commit.
    pub(crate) fn branch(&self, task: &str) -> String {
        let name = format!("planwright/alpha/task-{task}");
        let _ = self.sandbox.git(&["switch", "--quiet", "--create", &name, "main"]);
        self.sandbox.write(&format!("work/{task}.txt"), "work\n");
        let commit = self.sandbox.commit_all(&format!("work on {task}"));
        let _ = self.sandbox.git(&["switch", "--quiet", "main"]);
        commit
    }

    pub(crate) fn says(&self, task: &str, pull_requests: Vec<Value>) {
        self.github.set(&format!("planwright/alpha/task-{task}"), pull_requests);
    }

    fn outcome(&self, arguments: &[&str]) -> (String, String) {
        let output = self.run(&[&["alpha", "--format", "json"], arguments].concat()).exits(0);
        let value = output.json();
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        (text("outcome"), output.to_string())
    }
}

pub(crate) fn merged(number: u64, head: &str, commit: &str) -> Value {
    let mut merged = pull_request(number, "MERGED", head);
    merged["mergeCommit"] = json!({ "oid": commit });
    merged
}

const SOMEWHERE: &str = "1234567890123456789012345678901234567890";

/// Verifies REQ-C3.1.
#[test]
fn one_request_decides_a_step() {
    with_each_gh(&alpha(), |forge| {
        let (outcome, said) = forge.outcome(&[]);
        assert_eq!(outcome, "dispatched", "{} {said}", forge.gh);
        assert_eq!(forge.github.questions().len(), 1, "{}", forge.gh);
        let question = &forge.github.questions()[0];
        assert_eq!(question["variables"]["owner"], "o");
        assert_eq!(question["variables"]["head0"], "planwright/alpha/task-1");
        forge.sandbox.wait_for_worker("alpha", "1");
    });
}

/// Verifies REQ-F2.4.
#[test]
fn doctor_finds_no_fault_in_a_forge_that_is_there_and_answers() {
    with_each_gh(&alpha(), |forge| {
        let only_git = forge.sandbox.root().join("only-git");
        std::fs::create_dir(&only_git).expect("a directory is made");
        let git = ["/usr/bin/git", "/usr/local/bin/git"].map(Utf8Path::new);
        let git = git.into_iter().find(|path| path.is_file()).expect("git is installed");
        std::os::unix::fs::symlink(git, only_git.join("git")).expect("a link is made");
        let problems = |more: &[(&str, &str)]| -> Vec<String> {
            let value = forge.run_with(&["doctor", "--format", "json"], more).json();
            let all = value["findings"].as_array().expect("findings").clone();
            let of_forge = all.iter().filter(|finding| finding["check"] == "forge");
            of_forge.map(|finding| finding["problem"].to_string()).collect()
        };
        let missing = problems(&[("PATH", only_git.as_str())]);
        assert!(missing[0].contains("gh is not installed"), "{missing:?}");
        forge.github.fail_next(Failure::Garbage);
        assert_eq!(problems(&[]).len(), 1, "{}", forge.gh);
        assert_eq!(problems(&[]), [""; 0], "{}", forge.gh);
    });
}

#[test]
fn a_merged_pull_request_lands_a_unit_that_git_alone_does_not_show() {
    with_each_gh(&alpha(), |forge| {
        let head = forge.branch("1");
        // Squashed by a person who changed it on the way and left no trailer.
        forge.sandbox.write("work/1.txt", "work, reviewed\n");
        let squash = forge.sandbox.commit_all("first part (#4)");
        let _ = forge.sandbox.git(&["push", "--quiet", "origin", "main"]);
        assert!(forge.state_of("1").starts_with("in progress: 1 commit on task-1"));
        forge.says("1", vec![merged(4, &head, &squash)]);
        assert_eq!(forge.state_of("1"), format!("landed: PR #4 merged in {}", &squash[..7]));
        // What needs it may start, because the commit is in base.
        let (outcome, said) = forge.outcome(&["--dry-run"]);
        assert_eq!(outcome, "would-dispatch", "{said}");
    });
}

#[test]
fn a_merge_that_is_not_here_yet_lets_nothing_start_that_needs_it() {
    with_each_gh(&alpha(), |forge| {
        forge.says("1", vec![merged(4, SOMEWHERE, SOMEWHERE)]);
        forge.says("3", vec![merged(5, SOMEWHERE, SOMEWHERE)]);
        assert!(forge.state_of("1").starts_with("landed: PR #4"));
        assert!(forge.state_of("2").starts_with("ready"));
        let (outcome, said) = forge.outcome(&[]);
        assert_eq!(outcome, "held", "{said}");
        assert!(!forge.sandbox.path(".claude/worktrees/alpha-task-2").exists());
    });
}

#[test]
fn work_beyond_a_merge_has_not_landed() {
    with_each_gh(&alpha(), |forge| {
        let head = forge.branch("1");
        let _ = forge.sandbox.git(&["switch", "--quiet", "planwright/alpha/task-1"]);
        forge.sandbox.write("work/more.txt", "more\n");
        let _ = forge.sandbox.commit_all("more work");
        let _ = forge.sandbox.git(&["switch", "--quiet", "main"]);
        forge.says("1", vec![merged(4, &head, SOMEWHERE)]);
        let state = forge.state_of("1");
        assert!(
            state.starts_with("in progress: PR #4 is merged, but task-1 goes on beyond"),
            "{state}"
        );
    });
}

#[test]
fn an_old_merge_says_nothing_of_a_branch_that_was_made_anew() {
    with_each_gh(&alpha(), |forge| {
        let old = forge
            .sandbox
            .git(&["commit-tree", "-m", "old", "main^{tree}"])
            .trim()
            .to_owned();
        let _ = forge.branch("1");
        forge.says("1", vec![merged(4, &old, SOMEWHERE)]);
        let state = forge.state_of("1");
        assert!(state.starts_with("in progress: 1 commit on task-1"), "{state}");
        // And where the old head was never fetched nobody can tell.
        forge.says("1", vec![merged(4, SOMEWHERE, SOMEWHERE)]);
        let state = forge.state_of("1");
        assert!(
            state.starts_with("unknown: PR #4 is merged, but whether task-1 holds more"),
            "{state}"
        );
    });
}

#[test]
fn an_open_pull_request_is_submitted_work() {
    with_each_gh(&alpha(), |forge| {
        let head = forge.branch("1");
        for (draft, rollup, words) in [
            (true, json!({ "state": "SUCCESS" }), "PR #5 open, draft, checks passed"),
            (false, json!({ "state": "FAILURE" }), "PR #5 open, checks failed"),
            (false, json!({ "state": "PENDING" }), "PR #5 open, checks pending"),
            (false, Value::Null, "PR #5 open, no checks"),
        ] {
            let mut open = pull_request(5, "OPEN", &head);
            open["isDraft"] = json!(draft);
            open["commits"]["nodes"][0]["commit"]["statusCheckRollup"] = rollup;
            forge.says("1", vec![open]);
            assert_eq!(forge.state_of("1"), format!("submitted: {words}"));
        }
        // Without a branch here, too: somebody else's clone works on it.
        let _ = forge
            .sandbox
            .git(&["branch", "--quiet", "-D", "planwright/alpha/task-1"]);
        assert_eq!(forge.state_of("1"), "submitted: PR #5 open, no checks");
        assert_eq!(forge.outcome(&[]).0, "dispatched");
        forge.sandbox.wait_for_worker("alpha", "3");
    });
}

/// Verifies REQ-C3.1.
#[test]
fn pull_requests_of_others_and_to_elsewhere_say_nothing() {
    with_each_gh(&alpha(), |forge| {
        let mut elsewhere = merged(6, SOMEWHERE, SOMEWHERE);
        elsewhere["baseRefName"] = json!("release");
        let mut stranger = merged(7, SOMEWHERE, SOMEWHERE);
        stranger["headRepositoryOwner"] = json!({ "login": "stranger" });
        let closed = pull_request(8, "CLOSED", SOMEWHERE);
        forge.says("1", vec![closed, stranger, elsewhere]);
        assert!(forge.state_of("1").starts_with("ready"));
    });
}

/// Verifies REQ-C3.1.
#[test]
fn what_github_does_not_answer_is_unknown_and_holds() {
    let limited =
        json!({ "errors": [{ "type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1." }] });
    let failures = [
        (
            Failure::Status(502, vec![], json!({ "message": "Bad gateway" })),
            "Bad gateway",
        ),
        (
            Failure::Status(401, vec![], json!({ "message": "Bad credentials" })),
            "Bad credentials",
        ),
        (
            Failure::Status(
                429,
                vec![("Retry-After", "60".to_owned())],
                json!({ "message": "secondary rate limit" }),
            ),
            "wait 60 s",
        ),
        (
            Failure::Status(200, vec![("X-RateLimit-Reset", "1790000000".to_owned())], limited),
            "1790000000",
        ),
        (Failure::Garbage, "cannot be"),
        (Failure::Cut, "cannot be"),
        (
            Failure::Status(
                200,
                vec![],
                json!({ "data": { "repository": null }, "errors": [{ "message": "Could not resolve to a Repository", "path": ["repository"] }] }),
            ),
            "Could not resolve",
        ),
    ];
    with_each_gh(&alpha(), |forge| {
        for (failure, words) in &failures {
            forge.github.fail_next(failure.clone());
            let before = forge.sandbox.listing();
            let (outcome, said) = forge.outcome(&[]);
            assert_eq!(outcome, "held", "{failure:?} {said}");
            assert!(said.contains(words), "{failure:?} {said}");
            assert_eq!(
                forge.sandbox.changes_since(&before),
                Vec::<String>::new(),
                "{failure:?}"
            );
        }
        assert_eq!(forge.github.questions().len(), failures.len(), "no second try");
    });
}

/// Verifies REQ-C3.1.
#[test]
fn an_error_for_one_head_holds_that_unit_alone() {
    with_each_gh(&alpha(), |forge| {
        let error = json!([{ "message": "Something went wrong", "path": ["repository", "unit0"] }]);
        forge.github.fail_next(Failure::Errors(error.clone()));
        let state = forge.state_of("1");
        assert!(
            state.starts_with("unknown: GitHub did not answer for task-1"),
            "{state}"
        );
        forge.github.fail_next(Failure::Errors(error));
        let (outcome, said) = forge.outcome(&[]);
        assert_eq!(outcome, "dispatched", "{said}");
        assert!(said.contains("\"3\""), "{said}");
        forge.sandbox.wait_for_worker("alpha", "3");
    });
}

#[test]
fn a_socket_that_nobody_serves_is_no_answer() {
    with_each_gh(&alpha(), |forge| {
        std::fs::remove_file(forge.sandbox.root().join("gh.sock")).expect("the socket is removed");
        let (outcome, said) = forge.outcome(&[]);
        assert_eq!(outcome, "held", "{said}");
        assert!(said.contains("no such file"), "{said}");
    });
}

/// One request each: those that are blocked are asked for last, and not at all where they are too many.
#[test]
fn many_units_are_one_request() {
    for tasks in [1, 20, 200] {
        let bundle = (1..=tasks).fold(BundleFixture::new("alpha"), |bundle, task| {
            // Half of them wait for the first.
            let needs: &[&str] = if task > tasks / 2 && task > 1 { &["1"] } else { &[] };
            bundle.task(&task.to_string(), "a part", needs, "1 day")
        });
        with_each_gh(&bundle, |forge| {
            let _ = forge.run(&["status", "alpha"]).exits(0);
            assert_eq!(forge.github.questions().len(), 1, "{tasks} tasks");
        });
    }
}

/// The only thing that is read is what was asked: without a forge for origin nothing is.
#[test]
fn without_a_forge_nothing_is_asked() {
    with_each_gh(&alpha(), |forge| {
        let origin = forge.sandbox.root().join("origin.git");
        let _ = forge.sandbox.git(&["remote", "set-url", "origin", origin.as_str()]);
        assert!(forge.state_of("1").starts_with("ready"));
        assert_eq!(forge.github.questions().len(), 0);
        assert!(Utf8Path::new(&forge.gh).is_absolute());
    });
}

/// What the forge says of those that were asked may let others start: these are asked for then, and never left out.
#[test]
fn a_unit_that_a_merge_lets_start_is_asked_for() {
    let bundle = (1..=150).fold(BundleFixture::new("alpha"), |bundle, task| {
        let needs: &[&str] = if task > 1 { &["1"] } else { &[] };
        bundle.task(&task.to_string(), "a part", needs, "1 day")
    });
    with_each_gh(&bundle, |forge| {
        let main = forge.sandbox.commit_of("main");
        forge.says("1", vec![merged(4, SOMEWHERE, &main)]);
        forge.says("149", vec![merged(5, SOMEWHERE, &main)]);
        assert_eq!(forge.state_of("149"), format!("landed: PR #5 merged in {}", &main[..7]));
        assert_eq!(forge.github.questions().len(), 2, "{}", forge.gh);
    });
}
