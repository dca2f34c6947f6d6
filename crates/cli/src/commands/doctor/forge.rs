//! The forge: which repository `gh` would be asked about, and whether it answers. No forge is a known nothing.

use std::collections::BTreeSet;

use orchestrate_core::identifier::Unit;
use orchestrate_core::observed::Observed;
use orchestrate_core::world::World;
use orchestrate_host::forge::ForgeStanding;

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::{Ground, Surroundings};

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let gh = match &surroundings.environment.forge.gh {
        Some(gh) => format!("gh at {gh}"),
        None => "no gh".to_owned(),
    };
    let Some(ground) = surroundings.ground else {
        return Looked::new(format!("{gh}; not in a repository"), Vec::new());
    };
    let finding = |problem: String, mend| Finding::new(Weight::Note, "origin", problem, mend);
    match ground.world.forge() {
        ForgeStanding::None(why) => Looked::new(format!("{gh}; {why}, so there is no forge to ask"), Vec::new()),
        ForgeStanding::NoProgram { host } => {
            let problem = format!("gh is not installed, so pull requests on {host} are not seen");
            let mend = Mend::ByHand(format!("install gh, and log in: gh auth login --hostname {host}"));
            Looked::new(gh, vec![finding(problem, mend)])
        }
        ForgeStanding::NotConfigured { host } => {
            let problem = format!("gh is not logged in to {host}, so pull requests there are not seen");
            let mend = Mend::command(format!("gh auth login --hostname {host}"));
            Looked::new(gh, vec![finding(problem, mend)])
        }
        ForgeStanding::Unknown(why) => {
            let mend = Mend::of_hint(why.hint.as_deref().unwrap_or("gh auth status"));
            let finding = Finding::new(Weight::Warning, "origin", why.reason, mend);
            Looked::new(gh, vec![finding])
        }
        ForgeStanding::Asks(name) if surroundings.offline => {
            Looked::new(format!("{gh}; {name}, not asked"), Vec::new())
        }
        ForgeStanding::Asks(name) => asked(&ground, &format!("{gh}; {name}")),
    }
}

/// Asks as a step would, for one unit.
fn asked(ground: &Ground<'_>, at: &str) -> Looked {
    let first = ground.specs.iter().find_map(|spec| {
        let task = ground.tasks(spec)?.into_iter().next()?;
        Some((spec, BTreeSet::from([Unit::single(task)])))
    });
    let Some((spec, units)) = first else {
        return Looked::new(format!("{at}, not asked: no bundle has a task"), Vec::new());
    };
    match ground.world.pull_requests(spec, &units) {
        Observed::Known(answer) => Looked::new(format!("{at}, asked {} and it answers", answer.repository), Vec::new()),
        Observed::Absent(why) => Looked::new(format!("{at}; {why}"), Vec::new()),
        Observed::Unknown(why) => {
            let mend = Mend::of_hint(why.hint.as_deref().unwrap_or("gh auth status"));
            Looked::new(at, vec![Finding::new(Weight::Warning, "origin", why.reason, mend)])
        }
    }
}
