//! What lies in the checkout for this machine alone, and would be committed with everything else.

use orchestrate_host::excluded;

use super::finding::{Finding, Looked, Mend, Weight, listed};
use super::repair::Repair;
use super::surroundings::Surroundings;

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    const PLACE: &str = ".git/info/exclude";
    match excluded::unignored(ground.world.repository(), ground.specs) {
        Ok(unignored) if unignored.is_empty() => Looked::new("what is this machine's is ignored", Vec::new()),
        Ok(unignored) => {
            let problem = format!("git add --all would add what is this machine's: {}", listed(unignored));
            let finding = Finding::new(Weight::Warning, PLACE, problem, Mend::Fix(Repair::Exclude));
            Looked::new("what is this machine's is not ignored", vec![finding])
        }
        Err(fault) => Looked::new("what is ignored", vec![Finding::unseen(PLACE, &fault)]),
    }
}
