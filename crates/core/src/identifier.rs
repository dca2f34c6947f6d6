//! Checked names: the only road from outside text to a path, a ref or an argument.
//!
//! Every type here is built by a `parse` that refuses whatever the grammar of `contract/core.md §0.3`
//! does not allow, and none has another constructor. Owns no state.

pub use crate::unit::{Pair, Unit, UnitName};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

/// A refused name. The refused text itself is not repeated: it may be hostile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a {kind}: expected {expected}")]
pub struct InvalidName {
    /// What the text was to be.
    pub kind: &'static str,
    /// The grammar, in words.
    pub expected: &'static str,
}

macro_rules! string_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Returns the name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

string_name! {
    /// The name of a bundle: `^[a-z0-9][a-z0-9-]*$`, at most 64 bytes (`contract/core.md §0.3`).
    SpecId
}

impl SpecId {
    /// Returns the checked spec id.
    ///
    /// # Errors
    /// When the text is not `[a-z0-9][a-z0-9-]*` of at most 64 bytes.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let first_is_plain = text
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let all_are_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if first_is_plain && all_are_plain && text.len() <= 64 {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidName {
                kind: "spec name",
                expected: "a-z, 0-9 and '-', at most 64, not starting with '-'",
            })
        }
    }
}

/// A task's id: digits, optionally a dot and digits, at most 32 bytes (`contract/core.md §0.3`, A-12).
///
/// `2` and `2.0` are two ids; they sort by their numbers and then by their text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TaskId(String);

impl TaskId {
    /// Returns the checked task id.
    ///
    /// # Errors
    /// When the text is not `[0-9]+(\.[0-9]+)?` of at most 32 bytes.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let well_formed = match text.split_once('.') {
            None => is_number(text),
            Some((whole, fraction)) => is_number(whole) && is_number(fraction),
        };
        if well_formed && text.len() <= 32 {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidName {
                kind: "task id",
                expected: "digits, or digits '.' digits, at most 32",
            })
        }
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the two numbers that order ids: leading zeroes do not count, a missing part is empty.
    fn numbers(&self) -> (&str, &str) {
        let (whole, fraction) = self.0.split_once('.').unwrap_or((&self.0, ""));
        (whole.trim_start_matches('0'), fraction.trim_start_matches('0'))
    }

    /// Returns whether two ids share the sort key of the anchor's extraction (`contract/core.md §3.2`),
    /// where `7` and `007`, or `2` and `2.0`, are the same.
    #[must_use]
    pub fn same_sort_key(&self, other: &Self) -> bool {
        self.numbers() == other.numbers()
    }
}

/// Compares two digit strings without leading zeroes as numbers of any size.
fn compare_numbers(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

impl Ord for TaskId {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (self.numbers(), other.numbers());
        compare_numbers(left.0, right.0)
            .then_with(|| compare_numbers(left.1, right.1))
            .then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for TaskId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

macro_rules! serde_by_text {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use serde_by_text;

serde_by_text!(TaskId);

string_name! {
    /// A commit's id: 40 lower-case hex digits. SHA-256 repositories are refused before any is read.
    CommitId
}

impl CommitId {
    /// Returns the checked commit id.
    ///
    /// # Errors
    /// When the text is not 40 lower-case hex digits.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 40 && text.bytes().all(is_hex) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidName {
                kind: "commit id",
                expected: "40 lower-case hex digits",
            })
        }
    }

    /// Returns the first seven digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..7]
    }
}

string_name! {
    /// A short name of a branch that may serve as the base: the safe characters of `contract/core.md §0.3` only.
    BaseName
}

impl BaseName {
    /// Returns the checked base name, without `refs/heads/` or `origin/`.
    ///
    /// # Errors
    /// When the text has a character outside `[A-Za-z0-9/._-]`, starts with `-` or `/`, or holds `..` or `//`.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
        let well_formed = !text.is_empty()
            && text.len() <= 200
            && text.bytes().all(is_safe)
            && !text.starts_with(['-', '/', '.'])
            && !text.ends_with(['/', '.'])
            && !text.contains("..")
            && !text.contains("//");
        if well_formed {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidName {
                kind: "branch name",
                expected: "A-Z, a-z, 0-9 and '/._-', not starting with '-'",
            })
        }
    }
}

