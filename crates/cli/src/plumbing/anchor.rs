//! `spec-anchor <spec-dir>` (`contract/core.md §3.1`): works on any directory, in a repository or not.

use camino::Utf8Path;
use orchestrate_core::place::BundleFile;
use orchestrate_host::overlay::{self, OverlayReading};
use orchestrate_spec::BundleTexts;
use orchestrate_spec::anchor::content_anchor;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

pub(crate) fn run(directory: &Utf8Path, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let root = environment.absolute(directory);
    let read = |file: BundleFile| match overlay::read(&root.join(file.name())) {
        OverlayReading::Bytes(bytes) => Ok(bytes),
        OverlayReading::Absent | OverlayReading::Unreadable(_) | OverlayReading::Escapes => Err(Failure::failed(
            format!("spec-anchor: missing or unreadable: {directory}/{}", file.name()),
        )
        .with_exit(1)),
    };
    let texts = BundleTexts {
        requirements: read(BundleFile::Requirements)?,
        design: read(BundleFile::Design)?,
        tasks: read(BundleFile::Tasks)?,
        test_spec: read(BundleFile::TestSpec)?,
    };
    match content_anchor(&texts) {
        Ok(anchor) => {
            printer.record(&[&anchor]);
            Ok(0)
        }
        Err(error) => Err(Failure::failed(format!("spec-anchor: {error}")).with_exit(error.exit_class())),
    }
}
