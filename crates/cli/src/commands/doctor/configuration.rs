//! The configuration files: lines without effect, keys that nobody reads, values that no key admits.

use orchestrate_config::{Configuration, ConfigurationError, KEYS, Layer, Warning};

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::Surroundings;

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    Looked::new("the configuration files of every layer", found(surroundings))
}

fn found(surroundings: &Surroundings<'_>) -> Vec<Finding> {
    let layers = surroundings.layers;
    let mut findings: Vec<Finding> = layers.adopter_fault.iter().map(|fault| adopter(fault)).collect();
    let mut texts = layers.configuration();
    let loaded = match Configuration::load(texts.clone()) {
        Ok(loaded) => Ok(loaded),
        Err(error) => {
            findings.push(error_finding(&error));
            // The other files may have faults of their own, and a person mends them in one go.
            texts.retain(|text| text.layer != Layer::RepositoryTracked);
            Configuration::load(texts)
        }
    };
    match loaded {
        Ok((configuration, warnings)) => {
            findings.extend(warnings.iter().map(warning_finding));
            for key in KEYS {
                let Ok(explanation) = configuration.explanation(key.name) else {
                    continue;
                };
                findings.extend(explanation.warnings.iter().map(warning_finding));
                findings.extend(explanation.outcome.err().as_ref().map(error_finding));
            }
        }
        Err(error) => findings.push(error_finding(&error)),
    }
    findings
}

fn warning_finding(warning: &Warning) -> Finding {
    Finding {
        weight: Weight::Fault,
        place: warning.place.clone(),
        problem: warning.message.clone(),
        mend: Mend::ByHand(warning.remedy.clone()),
    }
}

fn error_finding(error: &ConfigurationError) -> Finding {
    Finding {
        weight: Weight::Fault,
        place: error.place().to_owned(),
        problem: error.to_string(),
        mend: Mend::ByHand(error.hint()),
    }
}

fn adopter(fault: &str) -> Finding {
    let (place, problem) = fault.split_once(": ").unwrap_or(("", fault));
    Finding {
        weight: Weight::Fault,
        place: place.to_owned(),
        problem: problem.to_owned(),
        mend: Mend::ByHand(format!(
            "correct {place}, or set PLANWRIGHT_ADOPTER_OVERLAY to the overlay's directory"
        )),
    }
}