string_name! {
    /// A one-time token that tells one attempt from every other: 32 lower-case hex digits.
    Nonce
}

impl Nonce {
    /// Returns the checked nonce.
    ///
    /// # Errors
    /// When the text is not 32 lower-case hex digits.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 32 && text.bytes().all(is_hex) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidName {
                kind: "nonce",
                expected: "32 lower-case hex digits",
            })
        }
    }

    /// Returns the nonce of 16 random bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Self(digits.concat())
    }
}

string_name! {
    /// The name of a worker backend: `^[a-z0-9][a-z0-9-]*$`, at most 64 bytes.
    BackendName
}

impl BackendName {
    /// Returns the checked backend name.
    ///
    /// # Errors
    /// When the text is not `[a-z0-9][a-z0-9-]*` of at most 64 bytes.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        match SpecId::parse(text) {
            Ok(name) => Ok(Self(name.0)),
            Err(_) => Err(InvalidName {
                kind: "backend name",
                expected: "a-z, 0-9 and '-', at most 64",
            }),
        }
    }
}

/// Returns whether a character may be shown to people as it is: no control, no line end of any kind, and nothing that
/// turns the direction of text around.
#[must_use]
pub fn is_printable(character: char) -> bool {
    let ends_a_line = matches!(character, '\u{2028}' | '\u{2029}');
    let turns_around = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    !character.is_control() && !ends_a_line && !turns_around
}

/// Returns the text with every control character removed, for people; `?` when nothing is left
/// (`contract/core.md §0.2`, A-9: by code point, so that other scripts survive). The controls that turn the direction
/// of text around go too (law L8): with them a line can show another text than it holds.
#[must_use]
pub fn printable(text: &str) -> String {
    let kept: String = text.chars().filter(|character| is_printable(*character)).collect();
    if kept.trim().is_empty() { "?".to_string() } else { kept }
}

/// Returns what somebody typed in quotation marks, for people: printable, and empty where nothing was typed.
#[must_use]
pub fn quoted(text: &str) -> String {
    if text.is_empty() {
        return "\"\"".to_string();
    }
    format!("{:?}", printable(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_quoted_is_what_was_typed() {
        assert_eq!(quoted(""), "\"\"");
        assert_eq!(quoted("a\u{1b}b"), "\"ab\"");
        assert_eq!(quoted("\u{7}"), "\"?\"");
    }

    #[test]
    fn spec_ids_follow_the_contract() {
        for good in ["a", "0", "hello-tower", "a-", &"x".repeat(64)] {
            assert!(SpecId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "A", "a_b", "a/b", "..", "a.b", "a\n", "é", &"x".repeat(65)] {
            assert!(SpecId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn task_ids_follow_the_contract() {
        for good in ["1", "007", "2.5", "10.10", &"9".repeat(32)] {
            assert!(TaskId::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "1.",
            ".5",
            "1.2.3",
            "1-2",
            "1 ",
            "-1",
            "１",
            "a",
            &"9".repeat(33),
        ] {
            assert!(TaskId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn hostile_base_names_are_refused() {
        for bad in [
            "", "-x", "a..b", "a b", "a:b", "/a", "a/", "@{u}", "a\0", "a//b", ".git",
        ] {
            assert!(BaseName::parse(bad).is_err(), "{bad:?}");
        }
        assert!(BaseName::parse("release/1.2").is_ok());
    }

    proptest! {
        /// No text outside the grammars is accepted, whatever its bytes.
        /// Verifies REQ-H1.3.
        #[test]
        fn nothing_else_is_a_name(text in "\\PC{0,12}") {
            let model = |text: &str| !text.is_empty() && text.len() <= 64 && !text.starts_with('-')
                && text.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-'));
            prop_assert_eq!(SpecId::parse(&text).is_ok(), model(&text));
        }

        /// Ids order as the numbers they are.
        #[test]
        fn task_ids_sort_by_number(a in 0u32..2000, b in 0u32..2000, c in 1u32..9, d in 1u32..9) {
            let (left, right) = (TaskId::parse(&format!("{a}.{c}")).expect("id"), TaskId::parse(&format!("{b}.{d}")).expect("id"));
            prop_assert_eq!(left.cmp(&right), (a, c).cmp(&(b, d)));
        }
    }
}
