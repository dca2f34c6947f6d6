//! What must hold before anything is looked for: a bundle that reads, is signed off by a person, and is open.

use orchestrate_core::identifier::SpecId;
use orchestrate_core::observed::Observed;
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::plan::HaltReason;
use orchestrate_core::world::{Reading, World};
use orchestrate_spec::brief::parse_sign_off;
use orchestrate_spec::{Bundle, BundleTexts, Severity, Status, parse_bundle};

/// Returns the bundle of the working copy, ready to be dispatched from.
///
/// # Errors
/// Every reason why it is not, together: a person mends them in one go.
pub fn open_bundle(world: &dyn World, spec: &SpecId) -> Result<(Bundle, BundleTexts), Vec<HaltReason>> {
    let (bundle, texts) = read_bundle(world, spec)?;
    let mut reasons: Vec<HaltReason> = status_gate(&bundle).err().into_iter().collect();
    if bundle.status == Status::Ready
        && let Err(reason) = signed(world, spec)
    {
        reasons.push(reason);
    }
    if reasons.is_empty() {
        Ok((bundle, texts))
    } else {
        Err(reasons)
    }
}

/// Returns the bundle of the working copy, whatever its status.
///
/// # Errors
/// Every finding that keeps it from being read.
pub fn read_bundle(world: &dyn World, spec: &SpecId) -> Result<(Bundle, BundleTexts), Vec<HaltReason>> {
    let texts = working_texts(world, spec).map_err(|findings| vec![HaltReason::BundleInvalid { findings }])?;
    match parse_bundle(spec, &texts) {
        Ok(bundle) => Ok((bundle, texts)),
        Err(diagnostics) => {
            let finding = |diagnostic: &orchestrate_spec::Diagnostic| match &diagnostic.help {
                Some(help) => format!("{diagnostic} ({help})"),
                None => diagnostic.to_string(),
            };
            let errors = diagnostics
                .iter()
                .filter(|diagnostic| diagnostic.severity == Severity::Error);
            Err(vec![HaltReason::BundleInvalid {
                findings: errors.map(finding).collect(),
            }])
        }
    }
}

fn working_texts(world: &dyn World, spec: &SpecId) -> Result<BundleTexts, Vec<String>> {
    let mut findings = Vec::new();
    let mut text = |file: BundleFile| {
        read_file(world, spec, file).unwrap_or_else(|finding| {
            findings.push(finding);
            Vec::new()
        })
    };
    let texts = BundleTexts {
        requirements: text(BundleFile::Requirements),
        design: text(BundleFile::Design),
        tasks: text(BundleFile::Tasks),
        test_spec: text(BundleFile::TestSpec),
    };
    if findings.is_empty() { Ok(texts) } else { Err(findings) }
}

fn read_file(world: &dyn World, spec: &SpecId, file: BundleFile) -> Result<Vec<u8>, String> {
    let place = Place::BundleFile(spec.clone(), file);
    match world.read(&place) {
        Reading::File { bytes, .. } => Ok(bytes),
        Reading::Absent => Err(format!("{place} is missing")),
        Reading::Directory { .. } => Err(format!("{place} is a directory")),
        Reading::Symlink => Err(format!(
            "{place} is a symbolic link; bundles are read from real files only"
        )),
        Reading::Special => Err(format!("{place} is no regular file")),
        Reading::Unreadable(cause) => Err(format!("{place} cannot be read: {cause}")),
    }
}

/// The status gate has no bypass (law L9).
fn status_gate(bundle: &Bundle) -> Result<(), HaltReason> {
    let spec = &bundle.spec;
    let remedy = match bundle.status {
        Status::Ready | Status::Active => return Ok(()),
        Status::Draft => review_and_sign(spec),
        Status::Done | Status::Retired | Status::Superseded => "there is nothing to orchestrate".to_owned(),
    };
    Err(HaltReason::Status {
        spec: spec.to_string(),
        status: bundle.status.to_string(),
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
pub(crate) fn committed_texts(
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
