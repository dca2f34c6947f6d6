//! Selection against a model that tries everything (`contract/core.md §5.3, §5.4`), and the contract's own examples.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::derive::{Progress, ProgressKind, SpecState, TaskReport, TaskState};
use orchestrate_core::graph::{Effort, Parking, ParkingPlace, TaskGraph, TaskNode};
use orchestrate_core::identifier::{CommitId, TaskId};
use orchestrate_core::select::select;
use proptest::prelude::*;

fn id(number: usize) -> TaskId {
    TaskId::parse(&number.to_string()).expect("id")
}

fn report(state: TaskState, parked: Option<Parking>) -> TaskReport {
    TaskReport {
        state,
        rows: Vec::new(),
        decided_by: None,
        worker_still_running: false,
        parked,
    }
}

/// A graph of `efforts.len()` tasks, numbered from 1, with the given edges and parked tasks, and which tasks are
/// landed or in progress.
#[derive(Debug)]
struct Situation {
    efforts: Vec<u64>,
    edges: BTreeSet<(usize, usize)>,
    parked: BTreeMap<usize, ParkingPlace>,
    landed: BTreeSet<usize>,
    running: BTreeSet<usize>,
}

impl Situation {
    fn dependencies(&self, task: usize) -> impl Iterator<Item = usize> {
        self.edges
            .iter()
            .filter(move |(from, _)| *from == task)
            .map(|(_, to)| *to)
    }

    fn graph(&self) -> TaskGraph {
        let tasks = (1..=self.efforts.len()).map(|task| TaskNode {
            id: id(task),
            title: String::new(),
            dependencies: self.dependencies(task).map(id).collect(),
            effort: Effort::from_milli_days(self.efforts[task - 1]),
        });
        let parked = self.parked.iter().map(|(task, place)| {
            (
                id(*task),
                Parking {
                    place: *place,
                    note: String::new(),
                },
            )
        });
        TaskGraph {
            tasks: tasks.collect(),
            parked: parked.collect(),
        }
    }

    fn state(&self) -> SpecState {
        let commit = CommitId::parse(&"a".repeat(40)).expect("commit");
        let tasks = (1..=self.efforts.len()).map(|task| {
            let needs: Vec<TaskId> = self
                .dependencies(task)
                .filter(|need| !self.landed.contains(need))
                .map(id)
                .collect();
            let state = if self.landed.contains(&task) {
                TaskState::Landed { commit: commit.clone() }
            } else if self.running.contains(&task) {
                TaskState::InProgress(Progress {
                    kind: ProgressKind::Running,
                    detail: String::new(),
                    hint: None,
                })
            } else if needs.is_empty() {
                TaskState::Ready
            } else {
                TaskState::Blocked { needs }
            };
            let parked = self.parked.get(&task).map(|place| Parking {
                place: *place,
                note: String::new(),
            });
            (id(task), report(state, parked))
        });
        SpecState { tasks: tasks.collect() }
    }

    /// The model: of the ready tasks the one with the heaviest chain, the first of equals.
    fn model(&self) -> Option<usize> {
        let terminal =
            |task: usize| self.landed.contains(&task) || self.parked.get(&task) == Some(&ParkingPlace::OutOfScope);
        let ready: Vec<usize> = (1..=self.efforts.len())
            .filter(|task| {
                !self.landed.contains(task) && !self.running.contains(task) && !self.parked.contains_key(task)
            })
            .filter(|task| self.dependencies(*task).all(|need| self.landed.contains(&need)))
            .collect();
        let weight = |task: usize| self.heaviest_chain(task, &terminal);
        let heaviest = ready.iter().map(|task| weight(*task)).max()?;
        ready.into_iter().find(|task| weight(*task) == heaviest)
    }

    fn heaviest_chain(&self, task: usize, terminal: &dyn Fn(usize) -> bool) -> u64 {
        let dependents = (1..=self.efforts.len())
            .filter(|other| !terminal(*other) && self.dependencies(*other).any(|need| need == task));
        self.efforts[task - 1]
            + dependents
                .map(|other| self.heaviest_chain(other, terminal))
                .max()
                .unwrap_or(0)
    }
}

fn situations() -> impl Strategy<Value = Situation> {
    let place = prop_oneof![
        Just(ParkingPlace::AwaitingInput),
        Just(ParkingPlace::Deferred),
        Just(ParkingPlace::OutOfScope)
    ];
    (
        proptest::collection::vec((1u64..6).prop_map(|half_days| half_days * 500), 1..8),
        proptest::collection::btree_set((1usize..8, 1usize..8), 0..12),
        proptest::collection::btree_map(1usize..8, place, 0..3),
        proptest::collection::btree_set(1usize..8, 0..4),
        proptest::collection::btree_set(1usize..8, 0..3),
    )
        .prop_map(|(efforts, edges, parked, landed, running)| {
            let count = efforts.len();
            let within = |task: &usize| *task <= count;
            Situation {
                // From later to earlier only: a circle is refused before selection.
                edges: edges
                    .into_iter()
                    .filter(|(from, to)| *from <= count && to < from)
                    .collect(),
                parked: parked.into_iter().filter(|(task, _)| *task <= count).collect(),
                landed: landed.into_iter().filter(within).collect(),
                running: running.into_iter().filter(within).collect(),
                efforts,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Verifies REQ-C2.1.
    #[test]
    fn selection_matches_the_model(situation in situations()) {
        let choice = select(&situation.graph(), &situation.state());
        prop_assert_eq!(choice.as_ref().map(|choice| choice.task.clone()), situation.model().map(id));
        if let Some(choice) = choice {
            prop_assert_eq!(choice.chain.first(), Some(&choice.task));
            let weight: u64 = choice.chain.iter().map(|task| situation.efforts[task.as_str().parse::<usize>().expect("number") - 1]).sum();
            prop_assert_eq!(choice.weight.milli_days(), weight);
        }
    }
}

/// The verified bundle `q` of §5.6: 1 (1 d), 2 (1 d), 3 after 1 (1 d), 4 after 2 (5 d).
fn bundle_q(parked: &[(usize, ParkingPlace)]) -> Situation {
    Situation {
        efforts: vec![1000, 1000, 1000, 5000],
        edges: BTreeSet::from([(3, 1), (4, 2)]),
        parked: parked.iter().copied().collect(),
        landed: BTreeSet::new(),
        running: BTreeSet::new(),
    }
}

/// Verifies REQ-C2.1.
#[test]
fn the_verified_examples() {
    let pick = |situation: &Situation| select(&situation.graph(), &situation.state()).map(|choice| choice.task);
    assert_eq!(pick(&bundle_q(&[(4, ParkingPlace::OutOfScope)])), Some(id(1)));
    assert_eq!(pick(&bundle_q(&[(4, ParkingPlace::Deferred)])), Some(id(2)));
    assert_eq!(pick(&bundle_q(&[])), Some(id(2)));
    assert_eq!(
        bundle_q(&[(4, ParkingPlace::OutOfScope)]).graph().critical_path(),
        [id(2), id(4)]
    );
}
