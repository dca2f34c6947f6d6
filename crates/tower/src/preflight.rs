//! What must hold before anything is looked for: a bundle that reads, is signed off by a person, and is open.

use orchestrate_core::identifier::SpecId;
use orchestrate_core::observed::Observed;
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::plan::HaltReason;
use orchestrate_core::world::{Reading, World};
use orchestrate_spec::brief::parse_sign_off;
use orchestrate_spec::placement;
use orchestrate_spec::{Bundle, BundleFiles, BundleTexts, FileText, Status, examine, with_excerpts};

/// Returns the bundle of the working copy, ready to be dispatched from.
///
/// # Errors
/// Every reason why it is not, together: a person mends them in one go.
pub fn open_bundle(world: &dyn World, spec: &SpecId) -> Result<(Bundle, BundleTexts), Vec<HaltReason>> {
    open_files(world, spec, working_files(world, spec))
}

/// Reads the files of an opened bundle again. Nothing when they are as they were, and still signed off; else the bundle
/// that they are now.
///
/// # Errors
/// As [`open_bundle`].
pub(crate) fn reopen_bundle(
    world: &dyn World,
    before: (&Bundle, &BundleTexts),
) -> Result<Option<(Bundle, BundleTexts)>, Vec<HaltReason>> {
    let (bundle, read) = before;
    let files = working_files(world, &bundle.spec);
    let pairs = [
        (&files.requirements, &read.requirements),
        (&files.design, &read.design),
        (&files.tasks, &read.tasks),
        (&files.test_spec, &read.test_spec),
    ];
    let is_same = |(file, bytes): (&FileText, &Vec<u8>)| matches!(file, FileText::Present(now) if now == bytes);
    if !pairs.into_iter().all(is_same) {
        return open_files(world, &bundle.spec, files).map(Some);
    }
    if matches!(bundle.status, Status::Ready | Status::Active) {
        signed(world, &bundle.spec).map_err(|reason| vec![reason])?;
    }
    Ok(None)
}

fn open_files(world: &dyn World, spec: &SpecId, files: BundleFiles) -> Result<(Bundle, BundleTexts), Vec<HaltReason>> {
    // What is wrong with one part does not hide what is wrong with another.
    let status = stored_status(&files);
    let read = whole_bundle(spec, files);
    let mut reasons: Vec<HaltReason> = read.as_ref().err().cloned().unwrap_or_default();
    let status = read.as_ref().map_or(status, |(bundle, _)| Some(bundle.status));
    match status {
        Some(Status::Ready | Status::Active) => reasons.extend(signed(world, spec).err()),
        Some(status @ (Status::Draft | Status::Done | Status::Retired | Status::Superseded)) => {
            reasons.extend(status_gate(spec, status).err());
        }
        None => {}
    }
    match read {
        Ok(read) if reasons.is_empty() => Ok(read),
        Ok(_) | Err(_) => Err(reasons),
    }
}

/// Returns the status that the requirements declare, of a bundle that may not read.
fn stored_status(files: &BundleFiles) -> Option<Status> {
    match &files.requirements {
        FileText::Present(bytes) => placement::stored_status(bytes),
        FileText::Missing | FileText::Unreadable(_) => None,
    }
}

/// Returns the bundle of the working copy, whatever its status.
///
/// # Errors
/// Every finding that keeps it from being read.
pub fn read_bundle(world: &dyn World, spec: &SpecId) -> Result<(Bundle, BundleTexts), Vec<HaltReason>> {
    whole_bundle(spec, working_files(world, spec))
}

/// Returns the bundle that the files say, when nothing is wrong with them.
///
/// # Errors
/// Every finding that is an error, with its line.
pub fn whole_bundle(spec: &SpecId, files: BundleFiles) -> Result<(Bundle, BundleTexts), Vec<HaltReason>> {
    let examination = examine(spec, &files);
    let is_whole = examination.errors() == 0;
    match examination.bundle {
        Some(bundle) if is_whole => Ok((bundle, texts(files))),
        Some(_) | None => {
            let located = with_excerpts(&examination.findings, &files);
            Err(vec![HaltReason::BundleInvalid {
                spec: spec.to_string(),
                findings: located.into_iter().filter(|finding| finding.is_error).collect(),
            }])
        }
    }
}

