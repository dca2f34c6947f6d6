//! The cache: what stands in it and is no use. It may be deleted at any time.

use orchestrate_host::cache;
use orchestrate_host::shell::word;

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
                let name = format!("{}.aside", one.path.file_name().unwrap_or_default());
                let aside = ground.layout().shown(&ground.layout().state().join(name));
                Mend::command(format!("mv {} {}", word(&place), word(&aside)))
            };
            Finding::new(Weight::Note, place, problem, mend)
        })
        .collect();
    Looked::new(PLACE, findings)
}
