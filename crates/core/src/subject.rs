//! What a commit's subject, or a pull request's title, may look like (`contract/core.md §14.4`).
//!
//! Bytes, as git stores them: nothing here assumes an encoding.

use alloc::vec::Vec;
use core::fmt;

/// The types that a conventional subject starts with.
const TYPES: [&[u8]; 11] = [
    b"build",
    b"chore",
    b"ci",
    b"docs",
    b"feat",
    b"fix",
    b"perf",
    b"refactor",
    b"revert",
    b"style",
    b"test",
];

/// What marks a commit that a person still has to sign off.
const MARKER: &[u8] = b"[pending-sign-off]";

/// Where `[pending-sign-off]` may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerRule {
    /// It is not looked at.
    Anywhere,
    /// Once at most, as the last token: a commit's subject.
    LastToken,
    /// Nowhere: a pull request's title.
    Nowhere,
}

/// What is wrong with a subject. Its text is a sentence's end: "bad subject: …".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectFault {
    /// It does not start with a type, perhaps a scope, a colon and a blank, and go on.
    NotConventional,
    /// It has more bytes than it may.
    TooLong {
        /// Its bytes.
        length: usize,
        /// As many as it may have.
        largest: usize,
    },
    /// The marker stands more than once.
    MarkerRepeated,
    /// The marker is not the last token, after one blank.
    MarkerMisplaced,
    /// The marker stands where there may be none.
    MarkerForbidden,
}

impl fmt::Display for SubjectFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConventional => formatter.write_str("it is not `type(scope): text`, with one of the known types"),
            Self::TooLong { length, largest } => write!(formatter, "it has {length} bytes, and at most {largest} fit"),
            Self::MarkerRepeated => formatter.write_str("[pending-sign-off] stands more than once"),
            Self::MarkerMisplaced => formatter.write_str("[pending-sign-off] is not the last word, after one blank"),
            Self::MarkerForbidden => formatter.write_str("[pending-sign-off] stands in a title"),
        }
    }
}

/// Returns whether git or a forge wrote the subject, of a merge or a revert: it is not looked at then.
#[must_use]
pub fn is_generated(subject: &[u8]) -> bool {
    subject.starts_with(b"Merge ") || subject.starts_with(b"Revert ")
}

/// Returns what is wrong with a subject, nothing where it conforms.
#[must_use]
pub fn faults(subject: &[u8], largest: Option<usize>, rule: MarkerRule) -> Vec<SubjectFault> {
    let mut faults = Vec::new();
    if !is_conventional(subject) {
        faults.push(SubjectFault::NotConventional);
    }
    let length = subject.len();
    if let Some(largest) = largest.filter(|largest| length > *largest) {
        faults.push(SubjectFault::TooLong { length, largest });
    }
    faults.extend(marker_fault(subject, rule));
    faults
}

/// `^(type)(\([a-z0-9.-]+\))?!?: [^ ].*$`
fn is_conventional(subject: &[u8]) -> bool {
    let after_type = |kind: &&[u8]| subject.strip_prefix(*kind).is_some_and(is_rest);
    TYPES.iter().any(after_type)
}

fn is_rest(rest: &[u8]) -> bool {
    let rest = match rest.strip_prefix(b"(") {
        None => rest,
        Some(scoped) => {
            let is_scope = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(byte);
            let length = scoped.iter().take_while(|byte| is_scope(byte)).count();
            match scoped[length..].strip_prefix(b")") {
                Some(rest) if length > 0 => rest,
                Some(_) | None => return false,
            }
        }
    };
    let rest = rest.strip_prefix(b"!").unwrap_or(rest);
    let Some(text) = rest.strip_prefix(b": ") else {
        return false;
    };
    text.first().is_some_and(|byte| *byte != b' ') && !text.contains(&b'\n')
}

