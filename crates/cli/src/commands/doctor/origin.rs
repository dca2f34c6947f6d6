//! Origin: whether there is one, which branch work lands on, when it was fetched, and whether units are fenced there.

use orchestrate_config::FencePolicy;
use orchestrate_core::evidence::{AtOrigin, Base};
use orchestrate_core::observed::Observed;
use orchestrate_core::world::World;
use orchestrate_tower::gate;

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::{Ground, Surroundings};

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    let has_origin = ground.world.repository().git.find_remote("origin").is_ok();
    let (mut said, mut findings) = (Vec::new(), Vec::new());
    if !has_origin {
        said.push("no origin".to_owned());
    }
    match ground.world.base(ground.settings.base_branch.value.as_ref()) {
        Ok(base) => {
            said.push(format!("work lands on {}", base.gated_name()));
            findings.extend(of_base(&ground, &base));
        }
        Err(fault) => {
            let mut finding = Finding::unseen("base", &fault);
            finding.weight = Weight::Fault;
            findings.push(finding);
        }
    }
    if has_origin {
        let (at, found) = fetched(&ground);
        said.push(at);
        findings.extend(found);
    }
    let (at, found) = policy(&ground, has_origin);
    said.push(at.to_owned());
    findings.extend(found);
    Looked::new(said.join("; "), findings)
}

fn of_base(ground: &Ground<'_>, base: &Base) -> Option<Finding> {
    let name = &base.name;
    let push = Mend::of_hint(&gate::push(ground.world, base));
    if base.origin == AtOrigin::Lacks {
        let problem = format!("origin has no {name}: no other clone sees what lands");
        return Some(Finding::new(Weight::Warning, name.to_string(), problem, push));
    }
    let counterpart = base.counterpart.as_ref().filter(|_| base.origin == AtOrigin::Has)?;
    match ground.world.contains(counterpart, &base.commit) {
        Observed::Known(true) | Observed::Absent(_) => None,
        Observed::Known(false) => {
            let problem = format!("{name} has commits that origin's {name} has not; tasks start at origin's");
            Some(Finding::new(Weight::Note, name.to_string(), problem, push))
        }
        Observed::Unknown(why) => {
            let mend = Mend::of_hint(why.hint.as_deref().unwrap_or("git fsck"));
            Some(Finding::new(Weight::Warning, name.to_string(), why.reason, mend))
        }
    }
}

fn fetched(ground: &Ground<'_>) -> (String, Vec<Finding>) {
    const STAMP: &str = ".claude/orchestrate.local/last-fetch";
    let state = ground.world.fetch_state();
    let mut findings = Vec::new();
    if state.failures > 0 {
        let which = match state.failures {
            1 => "the last fetch".to_owned(),
            several => format!("the last {several} fetches"),
        };
        let problem = format!("{which} could not be done: nothing is dispatched until one is");
        let mend = Mend::provided("when origin answers", "orchestrate plumbing dispatch-fetch .");
        findings.push(Finding::new(Weight::Warning, "origin", problem, mend));
    }
    let at = match &state.last {
        Observed::Known(at) if ground.now().seconds_since(*at) < 0 => {
            let problem = "the stamp of the last fetch lies in the future; it is fetched each time until then";
            findings.push(Finding::new(
                Weight::Note,
                STAMP,
                problem,
                Mend::command(format!("rm {STAMP}")),
            ));
            "fetched in the future".to_owned()
        }
        Observed::Known(at) => format!("fetched {}", at.ago_at(ground.now())),
        Observed::Absent(why) => why.reason.clone(),
        Observed::Unknown(why) => {
            let mend = Mend::command(format!("rm -r {STAMP}"));
            findings.push(Finding::new(Weight::Note, STAMP, why.reason.clone(), mend));
            "when it was fetched is not known".to_owned()
        }
    };
    (at, findings)
}

fn policy(ground: &Ground<'_>, has_origin: bool) -> (&'static str, Option<Finding>) {
    let setting = &ground.settings.dispatch_fence;
    let finding =
        |weight, problem: &str, mend: String| Some(Finding::new(weight, "dispatch_fence", problem, Mend::ByHand(mend)));
    match (setting.value, has_origin) {
        (FencePolicy::Auto, false) => ("dispatch_fence is auto: without an origin no unit is fenced", None),
        (FencePolicy::Auto, true) => ("dispatch_fence is auto: each unit is fenced at origin", None),
        (FencePolicy::On, true) => ("dispatch_fence is on: each unit is fenced at origin", None),
        (FencePolicy::On, false) => {
            let mend = "git remote add origin ADDRESS, or set dispatch_fence: auto".to_owned();
            let problem = "it is on, and there is no origin: nothing is dispatched";
            ("dispatch_fence is on", finding(Weight::Fault, problem, mend))
        }
        (FencePolicy::Off, false) => ("dispatch_fence is off", None),
        (FencePolicy::Off, true) => {
            let problem = "it is off: nothing keeps a tower of another clone from taking the same unit";
            let mend = format!(
                "remove dispatch_fence from the {} layer, if more than one clone dispatches",
                setting.origin
            );
            ("dispatch_fence is off", finding(Weight::Warning, problem, mend))
        }
    }
}
