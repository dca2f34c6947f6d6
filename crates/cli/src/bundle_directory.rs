//! A bundle that was named on the command line: in the repository at hand, or in any directory.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{SpecId, printable, quoted};
use orchestrate_core::place::BundleFile;
use orchestrate_host::specs::{self, FileReading};
use orchestrate_spec::{BundleFiles, FileText, LARGEST_FILE};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// A bundle's files, and the repository whose evidence speaks of it.
pub(crate) struct Target {
    pub(crate) spec: SpecId,
    pub(crate) files: BundleFiles,
    /// Nothing for a bundle outside of the repository's `specs`.
    pub(crate) session: Option<Session>,
}

/// Finds the bundle that is meant: `NAME` and `specs/NAME` in the repository, any other path as a directory.
///
/// # Errors
/// When there is none.
pub(crate) fn find(named: Option<&str>, environment: &Environment, printer: &mut Printer) -> Result<Target, Failure> {
    let opened = Session::open(environment, &environment.directory, printer);
    match (opened, named) {
        (Ok(session), None) => {
            let spec = session.resolve_spec(None)?;
            Ok(in_repository(session, spec))
        }
        (Ok(session), Some(text)) if is_name(text) => {
            let spec = session.resolve_spec(Some(text))?;
            Ok(in_repository(session, spec))
        }
        (Ok(session), Some(text)) => {
            let (spec, directory) = directory(&environment.absolute(Utf8Path::new(text)), text)?;
            let own = bundle_path(&session, &spec).canonicalize_utf8();
            if own.is_ok_and(|own| own == directory) {
                Ok(in_repository(session, spec))
            } else {
                Ok(alone(spec, &directory))
            }
        }
        (Err(failure), None) => Err(failure),
        (Err(failure), Some(text)) => {
            printer.talk(&format!(
                "note: without the evidence of a repository: {}",
                failure.message
            ));
            let path = environment.absolute(Utf8Path::new(text));
            let under_specs = environment.directory.join("specs").join(text);
            let path = if !path.is_dir() && is_name(text) && under_specs.is_dir() {
                under_specs
            } else {
                path
            };
            let (spec, directory) = directory(&path, text)?;
            Ok(alone(spec, &directory))
        }
    }
}

/// Returns the bundle in a directory, whatever is around it.
///
/// # Errors
/// When there is no such directory, or its name is no spec name.
pub(crate) fn at(path: &Utf8Path, environment: &Environment) -> Result<Target, Failure> {
    let (spec, directory) = directory(&environment.absolute(path), path.as_str())?;
    Ok(alone(spec, &directory))
}

/// `NAME` or `specs/NAME`, also with a slash at its end.
fn is_name(text: &str) -> bool {
    let short = text.strip_prefix("specs/").unwrap_or(text);
    let short = short.strip_suffix('/').unwrap_or(short);
    !short.contains('/') && !short.starts_with('.')
}

fn bundle_path(session: &Session, spec: &SpecId) -> Utf8PathBuf {
    session
        .world
        .repository()
        .layout
        .primary
        .join("specs")
        .join(spec.as_str())
}

fn in_repository(session: Session, spec: SpecId) -> Target {
    Target {
        files: read(&bundle_path(&session, &spec)),
        spec,
        session: Some(session),
    }
}

fn alone(spec: SpecId, directory: &Utf8Path) -> Target {
    Target {
        files: read(directory),
        spec,
        session: None,
    }
}

fn directory(path: &Utf8Path, named: &str) -> Result<(SpecId, Utf8PathBuf), Failure> {
    let shown = printable(named);
    let physical = path
        .canonicalize_utf8()
        .map_err(|error| Failure::usage(format!("cannot open {shown}: {error}")))?;
    if !physical.is_dir() {
        return Err(Failure::usage(format!("{shown} is no directory")).with_hint("name the directory of a bundle"));
    }
    let name = physical.file_name().unwrap_or_default();
    let spec = SpecId::parse(name).map_err(|error| Failure::usage(format!("{} is {error}", quoted(name))))?;
    Ok((spec, physical))
}

/// Returns a bundle's files as they lie in a directory. No link is followed, and nothing of a size is read that no bundle
/// has.
pub(crate) fn read(directory: &Utf8Path) -> BundleFiles {
    each_file(
        |file| match specs::read_file(&directory.join(file.name()), LARGEST_FILE) {
            FileReading::Bytes(bytes) => FileText::Present(bytes),
            FileReading::Absent => FileText::Missing,
            FileReading::Refused(why) => FileText::Unreadable(why),
        },
    )
}

/// Returns a bundle's files, each as it is read.
pub(crate) fn each_file(read: impl Fn(BundleFile) -> FileText) -> BundleFiles {
    BundleFiles {
        requirements: read(BundleFile::Requirements),
        design: read(BundleFile::Design),
        tasks: read(BundleFile::Tasks),
        test_spec: read(BundleFile::TestSpec),
    }
}