fn marker_fault(subject: &[u8], rule: MarkerRule) -> Option<SubjectFault> {
    let count = subject.windows(MARKER.len()).filter(|part| *part == MARKER).count();
    match rule {
        MarkerRule::Anywhere => None,
        MarkerRule::Nowhere => (count > 0).then_some(SubjectFault::MarkerForbidden),
        MarkerRule::LastToken if count > 1 => Some(SubjectFault::MarkerRepeated),
        MarkerRule::LastToken => {
            let before = subject.strip_suffix(MARKER).and_then(|text| text.strip_suffix(b" "));
            let is_last = before.is_some_and(|text| !text.ends_with(b" "));
            (count == 1 && !is_last).then_some(SubjectFault::MarkerMisplaced)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use proptest::prelude::*;

    fn conforms(subject: &str, rule: MarkerRule) -> bool {
        faults(subject.as_bytes(), None, rule).is_empty()
    }

    #[test]
    fn what_is_conventional() {
        for good in [
            "feat: x",
            "fix(a-b.2): x",
            "revert!: x",
            "chore(x)!: ü",
            "docs: [pending-sign-off]",
            "test: \tx",
        ] {
            assert!(conforms(good, MarkerRule::Anywhere), "{good}");
        }
        for bad in [
            "",
            "bad subject",
            "feat",
            "feat:",
            "feat: ",
            "feat:x",
            "feat:  x",
            "feat (a): x",
            "feat(): x",
            "feat(A): x",
            "feat(a: x",
            "feat!(a): x",
            "feat(a)!!: x",
            "Feat: x",
            " feat: x",
            "feature: x",
            "feat(a_b): x",
            "feat : x",
        ] {
            assert!(!conforms(bad, MarkerRule::Anywhere), "{bad}");
        }
        assert!(faults(b"feat: \xff\xfe", None, MarkerRule::LastToken).is_empty());
    }

    #[test]
    fn where_the_marker_stands() {
        use SubjectFault::{MarkerForbidden, MarkerMisplaced, MarkerRepeated};
        for (subject, as_subject, as_title) in [
            ("feat: a", None, None),
            ("feat: a [pending-sign-off]", None, Some(MarkerForbidden)),
            (
                "feat: a  [pending-sign-off]",
                Some(MarkerMisplaced),
                Some(MarkerForbidden),
            ),
            (
                "feat: a[pending-sign-off]",
                Some(MarkerMisplaced),
                Some(MarkerForbidden),
            ),
            (
                "feat: [pending-sign-off] a",
                Some(MarkerMisplaced),
                Some(MarkerForbidden),
            ),
            (
                "feat: a [pending-sign-off] ",
                Some(MarkerMisplaced),
                Some(MarkerForbidden),
            ),
            (
                "feat: a [pending-sign-off] [pending-sign-off]",
                Some(MarkerRepeated),
                Some(MarkerForbidden),
            ),
            ("feat: a [Pending-Sign-Off] b", None, None),
        ] {
            let of = |rule| faults(subject.as_bytes(), None, rule).first().copied();
            assert_eq!(of(MarkerRule::LastToken), as_subject, "{subject}");
            assert_eq!(of(MarkerRule::Nowhere), as_title, "{subject}");
            assert_eq!(of(MarkerRule::Anywhere), None, "{subject}");
        }
    }

    #[test]
    fn lengths_are_bytes() {
        let of = |largest| faults("feat: ü".as_bytes(), Some(largest), MarkerRule::Anywhere);
        assert_eq!(of(8), []);
        assert_eq!(of(7), [SubjectFault::TooLong { length: 8, largest: 7 }]);
    }

    #[test]
    fn what_git_writes_is_not_looked_at() {
        assert!(is_generated(b"Merge branch 'x'") && is_generated(b"Revert \"feat: x\""));
        assert!(!is_generated(b"Merged") && !is_generated(b"revert: x") && !is_generated(b" Merge x"));
    }

    /// The contract's own words for it.
    fn by_pattern(subject: &str) -> bool {
        let types = "build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test";
        let pattern = format!(r"^({types})(\([a-z0-9.-]+\))?!?: [^ ].*$");
        regex::Regex::new(&pattern).expect("a pattern").is_match(subject)
    }

    proptest! {
        #[test]
        fn it_is_the_contracts_pattern(parts in proptest::collection::vec(
            proptest::sample::select(alloc::vec!["feat", "fix", "ci", "(", ")", "a", ".", "-", "A", "!", ":", " ", "x", "é", "()"]), 0..10,
        )) {
            let subject: String = parts.concat();
            prop_assert_eq!(conforms(&subject, MarkerRule::Anywhere), by_pattern(&subject), "{:?}", subject);
        }
    }
}
