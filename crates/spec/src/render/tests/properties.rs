//! Parse, render, parse: over bundles that can be said, and over values that nobody would write.

use proptest::prelude::*;

use super::*;

/// Words of which every text of a bundle may be made, in lines that none of the format's rules mistakes.
fn plain() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-z]{1,8}( [a-zé0-9,:`*]{1,8}){0,4}", 1..4).prop_map(|lines| {
        let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        lines.join("\n")
    })
}

fn line() -> impl Strategy<Value = String> {
    "[A-Za-z][a-zé]{0,8}( [a-zé0-9,&<\"]{1,8}){0,3}".prop_map(|line| line.trim().to_owned())
}

fn any_bundle() -> impl Strategy<Value = Bundle> {
    let tasks = proptest::collection::vec(
        (
            line(),
            plain(),
            plain(),
            proptest::collection::btree_set(0usize..9, 0..3),
        ),
        1..6,
    );
    let requirements = proptest::collection::vec(plain(), 0..4);
    let decisions = proptest::collection::vec((line(), plain(), plain(), plain()), 1..4);
    (
        line(),
        plain(),
        requirements,
        decisions,
        tasks,
        proptest::option::of(0usize..6),
    )
        .prop_map(|(title, goal, requirements, decisions, tasks, parked)| {
            let base = everything();
            let requirements: Vec<Requirement> = requirements
                .iter()
                .enumerate()
                .map(|(number, text)| {
                    requirement(
                        &format!("REQ-A1.{}", number + 1),
                        "REQ-A — Parts",
                        &format!("{text}\n(Cites: D-1.)"),
                    )
                })
                .collect();
            let tests = requirements
                .iter()
                .map(|requirement| TestEntry {
                    requirements: vec![requirement.id.clone()],
                    heading: format!("{} — x [test]", requirement.id),
                    tags: vec!["test".to_owned()],
                    line: 0,
                })
                .collect();
            let decisions = decisions
                .into_iter()
                .enumerate()
                .map(|(number, (title, decision, alternatives, chosen_because))| Decision {
                    id: format!("D-{}", number + 1),
                    title,
                    origin: None,
                    decision,
                    alternatives,
                    chosen_because,
                    ..base.decisions[0].clone()
                })
                .collect();
            let tasks: Vec<Task> = tasks
                .into_iter()
                .enumerate()
                .map(|(number, (title, deliverables, done_when, needs))| Task {
                    title,
                    deliverables,
                    done_when,
                    dependencies: needs
                        .into_iter()
                        .filter(|other| *other < number)
                        .map(|other| id(&other.to_string()))
                        .collect(),
                    ..task(&number.to_string(), "", &[], Section::Tasks)
                })
                .collect();
            let parked = parked
                .and_then(|number| tasks.get(number))
                .map(|task| ReferenceBullet {
                    task: task.id.clone(),
                    ..base.parked[0].clone()
                })
                .into_iter()
                .collect();
            Bundle {
                title,
                goal,
                requirements,
                decisions,
                tasks,
                parked,
                gates: vec![base.gates[0].clone()],
                tests,
                ..base
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Parse → render → parse: the same bundle, and the same texts from then on.
    #[test]
    fn round_trip(bundle in any_bundle()) {
        let texts = render(&bundle);
        prop_assert!(texts.is_ok(), "{:?}", texts);
        let texts = texts.expect("texts");
        let read = parse_bundle(&bundle.spec, &texts);
        prop_assert!(read.is_ok(), "{:?}", read);
        let read = read.expect("a bundle");
        prop_assert_eq!(difference(&bundle, &read), None);
        prop_assert_eq!(render(&read), Ok(texts));
    }

    /// Whatever stands in a value: it is refused, or it comes back.
    #[test]
    fn hostile_values_are_refused_or_come_back(
        mut bundle in any_bundle(),
        hostile in "(\\PC|\n|\r|\t|## |### Task 1 — x|- |\\*\\*|```|<!--|\\*\\*Dependencies:\\*\\* 1|REQ-A1.1| ){0,12}",
        place in 0usize..12,
    ) {
        match place {
            0 => bundle.title = hostile,
            1 => bundle.goal = hostile,
            2 => bundle.decisions[0].title = hostile,
            3 => bundle.decisions[0].text = hostile,
            4 => bundle.decisions[0].chosen_because = hostile,
            5 => bundle.tasks[0].title = hostile,
            6 => bundle.tasks[0].deliverables = hostile,
            7 => bundle.tasks[0].citations_text = hostile,
            8 => bundle.tasks[0].estimated_effort = hostile,
            9 => bundle.gates[0].text = hostile,
            10 => bundle.changelog[0].text = hostile,
            _ => bundle.parked.iter_mut().for_each(|bullet| bullet.note.clone_from(&hostile)),
        }
        if let Ok(texts) = render(&bundle) {
            let read = examine(&bundle.spec, &BundleFiles::from(texts)).bundle.expect("a bundle");
            prop_assert_eq!(difference(&bundle, &read), None);
        }
    }
}
