//! Four files in, one bundle and everything that can be said of it out.

use orchestrate_core::identifier::SpecId;

use crate::diagnostic::Findings;
use crate::{Bundle, BundleFile, BundleFiles, BundleTexts, Diagnostic, FileText, FormatVersion, Severity};
use crate::{design, mirror, relations, requirements, tasks};

/// Everything that can be said of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// The bundle as far as it could be read; always there when no finding is an error.
    pub bundle: Option<Bundle>,
    /// All findings, in the order in which the format's validator gives them (`contract/core.md §2.3`).
    pub findings: Vec<Diagnostic>,
}

impl Examination {
    /// Returns how many findings are errors. A bundle with one must not be acted on.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.count(Severity::Error)
    }

    /// Returns how many findings are warnings.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.count(Severity::Warning)
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    }
}

/// Reads a bundle of either format version, and checks it.
#[must_use]
pub fn examine(spec: &SpecId, files: &BundleFiles) -> Examination {
    let mut findings = Findings::new(spec);
    let mut texts = BundleTexts::default();
    let targets = [
        &mut texts.requirements,
        &mut texts.design,
        &mut texts.tasks,
        &mut texts.test_spec,
    ];
    for ((file, found), target) in files.files().into_iter().zip(targets) {
        match found {
            FileText::Present(bytes) => target.clone_from(bytes),
            FileText::Missing => missing(file, &mut findings),
            FileText::Unreadable(cause) => unreadable(file, cause, &mut findings),
        }
    }
    let bundle = read(spec, &texts, &mut findings);
    Examination {
        bundle,
        findings: findings.into_sorted(),
    }
}

/// Returns the findings that compare a bundle with an earlier state of it (`contract/core.md §2.4`). `reference` is the
/// name of the git ref that holds the earlier state.
#[must_use]
pub fn compare_with_baseline(
    _spec: &SpecId,
    _now: &BundleFiles,
    _baseline: &BundleFiles,
    _reference: &str,
) -> Vec<Diagnostic> {
    Vec::new()
}

/// Reads a bundle of which every file is there.
///
/// # Errors
/// All findings, when one of them is an error: the bundle must not be acted on.
pub fn parse_bundle(spec: &SpecId, texts: &BundleTexts) -> Result<Bundle, Vec<Diagnostic>> {
    let examination = examine(spec, &BundleFiles::from(texts.clone()));
    match examination.bundle {
        Some(ref bundle) if examination.errors() == 0 => Ok(bundle.clone()),
        Some(_) | None => Err(examination.findings),
    }
}

fn missing(file: BundleFile, findings: &mut Findings<'_>) {
    findings.add("file-missing", (file, None), format!("missing file: {file}"), "");
}

fn unreadable(file: BundleFile, cause: &str, findings: &mut Findings<'_>) {
    let message = format!("{file}: could not read the file: {cause}");
    findings.add("file-unreadable", (file, None), message, "");
}

/// Returns the bundle as far as it can be read; it is whole only without findings.
fn read(spec: &SpecId, texts: &BundleTexts, findings: &mut Findings<'_>) -> Option<Bundle> {
    let sources = mirror::decode(texts, findings)?;
    let [requirements_source, design_source, tasks_source, _test_spec] = &sources;
    if !mirror::check_version(requirements_source, findings) {
        return None;
    }
    let status = mirror::check(&sources, findings);
    let body = requirements_source.header.line_count;
    let requirements = requirements::read(&requirements_source.text, body, findings);
    let decisions = design::read(&design_source.text, design_source.header.line_count, findings);
    let list = tasks::read(&tasks_source.text, tasks_source.header.line_count, findings);
    relations::check(&list, findings);
    let title = requirements_source.header.title.as_deref().unwrap_or(spec.as_str());
    Some(Bundle {
        spec: spec.clone(),
        version: FormatVersion::Two,
        status: status?,
        title: title
            .strip_suffix("Requirements")
            .and_then(|start| start.trim_end().strip_suffix('—'))
            .unwrap_or(title)
            .trim()
            .to_owned(),
        goal: requirements::goal(&requirements_source.text, body),
        requirements,
        decisions,
        tasks: list.tasks,
        parked: list.parked,
        gates: Vec::new(),
        tests: Vec::new(),
        changelog: Vec::new(),
    })
}
