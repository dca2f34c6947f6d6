//! The random shape of a round: its tasks and how many of them may be worked on at once.

use super::random::Random;

/// What a round's bundle looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// For each task, the tasks that it depends on; task 1 comes first.
    pub(super) dependencies: Vec<Vec<usize>>,
    /// `max_parallel_units`.
    pub(super) cap: u64,
    /// `dispatch_fetch_ttl`, in minutes: whether each step fetches origin, or each looks at what is known of it.
    pub(super) fetched_for: u64,
}

impl Plan {
    /// Returns a plan of 3 tasks to so many, each of which depends on up to two earlier ones.
    pub(super) fn random(random: &mut Random, most: u64) -> Self {
        let tasks = random.between(3, most);
        let dependencies = (0..tasks).map(|earlier| {
            let mut needs: Vec<usize> = (0..random.below(3))
                .filter(|_| earlier > 0)
                .filter_map(|_| usize::try_from(random.between(1, earlier)).ok())
                .collect();
            needs.sort_unstable();
            needs.dedup();
            needs
        });
        Self {
            dependencies: dependencies.collect(),
            cap: random.between(1, 6),
            fetched_for: random.between(0, 1) * 2,
        }
    }

    /// Returns how many tasks there are.
    pub(super) fn tasks(&self) -> usize {
        self.dependencies.len()
    }

    /// Returns the tasks that one needs.
    pub(super) fn needs(&self, task: usize) -> Vec<String> {
        let needs = task.checked_sub(1).and_then(|index| self.dependencies.get(index));
        needs.into_iter().flatten().map(ToString::to_string).collect()
    }

    /// Returns what a bundle says of the tasks that one needs.
    pub(super) fn dependency_text(&self, task: usize) -> String {
        let needs = self.needs(task);
        if needs.is_empty() {
            "none".to_owned()
        } else {
            needs.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_have_the_promised_shape() {
        for round in 0..200 {
            let plan = Plan::random(&mut Random::new(3, &[round]), 6);
            assert!(
                (3..=6).contains(&plan.tasks()) && (1..=6).contains(&plan.cap),
                "{plan:?}"
            );
            for (index, needs) in plan.dependencies.iter().enumerate() {
                assert!(needs.iter().all(|need| (1..=index).contains(need)), "{plan:?}");
            }
            assert_eq!(plan.dependency_text(1), "none");
        }
    }
}
