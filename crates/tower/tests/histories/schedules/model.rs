//! What is true of a schedule's repositories, and whether the derived states may say so.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::derive::{SpecState, TaskState, derive};
use orchestrate_core::identifier::{CommitId, TaskId, Unit};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::pull_request::{Checks, PullRequest, PullRequestState, PullRequests, Shown};
use orchestrate_core::world::World;
use orchestrate_host::world::{RealWorld, WorldSettings};
use orchestrate_spec::Bundle;
use orchestrate_testkit::histories::{Depot, History, Oid};
use orchestrate_testkit::simulation::Random;
use orchestrate_tower::gather::{Beside, Question, gather};

use crate::case::{MAIN, alpha, bundle};

/// Files of a unit's work.
pub(super) type Pieces = BTreeSet<String>;

/// A pull request.
pub(super) struct Proposal {
    pub(super) number: u64,
    pub(super) state: PullRequestState,
    pub(super) head: Oid,
    /// The commit of its merge.
    pub(super) merge: Option<Oid>,
}

/// A landing that somebody made.
pub(super) struct Landing {
    /// What must be on base for it to stand.
    pub(super) needed: Pieces,
    /// Whether it was made at origin.
    pub(super) at_origin: bool,
    /// The commit that says so by a trailer although it brings nothing: then it is a person's word that counts.
    pub(super) word: Option<Oid>,
    /// Whether its trailer came to base.
    pub(super) trailer: bool,
    /// Which branch of the unit's name it was of; none for that of another clone.
    pub(super) life: Option<u32>,
    /// The pull request by which it came.
    pub(super) pull_request: Option<u64>,
}

/// A unit, as it is in truth.
pub(super) struct Work {
    pub(super) task: &'static str,
    pub(super) branch: String,
    pub(super) pieces: usize,
    /// How often its branch was made, or moved away from its commits so that nothing tells of them any more.
    pub(super) life: u32,
    /// What was on the branch when it was made or moved: the work of an earlier life, if any.
    pub(super) start: Pieces,
    /// Its branch is first made by a dispatch of ours.
    pub(super) dispatched: bool,
    /// The records of that dispatch are there.
    pub(super) recorded: bool,
    /// Commits that carry a trailer, with what they bring.
    pub(super) promises: Vec<(Oid, Pieces)>,
    pub(super) landings: Vec<Landing>,
    pub(super) proposals: Vec<Proposal>,
}

/// The repositories and the truth.
pub(super) struct Universe {
    pub(super) history: History,
    pub(super) works: Vec<Work>,
    /// What somebody may revert, the newest commit first.
    pub(super) revertible: Vec<Vec<Oid>>,
    pub(super) number: u64,
    world: RealWorld,
    bundle: Bundle,
}

