//! `resolve-rule-doc [--explain] <name[.md]>` (`contract/core.md §13.1`).
//!
//! The script prints a file. A document that only this binary holds is therefore written to the user's cache, under the
//! hash of its text, and that file is printed.

use std::fs;

use camino::Utf8PathBuf;
use orchestrate_config::doctrine::{self, DoctrineError, DocumentName, Purpose, comparison};
use orchestrate_host::files;
use orchestrate_host::overlay::{self, OverlayReading};

use super::config_get::tell;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::layers::Layers;
use crate::printer::Printer;

const VERB: &str = "resolve-rule-doc";

pub(crate) fn run(
    name: &str,
    explain: bool,
    built_in: bool,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let failed = |error: DoctrineError| {
        let (exit, hint) = (error.exit_class(), error.hint());
        Failure::failed(format!("{VERB}: {error}"))
            .with_hint(hint)
            .with_exit(exit)
    };
    let name = DocumentName::parse(name).map_err(failed)?;
    let layers = Layers::of_checkout(environment, None);
    if let Some(fault) = &layers.adopter_fault {
        printer.talk(&format!("{VERB}: warning: {fault}"));
    }
    let mut readings = Vec::new();
    if !built_in {
        readings.extend(layers.document(&name));
        readings.extend(layers.installed_document(&name));
    }
    let (document, warnings) = doctrine::resolve(&name, Purpose::Reference, readings).map_err(failed)?;
    tell(VERB, &warnings, printer);
    let path = match document.path {
        Some(path) => path,
        None => written(&name, &document.text, environment)?.into_string(),
    };
    if explain {
        printer.record(&[document.layer.as_str(), &path]);
    } else {
        printer.record(&[&path]);
    }
    Ok(0)
}

/// Returns the file of a built-in document, which is written unless it is there and the same.
fn written(name: &DocumentName, text: &str, environment: &Environment) -> Result<Utf8PathBuf, Failure> {
    let failed = |why: String| Failure::failed(format!("{VERB}: {name} is built in, and {why}")).with_exit(1);
    let Some(cache) = &environment.cache_directory else {
        return Err(failed("there is no directory to write it to".to_owned())
            .with_hint("set HOME or XDG_CACHE_HOME, or write the document to an overlay"));
    };
    let directory = cache.join("orchestrate").join("doctrine").join(comparison::hash(text));
    let path = directory.join(format!("{name}.md"));
    if overlay::read(&path) == OverlayReading::Bytes(text.as_bytes().to_vec()) {
        return Ok(path);
    }
    fs::create_dir_all(&directory)
        .map_err(|error| error.to_string())
        .and_then(|()| files::write_private(&path, text.as_bytes()).map_err(|fault| fault.to_string()))
        .map_err(|why| failed(format!("cannot be written to {path}: {why}")))?;
    Ok(path)
}
