//! `orchestrate config get|list`: what each key is, and why.

use orchestrate_config::configuration::LookupError;
use orchestrate_config::explanation::{Explanation, LayerReport, Origin, Says};
use orchestrate_config::foreign::{Recognised, recognise, suggestion};
use orchestrate_config::{Configuration, ConfigurationError, KEYS, Key, Warning};
use orchestrate_core::exit;
use orchestrate_core::identifier::quoted;
use orchestrate_host::repository;
use serde_json::{Value, json};

use crate::arguments::{ConfigVerb, Format};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::layers::Layers;
use crate::printer::Printer;
use crate::settings::broken;

/// Runs the command and returns its exit code.
pub(crate) fn run(verb: &ConfigVerb, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    match verb {
        ConfigVerb::Get { key, explain, .. } => get(key, *explain, environment, printer),
        ConfigVerb::List { .. } => list(environment, printer),
    }
}

/// Reads the layers as a step does; outside a repository those of the machine.
fn read(environment: &Environment, printer: &mut Printer) -> Result<(Configuration, Vec<Warning>), Failure> {
    let repository = match repository::discover(&environment.directory) {
        Ok(repository) => Some(repository),
        Err(fault) => {
            if repository::top_of(&environment.directory).is_some() {
                printer.talk(&format!("warning: the repository's layers are not read: {fault}"));
            }
            None
        }
    };
    let layers = Layers::of_primary(environment, repository.as_ref());
    if let Some(fault) = &layers.adopter_fault {
        printer.talk(&format!("warning: {fault}"));
    }
    Configuration::load(layers.configuration()).map_err(|error| broken(&error))
}

fn tell(warnings: &[Warning], printer: &mut Printer) {
    for warning in warnings {
        printer.talk(&format!("warning: {warning}"));
    }
}

fn get(key: &str, explain: bool, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let (configuration, warnings) = read(environment, printer)?;
    let explanation = match configuration.explanation(key) {
        Ok(explanation) => explanation,
        Err(error) => return Err(no_value(key, error)),
    };
    // What is wrong with other keys is for `config list` and `doctor` to say.
    let named = format!("{key} ");
    let own: Vec<Warning> = warnings
        .into_iter()
        .filter(|warning| warning.message.starts_with(&named))
        .chain(explanation.warnings.clone())
        .collect();
    tell(&own, printer);
    let (value, origin) = explanation.outcome.as_ref().map_err(broken)?;
    match (printer.format(), explain) {
        (Format::Json, _) => {
            let mut whole = as_json(&explanation);
            if let Value::Object(fields) = &mut whole {
                fields.insert("schema".to_owned(), json!(1));
                fields.insert("layers".to_owned(), explanation.layers.iter().map(layer_json).collect());
            }
            printer.json(&whole);
        }
        (Format::Human, false) => printer.line(value),
        (Format::Human, true) => print_explanation(&explanation, value, origin, printer),
    }
    Ok(exit::DONE)
}

fn no_value(key: &str, error: LookupError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match (suggestion(key), recognise(key)) {
        (near, Recognised::Unknown(_)) if error == LookupError::Unset => {
            let hint = near.map_or_else(
                || "orchestrate config list".to_owned(),
                |near| format!("orchestrate config get {near}"),
            );
            Failure::usage(format!("there is no key {}", quoted(key))).with_hint(hint)
        }
        (_, Recognised::Foreign) => {
            Failure::failed(error.to_string()).with_hint("orchestrate does not read it; planwright has its default")
        }
        (_, Recognised::Ours(_) | Recognised::Unknown(_)) => failure.with_hint("orchestrate config list"),
    }
}

fn print_explanation(explanation: &Explanation, value: &str, origin: &Origin, printer: &mut Printer) {
    let key = &explanation.key;
    let shown = shown(value);
    printer.line(&format!("{key} is {shown}, from {} ({})", origin.place, origin.layer));
    printer.line("");
    let rows: Vec<[String; 4]> = explanation.layers.iter().map(row).collect();
    for line in columns(&rows) {
        printer.line(&line);
    }
    printer.line("");
    match explanation.recognised {
        Recognised::Ours(key) => {
            printer.line(key.documentation);
            for (name, text) in meaning(key) {
                printer.line(&format!("  {name:<15}{text}"));
            }
        }
        Recognised::Foreign => printer.line("A key of planwright's, which orchestrate does not read."),
        Recognised::Unknown(near) => {
            printer.line("No key of orchestrate or of planwright that is known here.");
            if let Some(near) = near {
                printer.line(&format!("Did you mean {near}?"));
            }
        }
    }
}

fn meaning(key: &'static Key) -> [(&'static str, String); 4] {
    [
        ("values", key.kind.in_words()),
        ("default", shown(key.default)),
        ("set in", key.layers.in_words()),
        ("illegal value", key.illegal_value.in_words().to_owned()),
    ]
}

