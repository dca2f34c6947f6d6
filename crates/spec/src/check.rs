//! The checks, each with its code, its class and its place in the order of the findings.

use crate::Class;

/// One thing that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    // The format's own (`contract/core.md §2.3`).
    FileMissing,
    FenceOpen,
    FenceUnknown,
    VersionConflict,
    HeaderUnreadable,
    HeaderDuplicate,
    StatusMissing,
    SupersededBy,
    RequirementDuplicate,
    RequirementCitation,
    RequirementBullet,
    MirrorStatus,
    MirrorVersion,
    FormatVersion,
    StatusDerived,
    StatusUnknown,
    ExecutionLine,
    ExecutionMissing,
    DecisionDuplicate,
    DecisionField,
    DecisionHeading,
    TaskDuplicate,
    TaskField,
    TaskId,
    PlacementSection,
    StateAnnotation,
    ReferenceUnknown,
    ReferenceTwice,
    ReferenceRejected,
    ReferenceMap,
    RequirementUntested,
    // The format's own against an earlier state (§2.4).
    BaselineStatus,
    TerminalStatus,
    BaselineFence,
    RequirementRemoved,
    SupersededUnlogged,
    DecisionRemoved,
    TaskRemoved,
    // Ours, stricter.
    RequirementLost,
    RequirementsSection,
    FileTooLarge,
    FileEncoding,
    ByteOrderMark,
    CarriageReturn,
    SectionHeading,
    SectionMissing,
    TaskHeading,
    TaskNumber,
    TaskPlacement,
    LineDisputed,
    FieldOrphan,
    FieldEmpty,
    EffortNumber,
    DependencyField,
    DependencyFieldTwice,
    DependencySpelling,
    DependencyUnsigned,
    DependencyContinuation,
    DependencyText,
    DependencySelf,
    DependencyDangling,
    DependencyCircle,
    ReferenceMisplaced,
    GateMalformed,
    CitationUnknown,
    TestTag,
}

/// Where a check comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The format's validator has it; its findings stand in the order of the number.
    Format(u8),
    /// It is ours; its findings stand behind those of that number, by line.
    Ours(u8),
}

impl Check {
    pub(crate) const ALL: [Self; 66] = [
        Self::FileMissing,
        Self::FenceOpen,
        Self::FenceUnknown,
        Self::VersionConflict,
        Self::HeaderUnreadable,
        Self::HeaderDuplicate,
        Self::StatusMissing,
        Self::SupersededBy,
        Self::RequirementDuplicate,
        Self::RequirementCitation,
        Self::RequirementBullet,
        Self::MirrorStatus,
        Self::MirrorVersion,
        Self::FormatVersion,
        Self::StatusDerived,
        Self::StatusUnknown,
        Self::ExecutionLine,
        Self::ExecutionMissing,
        Self::DecisionDuplicate,
        Self::DecisionField,
        Self::DecisionHeading,
        Self::TaskDuplicate,
        Self::TaskField,
        Self::TaskId,
        Self::PlacementSection,
        Self::StateAnnotation,
        Self::ReferenceUnknown,
        Self::ReferenceTwice,
        Self::ReferenceRejected,
        Self::ReferenceMap,
        Self::RequirementUntested,
        Self::BaselineStatus,
        Self::TerminalStatus,
        Self::BaselineFence,
        Self::RequirementRemoved,
        Self::SupersededUnlogged,
        Self::DecisionRemoved,
        Self::TaskRemoved,
        Self::RequirementLost,
        Self::RequirementsSection,
        Self::FileTooLarge,
        Self::FileEncoding,
        Self::ByteOrderMark,
        Self::CarriageReturn,
        Self::SectionHeading,
        Self::SectionMissing,
        Self::TaskHeading,
        Self::TaskNumber,
        Self::TaskPlacement,
        Self::LineDisputed,
        Self::FieldOrphan,
        Self::FieldEmpty,
        Self::EffortNumber,
        Self::DependencyField,
        Self::DependencyFieldTwice,
        Self::DependencySpelling,
        Self::DependencyUnsigned,
        Self::DependencyContinuation,
        Self::DependencyText,
        Self::DependencySelf,
        Self::DependencyDangling,
        Self::DependencyCircle,
        Self::ReferenceMisplaced,
        Self::GateMalformed,
        Self::CitationUnknown,
        Self::TestTag,
    ];

