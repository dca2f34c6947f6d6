//! Which layer is said to decide, and what is said of the others.

use super::*;
use crate::configuration::tests::{load, text};

fn explain(texts: &[(Layer, &str)], key: &str) -> Explanation {
    let texts = texts.iter().map(|(layer, content)| text(*layer, content)).collect();
    load(texts).0.explanation(key).expect("a key that is set")
}

/// Returns `layer value remark` for each layer that sets the key, and the value that counts with its place.
fn shown(texts: &[(Layer, &str)], key: &str) -> (Vec<String>, String) {
    let explanation = explain(texts, key);
    let rows = explanation.layers.iter().filter_map(|report| match &report.says {
        Says::Sets { value, verdict } => Some(format!("{} {value} {}", report.layer, verdict.remark())),
        Says::NoFile | Says::Skipped(_) | Says::NotSet => None,
    });
    let outcome = match &explanation.outcome {
        Ok((value, origin)) => format!("{value} {}", origin.place),
        Err(error) => error.to_string(),
    };
    (rows.collect(), outcome)
}

#[test]
fn the_highest_layer_decides_and_the_others_are_shown() {
    let texts = [
        (Layer::Adopter, "max_parallel_units: 11"),
        (Layer::RepositoryTracked, "# c\nmax_parallel_units: 5"),
    ];
    let (rows, outcome) = shown(&texts, "max_parallel_units");
    assert_eq!(outcome, "5 .claude/planwright.yml:2");
    assert_eq!(rows, ["repo-tracked 5 decides", "adopter 11 ", "core 3 "]);
    assert_eq!(
        explain(&[(Layer::Adopter, "")], "max_parallel_units").layers[0].says,
        Says::NotSet
    );
}

#[test]
fn an_illegal_value_leads_to_the_core_and_says_why() {
    let texts = [
        (Layer::MachineLocal, "watch_interval_seconds: soon"),
        (Layer::RepositoryTracked, "watch_interval_seconds: 5"),
        (Layer::Core, "watch_interval_seconds: 9"),
    ];
    let (rows, outcome) = shown(&texts, "watch_interval_seconds");
    assert_eq!(outcome, "9 defaults.yml:1");
    assert_eq!(
        rows,
        [
            "machine-local soon not used: expected a whole number from 1, of at most 15 digits, without leading zeroes",
            "repo-tracked 5 ",
            "core 9 decides",
        ]
    );
    // This key's rule is the built-in default, whatever a supplied core says.
    let texts = [
        (Layer::MachineLocal, "max_parallel_units: x"),
        (Layer::Core, "max_parallel_units: 9"),
    ];
    let (rows, outcome) = shown(&texts, "max_parallel_units");
    assert_eq!(outcome.split(':').next(), Some("3 built-in defaults"));
    assert_eq!(rows[1], "core 9 ");
}

#[test]
fn a_broken_line_costs_its_key_and_no_other() {
    let file = "dispatch_backend:\n  - print\nmax_parallel_units: 2";
    let texts = [
        (Layer::MachineLocal, file),
        (Layer::RepositoryTracked, "dispatch_backend: tmux"),
    ];
    assert_eq!(
        shown(&texts, "max_parallel_units").1,
        "2 .claude/planwright.local.yml:3"
    );
    let (rows, outcome) = shown(&texts, "dispatch_backend");
    assert_eq!(outcome.split(':').next(), Some("full-session built-in defaults"));
    assert_eq!(
        rows[0],
        "machine-local  not used: a list item; lists are written inline, as `key: [a, b]`"
    );
    let explanation = explain(&texts, "dispatch_backend");
    assert_eq!(explanation.warnings[0].place, ".claude/planwright.local.yml:2");
    assert_eq!(explanation.layers[0].place, ".claude/planwright.local.yml:2");
}

#[test]
fn a_program_of_a_clone_is_shown_as_not_allowed() {
    let texts = [(Layer::RepositoryTracked, "command_backend: [evil]")];
    let (rows, outcome) = shown(&texts, "command_backend");
    assert_eq!(
        rows[0],
        "repo-tracked [evil] not used: a cloned repository cannot choose a program"
    );
    assert!(outcome.starts_with("[] "), "{outcome}");
}

#[test]
fn what_the_repository_breaks_has_no_value() {
    let explanation = explain(
        &[(Layer::RepositoryTracked, "commit_on_kickoff: yes")],
        "commit_on_kickoff",
    );
    assert_eq!(explanation.outcome.map_err(|error| error.exit_class()), Err(4));
}

#[test]
fn other_products_keys_have_their_raw_value() {
    let explanation = explain(&[], "review_sequence");
    assert_eq!(explanation.recognised, Recognised::Foreign);
    assert_eq!(
        explanation.outcome.map(|(value, origin)| (value, origin.place)),
        Ok(("[polish]".to_owned(), "built-in defaults".to_owned()))
    );
    let (configuration, _) = load(vec![]);
    assert_eq!(configuration.explanation("colour"), Err(LookupError::Unset));
    assert_eq!(configuration.explanation("Colour"), Err(LookupError::InvalidKey));
    // A block list of another product's key is as good as not set; planwright would not have read it either.
    let texts = [
        (Layer::MachineLocal, "review_sequence:\n  - a"),
        (Layer::RepositoryTracked, "review_sequence: [b]"),
    ];
    assert_eq!(shown(&texts, "review_sequence").1, "[b] .claude/planwright.yml:1");
}
