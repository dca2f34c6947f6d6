//! The judge, judged: a correct tower passes, and every wrong one is convicted of the law it breaks.

mod mini_tower;

use std::sync::Arc;

use super::*;
use mini_tower::{Flaw, step};

fn tower(flaw: Flaw) -> Tower {
    Arc::new(move |world| step(world, flaw))
}

#[test]
fn a_correct_tower_keeps_the_laws() {
    for scenario in [
        Scenario::standard(),
        Scenario::one_task().on_hosts(1..=1),
    ] {
        let report = match run_many(0..3000, 2, &scenario, &tower(Flaw::Nothing)) {
            Ok(report) => report,
            Err(violation) => panic!("{violation}"),
        };
        println!("{report}");
        let sums = report.statistics;
        assert_eq!(sums.schedules, 3000);
        assert_eq!(sums.landed, sums.tasks);
        assert_eq!((sums.double_dispatches, sums.lost_commits, sums.stuck), (0, 0, 0));
        let seen = [sums.kills, sums.torn, sums.unknown, sums.applied_but_failed, sums.restarts, sums.locks_broken];
        assert!(seen.iter().all(|count| *count > 100), "{sums}");
    }
}
