//! Rule documents: which file may speak, which one does, and the built-in ones (`contract/core.md §13.1`).
//!
//! The host reads the candidates in order and hands over what it found; nothing here touches a file. Owns the embedded
//! documents of `doctrine/`.

use std::borrow::Cow;

use core::fmt;

use crate::layer::Layer;
use crate::message::Warning;

pub mod comparison;
mod versions;

/// The documents that ship in the binary.
const EMBEDDED: &[(&str, &str)] = &[
    ("execute-task", include_str!("../../../doctrine/execute-task.md")),
    (
        "orchestration-concurrency",
        include_str!("../../../doctrine/orchestration-concurrency.md"),
    ),
    ("proportionality", include_str!("../../../doctrine/proportionality.md")),
    (
        "selection-contract",
        include_str!("../../../doctrine/selection-contract.md"),
    ),
    ("spec-format", include_str!("../../../doctrine/spec-format.md")),
];

/// What a dispatch must be able to resolve before it does anything.
const REQUIRED_FOR_DISPATCH: [&str; 5] = [
    "execute-task",
    "proportionality",
    "selection-contract",
    "spec-format",
    "orchestration-concurrency",
];

/// What a worker's prompt is made of: a broken overlay of one of these stops the dispatch, whoever wrote it.
const IN_THE_PROMPT: &[&str] = &["execute-task"];

/// Documents whose shadowing a person should know about.
const PROTECTED: &[&str] = &[
    "spec-format",
    "security-posture",
    "validation-rigor",
    "discovery-rigor",
    "finding-categorization",
    "gate-wiring",
];

/// Documents that describe rules built into the binary: another text changes what is read, not what is done.
const DESCRIBES_BUILT_IN_RULES: &[&str] = &[
    "orchestration-concurrency",
    "proportionality",
    "selection-contract",
    "spec-format",
];

/// The name of a rule document: `^[a-z0-9][a-z0-9-]*$`, so that it can stand in a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentName(Cow<'static, str>);

impl DocumentName {
    /// Returns the checked name; a trailing `.md` is taken off.
    ///
    /// # Errors
    /// When the text is no document's name (exit 2).
    pub fn parse(text: &str) -> Result<Self, DoctrineError> {
        let name = text.strip_suffix(".md").unwrap_or(text);
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_plain) {
            Ok(Self(Cow::Owned(name.to_owned())))
        } else {
            Err(DoctrineError::InvalidName)
        }
    }

    /// Returns the name without `.md`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What a candidate's path is relative to. The file must lie inside it, symlinks resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The repository's overlay, its `.claude` directory.
    Repository,
    /// The adopter overlay's root.
    Adopter,
}

/// A file that may hold a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The layer it would speak for.
    pub layer: Layer,
    /// What its path is relative to.
    pub root: Root,
    /// The path, with forward slashes.
    pub relative_path: String,
}

/// What the host found at a candidate's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentSource {
    /// A regular file with these bytes.
    Bytes(Vec<u8>),
    /// Nothing is there, or the layer has no root here.
    Absent,
    /// Something is there and could not be read as a regular file: a lowercase fragment saying why.
    Unreadable(String),
    /// The path leads outside its root.
    Escapes,
}

/// A candidate as the host read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentReading {
    /// The layer it speaks for.
    pub layer: Layer,
    /// Where it was looked for, for messages and for `resolve-rule-doc`.
    pub path: String,
    /// What was found there.
    pub source: DocumentSource,
}

/// The document that speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleDocument {
    /// Its name.
    pub name: DocumentName,
    /// The layer it comes from; the embedded text is the core's.
    pub layer: Layer,
    /// Its file; `None` for an embedded text.
    pub path: Option<String>,
    /// The text.
    pub text: Cow<'static, str>,
}

/// Why no document speaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DoctrineError {
    /// No layer holds the document.
    #[error("cannot find the rule document {name}: looked at {}", .chain.join(", "))]
    NotFound {
        /// The document.
        name: DocumentName,
        /// Every place that was looked at, highest layer first.
        chain: Vec<String>,
    },
    /// The name is not one. It is not repeated: it may be hostile.
    #[error("not a rule document's name: expected a-z, 0-9 and '-', not starting with '-'")]
    InvalidName,
    /// A candidate leads out of its root, by a symlink for instance.
    #[error("cannot read the rule document {name}: {path} leads outside its {layer} root")]
    Escapes {
        /// The document.
        name: DocumentName,
        /// The layer of the candidate.
        layer: Layer,
        /// The candidate.
        path: String,
    },
    /// A candidate that may not be passed over is there and cannot be used.
    #[error("cannot read the rule document {name}: {path}: {reason}")]
    Unusable {
        /// The document.
        name: DocumentName,
        /// The layer of the candidate.
        layer: Layer,
        /// The candidate.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl DoctrineError {
    /// Returns the exit number of `resolve-rule-doc` (`contract/core.md §13.1`).
    #[must_use]
    pub const fn exit_class(&self) -> u8 {
        match self {
            Self::NotFound { .. } => 1,
            Self::InvalidName | Self::Escapes { .. } => 2,
            Self::Unusable { .. } => 3,
        }
    }

    /// Returns the edit that helps.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NotFound { name, .. } => format!("write it to .claude/doctrine/{name}.md, or correct the name"),
            Self::InvalidName => "name it as its file is named, without the directory".to_owned(),
            Self::Escapes { path, .. } => format!("put a real file at {path}, or remove it"),
            Self::Unusable { path, .. } => format!("mend {path}, or remove it to use the document below it"),
        }
    }
}

