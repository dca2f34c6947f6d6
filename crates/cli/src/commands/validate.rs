//! `orchestrate validate [TARGET…]`: every finding of bundles, with its line and what helps.

use camino::Utf8Path;
use orchestrate_core::exit;
use orchestrate_core::identifier::{SpecId, printable};
use orchestrate_core::words::count;
use orchestrate_host::repository;
use orchestrate_spec::with_excerpts;
use serde_json::{Value, json};

use crate::arguments::Format;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::findings::{self, Paint};
use crate::printer::Printer;
use crate::screen::Screen;
use crate::session::{bundles_in, nearest};
use crate::validation::{Counts, Entry, Examined, Refused, Target, comparison, counts, validate};

/// Validates the targets and returns 1 when there is an error.
pub(crate) fn run(
    targets: &[String],
    baseline: Option<&str>,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let top = repository::top_of(&environment.directory).unwrap_or_else(|| environment.directory.clone());
    let root = top.join("specs");
    let targets = if targets.is_empty() {
        vec![default_target(&root, &environment.directory)?]
    } else {
        let named = targets.iter().map(|text| target(text, &root, &environment.directory));
        named.collect::<Result<_, _>>()?
    };
    let mut entries = Vec::new();
    for target in &targets {
        let comparison = comparison(target, baseline, environment.git.as_deref())?;
        entries.extend(validate(target, comparison.as_ref())?);
    }
    let counts = counts(&entries);
    match printer.format() {
        Format::Json => printer.json(&as_json(&entries, counts)),
        Format::Human => print_text(&entries, counts, printer),
    }
    Ok(if counts.errors == 0 { exit::DONE } else { exit::FAILED })
}

fn default_target(root: &Utf8Path, here: &Utf8Path) -> Result<Target, Failure> {
    if root.is_dir() {
        return Ok(Target {
            directory: root.to_owned(),
            shown: shown(root, here),
            may_be_link: true,
        });
    }
    Err(Failure::usage("there is no directory specs in this checkout").with_hint("name a bundle's directory"))
}

/// Returns the directory that a person means: the bundle of that name, else the path.
fn target(text: &str, root: &Utf8Path, here: &Utf8Path) -> Result<Target, Failure> {
    let short = text.trim_end_matches('/');
    let name = SpecId::parse(short.strip_prefix("specs/").unwrap_or(short)).ok();
    if let Some(spec) = &name
        && root.join(spec.as_str()).is_dir()
    {
        let directory = root.join(spec.as_str());
        return Ok(Target {
            shown: shown(&directory, here),
            directory,
            may_be_link: false,
        });
    }
    let path = here.join(text);
    if path.is_dir() {
        let kept = if short.is_empty() { text } else { short };
        return Ok(Target {
            directory: here.join(kept),
            shown: kept.to_owned(),
            may_be_link: false,
        });
    }
    if short == "specs" {
        return default_target(root, here);
    }
    let known = bundles_in(root);
    let hint = match name.and_then(|name| nearest(known.iter().map(SpecId::as_str), name.as_str())) {
        Some(near) => format!("did you mean specs/{near}?"),
        None => "name a bundle's directory, a spec's name, or a directory of bundles".to_owned(),
    };
    let failure = if path.exists() {
        Failure::usage(format!("{} is no directory", printable(text)))
    } else {
        Failure::usage(format!("there is no bundle and no directory {}", printable(text)))
    };
    Err(failure.with_hint(hint))
}

/// Returns a path as seen from here, where it lies below.
fn shown(path: &Utf8Path, here: &Utf8Path) -> String {
    match path.strip_prefix(here) {
        Ok(below) if !below.as_str().is_empty() => below.to_string(),
        Ok(_) | Err(_) => path.to_string(),
    }
}

fn print_text(entries: &[Entry], counts: Counts, printer: &mut Printer) {
    let paint = if Screen::read().has_color {
        Paint::Styled
    } else {
        Paint::Plain
    };
    for entry in entries {
        match entry {
            Entry::Bundle(bundle) if bundle.examination.findings.is_empty() => {}
            Entry::Bundle(bundle) => {
                printer.line(&headline(bundle));
                printer.line("");
                for finding in with_excerpts(&bundle.examination.findings, &bundle.files) {
                    printer.screen(&findings::render(&bundle.shown, &finding, paint));
                    printer.line("");
                }
            }
            Entry::Refused(Refused { shown, why, help, .. }) => {
                printer.screen(&findings::render_refusal(shown, why, help, paint));
                printer.line("");
            }
        }
    }
    let bundles = entries.iter().filter(|entry| matches!(entry, Entry::Bundle(_))).count();
    printer.line(&format!("{}: {}", count(bundles, "bundle"), in_words(counts)));
}

fn headline(bundle: &Examined) -> String {
    let examination = &bundle.examination;
    let counts = Counts {
        errors: examination.errors(),
        warnings: examination.warnings(),
    };
    let status = examination
        .bundle
        .as_ref()
        .map(|bundle| format!(" · {}", bundle.status));
    format!("{}{} · {}", bundle.shown, status.unwrap_or_default(), in_words(counts))
}

fn in_words(counts: Counts) -> String {
    match (counts.errors, counts.warnings) {
        (0, 0) => "no findings".to_owned(),
        (errors, 0) => count(errors, "error"),
        (0, warnings) => format!("no errors, {}", count(warnings, "warning")),
        (errors, warnings) => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
    }
}

fn as_json(entries: &[Entry], counts: Counts) -> Value {
    let bundles: Vec<Value> = entries.iter().map(entry_json).collect();
    json!({
        "schema": 1, "outcome": if counts.errors == 0 { "valid" } else { "invalid" },
        "errors": counts.errors, "warnings": counts.warnings, "bundles": bundles,
    })
}

fn entry_json(entry: &Entry) -> Value {
    match entry {
        Entry::Bundle(bundle) => {
            let examination = &bundle.examination;
            let found: Vec<Value> = with_excerpts(&examination.findings, &bundle.files)
                .iter()
                .map(|finding| findings::as_json(&bundle.shown, finding))
                .collect();
            let read = examination.bundle.as_ref();
            json!({
                "name": bundle.spec, "path": bundle.shown, "errors": examination.errors(),
                "warnings": examination.warnings(), "status": read.map(|read| read.status.name()),
                "format_version": read.map(|read| read.version.number()), "tasks": read.map(|read| read.tasks.len()),
                "findings": found,
            })
        }
        Entry::Refused(refused) => json!({
            "name": refused.name, "path": refused.shown, "errors": 1, "warnings": 0,
            "findings": [{
                "severity": "error", "code": "not-a-bundle", "path": refused.shown, "message": refused.why,
                "help": refused.help,
            }],
        }),
    }
}
