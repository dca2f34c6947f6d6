//! Selection against a model that tries everything (`contract/core.md §5.3, §5.4`), and the contract's own examples.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::declaration::Declarations;
use orchestrate_core::derive::{Progress, ProgressKind, SpecState, TaskReport, TaskState};
use orchestrate_core::graph::{Effort, Parking, ParkingPlace, TaskGraph, TaskNode};
use orchestrate_core::identifier::{CommitId, Pair, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::plan::{IdleReason, NoDispatch, Selection, intend};
use orchestrate_core::select::{Company, select, select_beside};
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
        at: None,
        fence: None,
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
                    at: None,
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

fn declared(preferred: &[usize], pairs: &[&str]) -> Declarations {
    let pairs = pairs.iter().map(|text| Pair::parse(text).expect("a pair"));
    Declarations::default().with_flags(preferred.iter().map(|task| id(*task)).collect(), pairs.collect())
}

fn chosen(situation: &Situation, declarations: &Declarations) -> (String, Company) {
    let choice = select_beside(&situation.graph(), &situation.state(), declarations, &BTreeSet::new());
    let choice = choice.expect("something is ready");
    (choice.unit().to_string(), choice.company)
}

fn refused(situation: &Situation, declarations: &Declarations) -> (String, String) {
    match chosen(situation, declarations) {
        (unit, Company::Refused(why)) => (unit, why),
        other => panic!("{other:?}"),
    }
}

/// Verifies REQ-C2.1.
#[test]
fn a_preferred_task_that_is_ready_comes_first_and_the_raw_pick_is_known() {
    let situation = bundle_q(&[]);
    let choose = |preferred: &[usize]| {
        let (graph, state) = (situation.graph(), situation.state());
        select_beside(&graph, &state, &declared(preferred, &[]), &BTreeSet::new()).expect("something is ready")
    };
    let choice = choose(&[4, 9, 1, 2]);
    assert_eq!(
        choice.task,
        id(1),
        "4 waits and 9 is nowhere, so 1 is the first wish that can be met"
    );
    assert_eq!(choice.preferred.map(|(_, raw)| raw), Some(id(2)));
    assert_eq!(choice.also_ready, [id(2)]);
    assert_eq!(choice.chain, [id(1), id(3)]);
    let remarks = declared(&[4, 9, 1], &[]).remarks(&situation.graph(), &situation.state(), None);
    assert_eq!(
        remarks,
        [
            "--prefer 4 changes nothing: task 4 needs 2 (ready)",
            "--prefer 9 changes nothing: there is no task 9"
        ]
    );
    let parked = bundle_q(&[(1, ParkingPlace::Deferred)]);
    assert_eq!(
        chosen(&parked, &declared(&[1], &[])).0,
        "2",
        "a parked task is never taken"
    );
    assert_eq!(
        declared(&[1], &[]).remarks(&parked.graph(), &parked.state(), None),
        ["--prefer 1 changes nothing: task 1 is parked"]
    );
}

/// Verifies REQ-C2.1.
#[test]
fn a_declared_pair_is_one_unit_whichever_of_the_two_is_selected() {
    let situation = bundle_q(&[]);
    let pair = declared(&[], &["1-2"]);
    assert_eq!(
        chosen(&situation, &pair).0,
        "1-2",
        "2 is the head, and its partner stands before it"
    );
    assert_eq!(chosen(&situation, &declared(&[1], &["1-2"])).0, "1-2");
    let (unit, company) = chosen(&situation, &declared(&[], &[]));
    assert_eq!(
        (unit.as_str(), company),
        ("2", Company::Alone),
        "never without a declaration"
    );
    let choice = select_beside(&situation.graph(), &situation.state(), &pair, &BTreeSet::new()).expect("ready");
    assert_eq!(choice.also_ready, [], "the partner is no other task");
    // A landed task in between is passed over.
    let mut landed = bundle_q(&[]);
    landed.landed = BTreeSet::from([1, 2]);
    assert_eq!(chosen(&landed, &declared(&[], &["3-4"])).0, "3-4");
    landed.edges = BTreeSet::new();
    landed.landed = BTreeSet::from([2]);
    assert_eq!(chosen(&landed, &declared(&[1], &["1-3"])).0, "1-3");
}

/// Verifies REQ-C2.1.
#[test]
fn an_ambiguous_declaration_gives_the_single_head_and_says_why() {
    let situation = bundle_q(&[]);
    let mut running = bundle_q(&[]);
    running.running = BTreeSet::from([1]);
    let mut apart = bundle_q(&[(2, ParkingPlace::Deferred)]);
    apart.edges = BTreeSet::new();
    for (situation, preferred, pairs, unit, why) in [
        (
            &situation,
            vec![],
            vec!["1-2", "2-3"],
            "2",
            "--bundle 1-2 and --bundle 2-3 both name task 2",
        ),
        (
            &situation,
            vec![],
            vec!["2-1"],
            "2",
            "--bundle 2-1 names no consecutive tasks: 1 does not come next after 2",
        ),
        (
            &situation,
            vec![],
            vec!["2-4"],
            "2",
            "--bundle 2-4 names no consecutive tasks: 4 does not come next after 2",
        ),
        (
            &situation,
            vec![],
            vec!["2-3"],
            "2",
            "--bundle 2-3 is not ready as a whole: task 3 needs 1 (ready)",
        ),
        (
            &running,
            vec![],
            vec!["1-2"],
            "2",
            "--bundle 1-2 is not ready as a whole: task 1 is running",
        ),
        (
            &apart,
            vec![1],
            vec!["1-2"],
            "1",
            "--bundle 1-2 is not ready as a whole: task 2 is parked",
        ),
    ] {
        let got = refused(situation, &declared(&preferred, &pairs));
        assert_eq!((got.0.as_str(), got.1.as_str()), (unit, why));
    }
    let aside = BTreeSet::from([Unit::parse("1-2").expect("a unit")]);
    let choice = select_beside(&situation.graph(), &situation.state(), &declared(&[], &["1-2"]), &aside);
    assert_eq!(choice.map(|choice| choice.unit().to_string()), Some("2".to_owned()));
}

/// Verifies REQ-C2.1.
#[test]
fn a_pair_of_which_one_task_has_landed_asks_for_nothing() {
    let mut situation = bundle_q(&[]);
    situation.landed = BTreeSet::from([2]);
    let pair = declared(&[], &["1-2"]);
    assert_eq!(chosen(&situation, &pair), ("4".to_owned(), Company::Alone));
    let remarks = |declarations: &Declarations| {
        let choice = select(&situation.graph(), &situation.state());
        declarations.remarks(&situation.graph(), &situation.state(), choice.as_ref())
    };
    assert_eq!(remarks(&pair), ["--bundle 1-2 changes nothing: task 2 has landed"]);
    assert_eq!(
        remarks(&declared(&[], &["1-9"])),
        ["--bundle 1-9 changes nothing: there is no task 9"]
    );
    assert_eq!(
        remarks(&declared(&[], &["1-3"])),
        ["--bundle 1-3 changes nothing now: 4 comes first"]
    );
    situation.running = BTreeSet::from([1]);
    let choice = select(&situation.graph(), &situation.state());
    assert_eq!(
        declared(&[], &["1-3"]).remarks(&situation.graph(), &situation.state(), choice.as_ref()),
        ["--bundle 1-3 changes nothing now: task 1 is running"],
        "what holds the pair itself is the reason, not what is taken beside it"
    );
}

/// The cap counts tasks (`contract/core.md §5.5`).
/// Verifies REQ-C2.3.
#[test]
fn a_pair_takes_two_places_under_the_cap() {
    let pair = declared(&[], &["1-2"]);
    let go = |situation: &Situation, cap: u32| {
        let (graph, state) = (situation.graph(), situation.state());
        let spec = SpecId::parse("q").expect("a spec name");
        let selection = Selection {
            graph: &graph,
            state: &state,
            declarations: &pair,
            cap,
        };
        intend(
            |unit| UnitName {
                spec: spec.clone(),
                unit,
            },
            &selection,
            &BTreeSet::new(),
        )
    };
    let taken = |situation: &Situation, cap: u32| go(situation, cap).map(|intent| intent.name.unit.to_string());
    assert_eq!(taken(&bundle_q(&[]), 2), Ok("1-2".to_owned()));
    assert_eq!(taken(&bundle_q(&[]), 1), Ok("2".to_owned()), "it would never fit");
    assert_eq!(taken(&bundle_q(&[]), 0), Err(NoDispatch::Idle(IdleReason::Paused)));
    let mut busy = bundle_q(&[]);
    busy.edges = BTreeSet::from([(4, 2)]);
    busy.running = BTreeSet::from([3]);
    let full = taken(&busy, 2).expect_err("it waits for the second place");
    let NoDispatch::Idle(full @ IdleReason::AtCap { .. }) = &full else {
        panic!("{full}");
    };
    let said = "1 unit in progress and max_parallel_units is 2; next would be 1-2, which counts as two";
    assert_eq!(full.to_string(), said);
    // Whose places they are is told of the tasks that are in progress, and of no other.
    let told: Vec<&str> = full.waiting().iter().map(|one| one.task.as_str()).collect();
    assert_eq!(told, ["3"]);
    assert_eq!(taken(&busy, 3), Ok("1-2".to_owned()));
}

/// A unit that this clone has fenced has its place already; what another clone has fenced takes one from the rest.
#[test]
fn what_is_fenced_here_does_not_wait_for_what_is_fenced_elsewhere() {
    use orchestrate_core::derive::{Answer, FenceOf, Row};
    use orchestrate_core::observed::Why;
    let situation = Situation {
        efforts: vec![1, 9, 1],
        edges: BTreeSet::new(),
        parked: BTreeMap::new(),
        landed: BTreeSet::new(),
        running: BTreeSet::new(),
    };
    let graph = situation.graph();
    let spec = SpecId::parse("alpha").expect("a spec");
    let taken = |own: Option<usize>, is_read: bool| {
        let mut state = situation.state();
        let elsewhere = state.tasks.get_mut(&id(1)).expect("a task");
        elsewhere.state = TaskState::Unknown(Why::new("somebody has fenced it"));
        elsewhere.fence = Some(FenceOf::AnotherClone);
        if !is_read {
            let unread = Answer::Unknown(Why::new("the marker cannot be read"));
            elsewhere.rows.push((Row::Claim, unread));
        }
        if let Some(own) = own {
            state.tasks.get_mut(&id(own)).expect("a task").fence = Some(FenceOf::ThisClone);
        }
        let selection = Selection {
            graph: &graph,
            state: &state,
            declarations: &Declarations::default(),
            cap: 1,
        };
        let name = |unit| UnitName {
            spec: spec.clone(),
            unit,
        };
        let intent = intend(name, &selection, &BTreeSet::new());
        intent.ok().map(|intent| intent.name.unit.to_string())
    };
    assert_eq!(taken(None, true), None, "the heaviest waits");
    assert_eq!(taken(Some(3), true), Some("3".to_owned()), "although 2 comes first");
    assert_eq!(taken(Some(3), false), None, "more than a fence may hold the other");
}

/// What a flag says comes before what a key says.
#[test]
fn a_pair_of_a_key_does_not_count_beside_a_flags() {
    use orchestrate_core::declaration::{Cohesion, DeclaredBy};
    let key = |text: &str| Cohesion {
        pair: Pair::parse(text).expect("a pair"),
        by: DeclaredBy::Key,
    };
    let keys = Declarations {
        preferences: Vec::new(),
        cohesions: vec![key("2-3"), key("1-2")],
    };
    let flag = vec![Pair::parse("1-2").expect("a pair")];
    let both = keys.clone().with_flags(Vec::new(), flag);
    let situation = bundle_q(&[]);
    assert_eq!(chosen(&situation, &both).0, "1-2");
    assert_eq!(
        both.remarks(&situation.graph(), &situation.state(), None)
            .last()
            .map(String::as_str),
        Some("bundle_units 2-3 does not count beside --bundle 1-2")
    );
    assert_eq!(
        refused(&situation, &keys).1,
        "bundle_units 2-3 and bundle_units 1-2 both name task 2"
    );
}
