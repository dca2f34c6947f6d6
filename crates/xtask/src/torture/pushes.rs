//! What origin was asked to change, and by whom. Pure: events and facts in, faults out.
//!
//! A fence is made once, never moved, and removed by whoever made it, when its unit has landed, or by a person. Main is
//! a person's. No branch is moved back, and none is removed but by a person while nothing was committed for its unit.

use std::collections::BTreeSet;

use super::journal::Event;
use super::place::SPEC;
use super::verdict::Facts;

/// Who may move main.
const DESK: &str = "desk";
/// Who removes the fence of a tower that is gone for good.
const PERSON: &str = "person";

/// One change that was asked for.
struct Push<'a> {
    who: &'a str,
    reference: &'a str,
    old: &'a str,
    new: &'a str,
}

/// Returns the pushes that must not be.
pub(super) fn judge(events: &[Event], facts: &Facts) -> Vec<String> {
    let mut landing = BTreeSet::new();
    let mut cleared = BTreeSet::new();
    let mut worked = BTreeSet::new();
    let mut made: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    let mut faults = Vec::new();
    for event in events {
        match event {
            Event::Landing { unit, .. } => drop(landing.insert(unit.as_str())),
            Event::Cleared { unit } => drop(cleared.insert(unit.as_str())),
            Event::Committed { unit, .. } => drop(worked.insert(unit.as_str())),
            Event::Pushed {
                who,
                reference,
                old,
                new,
            } => {
                let push = Push {
                    who,
                    reference,
                    old,
                    new,
                };
                let fault = match fenced(reference) {
                    Some(unit) if is_absent(new) => {
                        let is_own = made.contains(&(who, reference, old));
                        let may = if who == PERSON {
                            cleared.contains(unit)
                        } else {
                            landing.contains(unit) || is_own
                        };
                        (!may).then_some("which was not its to remove")
                    }
                    Some(_) if !is_absent(old) => Some("which was there already"),
                    Some(_) => {
                        made.insert((who, reference, new));
                        None
                    }
                    None if who == PERSON && is_absent(new) => {
                        let is_empty = branch_unit(reference).is_some_and(|unit| !worked.contains(unit));
                        (!is_empty).then_some("which removes work")
                    }
                    None => of_branch(&push, facts),
                };
                faults.extend(fault.map(|fault| format!("{who} pushed {reference}, {fault}: from {old} to {new}")));
            }
            Event::Dispatched { .. }
            | Event::Started { .. }
            | Event::Ended { .. }
            | Event::Killed { .. }
            | Event::Landed { .. }
            | Event::Helped { .. } => {}
        }
    }
    faults
}

/// What was there is judged, never what was to be: origin may have gone away before it was done.
fn of_branch(push: &Push<'_>, facts: &Facts) -> Option<&'static str> {
    let Push {
        who,
        reference,
        old,
        new,
    } = *push;
    if is_absent(new) {
        return Some("which removes it");
    }
    if reference == "refs/heads/main" {
        let kept = facts.main.contains(old);
        return if who != DESK {
            Some("which is a person's")
        } else if !kept {
            Some("which moves it back")
        } else {
            None
        };
    }
    if branch_unit(reference).is_none() {
        return Some("which nobody has to do with");
    }
    let is_kept = is_absent(old) || facts.at_origin.contains(old);
    (!is_kept).then_some("which moves it back")
}

/// Returns the unit of a fence.
fn fenced(reference: &str) -> Option<&str> {
    reference.strip_prefix(&format!("refs/planwright-fence/{SPEC}/"))
}

/// Returns the unit of a task branch.
fn branch_unit(reference: &str) -> Option<&str> {
    reference.strip_prefix(&format!("refs/heads/planwright/{SPEC}/task-"))
}

fn is_absent(commit: &str) -> bool {
    commit.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: &str = "0000";
    const FENCE: &str = "refs/planwright-fence/torture/1";
    const MAIN: &str = "refs/heads/main";

    fn pushed(who: &str, reference: &str, old: &str, new: &str) -> Event {
        Event::Pushed {
            who: who.to_owned(),
            reference: reference.to_owned(),
            old: old.to_owned(),
            new: new.to_owned(),
        }
    }

    fn facts() -> Facts {
        Facts {
            main: ["m1", "m2"].map(str::to_owned).into(),
            at_origin: ["m1", "m2", "b1", "b2"].map(str::to_owned).into(),
            ..Facts::default()
        }
    }

    fn count(events: &[Event]) -> usize {
        judge(events, &facts()).len()
    }

    /// Verifies REQ-H1.2.
    #[test]
    fn a_fence_is_removed_by_its_maker_after_a_landing_or_by_a_person() {
        let made = pushed("host-0", FENCE, NONE, "f1");
        let removed = |who: &str| pushed(who, FENCE, "f1", NONE);
        assert_eq!(count(&[made.clone(), removed("host-0")]), 0);
        assert_eq!(count(&[made.clone(), removed("host-1")]), 1);
        assert_eq!(count(&[made.clone(), removed("person")]), 1);
        let cleared = Event::Cleared { unit: "1".to_owned() };
        assert_eq!(count(&[made.clone(), cleared, removed("person")]), 0);
        let landing = Event::Landing {
            unit: "1".to_owned(),
            place: "host-0".to_owned(),
        };
        assert_eq!(count(&[made.clone(), landing, removed("host-1")]), 0);
        assert_eq!(count(&[made, pushed("host-1", FENCE, "f1", "f2")]), 1, "it is moved");
    }

    /// Verifies REQ-H1.2.
    #[test]
    fn main_is_moved_forward_by_a_person_only() {
        assert_eq!(count(&[pushed("desk", MAIN, "m1", "m2")]), 0);
        assert_eq!(count(&[pushed("host-0", MAIN, "m1", "m2")]), 1);
        assert_eq!(count(&[pushed("desk", MAIN, "m1", "never-done")]), 0);
        assert_eq!(count(&[pushed("desk", MAIN, "lost", "m2")]), 1);
        assert_eq!(count(&[pushed("desk", MAIN, "m1", NONE)]), 1);
    }

    /// Verifies REQ-H1.2.
    #[test]
    fn branches_of_tasks_are_pushed_and_never_moved_back_or_removed() {
        let branch = "refs/heads/planwright/torture/task-1";
        assert_eq!(
            count(&[
                pushed("host-0", branch, NONE, "b1"),
                pushed("host-0", branch, "b1", "b2")
            ]),
            0
        );
        assert_eq!(count(&[pushed("host-0", branch, "gone", "b2")]), 1);
        assert_eq!(count(&[pushed("host-0", branch, "b1", NONE)]), 1);
        assert_eq!(count(&[pushed("host-0", "refs/heads/other", NONE, "b1")]), 1);
        let removed = pushed("person", branch, "b1", NONE);
        assert_eq!(count(std::slice::from_ref(&removed)), 0, "it was pushed empty");
        let committed = Event::Committed {
            unit: "1".to_owned(),
            commit: "b1".to_owned(),
            place: "host-0".to_owned(),
        };
        assert_eq!(count(&[committed, removed]), 1);
    }
}
