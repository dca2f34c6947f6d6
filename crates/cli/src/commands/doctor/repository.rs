//! The repository: whether it can be used, how much of its history is here, and what lies among git's own files.

use orchestrate_core::identifier::SpecId;
use orchestrate_core::observed::Why;
use orchestrate_host::git_setup;
use orchestrate_host::shell::word;
use orchestrate_host::unreadable_refs::{self, UnreadableRef};

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::{Ground, Surroundings};

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    if let Some(fault) = surroundings.refused {
        let mend = match &fault.hint {
            Some(hint) => Mend::of_hint(hint),
            None => Mend::ByHand("git fsck shows what is broken".to_owned()),
        };
        let here = surroundings.environment.directory.as_str();
        let finding = Finding::new(Weight::Fault, here, fault.to_string(), mend);
        return Looked::new("it cannot be used", vec![finding]);
    }
    let Some(ground) = surroundings.ground else {
        return Looked::new("not in a repository", Vec::new());
    };
    let mut findings = setup(&ground);
    findings.extend(refs(&ground));
    for spec in ground.specs {
        findings.extend(in_the_way(&ground, spec));
    }
    Looked::new(ground.layout().primary.as_str(), findings)
}

fn setup(ground: &Ground<'_>) -> Vec<Finding> {
    let setup = match git_setup::look(ground.world.repository()) {
        Ok(setup) => setup,
        Err(fault) => return vec![Finding::unseen(".git/config", &fault)],
    };
    let mut findings = Vec::new();
    if setup.is_shallow {
        let problem = "its history is cut off: a task that landed before the cut is unknown, and held";
        let mend = Mend::command("git fetch --unshallow");
        findings.push(Finding::new(Weight::Warning, ".git/shallow", problem, mend));
    }
    if setup.is_partial {
        let problem = "a partial clone: what a gate needs is fetched when it is needed, and origin has to answer then";
        let mend = Mend::provided(
            "where origin is often away",
            "git fetch --refetch --no-filter origin && git config --unset-all remote.origin.promisor",
        );
        findings.push(Finding::new(Weight::Note, ".git/config", problem, mend));
    }
    if !setup.keeps_reflogs {
        let problem = "core.logAllRefUpdates is off: which commits are a branch's own cannot always be told";
        let mend = Mend::command("git config core.logAllRefUpdates true");
        findings.push(Finding::new(Weight::Warning, ".git/config", problem, mend));
    }
    if let Some((name, value)) = setup.drops_reflogs {
        let problem = format!(
            "{name} is {value}: git throws away the log by which a branch's own commits are told from merged ones"
        );
        let mend = Mend::command(format!("git config {name} 90.days"));
        findings.push(Finding::new(Weight::Warning, ".git/config", problem, mend));
    }
    findings
}

/// A ref that cannot be read keeps git from fetching, whatever it belongs to.
fn refs(ground: &Ground<'_>) -> Vec<Finding> {
    let unreadable = match unreadable_refs::look(ground.world.repository()) {
        Ok(unreadable) => unreadable,
        Err(fault) => return vec![Finding::unseen(".git/refs", &fault)],
    };
    let finding = |reference: UnreadableRef| {
        let UnreadableRef {
            name,
            cause,
            is_loose,
            last,
        } = reference;
        let problem = format!("git cannot read this ref, and fetches nothing while it is there: {cause}");
        let file = word(&ground.layout().shown(&ground.layout().common.join(&name)));
        let is_remote = name.starts_with("refs/remotes/");
        let mend = match (last.filter(|_| !is_remote), is_loose) {
            (Some(commit), true) => Mend::provided(
                "goes back to the newest commit of its log that is here",
                format!("rm {file} && git update-ref {} {commit}", word(&name)),
            ),
            (Some(commit), false) => Mend::provided(
                "goes back to the newest commit of its log that is here",
                format!("git update-ref {} {commit}", word(&name)),
            ),
            (None, true) if is_remote => Mend::command(format!("rm {file}")),
            (None, true) => Mend::provided("if nothing of it is wanted", format!("rm {file}")),
            (None, false) => Mend::provided(
                "if nothing of it is wanted",
                format!("git update-ref -d {}", word(&name)),
            ),
        };
        Finding::new(Weight::Fault, name, problem, mend)
    };
    unreadable.into_iter().map(finding).collect()
}

/// What lies in the way holds its own task; what cannot be looked at holds them all.
fn in_the_way(ground: &Ground<'_>, spec: &SpecId) -> Vec<Finding> {
    let finding = |place: String, why: &Why| {
        let mend = match &why.hint {
            Some(hint) => Mend::of_hint(hint),
            None => Mend::ByHand("look at it and move it away".to_owned()),
        };
        Finding::new(Weight::Fault, place, why.reason.clone(), mend)
    };
    match ground.world.obstacles(spec) {
        Ok(by_unit) => by_unit
            .iter()
            .map(|(unit, why)| finding(format!("planwright/{spec}/task-{unit}"), why))
            .collect(),
        Err(why) => vec![finding(format!("planwright/{spec}"), &why)],
    }
}