fn row(report: &LayerReport) -> [String; 4] {
    let (value, remark) = match &report.says {
        Says::NoFile => ("-".to_owned(), "no file".to_owned()),
        Says::Skipped(reason) => ("-".to_owned(), format!("skipped: {reason}")),
        Says::NotSet => ("-".to_owned(), "not set".to_owned()),
        Says::Sets { value, verdict } => (shown(value), verdict.remark()),
    };
    [report.layer.to_string(), value, report.place.clone(), remark]
}

fn shown(value: &str) -> String {
    if value.is_empty() {
        "(empty)".to_owned()
    } else {
        value.to_owned()
    }
}

/// Returns the rows as lines, the columns below each other.
fn columns<const COUNT: usize>(rows: &[[String; COUNT]]) -> Vec<String> {
    let cells = |row: &[String; COUNT]| -> Vec<usize> { row.iter().map(|cell| cell.chars().count()).collect() };
    let widths = rows
        .iter()
        .map(cells)
        .reduce(|widest, row| widest.into_iter().zip(row).map(|(wide, cell)| wide.max(cell)).collect());
    let widths = widths.unwrap_or_default();
    let line = |row: &[String; COUNT]| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("  {cell:<width$}"));
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn list(environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let (configuration, mut warnings) = read(environment, printer)?;
    let names = KEYS.iter().map(|key| key.name).chain(configuration.other_keys());
    let explanations: Vec<Explanation> = names.filter_map(|name| configuration.explanation(name).ok()).collect();
    warnings.extend(explanations.iter().flat_map(|explanation| explanation.warnings.clone()));
    tell(&warnings, printer);
    let faults: Vec<&ConfigurationError> = explanations
        .iter()
        .filter_map(|explanation| explanation.outcome.as_ref().err())
        .collect();
    for fault in &faults {
        printer.talk(&format!("error: {fault}"));
        printer.talk(&format!("hint: {}", fault.hint()));
    }
    if printer.format() == Format::Json {
        let keys: Vec<Value> = explanations.iter().map(as_json).collect();
        printer.json(&json!({ "schema": 1, "keys": keys }));
    } else {
        let rows: Vec<[String; 4]> = explanations.iter().map(list_row).collect();
        for line in columns(&rows) {
            printer.line(line.trim_start());
        }
    }
    Ok(if faults.is_empty() { exit::DONE } else { exit::FAILED })
}

fn list_row(explanation: &Explanation) -> [String; 4] {
    let key = explanation.key.clone();
    let read = match explanation.recognised {
        Recognised::Ours(_) => "",
        Recognised::Foreign | Recognised::Unknown(_) => " (not read by orchestrate)",
    };
    match &explanation.outcome {
        Ok((value, origin)) => [
            key,
            shown(value),
            origin.layer.to_string(),
            format!("{}{read}", origin.place),
        ],
        Err(_) => [key, "-".to_owned(), "-".to_owned(), "illegal, see the error".to_owned()],
    }
}

fn as_json(explanation: &Explanation) -> Value {
    let (value, origin, error) = match &explanation.outcome {
        Ok((value, origin)) => (
            json!(value),
            json!({ "layer": origin.layer, "place": origin.place }),
            Value::Null,
        ),
        Err(error) => (Value::Null, Value::Null, json!(error.to_string())),
    };
    let (reader, meaning) = match explanation.recognised {
        Recognised::Ours(key) => (
            json!("orchestrate"),
            json!({
                "documentation": key.documentation, "values": key.kind.in_words(), "default": key.default,
                "set_in": key.layers.in_words(), "illegal_value": key.illegal_value.in_words(),
            }),
        ),
        Recognised::Foreign => (json!("planwright"), Value::Null),
        Recognised::Unknown(_) => (Value::Null, Value::Null),
    };
    let warnings: Vec<Value> = explanation
        .warnings
        .iter()
        .map(|warning| json!({ "place": warning.place, "message": warning.message, "remedy": warning.remedy }))
        .collect();
    json!({
        "key": explanation.key, "value": value, "origin": origin, "error": error, "reader": reader, "meaning": meaning,
        "warnings": warnings,
    })
}

fn layer_json(report: &LayerReport) -> Value {
    let (state, value, remark) = match &report.says {
        Says::NoFile => ("no-file", Value::Null, String::new()),
        Says::Skipped(reason) => ("skipped", Value::Null, reason.clone()),
        Says::NotSet => ("not-set", Value::Null, String::new()),
        Says::Sets { value, verdict } => ("sets", json!(value), verdict.remark()),
    };
    json!({ "layer": report.layer, "place": report.place, "state": state, "value": value, "remark": remark })
}
