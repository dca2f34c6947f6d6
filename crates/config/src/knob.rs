//! `resolve-config-knob`: a key of any name read as a word or a number, by the reference's rule for illegal values
//! (`contract/core.md §12.3`, `contract/fleet.md §1.7`).

use crate::configuration::{Configuration, CoreValue, LookupError, check_key_name};
use crate::layer::Layer;
use crate::message::{Warning, shown};
use crate::values;

/// What values a knob admits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnobKind {
    /// A whole number from 1, of at most 15 digits.
    PositiveInteger,
    /// One of these words.
    Enum(Vec<String>),
}

/// What is asked for; only a request that makes sense can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnobRequest {
    key: String,
    kind: KnobKind,
    fallback: String,
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KnobError {
    /// The request makes no sense: why.
    #[error("{0}")]
    Request(String),
    /// The repository's value is illegal.
    #[error("cannot use the repository's configuration: {place}: {key}: {reason}")]
    Repository {
        /// The file and line.
        place: String,
        /// The key.
        key: String,
        /// What was expected, and what was found.
        reason: String,
    },
    /// The core's value is illegal, or the core cannot be read when it is needed.
    #[error("cannot use the core defaults, the installation is broken: {key}: {reason}")]
    Core {
        /// The key.
        key: String,
        /// What is wrong.
        reason: String,
    },
}

impl KnobError {
    /// Returns the exit number of `resolve-config-knob`.
    #[must_use]
    pub const fn exit_class(&self) -> u8 {
        match self {
            Self::Request(_) => 2,
            Self::Repository { .. } => 4,
            Self::Core { .. } => 5,
        }
    }
}

impl KnobKind {
    fn check(&self, text: &str) -> Result<(), String> {
        match self {
            Self::PositiveInteger => values::positive_integer(text).map(drop),
            Self::Enum(members) if members.iter().any(|member| member == text) => Ok(()),
            Self::Enum(members) => Err(format!("expected one of {}", members.join(", "))),
        }
    }
}

impl KnobRequest {
    /// Returns the request.
    ///
    /// # Errors
    /// When the key is no key's name, a word of the enum is none, or the fallback is not legal itself (exit 2).
    pub fn new(key: &str, kind: KnobKind, fallback: &str) -> Result<Self, KnobError> {
        check_key_name(key).map_err(|error| KnobError::Request(error.to_string()))?;
        if let KnobKind::Enum(members) = &kind {
            if members.is_empty() {
                return Err(KnobError::Request("an enum needs its words in --values".to_owned()));
            }
            if !members.iter().all(|member| is_member(member)) {
                let message = "a word of --values is none: expected 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-'";
                return Err(KnobError::Request(message.to_owned()));
            }
        }
        kind.check(fallback)
            .map_err(|expected| KnobError::Request(format!("the fallback is not legal: {expected}")))?;
        Ok(Self {
            key: key.to_owned(),
            kind,
            fallback: fallback.to_owned(),
        })
    }
}

fn is_member(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=64).contains(&text.len()) && text.bytes().all(is_allowed)
}

impl Configuration {
    /// Returns a knob's value, and what a person should be told.
    ///
    /// # Errors
    /// When the repository's value is illegal (exit 4), or the core's is or cannot be read (exit 5).
    pub fn knob(&self, request: &KnobRequest) -> Result<(String, Vec<Warning>), KnobError> {
        let KnobRequest { key, kind, fallback } = request;
        let found = match self.explain(key) {
            Ok(found) => found,
            Err(LookupError::InvalidKey) => return Err(KnobError::Request(LookupError::InvalidKey.to_string())),
            Err(LookupError::Unset) => {
                return Ok((fallback.clone(), vec![self.unset(key, fallback)]));
            }
        };
        let mut warnings = found.warnings;
        let value = found.value.trim();
        let Err(expected) = kind.check(value) else {
            return Ok((value.to_owned(), warnings));
        };
        let (key, reason) = (key.clone(), format!("{expected}, found {}", shown(value)));
        match found.layer {
            Layer::RepositoryTracked => {
                let place = found.place;
                return Err(KnobError::Repository { place, key, reason });
            }
            Layer::Core => return Err(KnobError::Core { key, reason }),
            Layer::MachineLocal | Layer::Adopter => warnings.push(Warning {
                layer: found.layer,
                place: found.place,
                message: format!("{key}: {reason}; the core's value is used"),
                remedy: format!("correct or remove `{key}` there"),
            }),
        }
        // The overlays between are skipped too: a bad overlay falls to the core.
        match self.core(&key) {
            CoreValue::Set(value) => match kind.check(value.trim()) {
                Ok(()) => Ok((value.trim().to_owned(), warnings)),
                Err(expected) => {
                    let reason = format!("{expected}, found {}", shown(value));
                    Err(KnobError::Core { key, reason })
                }
            },
            CoreValue::NotSet => {
                warnings.push(self.unset(&key, fallback));
                Ok((fallback.clone(), warnings))
            }
            CoreValue::Unreadable => Err(KnobError::Core {
                key,
                reason: "the file cannot be read".to_owned(),
            }),
        }
    }

