//! Four files in, one bundle and everything that can be said of it out.

use orchestrate_core::identifier::SpecId;

use crate::check::Check;
use crate::diagnostic::Findings;
use crate::mirror::Resolved;
use crate::source::Source;
use crate::{Bundle, BundleFiles, BundleTexts, Diagnostic, FormatVersion, Severity, Status};
use crate::{changelog, citing, design, mirror, relations, requirements, source, tasks, test_spec};

/// Everything that can be said of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// The bundle as far as it could be read; always there when no finding is an error. `None` when the bundle declares
    /// no format version that is known.
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

    /// Returns how many task headings were left out of the bundle with no more than a warning: in a draft, those without
    /// a readable id.
    #[must_use]
    pub fn headings_left_out(&self) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.severity == Severity::Warning && finding.code == Check::TaskId.code())
            .count()
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
    let mut findings = Findings::default();
    let contents = source::read(files, &mut findings);
    let sources = contents.sources(&mut findings);
    let resolved = mirror::check(&sources, &mut findings);
    let bundle = read(spec, &sources, &resolved, &mut findings);
    Examination {
        bundle,
        findings: findings.finish(spec, resolved.status),
    }
}

/// Reads a bundle of which every file is there.
///
/// # Errors
/// All findings, when one of them is an error: the bundle must not be acted on.
pub fn parse_bundle(spec: &SpecId, texts: &BundleTexts) -> Result<Bundle, Vec<Diagnostic>> {
    let examination = examine(spec, &BundleFiles::from(texts.clone()));
    if examination.errors() > 0 {
        return Err(examination.findings);
    }
    examination.bundle.ok_or(examination.findings)
}

/// Reads what the files hold. Without a known version there is no bundle, but its files are checked all the same.
fn read(spec: &SpecId, sources: &[Source<'_>; 4], resolved: &Resolved, findings: &mut Findings) -> Option<Bundle> {
    let [requirements_source, design_source, tasks_source, test_source] = sources;
    let requirements = requirements::read(requirements_source.body(), findings);
    requirements::unread::check(requirements_source.body(), &requirements, findings);
    if resolved.version == Some(FormatVersion::Two) {
        requirements::check_sections(requirements_source, findings);
    }
    let decisions = design::read(design_source.body(), findings);
    let list = tasks::read(tasks_source, resolved.version, findings);
    relations::check(&list, findings);
    citing::check(&requirements, &decisions, &list.tasks, findings);
    let tests = test_spec::read(test_source.body());
    if !test_source.is_missing {
        test_spec::check_tags(test_source.body(), findings);
        test_spec::check_coverage(&requirements, &tests, findings);
    }
    let title = requirements_source.header.title.as_deref().unwrap_or(spec.as_str());
    Some(Bundle {
        spec: spec.clone(),
        version: resolved.version?,
        status: resolved.status.unwrap_or(Status::Draft),
        title: title
            .strip_suffix("Requirements")
            .and_then(|start| start.trim_end().strip_suffix('—'))
            .unwrap_or(title)
            .trim()
            .to_owned(),
        goal: requirements::goal(requirements_source.body()),
        requirements,
        decisions,
        tasks: list.tasks,
        parked: list.parked,
        gates: list.gates,
        tests,
        changelog: changelog::read(requirements_source.body()),
    })
}
