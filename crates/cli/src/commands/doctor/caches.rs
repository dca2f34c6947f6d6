//! The cache: what stands in it and is no use. It may be deleted at any time.

use orchestrate_host::{aside, cache};

use super::finding::{Finding, Looked, Mend, Weight};
use super::repair::Repair;
use super::surroundings::Surroundings;

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    const PLACE: &str = ".git/orchestrate/cache";
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    let useless = match cache::useless(ground.layout()) {
        Ok(useless) => useless,
        Err(fault) => return Looked::new(PLACE, vec![Finding::unseen(PLACE, &fault)]),
    };
    let findings = useless
        .into_iter()
        .map(|one| {
            let place = ground.layout().shown(&one.path);
            let problem = format!("{}, so what it should hold is computed anew each time", one.why);
            let mend = if one.is_file {
                Mend::Fix(Repair::Discard(one))
            } else {
                let layout = ground.layout();
                Mend::command(aside::command_into(layout, &one.path, &layout.state()))
            };
            Finding::new(Weight::Note, place, problem, mend)
        })
        .collect();
    Looked::new(PLACE, findings)
}