/// What a document is looked up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To know where it is, by the reference's rules: any regular file that can be read speaks, and a broken one is an
    /// error only in the repository.
    Reference,
    /// To tell a worker what to do: whatever is there has to be a text, in every layer, or nothing is told.
    Prompt,
}

/// Returns what a dispatch looks a document up for.
#[must_use]
pub fn purpose_on_dispatch(name: &DocumentName) -> Purpose {
    if IN_THE_PROMPT.contains(&name.as_str()) {
        Purpose::Prompt
    } else {
        Purpose::Reference
    }
}

/// Returns the documents that a dispatch must resolve; one that cannot be stops it before anything durable.
#[must_use]
pub fn required_for_dispatch() -> [DocumentName; 5] {
    REQUIRED_FOR_DISPATCH.map(|name| DocumentName(Cow::Borrowed(name)))
}

/// Returns the files that may hold a document, highest layer first. Below them stands the embedded text.
#[must_use]
pub fn candidates(name: &DocumentName) -> [Candidate; 3] {
    [
        (Layer::MachineLocal, Root::Repository, "doctrine.local"),
        (Layer::RepositoryTracked, Root::Repository, "doctrine"),
        (Layer::Adopter, Root::Adopter, "doctrine"),
    ]
    .map(|(layer, root, directory)| Candidate {
        layer,
        root,
        relative_path: format!("{directory}/{name}.md"),
    })
}

/// Returns the text built into the binary, where there is one of that name.
#[must_use]
pub fn embedded(name: &DocumentName) -> Option<&'static str> {
    EMBEDDED
        .iter()
        .find(|(known, _)| *known == name.as_str())
        .map(|(_, text)| *text)
}

/// Returns the document that speaks, given what the host read; a layer without a reading is not there.
///
/// # Errors
/// When a candidate leads out of its root, one that may not be passed over cannot be used, or no layer holds the
/// document.
pub fn resolve(
    name: &DocumentName,
    purpose: Purpose,
    readings: Vec<DocumentReading>,
) -> Result<(RuleDocument, Vec<Warning>), DoctrineError> {
    let mut readings = readings;
    readings.sort_by_key(|reading| core::cmp::Reverse(reading.layer));
    let mut warnings = Vec::new();
    let mut chain = Vec::new();
    for DocumentReading { layer, path, source } in readings {
        chain.push(path.clone());
        let name = name.clone();
        let reason = match source {
            DocumentSource::Absent => continue,
            DocumentSource::Escapes => return Err(DoctrineError::Escapes { name, layer, path }),
            DocumentSource::Unreadable(reason) => reason,
            DocumentSource::Bytes(bytes) => match usable(bytes, purpose) {
                Ok(text) => {
                    warnings.extend(shadowing(&name, layer, &path));
                    let (path, text) = (Some(path), Cow::Owned(text));
                    return Ok((
                        RuleDocument {
                            name,
                            layer,
                            path,
                            text,
                        },
                        warnings,
                    ));
                }
                Err(reason) => reason.to_owned(),
            },
        };
        if layer == Layer::RepositoryTracked || purpose == Purpose::Prompt {
            return Err(DoctrineError::Unusable {
                name,
                layer,
                path,
                reason,
            });
        }
        if let Some(looked_at) = chain.last_mut() {
            looked_at.push_str(&format!(" ({reason})"));
        }
        warnings.push(Warning {
            layer,
            message: format!("the {layer} rule document {name} is skipped: {reason}"),
            remedy: format!("mend {path}, or remove it"),
            place: path,
        });
    }
    chain.push("the built-in documents".to_owned());
    let name = name.clone();
    match embedded(&name) {
        Some(text) => {
            let (layer, path, text) = (Layer::Core, None, Cow::Borrowed(text));
            Ok((
                RuleDocument {
                    name,
                    layer,
                    path,
                    text,
                },
                warnings,
            ))
        }
        None => Err(DoctrineError::NotFound { name, chain }),
    }
}

/// Returns the text of a file, or why it cannot serve.
fn usable(bytes: Vec<u8>, purpose: Purpose) -> Result<String, &'static str> {
    match (String::from_utf8(bytes), purpose) {
        (Ok(text), Purpose::Prompt) if text.trim().is_empty() => Err("the file is empty"),
        (Ok(text), Purpose::Prompt) if text.contains('\0') => Err("the file holds a NUL byte"),
        (Ok(text), Purpose::Prompt | Purpose::Reference) => Ok(text),
        (Err(_), Purpose::Prompt) => Err("the file is not UTF-8 text"),
        (Err(error), Purpose::Reference) => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// Returns what a person should know about a document that stands before the core's.
fn shadowing(name: &DocumentName, layer: Layer, path: &str) -> Vec<Warning> {
    if layer == Layer::Core {
        return Vec::new();
    }
    let protected = PROTECTED
        .contains(&name.as_str())
        .then(|| format!("the {layer} layer replaces the protected rule document {name}"));
    let described = DESCRIBES_BUILT_IN_RULES.contains(&name.as_str()).then(|| {
        format!("{name} describes rules that are built in; this text changes what is read, not what orchestrate does")
    });
    let messages = [protected, described].into_iter().flatten();
    messages
        .map(|message| Warning {
            layer,
            place: path.to_owned(),
            message,
            remedy: format!("remove {path} to use the document below it"),
        })
        .collect()
}

#[cfg(test)]
mod tests;
