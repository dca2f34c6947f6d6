//! How a recorded hash says that it was computed (`contract/core.md §3.6`).
//!
//! A recorded command is compared with the sanctioned ones and never run. Both forms are computed here, so looking for
//! the script that computed a record, which the reference does through a chain of roots, has no place in this program.

use orchestrate_core::identifier::SpecId;

use super::{AnchorError, content_anchor, whole_files_anchor};
use crate::BundleTexts;

/// How a record's hash was computed. A record is compared in its own form, never in the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnchorForm {
    /// The content anchor: `scripts/spec-anchor.sh specs/<spec>`, with or without `scripts/`.
    Canonical,
    /// The hash over the four whole files, by two `git hash-object`.
    WholeFiles,
}

/// Why a recorded command stands for no form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The text is none of the sanctioned commands, to the byte.
    #[error("the recorded command is not one that the format knows")]
    Unknown,
    /// A sanctioned command, for another bundle.
    #[error("the recorded command anchors another bundle")]
    OtherBundle,
}

const WHOLE_FILES: &str = "git hash-object requirements.md design.md tasks.md test-spec.md | git hash-object --stdin";

impl AnchorForm {
    /// Returns the form that a recorded command stands for.
    ///
    /// # Errors
    /// When it is not exactly a sanctioned one for this bundle.
    pub fn from_command(spec: &SpecId, command: &str) -> Result<Self, CommandError> {
        if command == WHOLE_FILES {
            return Ok(Self::WholeFiles);
        }
        let script = command.strip_prefix("scripts/").unwrap_or(command);
        let named = script
            .strip_prefix("spec-anchor.sh specs/")
            .ok_or(CommandError::Unknown)?;
        match SpecId::parse(named) {
            Ok(named) if named == *spec => Ok(Self::Canonical),
            Ok(_) => Err(CommandError::OtherBundle),
            Err(_) => Err(CommandError::Unknown),
        }
    }

    /// Returns the command as a record of this form names it.
    #[must_use]
    pub fn command(self, spec: &SpecId) -> String {
        match self {
            Self::Canonical => format!("scripts/spec-anchor.sh specs/{spec}"),
            Self::WholeFiles => WHOLE_FILES.to_owned(),
        }
    }

    /// Returns the hash of the texts in this form, 40 lower-case hex digits.
    ///
    /// # Errors
    /// When the content anchor is asked for and a file cannot be hashed.
    pub fn anchor(self, texts: &BundleTexts) -> Result<String, AnchorError> {
        match self {
            Self::Canonical => content_anchor(texts),
            Self::WholeFiles => Ok(whole_files_anchor(texts)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str) -> SpecId {
        SpecId::parse(name).expect("spec")
    }

    #[test]
    fn a_rendered_command_is_sanctioned() {
        for form in [AnchorForm::Canonical, AnchorForm::WholeFiles] {
            assert_eq!(
                AnchorForm::from_command(&spec("a"), &form.command(&spec("a"))),
                Ok(form)
            );
        }
        assert_eq!(
            AnchorForm::from_command(&spec("a"), "spec-anchor.sh specs/a"),
            Ok(AnchorForm::Canonical)
        );
        assert_eq!(
            AnchorForm::from_command(&spec("a"), "spec-anchor.sh specs/b"),
            Err(CommandError::OtherBundle)
        );
    }

    #[test]
    fn commands_that_are_not_sanctioned() {
        for command in [
            "",
            "./scripts/spec-anchor.sh specs/alpha",
            "scripts/spec-anchor.sh specs/alpha/",
            "scripts/spec-anchor.sh  specs/alpha",
            "scripts/spec-anchor.sh specs/alpha ",
            "scripts/spec-anchor.sh specs/alpha; ls",
            "scripts/spec-anchor.sh specs/alpha specs/alpha",
            "$X/spec-anchor.sh specs/alpha",
            "$(spec-anchor.sh specs/alpha)",
            "scripts/scripts/spec-anchor.sh specs/alpha",
            "git hash-object requirements.md",
            "git hash-object requirements.md design.md tasks.md test-spec.md | git hash-object --stdin;",
            "git hash-object design.md requirements.md tasks.md test-spec.md | git hash-object --stdin",
            "/scripts/spec-anchor.sh specs/alpha",
            "scripts/spec-anchor.sh specs/../alpha",
            "scripts/spec-anchor.sh alpha",
            "scripts/spec-anchor.sh\tspecs/alpha",
        ] {
            assert_eq!(
                AnchorForm::from_command(&spec("alpha"), command),
                Err(CommandError::Unknown),
                "{command}"
            );
        }
    }
}