    const fn row(self) -> (&'static str, Class, Origin) {
        use Class::{Gap, Hard};
        use Origin::{Format, Ours};
        match self {
            Self::FileMissing => ("file-missing", Gap, Format(10)),
            Self::FenceOpen => ("open-fence", Gap, Format(20)),
            Self::FenceUnknown => ("fence-unknown", Hard, Format(21)),
            Self::FileTooLarge => ("file-too-large", Hard, Ours(22)),
            Self::FileEncoding => ("file-encoding", Hard, Ours(22)),
            Self::ByteOrderMark => ("byte-order-mark", Gap, Ours(22)),
            Self::VersionConflict => ("version-conflict", Hard, Format(30)),
            Self::HeaderUnreadable => ("header-unreadable", Hard, Format(40)),
            Self::HeaderDuplicate => ("header-duplicate", Hard, Format(50)),
            Self::StatusMissing => ("status-missing", Gap, Format(60)),
            Self::SupersededBy => ("superseded-by", Hard, Format(70)),
            Self::RequirementDuplicate => ("requirement-duplicate", Hard, Format(80)),
            Self::RequirementCitation => ("requirement-citation", Gap, Format(80)),
            Self::RequirementBullet => ("requirement-bullet", Gap, Format(80)),
            Self::RequirementLost => ("requirement-lost", Hard, Ours(80)),
            Self::RequirementsSection => ("requirements-section", Gap, Ours(80)),
            Self::MirrorStatus => ("mirror-status", Gap, Format(90)),
            Self::MirrorVersion => ("mirror-version", Gap, Format(90)),
            Self::FormatVersion => ("format-version", Hard, Format(100)),
            Self::StatusDerived => ("status-derived", Gap, Format(110)),
            Self::StatusUnknown => ("status-unknown", Hard, Format(110)),
            Self::ExecutionLine => ("execution-line", Gap, Format(120)),
            Self::ExecutionMissing => ("execution-missing", Gap, Format(120)),
            Self::DecisionDuplicate => ("decision-duplicate", Hard, Format(130)),
            Self::DecisionField => ("decision-field", Gap, Format(130)),
            Self::DecisionHeading => ("decision-heading", Gap, Format(130)),
            Self::TaskDuplicate => ("task-duplicate", Hard, Format(140)),
            Self::TaskField => ("task-field", Gap, Format(140)),
            Self::TaskId => ("task-id", Gap, Format(140)),
            Self::PlacementSection => ("placement-section", Gap, Format(150)),
            Self::StateAnnotation => ("state-annotation", Gap, Format(150)),
            Self::ReferenceUnknown => ("reference-unknown", Gap, Format(160)),
            Self::ReferenceTwice => ("reference-twice", Gap, Format(160)),
            Self::ReferenceRejected => ("reference-rejected", Gap, Format(161)),
            Self::ReferenceMap => ("reference-map", Hard, Format(162)),
            Self::CarriageReturn => ("carriage-return", Hard, Ours(163)),
            Self::SectionHeading => ("section-heading", Hard, Ours(163)),
            Self::SectionMissing => ("section-missing", Gap, Ours(163)),
            Self::TaskHeading => ("task-heading", Hard, Ours(163)),
            Self::TaskNumber => ("task-number", Hard, Ours(163)),
            Self::TaskPlacement => ("task-placement", Gap, Ours(163)),
            Self::LineDisputed => ("disputed-line", Hard, Ours(163)),
            Self::FieldOrphan => ("field-orphan", Hard, Ours(163)),
            Self::FieldEmpty => ("field-empty", Gap, Ours(163)),
            Self::EffortNumber => ("effort-number", Gap, Ours(163)),
            Self::DependencyField => ("dependency-field", Hard, Ours(163)),
            Self::DependencyFieldTwice => ("dependency-field-twice", Hard, Ours(163)),
            Self::DependencySpelling => ("dependency-spelling", Gap, Ours(163)),
            Self::DependencyUnsigned => ("dependency-unsigned", Hard, Ours(163)),
            Self::DependencyContinuation => ("dependency-continuation", Hard, Ours(163)),
            Self::DependencyText => ("dependency-text", Hard, Ours(163)),
            Self::DependencySelf => ("dependency-self", Hard, Ours(163)),
            Self::DependencyDangling => ("dependency-dangling", Hard, Ours(163)),
            Self::DependencyCircle => ("dependency-circle", Hard, Ours(163)),
            Self::ReferenceMisplaced => ("reference-misplaced", Hard, Ours(163)),
            Self::GateMalformed => ("gate-malformed", Gap, Ours(163)),
            Self::CitationUnknown => ("citation-unknown", Gap, Ours(164)),
            Self::RequirementUntested => ("requirement-untested", Gap, Format(170)),
            Self::TestTag => ("test-tag", Gap, Ours(170)),
            Self::BaselineFence => ("baseline-fence", Gap, Format(180)),
            Self::BaselineStatus => ("baseline-status", Gap, Format(181)),
            Self::TerminalStatus => ("terminal-status", Hard, Format(181)),
            Self::RequirementRemoved => ("requirement-removed", Gap, Format(182)),
            Self::SupersededUnlogged => ("superseded-unlogged", Gap, Format(183)),
            Self::DecisionRemoved => ("decision-removed", Gap, Format(184)),
            Self::TaskRemoved => ("task-removed", Gap, Format(185)),
        }
    }

    /// Returns the stable word for the check.
    pub(crate) const fn code(self) -> &'static str {
        self.row().0
    }

    pub(crate) const fn class(self) -> Class {
        self.row().1
    }

    pub(crate) const fn origin(self) -> Origin {
        self.row().2
    }

    /// Returns whether its findings are warnings whatever the class says: they lose no task and no requirement, and a
    /// bundle that was signed under the format's own validator, which passes them over, must not stop for them.
    pub(crate) const fn is_always_a_warning(self) -> bool {
        matches!(
            self,
            Self::GateMalformed
                | Self::RequirementsSection
                | Self::EffortNumber
                | Self::CitationUnknown
                | Self::TestTag
                | Self::ByteOrderMark
        )
    }

    pub(crate) fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.code() == code)
    }
}

/// Returns the code and the class of every check, the format's own first; documents and tests go by it.
#[must_use]
pub fn checks() -> Vec<(&'static str, Class)> {
    Check::ALL
        .into_iter()
        .map(|check| (check.code(), check.class()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_check_has_a_code_of_its_own() {
        let codes: BTreeSet<&str> = Check::ALL.into_iter().map(Check::code).collect();
        assert_eq!(codes.len(), Check::ALL.len());
        assert!(
            Check::ALL
                .into_iter()
                .all(|check| Check::of_code(check.code()) == Some(check))
        );
    }
}
