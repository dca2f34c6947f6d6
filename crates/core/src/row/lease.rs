//! Row 4 ★: a worker lease is held.

use alloc::format;
use alloc::string::ToString;

use crate::answer::{Answer, Finding, Progress, ProgressKind};
use crate::evidence::{Evidence, Lease};
use crate::identifier::TaskId;
use crate::observed::Observed;

pub(super) fn answer(task: &TaskId, evidence: &Evidence) -> Answer {
    let leases = match &evidence.leases {
        Observed::Known(leases) => leases,
        Observed::Absent(why) => return Answer::No(why.reason.clone()),
        Observed::Unknown(why) => return Answer::Unknown(why.clone()),
    };
    let mut result = Answer::No("no worktree, so no worker".to_string());
    for (_, lease) in leases.iter().filter(|(unit, _)| unit.contains(task)) {
        match lease {
            Observed::Known(Lease::Held { holder, since }) => {
                return Answer::Yes(Finding::InProgress(Progress {
                    kind: ProgressKind::Running,
                    detail: format!("a worker runs ({holder})"),
                    hint: None,
                    at: *since,
                }));
            }
            Observed::Unknown(why) => result = Answer::Unknown(why.clone()),
            Observed::Known(Lease::Free) | Observed::Absent(_) => {
                if matches!(result, Answer::No(_)) {
                    result = Answer::No("the worker lease is free".to_string());
                }
            }
        }
    }
    result
}