impl Universe {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut history = History::new("main");
        history.add_origin();
        let world = history.world(WorldSettings::default());
        let works = ["1", "2"].map(|task| Work {
            task,
            branch: format!("refs/heads/planwright/alpha/task-{task}"),
            pieces: 0,
            life: 0,
            start: Pieces::new(),
            dispatched: random.chance(250),
            recorded: false,
            promises: Vec::new(),
            landings: Vec::new(),
            proposals: Vec::new(),
        });
        Self {
            history,
            works: works.into(),
            revertible: Vec::new(),
            number: 0,
            world,
            bundle: bundle(),
        }
    }

    pub(super) fn world(&mut self) -> &mut RealWorld {
        &mut self.world
    }

    /// Returns which law the derived states break, with the forge answering, absent or failing.
    pub(super) fn violation(&self, random: &mut Random) -> Option<String> {
        let (answer, forge) = match random.below(3) {
            0 => (Observed::Absent(Why::new("there is no forge")), false),
            1 => (Observed::Unknown(Why::new("the forge does not answer")), false),
            _ => (Observed::Known(self.answer()), true),
        };
        let state = self.derived(&answer);
        self.works.iter().find_map(|work| {
            let report = &state.tasks[&TaskId::parse(work.task).expect("a task")];
            match &report.state {
                TaskState::Landed { .. } if !self.may_be_landed(work, forge) && !self.came_twice(work) => {
                    Some(format!(
                        "task {} is landed by {:?}, and its work is not on base",
                        work.task, report.decided_by
                    ))
                }
                TaskState::Ready if self.is_shown(work, forge) => Some(format!(
                    "task {} is ready, and its work is on base (forge {forge})",
                    work.task
                )),
                TaskState::Landed { .. }
                | TaskState::Ready
                | TaskState::InProgress(_)
                | TaskState::Unknown(_)
                | TaskState::Blocked { .. } => None,
            }
        })
    }

    fn derived(&self, asked: &Observed<PullRequests>) -> SpecState {
        let base = self.world.base(None).expect("main is the base");
        let (graph, spec) = (self.bundle.graph(), alpha());
        let question = Question {
            spec: &spec,
            graph: &graph,
            base: &base,
            stale_marker_seconds: 900,
            origin: &Observed::Absent(Why::new("no fences are taken")),
            asked: Some(asked),
            beside: Beside::Nobody,
        };
        derive(&graph, &gather(&self.world, &question))
    }

    /// Returns the commits that say what is on base: of base and counterpart the one that has the other, else both.
    fn ends(&self) -> Vec<Oid> {
        let here = &self.history.here;
        let (base, counterpart) = (here.tip(MAIN), here.tip("refs/remotes/origin/main"));
        if here.contains(counterpart, base) {
            vec![counterpart]
        } else if here.contains(base, counterpart) {
            vec![base]
        } else {
            vec![base, counterpart]
        }
    }

    fn is_on_base(&self, work: &Work, needed: &Pieces) -> bool {
        !needed.is_empty()
            && self
                .ends()
                .iter()
                .any(|end| needed.is_subset(&pieces(&self.history.here, *end, work.task)))
    }

    fn has_commit(&self, commit: Oid) -> bool {
        let here = &self.history.here;
        self.ends().iter().any(|end| here.contains(*end, commit))
    }

    fn may_be_landed(&self, work: &Work, forge: bool) -> bool {
        let merged_unseen = |proposal: &Proposal| proposal.merge.is_some_and(|merge| !self.has_commit(merge));
        let stands = |landing: &Landing| {
            self.is_on_base(work, &landing.needed) || landing.word.is_some_and(|word| self.has_commit(word))
        };
        work.landings.iter().any(stands)
            || work.promises.iter().any(|(_, pieces)| self.is_on_base(work, pieces))
            || (forge && work.proposals.iter().any(merged_unseen))
    }

    /// Returns whether something of the unit came to base by two commits, picked and merged for example, or merged here and at
    /// origin. A revert names one of them: then what it leaves standing is not for the content to say.
    fn came_twice(&self, work: &Work) -> bool {
        let merged_twice = work.landings.iter().enumerate().any(|(index, landing)| {
            let later = work.landings.iter().skip(index + 1);
            later
                .filter(|later| later.at_origin != landing.at_origin)
                .any(|later| !later.needed.is_disjoint(&landing.needed))
        });
        if merged_twice {
            return true;
        }
        let here = &self.history.here;
        let mut added: BTreeMap<String, BTreeSet<Oid>> = BTreeMap::new();
        for commit in here.history_of(&self.ends()) {
            for path in here.added_by(commit, &format!("work/{}/", work.task)) {
                added.entry(path).or_default().insert(commit);
            }
        }
        added.values().any(|commits| commits.len() > 1)
    }

    /// Returns whether a landing stands, and something that was asked can tell.
    fn is_shown(&self, work: &Work, forge: bool) -> bool {
        let branch = self.history.here.find(&work.branch).is_some();
        work.landings.iter().any(|landing| {
            let told = landing.trailer
                || work.recorded
                || (branch && landing.life == Some(work.life))
                || (forge && landing.pull_request.is_some());
            told && self.is_on_base(work, &landing.needed)
        })
    }

    fn answer(&self) -> PullRequests {
        let found = self.works.iter().map(|work| {
            let all = work.proposals.iter().rev().map(|proposal| PullRequest {
                number: proposal.number,
                state: proposal.state.clone(),
                base: "main".to_owned(),
                head_owner: Some("o".to_owned()),
                head: commit(proposal.head),
                checks: Checks::None,
                shown: Shown::default(),
            });
            (Unit::parse(work.task).expect("a unit"), Observed::Known(all.collect()))
        });
        PullRequests {
            repository: "o/r".to_owned(),
            head_owner: "o".to_owned(),
            asked: self.world.now(),
            by_unit: found.collect(),
            relations: BTreeMap::new(),
            beside: BTreeMap::new(),
            requests: 1,
        }
    }
}

pub(super) fn commit(id: Oid) -> CommitId {
    CommitId::parse(&id.to_string()).expect("a commit")
}

/// Returns the work of a unit that a commit holds.
pub(super) fn pieces(depot: &Depot, commit: Oid, task: &str) -> Pieces {
    depot.files(commit, &format!("work/{task}/"))
}
