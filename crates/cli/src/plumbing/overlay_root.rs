//! `resolve-overlay-root <layer>` and `--contain <root> <path>` (`contract/core.md §12.5`).

use camino::Utf8PathBuf;
use orchestrate_config::Layer;
use orchestrate_host::overlay::{self, NotContained};

use super::FAIL_CLOSED;
use crate::arguments::OverlayLayer;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::layers::Layers;
use crate::printer::Printer;

const VERB: &str = "resolve-overlay-root";

pub(crate) fn run(
    layer: Option<OverlayLayer>,
    contain: Option<&[Utf8PathBuf]>,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    if let Some([root, path]) = contain {
        return match overlay::contained(&environment.absolute(root), path) {
            Ok(path) => {
                printer.record(&[path.as_str()]);
                Ok(0)
            }
            Err(why) => Err(Failure::failed(format!("{VERB}: {}", in_words(&why))).with_exit(FAIL_CLOSED)),
        };
    }
    let layer = match layer {
        Some(OverlayLayer::Core) => Layer::Core,
        Some(OverlayLayer::Adopter) => Layer::Adopter,
        Some(OverlayLayer::RepoTracked) => Layer::RepositoryTracked,
        Some(OverlayLayer::MachineLocal) => Layer::MachineLocal,
        None => return Err(Failure::usage(format!("{VERB}: name a layer, or --contain ROOT PATH"))),
    };
    let layers = Layers::of_checkout(environment, None);
    if let Some(fault) = layers.adopter_fault.as_ref().filter(|_| layer == Layer::Adopter) {
        printer.talk(&format!("{VERB}: warning: {fault}"));
    }
    if let Some(root) = layers.root(layer) {
        printer.record(&[root.as_str()]);
    }
    Ok(0)
}

fn in_words(why: &NotContained) -> String {
    match why {
        NotContained::Absolute => "the path is absolute; it has to be relative to the root".to_owned(),
        NotContained::Escapes => "the path leads outside the root".to_owned(),
        NotContained::TooManyLinks => "the path leads through too many links".to_owned(),
        NotContained::Missing => "the root, or the directory that the path lies in, is not there".to_owned(),
        NotContained::Unreadable(why) => format!("the path cannot be looked at: {why}"),
    }
}
