//! `resolve-catalog <name> [--explain]` (`contract/core.md §13.2`).

use camino::Utf8Path;
use orchestrate_config::Layer;
use orchestrate_config::catalog::{self, CatalogReading};
use orchestrate_core::identifier::printable;
use orchestrate_host::overlay::{self, OverlayReading};

use super::config_get::tell;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::layers::Layers;
use crate::printer::Printer;

const VERB: &str = "resolve-catalog";

pub(crate) fn run(name: &str, explain: bool, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    if !catalog::is_catalog_name(name) {
        return Err(Failure::usage(format!(
            "{VERB}: not a catalog's name: expected at most 64 of a-z, 0-9 and '-', not starting with '-'"
        )));
    }
    let layers = Layers::of_checkout(environment, None);
    if let Some(fault) = &layers.adopter_fault {
        printer.talk(&format!("{VERB}: warning: {fault}"));
    }
    // The first core root that has the catalog is the core.
    let core = environment.core_roots.iter();
    let mut readings: Vec<CatalogReading> = core
        .filter_map(|root| reading(Layer::Core, root, name))
        .take(1)
        .collect();
    for layer in [Layer::Adopter, Layer::RepositoryTracked, Layer::MachineLocal] {
        readings.extend(layers.root(layer).and_then(|root| reading(layer, root, name)));
    }
    let (merged, warnings) =
        catalog::merge(readings).map_err(|error| Failure::failed(format!("{VERB}: {error}")).with_exit(1))?;
    tell(VERB, &warnings, printer);
    if explain {
        for entry in &merged.entries {
            printer.record(&[&printable(&entry.id), entry.layer.as_str()]);
        }
    } else {
        for line in merged.render().lines() {
            printer.record(&[line]);
        }
    }
    Ok(0)
}

fn reading(layer: Layer, root: &Utf8Path, name: &str) -> Option<CatalogReading> {
    let relative = catalog::relative_path(layer, name);
    let source = match overlay::read_contained(root, &relative) {
        OverlayReading::Absent => return None,
        OverlayReading::Bytes(bytes) => Ok(bytes),
        OverlayReading::Unreadable(why) => Err(why),
        OverlayReading::Escapes => Err("it leads outside its root".to_owned()),
    };
    Some(CatalogReading {
        layer,
        path: root.join(relative).into_string(),
        source,
    })
}
