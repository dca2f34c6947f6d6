//! One history, what is expected of it, and how it is looked at.

use std::time::Duration;

use camino::Utf8PathBuf;
use orchestrate_core::declaration::Declarations;
use orchestrate_core::derive::{ProgressKind, Row, TaskState};
use orchestrate_core::fetch::FetchTerms;
use orchestrate_core::identifier::{BaseName, SpecId, TaskId};
use orchestrate_host::world::{RealWorld, WorldSettings};
use orchestrate_spec::{Bundle, BundleFiles, FileText};
use orchestrate_testkit::bundle::BundleFixture;
use orchestrate_testkit::histories::{History, Story, Style, TrailerPlace};
use orchestrate_tower::fetch::FetchRequest;
use orchestrate_tower::preflight::whole_bundle;
use orchestrate_tower::step::{StepRequest, Survey, survey};

/// The branch of task 1.
pub(crate) const BRANCH: &str = "refs/heads/planwright/alpha/task-1";
/// What a trailer calls it.
pub(crate) const TASK: &str = "alpha/1";
/// The usual base.
pub(crate) const MAIN: &str = "refs/heads/main";

/// A state in a word, the row that decides and words of the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expected {
    word: Word,
    row: Option<Row>,
    reason: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Landed,
    InProgress(ProgressKind),
    Unknown,
    Ready,
    Blocked,
    /// No base can be named.
    Refused,
}

/// Nothing holds it.
pub(crate) const READY: Expected = Expected {
    word: Word::Ready,
    row: None,
    reason: "",
};
/// It waits for what it depends on.
pub(crate) const BLOCKED: Expected = Expected {
    word: Word::Blocked,
    row: None,
    reason: "",
};
/// Its branch has commits that are not on base.
pub(crate) const COMMITTED: Expected = in_progress(Row::OwnCommits, ProgressKind::Committed);

/// It has landed, as that row shows.
pub(crate) const fn landed(row: Row) -> Expected {
    Expected {
        word: Word::Landed,
        row: Some(row),
        reason: "",
    }
}

/// Something holds it, as that row shows.
pub(crate) const fn in_progress(row: Row, kind: ProgressKind) -> Expected {
    Expected {
        word: Word::InProgress(kind),
        row: Some(row),
        reason: "",
    }
}

/// What that row shows landed was undone.
pub(crate) const fn reverted(row: Row) -> Expected {
    in_progress(row, ProgressKind::Reverted)
}

/// It cannot be told, for that reason.
pub(crate) const fn unknown(reason: &'static str) -> Expected {
    Expected {
        word: Word::Unknown,
        row: None,
        reason,
    }
}

/// There is no base, for that reason.
pub(crate) const fn refused(reason: &'static str) -> Expected {
    Expected {
        word: Word::Refused,
        row: None,
        reason,
    }
}

impl Expected {
    /// Adds words that the reason must have.
    pub(crate) const fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }
}

