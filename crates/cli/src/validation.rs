//! Validating bundles wherever they lie: one directory, or every bundle of a root (`contract/core.md §2.1`).
//!
//! Reads the disk and, for the baseline, a commit; decides nothing about a bundle's text, which is the reader's to
//! judge. Works without a repository.

mod root;

use std::sync::{Mutex, PoisonError};
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{SpecId, printable};
use orchestrate_core::observed::Observed;
use orchestrate_host::specs::{self, Baseline};
use orchestrate_spec::{BundleFiles, Examination, FileText, compare_with_baseline, examine};

use crate::bundle_directory;
use crate::failure::Failure;

pub(crate) use root::Refused;
use root::{Place, is_bundle, place_of, the_bundle};

/// A directory to validate, and how it is named to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// Where it lies.
    pub(crate) directory: Utf8PathBuf,
    /// As the person wrote it.
    pub(crate) shown: String,
    /// Whether a bundle's own directory may be a link; the reference follows one that it is given.
    pub(crate) may_be_link: bool,
}

/// What was found at one place.
pub(crate) enum Entry {
    /// A bundle that was read and checked.
    Bundle(Box<Examined>),
    /// Something that stands where a bundle belongs and is none.
    Refused(Refused),
}

/// A bundle that was read and checked.
pub(crate) struct Examined {
    /// Its name.
    pub(crate) spec: SpecId,
    /// Its directory as the person would write it.
    pub(crate) shown: String,
    /// Its files as they were read.
    pub(crate) files: BundleFiles,
    /// The bundle and everything that can be said of it, the baseline included.
    pub(crate) examination: Examination,
}

/// How many errors and warnings there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Findings that keep a bundle from being acted on.
    pub(crate) errors: usize,
    /// The other findings.
    pub(crate) warnings: usize,
}

/// Returns how many errors and warnings the entries have.
pub(crate) fn counts(entries: &[Entry]) -> Counts {
    entries.iter().fold(Counts::default(), |sum, entry| match entry {
        Entry::Bundle(bundle) => Counts {
            errors: sum.errors + bundle.examination.errors(),
            warnings: sum.warnings + bundle.examination.warnings(),
        },
        Entry::Refused(_) => Counts {
            errors: sum.errors + 1,
            ..sum
        },
    })
}

/// What earlier state bundles are compared with.
pub(crate) struct Comparison {
    /// The ref's name.
    pub(crate) reference: String,
    /// The state it names.
    pub(crate) baseline: Baseline,
}

/// The ref that is taken when none is named.
pub(crate) const DEFAULT_REFERENCE: &str = "origin/main";

/// Returns what a target is compared with: nothing, when no ref was named and the usual one is not there.
///
/// # Errors
/// When a named ref is not there: the exit code is 2.
pub(crate) fn comparison(
    target: &Target,
    named: Option<&str>,
    git: Option<&Utf8Path>,
) -> Result<Option<Comparison>, Failure> {
    let reference = named.unwrap_or(DEFAULT_REFERENCE);
    let missing = |why: &str| {
        Err(
            Failure::usage(format!("cannot compare with {}: {why}", printable(reference)))
                .with_hint("name a commit of the repository that the bundles lie in, such as origin/main or HEAD"),
        )
    };
    match Baseline::find(&target.directory, reference, git) {
        Ok(Some(baseline)) => Ok(Some(Comparison {
            reference: reference.to_owned(),
            baseline,
        })),
        Ok(None) if named.is_some() => missing("it names no commit here"),
        Err(fault) if named.is_some() => missing(&fault.cause),
        Ok(None) => Ok(None),
        Err(fault) => Err(fault.into()),
    }
}

/// Returns what a directory holds: itself, when one of a bundle's files lies in it, else each of its children.
///
/// # Errors
/// When a root cannot be listed.
pub(crate) fn validate(target: &Target, comparison: Option<&Comparison>) -> Result<Vec<Entry>, Failure> {
    let places: Vec<Place> = if is_bundle(&target.directory) {
        vec![the_bundle(target)]
    } else {
        let children = specs::children(&target.directory)
            .map_err(|error| Failure::failed(format!("cannot list {}: {error}", printable(&target.shown))))?;
        children.iter().filter_map(|child| place_of(target, child)).collect()
    };
    // A repository is asked by one thread only.
    let earlier: Vec<Option<BundleFiles>> = places
        .iter()
        .map(|place| match place {
            Place::Bundle { directory, .. } => {
                comparison.and_then(|comparison| baseline_files(&comparison.baseline, directory))
            }
            Place::Refused(_) => None,
        })
        .collect();
    let reference = comparison.map(|comparison| comparison.reference.as_str());
    Ok(in_parallel(
        places.into_iter().zip(earlier).collect(),
        |(place, earlier)| match place {
            Place::Bundle { spec, directory, shown } => Entry::Bundle(Box::new(examined(
                spec,
                &directory,
                shown,
                earlier.as_ref().zip(reference),
            ))),
            Place::Refused(refused) => Entry::Refused(refused),
        },
    ))
}

fn examined(spec: SpecId, directory: &Utf8Path, shown: String, earlier: Option<(&BundleFiles, &str)>) -> Examined {
    let files = bundle_directory::read(directory);
    let mut examination = examine(&spec, &files);
    if let Some((earlier, reference)) = earlier {
        examination
            .findings
            .extend(compare_with_baseline(&spec, &files, earlier, reference));
    }
    Examined {
        spec,
        shown,
        files,
        examination,
    }
}

/// Returns a bundle's files as a commit has them; nothing when it has none of them.
pub(crate) fn baseline_files(baseline: &Baseline, directory: &Utf8Path) -> Option<BundleFiles> {
    let found = bundle_directory::each_file(|file| match baseline.file(directory, file) {
        Observed::Known(bytes) => FileText::Present(bytes),
        Observed::Absent(_) => FileText::Missing,
        Observed::Unknown(why) => FileText::Unreadable(why.to_string()),
    });
    let is_there = found.files().iter().any(|(_, text)| **text != FileText::Missing);
    is_there.then_some(found)
}

/// Returns the results in the order of the items.
fn in_parallel<T: Send, R: Send>(items: Vec<T>, act: impl Fn(T) -> R + Sync) -> Vec<R> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    if workers <= 1 {
        return items.into_iter().map(act).collect();
    }
    let queue = Mutex::new(items.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((index, item)) = next else { return };
                    let result = act(item);
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_items_stays() {
        let squares = in_parallel((0..500_u32).collect(), |number| number * number);
        assert_eq!(squares, (0..500_u32).map(|number| number * number).collect::<Vec<_>>());
        assert!(in_parallel(Vec::<u8>::new(), |byte| byte).is_empty());
    }
}
