//! A GitHub for the histories: the real `gh`, every version that there is, and a server on a socket.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_testkit::github::{Failure, GitHub, pull_request};
use orchestrate_testkit::histories::Oid;
use serde_json::{Value, json};

use crate::case::{Expected, Scene};

/// The heads that a case may speak of.
const HEADS: [&str; 4] = ["1", "2", "3", "1-2"];
/// A commit that is in no repository.
pub(crate) const SOMEWHERE: &str = "1234567890123456789012345678901234567890";

/// A history whose origin is on github.com, as the server plays it.
pub(crate) struct Hub<'a> {
    pub(crate) scene: Scene,
    pub(crate) github: &'a GitHub,
}

/// A history by name, with what GitHub says of it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) build: fn(&mut Hub<'_>),
    pub(crate) task: &'static str,
    pub(crate) expected: Expected,
}

pub(crate) const fn case(name: &'static str, build: fn(&mut Hub<'_>), expected: Expected) -> Case {
    Case {
        name,
        build,
        task: "1",
        expected,
    }
}

impl Case {
    /// Asks for another task than the first.
    pub(crate) const fn of(self, task: &'static str) -> Self {
        Self { task, ..self }
    }
}

impl Hub<'_> {
    /// Says what the pull requests of a unit's head are, the newest first.
    pub(crate) fn says(&self, unit: &str, pull_requests: Vec<Value>) {
        self.github.set(&format!("planwright/alpha/task-{unit}"), pull_requests);
    }

    /// Lets the next request fail.
    pub(crate) fn fails(&self, failure: Failure) {
        self.github.fail_next(failure);
    }
}

/// An open pull request.
pub(crate) fn open(number: u64, head: Oid) -> Value {
    pull_request(number, "OPEN", &head.to_string())
}

/// One that was closed without a merge.
pub(crate) fn closed(number: u64, head: Oid) -> Value {
    pull_request(number, "CLOSED", &head.to_string())
}

/// A merged one, with its head and the commit of the merge.
pub(crate) fn merged(number: u64, head: &str, commit: &str) -> Value {
    let mut merged = pull_request(number, "MERGED", head);
    merged["mergeCommit"] = json!({ "oid": commit });
    merged
}

/// Changes a field of a pull request.
pub(crate) fn with(mut pull_request: Value, key: &str, value: Value) -> Value {
    pull_request[key] = value;
    pull_request
}

/// Builds every case with every `gh` and looks at it; all that differ are told together.
pub(crate) fn check(cases: &[Case]) {
    let found = every_gh();
    if found.is_empty() {
        skipped();
    }
    let mut differences = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = found
            .iter()
            .map(|gh| scope.spawn(move || differing(cases, gh)))
            .collect();
        for thread in threads {
            differences.extend(thread.join().expect("the cases are looked at"));
        }
    });
    assert!(
        differences.is_empty(),
        "{} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

fn differing(cases: &[Case], gh: &Utf8Path) -> Vec<String> {
    let directory = tempfile::Builder::new()
        .prefix("orchestrate-gh-")
        .tempdir()
        .expect("a directory is made");
    let socket = Utf8Path::from_path(directory.path())
        .expect("its path is UTF-8")
        .join("gh.sock");
    let github = GitHub::start(&socket);
    let mut differences = Vec::new();
    for case in cases {
        for head in HEADS {
            github.set(&format!("planwright/alpha/task-{head}"), Vec::new());
        }
        let mut hub = Hub {
            scene: Scene::new(),
            github: &github,
        };
        hub.scene.history.add_origin();
        hub.scene.history.say_origin_is_on_github();
        install(&mut hub.scene, gh, &socket);
        (case.build)(&mut hub);
        let difference = hub.scene.differs(case.task, case.expected);
        differences.extend(difference.map(|how| format!("{} ({gh}): {how}", case.name)));
    }
    differences
}

/// Puts `gh` beside the repository, with settings that lead to the socket.
fn install(scene: &mut Scene, gh: &Utf8Path, socket: &Utf8Path) {
    let beside = scene.history.root().join("gh");
    std::fs::create_dir(&beside).expect("a directory is made");
    std::os::unix::fs::symlink(gh, beside.join("program")).expect("a link is made");
    let settings = format!("version: 1\nhttp_unix_socket: {socket}\nprompt: disabled\n");
    std::fs::write(beside.join("config.yml"), settings).expect("the settings are written");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/histories/gh");
    scene.settings.forge.gh = Some(Utf8PathBuf::from(program));
    scene.settings.forge.has_token = true;
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn skipped() {
    eprintln!("skipped: gh");
}

/// Returns every `gh` there is: the machine's, and those that the caller of the tests installed.
#[expect(
    clippy::disallowed_methods,
    reason = "the caller of the tests says where it installed programs"
)]
fn every_gh() -> Vec<Utf8PathBuf> {
    let installed = std::env::var("ORCHESTRATE_TEST_GH").unwrap_or_default();
    ["/usr/local/bin/gh", "/usr/bin/gh"]
        .into_iter()
        .chain(installed.split(':'))
        .map(Utf8PathBuf::from)
        .filter(|path| path.is_absolute() && path.is_file())
        .collect()
}
