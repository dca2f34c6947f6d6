//! What libgit2 says of a failure, in one sentence with what helps: the only place that turns its errors into words of
//! ours (architecture §7). Owns no state.

use git2::{Error, ErrorClass};
use orchestrate_core::observed::Why;
use orchestrate_core::world::Fault;

use crate::files::{FULL_DISK_HINT, REFUSED_HINT};

/// Returns a libgit2 error as the reason of an unknown.
pub(crate) fn why(operation: &str, error: &Error) -> Why {
    let why = Why::new(format!("{operation}: {}", error.message()));
    match remedy(error) {
        Some(hint) => why.with_hint(hint),
        None => why,
    }
}

/// Returns a libgit2 error as the failure of an operation.
pub(crate) fn fault(operation: &str, error: &Error) -> Fault {
    let fault = Fault::new(operation, error.message().to_owned());
    match remedy(error) {
        Some(hint) => fault.with_hint(hint),
        None => fault,
    }
}

/// Returns the failure of an operation as the reason of an unknown.
pub(crate) fn as_why(fault: &Fault) -> Why {
    let why = Why::new(fault.to_string());
    match &fault.hint {
        Some(hint) => why.with_hint(hint.clone()),
        None => why,
    }
}

/// Returns a reason of ours as the failure of an operation.
pub(crate) fn as_fault(operation: &str, why: Why) -> Fault {
    let fault = Fault::new(operation, why.reason);
    match why.hint {
        Some(hint) => fault.with_hint(hint),
        None => fault,
    }
}

/// Returns a reason of ours as the error of a reading that goes through libgit2.
pub(crate) fn of(why: &Why) -> Error {
    Error::from_str(&why.reason)
}

/// Returns what helps against a kind of failure, nothing where its kind does not tell.
fn remedy(error: &Error) -> Option<&'static str> {
    // libgit2 names these by words alone: its classes for them are shared with other failures, or are not bound.
    let says = |words: &str| error.message().contains(words);
    if says("No space left") || says("quota exceeded") {
        return Some(FULL_DISK_HINT);
    }
    if says("Read-only file system") || says("Permission denied") {
        return Some(REFUSED_HINT);
    }
    if says("packed references") {
        return Some("take the broken line out of .git/packed-refs, then see what is left: git show-ref");
    }
    if says("which git cannot read") {
        return Some("take it away (rm), and write or fetch what belongs in its place");
    }
    if says("graft OID") {
        return Some("take out of .git/shallow what names no commit; where that is lost: git fetch --unshallow");
    }
    let is_object = matches!(
        error.class(),
        ErrorClass::Odb | ErrorClass::Object | ErrorClass::Zlib | ErrorClass::Tree
    );
    if is_object || says("cannot be peeled") {
        return Some(
            "see what is missing or broken: git fsck; then restore it from another clone: git fetch --refetch",
        );
    }
    (error.class() == ErrorClass::Config).then_some("mend the line that it names, then try: git config --list")
}
