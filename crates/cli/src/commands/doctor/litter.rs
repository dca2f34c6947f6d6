//! What killed processes left behind. What is provably nobody's is removed by `--fix`.

use orchestrate_core::observed::Observed;
use orchestrate_core::words::count;
use orchestrate_host::litter::{self, Kind};
use orchestrate_host::shell::word;

use super::finding::{Finding, Looked, Mend, Weight};
use super::repair::Repair;
use super::surroundings::Surroundings;

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    let found = match litter::find(ground.layout(), ground.specs) {
        Ok(found) => found,
        Err(fault) => return Looked::new("our own directories", vec![Finding::unseen(".git/orchestrate", &fault)]),
    };
    let findings: Vec<Finding> = found
        .into_iter()
        .map(|left| {
            let place = ground.layout().shown(&left.path);
            let what = match &left.kind {
                Kind::StagedFile => "a file that was to replace another one",
                Kind::Lock(_) => "a lock on its way in or out",
                Kind::Registration => "the registration of a worktree on its way in",
                Kind::Migration(_) => "half of a migration's notes",
                Kind::GitLock => "a lock of git's, which no git gets past",
            };
            let remove = match &left.kind {
                Kind::StagedFile | Kind::GitLock => format!("rm {}", word(&place)),
                Kind::Lock(_) | Kind::Registration | Kind::Migration(_) => format!("rm -r {}", word(&place)),
            };
            match (&left.kind, &left.proof) {
                (Kind::GitLock, Observed::Known(why)) => {
                    let problem = format!("{what}: {why}");
                    let mend = Mend::provided("if no git is at work here", remove);
                    Finding::new(Weight::Warning, place, problem, mend)
                }
                (_, Observed::Known(why)) => {
                    let problem = format!("{what}: {why}");
                    Finding::new(Weight::Note, place, problem, Mend::Fix(Repair::Remove(left)))
                }
                (_, Observed::Absent(why) | Observed::Unknown(why)) => {
                    let problem = format!("{what}, and whose it is cannot be told: {why}");
                    let mend = Mend::provided("if nobody works on the bundle", remove);
                    Finding::new(Weight::Note, place, problem, mend)
                }
            }
        })
        .collect();
    Looked::new(format!("{} left behind", count(findings.len(), "thing")), findings)
}