    fn unset(&self, key: &str, fallback: &str) -> Warning {
        Warning {
            layer: Layer::Core,
            place: self.core_path().to_owned(),
            message: format!("{key} is not set, so {fallback} is used"),
            remedy: format!("add `{key}: {fallback}` to a configuration file"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::tests::text;
    use crate::layer::{LayerSource, LayerText};

    fn knob(texts: Vec<LayerText>, key: &str, kind: &KnobKind, fallback: &str) -> Result<(String, usize), u8> {
        let exit = |error: KnobError| error.exit_class();
        let request = KnobRequest::new(key, kind.clone(), fallback).map_err(exit)?;
        let (configuration, _) = Configuration::load_as_the_reference(texts).map_err(|error| error.exit_class())?;
        let (value, warnings) = configuration.knob(&request).map_err(exit)?;
        Ok((value, warnings.len()))
    }

    fn number(texts: &[(Layer, &str)]) -> Result<(String, usize), u8> {
        let texts = texts
            .iter()
            .map(|(layer, value)| text(*layer, &format!("some_knob: {value}")));
        knob(texts.collect(), "some_knob", &KnobKind::PositiveInteger, "8")
    }

    #[test]
    fn an_illegal_value_is_answered_by_its_layer() {
        let said = |value: &str, warnings| Ok((value.to_owned(), warnings));
        assert_eq!(number(&[(Layer::RepositoryTracked, "5")]), said("5", 0));
        assert_eq!(number(&[(Layer::RepositoryTracked, "\" 5 \"")]), said("5", 0));
        assert_eq!(number(&[(Layer::RepositoryTracked, "0")]), Err(4));
        assert_eq!(number(&[(Layer::Core, "x")]), Err(5));
        for layer in [Layer::MachineLocal, Layer::Adopter] {
            assert_eq!(number(&[(layer, "x"), (Layer::Core, "3")]), said("3", 1));
            assert_eq!(number(&[(layer, "x"), (Layer::Core, "x")]), Err(5));
            // Nothing in the core of that name: the caller's fallback.
            assert_eq!(number(&[(layer, "x")]), said("8", 2));
        }
        // A bad overlay is not replaced by the next one.
        assert_eq!(
            number(&[
                (Layer::MachineLocal, "x"),
                (Layer::RepositoryTracked, "5"),
                (Layer::Core, "3")
            ]),
            said("3", 1)
        );
        assert_eq!(number(&[]), said("8", 1));
        let unreadable = LayerText {
            text: LayerSource::Unreadable("no".to_owned()),
            ..text(Layer::Core, "")
        };
        let texts = || vec![text(Layer::MachineLocal, "some_knob: x"), unreadable.clone()];
        assert_eq!(knob(texts(), "some_knob", &KnobKind::PositiveInteger, "8"), Err(5));
        assert_eq!(
            knob(texts(), "other_knob", &KnobKind::PositiveInteger, "8"),
            said("8", 1)
        );
    }

    #[test]
    fn a_request_has_to_make_sense() {
        let words = |words: &[&str]| KnobKind::Enum(words.iter().map(|word| (*word).to_owned()).collect());
        let good = words(&["none", "tmux-popup"]);
        assert_eq!(
            knob(vec![], "notification_channel", &good, "tmux-popup"),
            Ok(("none".to_owned(), 0))
        );
        for (key, kind, fallback) in [
            ("Bad", good.clone(), "none"),
            ("k", good.clone(), "other"),
            ("k", words(&[]), ""),
            ("k", words(&["a|b"]), "a|b"),
            ("k", words(&[&"a".repeat(65)]), "a"),
            ("k", KnobKind::PositiveInteger, "0"),
        ] {
            assert_eq!(knob(vec![], key, &kind, fallback), Err(2), "{key} {kind:?} {fallback}");
        }
    }
}