/// A history in the making, and from where it is looked at.
pub(crate) struct Scene {
    pub(crate) history: History,
    pub(crate) settings: WorldSettings,
    /// The key `base_branch`.
    pub(crate) base_key: Option<BaseName>,
    /// Where the command is started, if not in the clone.
    pub(crate) directory: Option<Utf8PathBuf>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::on("main")
    }

    /// Starts with a base of that name.
    pub(crate) fn on(base: &str) -> Self {
        Self {
            history: History::new(base),
            settings: WorldSettings::default(),
            base_key: None,
            directory: None,
        }
    }

    pub(crate) fn story(style: Style, trailer: TrailerPlace) -> Story<'static> {
        Story {
            base: MAIN,
            branch: BRANCH,
            task: TASK,
            style,
            trailer,
        }
    }

    /// Commits something of a unit on a branch; `name` tells it from other work.
    pub(crate) fn work(&self, branch: &str, name: &str) -> orchestrate_testkit::histories::Oid {
        let path = format!("work/{name}.txt");
        self.history
            .here
            .commit(branch, &[(&path, name)], &format!("work on {name}\n"))
    }

    pub(crate) fn world(&self) -> RealWorld {
        match &self.directory {
            Some(directory) => self.history.world_at(directory, self.settings.clone()),
            None => self.history.world(self.settings.clone()),
        }
    }

    /// Looks at the history as a step does.
    pub(crate) fn survey(&self) -> Result<Survey, String> {
        let (request, bundle) = (request(self.base_key.clone()), bundle());
        survey(&self.world(), &request, &bundle).map_err(|fault| fault.to_string())
    }

    /// Returns how a task is not as expected.
    pub(crate) fn differs(&self, task: &str, expected: Expected) -> Option<String> {
        let task = TaskId::parse(task).expect("a task");
        let (word, row, reason) = match self.survey() {
            Err(fault) => (Word::Refused, None, fault),
            Ok(survey) => {
                let report = &survey.state.tasks[&task];
                let (word, reason) = match &report.state {
                    TaskState::Landed { .. } => (Word::Landed, String::new()),
                    TaskState::InProgress(progress) => (Word::InProgress(progress.kind), progress.detail.clone()),
                    TaskState::Unknown(why) => (
                        Word::Unknown,
                        format!("{why} ({})", why.hint.as_deref().unwrap_or_default()),
                    ),
                    TaskState::Ready => (Word::Ready, String::new()),
                    TaskState::Blocked { .. } => (Word::Blocked, String::new()),
                };
                (word, report.decided_by, reason)
            }
        };
        let is_right = word == expected.word && row == expected.row && reason.contains(expected.reason);
        (!is_right).then(|| format!("task {task} is {word:?} by {row:?} ({reason}), not {expected:?}"))
    }
}

/// A history by name.
pub(crate) struct Case {
    /// A sentence.
    pub(crate) name: &'static str,
    pub(crate) build: fn(&mut Scene),
    pub(crate) expected: Expected,
}

pub(crate) const fn case(name: &'static str, build: fn(&mut Scene), expected: Expected) -> Case {
    Case { name, build, expected }
}

/// Builds every case and looks at task 1; all that differ are told together.
#[track_caller]
pub(crate) fn check(cases: &[Case]) {
    let differences: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let mut scene = Scene::new();
            (case.build)(&mut scene);
            scene
                .differs("1", case.expected)
                .map(|how| format!("{}: {how}", case.name))
        })
        .collect();
    assert!(
        differences.is_empty(),
        "{} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

/// The bundle: tasks 1 and 2, and task 3, which needs task 1.
pub(crate) fn bundle() -> Bundle {
    let texts = BundleFixture::new("alpha")
        .task("1", "first part", &[], "1 day")
        .task("2", "second part", &[], "1 day")
        .task("3", "third part", &["1"], "1 day")
        .bundle_texts();
    let files = BundleFiles {
        requirements: FileText::Present(texts.requirements),
        design: FileText::Present(texts.design),
        tasks: FileText::Present(texts.tasks),
        test_spec: FileText::Present(texts.test_spec),
    };
    whole_bundle(&alpha(), files).expect("the fixture is whole").0
}

pub(crate) fn alpha() -> SpecId {
    SpecId::parse("alpha").expect("a bundle's name")
}

pub(crate) fn request(base_branch: Option<BaseName>) -> StepRequest {
    StepRequest {
        spec: alpha(),
        cap: 3,
        stale_lock_minutes: 15,
        stale_marker_seconds: 900,
        base_branch,
        declarations: Declarations::default(),
        fetch: FetchRequest {
            terms: FetchTerms {
                fresh_seconds: 0,
                attempts: 1,
                attempt_limit: Duration::ZERO,
                pause: Duration::ZERO,
                future_is_fresh: false,
            },
            park_after: 3,
        },
        fence: orchestrate_config::FencePolicy::Off,
        cleanup_paused: false,
        dry_run: true,
        unattended: true,
        set_aside: std::collections::BTreeMap::new(),
    }
}
