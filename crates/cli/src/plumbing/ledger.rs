//! `check-ledger [files…]` (`contract/core.md §9.4`): works on any file, in a repository or not.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::place::BundleFile;
use orchestrate_host::files;
use orchestrate_spec::ledger;

use super::FAIL_CLOSED;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

const FINDINGS: u8 = 1;

pub(crate) fn run(named: &[Utf8PathBuf], environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let (root, files) = if named.is_empty() {
        every_ledger(&environment.directory)?
    } else {
        (environment.directory.clone(), named.to_vec())
    };
    let (mut found, mut unread) = (false, false);
    for file in files {
        match files::read_named(&root.join(&file)) {
            Ok(bytes) => {
                for finding in ledger::check(&bytes) {
                    found = true;
                    printer.line(&format!("{file}:{}: {}", finding.line, finding.message));
                }
            }
            Err(error) => {
                unread = true;
                printer.talk(&format!("check-ledger: cannot read {file}: {error}"));
            }
        }
    }
    Ok(match (unread, found) {
        (true, _) => FAIL_CLOSED,
        (false, true) => FINDINGS,
        (false, false) => 0,
    })
}

/// Returns the nearest directory above with a `specs` in it, and the ledgers of all its bundles.
fn every_ledger(start: &Utf8Path) -> Result<(Utf8PathBuf, Vec<Utf8PathBuf>), Failure> {
    let refuse = |message: String| Failure::failed(format!("check-ledger: {message}")).with_exit(FAIL_CLOSED);
    let root = start
        .ancestors()
        .find(|directory| directory.join("specs").is_dir())
        .ok_or_else(|| refuse("there is no directory specs here or above".to_owned()))?;
    let specs = Utf8Path::new("specs");
    let entries = root
        .join(specs)
        .read_dir_utf8()
        .map_err(|error| refuse(format!("cannot list specs: {error}")))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| refuse(format!("cannot list specs: {error}")))?;
        let file = specs.join(entry.file_name()).join(BundleFile::Tasks.name());
        // An accumulator holds no tasks; a directory that is no bundle has no such file.
        let is_bundle = !entry.file_name().starts_with(['_', '.']) && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_bundle && root.join(&file).symlink_metadata().is_ok() {
            found.push(file);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(refuse("no bundle under specs has a tasks.md".to_owned()));
    }
    Ok((root.to_path_buf(), found))
}
