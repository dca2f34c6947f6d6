//! `spec-anchor <spec-dir>` (`contract/core.md §3.1`): works on any directory, in a repository or not.

use camino::Utf8Path;
use orchestrate_core::place::BundleFile;
use orchestrate_host::files;
use orchestrate_spec::BundleTexts;
use orchestrate_spec::anchor::{AnchorErrorReason, content_anchor};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

const MISSING: u8 = 1;

pub(crate) fn run(directory: &Utf8Path, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let root = environment.absolute(directory);
    let shown = |file: BundleFile| format!("{}/{file}", directory.as_str().trim_end_matches('/'));
    let read = |file: BundleFile| files::read_named(&root.join(file.name())).map_err(|_| file);
    let texts = match read_all(read) {
        Ok(texts) => texts,
        Err(file) => {
            printer.talk(&format!("spec-anchor: missing or unreadable: {}", shown(file)));
            return Ok(MISSING);
        }
    };
    match content_anchor(&texts) {
        Ok(anchor) => {
            printer.record(&[&anchor]);
            Ok(0)
        }
        Err(error) => {
            printer.talk(&format!("spec-anchor: {error}"));
            if error.reason == AnchorErrorReason::Header {
                let path = shown(error.file);
                printer.talk(&format!("spec-anchor: header-block parse failed for {path}"));
            }
            Ok(error.exit_class())
        }
    }
}

/// Reads the four files, all of them before anything is hashed.
fn read_all(read: impl Fn(BundleFile) -> Result<Vec<u8>, BundleFile>) -> Result<BundleTexts, BundleFile> {
    Ok(BundleTexts {
        requirements: read(BundleFile::Requirements)?,
        design: read(BundleFile::Design)?,
        tasks: read(BundleFile::Tasks)?,
        test_spec: read(BundleFile::TestSpec)?,
    })
}
