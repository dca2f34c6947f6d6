//! `orchestrate doctor`: a registry of checks, one file each. A check looks and writes nothing; whatever it finds names
//! the command or the edit that mends it. `--fix` does what is harmless, and nothing else is ever written.

mod agents;
mod bundles;
mod caches;
mod configuration;
mod fences;
mod finding;
mod forge;
mod git;
mod ignore_rules;
mod litter;
mod locks;
mod markers;
mod origin;
mod records;
mod repair;
mod report;
mod repository;
mod rule_documents;
mod surroundings;
mod towers;
mod workers;
mod worktrees;

use orchestrate_core::exit;
use orchestrate_core::identifier::SpecId;
use orchestrate_core::world::Fault;
use orchestrate_host::repository as repositories;
use orchestrate_host::world::RealWorld;

use crate::arguments::{DoctorArguments, Format};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::layers::Layers;
use crate::layout::Style;
use crate::printer::Printer;
use crate::session::bundles_in;
use finding::{Finding, Looked, Mend, Weight};
use repair::Repair;
use surroundings::{Ground, Surroundings};

/// One check.
struct Check {
    /// Its name in the report.
    name: &'static str,
    /// Looks, and returns what it found.
    look: fn(&Surroundings<'_>) -> Looked,
}

/// Every check, in the order of the report: the machine, the repository, what lies beyond it, what towers left in it.
const CHECKS: &[Check] = &[
    check("git", git::look),
    check("repository", repository::look),
    check("forge", forge::look),
    check("agents", agents::look),
    check("configuration", configuration::look),
    check("rule-documents", rule_documents::look),
    check("bundles", bundles::look),
    check("origin", origin::look),
    check("fences", fences::look),
    check("ignore-rules", ignore_rules::look),
    check("towers", towers::look),
    check("locks", locks::look),
    check("markers", markers::look),
    check("records", records::look),
    check("workers", workers::look),
    check("worktrees", worktrees::look),
    check("litter", litter::look),
    check("caches", caches::look),
];

const fn check(name: &'static str, look: fn(&Surroundings<'_>) -> Looked) -> Check {
    Check { name, look }
}

/// What became of a finding that can be fixed.
enum Fixed {
    Done,
    Would,
    Failed(Fault),
}

/// What one check said, and what was done about it.
struct Examined {
    name: &'static str,
    at: String,
    skipped: bool,
    findings: Vec<(Finding, Option<Fixed>)>,
}

impl Examined {
    /// Returns the gravest weight of what is left, `ok` where nothing is.
    fn level(&self) -> &'static str {
        if self.skipped {
            return "skipped";
        }
        let left = self
            .findings
            .iter()
            .filter(|(_, fixed)| !matches!(fixed, Some(Fixed::Done)));
        left.map(|(finding, _)| finding.weight)
            .max()
            .map_or("ok", Weight::as_str)
    }
}

/// Runs the command and returns its exit code.
pub(crate) fn run(
    arguments: &DoctorArguments,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let start = &environment.directory;
    let opened = if repositories::is_there(start) {
        RealWorld::open(start, environment.world_settings()).map(Some)
    } else {
        Ok(None)
    };
    let (world, refused) = match opened {
        Ok(world) => (world, None),
        Err(fault) => (None, Some(fault)),
    };
    let layers = Layers::of_primary(environment, world.as_ref().map(RealWorld::repository));
    let settings = surroundings::settings(&layers)?;
    let primary = world.as_ref().map(|world| world.repository().layout.primary.clone());
    let specs = primary
        .as_ref()
        .map(|primary| bundles_in(&primary.join("specs")))
        .unwrap_or_default();
    let ground = world.as_ref().map(|world| Ground {
        world,
        settings: &settings,
        specs: &specs,
    });
    let surroundings = Surroundings {
        environment,
        layers: &layers,
        ground,
        refused: refused.as_ref(),
        offline: arguments.offline,
        settings: &settings,
    };
    let looked: Vec<(&'static str, Looked)> = CHECKS
        .iter()
        .map(|check| (check.name, (check.look)(&surroundings)))
        .collect();
    let mut examined = mended(looked, arguments, environment, &specs);
    look_again(&mut examined, &surroundings);
    let here = primary.as_ref().map(|primary| primary.as_str());
    match printer.format() {
        Format::Json => printer.json(&report::as_json(&examined, here)),
        Format::Human => {
            let elsewhere =
                here.filter(|primary| start.canonicalize_utf8().is_ok_and(|start| start.as_str() != *primary));
            report::print(&examined, elsewhere, Style::of_output(false), printer);
        }
    }
    Ok(exit_code(&examined, arguments.detailed_exitcode))
}

/// Mends what can be mended, where that is asked for.
fn mended(
    looked: Vec<(&'static str, Looked)>,
    arguments: &DoctorArguments,
    environment: &Environment,
    specs: &[SpecId],
) -> Vec<Examined> {
    let mend = |finding: &Finding| match &finding.mend {
        Mend::Fix(_) if arguments.fix && arguments.dry_run => Some(Fixed::Would),
        Mend::Fix(repair) if arguments.fix => Some(match apply(repair, environment, specs) {
            Ok(()) => Fixed::Done,
            Err(fault) => Fixed::Failed(fault),
        }),
        Mend::Fix(_) | Mend::ByHand(_) | Mend::Command { .. } => None,
    };
    looked
        .into_iter()
        .map(|(name, looked)| Examined {
            name,
            at: looked.at,
            skipped: looked.skipped,
            findings: looked
                .findings
                .into_iter()
                .map(|finding| {
                    let fixed = mend(&finding);
                    (finding, fixed)
                })
                .collect(),
        })
        .collect()
}

/// Looks again where something was mended: what is told of a check is how it is now.
fn look_again(examined: &mut [Examined], surroundings: &Surroundings<'_>) {
    let is_mended = |one: &Examined| one.findings.iter().any(|(_, fixed)| matches!(fixed, Some(Fixed::Done)));
    let Some(before) = surroundings.ground.filter(|_| examined.iter().any(is_mended)) else {
        return;
    };
    // Opened anew: git keeps in memory what it has read of its rules.
    let environment = surroundings.environment;
    let Ok(world) = RealWorld::open(&environment.directory, environment.world_settings()) else {
        return;
    };
    let ground = Some(Ground {
        world: &world,
        ..before
    });
    let surroundings = Surroundings {
        ground,
        ..*surroundings
    };
    for (one, check) in examined.iter_mut().zip(CHECKS).filter(|(one, _)| is_mended(one)) {
        one.at = (check.look)(&surroundings).at;
    }
}

fn apply(repair: &Repair, environment: &Environment, specs: &[SpecId]) -> Result<(), Fault> {
    let mut world = RealWorld::open(&environment.directory, environment.world_settings())?;
    repair.apply(&mut world, specs)
}

fn exit_code(examined: &[Examined], is_detailed: bool) -> u8 {
    let levels: Vec<&str> = examined.iter().map(Examined::level).collect();
    if levels.contains(&Weight::Fault.as_str()) {
        exit::FAILED
    } else if is_detailed && levels.contains(&Weight::Warning.as_str()) {
        exit::WARNED
    } else {
        exit::DONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own() {
        for (index, check) in CHECKS.iter().enumerate() {
            assert!(
                CHECKS[index + 1..].iter().all(|other| other.name != check.name),
                "{}",
                check.name
            );
        }
    }
}