/// Returns a bundle's four files as they lie in the working copy.
pub fn working_files(world: &dyn World, spec: &SpecId) -> BundleFiles {
    let file = |file: BundleFile| file_text(world.read(&Place::BundleFile(spec.clone(), file)));
    BundleFiles {
        requirements: file(BundleFile::Requirements),
        design: file(BundleFile::Design),
        tasks: file(BundleFile::Tasks),
        test_spec: file(BundleFile::TestSpec),
    }
}

/// Returns the bytes of files that were examined; one that is missing without being an error is empty.
fn texts(files: BundleFiles) -> BundleTexts {
    let bytes = |file: FileText| match file {
        FileText::Present(bytes) => bytes,
        FileText::Missing | FileText::Unreadable(_) => Vec::new(),
    };
    BundleTexts {
        requirements: bytes(files.requirements),
        design: bytes(files.design),
        tasks: bytes(files.tasks),
        test_spec: bytes(files.test_spec),
    }
}

fn read_file(world: &dyn World, spec: &SpecId, file: BundleFile) -> Result<Vec<u8>, String> {
    let place = Place::BundleFile(spec.clone(), file);
    match file_text(world.read(&place)) {
        FileText::Present(bytes) => Ok(bytes),
        FileText::Missing => Err(format!("{place} is missing")),
        FileText::Unreadable(why) => Err(format!("{place} cannot be read: {why}")),
    }
}

/// Returns a file of a bundle as it was found; whatever is no regular file cannot be read.
#[must_use]
pub fn file_text(reading: Reading) -> FileText {
    match reading {
        Reading::File { bytes, .. } => FileText::Present(bytes),
        Reading::Absent => FileText::Missing,
        Reading::Directory { .. } => FileText::Unreadable("it is a directory".to_owned()),
        Reading::Symlink => {
            FileText::Unreadable("it is a symbolic link; bundles are read from real files only".to_owned())
        }
        Reading::Special => FileText::Unreadable("it is no regular file".to_owned()),
        Reading::Unreadable(cause) => FileText::Unreadable(cause),
    }
}

/// The status gate has no bypass (law L9).
fn status_gate(spec: &SpecId, status: Status) -> Result<(), HaltReason> {
    let remedy = match status {
        Status::Ready | Status::Active => return Ok(()),
        Status::Draft => review_and_sign(spec),
        Status::Done | Status::Retired | Status::Superseded => "there is nothing to orchestrate".to_owned(),
    };
    Err(HaltReason::Status {
        spec: spec.to_string(),
        status: status.to_string(),
        remedy,
    })
}

fn signed(world: &dyn World, spec: &SpecId) -> Result<(), HaltReason> {
    let fault = |fault: String, remedy: String| HaltReason::SignOff {
        spec: spec.to_string(),
        fault,
        remedy,
    };
    let brief = read_file(world, spec, BundleFile::KickoffBrief).map_err(|why| fault(why, review_and_sign(spec)))?;
    parse_sign_off(spec, &brief)
        .map(|_| ())
        .map_err(|error| fault(error.to_string(), error.reason.remedy(spec)))
}

/// What helps where nobody has signed, or nothing that can be compared.
pub(crate) fn review_and_sign(spec: &SpecId) -> String {
    format!("review and sign it: orchestrate sign specs/{spec}")
}

/// A bundle's four texts as one commit has them.
///
/// # Errors
/// The reason of the first text that could not be read, or the text that the commit does not have.
pub fn committed_texts(
    world: &dyn World,
    commit: &orchestrate_core::identifier::CommitId,
    spec: &SpecId,
) -> Result<Observed<BundleTexts>, orchestrate_core::observed::Why> {
    let mut texts = BundleTexts::default();
    let targets = [
        (BundleFile::Requirements, &mut texts.requirements),
        (BundleFile::Design, &mut texts.design),
        (BundleFile::Tasks, &mut texts.tasks),
        (BundleFile::TestSpec, &mut texts.test_spec),
    ];
    for (file, target) in targets {
        match world.committed(commit, spec, file) {
            Observed::Known(bytes) => *target = bytes,
            Observed::Absent(why) => return Ok(Observed::Absent(why)),
            Observed::Unknown(why) => return Err(why),
        }
    }
    Ok(Observed::Known(texts))
}
