//! The bundles: whether each can be read. What is wrong in which line is for `validate` to say.

use orchestrate_core::identifier::SpecId;
use orchestrate_core::plan::HaltReason;
use orchestrate_core::words::count;
use orchestrate_host::shell::word;
use orchestrate_host::specs::{self, ChildKind};
use orchestrate_tower::preflight::read_bundle;

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::{Ground, Surroundings};

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    let mut findings = links(&ground);
    for spec in ground.specs {
        let Err(reasons) = read_bundle(ground.world, spec) else {
            continue;
        };
        let errors = reasons.iter().map(|reason| {
            if let HaltReason::BundleInvalid { findings, .. } = reason {
                findings.len()
            } else {
                1
            }
        });
        let number = errors.sum::<usize>().max(1);
        let first = reasons.first().map(ToString::to_string).unwrap_or_default();
        let problem = match number {
            1 => first,
            _ => format!("it cannot be read: {}", count(number, "error")),
        };
        let mend = Mend::ByHand(format!("correct what this names: orchestrate validate specs/{spec}"));
        findings.push(Finding::new(Weight::Fault, format!("specs/{spec}"), problem, mend));
    }
    Looked::new(count(ground.specs.len(), "bundle"), findings)
}

/// Links in the place of a bundle: none is read, and a person may wonder why.
fn links(ground: &Ground<'_>) -> Vec<Finding> {
    let root = ground.layout().primary.join("specs");
    let Ok(children) = specs::children(&root) else {
        // A repository without bundles has no such directory.
        return Vec::new();
    };
    let linked = children
        .into_iter()
        .filter(|child| child.kind == ChildKind::LinkToDirectory);
    linked
        .filter_map(|child| SpecId::parse(child.name.to_str()?).ok())
        .map(|spec| {
            let problem = "it is a symbolic link; bundles are read from real directories only";
            let place = format!("specs/{spec}");
            let mend = Mend::provided("if what it leads to is elsewhere", format!("rm {}", word(&place)));
            Finding::new(Weight::Warning, place, problem, mend)
        })
        .collect()
}
