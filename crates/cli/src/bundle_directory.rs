//! A bundle that was named on the command line: in the repository at hand, or in any directory.

use std::fs;
use std::io::ErrorKind;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{SpecId, printable};
use orchestrate_core::place::BundleFile;
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
    let spec = SpecId::parse(name).map_err(|error| Failure::usage(format!("{:?} is {error}", printable(name))))?;
    Ok((spec, physical))
}

fn read(directory: &Utf8Path) -> BundleFiles {
    let file = |file: BundleFile| read_file(&directory.join(file.name()));
    BundleFiles {
        requirements: file(BundleFile::Requirements),
        design: file(BundleFile::Design),
        tasks: file(BundleFile::Tasks),
        test_spec: file(BundleFile::TestSpec),
    }
}

/// Reads a regular file of a size that a bundle may have. No link is followed.
fn read_file(path: &Utf8Path) -> FileText {
    let unreadable = |error: &std::io::Error| FileText::Unreadable(error.to_string());
    let is_too_large = |length: u64| usize::try_from(length).map_or(true, |length| length > LARGEST_FILE);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => FileText::Missing,
        Err(error) => unreadable(&error),
        Ok(metadata) if !metadata.is_file() => FileText::Unreadable("it is no regular file".to_owned()),
        Ok(metadata) if is_too_large(metadata.len()) => {
            FileText::Unreadable(format!("it has {} bytes", metadata.len()))
        }
        Ok(_) => fs::read(path).map_or_else(|error| unreadable(&error), FileText::Present),
    }
}
